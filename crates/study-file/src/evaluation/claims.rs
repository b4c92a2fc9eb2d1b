//! Parses `[[claim]]` of a study file and checks the claims against the plan's cells.

use crate::evaluation::vocabulary::{Unknown, Vocabulary};
use crate::expand::matrix::Unit;
use crate::parse::entry::Entry;
use crate::syntax::diagnostic::Found;
use crate::workload_forms::WorkloadEntry;
use study::claim::{ClaimError, Comparison, holds, write_side};
use study::plan::{Cell, Claim, Side};

impl From<Unknown> for ClaimError {
    fn from(unknown: Unknown) -> Self {
        Self {
            message: unknown.message,
            help: unknown.help,
        }
    }
}

/// Parses the claims of a study.
pub(crate) fn read_all(
    top: &Entry,
    units: &[Unit],
    workloads: &[WorkloadEntry],
    cells: &[Cell],
    found: &mut Found,
) -> Vec<Claim> {
    let entries = top.tables("claim");
    if entries.is_empty() {
        return Vec::new();
    }
    let vocabulary = Vocabulary::of_entries(units, workloads, cells);
    let cells_are_whole = found.is_empty();
    let mut all = Vec::new();
    for entry in entries {
        let filter = vocabulary.filter(entry, found);
        let Some((that, comparison)) = read_that(entry, &vocabulary, found) else {
            continue;
        };
        let Some(filter) = filter else { continue };
        if cells_are_whole {
            check_cells(entry, &filter, &comparison, cells, found);
        }
        let says = entry.text("says").unwrap_or_default();
        all.push(Claim {
            says,
            filter,
            that,
            published: entry.text("published"),
            untestable: entry.text("untestable"),
        });
    }
    all
}

/// The comparison and its text, with values in the plan's spelling.
fn read_that(entry: &Entry, vocabulary: &Vocabulary, found: &mut Found) -> Option<(String, Comparison)> {
    let given = entry.value("that")?;
    let mut text = given.value.word();
    let mut respelt = Vec::new();
    let read = Comparison::parse(&text, &mut |side| {
        let pairs = vocabulary.pairs(side)?;
        respelt.push((side.to_owned(), write_side(&pairs)));
        Ok(pairs)
    });
    match read {
        Ok(comparison) => {
            for (written, side) in respelt {
                text = text.replacen(&written, &side, 1);
            }
            Some((text, comparison))
        }
        Err(error) => {
            found.add_with_help(&given.span, error.message, error.help);
            None
        }
    }
}

/// A claim without any pair of cells is an error, probably a misspelling.
fn check_cells(entry: &Entry, filter: &Side, comparison: &Comparison, cells: &[Cell], found: &mut Found) {
    let span = entry.value("that").map_or(&entry.span, |given| &given.span);
    if !cells.iter().any(|cell| holds(filter, cell)) {
        let span = entry.field("where").map_or(span, |field| &field.span);
        found.add_with_help(
            span,
            "no cell matches",
            "`raidlab plan` lists the cells with their axes",
        );
        return;
    }
    for side in comparison.sides() {
        if !cells.iter().any(|cell| holds(filter, cell) && holds(side, cell)) {
            let message = format!("no cell of this claim has {}", write_side(side));
            found.add_with_help(span, message, "`raidlab plan` lists the cells with their axes");
            return;
        }
    }
    if comparison.contests(filter, cells).is_empty() {
        let help = "name the other axes that differ on both sides, or in `where`";
        found.add_with_help(span, "no two cells of this claim differ only in the named axes", help);
    }
}
