//! Reads a run as plain rows in a stable order: cells as in the plan, trials by index, and the events of a trial in
//! order.

use crate::record::{RunChoice, RunId, RunSummary, TrialId, TrialRecord};
use crate::sql_types::{Json, Stored, metric, unsigned};
use crate::{Result, Store, StoreError};
use rusqlite::{OptionalExtension, Row};
use std::cell::Ref;
use std::collections::{HashMap, HashSet};
use study::event::{Failure, Guard, Latency, Sample, Throughput, ToolCall};
use study::plan::{Cell, Plan};
use study::stack::MachineKind;
use study::workload::GuardReach;
use study::{CellId, Measured, Measurement, ProvenanceEntry, Recorded, Shard, StepEntry, TestId, TrialKey};

const RUN_COLUMNS: &str = "SELECT id, title, study_source, study_sha256, seed, machine, only_json, raidlab_version,
        command, started_at_unix_s, finished_at_unix_s,
        (SELECT count(*) FROM run_trial WHERE run_id = run.id AND status = 'done'),
        (SELECT count(*) FROM latest_trial WHERE run_id = run.id AND status = 'failed'), name, shard
    FROM run";

/// The selected cells of a run.
#[derive(Clone, Debug)]
pub struct Selection {
    run: RunId,
    /// `None` selects all.
    cells: Option<HashSet<CellId>>,
}

impl Selection {
    pub const fn whole(run: RunId) -> Self {
        Self { run, cells: None }
    }

    pub const fn of(run: RunId, cells: HashSet<CellId>) -> Self {
        Self {
            run,
            cells: Some(cells),
        }
    }

    pub fn has(&self, cell: CellId) -> bool {
        self.cells.as_ref().is_none_or(|cells| cells.contains(&cell))
    }
}

impl Store {
    /// Every run, oldest first.
    pub fn runs(&self) -> Result<Vec<RunSummary>> {
        self.rows(&format!("{RUN_COLUMNS} ORDER BY id"), [], run_summary)
    }

    /// The most recently started run; `None` if the store has none.
    pub fn latest_run(&self) -> Result<Option<RunSummary>> {
        Ok(self
            .rows(&format!("{RUN_COLUMNS} ORDER BY id DESC LIMIT 1"), [], run_summary)?
            .pop())
    }

    pub fn run(&self, run: RunId) -> Result<RunSummary> {
        let row = self
            .connection
            .query_row(&format!("{RUN_COLUMNS} WHERE id = ?1"), [run.0], run_summary);
        self.checked(row.optional())?.ok_or_else(|| self.no_such_run(run))
    }

    /// The run with this number, or the last one with this name.
    pub fn chosen_run(&self, choice: &RunChoice) -> Result<RunSummary> {
        let name = match choice {
            RunChoice::Number(run) => return self.run(*run),
            RunChoice::Name(name) => name,
        };
        let sql = format!("{RUN_COLUMNS} WHERE name = ?1 ORDER BY id DESC LIMIT 1");
        let run = self.rows(&sql, [name], run_summary)?.pop();
        run.ok_or_else(|| StoreError::NoRunOfName {
            path: self.path.clone(),
            name: name.clone(),
        })
    }

    /// The plan of the run.
    pub fn plan(&self, run: RunId) -> Result<Plan> {
        let sql = "SELECT plan_json FROM run WHERE id = ?1";
        let plan = self
            .connection
            .query_row(sql, [run.0], |row| row.get::<_, Json<Plan>>(0));
        let plan = self.checked(plan.optional())?.ok_or_else(|| self.no_such_run(run))?;
        Ok(plan.0)
    }

    /// The latest attempt at every started trial.
    pub fn trials(&self, run: RunId) -> Result<Vec<TrialRecord>> {
        let sql = "SELECT cell_id, idx, seed, id, status, wall_ns, machine_ns, failure_step, failure_message,
                          (SELECT count(*) FROM run_trial AS other
                           WHERE other.run_id = ?1 AND other.cell_id = latest.cell_id AND other.idx = latest.idx),
                          is_reused
                   FROM latest_trial AS latest WHERE run_id = ?1 ORDER BY id";
        self.in_plan_order(run, self.rows(sql, [run.0], trial_record)?)
    }

