//! Group commit: a record is committed by an fdatasync that began after it was written, whoever called it.
//!
//! The first client that finds no fdatasync in progress calls it for all records written by then; later ones wait for
//! the next. PostgreSQL and InnoDB do this with their logs.

use crate::WorkloadError;
use rustix::fs::{Mode, OFlags, open};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

pub(super) const NAME: &str = "log";

pub(super) struct Log {
    file: OwnedFd,
    path: PathBuf,
    state: Mutex<State>,
    committed: Condvar,
}

#[derive(Default)]
struct State {
    /// Records written, and records known to be on stable storage.
    written: u64,
    durable: u64,
    is_syncing: bool,
    has_failed: bool,
    commits: u64,
}

impl Log {
    pub(super) fn create(folder: &Path) -> Result<Self, WorkloadError> {
        let path = folder.join(NAME);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = open(&path, flags, Mode::from_raw_mode(0o644)).map_err(WorkloadError::at("create", &path))?;
        Ok(Self {
            file,
            path,
            state: Mutex::default(),
            committed: Condvar::new(),
        })
    }

    /// Number of calls of fdatasync.
    pub(super) fn commits(&self) -> u64 {
        self.lock().commits
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends what `write` writes at the given offset, and returns when it is on stable storage.
    pub(super) fn append(
        &self,
        write: impl FnOnce(&OwnedFd, u64) -> Result<(), WorkloadError>,
    ) -> Result<(), WorkloadError> {
        let mut state = self.lock();
        write(&self.file, state.written)?;
        state.written += 1;
        let own = state.written;
        while state.durable < own {
            if state.has_failed {
                return Err(WorkloadError::Spec("the commit of another client failed".to_owned()));
            }
            if state.is_syncing {
                state = self.committed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.is_syncing = true;
            let until = state.written;
            drop(state);
            let synced = rustix::fs::fdatasync(&self.file).map_err(WorkloadError::at("fdatasync", &self.path));
            state = self.lock();
            state.is_syncing = false;
            state.commits += 1;
            match synced {
                Ok(()) => state.durable = state.durable.max(until),
                Err(error) => {
                    state.has_failed = true;
                    self.committed.notify_all();
                    return Err(error);
                }
            }
            self.committed.notify_all();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_committed_by_fewer_calls_than_there_are_records() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = Log::create(folder.path()).expect("a log");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        log.append(|file, place| {
                            rustix::io::pwrite(file, &place.to_le_bytes(), place * 8).expect("written");
                            Ok(())
                        })
                        .expect("committed");
                    }
                });
            }
        });
        let bytes = std::fs::read(folder.path().join(NAME)).expect("a log");
        let records: Vec<u64> = bytes
            .chunks(8)
            .map(|chunk| u64::from_le_bytes(chunk.try_into().expect("whole")))
            .collect();
        assert_eq!(records, (0..400).collect::<Vec<u64>>());
        assert!((1..=400).contains(&log.commits()));
    }
}
