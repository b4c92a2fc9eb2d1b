//! The input of a report.

use stats::{Results, Row, WorkloadResults};
use std::collections::BTreeSet;
use std::collections::{HashMap, HashSet};
use study::event::{Failure, Guard, Latency, Throughput, ToolCall};
use study::plan::Plan;
use study::stack::MachineKind;
use study::{CellId, Facts, Measured, Measurement, Recorded, TrialKey};

/// A complete run as plain data. Rows are in the plan's order of cells, then by trial, then in order of time.
#[derive(Clone, Debug)]
pub struct Input {
    pub plan: Plan,
    pub run: RunInfo,
    /// The latest attempt at each trial.
    pub trials: Vec<TrialInfo>,
    pub samples: Vec<Measurement>,
    pub guards: Vec<Recorded<Guard>>,
    pub latencies: Vec<Measured<Latency>>,
    pub throughput: Vec<Measured<Throughput>>,
    pub calls: Vec<Recorded<ToolCall>>,
    pub facts: Facts,
    /// Notes on the disk models of the plan.
    pub disks: Vec<DiskInfo>,
    /// Set if the plan has only some of many stacks.
    pub part: Option<ShownPart>,
    /// What may lose data on real disks with such stacks, in sentences.
    pub of_safety: Vec<String>,
    /// Possibly unintended measurements of the study, in sentences that begin with a workload's name.
    pub advice: Vec<String>,
    /// Names of workloads and tests that measure memory or the caches of drives rather than disks, as the warnings say: they decide
    /// nothing.
    pub of_caches: BTreeSet<(String, String)>,
}

/// The stacks of a run that are shown.
#[derive(Clone, Debug)]
pub struct ShownPart {
    /// Stacks of the run, or of the requested part.
    pub all_stacks: usize,
    /// The argument of `--only`; empty if the best stacks were selected.
    pub only: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct RunInfo {
    pub machine: MachineKind,
    pub seed: u64,
    /// The requested part of the matrix; empty for all of it.
    pub only: Vec<(String, String)>,
    pub raidlab_version: String,
    /// The command line that repeats the run.
    pub command: String,
    pub study_sha256: String,
    /// Digest of all measurements: two runs with the same results have the same digest.
    pub digest_sha256: String,
    pub started_at_unix_s: u64,
    /// Absent if trials were left when the report was made.
    pub finished_at_unix_s: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct TrialInfo {
    pub key: TrialKey,
    /// Its position among the trials of the store, in the order of their start; absent if it is reused from another
    /// run.
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
    /// Interrupted, or running when the report was made.
    Unfinished,
}

/// A disk model in words.
#[derive(Clone, Debug)]
pub struct DiskInfo {
    pub model: String,
    /// `Western Digital WD5000YS, 500 GB, 7200 rpm, 16 MiB cache`.
    pub words: String,
    pub bytes: u64,
    /// It has platters and heads.
    pub has_heads: bool,
    /// It is a solid-state drive that is full and was written at random for long, because the study gives it no other state.
    pub is_full_drive: bool,
    /// Names of its figures without a source: estimates, and what is said from memory.
    pub unverified: Vec<String>,
    /// How the model meets published figures of its disk; `None` without such figures, and for a model of the study's own.
    pub fit: Option<ModelFit>,
    /// Hours to read or write all of it once at its full rate; `None` if it is not known.
    pub pass_hours: Option<f64>,
}

/// How a disk model meets the published figures of its disk.
#[derive(Clone, Debug)]
pub struct ModelFit {
    pub figures: usize,
    /// Figures that the model meets within their goals.
    pub met: usize,
    /// Half of the deviations are smaller, without their signs.
    pub median_percent: f64,
    /// The figure from which it is farthest.
    pub worst: String,
    /// How far, relative to the real figure.
    pub off_percent: f64,
}

impl Input {
    /// All samples, evaluated.
    pub fn results(&self) -> Results {
        let all_stacks = self.part.as_ref().map_or(0, |part| part.all_stacks);
        stats::judge_part(&self.plan, &self.samples, all_stacks)
    }

    /// Whether imported results are shown with a run of another origin.
    pub(crate) fn has_imported(&self) -> bool {
        let mut cells = self.plan.cells.iter();
        self.run.machine != MachineKind::Foreign && cells.any(|cell| cell.is_imported())
    }

    /// The trials of the run, without those of imported results that are shown with it.
    pub(crate) fn own_trials(&self) -> impl Iterator<Item = &TrialInfo> {
        let own_cells = self.plan.cells.iter().filter(|cell| !cell.is_imported());
        let own: Option<HashSet<CellId>> = self.has_imported().then(|| own_cells.map(|cell| cell.id).collect());
        let is_own = move |trial: &&TrialInfo| own.as_ref().is_none_or(|own| own.contains(&trial.key.cell));
        self.trials.iter().filter(is_own)
    }

    /// How many of them are done, and how many failed.
    pub(crate) fn done_and_failed(&self) -> (usize, usize) {
        self.own_trials()
            .fold((0, 0), |(done, failed), trial| match trial.state {
                TrialState::Done => (done + 1, failed),
                TrialState::Failed(_) => (done, failed + 1),
                TrialState::Unfinished => (done, failed),
            })
    }

    /// What is not shown, and how to see it; empty if everything is shown.
    pub fn part_words(&self) -> String {
        let Some(part) = &self.part else { return String::new() };
        let shown = self.plan.stack_labels().len();
        let of_only = match part.only.as_slice() {
            [] => String::new(),
            only => format!(" of the part {}", only.join(" ")),
        };
        if shown == part.all_stacks {
            return match part.only.as_slice() {
                [] => "Only a part of the run is shown.".to_owned(),
                only => format!("Only a part of the run is shown: {}.", only.join(" ")),
            };
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

    /// Whether the plan has this stack with this workload.
    pub(crate) fn has_cell(&self, workload: &WorkloadResults, stack: &str) -> bool {
        let mut cells = self.plan.cells.iter();
        cells.any(|cell| cell.stack_label == stack && cell.workload.name == workload.name)
    }

    /// Why a row has no figure.
    pub(crate) fn without_figure(&self, row: &Row) -> &'static str {
        let is_failed =
            |trial: &TrialInfo| Some(trial.key.cell) == row.cell && matches!(trial.state, TrialState::Failed(_));
        if !row.excluded.is_empty() {
            "guard failed"
        } else if self.trials.iter().any(is_failed) {
            "failed"
        } else {
            "–"
        }
    }
}