    /// The samples of all completed trials.
    pub fn samples(&self, run: RunId) -> Result<Vec<Measurement>> {
        self.samples_of(&Selection::whole(run))
    }

    /// The same for a part of the run.
    pub fn samples_of(&self, part: &Selection) -> Result<Vec<Measurement>> {
        let sql = "SELECT cell_id, idx, seed, test, metric, unit, better, value
                   FROM sample JOIN run_trial ON run_trial.id = trial_id
                   WHERE run_id = ?1 AND status = 'done' ORDER BY sample.id";
        let samples = self.rows_of(part, sql, sample)?;
        self.measured(part, samples, |sample| &sample.test)
    }

    /// The latencies of all completed trials.
    pub fn latencies(&self, run: RunId) -> Result<Vec<Measured<Latency>>> {
        self.latencies_of(&Selection::whole(run))
    }

    /// The same for a part of the run.
    pub fn latencies_of(&self, part: &Selection) -> Result<Vec<Measured<Latency>>> {
        let sql = "SELECT cell_id, idx, seed, test, operation, count, min_ns, p50_ns, p90_ns, p99_ns, p999_ns,
                          max_ns, histogram_base64
                   FROM latency JOIN run_trial ON run_trial.id = trial_id
                   WHERE run_id = ?1 AND status = 'done' ORDER BY latency.id";
        let latencies = self.rows_of(part, sql, latency)?;
        self.measured(part, latencies, |latency| &latency.test)
    }

    /// Throughput over time of all completed trials.
    pub fn throughput(&self, run: RunId) -> Result<Vec<Measured<Throughput>>> {
        self.throughput_of(&Selection::whole(run))
    }

    /// The same for a part of the run.
    pub fn throughput_of(&self, part: &Selection) -> Result<Vec<Measured<Throughput>>> {
        let sql = "SELECT cell_id, idx, seed, test, interval_ns, bytes_json
                   FROM course JOIN run_trial ON run_trial.id = trial_id
                   WHERE run_id = ?1 AND status = 'done' ORDER BY course.id";
        let throughput = self.rows_of(part, sql, throughput)?;
        self.measured(part, throughput, |throughput| &throughput.test)
    }

    /// The guards of all completed trials.
    pub fn guards(&self, run: RunId) -> Result<Vec<Recorded<Guard>>> {
        self.guards_of(&Selection::whole(run))
    }

    /// The same for a part of the run.
    pub fn guards_of(&self, part: &Selection) -> Result<Vec<Recorded<Guard>>> {
        let sql = "SELECT cell_id, idx, seed, name, test, passed, detail
                   FROM guard JOIN run_trial ON run_trial.id = trial_id
                   WHERE run_id = ?1 AND status = 'done' ORDER BY guard.id";
        self.recorded(part, sql, |row| {
            Ok(Guard {
                name: row.get(3)?,
                test: row.get::<_, Option<String>>(4)?.map(TestId::from),
                passed: row.get(5)?,
                detail: row.get(6)?,
            })
        })
    }

    /// The calls of external programs in the latest attempt at each trial, including failed trials.
    pub fn calls(&self, run: RunId) -> Result<Vec<Recorded<ToolCall>>> {
        self.calls_of(&Selection::whole(run))
    }

    /// The same for a part of the run.
    pub fn calls_of(&self, part: &Selection) -> Result<Vec<Recorded<ToolCall>>> {
        let sql = "SELECT cell_id, idx, seed, argv_json, exit, stdout, stderr, duration_ns
                   FROM tool_call JOIN latest_trial ON latest_trial.id = trial_id
                   WHERE run_id = ?1 ORDER BY tool_call.id";
        self.recorded(part, sql, |row| {
            Ok(ToolCall {
                argv: row.get::<_, Json<Vec<String>>>(3)?.0,
                exit: row.get(4)?,
                stdout: row.get(5)?,
                stderr: row.get(6)?,
                duration_ns: unsigned(row.get(7)?),
            })
        })
    }

    /// The facts of the latest attempt at each trial as they are kept: for exports.
    pub fn provenance(&self, run: RunId) -> Result<Vec<Recorded<ProvenanceEntry>>> {
        self.provenance_of(&Selection::whole(run))
    }

