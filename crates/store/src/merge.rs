//! Joins the stores of several shards, or of several machines.
//!
//! Only parts of the same run are joined: the same study, seed, build, disk models and kernels. Every trial is
//! copied once with all its events; digests verify that its samples are unchanged.

mod same_run;

use crate::digest::digests_of_trials;
use crate::record::{RunId, RunSummary, TrialId, TrialRecord, TrialStatus};
use crate::sql_types::signed;
use crate::{Result, Snapshot, Store, StoreError};
use rusqlite::params;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use study::plan::Plan;
use study::stack::MachineKind;
use study::{CellId, TrialKey};

/// A run of a store that is to be merged.
#[derive(Debug)]
pub struct Part {
    pub path: PathBuf,
    pub snapshot: Snapshot,
    pub run: RunSummary,
}

/// Why stores cannot be merged. Neither the parts nor the target were changed.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error(
        "`{}` and `{}` are not parts of the same run: {what} {one_value} in the first and {other_value} in the second",
        one.display(), other.display()
    )]
    Different {
        one: PathBuf,
        other: PathBuf,
        what: &'static str,
        one_value: String,
        other_value: String,
    },
    #[error(
        "`{}` and `{}` both have trial {trial} of `{cell}`, with different results: they are not parts of the same run, \
         or one of them was changed",
        one.display(), other.display()
    )]
    Overlap {
        one: PathBuf,
        other: PathBuf,
        cell: String,
        trial: u32,
    },
    #[error("`{}` has a trial of a cell that its study does not have ({cell}): the store is damaged", path.display())]
    UnknownCell { path: PathBuf, cell: CellId },
    #[error(
        "`{}` was changed after it was recorded: {what}; nothing was merged",
        path.display()
    )]
    Changed { path: PathBuf, what: String },
    #[error("trial {trial} of `{cell}` of `{}` is not the same after it was copied: nothing was written", path.display())]
    Copy { path: PathBuf, cell: String, trial: u32 },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A run of the merged store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedRun {
    pub id: RunId,
    /// Number of trials that several parts have, with the same results.
    pub repeated: u64,
}

/// A trial of a part that will be copied.
struct Picked {
    part: usize,
    id: TrialId,
    status: TrialStatus,
    digest: Option<[u8; 32]>,
}

/// By cell and index.
type AllPicked = HashMap<(CellId, u32), Picked>;

impl Part {
    /// Every run of a store as a part.
    pub fn all_of(path: &Path) -> Result<Vec<Part>> {
        let runs = Snapshot::open(path)?.store().runs()?;
        let part = |run| {
            Ok(Part {
                path: path.to_owned(),
                snapshot: Snapshot::open(path)?,
                run,
            })
        };
        runs.into_iter().map(part).collect()
    }

    /// The disks of a run on a host, as it stores them.
    fn devices(&self) -> Result<String> {
        self.column("devices_json")
    }

    fn plan_json(&self) -> Result<String> {
        self.column("plan_json")
    }

    fn column(&self, column: &str) -> Result<String> {
        let store = self.snapshot.store();
        let sql = format!("SELECT {column} FROM run WHERE id = ?1");
        store.checked(store.connection.query_row(&sql, [self.run.id.0], |row| row.get(0)))
    }

    /// Refuses a part of another study, seed or build than the first.
    pub fn check_same_study(first: &Part, other: &Part) -> std::result::Result<(), MergeError> {
        same_run::check_same_study(first, other)
    }

    /// The run of the merged store that this part belongs to: on a host, each machine has its own.
    pub fn machine(&self) -> Result<Option<(Option<String>, String)>> {
        match self.run.machine {
            MachineKind::Lab | MachineKind::Foreign => Ok(None),
            MachineKind::Host => Ok(Some((self.run.name.clone(), self.devices()?))),
        }
    }
}

