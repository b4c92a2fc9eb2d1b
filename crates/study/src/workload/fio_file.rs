//! fio job files.

use super::io::IoPattern;
use super::{WorkSpec, pairs};
use serde::{Deserialize, Serialize};

/// A parsed and validated fio job file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FioFileSpec {
    /// Path in the study.
    pub path: String,
    /// In the order of the file; each with the preceding options of `[global]`.
    pub sections: Vec<FioSection>,
}

/// A section of a job file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FioSection {
    /// Also the name of its test.
    pub name: String,
    /// fio options, without those that raidlab sets itself (paths of the files, clock).
    pub options: Vec<(String, String)>,
    pub pattern: IoPattern,
    pub block_bytes: u64,
    /// Total size of each job's files.
    pub size_bytes: u64,
    pub jobs: u32,
    /// Number of files of each job.
    pub files: u32,
    pub runtime_ns: Option<u64>,
    pub direct: bool,
    pub end_fsync: bool,
}

impl WorkSpec for FioFileSpec {
    fn tests(&self) -> Vec<&str> {
        self.sections.iter().map(|section| section.name.as_str()).collect()
    }

    fn needs_files(&self) -> Option<&'static str> {
        Some("the jobs of a job file need files, and a raw device has none")
    }

    fn bytes(&self, _: u64) -> u64 {
        self.sections.iter().fold(0, |sum: u64, section| {
            sum.saturating_add(section.size_bytes.saturating_mul(u64::from(section.jobs)))
        })
    }

    fn largest_file_bytes(&self) -> u64 {
        self.sections
            .iter()
            .map(|section| section.size_bytes)
            .max()
            .unwrap_or(0)
    }

    fn describe(&self) -> String {
        let sections: Vec<String> = self
            .sections
            .iter()
            .map(|section| format!("[{}] {}", section.name, pairs(&section.options)))
            .collect();
        format!("fio: {}: {}", self.path, sections.join("; "))
    }
}