    /// The same for a part of the run.
    pub fn provenance_of(&self, part: &Selection) -> Result<Vec<Recorded<ProvenanceEntry>>> {
        let sql = "SELECT cell_id, idx, seed, key, value
                   FROM provenance JOIN latest_trial ON latest_trial.id = trial_id
                   WHERE run_id = ?1 ORDER BY provenance.id";
        self.recorded(part, sql, |row| {
            Ok(ProvenanceEntry {
                key: row.get(3)?,
                value: row.get(4)?,
            })
        })
    }

    /// The steps of the latest attempt at each trial.
    pub fn steps(&self, run: RunId) -> Result<Vec<Recorded<StepEntry>>> {
        let sql = "SELECT cell_id, idx, seed, name, at_ns FROM step JOIN latest_trial ON latest_trial.id = trial_id
                   WHERE run_id = ?1 ORDER BY step.id";
        self.recorded(&Selection::whole(run), sql, |row| {
            Ok(StepEntry {
                name: row.get(3)?,
                at_ns: unsigned(row.get(4)?),
            })
        })
    }

    /// Rows that start with the trial's three columns.
    fn recorded<T>(
        &self,
        part: &Selection,
        sql: &str,
        entry: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<Recorded<T>>> {
        let rows = self.rows_of(part, sql, entry)?;
        let recorded = rows.into_iter().map(|(trial, entry)| Recorded { trial, entry });
        self.in_plan_order(part.run, recorded.collect())
    }

    /// The same with the trial separate. Rows of other cells are not decoded.
    fn rows_of<T>(
        &self,
        part: &Selection,
        sql: &str,
        mut entry: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<(TrialKey, T)>> {
        let mut read = || -> rusqlite::Result<Vec<(TrialKey, T)>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query([part.run.0])?;
            let mut kept = Vec::new();
            while let Some(row) = rows.next()? {
                let trial = trial_key(row)?;
                if part.has(trial.cell) {
                    kept.push((trial, entry(row)?));
                }
            }
            Ok(kept)
        };
        self.checked(read())
    }

    /// Entries with the failed guards of their tests.
    fn measured<T>(
        &self,
        part: &Selection,
        entries: Vec<(TrialKey, T)>,
        test: fn(&T) -> &TestId,
    ) -> Result<Vec<Measured<T>>> {
        let mut failed: HashMap<TrialKey, Vec<Guard>> = HashMap::new();
        for Recorded { trial, entry } in self.guards_of(part)? {
            if !entry.passed {
                failed.entry(trial).or_default().push(entry);
            }
        }
        let cells = self.cells(part.run)?;
        let measured = entries.into_iter().map(|(trial, entry)| {
            let reach = cells
                .get(&trial.cell)
                .map_or(&GuardReach::Test, |cell| &cell.guard_reach);
            let guards = failed.get(&trial).into_iter().flatten();
            let mut failed_guards: Vec<String> = guards
                .filter(|guard| reach.covers(guard, test(&entry)))
                .map(|guard| guard.name.clone())
                .collect();
            failed_guards.dedup();
            Measured {
                trial,
                failed_guards,
                entry,
            }
        });
        let measured = measured.collect();
        drop(cells);
        self.in_plan_order(part.run, measured)
    }

    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let rows = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_map(parameters, read)?.collect());
        self.checked(rows)
    }

    /// Trials run in a random order and in parallel; results must not depend on it.
    fn in_plan_order<T: OfTrial>(&self, run: RunId, mut rows: Vec<T>) -> Result<Vec<T>> {
        let cells = self.cells(run)?;
        rows.sort_by_key(|row| {
            let trial = row.of_trial();
            (cells.get(&trial.cell).map_or(usize::MAX, |cell| cell.place), trial)
        });
        Ok(rows)
    }

    /// The cells of a run's plan. A plan with many cells takes seconds to decode, and never changes.
    fn cells(&self, run: RunId) -> Result<Ref<'_, HashMap<CellId, CellOfPlan>>> {
        let is_known = self.places.borrow().as_ref().is_some_and(|(of, _)| *of == run);
        if !is_known {
            let cells = self.plan(run)?.cells.into_iter().enumerate();
            let of_plan = |(place, cell): (usize, Cell)| {
                let guard_reach = match cell.machine.kind {
                    // Earlier versions stored imported results of any program as an `io` job.
                    MachineKind::Foreign => GuardReach::Test,
                    _ => cell.workload.work.guard_reach(),
                };
                (cell.id, CellOfPlan { place, guard_reach })
            };
            let cells = cells.map(of_plan).collect();
            *self.places.borrow_mut() = Some((run, cells));
        }
        let cells = Ref::filter_map(self.places.borrow(), |known| known.as_ref().map(|(_, cells)| cells));
        Ok(cells.unwrap_or_else(|_| unreachable!("they have just been read")))
    }

    fn no_such_run(&self, run: RunId) -> StoreError {
        let last = self
            .connection
            .query_row("SELECT coalesce(max(id), 0) FROM run", [], |row| row.get(0));
        StoreError::NoSuchRun {
            path: self.path.clone(),
            run: run.0,
            last: last.unwrap_or(0),
        }
    }
}

