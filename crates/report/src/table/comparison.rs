//! Comparison of two runs, for the terminal.

use super::{TableOptions, plain_table, right};
use crate::words::comparison::{
    ComparedSide, cell_words, differences, figure, interval_words, notes, outcome_words, ratio_words, summary,
};
use comfy_table::{Cell, Color};
use stats::run_comparison::{ComparisonOutcome, ComparisonRow, RunComparison};

/// The headings and the rule below them.
const HEADING_LINES: usize = 2;

/// All rows of a comparison of B with A as text, ending with a line feed.
pub fn comparison(comparison: &RunComparison, [a, b]: [ComparedSide<'_>; 2], options: TableOptions) -> String {
    let mark = |side: ComparedSide<'_>| match side.is_simulated {
        true => "  (simulated disks, virtual time)",
        false => "",
    };
    let sides = format!("A: {}{}\nB: {}{}", a.name, mark(a), b.name, mark(b));
    let mut text = vec![sides, String::new()];
    text.push(textwrap::fill(&summary(comparison), options.width.max(20)));
    text.extend(
        differences(comparison)
            .iter()
            .map(|line| textwrap::fill(line, options.width.max(20))),
    );
    if !comparison.rows.is_empty() {
        text.extend([String::new(), table(&comparison.rows, options)]);
    }
    for (name, cells) in [("A", &comparison.only_first), ("B", &comparison.only_second)] {
        if !cells.is_empty() {
            text.push(format!("\nonly in {name}:"));
            text.extend(cells.iter().map(|cell| format!("  {cell}")));
        }
    }
    let notes = notes(comparison);
    text.extend(notes.first().map(|_| String::new()));
    text.extend(notes.iter().map(|note| textwrap::fill(note, options.width.max(20))));
    text.join("\n") + "\n"
}

/// With the cell in the first column; if that is too wide, with each cell above its rows.
fn table(rows: &[ComparisonRow], options: TableOptions) -> String {
    let is_narrow = |line: &String| line.chars().count() <= options.width;
    if lines(rows, TableOptions::plain(options.width), true)
        .iter()
        .all(is_narrow)
    {
        return lines(rows, options, true).join("\n");
    }
    let mut lines = lines(rows, options, false).into_iter();
    let indented = |line: String| format!("  {line}");
    let mut text: Vec<String> = lines.by_ref().take(HEADING_LINES).map(indented).collect();
    let mut last = String::new();
    for (row, line) in rows.iter().zip(lines) {
        let cell = cell_words(row);
        if cell != last {
            text.push(textwrap::fill(&cell, options.width.max(20)));
            last = cell;
        }
        text.push(indented(line));
    }
    text.join("\n")
}

fn lines(rows: &[ComparisonRow], options: TableOptions, has_cell: bool) -> Vec<String> {
    let mut table = plain_table(options.colour);
    let headings = ["cell", "test", "", "A", "B", "B to A", "95 %", "B is"];
    let header = headings.iter().enumerate().map(|(at, heading)| match at {
        3..=6 => right((*heading).to_owned()),
        _ => Cell::new(heading),
    });
    table.set_header(header.skip(usize::from(!has_cell)));
    for row in rows {
        let verdict = Cell::new(outcome_words(row.outcome));
        let verdict = match (options.colour, row.outcome) {
            (true, ComparisonOutcome::Faster) => verdict.fg(Color::Green),
            (true, ComparisonOutcome::Slower) => verdict.fg(Color::Red),
            _ => verdict,
        };
        let cells = [
            Cell::new(cell_words(row)),
            Cell::new(&row.test),
            Cell::new(row.metric.unit()),
            right(figure(row.first.as_ref())),
            right(figure(row.second.as_ref())),
            right(ratio_words(row)),
            right(interval_words(row)),
            verdict,
        ];
        table.add_row(cells.into_iter().skip(usize::from(!has_cell)));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}