impl Store {
    /// Copies the trials of parts of one run into a new run of this store, which nobody may be reading yet: after
    /// an error it must be deleted.
    ///
    /// # Errors
    /// If the parts do not belong together, or a store fails.
    pub fn merge(&mut self, parts: &[&Part], command: &str) -> std::result::Result<MergedRun, MergeError> {
        for other in parts.iter().skip(1) {
            same_run::check_same(parts[0], other)?;
        }
        let plan = parts[0].snapshot.store().plan(parts[0].run.id)?;
        for part in parts {
            if let Some(changed) = part.snapshot.store().changed(part.run.id)? {
                return Err(MergeError::Changed {
                    path: part.path.clone(),
                    what: changed.words(&plan),
                });
            }
        }
        let (picked, repeated) = pick(parts, &plan)?;
        // The caller ensures durability: the whole file is synced before it is renamed.
        self.checked(self.connection.pragma_update(None, "synchronous", "OFF"))?;
        let run = self.copy_run(parts, command)?;
        let mut of_new: HashMap<i64, usize> = HashMap::new();
        for (place, part) in parts.iter().enumerate() {
            let mut ids: Vec<i64> = picked
                .values()
                .filter(|one| one.part == place)
                .map(|one| one.id.0)
                .collect();
            ids.sort_unstable();
            let first = self.copy_trials(part, run, &ids)?;
            of_new.extend((first..).zip(&ids).map(|(new, _)| (new, place)));
        }
        self.check_origins(parts, run, &of_new)?;
        self.check_copies(parts, run, &plan, &picked)?;
        self.checked(self.seal_run(run))?;
        Ok(MergedRun { id: run, repeated })
    }

    /// Marks a merged run as finished: no trial is missing.
    pub fn finish_merged(&mut self, run: RunId, finished_at_unix_s: u64) -> Result<()> {
        let sql = "UPDATE run SET finished_at_unix_s = ?2 WHERE id = ?1";
        self.checked(self.connection.execute(sql, params![run.0, signed(finished_at_unix_s)]))
            .map(drop)
    }

    /// Closes a store so that all data is in one file, which can be moved.
    pub fn close(self) -> Result<()> {
        let path = self.path.clone();
        let emptied = "PRAGMA wal_checkpoint(TRUNCATE)";
        self.checked(self.connection.query_row(emptied, [], |_| Ok(())))?;
        self.connection
            .close()
            .map_err(|(_, source)| StoreError::from_sqlite(&path, source, 0))
    }

    fn copy_run(&self, parts: &[&Part], command: &str) -> Result<RunId> {
        let first = parts[0];
        self.attach(first)?;
        let sql = "INSERT INTO main.run (title, study_source, study_sha256, plan_json, seed, machine, only_json,
                                         raidlab_version, command, started_at_unix_s, writer_pid, devices_json, name)
                   SELECT title, study_source, study_sha256, plan_json, seed, machine, only_json, raidlab_version, ?2,
                          ?3, ?4, devices_json, ?5
                   FROM part.run WHERE id = ?1";
        let started = parts.iter().map(|part| part.run.started_at_unix_s).min().unwrap_or(0);
        let name = parts
            .iter()
            .all(|part| part.run.name == first.run.name)
            .then_some(&first.run.name);
        let columns = params![
            first.run.id.0,
            command,
            signed(started),
            std::process::id(),
            name.cloned().flatten()
        ];
        let copied = self.checked(self.connection.execute(sql, columns));
        let run = RunId(self.connection.last_insert_rowid());
        self.detach()?;
        copied.map(|_| run)
    }

    /// Copies these trials of a part with new ids, in order; returns the first id.
    fn copy_trials(&mut self, part: &Part, run: RunId, ids: &[i64]) -> Result<i64> {
        self.attach(part)?;
        let copied = self.copy_attached(run, ids);
        let copied = self.checked(copied);
        self.detach()?;
        copied
    }

    fn copy_attached(&self, run: RunId, ids: &[i64]) -> rusqlite::Result<i64> {
        let transaction = self.connection.unchecked_transaction()?;
        let first: i64 =
            transaction.query_row("SELECT coalesce(max(id), 0) + 1 FROM main.trial", [], |row| row.get(0))?;
        transaction.execute_batch(
            "CREATE TEMP TABLE IF NOT EXISTS picked (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
             DELETE FROM temp.picked;",
        )?;
        {
            let mut insert = transaction.prepare("INSERT INTO temp.picked (old, new) VALUES (?1, ?2)")?;
            for (new, old) in (first..).zip(ids) {
                insert.execute([*old, new])?;
            }
        }
        let columns =
            "cell_id, idx, seed, origin, status, wall_ns, machine_ns, failure_step, failure_message, seal";
        transaction.execute(
            &format!(
                "INSERT INTO main.trial (id, run_id, {columns})
                 SELECT new, ?1, {columns} FROM part.trial JOIN temp.picked ON old = part.trial.id ORDER BY new"
            ),
            [run.0],
        )?;
        for (table, columns) in TABLES {
            transaction.execute(
                &format!(
                    "INSERT INTO main.{table} (trial_id, {columns})
                     SELECT new, {columns} FROM part.{table} JOIN temp.picked ON old = trial_id ORDER BY part.{table}.id"
                ),
                [],
            )?;
        }
        transaction.commit()?;
        Ok(first)
    }

    fn attach(&self, part: &Part) -> Result<()> {
        let uri = part.snapshot.uri()?;
        let attached = self.connection.execute("ATTACH ?1 AS part", [uri]);
        attached
            .map(drop)
            .map_err(|source| StoreError::from_sqlite(&part.path, source, 0))
    }

    fn detach(&self) -> Result<()> {
        self.checked(self.connection.execute("DETACH part", [])).map(drop)
    }

    /// Verifies that the samples of every copied trial are unchanged.
    fn check_copies(
        &self,
        parts: &[&Part],
        run: RunId,
        plan: &Plan,
        picked: &AllPicked,
    ) -> std::result::Result<(), MergeError> {
        let copied = digests_of_trials(plan, &self.samples(run)?, &self.latencies(run)?);
        let copied: HashMap<(CellId, u32), [u8; 32]> = copied
            .into_iter()
            .map(|(key, digest)| ((key.cell, key.index), digest))
            .collect();
        for ((cell, index), one) in picked {
            if copied.get(&(*cell, *index)) != one.digest.as_ref() {
                return Err(MergeError::Copy {
                    path: parts[one.part].path.clone(),
                    cell: cell_key(plan, *cell),
                    trial: index + 1,
                });
            }
        }
        Ok(())
    }
}

