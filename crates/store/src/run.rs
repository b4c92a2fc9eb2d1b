//! Starting or resuming a run.

use crate::lock::{RunLock, is_taken};
use crate::record::{RunId, RunSpec, RunSummary, TrialRecord, TrialStatus};
use crate::sql_types::{Stored, json, machine_word, shard_word, signed};
use crate::{Result, Store, StoreError};
use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use study::plan::Trial;
use study::{CellId, Shard};

/// A run that this process may write, exclusively until it is dropped.
#[derive(Debug)]
pub struct OpenRun {
    pub summary: RunSummary,
    pub found: RunState,
    /// The latest attempt at every trial started so far, in the plan's order.
    pub trials: Vec<TrialRecord>,
    /// Completed trials.
    done: HashSet<(CellId, u32)>,
    _lock: RunLock,
}

/// State in which the run was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It starts now.
    New,
    /// It was started before, and has trials left.
    Unfinished,
    /// It was complete. The caller reports this, or uses a new seed.
    Finished,
}

impl OpenRun {
    /// Whether the trial is complete. A failed or interrupted one must be repeated.
    pub fn is_done(&self, cell: CellId, index: u32) -> bool {
        self.done.contains(&(cell, index))
    }
}

impl Store {
    /// Finds the run of this study with this seed, machine, disks, part of the matrix and build (the unfinished
    /// one, or else the latest) and resumes it; otherwise creates it. Trials that a killed process left running are
    /// marked as interrupted.
    pub fn open_run(&mut self, spec: &RunSpec<'_>) -> Result<OpenRun> {
        let found = match self.find_run(spec)? {
            Some(id) => id,
            None => (self.insert_run(spec)?, RunState::New),
        };
        let (id, found) = found;
        let lock = self.lock_run(id)?;
        self.take_over(id)?;
        let trials = self.trials(id)?;
        let done = trials.iter().filter(|trial| trial.status == TrialStatus::Done);
        Ok(OpenRun {
            summary: self.run(id)?,
            found,
            done: done.map(|trial| (trial.key.cell, trial.key.index)).collect(),
            trials,
            _lock: lock,
        })
    }

    /// Reuses a completed trial of another run in the store with the same cell, seed and origin. The origin
    /// identifies everything else that results depend on: in the lab raidlab's build and the kernel, on a host the
    /// machine and its disks. False if there is none.
    pub fn reuse(&mut self, run: &OpenRun, trial: &Trial, origin: &str) -> Result<bool> {
        let sql = "INSERT INTO reused (run_id, cell_id, idx, trial_id)
                   SELECT ?1, ?2, ?3, id FROM trial
                   WHERE cell_id = ?2 AND seed = ?4 AND origin = ?5 AND status = 'done' ORDER BY id DESC LIMIT 1";
        let (cell, seed) = (trial.cell.id.to_string(), trial.seed.to_string());
        let columns = params![run.summary.id.0, cell, trial.index, seed, origin];
        self.checked(self.connection.execute(sql, columns)).map(|rows| rows > 0)
    }

    /// Sets the name of a run, replacing an earlier one; the earlier one, if it is another.
    ///
    /// # Errors
    /// If another run of the store has the name: `--run NAME` would mean only one of them.
    pub fn name_run(&mut self, run: &OpenRun, name: &str) -> Result<Option<String>> {
        let runs = self.runs()?;
        let has_name = |other: &&RunSummary| other.name.as_deref() == Some(name);
        let mut others = runs.iter().filter(|other| other.id != run.summary.id);
        if let Some(other) = others.find(has_name) {
            return Err(StoreError::NameTaken {
                path: self.path.clone(),
                name: name.to_owned(),
                run: other.id.0,
            });
        }
        let earlier = runs.into_iter().find(|own| own.id == run.summary.id);
        let sql = "UPDATE run SET name = ?2 WHERE id = ?1";
        self.checked(self.connection.execute(sql, params![run.summary.id.0, name]))?;
        Ok(earlier.and_then(|own| own.name).filter(|earlier| earlier != name))
    }

    /// Marks the run as finished: all requested trials are complete or have failed.
    pub fn finish_run(&mut self, run: &OpenRun, finished_at_unix_s: u64) -> Result<()> {
        self.check_still_there()?;
        self.sync_commits(true)?;
        let sql = "UPDATE run SET finished_at_unix_s = ?2 WHERE id = ?1";
        self.checked(
            self.connection
                .execute(sql, params![run.summary.id.0, signed(finished_at_unix_s)]),
        )?;
        self.sync_commits(false)
    }

