//! Reading a run back, as plain rows in a stable order: cells as the plan has them, trials by index, and within a
//! trial as things happened.

use crate::record::{
    CallRow, GuardRow, LatencyRow, ProvenanceRow, RunId, RunSummary, SampleRow, StepRow, TrialId, TrialRecord,
};
use crate::words::{Json, Stored, unsigned};
use crate::{Result, Store, StoreError};
use rusqlite::{OptionalExtension, Row};
use std::collections::HashMap;
use study::event::{Failure, Guard, Latency, ToolCall};
use study::plan::Plan;

const RUN_COLUMNS: &str = "SELECT id, title, study_source, study_sha256, seed, machine, only_json, raidlab_version,
        command, started_at_unix_s, finished_at_unix_s,
        (SELECT count(*) FROM trial WHERE run_id = run.id AND status = 'done'),
        (SELECT count(*) FROM latest_trial WHERE run_id = run.id AND status = 'failed')
    FROM run";

impl Store {
    /// Every run, oldest first.
    pub fn runs(&self) -> Result<Vec<RunSummary>> {
        self.rows(&format!("{RUN_COLUMNS} ORDER BY id"), [], run_summary)
    }

    /// The run begun last; `None` if the store has none.
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

    /// The plan as the run was given it.
    pub fn plan(&self, run: RunId) -> Result<Plan> {
        let sql = "SELECT plan_json FROM run WHERE id = ?1";
        let plan = self
            .connection
            .query_row(sql, [run.0], |row| row.get::<_, Json<Plan>>(0));
        let plan = self.checked(plan.optional())?.ok_or_else(|| self.no_such_run(run))?;
        Ok(plan.0)
    }

    /// The latest attempt at every trial that was begun.
    pub fn trials(&self, run: RunId) -> Result<Vec<TrialRecord>> {
        let sql = "SELECT id, cell_key, idx, seed, status, wall_ns, machine_ns, failure_step, failure_message,
                          (SELECT count(*) FROM trial WHERE run_id = ?1 AND cell_key = latest.cell_key
                                                        AND idx = latest.idx)
                   FROM latest_trial AS latest WHERE run_id = ?1 ORDER BY id";
        self.in_plan_order(run, self.rows(sql, [run.0], trial_record)?)
    }

    /// The samples of all trials that were done.
    pub fn samples(&self, run: RunId) -> Result<Vec<SampleRow>> {
        let sql = "SELECT cell_key, idx, seed, test, metric, value, unit, better
                   FROM sample JOIN trial ON trial.id = trial_id
                   WHERE run_id = ?1 AND status = 'done' ORDER BY sample.id";
        let mut samples = self.rows(sql, [run.0], sample_row)?;
        let guards = self.guards_that_failed(run)?;
        for sample in &mut samples {
            sample.failed_guards = failed_guards(&guards, (&sample.cell_key, sample.index), &sample.test);
        }
        self.in_plan_order(run, samples)
    }

    /// The latencies of all trials that were done.
    pub fn latencies(&self, run: RunId) -> Result<Vec<LatencyRow>> {
        let sql = "SELECT cell_key, idx, seed, test, operation, count, min_ns, p50_ns, p90_ns, p99_ns, p999_ns,
                          max_ns, histogram_base64
                   FROM latency JOIN trial ON trial.id = trial_id
                   WHERE run_id = ?1 AND status = 'done' ORDER BY latency.id";
        let mut latencies = self.rows(sql, [run.0], latency_row)?;
        let guards = self.guards_that_failed(run)?;
        for row in &mut latencies {
            row.failed_guards = failed_guards(&guards, (&row.cell_key, row.index), &row.latency.test);
        }
        self.in_plan_order(run, latencies)
    }

    /// The guards of all trials that were done.
    pub fn guards(&self, run: RunId) -> Result<Vec<GuardRow>> {
        let sql = "SELECT cell_key, idx, name, test, passed, detail FROM guard JOIN trial ON trial.id = trial_id
                   WHERE run_id = ?1 AND status = 'done' ORDER BY guard.id";
        let rows = self.rows(sql, [run.0], |row| {
            let guard = Guard {
                name: row.get(2)?,
                test: row.get(3)?,
                passed: row.get(4)?,
                detail: row.get(5)?,
            };
            Ok(GuardRow {
                cell_key: row.get(0)?,
                index: row.get(1)?,
                guard,
            })
        })?;
        self.in_plan_order(run, rows)
    }

    fn guards_that_failed(&self, run: RunId) -> Result<Vec<GuardRow>> {
        let mut guards = self.guards(run)?;
        guards.retain(|row| !row.guard.passed);
        Ok(guards)
    }

    /// The external programs' calls in the latest attempt at each trial, also of those that failed.
    pub fn calls(&self, run: RunId) -> Result<Vec<CallRow>> {
        let sql = "SELECT cell_key, idx, argv_json, exit, stdout, stderr, duration_ns
                   FROM tool_call JOIN latest_trial ON latest_trial.id = trial_id
                   WHERE run_id = ?1 ORDER BY tool_call.id";
        let rows = self.rows(sql, [run.0], |row| {
            let call = ToolCall {
                argv: row.get::<_, Json<Vec<String>>>(2)?.0,
                exit: row.get(3)?,
                stdout: row.get(4)?,
                stderr: row.get(5)?,
                duration_ns: unsigned(row.get(6)?),
            };
            Ok(CallRow {
                cell_key: row.get(0)?,
                index: row.get(1)?,
                call,
            })
        })?;
        self.in_plan_order(run, rows)
    }

