//! `AXIS=VALUE,…`: some cells of a plan.

use crate::vocabulary::Vocabulary;
use std::fmt;
use study::plan::{Cell, Plan};

/// A filter of cells. Values of one axis are alternatives, axes must all hold: `type=xfs,type=jfs,level=6` is XFS
/// and JFS on RAID 6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only {
    pairs: Vec<(String, String)>,
}

/// What is wrong with a filter, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnlyError {
    message: String,
    mend: String,
}

impl fmt::Display for OnlyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.mend)
    }
}

impl std::error::Error for OnlyError {}

impl Only {
    /// Reads a filter in the words of the plan's axes.
    pub fn parse(text: &str, plan: &Plan) -> Result<Self, OnlyError> {
        let pairs = Vocabulary::of_cells(&plan.cells).pairs(text);
        let only = Self {
            pairs: pairs.map_err(|unknown| OnlyError {
                message: unknown.message,
                mend: unknown.mend,
            })?,
        };
        if plan.cells.iter().any(|cell| only.matches(cell)) {
            return Ok(only);
        }
        let message = format!("no cell has `{text}`");
        Err(OnlyError {
            message,
            mend: "`raidlab plan` lists the cells with their axes".to_owned(),
        })
    }

    /// Whether the cell is one of them.
    pub fn matches(&self, cell: &Cell) -> bool {
        self.pairs.iter().all(|(axis, _)| {
            let mut values = self.pairs.iter().filter(|(other, _)| other == axis);
            values.any(|pair| cell.axes.contains(pair))
        })
    }

    /// Axis and value, as they are in the plan.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// Leaves only the cells that match.
    pub fn keep_in(&self, plan: &mut Plan) {
        plan.cells.retain(|cell| self.matches(cell));
    }
}
