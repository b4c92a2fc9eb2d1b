//! A state after fewer operations, or with fewer lost writes: the steps of shrinking.

use crate::LostSectors;
use lab::guest::PowerCut;
use lab::power_cut::{self, Exploration, JudgedState, Lost, LostWrites};
use std::sync::atomic::AtomicBool;
use study::plan::Trial;
use study::workload::{PowerCutSpec, Work};

/// It can only be stopped by ending the program.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// Makes a trial skip these operations.
pub(crate) fn without(trial: &mut Trial, spec: &PowerCutSpec, left_out: &[u32]) -> PowerCutSpec {
    let spec = PowerCutSpec {
        left_out: left_out.to_vec(),
        ..spec.clone()
    };
    trial.cell.workload.work = Work::PowerCut(spec.clone());
    spec
}

/// The state in which only these sectors of the cut's lost writes are lost.
pub(crate) fn with_lost(
    exploration: &Exploration<'_>,
    cut: PowerCut,
    lose: &[LostSectors],
) -> Result<JudgedState, power_cut::Error> {
    let writes = LostWrites::of(exploration, cut, &NEVER)?;
    let each = lose
        .iter()
        .flat_map(|lost| Lost::sectors(lost.disk - 1, lost.sector, lost.count));
    let set: Vec<Lost> = each.filter(|lost| writes.has(*lost)).collect();
    let verdict = writes.judge(&[set], &NEVER)?.into_iter().next().unwrap_or_default();
    Ok(JudgedState {
        at_ns: cut.at_ns,
        seed: cut.seed,
        log: writes.log(),
        verdict,
    })
}
