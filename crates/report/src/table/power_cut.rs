//! Power cuts for the terminal: a verdict for each stack.

use super::{TableOptions, plain_table, right};
use crate::words::power_cut::{CutRow, PowerCuts};
use comfy_table::{Cell, Color};

/// Width of the verdict and six columns of counts, next to the labels of stacks.
const OTHER_COLUMNS: usize = 96;
const LABEL_MIN: usize = 20;

pub(super) fn text(cuts: &PowerCuts, options: TableOptions) -> String {
    if options.width < OTHER_COLUMNS + LABEL_MIN {
        return narrow(cuts, options);
    }
    let mut table = plain_table(options.colour);
    let headings = ["stack", "after a power cut"].map(Cell::new).into_iter();
    let counts = std::iter::once("cuts").chain(cuts.headings.iter().map(String::as_str));
    table.set_header(headings.chain(counts.map(|heading| right(heading.to_owned()))));
    let label_width = options.width - OTHER_COLUMNS;
    for row in &cuts.rows {
        let verdict = Cell::new(words(row));
        let verdict = match (options.colour, row.is_bad || row.is_missing) {
            (true, true) => verdict.fg(Color::Red),
            _ => verdict,
        };
        let cells = [
            Cell::new(textwrap::fill(&row.stack, label_width)),
            verdict,
            right(row.states.clone()),
        ];
        let counts = row.counts.iter().map(|count| right(count.figure.clone()));
        table.add_row(cells.into_iter().chain(counts));
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

fn words(row: &CutRow) -> String {
    match row.limit.as_str() {
        "" => row.verdict.clone(),
        limit => format!("{} ({limit})", row.verdict),
    }
}

/// A few lines for each stack.
fn narrow(cuts: &PowerCuts, options: TableOptions) -> String {
    let fill = |line: &str, indent: &'static str| {
        let wrapping = textwrap::Options::new(options.width.max(20));
        textwrap::fill(line, wrapping.initial_indent(indent).subsequent_indent("    "))
    };
    let lines = cuts.rows.iter().flat_map(|row| {
        let mut lines = vec![fill(&row.stack, ""), fill(&words(row), "  ")];
        let counts: Vec<String> = cuts
            .headings
            .iter()
            .zip(&row.counts)
            .filter(|(_, count)| count.is_bad)
            .map(|(heading, count)| format!("{heading}: {}", count.figure))
            .collect();
        if !row.is_missing {
            let of = format!("{} cuts", row.states);
            let all: Vec<String> = std::iter::once(of).chain(counts).collect();
            lines.push(fill(&all.join(", "), "  "));
        }
        lines
    });
    lines.collect::<Vec<_>>().join("\n")
}
