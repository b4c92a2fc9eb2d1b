//! The plan to which a study expands: cells, trials and excluded combinations.

use crate::cell::Shared;
use crate::cell_id::CellId;
use crate::stack::OwnModel;
use crate::table::TableSpec;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

pub use crate::cell::{Cell, METRIC, STACK, Side, TEST};

/// The expansion of a study file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub title: String,
    /// Description in the study file; may be empty.
    pub description: String,
    /// The text of the study file, stored with the results.
    pub source: String,
    /// Models of the cells' disks that are not built in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<OwnModel>,
    /// Models of the cells' processors that are not built in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processors: Vec<OwnModel>,
    pub cells: Vec<Cell>,
    /// Impossible combinations of the axes, each with its reason.
    pub left_out: Vec<LeftOut>,
    pub claims: Vec<Claim>,
    /// Custom tables of the study, shown before the standard ones.
    #[serde(default)]
    pub tables: Vec<TableSpec>,
    /// Weights of workloads other than 1, by name without the values of its own axes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<(String, u32)>,
    pub precision: Precision,
}

/// An excluded combination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub axes: Vec<(String, String)>,
    pub reason: String,
}

/// A statement that the data can support, refute or leave undecided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub says: String,
    /// Axis = value pairs, all of which must match.
    pub filter: Vec<(String, String)>,
    /// The comparison as written, `bitmap=none > bitmap=internal`.
    pub that: String,
    /// The published statement, as written.
    pub published: Option<String>,
    /// Why the study cannot test it, in its author's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untestable: Option<String>,
}

/// Stop conditions of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// A cell is done when the 95 % interval of each sample's centre is within ± this fraction of it.
    pub relative: Option<f64>,
    /// A cell is done when each claim that compares it is decided, or not worth further trials.
    #[serde(default)]
    pub claims: bool,
    pub min_trials: u32,
    pub max_trials: u32,
}

impl Precision {
    /// Exactly this many trials of each cell.
    pub const fn fixed(trials: u32) -> Self {
        Self {
            relative: None,
            claims: false,
            min_trials: trials,
            max_trials: trials,
        }
    }
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
    /// Sets every cell's identity; must be repeated after cells were changed. Identical cells become replicates of
    /// the first one.
    pub fn identify(&mut self) {
        let mut known = HashSet::new();
        // By the identity of a repeated cell: the number of the next repetition.
        let mut next: HashMap<CellId, u32> = HashMap::new();
        let mut shared = Shared::default();
        for cell in &mut self.cells {
            let first = shared.id(cell);
            cell.id = first;
            while !known.insert(cell.id) {
                let number = next.entry(first).or_insert(cell.replicate);
                *number += 1;
                cell.replicate = *number;
                cell.id = shared.id(cell);
            }
        }
    }

    pub fn cell(&self, id: CellId) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.id == id)
    }

    /// All cells by their identity, for many lookups.
    pub fn cells_by_id(&self) -> HashMap<CellId, &Cell> {
        self.cells.iter().map(|cell| (cell.id, cell)).collect()
    }

    /// Unique labels of the stacks, in the plan's order.
    pub fn stack_labels(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|cell| cell.stack_label.as_str()))
    }

    /// The weight of a workload in what a report recommends.
    pub fn weight(&self, workload: &str) -> u32 {
        let given = self.weights.iter().find(|(name, _)| name == workload);
        given.map_or(1, |&(_, weight)| weight)
    }

    /// Unique names of the workloads (with the values of their own axes: `stream bs=4K`), in the plan's order.
    pub fn workload_names(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|cell| cell.workload.name.as_str()))
    }
}

fn distinct<'a>(labels: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = HashSet::new();
    labels.filter(|label| known.insert(*label)).collect()
}
