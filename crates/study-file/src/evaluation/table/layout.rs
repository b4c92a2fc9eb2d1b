//! Rows and columns of a table from the cells.

use study::plan::{Cell, METRIC, Side, TEST};
use study::table::value_of;

/// A candidate for a figure of a table: a cell with one of its tests.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub cell: &'a Cell,
    pub test: &'a str,
}

impl<'a> Candidate<'a> {
    /// Every test of every cell, in the plan's order.
    pub fn all(cells: &'a [Cell]) -> Vec<Self> {
        let tests = |cell: &'a Cell| cell.tests().into_iter();
        let of_cell = |cell: &'a Cell| tests(cell).map(move |test| Self { cell, test });
        cells.iter().flat_map(of_cell).collect()
    }

    pub fn value(&self, axis: &str) -> Option<&'a str> {
        if axis == TEST {
            return Some(self.test);
        }
        value_of(self.cell, axis)
    }

    pub fn holds(&self, side: &Side) -> bool {
        side.iter()
            .filter(|(axis, _)| axis != METRIC)
            .all(|(axis, value)| self.value(axis) == Some(value))
    }

    /// Its values on `axes`, if it has all of them.
    pub fn values(&self, axes: &[String]) -> Option<Vec<String>> {
        axes.iter().map(|axis| Some(self.value(axis)?.to_owned())).collect()
    }
}

/// The distinct values of the candidates on `axes`, in order.
pub(super) fn distinct(candidates: &[Candidate<'_>], axes: &[String]) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for values in candidates.iter().filter_map(|candidate| candidate.values(axes)) {
        if !all.contains(&values) {
            all.push(values);
        }
    }
    all
}

/// An axis on which two of the candidates differ, with their values. `None` if there is only one candidate.
pub(super) fn differing(candidates: &[&Candidate<'_>]) -> Option<(String, Vec<String>)> {
    let first = candidates.first()?;
    let axes = first.cell.axes.iter().map(|(axis, _)| axis.as_str());
    // The workload comes first: its name includes its own axes.
    let axes = ["workload", TEST].into_iter().chain(axes);
    axes.map(|axis| {
        let mut values: Vec<String> = Vec::new();
        for value in candidates.iter().filter_map(|candidate| candidate.value(axis)) {
            if !values.iter().any(|known| known == value) {
                values.push(value.to_owned());
            }
        }
        (axis.to_owned(), values)
    })
    .find(|(_, values)| values.len() > 1)
}
