//! Stacks that are not ranked because too few of their trials count: they may be better than the one that is named.

use super::sentences::{NAMED_MAX, figures, test_name};
use super::{Score, ScoreRow, Scoreboard};
use crate::words::figure::{RateUnit, count, number};
use crate::words::listed;

/// A stack that is not ranked and has this many times the figure of the best one that is.
const AHEAD_MIN: f64 = 1.1;

/// Stacks with a figure in every test that counts, but with too few trials that count in one: they may be better than the
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
    let is_unranked = |row: &&ScoreRow| row.worst.is_some() && !row.is_ranked && !row.is_imported;
    board.rows.iter().filter(is_unranked)
}

/// The one that is farthest ahead of the best ranked stack of a test that counts, and loses less in its worst test than
/// every ranked stack does.
fn farthest_ahead(board: &Scoreboard) -> Option<(&ScoreRow, usize, &Score, f64)> {
    let worst = |row: &ScoreRow| row.weighted_ratio(&board.columns);
    let ranked = board.rows.iter().filter(|row| row.is_ranked && !row.is_unsafe);
    let reached = ranked.filter_map(worst).fold(0.0, f64::max);
    let may_lead = |row: &&ScoreRow| !row.is_unsafe && worst(row).is_some_and(|own| own > reached);
    let scores = rows(board).filter(may_lead).flat_map(|row| {
        row.scores
            .iter()
            .enumerate()
            .map(move |(column, score)| (row, column, score))
    });
    let counted =
        scores.filter(|(_, column, _)| board.columns.get(*column).is_some_and(|column| column.weight > 0));
    let with_ratio = counted.filter_map(|(row, column, score)| Some((row, column, score, score.ratio?)));
    with_ratio
        .filter(|(.., ratio)| *ratio >= AHEAD_MIN)
        .max_by(|one, other| one.3.total_cmp(&other.3))
}

pub(super) fn is_behind_unranked(board: &Scoreboard) -> bool {
    farthest_ahead(board).is_some()
}

/// The first words where a stack that is not ranked has better figures than those that are, with a space after them.
pub(super) fn ahead(board: &Scoreboard, rates: RateUnit) -> String {
    let Some((row, column, score, ratio)) = farthest_ahead(board) else {
        return String::new();
    };
    format!(
        "{} may be the best: in {} it is {} times as good as the best ranked stack ({}), but too few of its trials count. ",
        row.stack,
        test_name(board, column, score),
        number(ratio, 1),
        figures(score, rates)
    )
}
