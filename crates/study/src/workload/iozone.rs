//! IOzone's tests.

use super::io::{IoPattern, IoSpec, SyncMode};
use super::{IoJob, WorkSpec};
use crate::wording::{bytes, joined};
use serde::{Deserialize, Serialize};

/// IOzone's tests on files of one size with records of one size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IozoneSpec {
    pub engine: IozoneEngine,
    /// Bytes of each process' file.
    pub file_bytes: u64,
    /// Bytes of one read or write.
    pub record_bytes: u64,
    /// Throughput mode if more than 1, each process with its own file.
    pub processes: u32,
    /// Selected columns, in IOzone's order.
    pub tests: Vec<IozoneTest>,
    pub direct: bool,
    /// Writes are on stable storage when they return (`-o`).
    pub sync: bool,
    /// `fsync` and `fflush` are within the measured time (`-e`).
    pub include_flush: bool,
    /// Records between the starts of consecutive reads in the strided read (`-j`).
    pub stride_records: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IozoneEngine {
    /// raidlab's own engine, with the same patterns.
    Native,
    /// IOzone 3, an external program.
    Iozone,
}

/// IOzone's 13 columns, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IozoneTest {
    Write,
    Rewrite,
    Read,
    Reread,
    RandomRead,
    RandomWrite,
    BackwardRead,
    RecordRewrite,
    StridedRead,
    Fwrite,
    Frewrite,
    Fread,
    Freread,
}

impl IozoneTest {
    pub const ALL: [Self; 13] = [
        Self::Write,
        Self::Rewrite,
        Self::Read,
        Self::Reread,
        Self::RandomRead,
        Self::RandomWrite,
        Self::BackwardRead,
        Self::RecordRewrite,
        Self::StridedRead,
        Self::Fwrite,
        Self::Frewrite,
        Self::Fread,
        Self::Freread,
    ];

    /// Its name in study files, tables and samples.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Rewrite => "rewrite",
            Self::Read => "read",
            Self::Reread => "reread",
            Self::RandomRead => "random-read",
            Self::RandomWrite => "random-write",
            Self::BackwardRead => "backward-read",
            Self::RecordRewrite => "record-rewrite",
            Self::StridedRead => "strided-read",
            Self::Fwrite => "fwrite",
            Self::Frewrite => "frewrite",
            Self::Fread => "fread",
            Self::Freread => "freread",
        }
    }

    /// The number for IOzone's `-i`; most are shared by two columns.
    pub const fn group(self) -> u8 {
        match self {
            Self::Write | Self::Rewrite => 0,
            Self::Read | Self::Reread => 1,
            Self::RandomRead | Self::RandomWrite => 2,
            Self::BackwardRead => 3,
            Self::RecordRewrite => 4,
            Self::StridedRead => 5,
            Self::Fwrite | Self::Frewrite => 6,
            Self::Fread | Self::Freread => 7,
        }
    }

    const fn pattern(self) -> IoPattern {
        match self {
            Self::RandomRead => IoPattern::RandRead,
            Self::RandomWrite => IoPattern::RandWrite,
            _ if self.reads() => IoPattern::Read,
            _ => IoPattern::Write,
        }
    }

    /// Whether it only reads.
    pub const fn reads(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::Reread
                | Self::RandomRead
                | Self::BackwardRead
                | Self::StridedRead
                | Self::Fread
                | Self::Freread
        )
    }
}

impl WorkSpec for IozoneSpec {
    fn tests(&self) -> Vec<&str> {
        self.tests.iter().map(|test| test.name()).collect()
    }

    fn jobs(&self) -> Vec<IoJob<'_>> {
        let job = |test: &IozoneTest| {
            let io = IoSpec {
                pattern: test.pattern(),
                block_bytes: self.record_bytes,
                size_bytes: self.file_bytes,
                jobs: self.processes,
                direct: self.direct,
                sync: match self.sync {
                    true => SyncMode::Sync,
                    false => SyncMode::None,
                },
                end_fsync: self.include_flush,
                ..IoSpec::default()
            };
            IoJob::new(test.name(), io, "file")
        };
        self.tests.iter().map(job).collect()
    }

    fn needs_files(&self) -> Option<&'static str> {
        Some("IOzone works on files, and a raw device has none")
    }

    fn bytes(&self, _: u64) -> u64 {
        self.file_bytes.saturating_mul(u64::from(self.processes))
    }

    fn largest_file_bytes(&self) -> u64 {
        self.file_bytes
    }

    fn describe(&self) -> String {
        let engine = match self.engine {
            IozoneEngine::Native => "IOzone's tests by raidlab's own engine",
            IozoneEngine::Iozone => "IOzone",
        };
        let parts = [
            Some(format!("records of {}", bytes(self.record_bytes))),
            (self.processes > 1).then(|| format!("{} processes", self.processes)),
            self.direct.then(|| "direct".to_owned()),
            self.sync.then(|| "O_SYNC".to_owned()),
            (!self.include_flush).then(|| "without the flush at the end".to_owned()),
            self.tests
                .contains(&IozoneTest::StridedRead)
                .then(|| format!("stride of {} records", self.stride_records)),
            Some(self.tests().join(", ")),
        ];
        format!(
            "{engine}: {}",
            joined(&format!("file of {}", bytes(self.file_bytes)), parts)
        )
    }
}
