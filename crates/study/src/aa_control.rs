//! The A/A control: a stack that is measured twice, under two names.

use crate::plan::{Cell, Plan};

/// The axis of replicates.
pub const REPLICATE: &str = "replicate";

/// Adds a replicate of the plan's first stack, with all its workloads, and returns its label. Does nothing if the
/// plan already has replicates, or if its cells have fewer trials than a comparison needs.
///
/// The replicate's trials are additional cells of the run, in the same random order and with their own seeds.
/// [`Plan::identify`] must be called afterwards.
pub fn add(plan: &mut Plan, trials_min: u32) -> Option<String> {
    let first = plan.cells.first()?.stack_label.clone();
    if plan.precision.max_trials < trials_min || plan.cells.iter().any(|cell| cell.replicate > 0) {
        return None;
    }
    let label = format!("{first} #2");
    let mut cells = Vec::with_capacity(plan.cells.len());
    for mut cell in std::mem::take(&mut plan.cells) {
        let again = (cell.stack_label == first).then(|| Cell {
            replicate: 1,
            stack_label: label.clone(),
            key: format!("{label} | {}", cell.workload.name),
            ..cell.clone()
        });
        set_axis(&mut cell, "1");
        cells.push(cell);
        cells.extend(again.map(|mut again| {
            set_axis(&mut again, "2");
            again
        }));
    }
    plan.cells = cells;
    Some(label)
}

impl Cell {
    /// Whether the cells differ only in replicate number and seeds.
    pub fn is_replicate_of(&self, other: &Self) -> bool {
        self.replicate != other.replicate
            && self.machine == other.machine
            && self.stack == other.stack
            && self.workload == other.workload
            && self.acts == other.acts
    }
}

/// Like the replicates of a study file: the last axis of the stack.
fn set_axis(cell: &mut Cell, word: &str) {
    let workload = cell.axes.iter().position(|(axis, _)| axis == "workload");
    let place = workload.unwrap_or(cell.axes.len());
    cell.axes.insert(place, (REPLICATE.to_owned(), word.to_owned()));
}
