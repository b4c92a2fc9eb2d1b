//! Results of another program elsewhere; the work itself is unknown.

use super::{IoJob, WorkSpec};
use serde::{Deserialize, Serialize};

/// Imported results. raidlab cannot repeat the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedSpec {
    /// `fio`, `Bonnie++`, `IOzone`.
    pub program: String,
}

impl WorkSpec for ImportedSpec {
    /// The names are unknown until the program's file is read.
    fn tests(&self) -> Vec<&str> {
        Vec::new()
    }

    fn jobs(&self) -> Vec<IoJob<'_>> {
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
        format!("imported results of {}; the workload is unknown", self.program)
    }
}
