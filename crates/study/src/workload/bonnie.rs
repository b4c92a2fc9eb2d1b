//! Bonnie++.

use super::io::{IoPattern, IoSpec, SyncMode};
use super::{IoJob, WorkSpec};
use crate::wording::{bytes, count};
use serde::{Deserialize, Serialize};

/// A run of Bonnie++: its throughput tests, its seeks, its file-creation tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BonnieSpec {
    /// Size of one volume in bytes, in whole MiB; 0 leaves out the throughput tests.
    pub size_bytes: u64,
    /// Number of volumes, used as one (`-v` of the old Bonnie; Bonnie++ gets the sum).
    pub volumes: u32,
    /// Bytes of one read or write of the block tests.
    pub chunk_bytes: u64,
    /// Whether there are per-character tests (`putc`, `getc`).
    pub per_char: bool,
    /// Bytes of the per-character tests, in whole MiB: each byte takes a system call.
    pub char_bytes: u64,
    pub seeks: u32,
    pub seekers: u32,
    /// Files of the file-creation tests, a multiple of 1024; 0 leaves them out.
    pub files: u32,
    pub file_min_bytes: u64,
    pub file_max_bytes: u64,
    /// 0: all in one directory.
    pub directories: u32,
    /// Number of concurrent processes.
    pub processes: u32,
    pub direct: bool,
    /// `fsync` after every write.
    pub no_buffering: bool,
}

/// Bonnie's six classic tests.
pub const BONNIE_TESTS: [&str; 6] = ["putc", "write", "rewrite", "getc", "read", "seeks"];

/// Bonnie++'s file tests.
pub const BONNIE_FILE_TESTS: [&str; 6] = [
    "create-seq",
    "stat-seq",
    "delete-seq",
    "create-random",
    "stat-random",
    "delete-random",
];

impl WorkSpec for BonnieSpec {
    fn tests(&self) -> Vec<&str> {
        let classic = BONNIE_TESTS
            .into_iter()
            .filter(|test| self.size_bytes > 0 && (self.per_char || !matches!(*test, "putc" | "getc")));
        let files = BONNIE_FILE_TESTS.into_iter().filter(|_| self.files > 0);
        classic.chain(files).collect()
    }

    fn jobs(&self) -> Vec<IoJob<'_>> {
        let job = |(test, pattern): (&'static str, IoPattern)| {
            let io = IoSpec {
                pattern,
                block_bytes: self.chunk_bytes,
                size_bytes: self.size_bytes.saturating_mul(u64::from(self.volumes)),
                jobs: self.processes,
                direct: self.direct,
                sync: match self.no_buffering {
                    true => SyncMode::Sync,
                    false => SyncMode::None,
                },
                end_fsync: true,
                ..IoSpec::default()
            };
            IoJob::new(test, io, "size")
        };
        let all = [
            ("putc", IoPattern::Write),
            ("write", IoPattern::Write),
            ("rewrite", IoPattern::ReadWrite),
            ("getc", IoPattern::Read),
            ("read", IoPattern::Read),
            ("seeks", IoPattern::RandRead),
        ];
        let own = self.tests();
        all.into_iter()
            .filter(|(test, _)| own.contains(test))
            .map(job)
            .collect()
    }

    fn needs_files(&self) -> Option<&'static str> {
        Some("Bonnie++ works on files, and a raw device has none")
    }

    fn bytes(&self, block_bytes: u64) -> u64 {
        let all = self.size_bytes.saturating_mul(u64::from(self.volumes));
        let file = (self.file_min_bytes / 2 + self.file_max_bytes / 2).next_multiple_of(block_bytes);
        let files = file.saturating_mul(u64::from(self.files));
        all.max(files).saturating_mul(u64::from(self.processes))
    }

    /// No relevant limit: Bonnie++ splits its volume into files of 1 GiB.
    fn largest_file_bytes(&self) -> u64 {
        0
    }

    fn describe(&self) -> String {
        let block = (self.size_bytes > 0).then(|| {
            format!(
                "{} of {}, {} at once",
                count(self.volumes as usize, "volume"),
                bytes(self.size_bytes),
                bytes(self.chunk_bytes)
            )
        });
        let files = (self.files > 0).then(|| {
            format!(
                "{} of {} to {}",
                count(self.files as usize, "file"),
                bytes(self.file_min_bytes),
                bytes(self.file_max_bytes)
            )
        });
        let parts = [
            block,
            (self.size_bytes > 0 && !self.per_char).then(|| "without single characters".to_owned()),
            files,
            (self.processes > 1).then(|| format!("{} copies at the same time", self.processes)),
            self.direct.then(|| "direct".to_owned()),
            self.no_buffering.then(|| "fsync after every write".to_owned()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("Bonnie++: {}", parts.join(", "))
    }
}
