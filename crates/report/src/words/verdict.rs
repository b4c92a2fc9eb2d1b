//! The verdict on a run, sentence by sentence, the most important first.

mod speed;

pub use speed::speed_verdict;

use crate::input::Input;
use crate::words::power_cut::{self, CutRow, PowerCuts};
use stats::Results;

/// Speeds, and what was lost in power cuts. Never empty.
pub(crate) fn sentences(input: &Input, results: &Results) -> Vec<String> {
    let cuts = power_cut::power_cuts(input, results);
    let others = power_cut::others(results);
    let mut sentences = Vec::new();
    if !cuts.is_empty() {
        let rows: Vec<&[CutRow]> = cuts.iter().map(|cuts: &PowerCuts| cuts.rows.as_slice()).collect();
        sentences.push(power_cut::summary(&rows));
    }
    if cuts.is_empty() || !others.workloads.is_empty() {
        sentences.extend(speed::sentences(&others));
    }
    sentences
}
