//! The plan that a study expands to: cells, trials, and combinations left out of the matrix.

use crate::cell_id::CellId;
use crate::stack::{MachineSpec, StackSpec};
use crate::table::TableSpec;
use crate::workload::WorkloadSpec;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

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
    /// What it is, whatever it is called: results belong to it. Set by [`Plan::identify`].
    #[serde(default)]
    pub id: CellId,
    /// What distinguishes this cell's stack from the other stacks of the plan, short: `ext3 1K`.
    pub stack_label: String,
    /// Cells that are the same but for this number are repetitions with seeds of their own; 0 for the first.
    #[serde(default)]
    pub replicate: u32,
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

impl Plan {
    /// Gives every cell its identity; to be called again after cells were changed. Of cells that are the same, each
    /// becomes a replicate of the first.
    pub fn identify(&mut self) {
        let mut known = HashSet::new();
        for cell in &mut self.cells {
            cell.id = CellId::of(cell);
            while !known.insert(cell.id) {
                cell.replicate += 1;
                cell.id = CellId::of(cell);
            }
        }
    }

    pub fn cell(&self, id: CellId) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.id == id)
    }

    /// Labels of the stacks, each once, in the plan's order.
    pub fn stack_labels(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|cell| cell.stack_label.as_str()))
    }

    /// Names of the workloads (with the values of their own axes: `stream bs=4K`), likewise.
    pub fn workload_names(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|cell| cell.workload.name.as_str()))
    }
}

fn distinct<'a>(labels: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = HashSet::new();
    labels.filter(|label| known.insert(*label)).collect()
}
