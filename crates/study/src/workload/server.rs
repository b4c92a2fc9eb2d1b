//! Server workloads: files and records that must be on stable storage before the next step.

use super::io::{IoPattern, IoSpec, SyncMode};
use super::{IoJob, REQUEST_BYTES, SizeSpec, WorkSpec};
use crate::wording::{bytes, count, number};
use serde::{Deserialize, Serialize};

/// A workload whose operations all end on stable storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSpec {
    /// The tests in their order.
    pub tests: Vec<ServerTest>,
    /// Number of concurrent threads.
    pub clients: u32,
    /// Files of `create`, `deliver`, `replace` and `mixed`.
    pub files: u32,
    pub size: SizeSpec,
    /// Number of directories for the files; `deliver` has one.
    pub directories: u32,
    /// Records that each client writes in `append` and `commit`.
    pub records: u32,
    pub record_bytes: u64,
    /// `mixed`: percentage of operations that read a file; the others replace one.
    pub read_percent: u8,
    /// `mixed`: operations per second of all clients together; unlimited if absent.
    pub rate: Option<u32>,
    /// `mixed`: duration.
    pub runtime_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerTest {
    /// Each file is created, written and fsynced.
    Create,
    /// A mail server's Maildir: each file is written and fsynced in `tmp` and renamed into `new`, and `new` is fsynced.
    Deliver,
    /// A package manager: each file of a tree is written next to the old one, fsynced and renamed over it.
    Replace,
    /// A database's log: each client appends records to its own file and calls fdatasync after each.
    Append,
    /// Group commit: all clients append to one file, and one fdatasync commits the records of all waiting clients.
    Commit,
    /// Files of a tree are read and replaced, at a given rate.
    Mixed,
}

impl ServerTest {
    pub const ALL: [Self; 6] = [
        Self::Create,
        Self::Deliver,
        Self::Replace,
        Self::Append,
        Self::Commit,
        Self::Mixed,
    ];

    /// Its name in study files, tables and samples.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Deliver => "deliver",
            Self::Replace => "replace",
            Self::Append => "append",
            Self::Commit => "commit",
            Self::Mixed => "mixed",
        }
    }

    /// Whether it works on files, not on records.
    pub const fn has_files(self) -> bool {
        !matches!(self, Self::Append | Self::Commit)
    }
}

impl ServerSpec {
    fn log_bytes(&self) -> u64 {
        u64::from(self.clients) * u64::from(self.records) * self.record_bytes
    }
}

impl WorkSpec for ServerSpec {
    fn tests(&self) -> Vec<&str> {
        self.tests.iter().map(|test| test.name()).collect()
    }

    /// Every write of it is on stable storage before the next step.
    fn jobs(&self) -> Vec<IoJob<'_>> {
        let job = |test: &ServerTest| {
            let is_mixed = *test == ServerTest::Mixed;
            let all_bytes = match test.has_files() {
                true => self.size.bytes_of(self.files, 1),
                false => self.log_bytes(),
            };
            let io = IoSpec {
                pattern: match is_mixed {
                    true => IoPattern::RandRw,
                    false => IoPattern::Write,
                },
                read_percent: self.read_percent,
                block_bytes: match test.has_files() {
                    true => self.size.median_bytes.min(REQUEST_BYTES),
                    false => self.record_bytes,
                },
                size_bytes: all_bytes / u64::from(self.clients.max(1)),
                jobs: self.clients,
                sync: SyncMode::Sync,
                rate_iops: self
                    .rate
                    .filter(|_| is_mixed)
                    .map(|rate| rate.div_ceil(self.clients.max(1))),
                runtime_ns: is_mixed.then_some(self.runtime_ns),
                ..IoSpec::default()
            };
            IoJob {
                can_be_direct: false,
                ..IoJob::new(test.name(), io, if test.has_files() { "files" } else { "records" })
            }
        };
        self.tests.iter().map(job).collect()
    }

    fn needs_files(&self) -> Option<&'static str> {
        Some("a raw device has no files")
    }

    fn bytes(&self, block_bytes: u64) -> u64 {
        let tree = self.size.bytes_of(self.files, block_bytes);
        let each = self.tests.iter().map(|test| match test {
            ServerTest::Append | ServerTest::Commit => self.log_bytes(),
            _ => tree,
        });
        each.fold(0, u64::saturating_add)
    }

    fn largest_file_bytes(&self) -> u64 {
        self.size.max_bytes.max(self.log_bytes())
    }

    fn describe(&self) -> String {
        let has = |wanted: fn(&ServerTest) -> bool| self.tests.iter().any(wanted);
        let mut parts = Vec::new();
        if has(|test| test.has_files()) {
            parts.push(format!(
                "{} of {} in {}",
                count(self.files as usize, "file"),
                bytes(self.size.median_bytes),
                match self.directories {
                    1 => "one directory".to_owned(),
                    many => format!("{} directories", number(f64::from(many), 0)),
                }
            ));
        }
        if has(|test| !test.has_files()) {
            parts.push(format!(
                "{} of {} by each client",
                count(self.records as usize, "record"),
                bytes(self.record_bytes)
            ));
        }
        if has(|test| *test == ServerTest::Mixed) {
            let rate = self
                .rate
                .map_or_else(String::new, |rate| format!(" at {rate} a second"));
            parts.push(format!("mixed with {} % reads{rate}", self.read_percent));
        }
        format!(
            "{}, {}: {}",
            count(self.clients as usize, "client"),
            parts.join(", "),
            self.tests().join(", ")
        )
    }
}
