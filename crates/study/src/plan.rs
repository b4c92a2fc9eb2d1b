//! A study laid out: cells, trials, and what was left out of the matrix.

use crate::stack::{MachineSpec, StackSpec};
use crate::table::TableSpec;
use crate::workload::WorkloadSpec;
use serde::{Deserialize, Serialize};

/// Some cells, or some of their samples: axis = value, all of which hold.
pub type Side = Vec<(String, String)>;

/// The axis of a stack's label, where a table's rows go by it.
pub const STACK: &str = "stack";
/// The axes that samples have besides those of their cell.
pub const TEST: &str = "test";
pub const METRIC: &str = "metric";

/// What a study file comes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub title: String,
    /// The study file's own words on what it is after; may be empty.
    pub description: String,
    /// The study file as it was read, kept with the results.
    pub source: String,
    pub cells: Vec<Cell>,
    /// Combinations of the axes that cannot be, each with its reason.
    pub left_out: Vec<LeftOut>,
    pub claims: Vec<Claim>,
    /// Tables in the study's own shape, shown before those that every study has.
    #[serde(default)]
    pub tables: Vec<TableSpec>,
    pub precision: Precision,
}

/// One point of the matrix: a machine, a stack on it, a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Unique in the plan, stable from run to run, readable: `ext3 1K | small files`.
    pub key: String,
    /// What distinguishes this cell's stack from the other stacks of the plan, short: `ext3 1K`.
    pub stack_label: String,
    /// Where the cell lies on every axis, `level` = `6`, `block_size` = `4K`, `workload` = …: in the study's words
    /// and order, also the axes that have one value only.
    pub axes: Vec<(String, String)>,
    pub machine: MachineSpec,
    pub stack: StackSpec,
    pub workload: WorkloadSpec,
}

/// A combination that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub axes: Vec<(String, String)>,
    pub reason: String,
}

/// A sentence that the data can support, refute or leave undecided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub says: String,
    /// Axis = value, all of which must hold.
    pub filter: Vec<(String, String)>,
    /// The comparison as written, `bitmap=none > bitmap=internal`.
    pub that: String,
    /// What was published, as written.
    pub published: Option<String>,
}

/// How sure to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// A cell is done when the 95 % interval of each sample's centre is within ± this share of it.
    pub relative: Option<f64>,
    pub min_trials: u32,
    pub max_trials: u32,
}

/// One run of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub cell: Cell,
    /// 0 for the first trial of the cell.
    pub index: u32,
    /// Drives every random choice of the trial. Trials of equal index have the same seed in every cell, so that
    /// stacks are compared on the same files.
    pub seed: u64,
}
