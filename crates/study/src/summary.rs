//! A plan in numbers, for display.

use crate::plan::{Cell, Plan};
use std::collections::BTreeSet;

/// Size and axes of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSummary {
    /// Number of different stacks in the cells.
    pub stacks: usize,
    /// Number of different workloads in the cells; each value of a workload's own lists counts.
    pub workloads: usize,
    pub cells: usize,
    /// Number of excluded combinations.
    pub left_out: usize,
    /// Trials if every cell stops as early as possible.
    pub trials_min: u64,
    /// Trials if every cell runs to its maximum.
    pub trials_max: u64,
    /// Axes with only one value, with that value.
    pub fixed: Vec<(String, String)>,
    /// The other axes with their values, in the order of the study.
    pub varied: Vec<(String, Vec<String>)>,
}

impl Plan {
    /// Computes the summary.
    pub fn summary(&self) -> PlanSummary {
        let distinct = |name: fn(&Cell) -> &str| self.cells.iter().map(name).collect::<BTreeSet<_>>().len();
        let cells = self.cells.len() as u64;
        let (fixed, varied): (Vec<_>, Vec<_>) = self.values().into_iter().partition(|(axis, values)| {
            // Only the cells of a workload have its own axes.
            values.len() == 1
                && self
                    .cells
                    .iter()
                    .all(|cell| cell.axes.iter().any(|(name, _)| name == axis))
        });
        PlanSummary {
            stacks: distinct(|cell| &cell.stack_label),
            workloads: distinct(|cell| &cell.workload.name),
            cells: self.cells.len(),
            left_out: self.left_out.len(),
            trials_min: cells * u64::from(self.precision.min_trials),
            trials_max: cells * u64::from(self.precision.max_trials),
            fixed: fixed
                .into_iter()
                .map(|(axis, values)| (axis, values.concat()))
                .collect(),
            varied,
        }
    }

    fn values(&self) -> Vec<(String, Vec<String>)> {
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for (axis, value) in self.cells.iter().flat_map(|cell| &cell.axes) {
            match all.iter_mut().find(|(name, _)| name == axis) {
                Some((_, values)) if values.contains(value) => {}
                Some((_, values)) => values.push(value.clone()),
                None => all.push((axis.clone(), vec![value.clone()])),
            }
        }
        all
    }
}
