//! What every kind of workload asks of the disks, in fio's terms: warnings, bounds and guards judge this and no kind
//! of workload by itself.

use super::{IoSpec, Work, WorkSpec};
use std::borrow::Cow;

/// Larger files are read and written in several requests.
pub(super) const REQUEST_BYTES: u64 = 1 << 20;

/// The reads and writes of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoJob<'a> {
    /// Name of the test.
    pub test: &'a str,
    pub io: Cow<'a, IoSpec>,
    /// The key of the study with which its data becomes larger, if there is one.
    pub grows_by: &'static str,
    /// Whether the study can make it use direct I/O.
    pub can_be_direct: bool,
    /// Its jobs use the same files.
    pub shares_files: bool,
}

impl<'a> IoJob<'a> {
    pub(super) fn new(test: &'a str, io: IoSpec, grows_by: &'static str) -> Self {
        Self {
            test,
            io: Cow::Owned(io),
            grows_by,
            can_be_direct: true,
            shares_files: false,
        }
    }

    /// Sets of files of `size` bytes each: one for each job, unless all use the same.
    pub fn sets_of_files(&self) -> u64 {
        match self.shares_files {
            true => 1,
            false => u64::from(self.io.jobs.max(1)),
        }
    }

    /// Bytes of all its files.
    pub fn files_bytes(&self) -> u64 {
        self.sets_of_files().saturating_mul(self.io.size_bytes)
    }
}

impl Work {
    /// The job of a test; a workload with one job has it for all its tests.
    pub fn job(&self, test: &str) -> Option<IoJob<'_>> {
        let mut jobs = self.spec().jobs();
        let whole = match self {
            Self::FioFile(spec) => spec.section_of(test).map_or(test, |section| &section.name),
            _ => test,
        };
        match jobs.iter().position(|job| job.test == whole) {
            Some(place) => Some(jobs.swap_remove(place)),
            None if jobs.len() == 1 => jobs.pop(),
            None => None,
        }
    }

    /// The job of a test that only reads, if nothing else writes at the same time.
    pub fn only_reads(&self, test: &str) -> Option<IoJob<'_>> {
        let others_write = match self {
            Self::FioFile(spec) => spec.jobs().iter().any(|job| job.io.pattern.has_writes()),
            _ => false,
        };
        self.job(test)
            .filter(|job| !others_write && !job.io.pattern.has_writes())
    }

    /// The job of a test during which nothing else reads or writes; `None` if the test reads.
    pub fn only_writes(&self, test: &str) -> Option<IoJob<'_>> {
        // Sections of a job file may run at once.
        let others_read = match self {
            Self::FioFile(spec) => spec.jobs().iter().any(|job| job.io.pattern.has_reads()),
            _ => false,
        };
        self.job(test).filter(|job| !others_read && !job.io.pattern.has_reads())
    }
}
