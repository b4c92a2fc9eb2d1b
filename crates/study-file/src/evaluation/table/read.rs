//! Parses `[[table]]` of a study file to tables over the plan's cells.

use super::layout::{Candidate, differing, distinct};
use crate::evaluation::vocabulary::Vocabulary;
use crate::expand::matrix::Unit;
use crate::parse::entry::{Content, Entry};
use crate::parse::value::{Given, Value};
use crate::syntax::diagnostic::{Found, Span, enumerate, suggest};
use crate::workload_forms::WorkloadEntry;
use study::plan::{Cell, METRIC, STACK, Side};
use study::table::{Figure, TableColumn, TableRow, TableSpec};

/// Parses the tables of a study.
pub(crate) fn read_all(
    top: &Entry,
    units: &[Unit],
    workloads: &[WorkloadEntry],
    cells: &[Cell],
    found: &mut Found,
) -> Vec<TableSpec> {
    let entries = top.tables("table");
    if entries.is_empty() {
        return Vec::new();
    }
    let vocabulary = Vocabulary::of_entries(units, workloads, cells);
    let cells_are_whole = found.is_empty();
    let candidates = Candidate::all(cells);
    let mut all = Vec::new();
    for entry in entries {
        let mut reader = Reader {
            entry,
            vocabulary: &vocabulary,
            found,
        };
        let Some(shape) = reader.shape() else { continue };
        if cells_are_whole && let Some(table) = reader.expand(shape, &candidates) {
            all.push(table);
        }
    }
    all
}

/// A table as in the file.
struct Shape {
    filter: Side,
    row_axes: Vec<String>,
    columns: Columns,
}

enum Columns {
    /// A column for each point of these axes.
    Across(Vec<String>),
    Listed(Vec<TableColumn>),
}

struct Reader<'a, 'f, 's> {
    entry: &'a Entry,
    vocabulary: &'a Vocabulary,
    found: &'f mut Found<'s>,
}

