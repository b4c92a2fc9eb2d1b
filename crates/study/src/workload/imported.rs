//! Work that another program did elsewhere: of what it did, nothing is known.

use super::WorkSpec;
use serde::{Deserialize, Serialize};

/// What was imported. raidlab cannot do it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedSpec {
    /// `fio`, `Bonnie++`, `IOzone`.
    pub program: String,
}

impl WorkSpec for ImportedSpec {
    /// As the program's file calls them: not known before it is read.
    fn tests(&self) -> Vec<&str> {
        Vec::new()
    }

    fn needs_files(&self) -> Option<&'static str> {
        None
    }

    fn bytes(&self, _: u64) -> u64 {
        0
    }

    fn largest_file_bytes(&self) -> u64 {
        0
    }

    fn describe(&self) -> String {
        format!("{}, run elsewhere; what it did is unknown", self.program)
    }
}
