//! Reads and writes with fio's options.

use super::{IoJob, WorkSpec, pairs};
use crate::wording::{bytes, count, joined, nanoseconds};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// An I/O job with fio's options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoSpec {
    pub engine: IoEngine,
    pub pattern: IoPattern,
    /// Bytes skipped after each block of a sequential pattern (`rw = "read:8K"`); negative goes backwards.
    pub skip_bytes: i64,
    /// Consecutive blocks before the next jump of a random pattern (`rw = "randread:8"`).
    pub run_blocks: u32,
    /// Percentage of reads in a mixed pattern; default 50.
    pub read_percent: u8,
    /// Bytes of one read or write.
    pub block_bytes: u64,
    /// Bytes that each job works on, in its own file or its part of the raw device.
    pub size_bytes: u64,
    /// Offset of the first job's part in the file or on a raw device.
    pub offset_bytes: u64,
    /// Distance to the next job's part on a raw device; absent if the parts are contiguous.
    pub offset_increment_bytes: Option<u64>,
    pub jobs: u32,
    /// Requests that each job keeps in flight.
    pub queue_depth: u32,
    pub direct: bool,
    /// Files that are only written are filled before. fio has an option of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub overwrite: bool,
    /// Whether each write is on stable storage when it returns.
    pub sync: SyncMode,
    /// `fsync` after this many writes; 0 for never.
    pub fsync_every: u32,
    /// `fdatasync` after this many writes; 0 for never.
    pub fdatasync_every: u32,
    /// `fsync` at the end, within the measured time.
    pub end_fsync: bool,
    /// Stop after this time even if `size` is not reached.
    pub runtime_ns: Option<u64>,
    /// With `runtime_ns`: start over until it has elapsed.
    pub time_based: bool,
    /// Run for this time before measuring.
    pub ramp_ns: u64,
    /// Wait this time after every `think_blocks` blocks.
    pub think_ns: u64,
    pub think_blocks: u32,
    /// Bandwidth limit of each job, bytes a second.
    pub rate_bytes_s: Option<u64>,
    /// Limit of each job, reads or writes a second.
    pub rate_iops: Option<u32>,
    pub buffer: BufferSpec,
    /// fio's name of the checksum; raidlab's engine always compares all written data byte by byte.
    pub verify: Option<String>,
    /// Report only the totals of all jobs; otherwise also each job.
    pub group_reporting: bool,
    /// The files fit in memory on purpose: the study measures how a cache completes records or stripes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fits_memory: bool,
    /// Other fio options, in its spelling and order. Empty for raidlab's engine.
    pub fio_options: Vec<(String, String)>,
}

impl Default for IoSpec {
    /// Reads a gibibyte in 4 KiB blocks with raidlab's engine.
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
            overwrite: false,
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
            fits_memory: false,
            fio_options: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoEngine {
    /// fio, an external program (`fio = {…}` in a study).
    Fio,
    /// raidlab's own engine, which starts in microseconds (`io = {…}` in a study).
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

    /// fio's name of the pattern.
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

    /// The pattern with this name; `rw` is an alias of `readwrite`.
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

    /// Whether it reads; it may also write.
    pub const fn has_reads(self) -> bool {
        !matches!(self, Self::Write | Self::RandWrite)
    }

    /// Whether it writes; it may also read.
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

/// Contents of written blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BufferSpec {
    pub fill: BufferFill,
    /// Compressible percentage of each block.
    pub compress_percent: u8,
    /// Percentage of blocks that are equal to an earlier one. Absent: the engine's own contents; raidlab's repeat
    /// after 769 blocks.
    pub dedupe_percent: Option<u8>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BufferFill {
    #[default]
    Random,
    Zero,
    /// These bytes, repeated.
    Pattern(Vec<u8>),
}

impl IoPattern {
    /// The tests of a job with this pattern. The directions of a mixed pattern are also measured separately.
    pub fn tests(self) -> Vec<&'static str> {
        let mut tests = vec![self.name()];
        if self.is_mixed() {
            tests.extend(["read", "write"]);
        }
        tests
    }
}

/// fio's engines that return from a request when it is complete: `iodepth` has no effect.
const SYNCHRONOUS: [&str; 6] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];

impl IoSpec {
    /// Requests per second to which a job is limited, by `rate_iops` and `rate`; `None` without a limit.
    pub fn limit_iops(&self) -> Option<u64> {
        let of_bytes = self.rate_bytes_s.map(|rate| rate / self.block_bytes.max(1));
        self.rate_iops.map(u64::from).into_iter().chain(of_bytes).min()
    }

