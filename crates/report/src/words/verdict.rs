//! The first lines of a report: what is missing, what was lost in power cuts, and which stack to build.

use crate::input::Input;
use crate::scoreboard::Scoreboard;
use crate::words::figure::RateUnit;
use crate::words::power_cut::{self, CutRow, PowerCuts};
use crate::words::scoreboard;
use stats::Results;

/// Sentence by sentence, the most important first. Never empty.
pub(crate) fn sentences(input: &Input, results: &Results, board: &Scoreboard, rates: RateUnit) -> Vec<String> {
    let cuts = power_cut::power_cuts(input, results);
    let mut sentences = scoreboard::trouble(input);
    if !cuts.is_empty() {
        let rows: Vec<&[CutRow]> = cuts.iter().map(|cuts: &PowerCuts| cuts.rows.as_slice()).collect();
        sentences.push(power_cut::summary(&rows));
    }
    if cuts.is_empty() || !board.rows.is_empty() {
        sentences.push(scoreboard::sentence(input, board, rates));
    }
    sentences
}

/// The verdict as one text, for exported figures.
pub fn verdict(input: &Input, results: &Results, board: &Scoreboard) -> String {
    sentences(input, results, board, RateUnit::MiB).join(" ")
}
