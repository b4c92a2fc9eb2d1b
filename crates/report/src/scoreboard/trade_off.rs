//! Where no stack is good in every test: which is the best for what.

use super::sentences::{weights, worst};
use super::{Choice, Score, ScoreRow, Scoreboard};

pub(super) fn none_good(board: &Scoreboard, choice: &Choice) -> String {
    let reached = choice
        .leaders
        .first()
        .map_or_else(String::new, |&row| worst(board, &board.rows[row]));
    match weights(board).is_empty() {
        true => format!(
            "No stack is good in every test: each falls to {reached} of the best or less in one of them. Choose by the \
             test that matters."
        ),
        false => format!(
            "No stack is good in every test that counts: by the weights of the study each falls to {reached} of the best \
             or less in one of them. Choose by the test that matters."
        ),
    }
}

/// Few rows that are the best of all tests that count, each with the names of its tests: of those that are not shown to be slower
/// in a test the one of which that is true in most tests, then the one that loses least elsewhere.
pub(crate) fn best_of_tests(board: &Scoreboard) -> Vec<(usize, Vec<String>)> {
    // By its interval alone it may be slower: then it is not named for the test.
    let may_be_equal = |score: &Score| score.interval.as_ref().is_none_or(|interval| interval.high >= 1.0);
    let is_best = |row: &ScoreRow, column: usize| {
        let score = &row.scores[column];
        let is_first = (score.is_best && may_be_equal(score)) || score.ratio == Some(1.0);
        is_first && row.may_be_built()
    };
    let counted: Vec<usize> = (0..board.columns.len())
        .filter(|&column| board.columns[column].weight > 0)
        .collect();
    let tests_of = |row: usize| {
        let row = &board.rows[row];
        counted.iter().filter(|&&column| is_best(row, column)).count()
    };
    let tests_of: Vec<usize> = (0..board.rows.len()).map(tests_of).collect();
    let mut lines: Vec<(usize, Vec<usize>)> = Vec::new();
    for &column in &counted {
        // Rows are sorted by their largest loss: of equals the first.
        let candidates = (0..board.rows.len())
            .rev()
            .filter(|&row| is_best(&board.rows[row], column));
        let Some(best) = candidates.max_by_key(|&row| tests_of[row]) else {
            continue;
        };
        match lines.iter_mut().find(|(row, _)| *row == best) {
            Some((_, columns)) => columns.push(column),
            None => lines.push((best, vec![column])),
        }
    }
    let named = |(row, columns): (usize, Vec<usize>)| (row, names(board, &counted, &columns));
    lines.into_iter().map(named).collect()
}

/// The names of these columns; a workload of which all that count are there has one.
fn names(board: &Scoreboard, counted: &[usize], columns: &[usize]) -> Vec<String> {
    let workload = |column: usize| &board.columns[column].workload;
    let mut names: Vec<String> = Vec::new();
    for &column in columns {
        let mut of_workload = counted.iter().filter(|&&other| workload(other) == workload(column));
        let name = match of_workload.all(|other| columns.contains(other)) {
            true => workload(column).clone(),
            false => board.columns[column].name(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoreboard::Advice;
    use crate::scoreboard::choice::tests::{board, column, row, score};

    fn with(stack: &str, ratios: [f64; 4]) -> ScoreRow {
        let mut of = row(stack, 1.0, 0.0, (3.0, 1));
        of.scores = ratios
            .map(|ratio| {
                let mut score = score(ratio, 0.0);
                // Up to here no difference is shown.
                score.is_best = ratio > 0.98;
                if score.is_best {
                    score.interval = None;
                }
                score
            })
            .to_vec();
        of
    }

    fn named(rows: &[ScoreRow]) -> Vec<(String, Vec<String>)> {
        let columns = [
            ("photos", "write", 1),
            ("photos", "read", 1),
            ("documents", "read", 1),
            ("documents", "delete", 0),
        ];
        let columns = columns.map(|(workload, test, weight)| column(workload, test, weight));
        let board = board(columns.to_vec(), rows, Advice::NothingToCompare);
        let stack = |(row, names): (usize, Vec<String>)| (board.rows[row].stack.clone(), names);
        best_of_tests(&board).into_iter().map(stack).collect()
    }

    /// A third stack was named for writing photos, by a hundredth that scatter explains, which reads them at less than half the
    /// rate of the one that was named for that; and one for a test of a tenth of a second.
    #[test]
    fn issue_39_a1_few_stacks_are_named_for_the_tests_that_count() {
        let rows = [
            with("RAID 5 ext4", [0.99, 0.43, 0.26, 0.5]),
            with("RAID 5 xfs", [1.0, 1.0, 0.16, 0.67]),
            with("btrfs", [0.69, 0.41, 1.0, 0.9]),
            with("RAID 10 ext4", [0.5, 0.34, 0.25, 1.0]),
        ];
        let named_for =
            |stack: &str, names: &[&str]| (stack.to_owned(), names.iter().map(ToString::to_string).collect());
        assert_eq!(
            named(&rows),
            [named_for("RAID 5 xfs", &["photos"]), named_for("btrfs", &["documents"])]
        );
        // Another one reads them faster.
        let mut rows = rows;
        rows[0] = with("RAID 5 ext4", [0.9, 0.43, 0.26, 0.5]);
        rows[2] = with("btrfs", [0.69, 1.0, 1.0, 0.9]);
        rows[1] = with("RAID 5 xfs", [1.0, 0.5, 0.16, 0.67]);
        assert_eq!(
            named(&rows),
            [
                named_for("RAID 5 xfs", &["photos write"]),
                named_for("btrfs", &["photos read", "documents"])
            ]
        );
    }
}
