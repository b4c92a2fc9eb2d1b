//! Reads and writes in fio's words.

use serde::{Deserialize, Serialize};

/// One I/O job in fio's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoSpec {
    pub engine: IoEngine,
    pub pattern: IoPattern,
    /// Bytes left out after each block of a sequential pattern (`rw = "read:8K"`); negative goes backwards.
    pub skip_bytes: i64,
    /// Blocks that follow one another before the next jump of a random pattern (`rw = "randread:8"`).
    pub run_blocks: u32,
    /// Share of reads in a mixed pattern, per cent; 50 unless told.
    pub read_percent: u8,
    /// Bytes of one read or write.
    pub block_bytes: u64,
    /// Bytes that each job works on, in a file of its own or in its part of the raw device.
    pub size_bytes: u64,
    /// Where in the file, or on a raw device, the first job's part begins.
    pub offset_bytes: u64,
    /// How far the next job's part is from it on a raw device; absent if they lie one after the other.
    pub offset_increment_bytes: Option<u64>,
    pub jobs: u32,
    /// Requests that each job keeps under way.
    pub queue_depth: u32,
    pub direct: bool,
    /// Each write is on stable storage when it returns.
    pub sync: SyncMode,
    /// `fsync` after every so many writes; 0 for never.
    pub fsync_every: u32,
    /// `fdatasync` after every so many writes; 0 for never.
    pub fdatasync_every: u32,
    /// `fsync` at the end, inside the measured time.
    pub end_fsync: bool,
    /// Stop after this time even if `size` is not done.
    pub runtime_ns: Option<u64>,
    /// With `runtime_ns`: go round again until it is over.
    pub time_based: bool,
    /// Work for so long before anything is counted.
    pub ramp_ns: u64,
    /// Wait for so long after every `think_blocks` blocks.
    pub think_ns: u64,
    pub think_blocks: u32,
    /// The most that each job does a second, in bytes.
    pub rate_bytes_s: Option<u64>,
    /// The most that each job does a second, in reads or writes.
    pub rate_iops: Option<u32>,
    pub buffer: BufferSpec,
    /// fio's word for the checksum; raidlab's engine compares all that was written, byte by byte, whatever it is.
    pub verify: Option<String>,
    /// Figures are of all jobs together; if not, of each job besides.
    pub group_reporting: bool,
    /// What else fio is told, in its own words and order. Empty for raidlab's engine.
    pub fio_options: Vec<(String, String)>,
}

impl Default for IoSpec {
    /// A gibibyte read in blocks of 4 KiB by raidlab's engine.
    fn default() -> Self {
        Self {
            engine: IoEngine::Native,
            pattern: IoPattern::Read,
            skip_bytes: 0,
            run_blocks: 1,
            read_percent: 50,
            block_bytes: 4 << 10,
            size_bytes: 1 << 30,
            offset_bytes: 0,
            offset_increment_bytes: None,
            jobs: 1,
            queue_depth: 1,
            direct: false,
            sync: SyncMode::None,
            fsync_every: 0,
            fdatasync_every: 0,
            end_fsync: false,
            runtime_ns: None,
            time_based: true,
            ramp_ns: 0,
            think_ns: 0,
            think_blocks: 1,
            rate_bytes_s: None,
            rate_iops: None,
            buffer: BufferSpec::default(),
            verify: None,
            group_reporting: true,
            fio_options: Vec::new(),
        }
    }
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
    pub const ALL: [Self; 6] = [
        Self::Read,
        Self::Write,
        Self::RandRead,
        Self::RandWrite,
        Self::ReadWrite,
        Self::RandRw,
    ];

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

    /// The pattern of that name; `rw` is another for `readwrite`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "rw" { "readwrite" } else { name };
        Self::ALL.into_iter().find(|pattern| pattern.name() == name)
    }

    pub const fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw)
    }

    pub const fn is_mixed(self) -> bool {
        matches!(self, Self::ReadWrite | Self::RandRw)
    }

    /// Reads, and maybe writes too.
    pub const fn has_reads(self) -> bool {
        !matches!(self, Self::Write | Self::RandWrite)
    }

    /// Writes, and maybe reads too.
    pub const fn has_writes(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead)
    }
}

/// How a file is opened for writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SyncMode {
    #[default]
    None,
    /// `O_SYNC`
    Sync,
    /// `O_DSYNC`
    Dsync,
}

/// What is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BufferSpec {
    pub fill: BufferFill,
    /// Share of each block that compresses to nothing, per cent.
    pub compress_percent: u8,
    /// Share of blocks that are equal to one before, per cent. Absent: the engine's own bytes, of which raidlab's
    /// repeat after 769 blocks.
    pub dedupe_percent: Option<u8>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BufferFill {
    #[default]
    Random,
    Zero,
    /// These bytes, again and again.
    Pattern(Vec<u8>),
}

/// A job file of fio's, read and found harmless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FioFileSpec {
    /// As the study names it.
    pub path: String,
    /// In the order of the file; each with what `[global]` says before it.
    pub sections: Vec<FioSection>,
}

/// A job of a job file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FioSection {
    /// Also the name of its test.
    pub name: String,
    /// In fio's words, without what raidlab says itself (where the files are, how the time is taken).
    pub options: Vec<(String, String)>,
    pub pattern: IoPattern,
    pub block_bytes: u64,
    /// Bytes of each job's files together.
    pub size_bytes: u64,
    pub jobs: u32,
    /// Files of each job.
    pub files: u32,
    pub runtime_ns: Option<u64>,
    pub direct: bool,
    pub end_fsync: bool,
}
