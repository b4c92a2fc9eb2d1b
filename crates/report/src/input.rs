//! What a report is made from.

use stats::Results;
use std::collections::HashMap;
use study::event::{Course, Failure, Guard, Latency, ToolCall};
use study::plan::Plan;
use study::stack::MachineKind;
use study::{CellId, Facts, Measured, Measurement, Recorded, TrialKey};

/// A run, whole, as plain data. Rows come in the plan's order of cells, then by trial, then as things happened.
#[derive(Clone, Debug)]
pub struct Input {
    pub plan: Plan,
    pub run: RunInfo,
    /// The latest attempt at each trial.
    pub trials: Vec<TrialInfo>,
    pub samples: Vec<Measurement>,
    pub guards: Vec<Recorded<Guard>>,
    pub latencies: Vec<Measured<Latency>>,
    pub courses: Vec<Measured<Course>>,
    pub calls: Vec<Recorded<ToolCall>>,
    pub facts: Facts,
    /// What there is to say on the disk models that the plan names.
    pub disks: Vec<DiskInfo>,
    /// Set where the plan has only some of many stacks.
    pub part: Option<ShownPart>,
    /// What the study measures that its author may not have meant, in sentences that begin with a workload's name.
    pub advice: Vec<String>,
}

/// Which stacks of a run are shown.
#[derive(Clone, Debug)]
pub struct ShownPart {
    /// Stacks of the run, or of the part that was asked for.
    pub all_stacks: usize,
    /// What was asked for with `--only`; empty if the best stacks were chosen.
    pub only: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct RunInfo {
    pub machine: MachineKind,
    pub seed: u64,
    /// The part of the matrix that was asked for; empty for all of it.
    pub only: Vec<(String, String)>,
    pub raidlab_version: String,
    /// The command line that repeats the run.
    pub command: String,
    pub study_sha256: String,
    /// Over everything measured: two runs that agree have the same.
    pub digest_sha256: String,
    pub started_at_unix_s: u64,
    /// Absent if trials were left to do when the report was made.
    pub finished_at_unix_s: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct TrialInfo {
    pub key: TrialKey,
    /// Its place among the trials of the store, as they were started; absent if it is reused from another run.
    pub started: Option<u64>,
    pub state: TrialState,
    pub wall_ns: Option<u64>,
    /// Time on the trial's machine (lab: virtual).
    pub machine_ns: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialState {
    Done,
    Failed(Failure),
    /// Given up half-way, or under way when the report was made.
    Unfinished,
}

/// A disk model in words.
#[derive(Clone, Debug)]
pub struct DiskInfo {
    pub model: String,
    /// `Western Digital WD5000YS, 500 GB, 7200 rpm, 16 MiB cache`.
    pub words: String,
}

impl Input {
    /// All samples, judged.
    pub fn results(&self) -> Results {
        let all_stacks = self.part.as_ref().map_or(0, |part| part.all_stacks);
        stats::judge_part(&self.plan, &self.samples, all_stacks)
    }

    /// What is not shown, and how to see it; empty if all is.
    pub fn part_words(&self) -> String {
        let Some(part) = &self.part else { return String::new() };
        let shown = self.plan.stack_labels().len();
        let of_only = match part.only.as_slice() {
            [] => String::new(),
            only => format!(" of the part {}", only.join(" ")),
        };
        if shown == part.all_stacks {
            return format!("Only a part of the run is shown{of_only}.");
        }
        format!(
            "{shown} of {} stacks{of_only} are shown: the best of each workload. `--only AXIS=VALUE` shows others, \
             `raidlab export` has all samples. Differences are shown at 95 % confidence over all stacks.",
            part.all_stacks
        )
    }

    /// The key of each cell, for messages.
    pub(crate) fn cell_keys(&self) -> HashMap<CellId, &str> {
        self.plan
            .cells
            .iter()
            .map(|cell| (cell.id, cell.key.as_str()))
            .collect()
    }

    pub(crate) fn is_simulated(&self) -> bool {
        self.run.machine == MachineKind::Lab
    }
}
