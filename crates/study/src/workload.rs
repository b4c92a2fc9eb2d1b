//! The work that is measured on a stack.

mod classic;
mod io;
mod tree;

pub use classic::{BONNIE_FILE_TESTS, BONNIE_TESTS, BonnieSpec, IozoneEngine, IozoneSpec, IozoneTest};
pub use io::{BufferFill, BufferSpec, FioFileSpec, FioSection, IoEngine, IoPattern, IoSpec, SyncMode};
pub use tree::{Collection, SizeSpec, TreeSpec, TreeTest};

use serde::{Deserialize, Serialize};

/// A workload by its name in the study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSpec {
    pub name: String,
    pub work: Work,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// A collection of files, written, read, copied, deleted.
    Tree(TreeSpec),
    /// Reads and writes of one or several files (or of the device), by fio or by raidlab's own engine.
    Io(IoSpec),
    /// A job file of fio's, of one or several sections.
    FioFile(FioFileSpec),
    /// Bonnie++ itself.
    Bonnie(BonnieSpec),
    /// IOzone's tests, by IOzone itself or by raidlab's own engine.
    Iozone(IozoneSpec),
}
