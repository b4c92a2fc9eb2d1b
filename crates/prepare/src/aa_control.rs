//! The A/A control of a run.

use study::plan::Plan;
use study::stack::MachineKind;

/// The A/A control, if it is asked for, or by default on a host.
pub fn add(asked: Option<bool>, machine: MachineKind, plan: &mut Plan) {
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