    /// What the machines of the latest attempt at each trial were.
    pub fn provenance(&self, run: RunId) -> Result<Vec<ProvenanceRow>> {
        let sql = "SELECT cell_key, idx, key, value FROM provenance JOIN latest_trial ON latest_trial.id = trial_id
                   WHERE run_id = ?1 ORDER BY provenance.id";
        let rows = self.rows(sql, [run.0], |row| {
            Ok(ProvenanceRow {
                cell_key: row.get(0)?,
                index: row.get(1)?,
                key: row.get(2)?,
                value: row.get(3)?,
            })
        })?;
        self.in_plan_order(run, rows)
    }

    /// The steps of the latest attempt at each trial.
    pub fn steps(&self, run: RunId) -> Result<Vec<StepRow>> {
        let sql = "SELECT cell_key, idx, name, at_ns FROM step JOIN latest_trial ON latest_trial.id = trial_id
                   WHERE run_id = ?1 ORDER BY step.id";
        let rows = self.rows(sql, [run.0], |row| {
            let at_ns = unsigned(row.get(3)?);
            Ok(StepRow {
                cell_key: row.get(0)?,
                index: row.get(1)?,
                name: row.get(2)?,
                at_ns,
            })
        })?;
        self.in_plan_order(run, rows)
    }

    fn rows<T>(
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

    /// Trials are run in a random order and side by side; nobody should see that in the results.
    fn in_plan_order<T: OfTrial>(&self, run: RunId, mut rows: Vec<T>) -> Result<Vec<T>> {
        let plan = self.plan(run)?;
        let place: HashMap<&str, usize> = plan
            .cells
            .iter()
            .enumerate()
            .map(|(place, cell)| (cell.key.as_str(), place))
            .collect();
        rows.sort_by_cached_key(|row| {
            let (cell_key, index) = row.of_trial();
            (
                place.get(cell_key).copied().unwrap_or(usize::MAX),
                cell_key.to_owned(),
                index,
            )
        });
        Ok(rows)
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

/// Names of the guards, of those that failed, that guard a test of a trial or all of the trial.
fn failed_guards(failed: &[GuardRow], of_trial: (&str, u32), test: &str) -> Vec<String> {
    failed
        .iter()
        .filter(|row| row.of_trial() == of_trial)
        .filter(|row| row.guard.test.as_deref().is_none_or(|guarded| guarded == test))
        .map(|row| row.guard.name.clone())
        .collect()
}

/// A row that belongs to a trial.
trait OfTrial {
    fn of_trial(&self) -> (&str, u32);
}

macro_rules! of_trial {
    ($($row:ty),*) => { $(
        impl OfTrial for $row {
            fn of_trial(&self) -> (&str, u32) {
                (&self.cell_key, self.index)
            }
        }
    )* };
}
of_trial!(
    TrialRecord,
    SampleRow,
    LatencyRow,
    GuardRow,
    CallRow,
    ProvenanceRow,
    StepRow
);

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
    })
}

fn trial_record(row: &Row<'_>) -> rusqlite::Result<TrialRecord> {
    let failure = match (row.get(7)?, row.get(8)?) {
        (Some(step), Some(message)) => Some(Failure { step, message }),
        _ => None,
    };
    Ok(TrialRecord {
        id: TrialId(row.get(0)?),
        cell_key: row.get(1)?,
        index: row.get(2)?,
        seed: row.get::<_, Stored<u64>>(3)?.0,
        status: row.get::<_, Stored<_>>(4)?.0,
        wall_ns: row.get::<_, Option<i64>>(5)?.map(unsigned),
        machine_ns: row.get::<_, Option<i64>>(6)?.map(unsigned),
        failure,
        attempts: row.get(9)?,
    })
}

fn sample_row(row: &Row<'_>) -> rusqlite::Result<SampleRow> {
    Ok(SampleRow {
        cell_key: row.get(0)?,
        index: row.get(1)?,
        seed: row.get::<_, Stored<u64>>(2)?.0,
        test: row.get(3)?,
        metric: row.get(4)?,
        value: row.get(5)?,
        unit: row.get(6)?,
        better: row.get::<_, Stored<_>>(7)?.0,
        failed_guards: Vec::new(),
    })
}

fn latency_row(row: &Row<'_>) -> rusqlite::Result<LatencyRow> {
    let number = |column| row.get(column).map(unsigned);
    let latency = Latency {
        test: row.get(3)?,
        operation: row.get(4)?,
        count: number(5)?,
        min_ns: number(6)?,
        p50_ns: number(7)?,
        p90_ns: number(8)?,
        p99_ns: number(9)?,
        p999_ns: number(10)?,
        max_ns: number(11)?,
        histogram_base64: row.get(12)?,
    };
    Ok(LatencyRow {
        cell_key: row.get(0)?,
        index: row.get(1)?,
        seed: row.get::<_, Stored<u64>>(2)?.0,
        latency,
        failed_guards: Vec::new(),
    })
}
