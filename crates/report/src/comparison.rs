//! Comparison of two runs, for the terminal; as a page in `page`.

mod page;

pub use page::comparison_html;

use crate::figure::{number, uncertainty};
use crate::table::{TableOptions, plain_table, right};
use comfy_table::{Cell, Color};
use stats::Summary;
use stats::between::{Between, BetweenRow, Outcome};

/// One of the two runs, as named on the command line.
#[derive(Clone, Copy, Debug)]
pub struct ComparedSide<'a> {
    pub name: &'a str,
    pub is_simulated: bool,
}

/// All rows of a comparison of B with A as text, ending with a line feed.
pub fn comparison(between: &Between, [a, b]: [ComparedSide<'_>; 2], options: TableOptions) -> String {
    let mark = |side: ComparedSide<'_>| match side.is_simulated {
        true => "  (simulated disks, virtual time)",
        false => "",
    };
    let sides = format!("A: {}{}\nB: {}{}", a.name, mark(a), b.name, mark(b));
    let mut text = vec![sides, String::new()];
    text.push(textwrap::fill(&summary(between), options.width.max(20)));
    if !between.rows.is_empty() {
        text.extend([String::new(), table(&between.rows, options)]);
    }
    for (name, cells) in [("A", &between.only_first), ("B", &between.only_second)] {
        if !cells.is_empty() {
            text.push(format!("\nonly in {name}:"));
            text.extend(cells.iter().map(|cell| format!("  {cell}")));
        }
    }
    let notes = notes(&between.rows);
    text.extend(notes.first().map(|_| String::new()));
    text.extend(notes.iter().map(|note| textwrap::fill(note, options.width.max(20))));
    text.join("\n") + "\n"
}

/// `Of 8 tests B is faster in 2, slower in 1; 4 are equal within 5 %, 1 is within the noise.`
fn summary(between: &Between) -> String {
    let count = |is_it: fn(&Outcome) -> bool| between.rows.iter().filter(|row| is_it(&row.outcome)).count();
    let all = between.rows.len();
    if all == 0 {
        return "The two have no cell in common.".to_owned();
    }
    let parts = [
        (count(|one| *one == Outcome::Faster), "B is faster"),
        (count(|one| *one == Outcome::Slower), "B is slower"),
        (count(|one| matches!(one, Outcome::EqualWithin(_))), "they are equal"),
        (
            count(|one| *one == Outcome::WithinNoise),
            "the difference is within the noise",
        ),
        (count(|one| *one == Outcome::TooFewTrials), "there are too few trials"),
    ];
    let words = parts.into_iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = words.map(|(count, words)| format!("in {count} {words}")).collect();
    match all {
        1 => format!("Of 1 test {}.", words.join(", ")),
        _ => format!("Of {all} tests {}.", words.join(", ")),
    }
}

fn table(rows: &[BetweenRow], options: TableOptions) -> String {
    let mut table = plain_table(options.colour);
    let headings = ["cell", "test", "", "A", "B", "B to A", "95 %", "B is"];
    table.set_header(headings.iter().enumerate().map(|(at, heading)| match at {
        3..=6 => right((*heading).to_owned()),
        _ => Cell::new(heading),
    }));
    for row in rows {
        let verdict = Cell::new(outcome_words(row.outcome));
        let verdict = match (options.colour, row.outcome) {
            (true, Outcome::Faster) => verdict.fg(Color::Green),
            (true, Outcome::Slower) => verdict.fg(Color::Red),
            _ => verdict,
        };
        table.add_row([
            Cell::new(cell_words(row)),
            Cell::new(&row.test),
            Cell::new(row.metric.unit()),
            right(figure(row.first.as_ref())),
            right(figure(row.second.as_ref())),
            right(ratio_words(row)),
            right(interval_words(row)),
            verdict,
        ]);
    }
    table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Key of the cell; of both if they differ.
fn cell_words(row: &BetweenRow) -> String {
    match row.is_same_cell {
        true => row.first_key.clone(),
        false => format!("{} → {}", row.first_key, row.second_key),
    }
}

fn outcome_words(outcome: Outcome) -> String {
    match outcome {
        Outcome::EqualWithin(share) => format!("equal within {:.1} %", (share * 1000.0).ceil() / 10.0),
        other => other.word().to_owned(),
    }
}

fn ratio_words(row: &BetweenRow) -> String {
    row.ratio.map_or_else(String::new, |ratio| number(ratio, 3))
}

fn interval_words(row: &BetweenRow) -> String {
    row.interval.map_or_else(String::new, |interval| {
        format!("{} to {}", number(interval.low, 3), number(interval.high, 3))
    })
}

fn figure(summary: Option<&Summary>) -> String {
    let Some(summary) = summary else {
        return "–".to_owned();
    };
    let decimals = crate::figure::decimals(std::iter::once(summary));
    let uncertainty = uncertainty(summary, decimals);
    let space = if uncertainty.is_empty() { "" } else { " " };
    format!("{}{space}{uncertainty}", number(summary.median, decimals))
}

fn notes(rows: &[BetweenRow]) -> Vec<String> {
    let mut notes = Vec::new();
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
    if rows.iter().any(|row| !row.is_same_cell) {
        notes.push("→: the same stack and work; machine or kernel differ".to_owned());
    }
    notes
}
