//! What goes into a store and comes out of it.

use study::TrialKey;
use study::event::Failure;
use study::plan::Plan;
use study::stack::MachineKind;

/// A run's number in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub i64);

/// A run as a person names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunChoice {
    Number(RunId),
    /// The last run of that name.
    Name(String),
}

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
    /// What the user calls it.
    pub name: Option<String>,
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
    pub key: TrialKey,
    pub status: TrialStatus,
    /// Wall time from begin to end; absent until the trial has ended.
    pub wall_ns: Option<u64>,
    /// Time that passed on the trial's machine (lab: virtual); absent if the trial did not say.
    pub machine_ns: Option<u64>,
    pub failure: Option<Failure>,
    /// How often it was begun, this time included.
    pub attempts: u32,
    /// It ran in another run of the store, whose result stands for this run's too.
    pub is_reused: bool,
}
