//! The classic benchmarks: Bonnie++ and IOzone.

use serde::{Deserialize, Serialize};

/// A run of Bonnie++: its throughput tests, its seeks, its file-creation tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BonnieSpec {
    /// Bytes of one volume, in whole MiB; 0 leaves out the throughput tests.
    pub size_bytes: u64,
    /// So many volumes, worked through as one (the `-v` of the old Bonnie; Bonnie++ is given the sum).
    pub volumes: u32,
    /// Bytes of one read or write of the block tests.
    pub chunk_bytes: u64,
    /// Whether there are tests of single characters (`putc`, `getc`).
    pub per_char: bool,
    /// Bytes of those, in whole MiB: each costs a system call.
    pub char_bytes: u64,
    pub seeks: u32,
    pub seekers: u32,
    /// Files of the file-creation tests, a multiple of 1024; 0 leaves them out.
    pub files: u32,
    pub file_min_bytes: u64,
    pub file_max_bytes: u64,
    /// 0: all in one.
    pub directories: u32,
    /// Copies of it all at the same time.
    pub processes: u32,
    pub direct: bool,
    /// `fsync` after every write.
    pub no_buffering: bool,
}

/// IOzone's tests on files of one size with records of one size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IozoneSpec {
    pub engine: IozoneEngine,
    /// Bytes of each process' file.
    pub file_bytes: u64,
    /// Bytes of one read or write.
    pub record_bytes: u64,
    /// Throughput mode if more than 1, each with a file of its own.
    pub processes: u32,
    /// The columns wanted, in IOzone's order.
    pub tests: Vec<IozoneTest>,
    pub direct: bool,
    /// Writes are on stable storage when they return (`-o`).
    pub sync: bool,
    /// `fsync` and `fflush` are inside the measured time (`-e`).
    pub include_flush: bool,
    /// Records from the beginning of one read to that of the next in the strided read (`-j`).
    pub stride_records: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IozoneEngine {
    /// raidlab's own, with the same patterns.
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

    /// The word for it in study files, tables and samples.
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

    /// The number after IOzone's `-i`; two columns share most of them.
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

/// Bonnie's six classic columns.
pub const BONNIE_TESTS: [&str; 6] = ["putc", "write", "rewrite", "getc", "read", "seeks"];

/// Bonnie++'s tests of files.
pub const BONNIE_FILE_TESTS: [&str; 6] = [
    "create-seq",
    "stat-seq",
    "delete-seq",
    "create-random",
    "stat-random",
    "delete-random",
];
