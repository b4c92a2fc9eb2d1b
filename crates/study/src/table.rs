//! Custom tables of a study: the figure in each row and column, and the published value.

use crate::cell::{Cell, METRIC, STACK, Side, TEST};
use serde::{Deserialize, Serialize};

/// An expanded table of results: all rows and columns from the study's cells, in the study's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableSpec {
    pub title: String,
    /// Selection for all figures; `test` and `metric` refer to samples, all others to cells.
    pub filter: Side,
    /// Axes of the rows, `level`, `chunk`, …; `stack` for the stack's label.
    pub row_axes: Vec<String>,
    pub rows: Vec<TableRow>,
    pub columns: Vec<TableColumn>,
    /// The row that all others are relative to; absent for plain figures.
    pub relative_to: Option<usize>,
    /// Source and date of the published figures.
    pub source: Option<String>,
}

/// A row: a value for each row axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    pub values: Vec<String>,
    /// Published value of each column, in the column's unit (a ratio if the table shows ratios).
    pub published: Vec<Option<f64>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableColumn {
    pub heading: String,
    pub filter: Side,
    /// Unit of the figures; that of the samples if absent.
    pub unit: Option<String>,
    pub figure: Figure,
    /// Why the study does not measure this figure and shows only the published one.
    pub not_measured: Option<String>,
}

/// The figure of a cell's trials in a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    #[default]
    Median,
    Mean,
    /// Sample standard deviation of the trials' values (n − 1).
    Deviation,
    Min,
    Max,
}

impl Figure {
    /// Its name in study files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
            Self::Deviation => "deviation",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// The figure with this name; the median for any other.
    pub fn named(word: &str) -> Self {
        let all = [Self::Median, Self::Mean, Self::Deviation, Self::Min, Self::Max];
        all.into_iter().find(|figure| figure.name() == word).unwrap_or_default()
    }
}

/// Source of a figure in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureSource<'a> {
    /// Index of its cell in the plan.
    pub cell: usize,
    /// Absent if the cell has only one test.
    pub test: Option<&'a str>,
    /// Absent for the test's main metric, usually throughput.
    pub metric: Option<&'a str>,
}

impl TableSpec {
    /// The source of the figure in a row and column; `None` if `cells` (possibly a part of the plan) has no such
    /// cell.
    pub fn place(&self, row: usize, column: usize, cells: &[Cell]) -> Option<FigureSource<'_>> {
        let (row, column) = (self.rows.get(row)?, self.columns.get(column)?);
        if column.not_measured.is_some() {
            return None;
        }
        let of_row = self.row_axes.iter().zip(&row.values);
        let of_row = of_row.map(|(axis, value)| (axis.as_str(), value.as_str()));
        let pairs = self.filter.iter().chain(&column.filter);
        let pairs = pairs.map(|(axis, value)| (axis.as_str(), value.as_str()));
        let here: Vec<(&str, &str)> = of_row.chain(pairs).collect();
        let named = |name: &str| here.iter().find(|(axis, _)| *axis == name).map(|(_, value)| *value);
        let (test, metric) = (named(TEST), named(METRIC));
        let cell = cells.iter().position(|cell| {
            let mut of_cell = here.iter().filter(|(axis, _)| *axis != TEST && *axis != METRIC);
            of_cell.all(|(axis, value)| value_of(cell, axis) == Some(value))
                && test.is_none_or(|test| cell.tests().contains(&test))
        })?;
        Some(FigureSource { cell, test, metric })
    }
}

/// A cell's value on an axis; for `stack` its label.
pub fn value_of<'a>(cell: &'a Cell, axis: &str) -> Option<&'a str> {
    if axis == STACK {
        return Some(&cell.stack_label);
    }
    cell.axes
        .iter()
        .find(|(name, _)| name == axis)
        .map(|(_, value)| value.as_str())
}
