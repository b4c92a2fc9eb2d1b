//! Claims: what a study says its results will show.

use crate::document::Entry;
use crate::matrix::{Unit, WorkloadEntry};
use crate::mistake::Found;
use crate::plan::{Cell, Claim};

pub(crate) fn read_all(
    _top: &Entry,
    _units: &[Unit],
    _workloads: &[WorkloadEntry],
    _cells: &[Cell],
    _found: &mut Found,
) -> Vec<Claim> {
    Vec::new()
}
