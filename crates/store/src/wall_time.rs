//! Where the wall time of a run went: what the lab costs, by step of its trials.

use crate::sql_types::unsigned;
use crate::{Result, RunId, Store};
use std::time::Duration;

/// All steps of one name in a run's completed trials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WallOfStep {
    /// Empty for the time before the first step, in which a guest boots.
    pub name: String,
    pub steps: u64,
    /// From the begin of each to that of the next step, or to the end of the trial.
    pub wall: Duration,
    /// The same on the clock of the trials' machines (lab: virtual).
    pub machine: Duration,
}

/// Trials of which the wall time of every step is known, each step with those of its begin and its end.
const SPANS: &str = "
    WITH timed AS (
        SELECT id, wall_ns, machine_ns FROM run_trial
        WHERE run_id = ?1 AND status = 'done' AND wall_ns IS NOT NULL AND machine_ns IS NOT NULL AND NOT is_reused
    ),
    began AS (
        SELECT timed.id AS trial, step.id AS step, step.name, step.at_ns, step_wall.wall_ns
        FROM timed JOIN step ON step.trial_id = timed.id JOIN step_wall ON step_wall.step_id = step.id
        UNION ALL
        SELECT timed.id, 0, '', 0, 0 FROM timed
        WHERE EXISTS (SELECT 1 FROM step JOIN step_wall ON step_wall.step_id = step.id WHERE step.trial_id = timed.id)
    ),
    spans AS (
        SELECT began.name,
               lead(began.wall_ns, 1, max(timed.wall_ns, began.wall_ns)) OVER trials - began.wall_ns AS wall_ns,
               lead(began.at_ns, 1, max(timed.machine_ns, began.at_ns)) OVER trials - began.at_ns AS machine_ns
        FROM began JOIN timed ON timed.id = began.trial
        WINDOW trials AS (PARTITION BY began.trial ORDER BY began.step)
    )
    SELECT name, count(*), sum(wall_ns), sum(machine_ns) FROM spans GROUP BY name ORDER BY 3 DESC, 1";

impl Store {
    /// The steps that took most wall time first. Empty for runs of earlier versions and of merged stores, which have no wall times of
    /// steps.
    pub fn wall_by_step(&self, run: RunId) -> Result<Vec<WallOfStep>> {
        self.rows(SPANS, [run.0], |row| {
            Ok(WallOfStep {
                name: row.get(0)?,
                steps: unsigned(row.get(1)?),
                wall: Duration::from_nanos(unsigned(row.get(2)?)),
                machine: Duration::from_nanos(unsigned(row.get(3)?)),
            })
        })
    }
}