/// The tables with rows of a trial, and their columns, in the order of recording.
pub(crate) const TABLES: [(&str, &str); 7] = [
    ("step", "name, at_ns"),
    ("sample", "test, metric, value, unit, better"),
    (
        "latency",
        "test, operation, count, min_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns, histogram_base64",
    ),
    ("course", "test, interval_ns, bytes_json"),
    ("guard", "name, test, passed, detail"),
    ("tool_call", "argv_json, exit, stdout, stderr, duration_ns"),
    ("provenance", "key, value"),
];

/// Each trial once: a completed attempt, or else a failed one. Trials that several parts completed must match.
fn pick(parts: &[&Part], plan: &Plan) -> std::result::Result<(AllPicked, u64), MergeError> {
    let cells: HashSet<CellId> = plan.cells.iter().map(|cell| cell.id).collect();
    let mut picked = AllPicked::new();
    let mut repeated = 0;
    for (place, part) in parts.iter().enumerate() {
        let (store, run) = (part.snapshot.store(), part.run.id);
        let digests = digests_of_trials(plan, &store.samples(run)?, &store.latencies(run)?);
        let ended = |trial: &TrialRecord| matches!(trial.status, TrialStatus::Done | TrialStatus::Failed);
        for trial in store.trials(run)?.into_iter().filter(ended) {
            let TrialKey { cell, index, .. } = trial.key;
            if !cells.contains(&cell) {
                return Err(MergeError::UnknownCell {
                    path: part.path.clone(),
                    cell,
                });
            }
            let one = Picked {
                part: place,
                id: trial.id,
                status: trial.status,
                digest: digests.get(&trial.key).copied(),
            };
            let Some(before) = picked.get(&(cell, index)) else {
                picked.insert((cell, index), one);
                continue;
            };
            repeated += 1;
            match (before.status, one.status) {
                (TrialStatus::Done, TrialStatus::Done) if before.digest != one.digest => {
                    return Err(MergeError::Overlap {
                        one: parts[before.part].path.clone(),
                        other: part.path.clone(),
                        cell: cell_key(plan, cell),
                        trial: index + 1,
                    });
                }
                (TrialStatus::Failed, TrialStatus::Done) => drop(picked.insert((cell, index), one)),
                _ => {}
            }
        }
    }
    Ok((picked, repeated))
}

fn cell_key(plan: &Plan, cell: CellId) -> String {
    plan.cell(cell)
        .map_or_else(|| cell.to_string(), |cell| cell.key.clone())
}
