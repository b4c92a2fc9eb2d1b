//! What a report is made from.

use stats::{Observation, Results};
use study::event::{Failure, Guard, Latency, Sample, ToolCall};
use study::plan::{Cell, Plan};
use study::stack::MachineKind;

/// A run, whole, as plain data. Rows come in the plan's order of cells, then by trial, then as things happened.
#[derive(Clone, Debug)]
pub struct Input {
    pub plan: Plan,
    pub run: RunInfo,
    /// The latest attempt at each trial.
    pub trials: Vec<TrialInfo>,
    pub samples: Vec<SampleInfo>,
    pub guards: Vec<GuardInfo>,
    pub latencies: Vec<LatencyInfo>,
    pub calls: Vec<CallInfo>,
    pub provenance: Vec<ProvenanceInfo>,
    /// What there is to say on the disk models that the plan names.
    pub disks: Vec<DiskInfo>,
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
    pub cell_key: String,
    pub index: u32,
    pub seed: u64,
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

#[derive(Clone, Debug)]
pub struct SampleInfo {
    pub cell_key: String,
    pub index: u32,
    pub seed: u64,
    pub sample: Sample,
    /// Guards that failed for it; it stays out of all figures if there are any.
    pub failed_guards: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct GuardInfo {
    pub cell_key: String,
    pub index: u32,
    pub guard: Guard,
}

#[derive(Clone, Debug)]
pub struct LatencyInfo {
    pub cell_key: String,
    pub index: u32,
    pub latency: Latency,
    pub failed_guards: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct CallInfo {
    pub cell_key: String,
    pub index: u32,
    pub call: ToolCall,
}

#[derive(Clone, Debug)]
pub struct ProvenanceInfo {
    pub cell_key: String,
    pub index: u32,
    pub key: String,
    pub value: String,
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
        stats::judge(&self.stacks(), &self.observations(), &self.plan.precision)
    }

    /// The stacks' labels, each once, in the plan's order.
    pub(crate) fn stacks(&self) -> Vec<String> {
        let mut stacks: Vec<String> = Vec::new();
        for cell in &self.plan.cells {
            if !stacks.contains(&cell.stack_label) {
                stacks.push(cell.stack_label.clone());
            }
        }
        stacks
    }

    pub(crate) fn cell(&self, key: &str) -> Option<&Cell> {
        self.plan.cells.iter().find(|cell| cell.key == key)
    }

    pub(crate) fn is_simulated(&self) -> bool {
        self.run.machine == MachineKind::Lab
    }

    fn observations(&self) -> Vec<Observation> {
        self.samples
            .iter()
            .filter_map(|row| {
                let cell = self.cell(&row.cell_key)?;
                let sample = &row.sample;
                Some(Observation {
                    stack: cell.stack_label.clone(),
                    workload: workload_of(cell).to_owned(),
                    test: sample.test.clone(),
                    metric: sample.metric.clone(),
                    unit: sample.unit.clone(),
                    better: sample.better,
                    index: row.index,
                    seed: row.seed,
                    value: sample.value,
                    failed_guards: row.failed_guards.clone(),
                })
            })
            .collect()
    }
}

/// The workload's name as the cell's key has it: there it also tells apart the points of a workload's own axes.
pub(crate) fn workload_of(cell: &Cell) -> &str {
    cell.key
        .strip_prefix(cell.stack_label.as_str())
        .and_then(|rest| rest.strip_prefix(" | "))
        .unwrap_or(&cell.workload.name)
}
