//! `AXIS=VALUE,…` and `AXIS!=VALUE,…`: selects cells of a plan.

use crate::evaluation::vocabulary::Vocabulary;
use std::fmt;
use study::plan::{Cell, Plan};

/// A filter of cells. Values of one axis are alternatives, and all axes must match: `type=xfs,type=jfs,level=6`
/// selects XFS and JFS on RAID 6. `type!=xfs` excludes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only {
    pairs: Vec<(String, String)>,
}

/// An error in a filter, with a suggestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnlyError {
    message: String,
    help: String,
}

impl fmt::Display for OnlyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.help)
    }
}

impl std::error::Error for OnlyError {}

/// Suffix of the axis of an excluded value, so that both together read `type!=xfs`.
const NOT: char = '!';

impl Only {
    /// Parses filters with the plan's axes; several filters are combined as if separated by commas.
    pub fn parse<T: AsRef<str>>(texts: &[T], plan: &Plan) -> Result<Self, OnlyError> {
        let vocabulary = Vocabulary::of_cells(&plan.cells);
        let mut pairs = Vec::new();
        for text in texts {
            pairs.extend(vocabulary.conditions(text.as_ref()).map_err(|unknown| OnlyError {
                message: unknown.message,
                help: unknown.help,
            })?);
        }
        let only = Self { pairs };
        if plan.cells.iter().any(|cell| only.matches(cell)) {
            return Ok(only);
        }
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let message = format!("no cell has `{}`", texts.join(","));
        Err(OnlyError {
            message,
            help: "`raidlab plan` lists the cells with their axes".to_owned(),
        })
    }

    /// Whether the cell matches: it has one of the values of each named axis, and no excluded one.
    pub fn matches(&self, cell: &Cell) -> bool {
        let has = |axis: &str, value: &str| cell.axes.iter().any(|(a, v)| a == axis && v == value);
        self.pairs.iter().all(|(axis, value)| match axis.strip_suffix(NOT) {
            Some(axis) => !has(axis, value),
            None => {
                let mut values = self.pairs.iter().filter(|(other, _)| other == axis);
                values.any(|(axis, value)| has(axis, value))
            }
        })
    }

    /// Axis and value, as in the plan; the axis of an excluded value ends with `!`.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// Removes all cells that do not match.
    pub fn keep_in(&self, plan: &mut Plan) {
        plan.cells.retain(|cell| self.matches(cell));
    }
}
