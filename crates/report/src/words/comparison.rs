//! Words of a comparison of two runs, for the page and the terminal.

use super::figure::{decimals, number, uncertainty};
use stats::Summary;
use stats::run_comparison::{ComparisonOutcome, ComparisonRow, Names, RunComparison};

/// One of the two runs, as named on the command line.
#[derive(Clone, Copy, Debug)]
pub struct ComparedSide<'a> {
    pub name: &'a str,
    pub is_simulated: bool,
}

/// `8 tests: B is faster in 2, B is slower in 1, equal in 4, not shown to differ in 1.`
pub(crate) fn summary(comparison: &RunComparison) -> String {
    let count =
        |is_it: fn(&ComparisonOutcome) -> bool| comparison.rows.iter().filter(|row| is_it(&row.outcome)).count();
    let all = comparison.rows.len();
    if all == 0 {
        return "The two have no cell in common.".to_owned();
    }
    let parts = [
        (count(|one| *one == ComparisonOutcome::Faster), "B is faster"),
        (count(|one| *one == ComparisonOutcome::Slower), "B is slower"),
        (count(|one| matches!(one, ComparisonOutcome::EqualWithin(_))), "equal"),
        (count(|one| *one == ComparisonOutcome::NotShown), "not shown to differ"),
        (count(|one| *one == ComparisonOutcome::TooFewTrials), "too few trials"),
    ];
    let words = parts.into_iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = words
        .map(|(count, words)| match count {
            _ if all == 1 => words.to_owned(),
            _ if count == all => format!("{words} in all"),
            _ => format!("{words} in {count}"),
        })
        .collect();
    format!("{}: {}.", study::wording::count(all, "test"), words.join(", "))
}

/// What else than trials differs between the two, a line each; without pairs, why there are none.
pub(crate) fn differences(comparison: &RunComparison) -> Vec<String> {
    const NAMED_MAX: usize = 8;
    if comparison.rows.is_empty() && comparison.names.is_none() {
        return vec![
            "Cells are compared if their workloads are the same, and if every setting that is an axis of one run has the same value \
             in both."
                .to_owned(),
        ];
    }
    let mut lines: Vec<String> = comparison.differences.iter().take(NAMED_MAX).cloned().collect();
    if comparison.differences.len() > NAMED_MAX {
        lines.push(format!(
            "{} more settings differ",
            comparison.differences.len() - NAMED_MAX
        ));
    }
    lines
}

/// How imported results that have no partner are to be named.
fn naming(names: &Names) -> String {
    const NAMED_MAX: usize = 6;
    let listed = |names: &[String]| {
        let shown: Vec<String> = names.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
        match names.len() - shown.len() {
            0 => shown.join(", "),
            more => format!("{} and {more} more", shown.join(", ")),
        }
    };
    let option =
        |option: &str, names: &[String]| (!names.is_empty()).then(|| format!("`{option}` ({})", listed(names)));
    let others = [option("--workload", &names.workloads), option("--test", &names.tests)];
    let others: Vec<String> = others.into_iter().flatten().collect();
    format!(
        "Imported results are compared with the cell of the same stack and test: import them again with `--stack` ({}){}.",
        listed(&names.stacks),
        match others.is_empty() {
            true => String::new(),
            false => format!(", and where the names differ with {}", others.join(" and ")),
        }
    )
}

/// Key of the cell; of both if they differ.
pub(crate) fn cell_words(row: &ComparisonRow) -> String {
    match row.is_same_cell {
        true => row.first_key.clone(),
        false => format!("{} → {}", row.first_key, row.second_key),
    }
}

pub(crate) fn outcome_words(outcome: ComparisonOutcome) -> String {
    match outcome {
        ComparisonOutcome::EqualWithin(share) => format!("equal within {:.1} %", (share * 1000.0).ceil() / 10.0),
        other => other.word().to_owned(),
    }
}

pub(crate) fn ratio_words(row: &ComparisonRow) -> String {
    row.ratio.map_or_else(String::new, |ratio| number(ratio, 3))
}

pub(crate) fn interval_words(row: &ComparisonRow) -> String {
    row.interval.map_or_else(String::new, |interval| {
        format!("{} to {}", number(interval.low, 3), number(interval.high, 3))
    })
}

pub(crate) fn figure(summary: Option<&Summary>) -> String {
    let Some(summary) = summary else {
        return "–".to_owned();
    };
    let decimals = decimals(std::iter::once(summary));
    let uncertainty = uncertainty(summary, decimals);
    let space = if uncertainty.is_empty() { "" } else { " " };
    format!("{}{space}{uncertainty}", number(summary.median, decimals))
}

pub(crate) fn notes(comparison: &RunComparison) -> Vec<String> {
    let rows = &comparison.rows;
    let mut notes = Vec::new();
    notes.extend(comparison.names.as_ref().map(naming));
    if rows.iter().any(|row| row.ratio.is_some()) {
        notes.push("B to A above 1: B is better; for times, lower is better".to_owned());
    }
    if rows.iter().filter(|row| row.ratio.is_some()).count() > 1 {
        notes.push(
            "the interval is that of its row alone; what B is, is corrected for the number of rows (Holm)"
                .to_owned(),
        );
    }
    if rows.iter().any(|row| row.by_seed) {
        notes.push(
            "trials with the same seed did the same work on the same files and are compared pairwise".to_owned(),
        );
    }
    if rows.iter().any(|row| row.ratio.is_some() && !row.by_seed) {
        notes.push("without common seeds the two are compared as a whole".to_owned());
    }
    let is_of_medians = |row: &ComparisonRow| row.ratio.is_some() && row.interval.is_none();
    if rows.iter().any(is_of_medians) {
        notes.push(
            "a ratio without an interval is that of the medians: too few trials to know its error".to_owned(),
        );
    }
    if rows.iter().any(|row| !row.is_same_cell) {
        notes.push(
            "→: paired by the names of stack and test; other settings differ, and what an imported figure was measured with is \
             not checked"
                .to_owned(),
        );
    }
    notes
}
