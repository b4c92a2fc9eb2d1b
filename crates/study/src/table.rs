//! Custom tables of a study: which figure is in which row and column, and what was published there.

use crate::plan::{Cell, METRIC, STACK, Side, TEST};
use serde::{Deserialize, Serialize};

/// A table of results, expanded: every row and column that the study's cells give, in the study's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableSpec {
    pub title: String,
    /// What holds for every figure of it; `test` and `metric` are of samples, all else of cells.
    pub filter: Side,
    /// The axes that name the rows, `level`, `chunk`, …; `stack` for the stack's label.
    pub row_axes: Vec<String>,
    pub rows: Vec<TableRow>,
    pub columns: Vec<TableColumn>,
    /// The row to which all others are shown as ratios; absent for figures as they are.
    pub relative_to: Option<usize>,
    /// Who published the figures that are shown next to ours, and when.
    pub source: Option<String>,
}

/// A row: a value on each of the row axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    pub values: Vec<String>,
    /// What was published for each column, in the column's unit (a ratio where the table shows ratios).
    pub published: Vec<Option<f64>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableColumn {
    pub heading: String,
    pub filter: Side,
    /// Unit of its figures; the samples' own if absent.
    pub unit: Option<String>,
    pub figure: Figure,
    /// Why the study has no such figure, and shows only what was published.
    pub not_measured: Option<String>,
}

/// Which figure of a cell's trials stands in a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    #[default]
    Median,
    Mean,
    /// Standard deviation of the trials' values, n − 1 in its denominator.
    Deviation,
    Min,
    Max,
}

impl Figure {
    /// The word for it in study files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
            Self::Deviation => "deviation",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// The figure of that word; the median for any other.
    pub fn named(word: &str) -> Self {
        let all = [Self::Median, Self::Mean, Self::Deviation, Self::Min, Self::Max];
        all.into_iter().find(|figure| figure.name() == word).unwrap_or_default()
    }
}

/// Where a figure of a table comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// Place of its cell in the plan.
    pub cell: usize,
    /// Absent where the cell has one test only.
    pub test: Option<&'a str>,
    /// Absent for the metric that stands for the test: throughput, mostly.
    pub metric: Option<&'a str>,
}

impl TableSpec {
    /// The place of the figure in a row and a column; none if `cells` (a part of the plan, perhaps) has no cell there.
    pub fn place(&self, row: usize, column: usize, cells: &[Cell]) -> Option<Place<'_>> {
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
                && test.is_none_or(|test| cell.workload.work.tests().contains(&test))
        })?;
        Some(Place { cell, test, metric })
    }
}

/// Where a cell lies on an axis; on `stack` by its label.
pub fn value_of<'a>(cell: &'a Cell, axis: &str) -> Option<&'a str> {
    if axis == STACK {
        return Some(&cell.stack_label);
    }
    cell.axes
        .iter()
        .find(|(name, _)| name == axis)
        .map(|(_, value)| value.as_str())
}
