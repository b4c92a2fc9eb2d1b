//! Workloads: one file per kind, with its types and what other stages need to know.

mod age;
mod bonnie;
mod fio_file;
mod fio_value;
mod imported;
mod io;
mod io_job;
mod iozone;
mod power_cut;
mod server;
mod tree;

pub use age::{AgeProfile, AgeSpec};
pub use bonnie::{BONNIE_FILE_TESTS, BONNIE_TESTS, BonnieSpec};
pub use fio_file::{FILE_ENGINES, FioFileSpec, FioSection, SharedFile};
pub use fio_value::{fio_bytes, fio_nanoseconds, fio_prefix_shift};
pub use imported::ImportedSpec;
pub use io::{BufferFill, BufferSpec, IoEngine, IoPattern, IoSpec, SyncMode};
pub use io_job::IoJob;
use io_job::REQUEST_BYTES;
pub use iozone::{IozoneEngine, IozoneSpec, IozoneTest};
pub use power_cut::{POWER_CUT_TESTS, PowerCutSpec, Survivors};
pub use server::{ServerSpec, ServerTest};
pub use tree::{NamedCollection, SizeSpec, TreeSpec, TreeTest};

use crate::event::Guard;
use crate::test_id::TestId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A named workload of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSpec {
    pub name: String,
    pub work: Work,
    /// How its filesystem is aged before; absent: it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<AgeSpec>,
}

impl WorkloadSpec {
    /// Description for a report.
    pub fn describe(&self) -> String {
        let work = self.work.spec().describe();
        match &self.age {
            Some(age) => format!("{work}; {}", age.describe()),
            None => work,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// A collection of files that are written, read, copied and deleted.
    Tree(TreeSpec),
    /// Reads and writes of one or several files (or of the device), by fio or by raidlab's own engine.
    Io(IoSpec),
    /// An fio job file with one or several sections.
    FioFile(FioFileSpec),
    /// Bonnie++.
    Bonnie(BonnieSpec),
    /// IOzone's tests, by IOzone itself or by raidlab's own engine.
    Iozone(IozoneSpec),
    /// Workloads of mail servers, package managers and databases.
    Server(ServerSpec),
    /// Operations ended by power cuts.
    PowerCut(PowerCutSpec),
    /// Results of another program elsewhere. Never in a study.
    Imported(ImportedSpec),
}

/// Interface of all kinds of workloads.
pub trait WorkSpec {
    /// Its tests in order, as named in samples and claims.
    fn tests(&self) -> Vec<&str>;

    /// The reads and writes of its tests. Without a default: no kind of workload may escape the warnings and guards
    /// by which figures are judged. Empty only if nothing of it is timed.
    fn jobs(&self) -> Vec<IoJob<'_>>;

    /// Why it cannot run on a raw device; `None` if it can.
    fn needs_files(&self) -> Option<&'static str>;

    /// Approximate space that it needs on a filesystem with blocks of `block_bytes`.
    fn bytes(&self, block_bytes: u64) -> u64;

    /// Minimum space that it needs; 0 if only the external program knows.
    fn bytes_min(&self) -> u64 {
        0
    }

    /// Size of its largest file in bytes.
    fn largest_file_bytes(&self) -> u64;

    /// Description for a report.
    fn describe(&self) -> String;
}

/// Which figures a failed guard of a test excludes. A guard of acts excludes those of its own test alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardReach {
    /// All of the trial: its tests are parts of one measurement.
    Trial,
    /// Those of the test and of its jobs.
    Test,
    /// Those of the section of a job file and of its directions: by the test of a direction its section.
    Section(BTreeMap<String, String>),
}

impl GuardReach {
    /// Whether figures of `of` are derived from what a guard judges.
    pub fn covers(&self, guard: &Guard, of: &TestId) -> bool {
        guard.test.as_ref().is_none_or(|guarded| {
            let is_of_whole_trial = *self == Self::Trial && guard.name != Guard::ACT;
            is_of_whole_trial || self.measured(guarded.name()) == self.measured(of.name())
        })
    }

    /// What was measured for a test.
    fn measured<'a>(&'a self, test: &'a str) -> &'a str {
        match self {
            Self::Section(sections) => sections.get(test).map_or(test, String::as_str),
            Self::Trial | Self::Test => test,
        }
    }
}

impl Work {
    /// An io job, or the only section of a job file, is measured once: its directions, its jobs and the phases of the array are
    /// parts of that.
    pub fn guard_reach(&self) -> GuardReach {
        match self {
            Self::Io(_) => GuardReach::Trial,
            Self::FioFile(spec) if spec.sections.len() == 1 => GuardReach::Trial,
            Self::FioFile(spec) => GuardReach::Section(spec.sections_of_directions()),
            Self::Tree(_)
            | Self::Bonnie(_)
            | Self::Iozone(_)
            | Self::Server(_)
            | Self::PowerCut(_)
            | Self::Imported(_) => GuardReach::Test,
        }
    }

    /// The specification of any kind.
    pub fn spec(&self) -> &dyn WorkSpec {
        match self {
            Self::Tree(spec) => spec,
            Self::Io(spec) => spec,
            Self::FioFile(spec) => spec,
            Self::Bonnie(spec) => spec,
            Self::Iozone(spec) => spec,
            Self::Server(spec) => spec,
            Self::PowerCut(spec) => spec,
            Self::Imported(spec) => spec,
        }
    }

    /// Its tests in order, as named in samples and claims.
    pub fn tests(&self) -> Vec<&str> {
        self.spec().tests()
    }
}

/// fio options as `NAME=VALUE`.
fn pairs(options: &[(String, String)]) -> String {
    let words: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    words.join(" ")
}
