//! Input and output types of a store.

use study::event::Failure;
use study::plan::Plan;
use study::stack::MachineKind;
use study::{Shard, TrialKey};

/// A run's number in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub i64);

/// A run as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunChoice {
    Number(RunId),
    /// The last run with this name.
    Name(String),
}

/// An attempt at a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialId(pub i64);

/// Parameters of a run from the command line and the study.
#[derive(Clone, Debug)]
pub struct RunSpec<'a> {
    pub plan: &'a Plan,
    pub seed: u64,
    pub machine: MachineKind,
    /// Identifies the disks under test (host); empty in the lab, where the plan contains them.
    pub devices: &'a [String],
    /// The selected part of the matrix (`--only`); empty for all of it.
    pub only: &'a [(String, String)],
    /// The shard that this store is for; `None` for all trials.
    pub shard: Option<Shard>,
    /// Identifies the build: only the same build continues a run.
    pub raidlab_version: &'a str,
    /// The command line that repeats the run.
    pub command: &'a str,
    /// Used if the run is new.
    pub started_at_unix_s: u64,
}

/// Summary of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    pub id: RunId,
    pub title: String,
    pub study_source: String,
    pub study_sha256: String,
    pub seed: u64,
    pub machine: MachineKind,
    pub only: Vec<(String, String)>,
    /// The shard that the run is limited to.
    pub shard: Option<Shard>,
    pub raidlab_version: String,
    pub command: String,
    pub started_at_unix_s: u64,
    /// Absent while trials are left.
    pub finished_at_unix_s: Option<u64>,
    pub trials_done: u64,
    pub trials_failed: u64,
    /// Name given by the user.
    pub name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialStatus {
    /// Running, or its process was killed and the run not yet resumed.
    Running,
    Done,
    Failed,
    /// Interrupted: its events are kept but never counted.
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

/// How a trial ended.
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
    /// Wall time from start to end; absent until the trial has ended.
    pub wall_ns: Option<u64>,
    /// Time that passed on the trial's machine (lab: virtual); absent if the trial did not report it.
    pub machine_ns: Option<u64>,
    pub failure: Option<Failure>,
    /// Number of attempts, including this one.
    pub attempts: u32,
    /// Its result is reused from another run of the store.
    pub is_reused: bool,
}
