//! Records of a trial, keyed by the trial. Shared by store and report.

use crate::cell_id::CellId;
use serde::{Deserialize, Serialize};

/// Key of a trial: its cell and index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrialKey {
    pub cell: CellId,
    /// 0 for the first trial of the cell.
    pub index: u32,
    pub seed: u64,
}

/// A record of a trial: a guard's result, a call, a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded<T> {
    pub trial: TrialKey,
    pub entry: T,
}

/// A measurement of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured<T> {
    pub trial: TrialKey,
    pub entry: T,
    /// Names of the failed guards for its test or for its whole trial. If there are any, it is excluded from all
    /// figures.
    pub failed_guards: Vec<String>,
}

impl<T> Measured<T> {
    /// Whether no guard failed.
    pub fn counts(&self) -> bool {
        self.failed_guards.is_empty()
    }
}

/// A property of a trial's machine: `kernel` = `6.12.117`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenanceEntry {
    pub key: String,
    pub value: String,
}

/// The start of a step, in nanoseconds since the start of the trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepEntry {
    pub name: String,
    pub at_ns: u64,
}
