//! The first lines of a report: what is missing, what was lost in power cuts, and which stack to build.

use super::{Advice, Scoreboard, sentences, stack_facts};
use crate::input::Input;
use crate::words;
use crate::words::figure::RateUnit;
use crate::words::imported_against_own;
use crate::words::power_cut::{self, CutRow, PowerCuts};
use stats::Results;

/// Sentence by sentence, the most important first. Never empty.
pub(crate) fn verdict_sentences(
    input: &Input,
    results: &Results,
    board: &Scoreboard,
    rates: RateUnit,
) -> Vec<String> {
    let cuts = power_cut::power_cuts(input, results);
    let mut verdict = sentences::failures_and_guards(input);
    if !cuts.is_empty() {
        let rows: Vec<&[CutRow]> = cuts.iter().map(|cuts: &PowerCuts| cuts.rows.as_slice()).collect();
        verdict.push(power_cut::summary(&rows));
    }
    let rebuilds = stack_facts::rebuilds_of_one_stack(input, results);
    let pairs = imported_against_own::pairs(input, results, rates);
    // One stack next to an import is compared with that.
    let is_compared = board.advice == Advice::NothingToCompare && !pairs.is_empty();
    if rebuilds.is_none() && !is_compared && (cuts.is_empty() || !board.rows.is_empty()) {
        verdict.extend(board.by_kernel.clone());
        verdict.push(sentences::sentence(input, board, rates));
        verdict.extend(words::appended_log(input));
    }
    verdict.extend(rebuilds.or_else(|| stack_facts::rebuilds_of_stacks(input, board)));
    verdict.extend(imported_against_own::sentence(input, results, &pairs));
    verdict
}

/// The verdict as one text, for exported figures.
pub fn verdict(input: &Input, results: &Results, board: &Scoreboard) -> String {
    verdict_sentences(input, results, board, RateUnit::MiB).join(" ")
}
