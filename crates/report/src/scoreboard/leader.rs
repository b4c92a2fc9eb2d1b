//! What the one stack that is recommended is ahead in.

use super::sentences::{NAMED_MAX, counted_tests, figures, percent, test_name, weights, worst_name};
use super::{Score, ScoreRow, Scoreboard};
use crate::words::figure::{RateUnit, number};

/// A loss in a test that does not count is named from here on.
const LOSS_SHOWN: f64 = 0.9;

/// `is the fastest in every test.`, or where it is, after the name of the stack.
pub(super) fn leads(board: &Scoreboard, row: &ScoreRow, rates: RateUnit) -> String {
    let (Some(column), Some(score)) = (row.worst, row.worst_score()) else {
        return String::new();
    };
    let ratio = score.ratio.unwrap_or(0.0);
    let counted: Vec<usize> = (0..board.columns.len())
        .filter(|&column| board.columns[column].weight > 0)
        .collect();
    let tests = counted_tests(board);
    let is_first = |&column: &usize| row.scores[column].is_first || row.scores[column].ratio == Some(1.0);
    if counted.iter().all(is_first) && ratio > 0.9 {
        let others = || {
            board
                .rows
                .iter()
                .filter(|other| other.stack != row.stack && !other.is_imported)
        };
        let is_alone = |&&column: &&usize| others().all(|other| !other.scores[column].is_first);
        let alone: Vec<usize> = counted.iter().filter(is_alone).copied().collect();
        let led = match alone.as_slice() {
            all if all.len() == counted.len() => format!("is the fastest in {tests}."),
            [] => {
                let tests = tests.replacen("every", "any", 1);
                format!("is not shown to be slower than another stack in {tests}.")
            }
            some => {
                let names = some
                    .iter()
                    .take(NAMED_MAX)
                    .map(|&column| ahead_of_next(board, row, column, rates));
                let names: Vec<String> = names.collect();
                format!(
                    "is the fastest in {}{}; in the other tests no stack is shown to be faster{}.",
                    names.join(", "),
                    match some.len() - names.len() {
                        0 => String::new(),
                        more => format!(" and {more} more"),
                    },
                    possible(&others().collect::<Vec<_>>(), row, &counted, &alone)
                )
            }
        };
        return match behind_in_uncounted_tests(board, row, rates) {
            Some(test) => format!("{led} Not so in a test that does not count: {test}."),
            None => led,
        };
    }
    let name = worst_name(board, column, score, rates);
    if !weights(board).is_empty() {
        return format!("loses least by the weights of the study ({}; {name}).", percent(ratio));
    }
    if ratio >= 0.9 {
        return format!("is within {} of the best in {tests} ({name}).", percent(1.0 - ratio));
    }
    format!(
        "loses least: in {tests} it reaches {} of the best or more ({name}).",
        percent(ratio)
    )
}

/// `, but a factor of 1.8 is possible`, between the stack and others in tests in which it is not alone ahead; empty if that is not known.
fn possible(others: &[&ScoreRow], row: &ScoreRow, counted: &[usize], alone: &[usize]) -> String {
    let tied = counted.iter().filter(|column| !alone.contains(column));
    let scores = tied.flat_map(|&column| others.iter().chain([&row]).map(move |other| &other.scores[column]));
    let factors = scores.filter(|score| score.is_first).filter_map(|score| score.interval);
    let factors = factors.map(|interval| interval.high.max(1.0 / interval.low));
    match factors.fold(1.0, f64::max) {
        most if most < 1.05 || !most.is_finite() => String::new(),
        most => format!(", but a factor of {} is possible", number(most, 1)),
    }
}

/// `large files read (472 against 303 MiB/s)`, of the stack that comes next.
fn ahead_of_next(board: &Scoreboard, row: &ScoreRow, column: usize, rates: RateUnit) -> String {
    let others = board
        .rows
        .iter()
        .filter(|other| other.stack != row.stack && !other.is_imported);
    let ratio = |score: &Score| score.ratio.unwrap_or(0.0);
    let scores = others
        .map(|other| &other.scores[column])
        .filter(|score| score.ratio.is_some());
    let name = board.columns[column].name();
    match scores.max_by(|one, other| ratio(one).total_cmp(&ratio(other))) {
        Some(next) => {
            let ahead = Score {
                figure: next.best,
                best: next.figure,
                seconds: next.seconds.map(|(own, best)| (best, own)),
                ..next.clone()
            };
            format!("{name} ({})", figures(&ahead, rates))
        }
        None => name,
    }
}

/// The largest loss of a stack in tests that do not count, if it is one: `pg wal, 29,000 against 37,900 op/s`.
pub(super) fn behind_in_uncounted_tests(board: &Scoreboard, row: &ScoreRow, rates: RateUnit) -> Option<String> {
    let scores = row.scores.iter().enumerate();
    let short = scores.filter(|(column, score)| board.columns[*column].weight == 0 && !score.is_best);
    let ratio = |(_, score): &(usize, &Score)| score.ratio.unwrap_or(1.0);
    let worst = short.min_by(|one, other| ratio(one).total_cmp(&ratio(other)));
    let (column, score) = worst.filter(|score| ratio(score) < LOSS_SHOWN)?;
    Some(format!(
        "{}, {}",
        test_name(board, column, score),
        figures(score, rates)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::Advice;
    use super::super::choice::tests::{board, column, row, score};
    use super::*;

    fn with(stack: &str, ratios: [(f64, bool); 2]) -> ScoreRow {
        let scores = ratios.map(|(ratio, is_first)| Score {
            figure: 472.0 * ratio,
            best: 472.0,
            is_first,
            ..score(ratio, 0.1)
        });
        ScoreRow {
            scores: scores.to_vec(),
            worst: Some(0),
            ..row(stack, 1.0, 0.0, (3.0, 1))
        }
    }

    /// "Within 2.4 % of the best in every test" was said of a kernel that is 1.6 times as fast in one, and not shown to be slower in any.
    #[test]
    fn issue_39_the_leader_is_ahead_where_that_is_shown() {
        let said = |own: [(f64, bool); 2], other: [(f64, bool); 2]| {
            let rows = [with("Linux 7.3", own), with("Linux 6.12", other)];
            let columns = vec![column("mail", "mixed", 1), column("large files", "read", 1)];
            let board = board(columns, &rows, Advice::NothingToCompare);
            leads(&board, &board.rows[0], RateUnit::MiB)
        };
        assert_eq!(
            said([(0.976, true), (1.0, true)], [(1.0, true), (0.642, false)]),
            "is the fastest in large files read (472 against 303 ); in the other tests no stack is shown to be faster, but a factor of 1.1 is possible."
        );
        assert_eq!(
            said([(0.976, true), (1.0, true)], [(1.0, true), (0.9, true)]),
            "is not shown to be slower than another stack in any test."
        );
        assert_eq!(
            said([(1.0, true), (1.0, true)], [(0.8, false), (0.642, false)]),
            "is the fastest in every test."
        );
        assert!(
            said([(0.95, false), (1.0, true)], [(1.0, true), (0.642, false)])
                .starts_with("is within 5.0 % of the best")
        );
    }
}
