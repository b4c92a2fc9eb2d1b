//! The programs that this machine lacks, or whose version is too old for a job file, and the cells that are left out for that.

use crate::Error;
use crate::fio_options::FioOptions;
use std::collections::HashMap;
use study::plan::{Cell, LeftOut, Plan};
use study::stack::MachineKind;
use tools::Tool;

/// Leaves out the cells of which programs are not installed, so that the others are measured.
///
/// # Errors
/// If nothing would be left because fio does not take the job files.
pub fn leave_out_missing(plan: &mut Plan, machine: MachineKind) -> Result<(), Error> {
    let mut programs = Missing::default();
    let cells = plan.cells.iter();
    let missing: Vec<Option<String>> = cells
        .map(|cell| programs.of(cell, machine).map(str::to_owned))
        .collect();
    if missing.iter().all(Option::is_some) {
        // Programs that are not installed are reported later, all at once.
        let refusal = plan.cells.first().and_then(|cell| programs.fio.refusal(cell));
        return refusal.map_or(Ok(()), |reason| Err(Error::Fio(reason.to_owned())));
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
    Ok(())
}

/// What this machine lacks, each list of programs looked for once.
#[derive(Default)]
pub struct Missing {
    known: HashMap<Vec<Tool>, Option<String>>,
    fio: FioOptions,
}

impl Missing {
    /// Which program the trials of a cell lack, and what helps.
    pub fn of(&mut self, cell: &Cell, machine: MachineKind) -> Option<&str> {
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
        let missing =
            known.or_insert_with_key(|wanted| tools::Tools::find(wanted).err().map(|error| error.to_string()));
        missing.as_deref().or_else(|| self.fio.refusal(cell))
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