/// What reading needs of a cell.
#[derive(Clone, Debug)]
pub(crate) struct CellOfPlan {
    /// Its index in the plan.
    place: usize,
    guard_reach: GuardReach,
}

/// A row that belongs to a trial.
trait OfTrial {
    fn of_trial(&self) -> TrialKey;
}

impl OfTrial for TrialRecord {
    fn of_trial(&self) -> TrialKey {
        self.key
    }
}

impl<T> OfTrial for Recorded<T> {
    fn of_trial(&self) -> TrialKey {
        self.trial
    }
}

impl<T> OfTrial for Measured<T> {
    fn of_trial(&self) -> TrialKey {
        self.trial
    }
}

fn run_summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    Ok(RunSummary {
        id: RunId(row.get(0)?),
        title: row.get(1)?,
        study_source: row.get(2)?,
        study_sha256: row.get(3)?,
        seed: row.get::<_, Stored<u64>>(4)?.0,
        machine: row.get::<_, Stored<_>>(5)?.0,
        only: row.get::<_, Json<_>>(6)?.0,
        raidlab_version: row.get(7)?,
        command: row.get(8)?,
        started_at_unix_s: unsigned(row.get(9)?),
        finished_at_unix_s: row.get::<_, Option<i64>>(10)?.map(unsigned),
        trials_done: unsigned(row.get(11)?),
        trials_failed: unsigned(row.get(12)?),
        name: row.get(13)?,
        shard: row.get::<_, Stored<Option<Shard>>>(14)?.0,
    })
}

/// The trial key in a row's first three columns.
fn trial_key(row: &Row<'_>) -> rusqlite::Result<TrialKey> {
    Ok(TrialKey {
        cell: row.get::<_, Stored<_>>(0)?.0,
        index: row.get(1)?,
        seed: row.get::<_, Stored<u64>>(2)?.0,
    })
}

fn trial_record(row: &Row<'_>) -> rusqlite::Result<TrialRecord> {
    let failure = match (row.get(7)?, row.get(8)?) {
        (Some(step), Some(message)) => Some(Failure { step, message }),
        _ => None,
    };
    Ok(TrialRecord {
        key: trial_key(row)?,
        id: TrialId(row.get(3)?),
        status: row.get::<_, Stored<_>>(4)?.0,
        wall_ns: row.get::<_, Option<i64>>(5)?.map(unsigned),
        machine_ns: row.get::<_, Option<i64>>(6)?.map(unsigned),
        failure,
        attempts: row.get(9)?,
        is_reused: row.get(10)?,
    })
}

fn sample(row: &Row<'_>) -> rusqlite::Result<Sample> {
    Ok(Sample {
        test: row.get::<_, String>(3)?.into(),
        metric: metric(row, 4)?,
        value: row.get(7)?,
    })
}

fn throughput(row: &Row<'_>) -> rusqlite::Result<Throughput> {
    Ok(Throughput {
        test: row.get::<_, String>(3)?.into(),
        interval_ns: row.get(4).map(unsigned)?,
        bytes: row.get::<_, Json<_>>(5)?.0,
    })
}

fn latency(row: &Row<'_>) -> rusqlite::Result<Latency> {
    let number = |column| row.get(column).map(unsigned);
    Ok(Latency {
        test: row.get::<_, String>(3)?.into(),
        operation: row.get(4)?,
        count: number(5)?,
        min_ns: number(6)?,
        p50_ns: number(7)?,
        p90_ns: number(8)?,
        p99_ns: number(9)?,
        p999_ns: number(10)?,
        max_ns: number(11)?,
        histogram_base64: row.get(12)?,
    })
}
