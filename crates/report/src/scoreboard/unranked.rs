//! Stacks that are not ranked because too few of their trials count: they may be better than the one that is named.

use super::sentences::{NAMED_MAX, figures, test_name};
use super::stack_facts::{is_unreal, names_processor};
use super::{Score, ScoreRow, Scoreboard};
use crate::input::Input;
use crate::words::figure::{RateUnit, count, number};
use crate::words::listed;
use stats::{Results, TRIALS_MIN};
use std::collections::HashSet;
use study::CellId;

/// Results without stacks of a processor that no machine has; `None` if there are no such stacks.
pub(super) fn without_unreal(input: &Input) -> Option<Results> {
    let names_processor = names_processor(input);
    let unreal: HashSet<CellId> = input
        .plan
        .cells
        .iter()
        .filter(|cell| is_unreal(cell, names_processor))
        .map(|cell| cell.id)
        .collect();
    let real = || {
        input
            .samples
            .iter()
            .filter(|sample| !unreal.contains(&sample.trial.cell))
    };
    let all_stacks = input.part.as_ref().map_or(0, |part| part.all_stacks);
    (!unreal.is_empty()).then(|| stats::judge_part(&input.plan, &real().cloned().collect::<Vec<_>>(), all_stacks))
}

/// Why they have no row.
pub(super) const fn unreal(board: &Scoreboard) -> &'static str {
    match board.leaves_unreal_out {
        true => " Stacks with an infinite processor are not among them: no machine has one.",
        false => "",
    }
}

/// A stack that is not ranked and has this many times the figure of the best one that is.
const AHEAD_MIN: f64 = 1.1;

/// Stacks with too few trials that count in a test, or with none because guards excluded them: they may be better than the
/// one that is named. With a space before it; empty if there are none.
pub(super) fn unranked(board: &Scoreboard) -> String {
    let rows = rows(board);
    let names: Vec<&str> = rows.clone().map(|row| row.stack.as_str()).collect();
    let excluded: usize = rows.flat_map(|row| &row.scores).map(|score| score.excluded).sum();
    let shown: Vec<&str> = names.iter().take(NAMED_MAX).copied().collect();
    let reason = match excluded {
        0 => String::new(),
        excluded => format!(" (guards excluded {})", count(excluded, "sample")),
    };
    match (names.as_slice(), names.len() - shown.len()) {
        ([], _) => String::new(),
        (_, 0) => format!(
            " Not ranked, because too few trials count{reason}: {}.",
            listed(&shown, "and")
        ),
        (_, more) => format!(
            " Not ranked, because too few trials count{reason}: {} and {more} more.",
            shown.join(", ")
        ),
    }
}

fn rows(board: &Scoreboard) -> impl Iterator<Item = &ScoreRow> + Clone {
    // All trials of a test may have been excluded.
    let lost_some = |row: &ScoreRow| row.scores.iter().any(|score| score.excluded > 0);
    let is_unranked =
        move |row: &&ScoreRow| (row.worst.is_some() || lost_some(row)) && !row.is_ranked && !row.is_imported;
    board.rows.iter().filter(is_unranked)
}

/// A test in which a stack that is not ranked is ahead of all that are.
struct Lead<'a> {
    row: &'a ScoreRow,
    column: usize,
    /// With the best ranked stack in place of the best.
    score: Score,
    /// How many times as good it is.
    times: f64,
}

/// The one that is farthest ahead of the best ranked stack of a test that counts, and loses less in its worst test than
/// every ranked stack does.
fn farthest_ahead(board: &Scoreboard) -> Option<Lead<'_>> {
    let worst = |row: &ScoreRow| row.weighted_ratio(&board.columns);
    let ranked = || board.rows.iter().filter(|row| row.is_ranked && row.may_be_built());
    let reached = ranked().filter_map(worst).fold(0.0, f64::max);
    let may_lead = |row: &&ScoreRow| row.may_be_built() && worst(row).is_some_and(|own| own > reached);
    let lead = |row, column: usize, score: &Score| {
        let ratio = |score: &&Score| score.ratio.unwrap_or(0.0);
        let of_ranked = ranked().map(|row| &row.scores[column]);
        let second = of_ranked.max_by(|one, other| ratio(one).total_cmp(&ratio(other)))?;
        Some(Lead {
            row,
            column,
            times: score.ratio? / second.ratio?,
            score: Score {
                best: second.figure,
                seconds: score
                    .seconds
                    .zip(second.seconds)
                    .map(|((own, _), (best, _))| (own, best)),
                ..score.clone()
            },
        })
    };
    let leads = rows(board).filter(may_lead).flat_map(|row| {
        let counted = row.scores.iter().enumerate().zip(&board.columns);
        counted
            .filter(|(_, column)| column.weight > 0)
            .filter_map(move |((column, score), _)| lead(row, column, score))
    });
    leads
        .filter(|lead| lead.times >= AHEAD_MIN)
        .max_by(|one, other| one.times.total_cmp(&other.times))
}

pub(super) fn is_behind_unranked(board: &Scoreboard) -> bool {
    farthest_ahead(board).is_some()
}

/// The first words where a stack that is not ranked has better figures than those that are, with a space after them.
pub(super) fn ahead(board: &Scoreboard, rates: RateUnit) -> String {
    let Some(lead) = farthest_ahead(board) else {
        return String::new();
    };
    format!(
        "{} may be the best: in {} it is {} times as good as the best ranked stack ({}), but too few of its trials count. ",
        lead.row.stack,
        test_name(board, lead.column, &lead.score),
        number(lead.times, 1),
        figures(&lead.score, rates)
    )
}

/// Why no stack is recommended, where trials are too few to compare.
pub(super) fn too_few(board: &Scoreboard) -> String {
    let scores = || board.rows.iter().flat_map(|row| row.scores.iter().enumerate());
    let excluded: usize = scores().map(|(_, score)| score.excluded).sum();
    let lost_some = |row: &ScoreRow| row.scores.iter().any(|score| score.excluded > 0);
    if excluded == 0 || !rows(board).all(lost_some) {
        return format!(
            "Too few trials to recommend a stack: at least {TRIALS_MIN} of each are needed to show a difference."
        );
    }
    let is_of = |column: usize| scores().any(|(own, score)| own == column && score.excluded > 0);
    let tests = (0..board.columns.len()).filter(|column| is_of(*column));
    let tests: Vec<String> = tests.map(|column| board.columns[column].name()).collect();
    let shown: Vec<&str> = tests.iter().take(NAMED_MAX).map(String::as_str).collect();
    format!(
        "Too few trials count to recommend a stack: guards excluded {} of {} (why stands below the table), and at least \
         {TRIALS_MIN} of each are needed to show a difference.",
        count(excluded, "sample"),
        listed(&shown, "and")
    )
}