    /// Whether writes are synced while it runs: by `sync`, `fsync` or `fdatasync`.
    pub fn syncs(&self) -> bool {
        self.sync != SyncMode::None || self.fsync_every > 0 || self.fdatasync_every > 0
    }

    /// The synchronous fio engine that ignores `iodepth`, if the job has one.
    pub fn ignores_depth(&self) -> Option<&str> {
        let engine = self.fio_options.iter().rev().find(|(name, _)| name == "ioengine");
        engine
            .map(|(_, value)| value.as_str())
            .filter(|engine| SYNCHRONOUS.contains(engine))
    }

    /// Requests that all jobs together keep in flight.
    pub fn in_flight(&self) -> u64 {
        let depth = match self.ignores_depth() {
            Some(_) => 1,
            None => self.queue_depth,
        };
        u64::from(self.jobs) * u64::from(depth)
    }
}

impl WorkSpec for IoSpec {
    fn tests(&self) -> Vec<&str> {
        self.pattern.tests()
    }

    fn jobs(&self) -> Vec<IoJob<'_>> {
        vec![IoJob {
            test: self.pattern.name(),
            io: Cow::Borrowed(self),
            grows_by: "size",
            can_be_direct: true,
            shares_files: false,
        }]
    }

    fn needs_files(&self) -> Option<&'static str> {
        None
    }

    fn bytes(&self, _: u64) -> u64 {
        let step = self.offset_increment_bytes.unwrap_or(self.size_bytes);
        let last = step.saturating_mul(u64::from(self.jobs.saturating_sub(1)));
        self.offset_bytes.saturating_add(last).saturating_add(self.size_bytes)
    }

    fn bytes_min(&self) -> u64 {
        self.offset_bytes + u64::from(self.jobs) * self.size_bytes
    }

    fn largest_file_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn describe(&self) -> String {
        let engine = match self.engine {
            IoEngine::Fio => "fio",
            IoEngine::Native => "raidlab's own engine",
        };
        let every = |what: &str, writes: u32| {
            (writes > 0).then(|| format!("{what} every {}", count(writes as usize, "write")))
        };
        let parts = [
            (self.skip_bytes > 0).then(|| format!("leaving out {}", bytes(self.skip_bytes.unsigned_abs()))),
            (self.skip_bytes < 0).then(|| format!("backwards by {}", bytes(self.skip_bytes.unsigned_abs()))),
            (self.run_blocks > 1).then(|| format!("{} blocks between jumps", self.run_blocks)),
            Some(format!("{} blocks", bytes(self.block_bytes))),
            Some(format!(
                "{} of {} each",
                count(self.jobs as usize, "job"),
                bytes(self.size_bytes)
            )),
            Some(format!("queue depth {}", self.queue_depth)),
            self.direct.then(|| "direct".to_owned()),
            self.overwrite.then(|| "over data".to_owned()),
            match self.sync {
                SyncMode::None => None,
                SyncMode::Sync => Some("O_SYNC".to_owned()),
                SyncMode::Dsync => Some("O_DSYNC".to_owned()),
            },
            every("fsync", self.fsync_every),
            every("fdatasync", self.fdatasync_every),
            self.end_fsync.then(|| "fsync at the end, timed".to_owned()),
            self.rate_bytes_s.map(|rate| format!("at most {}/s a job", bytes(rate))),
            self.rate_iops.map(|rate| format!("at most {rate} IOPS a job")),
            (self.think_ns > 0).then(|| format!("waiting {} between blocks", nanoseconds(self.think_ns))),
            self.runtime_ns.map(|runtime| format!("for {}", nanoseconds(runtime))),
            (self.ramp_ns > 0).then(|| format!("after {} that are not measured", nanoseconds(self.ramp_ns))),
            match &self.buffer.fill {
                BufferFill::Random => None,
                BufferFill::Zero => Some("zeros".to_owned()),
                BufferFill::Pattern(pattern) => Some(format!("a pattern of {}", count(pattern.len(), "byte"))),
            },
            (self.buffer.compress_percent > 0).then(|| format!("{} % compressible", self.buffer.compress_percent)),
            self.buffer
                .dedupe_percent
                .map(|percent| format!("{percent} % duplicate blocks")),
            self.verify.as_ref().map(|_| "all verified afterwards".to_owned()),
            self.fits_memory
                .then(|| "files that fit in memory on purpose".to_owned()),
            (!self.fio_options.is_empty()).then(|| pairs(&self.fio_options)),
        ];
        format!("{engine}: {}", joined(self.pattern.name(), parts))
    }
}
