//! What a plan must fulfil where it is run, and the A/A control.

use crate::Error;
use std::collections::HashMap;
use study::Shard;
use study::plan::{Cell, LeftOut, Plan};
use study::stack::{DATA, MachineKind};
use study::workload::{Work, WorkloadSpec};
use tools::{MissingTools, Tool};

/// On a host, before anything is touched.
pub fn refuse_power_cuts(plan: &Plan) -> Result<(), Error> {
    let cuts = |workload: &WorkloadSpec| matches!(workload.work, Work::PowerCut(_));
    match plan
        .cells
        .iter()
        .map(|cell| &cell.workload)
        .find(|workload| cuts(workload))
    {
        Some(workload) => Err(Error::PowerCutOnHost(workload.name.clone())),
        None => Ok(()),
    }
}

/// Also if the study is for the lab, but the command line says otherwise.
pub fn refuse_acts(plan: &Plan) -> Result<(), Error> {
    for cell in &plan.cells {
        let disks = cell.machine.group(DATA).map_or(0, |group| group.count);
        let Some(keeper) = cell.stack.keeper(disks) else {
            continue;
        };
        let mut refused = cell
            .acts
            .iter()
            .filter_map(|act| act.kind.why_not_on_host(&cell.stack, keeper));
        if let Some(why) = refused.next() {
            return Err(Error::ActOnHost(why));
        }
    }
    Ok(())
}

/// A claim may compare cells of two shards, neither of which can see that it is decided.
pub fn refuse_shards_of_claims(plan: &Plan, shard: Option<Shard>) -> Result<(), Error> {
    match shard.filter(|_| plan.precision.claims) {
        Some(_) => Err(Error::ShardOfClaims),
        None => Ok(()),
    }
}

/// The A/A control, if it is asked for, or by default on a host.
pub fn add_control(asked: Option<bool>, machine: MachineKind, plan: &mut Plan) {
    if !asked.unwrap_or(machine == MachineKind::Host) {
        return;
    }
    let added = study::aa_control::add(plan, stats::TRIALS_MIN as u32);
    plan.identify();
    match added {
        Some(label) => log::info!("{label} is measured as an A/A control; --aa-control off leaves it out"),
        None if asked.is_some() => log::warn!(
            "no A/A control was added: it needs {} trials of each cell, and a study without `replicate`",
            stats::TRIALS_MIN
        ),
        None => (),
    }
}

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

/// The cell with that number, counted from 1.
pub fn cell(plan: &Plan, number: u64) -> Result<&Cell, Error> {
    let cells = plan.cells.len();
    let cell = usize::try_from(number - 1).ok().and_then(|at| plan.cells.get(at));
    cell.ok_or(Error::NoSuchCell { cell: number, cells })
}
