//! Repeats one state of a study's power cuts, by a run that ends in the cut.

use crate::guests::Guests;
use crate::{Error, LostSectors, Numbers, shrunk_state};
use lab::guest::PowerCut;
use lab::kernel::Cache;
use lab::power_cut::JudgedState;
use prepare::kernels::ShowBuild;
use prepare::load_study;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use study::plan::{Cell, Plan, Trial};
use study::workload::{PowerCutSpec, Work};
use trial::power_cut::Operations;

/// Operations before the cut that are listed.
const LISTED: usize = 12;

/// The state that the user asks for.
#[derive(Clone, Debug)]
pub struct StateChoice {
    /// The study's file, for the command that shows the state again.
    pub study: PathBuf,
    /// Counted from 1, as the trial.
    pub cell: u64,
    pub seed: u64,
    pub trial: u64,
    /// The instant of the cut and the seed of what the caches lose.
    pub cut: PowerCut,
    /// Operations to skip.
    pub left_out: Option<Numbers>,
    /// The only sectors that are lost, unless there are none here.
    pub lose: Vec<LostSectors>,
}

impl StateChoice {
    /// The trial with its work.
    pub(crate) fn trial(&self, plan: &Plan) -> Result<(Trial, PowerCutSpec), Error> {
        let cell = load_study::cell(plan, self.cell)?;
        let Work::PowerCut(spec) = &cell.workload.work else {
            return Err(Error::NoPowerCuts { cell: self.cell });
        };
        let mut trial = Trial {
            cell: cell.clone(),
            index: 0,
            seed: study::trial_seed(self.seed, self.trial as u32 - 1),
        };
        let spec = match &self.left_out {
            Some(numbers) => shrunk_state::without(&mut trial, spec, &numbers.0),
            None => spec.clone(),
        };
        Ok((trial, spec))
    }
}

/// The state in words.
pub fn state(choice: &StateChoice, plan: &Plan, cache: &Cache, show: ShowBuild) -> Result<String, Error> {
    let (trial, spec) = choice.trial(plan)?;
    let guests = Guests::new(cache, show)?;
    let judged = guests.explore((plan, &trial), spec.clone(), None, |exploration| {
        match choice.lose.is_empty() {
            true => exploration.state(choice.cut, &AtomicBool::new(false)),
            false => shrunk_state::with_lost(exploration, choice.cut, &choice.lose),
        }
    })?;
    let operations = Operations::draw(trial.seed, &spec);
    Ok(text(&trial.cell, &operations, &judged, LISTED))
}

/// The state, with its last operations.
pub(crate) fn text(cell: &Cell, operations: &Operations, judged: &JudgedState, listed: usize) -> String {
    let log = judged.log;
    let mut lines = vec![
        format!("{} (simulated)", cell.stack_label),
        format!(
            "{} of {} operations had begun, {} had returned",
            log.begun,
            operations.all.len(),
            log.returned
        ),
    ];
    let first = log.begun.saturating_sub(listed);
    for (number, operation) in operations.all.iter().enumerate().take(log.begun).skip(first) {
        let open = if number < log.returned { "" } else { ", under way" };
        lines.push(format!("  {number}: {operation}{open}"));
    }
    let findings = judged.findings();
    match findings.is_empty() {
        true => lines.push("everything acknowledged is there, and nothing else".to_owned()),
        false => lines.extend(findings.iter().map(ToString::to_string)),
    }
    lines.join("\n") + "\n"
}
