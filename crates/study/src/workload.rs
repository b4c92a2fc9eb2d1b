//! The work that is measured on a stack.

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
}

/// A collection of files, the same for every stack that has the same seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeSpec {
    pub files: u32,
    pub size: SizeSpec,
    /// Directories over which the files are spread, nested below one another as a source tree is.
    pub directories: u32,
    /// The tests in their order. A test that needs files finds them written, unmeasured if `write` is not asked.
    pub tests: Vec<TreeTest>,
}

/// Distribution of file sizes: log-normal with the given median, cut at `min_bytes` and `max_bytes`; if all
/// three are equal, every file has that size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeSpec {
    pub min_bytes: u64,
    pub median_bytes: u64,
    pub max_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TreeTest {
    Write,
    Read,
    Copy,
    Delete,
}

impl TreeTest {
    /// The word for it in study files, tables and samples.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Copy => "copy",
            Self::Delete => "delete",
        }
    }
}

/// One I/O job in fio's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoSpec {
    pub engine: IoEngine,
    pub pattern: IoPattern,
    /// Share of reads in a mixed pattern, per cent; 50 unless told.
    pub read_percent: u8,
    /// Bytes of one read or write.
    pub block_bytes: u64,
    /// Bytes of each job's file (or of each job's part of the raw device).
    pub size_bytes: u64,
    /// Where on a raw device the first job's part begins.
    pub offset_bytes: u64,
    pub jobs: u32,
    /// Requests that each job keeps under way.
    pub queue_depth: u32,
    pub direct: bool,
    /// `fsync` after every so many writes; 0 for never.
    pub fsync_every: u32,
    /// `fsync` at the end, inside the measured time.
    pub end_fsync: bool,
    /// Stop after this time even if `size` is not done; and go round again until it is over.
    pub runtime_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoEngine {
    /// fio, an external program (`fio = {…}` in a study).
    Fio,
    /// raidlab's own, which starts in microseconds (`io = {…}` in a study).
    Native,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoPattern {
    Read,
    Write,
    RandRead,
    RandWrite,
    ReadWrite,
    RandRw,
}

impl IoPattern {
    /// fio's word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::ReadWrite => "readwrite",
            Self::RandRw => "randrw",
        }
    }
}