impl Reader<'_, '_, '_> {
    fn shape(&mut self) -> Option<Shape> {
        let filter = self.vocabulary.filter(self.entry, self.found);
        let row_axes = self.axes("rows");
        let columns = self.columns();
        self.check_source();
        Some(Shape {
            filter: filter?,
            row_axes: row_axes.filter(|axes| !axes.is_empty())?,
            columns: columns?,
        })
    }

    /// The axes that a key names.
    fn axes(&mut self, key: &str) -> Option<Vec<String>> {
        if self.entry.is_broken(key) {
            return None;
        }
        let mut names = Vec::new();
        let mut is_sound = true;
        for given in self.entry.values(key) {
            let name = given.value.word();
            if name != STACK && !self.vocabulary.has_axis(&name) {
                let unknown = self.vocabulary.unknown_axis(&name);
                self.found.add_with_help(&given.span, unknown.message, unknown.help);
                is_sound = false;
            }
            if name == METRIC {
                let help = "write a [[table.column]] for each metric, with where = { metric = \"…\" }";
                self.found
                    .add_with_help(&given.span, format!("`{key}` cannot contain `metric`"), help);
                is_sound = false;
            }
            names.push(name);
        }
        is_sound.then_some(names)
    }

    fn columns(&mut self) -> Option<Columns> {
        let entry = self.entry;
        match (entry.field("columns"), entry.field("column")) {
            (Some(_), Some(column)) => {
                let message = "a table has `columns` or `column`, not both";
                self.found
                    .add_with_help(&column.span, message, "leave one of the two out");
                None
            }
            (None, None) => {
                let help = "write columns = [\"test\"], or a [[table.column]] with `heading` and `where` for each";
                self.found.add_with_help(&entry.span, "a table needs columns", help);
                None
            }
            (Some(_), None) => self.axes("columns").map(Columns::Across),
            (None, Some(_)) => {
                let columns: Vec<Option<TableColumn>> = entry
                    .tables("column")
                    .iter()
                    .map(|column| self.column(column))
                    .collect();
                columns.into_iter().collect::<Option<Vec<_>>>().map(Columns::Listed)
            }
        }
    }

    fn column(&mut self, column: &Entry) -> Option<TableColumn> {
        if let (Some(place), Some(_)) = (column.field("where"), column.field("not_measured")) {
            let help = "leave one of the two out";
            self.found
                .add_with_help(&place.span, "a column with `not_measured` has no `where`", help);
        }
        let filter = self.vocabulary.filter(column, self.found)?;
        Some(TableColumn {
            heading: column.text("heading")?,
            filter,
            not_measured: column.text("not_measured"),
            unit: column.text("unit").or_else(|| self.entry.text("unit")),
            figure: Figure::named(
                &column
                    .text("figure")
                    .or_else(|| self.entry.text("figure"))
                    .unwrap_or_default(),
            ),
        })
    }

    /// Published figures require a source.
    fn check_source(&mut self) {
        let (published, source) = (self.entry.field("published"), self.entry.field("source"));
        match (published, source) {
            (Some(published), None) => {
                let help = "add source = \"…\": who published these figures, and when";
                self.found
                    .add_with_help(&published.span, "`published` without `source`", help);
            }
            (None, Some(source)) => {
                let help = "add `published`, or leave `source` out";
                self.found
                    .add_with_help(&source.span, "`source` without `published`", help);
            }
            _ => {}
        }
    }

    fn expand(&mut self, shape: Shape, candidates: &[Candidate<'_>]) -> Option<TableSpec> {
        let span = self.entry.field("where").map_or(&self.entry.span, |field| &field.span);
        let here: Vec<Candidate> = candidates
            .iter()
            .filter(|one| one.holds(&shape.filter))
            .copied()
            .collect();
        let rows = distinct(&here, &shape.row_axes);
        if rows.is_empty() {
            let help = "`raidlab plan` lists the cells with their axes";
            self.found.add_with_help(span, "no cell is in this table", help);
            return None;
        }
        let columns = match shape.columns {
            Columns::Listed(columns) => columns,
            Columns::Across(axes) => self.across(&axes, &here),
        };
        let is_sound = self.check_ratios(&columns) && self.check_figures(&shape.row_axes, &rows, &columns, &here);
        let relative_to = self.relative_to(&shape.row_axes, &rows);
        let published = self.published(&shape.row_axes, &rows, columns.len());
        let rows = rows.into_iter().zip(published);
        let table = TableSpec {
            title: self.entry.text("title").unwrap_or_default(),
            filter: shape.filter,
            row_axes: shape.row_axes,
            rows: rows.map(|(values, published)| TableRow { values, published }).collect(),
            columns,
            relative_to,
            source: self.entry.text("source"),
        };
        is_sound.then_some(table)
    }

    fn across(&self, axes: &[String], here: &[Candidate<'_>]) -> Vec<TableColumn> {
        let points = distinct(here, axes).into_iter();
        points
            .map(|values| TableColumn {
                heading: values.join(" "),
                filter: axes.iter().cloned().zip(values).collect(),
                not_measured: None,
                unit: self.entry.text("unit"),
                figure: Figure::named(&self.entry.text("figure").unwrap_or_default()),
            })
            .collect()
    }

    /// Every column has figures, and no place of the table has two.
    fn check_figures(
        &mut self,
        row_axes: &[String],
        rows: &[Vec<String>],
        columns: &[TableColumn],
        here: &[Candidate<'_>],
    ) -> bool {
        let measured = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.not_measured.is_none());
        for (at, column) in measured {
            let span = self
                .entry
                .tables("column")
                .get(at)
                .map_or(&self.entry.span, |column| &column.span);
            let of_column: Vec<&Candidate> = here.iter().filter(|one| one.holds(&column.filter)).collect();
            if of_column.is_empty() {
                let message = format!("no cell is in the column `{}`", column.heading);
                self.found
                    .add_with_help(span, message, "`raidlab plan` lists the cells with their axes");
                return false;
            }
            for row in rows {
                let in_row = |one: &&&Candidate| one.values(row_axes).as_ref() == Some(row);
                let both: Vec<&Candidate> = of_column.iter().filter(in_row).copied().collect();
                if let Some((axis, values)) = differing(&both) {
                    let (row, column) = (row.join(" "), &column.heading);
                    let message = format!("row `{row}`, column `{column}` would have several figures");
                    let help = format!(
                        "they differ in `{axis}` ({}): name it in `rows`, `columns` or `where`",
                        values.join(", ")
                    );
                    self.found.add_with_help(span, message, help);
                    return false;
                }
            }
        }
        true
    }

    /// Ratios of deviations are not meaningful.
    fn check_ratios(&mut self, columns: &[TableColumn]) -> bool {
        let Some(field) = self.entry.field("relative_to") else {
            return true;
        };
        let is_sound = columns.iter().all(|column| column.figure != Figure::Deviation);
        if !is_sound {
            let message = "deviations are not shown as ratios";
            let help = "leave `relative_to` out, or the columns with figure = \"deviation\"";
            self.found.add_with_help(&field.span, message, help);
        }
        is_sound
    }

    fn relative_to(&mut self, row_axes: &[String], rows: &[Vec<String>]) -> Option<usize> {
        let field = self.entry.field("relative_to")?;
        self.row(self.entry.values("relative_to"), &field.span, row_axes, rows)
    }

    /// Published figures of each row.
    fn published(&mut self, row_axes: &[String], rows: &[Vec<String>], columns: usize) -> Vec<Vec<Option<f64>>> {
        let mut all = vec![vec![None; columns]; rows.len()];
        let mut taken = vec![false; rows.len()];
        for entry in self.entry.tables("published") {
            let (Some(row), Some(Content::Values(given))) =
                (entry.field("row"), entry.field("values").map(|field| &field.content))
            else {
                continue;
            };
            if given.len() != columns {
                let message = format!("{} published figures for {columns} columns", given.len());
                let help = "write one figure for each column, \"-\" where none was published";
                self.found.add_with_help(&entry.span, message, help);
                continue;
            }
            let Some(at) = self.row(entry.values("row"), &row.span, row_axes, rows) else {
                continue;
            };
            if std::mem::replace(&mut taken[at], true) {
                let message = format!("the row `{}` is published twice", rows[at].join(" "));
                self.found
                    .add_with_help(&entry.span, message, "leave one of the two out");
            }
            let number = |given: &Given| match given.value {
                Value::Number(number) => Some(number),
                _ => None,
            };
            all[at] = given.iter().map(number).collect();
        }
        all
    }

    /// The row with these values.
    fn row(&mut self, given: &[Given], span: &Span, row_axes: &[String], rows: &[Vec<String>]) -> Option<usize> {
        if given.len() != row_axes.len() {
            let message = format!(
                "{} for a row with the axes {}",
                count(given.len(), "value"),
                row_axes.len()
            );
            let help = format!("write a value for each of {}", row_axes.join(", "));
            self.found.add_with_help(span, message, help);
            return None;
        }
        let mut values = Vec::new();
        for (axis, given) in row_axes.iter().zip(given) {
            let word = given.value.word();
            if axis == STACK {
                let labels: Vec<&str> = self.labels(row_axes, rows);
                if !labels.contains(&word.as_str()) {
                    let help = suggest(&word, &labels);
                    self.found
                        .add_with_help(&given.span, format!("there is no row `{word}`"), help);
                    return None;
                }
                values.push(word);
                continue;
            }
            match self.vocabulary.resolve(axis, &word) {
                Ok(word) => values.push(word),
                Err(unknown) => {
                    self.found.add_with_help(&given.span, unknown.message, unknown.help);
                    return None;
                }
            }
        }
        let at = rows.iter().position(|row| *row == values);
        if at.is_none() {
            let names: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let message = format!("the table has no row `{}`", values.join(" "));
            self.found.add_with_help(span, message, enumerate(&names));
        }
        at
    }

    fn labels<'r>(&self, row_axes: &[String], rows: &'r [Vec<String>]) -> Vec<&'r str> {
        let place = row_axes.iter().position(|axis| axis == STACK);
        let label = |row: &'r Vec<String>| row.get(place?).map(String::as_str);
        let mut labels: Vec<&str> = rows.iter().filter_map(label).collect();
        labels.dedup();
        labels
    }
}

fn count(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
