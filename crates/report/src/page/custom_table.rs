//! Tables in the study's own shape, for the page.

use crate::input::Input;
use crate::words::custom_table::{self, CustomTable};
use crate::words::warnings::Warnings;
use serde::Serialize;
use stats::Results;

#[derive(Serialize)]
pub(super) struct Table {
    title: String,
    source: Option<String>,
    relative_to: Option<String>,
    row_headings: Vec<String>,
    columns: Vec<Column>,
    rows: Vec<Row>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Column {
    heading: String,
    unit: String,
    has_ours: bool,
    has_published: bool,
}

#[derive(Serialize)]
struct Row {
    names: Vec<String>,
    cells: Vec<Cell>,
}

#[derive(Serialize)]
struct Cell {
    ours: String,
    is_missing: bool,
    has_ours: bool,
    has_published: bool,
    published: String,
    ratio: String,
}

pub(super) fn tables(input: &Input, results: &Results, warnings: &Warnings) -> Vec<Table> {
    custom_table::tables(input, results, warnings)
        .into_iter()
        .map(table)
        .collect()
}

fn table(table: CustomTable) -> Table {
    let row = |(place, names): (usize, &Vec<String>)| Row {
        names: names.clone(),
        cells: table.columns.iter().map(|column| cell(column, place)).collect(),
    };
    let column = |column: &custom_table::CustomColumn| Column {
        heading: column.heading.clone(),
        unit: column.unit.clone(),
        has_ours: column.has_ours,
        has_published: column.has_published,
    };
    Table {
        rows: table.rows.iter().enumerate().map(row).collect(),
        columns: table.columns.iter().map(column).collect(),
        title: table.title,
        notes: table.notes,
        source: table.source,
        relative_to: table.relative_to,
        row_headings: table.row_headings,
    }
}

fn cell(column: &custom_table::CustomColumn, place: usize) -> Cell {
    let cell = column.cells[place].clone();
    Cell {
        ours: cell.ours,
        is_missing: cell.is_missing,
        has_ours: column.has_ours,
        has_published: column.has_published,
        published: cell.published,
        ratio: cell.ratio,
    }
}
