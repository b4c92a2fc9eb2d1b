//! The programs that this machine lacks, and the cells that are left out without them.

use crate::Error;
use std::collections::HashMap;
use study::plan::{Cell, LeftOut, Plan};
use study::stack::MachineKind;
use tools::{MissingTools, Tool};

/// Leaves out the cells of which programs are not installed, so that the others are measured. Unless nothing would be
/// left, which is an error of the study.
pub fn leave_out_missing(plan: &mut Plan, machine: MachineKind) {
    let mut programs = Missing::default();
    let cells = plan.cells.iter();
    let missing: Vec<Option<String>> = cells
        .map(|cell| programs.of(cell, machine).map(ToString::to_string))
        .collect();
    if missing.iter().all(Option::is_some) {
        return;
    }
    let mut reported: Vec<String> = Vec::new();
    let mut kept = Vec::new();
    for (cell, missing) in std::mem::take(&mut plan.cells).into_iter().zip(missing) {
        let Some(reason) = missing else {
            kept.push(cell);
            continue;
        };
        if !reported.contains(&reason) {
            log::warn!("cells are left out: {reason}");
            reported.push(reason.clone());
        }
        plan.left_out.push(LeftOut {
            axes: cell.axes,
            reason,
        });
    }
    plan.cells = kept;
}

/// The programs that this machine lacks, each list of programs looked for once.
#[derive(Default)]
pub struct Missing {
    known: HashMap<Vec<Tool>, Option<MissingTools>>,
}

impl Missing {
    /// Those that the trials of a cell call.
    pub fn of(&mut self, cell: &Cell, machine: MachineKind) -> Option<&MissingTools> {
        let mut wanted = match machine {
            MachineKind::Lab => trial::tools_needed(cell, trial::Teardown::None),
            MachineKind::Host | MachineKind::Foreign => trial::tools_needed(cell, trial::Teardown::Full),
        };
        if machine == MachineKind::Lab {
            wanted.retain(|tool| !tool.is_carried());
        }
        wanted.sort_unstable();
        wanted.dedup();
        let known = self.known.entry(wanted);
        let found = known.or_insert_with_key(|wanted| tools::Tools::find(wanted).err());
        found.as_ref()
    }
}

/// Every program that some trial will call.
pub(crate) fn tools_needed(plan: &Plan, teardown: trial::Teardown) -> Vec<Tool> {
    let cells = plan.cells.iter();
    cells.flat_map(|cell| trial::tools_needed(cell, teardown)).collect()
}

/// They must exist before the first trial starts.
pub(crate) fn check_tools(mut wanted: Vec<Tool>) -> Result<(), Error> {
    wanted.sort_unstable();
    wanted.dedup();
    Ok(tools::Tools::find(&wanted).map(drop)?)
}
