//! What goes into a store and comes out of it.

use study::event::{Better, Failure, Guard, Latency, ToolCall};
use study::plan::Plan;
use study::stack::MachineKind;

/// A run's number in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub i64);

/// An attempt at a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialId(pub i64);

/// What is to be run, as the command line and the study say it.
#[derive(Clone, Debug)]
pub struct RunSpec<'a> {
    pub plan: &'a Plan,
    pub seed: u64,
    pub machine: MachineKind,
    /// What tells the disks under test from others (host); empty in the lab, where the plan says it.
    pub devices: &'a [String],
    /// The part of the matrix that was asked for (`--only`); empty for all of it.
    pub only: &'a [(String, String)],
    /// Identifies the build: a run is never carried on by another one.
    pub raidlab_version: &'a str,
    /// The command line that repeats the run.
    pub command: &'a str,
    /// Used if the run is new.
    pub started_at_unix_s: u64,
}

/// A run at a glance.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    pub id: RunId,
    pub title: String,
    pub study_source: String,
    pub study_sha256: String,
    pub seed: u64,
    pub machine: MachineKind,
    pub only: Vec<(String, String)>,
    pub raidlab_version: String,
    pub command: String,
    pub started_at_unix_s: u64,
    /// Absent while trials are left to do.
    pub finished_at_unix_s: Option<u64>,
    pub trials_done: u64,
    pub trials_failed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialStatus {
    /// Under way; or its process was killed and the run not yet resumed.
    Running,
    Done,
    Failed,
    /// Given up half-way: its events are kept but count nowhere.
    Interrupted,
}

impl TrialStatus {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// How a trial came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Done,
    Failed(Failure),
    Interrupted,
}

/// The latest attempt at a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRecord {
    pub id: TrialId,
    pub cell_key: String,
    pub index: u32,
    pub seed: u64,
    pub status: TrialStatus,
    /// Wall time from begin to end; absent until the trial has ended.
    pub wall_ns: Option<u64>,
    /// Time that passed on the trial's machine (lab: virtual); absent if the trial did not say.
    pub machine_ns: Option<u64>,
    pub failure: Option<Failure>,
    /// How often it was begun, this time included.
    pub attempts: u32,
}

/// A sample of a trial that was done.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleRow {
    pub cell_key: String,
    pub index: u32,
    pub seed: u64,
    pub test: String,
    pub metric: String,
    pub value: f64,
    pub unit: String,
    pub better: Better,
    /// Names of the guards that failed for this sample's test, or for all of its trial.
    pub failed_guards: Vec<String>,
}

/// Latencies of one operation in a trial that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyRow {
    pub cell_key: String,
    pub index: u32,
    pub seed: u64,
    pub latency: Latency,
    /// As in [`SampleRow::failed_guards`].
    pub failed_guards: Vec<String>,
}

/// A guard's verdict in a trial that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardRow {
    pub cell_key: String,
    pub index: u32,
    pub guard: Guard,
}

/// An external program's call, in the latest attempt at a trial, however it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    pub cell_key: String,
    pub index: u32,
    pub call: ToolCall,
}

/// What the trial's machine was, in the latest attempt at a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenanceRow {
    pub cell_key: String,
    pub index: u32,
    pub key: String,
    pub value: String,
}

/// A step of the latest attempt at a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRow {
    pub cell_key: String,
    pub index: u32,
    pub name: String,
    pub at_ns: u64,
}
