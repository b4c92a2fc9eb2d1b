//! Why trials failed: each reason once, however many trials it ended.

use crate::input::{Input, TrialState};
use crate::words::figure::count;
use study::event::Failure;
use study::{CellId, TrialKey};

/// More reasons are only counted: the report lists all trials.
const SHOWN_MAX: usize = 5;

/// Trials that failed in one step with one message.
struct Reason<'a> {
    failure: &'a Failure,
    /// The first of them.
    first: TrialKey,
    trials: usize,
    cells: Vec<CellId>,
}

fn reasons(input: &Input) -> Vec<Reason<'_>> {
    let mut all: Vec<Reason<'_>> = Vec::new();
    for trial in &input.trials {
        let TrialState::Failed(failure) = &trial.state else {
            continue;
        };
        let place = all.iter().position(|known| known.failure == failure);
        let place = place.unwrap_or_else(|| {
            all.push(Reason {
                failure,
                first: trial.key,
                trials: 0,
                cells: Vec::new(),
            });
            all.len() - 1
        });
        let known = &mut all[place];
        known.trials += 1;
        if !known.cells.contains(&trial.key.cell) {
            known.cells.push(trial.key.cell);
        }
    }
    all
}

/// `3 trials of 1 cell failed in mkfs, for example "RAID 5 xfs | small files", trial 1: …`.
pub(crate) fn lines(input: &Input) -> Vec<String> {
    let keys = input.cell_keys();
    let all = reasons(input);
    let line = |reason: &Reason<'_>| {
        format!(
            "{} of {} failed in {}, for example {}, trial {}: {}",
            count(reason.trials, "trial"),
            count(reason.cells.len(), "cell"),
            reason.failure.step,
            keys.get(&reason.first.cell).copied().unwrap_or_default(),
            reason.first.index + 1,
            reason.failure.message
        )
    };
    let mut lines: Vec<String> = all.iter().take(SHOWN_MAX).map(line).collect();
    if let more @ 1.. = all.len().saturating_sub(SHOWN_MAX) {
        lines.push(format!("{}: `raidlab report` lists all", count(more, "more reason")));
    }
    lines
}
