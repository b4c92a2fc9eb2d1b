//! Completed and remaining work of a stored run, from its trials alone.

use crate::cost::expected_us;
use crate::precision::Judged;
use crate::schedule::Schedule;
use std::collections::HashMap;
use std::time::Duration;
use store::{RunSummary, Store, StoreError, TrialRecord, TrialStatus};
use study::Measurement;
use study::plan::{Plan, Trial};

/// State of a stored run, as far as its results decide which trials it needs.
#[derive(Clone, Debug, Default)]
pub struct Outlook {
    pub done: u64,
    pub failed: u64,
    /// Number of trials that the run needs according to the results so far. Where it depends on results, it may grow.
    pub known: u64,
    /// Trials that have neither completed nor failed.
    pub left: u64,
    /// Their expected time, which [`Pace`] converts to wall time.
    pub left_us: u128,
    /// The first of them in the run's order.
    pub first_left: Option<Trial>,
}

impl Outlook {
    /// The outlook of a run in a store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of_run(store: &Store, run: &RunSummary) -> Result<Outlook, StoreError> {
        let plan = store.plan(run.id)?;
        Ok(Self::of(&plan, run, &store.trials(run.id)?, store.samples(run.id)?))
    }

    /// The outlook of a run with these trials and samples.
    pub fn of(plan: &Plan, run: &RunSummary, trials: &[TrialRecord], samples: Vec<Measurement>) -> Outlook {
        let status = trials
            .iter()
            .map(|trial| ((trial.key.cell, trial.key.index), trial.status));
        let status: HashMap<_, _> = status.collect();
        let judged = Judged::of_samples(samples, plan);
        let mut schedule = Schedule::new(plan, run.seed, run.shard);
        let mut outlook = Outlook::default();
        loop {
            while let Some((place, index)) = schedule.next_place() {
                let cell = &plan.cells[place];
                match status.get(&(cell.id, index)) {
                    Some(TrialStatus::Done) => outlook.done += 1,
                    Some(TrialStatus::Failed) => outlook.failed += 1,
                    _ => {
                        outlook.left += 1;
                        outlook.left_us += u128::from(expected_us(cell));
                        outlook
                            .first_left
                            .get_or_insert_with(|| plan.trial(run.seed, place, index));
                    }
                }
            }
            // Which trials come next is decided when the batch is complete.
            if outlook.left > 0 || !schedule.next_batch(|had| judged.wanted(had)) {
                outlook.known = schedule.all();
                return outlook;
            }
        }
    }
}

/// Estimates the wall time of trials from completed trials of the same study.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    wall_ns: u128,
    expected_us: u128,
}

impl Pace {
    /// Adds the completed trials of a run.
    pub fn add(&mut self, plan: &Plan, trials: &[TrialRecord]) {
        let expected: HashMap<_, _> = plan.cells.iter().map(|cell| (cell.id, expected_us(cell))).collect();
        for trial in trials {
            if let (TrialStatus::Done, Some(wall_ns), Some(expected_us)) =
                (trial.status, trial.wall_ns, expected.get(&trial.key.cell))
            {
                self.wall_ns += u128::from(wall_ns);
                self.expected_us += u128::from(*expected_us);
            }
        }
    }

    /// Wall time of trials with this expected time, run one after another; `None` before the first trial has ended.
    pub fn time_of(&self, expected_us: u128) -> Option<Duration> {
        let ns = expected_us.checked_mul(self.wall_ns)?.checked_div(self.expected_us)?;
        Some(Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX)))
    }
}
