//! The scoreboard for the terminal.

use super::{BEST, BLANKS, TableOptions, plain_table, right};
use crate::scoreboard::sentences::{self, ratio};
use crate::scoreboard::stack_facts::facts_that_differ;
use crate::scoreboard::{Column, ScoreRow, Scoreboard};
use crate::words::figure::number;
use comfy_table::{Attribute, Cell, Color};

/// Follows a ratio of which samples were excluded, or that there are reasons to doubt.
const DOUBTFUL: &str = "†";

/// As many tables as the width requires, and what the marks mean. Empty without stacks to compare.
pub(super) fn text(board: &Scoreboard, mark: &str, options: TableOptions) -> String {
    if board.rows.is_empty() {
        return String::new();
    }
    let mut columns = vec![worst(board)];
    columns.extend((0..board.columns.len()).map(|place| column(board, place)));
    columns.extend(facts_that_differ(board).into_iter().map(|(heading, facts)| {
        let mut cells = vec![heading.replace(' ', "\n")];
        cells.extend(facts);
        cells
    }));
    let longest = board
        .rows
        .iter()
        .map(|row| row.stack.chars().count())
        .max()
        .unwrap_or(0);
    let widest = columns.iter().map(|cells| width(cells)).max().unwrap_or(0);
    let label_width = longest
        .max("stack".len())
        .min(options.width.saturating_sub(widest + BLANKS).max(20));
    let heading = format!("each stack relative to the best of each test  ({mark})");
    let mut text = vec![textwrap::fill(&heading, options.width.max(20))];
    let mut tables = Vec::new();
    let mut rest = columns.as_slice();
    while !rest.is_empty() {
        let mut total = label_width + BLANKS;
        let fitting = rest.iter().take_while(|cells| {
            total += width(cells);
            total <= options.width
        });
        let count = fitting.count().max(1);
        tables.push(one(board, &rest[..count], label_width, options.colour));
        rest = &rest[count..];
    }
    text.push(tables.join("\n\n"));
    text.extend(
        notes(board)
            .iter()
            .map(|note| textwrap::fill(note, options.width.max(20))),
    );
    text.join("\n")
}

fn width(cells: &[String]) -> usize {
    let lines = cells.iter().flat_map(|cell| cell.lines());
    lines.map(|line| line.chars().count()).max().unwrap_or(0) + BLANKS
}

/// The largest loss of each stack.
fn worst(board: &Scoreboard) -> Vec<String> {
    let cells = board.rows.iter().map(|row| sentences::worst(board, row));
    let heading = sentences::worst_heading(board).replace(' ', "\n");
    std::iter::once(heading).chain(cells).collect()
}

fn column(board: &Scoreboard, place: usize) -> Vec<String> {
    let has = |is: fn(&crate::scoreboard::Score) -> bool| board.rows.iter().any(|row| is(&row.scores[place]));
    let (has_best, has_excluded) = (has(|score| score.is_best), has(|score| score.excluded > 0));
    let cell = |row: &ScoreRow| {
        let score = &row.scores[place];
        let best = match (has_best, score.is_best) {
            (false, _) => "",
            (true, true) => BEST,
            (true, false) => " ",
        };
        let doubt = match (has_excluded, score.excluded > 0) {
            (false, _) => "",
            (true, true) => DOUBTFUL,
            (true, false) => " ",
        };
        let figure = score.ratio.map_or_else(|| score.missing.to_owned(), ratio);
        match board.columns[place].test_within(score) {
            "" => format!("{figure}{best}{doubt}"),
            test => format!("{test} {figure}{best}{doubt}"),
        }
    };
    std::iter::once(heading(&board.columns[place]))
        .chain(board.rows.iter().map(cell))
        .collect()
}

/// One word a line.
fn heading(column: &Column) -> String {
    let mark = if column.is_doubtful { DOUBTFUL } else { "" };
    let name = format!("{}{mark}", column.name()).replace(' ', "\n");
    match column.not_counted() {
        Some(why) => format!("{name}\n({why})"),
        None => name,
    }
}

fn one(board: &Scoreboard, columns: &[Vec<String>], label_width: usize, colour: bool) -> String {
    let mut table = plain_table(colour);
    let headings = columns.iter().map(|cells| right(cells[0].clone()));
    table.set_header(std::iter::once(Cell::new("stack")).chain(headings));
    for (place, row) in board.rows.iter().enumerate() {
        let cells = columns.iter().map(|cells| {
            let text = &cells[place + 1];
            let cell = right(text.clone());
            match colour && text.contains(BEST) {
                true => cell.fg(Color::Green).add_attribute(Attribute::Bold),
                false => cell,
            }
        });
        let label = textwrap::fill(&row.stack, label_width);
        table.add_row(std::iter::once(Cell::new(label)).chain(cells));
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

fn notes(board: &Scoreboard) -> Vec<String> {
    let scores = || board.rows.iter().flat_map(|row| &row.scores);
    let mut notes = vec![sentences::weights(board), sentences::short_tests(board)];
    notes.retain(|note| !note.is_empty());
    if scores().any(|score| score.is_best) {
        notes.push(format!("{BEST} the fastest in this test, or not shown to be slower"));
    }
    let excluded: usize = scores().map(|score| score.excluded).sum();
    if excluded > 0 {
        notes.push(format!(
            "{DOUBTFUL} without samples that a guard excluded ({})",
            number(excluded as f64, 0)
        ));
    }
    if board.columns.iter().any(|column| column.is_doubtful) {
        notes.push(format!("{DOUBTFUL} in a heading: see the warning at this workload"));
    }
    notes
}
