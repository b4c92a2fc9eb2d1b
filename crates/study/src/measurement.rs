//! What was recorded in a trial, keyed by the trial. One type from the store to the report.

use crate::cell_id::CellId;
use crate::event::Sample;

/// A trial, by the cell that it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrialKey {
    pub cell: CellId,
    /// 0 for the first trial of the cell.
    pub index: u32,
    pub seed: u64,
}

/// Something that a trial reported: a guard's result, a call, a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded<T> {
    pub trial: TrialKey,
    pub entry: T,
}

/// Something that a trial measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured<T> {
    pub trial: TrialKey,
    pub entry: T,
    /// Names of the guards that failed for its test, or for all of its trial. If there are any, it is part of no
    /// figure.
    pub failed_guards: Vec<String>,
}

impl<T> Measured<T> {
    /// No guard speaks against it.
    pub fn counts(&self) -> bool {
        self.failed_guards.is_empty()
    }
}

/// One measured value, with its trial and its guards.
pub type Measurement = Measured<Sample>;

/// What a trial's machine was, or had: `kernel` = `6.12.117`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenanceEntry {
    pub key: String,
    pub value: String,
}

/// A step that began, in nanoseconds since the trial did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepEntry {
    pub name: String,
    pub at_ns: u64,
}
