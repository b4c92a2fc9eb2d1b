//! Device time used, compared with a fixed number of trials, and the number of decided claims.

use crate::input::{Input, TrialState};
use crate::words::figure::nanoseconds;

use std::collections::HashMap;
use study::CellId;

/// Typical number of repetitions in benchmarks with a fixed number.
const FIXED_TRIALS: f64 = 10.0;

/// Time of the completed trials, and of ten of each cell at the same mean; `None` before the first.
///
/// Time is that of the trial's machine (lab: virtual), including the stack's preparation.
pub(crate) fn note(input: &Input) -> Option<String> {
    let mut cells: HashMap<CellId, (f64, f64)> = HashMap::new();
    for trial in input.trials.iter().filter(|trial| trial.state == TrialState::Done) {
        let (sum, count) = cells.entry(trial.key.cell).or_default();
        *sum += trial.machine_ns.or(trial.wall_ns)? as f64;
        *count += 1.0;
    }
    let used: f64 = cells.values().map(|(sum, _)| sum).sum();
    let fixed: f64 = cells.values().map(|(sum, count)| sum / count * FIXED_TRIALS).sum();
    (used > 0.0).then(|| {
        format!(
            "{} of {}device time; {FIXED_TRIALS} trials of each cell would take {} of it{}",
            nanoseconds(used as u64),
            if input.is_simulated() { "virtual " } else { "" },
            nanoseconds(fixed as u64),
            decided(input)
        )
    })
}

/// Empty without claims that the study tests.
fn decided(input: &Input) -> String {
    let judged = stats::judge_claims(&input.plan, &input.samples);
    let words: Vec<&str> = judged.iter().map(|claim| claim.verdict.word()).collect();
    let count = |wanted: &[&str]| words.iter().filter(|word| wanted.contains(word)).count();
    match (count(&["supported", "refuted"]), count(&["undecided"])) {
        (0, 0) => String::new(),
        (decided, open) => format!("; {decided} of {} claims are decided", decided + open),
    }
}
