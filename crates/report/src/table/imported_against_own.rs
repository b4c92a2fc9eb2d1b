//! Imported figures next to the run's own, for the terminal.

use super::{TableOptions, plain_table, right};
use crate::words::imported_against_own::Pair;
use comfy_table::Cell;

/// A row for each imported figure with a counterpart; empty if the first lines have the only one.
pub(super) fn text(pairs: &[Pair], mark: &str, options: TableOptions) -> String {
    if pairs.len() < 2 {
        return String::new();
    }
    let mut table = plain_table(options.colour);
    let stacks = pairs.iter().map(|pair| pair.stacks.chars().count()).max().unwrap_or(0);
    table.set_header([
        Cell::new("test"),
        Cell::new("stack"),
        right("imported".to_owned()),
        right(mark.to_owned()),
        Cell::new(""),
        right("ratio".to_owned()),
        Cell::new(""),
    ]);
    for pair in pairs {
        table.add_row([
            Cell::new(&pair.test),
            Cell::new(textwrap::fill(&pair.stacks, stacks.min((options.width / 3).max(20)))),
            right(pair.imported.clone()),
            right(pair.own.clone()),
            Cell::new(pair.unit),
            right(pair.ratio.clone()),
            Cell::new(pair.better),
        ]);
    }
    let heading = format!("imported figures and those of this run  (imported, {mark})");
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    std::iter::once(heading).chain(lines).collect::<Vec<_>>().join("\n")
}
