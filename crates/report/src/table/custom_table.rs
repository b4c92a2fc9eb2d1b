//! The study's custom tables, for the terminal.

use super::{TableOptions, plain_table, right};
use crate::words::custom_table::{CustomColumn, CustomTable};
use comfy_table::{Cell, Color};

/// Title, and as many tables one below the other as the width requires.
pub(super) fn text(table: &CustomTable, simulated: bool, options: TableOptions) -> String {
    let mark = if simulated { "simulated" } else { "host" };
    let mut text = vec![format!("{}  ({mark})", table.title)];
    if let Some(source) = &table.source {
        let words = format!("published: {source}; ratio: ours to the published");
        text.push(textwrap::fill(&words, options.width.max(20)));
    }
    if let Some(row) = &table.relative_to {
        text.push(textwrap::fill(
            &format!("all as ratios to {row}"),
            options.width.max(20),
        ));
    }
    let groups: Vec<Vec<Vec<String>>> = table.columns.iter().map(|column| columns(column, mark)).collect();
    let names: Vec<Vec<String>> = (0..table.row_headings.len())
        .map(|place| row_names(table, place))
        .collect();
    let names_width: usize = names.iter().map(|column| width(column)).sum();
    let group_width = |group: &[Vec<String>]| group.iter().map(|column| width(column)).sum::<usize>();
    let mut parts = Vec::new();
    let mut place = 0;
    while place < groups.len() {
        let mut end = place + 1;
        let mut total = names_width + group_width(&groups[place]);
        while end < groups.len() && total + group_width(&groups[end]) <= options.width {
            total += group_width(&groups[end]);
            end += 1;
        }
        parts.push(one(
            &names,
            &groups[place..end],
            &table.columns[place..end],
            options.colour,
        ));
        place = end;
    }
    text.push(parts.join("\n\n"));
    text.extend(
        table
            .notes
            .iter()
            .map(|note| textwrap::fill(note, options.width.max(20))),
    );
    text.join("\n")
}

/// Width of a column: one space on each side, and one to the next column.
fn width(column: &[String]) -> usize {
    let longest = |cell: &String| cell.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    column.iter().map(longest).max().unwrap_or(0) + 3
}

fn row_names(table: &CustomTable, place: usize) -> Vec<String> {
    let heading = format!("{}\n\n", table.row_headings[place]);
    let names = table.rows.iter().map(|row| row[place].clone());
    std::iter::once(heading).chain(names).collect()
}

/// Heading and cells of the measured figures, and of published figures and ratios if there are any.
fn columns(column: &CustomColumn, mark: &str) -> Vec<Vec<String>> {
    let (heading, unit) = (&column.heading, &column.unit);
    let ours = std::iter::once(format!("{heading}\n{unit}\n{mark}"));
    let published_cells = || column.cells.iter().map(|cell| cell.published.clone());
    if !column.has_ours {
        let heading = std::iter::once(format!("{heading}\n{unit}\npublished"));
        return vec![heading.chain(published_cells()).collect()];
    }
    let mut all = vec![ours.chain(column.cells.iter().map(|cell| cell.ours.clone())).collect()];
    if column.has_published {
        let published = std::iter::once("\n\npublished".to_owned());
        all.push(published.chain(published_cells()).collect());
        let ratio = std::iter::once("\n\nratio".to_owned());
        all.push(
            ratio
                .chain(column.cells.iter().map(|cell| cell.ratio.clone()))
                .collect(),
        );
    }
    all
}

fn one(names: &[Vec<String>], groups: &[Vec<Vec<String>>], columns: &[CustomColumn], colour: bool) -> String {
    let mut table = plain_table(colour);
    let figures = || groups.iter().flatten();
    let headings = names.iter().map(|column| Cell::new(&column[0]));
    table.set_header(headings.chain(figures().map(|column| right(column[0].clone()))));
    for row in 1..names[0].len() {
        let cells = groups.iter().zip(columns).flat_map(|(group, column)| {
            let is_missing = column.cells[row - 1].is_missing;
            group.iter().enumerate().map(move |(at, cells)| {
                let cell = right(cells[row].clone());
                if colour && at == 0 && is_missing && column.has_ours {
                    cell.fg(Color::Red)
                } else {
                    cell
                }
            })
        });
        table.add_row(names.iter().map(|column| Cell::new(&column[row])).chain(cells));
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}