    /// A store holds one shard of a run, or all of it: otherwise its trials would be in two of the stores to be
    /// merged.
    fn find_run(&self, spec: &RunSpec<'_>) -> Result<Option<(RunId, RunState)>> {
        let sql = "SELECT id, finished_at_unix_s IS NOT NULL, shard FROM run
                   WHERE study_sha256 = ?1 AND seed = ?2 AND machine = ?3 AND only_json = ?4
                     AND raidlab_version = ?5 AND devices_json = ?6
                   ORDER BY shard = ?7 DESC, finished_at_unix_s IS NOT NULL, id DESC LIMIT 1";
        let identity = params![
            study_sha256(&spec.plan.source),
            spec.seed.to_string(),
            machine_word(spec.machine),
            json(&spec.only),
            spec.raidlab_version,
            json(&spec.devices),
            shard_word(spec.shard),
        ];
        let row = self.connection.query_row(sql, identity, |row| {
            let found = if row.get(1)? {
                RunState::Finished
            } else {
                RunState::Unfinished
            };
            Ok((row.get(0)?, found, row.get::<_, Stored<Option<Shard>>>(2)?.0))
        });
        match self.checked(row.optional())? {
            None => Ok(None),
            Some((run, found, shard)) if shard == spec.shard => Ok(Some((RunId(run), found))),
            Some((run, _, found)) => Err(StoreError::OtherShard {
                path: self.path.clone(),
                run,
                found,
                wanted: spec.shard,
            }),
        }
    }

    fn insert_run(&self, spec: &RunSpec<'_>) -> Result<RunId> {
        let sql = "INSERT INTO run (title, study_source, study_sha256, plan_json, seed, machine, only_json,
                                    raidlab_version, command, started_at_unix_s, writer_pid, devices_json,
                                    shard)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
        let columns = params![
            spec.plan.title,
            spec.plan.source,
            study_sha256(&spec.plan.source),
            json(spec.plan),
            spec.seed.to_string(),
            machine_word(spec.machine),
            json(&spec.only),
            spec.raidlab_version,
            spec.command,
            signed(spec.started_at_unix_s),
            std::process::id(),
            json(&spec.devices),
            shard_word(spec.shard),
        ];
        self.checked(self.connection.execute(sql, columns))?;
        let run = RunId(self.connection.last_insert_rowid());
        self.checked(self.seal_run(run))?;
        Ok(run)
    }

    /// Whether a process writes the run now.
    pub fn is_being_written(&self, run: RunId) -> bool {
        is_taken(&self.path, run)
    }

    fn lock_run(&self, run: RunId) -> Result<RunLock> {
        let lock = RunLock::try_take(&self.path, run).map_err(|error| match error.kind() {
            std::io::ErrorKind::StorageFull => StoreError::Full {
                path: self.path.clone(),
                trials_kept: 0,
            },
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly {
                path: self.path.clone(),
            },
            _ => StoreError::Unreadable {
                path: self.path.clone(),
                reason: format!("its lock file: {error}"),
            },
        })?;
        let Some(lock) = lock else {
            let sql = "SELECT writer_pid FROM run WHERE id = ?1";
            let pid = self.checked(self.connection.query_row(sql, [run.0], |row| row.get(0)))?;
            return Err(StoreError::Taken {
                path: self.path.clone(),
                run: run.0,
                pid,
            });
        };
        Ok(lock)
    }

    /// Marks trials that the last writer left running as interrupted: we hold the lock, so that writer is dead.
    fn take_over(&mut self, run: RunId) -> Result<()> {
        let pid = std::process::id();
        self.checked(
            self.connection
                .execute("UPDATE run SET writer_pid = ?2 WHERE id = ?1", params![run.0, pid]),
        )?;
        let sql = "UPDATE trial SET status = 'interrupted' WHERE run_id = ?1 AND status = 'running'";
        self.checked(self.connection.execute(sql, [run.0])).map(drop)
    }
}

fn study_sha256(source: &str) -> String {
    hex::encode(Sha256::digest(source.as_bytes()))
}
