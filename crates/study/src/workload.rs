//! The work that is measured on a stack: a file for each kind, with what it is made of and what other stages ask of it.

mod bonnie;
mod fio_file;
mod imported;
mod io;
mod iozone;
mod server;
mod tree;

pub use bonnie::{BONNIE_FILE_TESTS, BONNIE_TESTS, BonnieSpec};
pub use fio_file::{FioFileSpec, FioSection};
pub use imported::ImportedSpec;
pub use io::{BufferFill, BufferSpec, IoEngine, IoPattern, IoSpec, SyncMode};
pub use iozone::{IozoneEngine, IozoneSpec, IozoneTest};
pub use server::{ServerSpec, ServerTest};
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
    /// What mail servers, package managers and databases do.
    Server(ServerSpec),
    /// What another program did elsewhere. Never in a study.
    Imported(ImportedSpec),
}

/// What the other stages ask of work of any kind.
pub trait WorkSpec {
    /// The tests that it measures, in their order, as samples and claims name them.
    fn tests(&self) -> Vec<&str>;

    /// Why it cannot be done on a raw device; none if it can.
    fn needs_files(&self) -> Option<&'static str>;

    /// About how many bytes it takes on a filesystem with blocks of `block_bytes`.
    fn bytes(&self, block_bytes: u64) -> u64;

    /// Bytes that it takes at the least; 0 if only the program that does the work knows.
    fn bytes_min(&self) -> u64 {
        0
    }

    /// Bytes of its largest file.
    fn largest_file_bytes(&self) -> u64;

    /// What it does, in words for a report.
    fn describe(&self) -> String;
}

impl Work {
    /// What is specified, whatever its kind is.
    pub fn spec(&self) -> &dyn WorkSpec {
        match self {
            Self::Tree(spec) => spec,
            Self::Io(spec) => spec,
            Self::FioFile(spec) => spec,
            Self::Bonnie(spec) => spec,
            Self::Iozone(spec) => spec,
            Self::Server(spec) => spec,
            Self::Imported(spec) => spec,
        }
    }

    /// The tests that it measures, in their order, as samples and claims name them.
    pub fn tests(&self) -> Vec<&str> {
        self.spec().tests()
    }
}

/// Options of fio as `NAME=VALUE`.
fn pairs(options: &[(String, String)]) -> String {
    let words: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    words.join(" ")
}
