//! Appends the events of a trial as they occur.

use crate::record::{Ending, TrialId};
use crate::run::OpenRun;
use crate::sql_types::{json, signed};
use crate::{Result, Store, StoreError, facts};
use rusqlite::{Transaction, params};
use std::time::Duration;
use study::event::{Event, Failure, Guard, Latency, Sample, ToolCall};
use study::plan::Trial;

impl Store {
    /// Starts a trial. `origin` identifies everything that its results depend on besides cell and seed: see
    /// [`Store::reuse`].
    pub fn begin_trial(&mut self, run: &OpenRun, trial: &Trial, origin: &str) -> Result<TrialId> {
        self.check_still_there()?;
        let sql = "INSERT INTO trial (run_id, cell_id, idx, seed, origin, status)
                   VALUES (?1, ?2, ?3, ?4, ?5, 'running')";
        let (cell, seed) = (trial.cell.id.to_string(), trial.seed.to_string());
        let columns = params![run.summary.id.0, cell, trial.index, seed, origin];
        match self.connection.execute(sql, columns) {
            Ok(_) => Ok(TrialId(self.connection.last_insert_rowid())),
            Err(error) if is_taken(&error) => Err(StoreError::TrialTaken {
                cell_key: trial.cell.key.clone(),
                index: trial.index,
            }),
            Err(error) => self.checked(Err(error)),
        }
    }

    /// Stores one event. After that it survives SIGKILL.
    pub fn append(&mut self, trial: TrialId, event: &Event) -> Result<()> {
        let result = match event {
            Event::Step { name, at_ns } => self.execute(
                "INSERT INTO step (trial_id, name, at_ns) VALUES (?1, ?2, ?3)",
                params![trial.0, name, signed(*at_ns)],
            ),
            Event::Call(call) => self.append_call(trial, call),
            Event::Sample(sample) => self.append_sample(trial, sample),
            Event::Latency(latency) => self.append_latency(trial, latency),
            Event::Throughput(throughput) => self.execute(
                "INSERT INTO course (trial_id, test, interval_ns, bytes_json) VALUES (?1, ?2, ?3, ?4)",
                params![
                    trial.0,
                    throughput.test.as_str(),
                    signed(throughput.interval_ns),
                    json(&throughput.bytes)
                ],
            ),
            Event::Guard(guard) => self.append_guard(trial, guard),
            Event::Provenance { .. }
            | Event::DiskCounters(_)
            | Event::TestDisk(_)
            | Event::GuestFiles { .. }
            | Event::Load(_)
            | Event::Processor(_)
            | Event::Operation(_)
            | Event::Finding { .. } => self.append_facts(trial, event),
            Event::Failed(failure) => self.set_failure(trial, failure),
            Event::Done { at_ns } => self.execute(
                "UPDATE trial SET machine_ns = ?2 WHERE id = ?1",
                params![trial.0, signed(*at_ns)],
            ),
        };
        self.checked(result)
    }

    /// Stores the step of a trial that began this long after the trial. After that it survives SIGKILL.
    pub fn append_step(&mut self, trial: TrialId, event: &Event, wall: Duration) -> Result<()> {
        self.append(trial, event)?;
        let wall_ns = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
        let result = self.execute(
            "INSERT INTO step_wall (step_id, wall_ns) SELECT max(id), ?2 FROM step WHERE trial_id = ?1",
            params![trial.0, signed(wall_ns)],
        );
        self.checked(result)
    }

    /// Ends the trial. After that it survives a power cut.
    pub fn end_trial(&mut self, trial: TrialId, ending: &Ending, wall_ns: u64) -> Result<()> {
        let status = match ending {
            Ending::Done => "done",
            Ending::Failed(_) => "failed",
            Ending::Interrupted => "interrupted",
        };
        if let Ending::Failed(failure) = ending {
            self.checked(self.set_failure(trial, failure))?;
        }
        self.sync_commits(true)?;
        self.checked(self.set_ended(trial, status, wall_ns))?;
        self.sync_commits(false)
    }

    fn set_ended(&self, trial: TrialId, status: &str, wall_ns: u64) -> rusqlite::Result<()> {
        let transaction = self.own_transaction()?;
        let sql = "UPDATE trial SET status = ?2, wall_ns = ?3 WHERE id = ?1";
        self.execute(sql, params![trial.0, status, signed(wall_ns)])?;
        self.seal_trial(trial)?;
        transaction.map_or(Ok(()), Transaction::commit)
    }

    fn append_sample(&self, trial: TrialId, sample: &Sample) -> rusqlite::Result<()> {
        if !sample.value.is_finite() {
            // 0 bytes in 0 seconds: the value is invalid, but must not be dropped silently.
            let detail = format!("{} is {}, should be a number", sample.metric.name(), sample.value);
            let guard = Guard {
                name: "finite".to_owned(),
                test: Some(sample.test.clone()),
                passed: false,
                detail,
            };
            return self.append_guard(trial, &guard);
        }
        self.execute(
            "INSERT INTO sample (trial_id, test, metric, value, unit, better) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                trial.0,
                sample.test.as_str(),
                sample.metric.name(),
                sample.value,
                sample.metric.unit().name(),
                sample.metric.better().name()
            ],
        )
    }

    fn append_latency(&self, trial: TrialId, latency: &Latency) -> rusqlite::Result<()> {
        self.execute(
            "INSERT INTO latency (trial_id, test, operation, count, min_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns,
                                  histogram_base64)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                trial.0,
                latency.test.as_str(),
                latency.operation,
                signed(latency.count),
                signed(latency.min_ns),
                signed(latency.p50_ns),
                signed(latency.p90_ns),
                signed(latency.p99_ns),
                signed(latency.p999_ns),
                signed(latency.max_ns),
                latency.histogram_base64,
            ],
        )
    }

    fn append_guard(&self, trial: TrialId, guard: &Guard) -> rusqlite::Result<()> {
        self.execute(
            "INSERT INTO guard (trial_id, name, test, passed, detail) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![trial.0, guard.name, guard.test.as_deref(), guard.passed, guard.detail],
        )
    }

    /// All rows of one event in one transaction: each transaction writes whole pages to the log.
    fn append_facts(&self, trial: TrialId, event: &Event) -> rusqlite::Result<()> {
        let transaction = self.own_transaction()?;
        for row in facts::rows(event) {
            self.execute(
                "INSERT INTO provenance (trial_id, key, value) VALUES (?1, ?2, ?3)",
                params![trial.0, row.key, row.value],
            )?;
        }
        transaction.map_or(Ok(()), Transaction::commit)
    }

    fn append_call(&self, trial: TrialId, call: &ToolCall) -> rusqlite::Result<()> {
        self.execute(
            "INSERT INTO tool_call (trial_id, argv_json, exit, stdout, stderr, duration_ns)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                trial.0,
                json(&call.argv),
                call.exit,
                call.stdout,
                call.stderr,
                signed(call.duration_ns)
            ],
        )
    }

    fn set_failure(&self, trial: TrialId, failure: &Failure) -> rusqlite::Result<()> {
        self.execute(
            "UPDATE trial SET failure_step = ?2, failure_message = ?3 WHERE id = ?1",
            params![trial.0, failure.step, failure.message],
        )
    }

    fn execute(&self, sql: &str, columns: &[&dyn rusqlite::ToSql]) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute(columns).map(drop)
    }
}

fn is_taken(error: &rusqlite::Error) -> bool {
    error
        .sqlite_error()
        .is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE)
}
