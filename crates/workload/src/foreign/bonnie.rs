//! Bonnie++'s lines of values, or, where a text has none, the table that it prints for people.

use super::{Foreign, Kept};
use crate::bonnie::{csv, report, table};
use std::collections::BTreeMap;

pub(super) fn read(text: &str) -> Result<Vec<Foreign>, String> {
    let lines = csv::lines(text).map_err(|what| format!("is not valid Bonnie++ output: {what}"));
    let tables = table::lines(text).map_err(|what| format!("is not a valid table of Bonnie++: {what}"));
    let (lines, odd) = match (lines, &tables) {
        (Ok(lines), _) => (lines, None),
        // The table has the same figures.
        (Err(what), Ok(tables)) if !tables.is_empty() => (
            Vec::new(),
            Some(format!("the table is read, because the line of values {what}")),
        ),
        (Err(what), _) => return Err(what),
    };
    if !lines.is_empty() {
        // A run prints both.
        let more = tables.map_or(0, |tables| tables.len().saturating_sub(lines.len()));
        let note = (more > 0).then(|| format!("{more} tables without a line of values are left out"));
        return Ok(lines.iter().map(|line| foreign(line, note.as_ref())).collect());
    }
    let has_table = tables.as_ref().is_ok_and(|tables| !tables.is_empty());
    if !has_table && csv::has_pieces(text) {
        return Err(
            "has lines of values of Bonnie++ that are wrapped, as mail programs do: each must be one line"
                .to_owned(),
        );
    }
    let tables = tables?;
    if let Some(line) = tables.iter().find(|line| line.tests().is_empty())
        && tables.len() == 1
    {
        return Err(format!(
            "is a table of Bonnie++ without a figure{}",
            line.note.map_or_else(String::new, |note| format!(": {note}"))
        ));
    }
    Ok(tables.iter().map(|line| foreign(line, odd.as_ref())).collect())
}

/// Whether the text has the heading of Bonnie++'s table.
pub(super) fn has_heading(text: &str) -> bool {
    text.contains("--Sequential Output--") || text.contains("--Sequential Create--")
}

fn foreign(line: &csv::Line, note: Option<&String>) -> Foreign {
    let mut kept = Kept::default();
    let mut notes: Vec<String> = note.into_iter().cloned().collect();
    notes.extend(line.note.map(str::to_owned));
    let version = line.version.as_deref().unwrap_or(&line.format);
    kept.provenance("bonnie++", version);
    report(line, &line.tests(), &mut kept);
    let mut work = line.size.clone();
    // What else makes it another measurement.
    if !["", "1"].contains(&line.processes.as_str()) {
        work = format!("{work} {} processes", line.processes);
    }
    let files = line.files.trim_end_matches(':');
    if !["", "16", "0"].contains(&files) {
        // The number of files, and their largest size, smallest size and number of folders.
        work = match files.split_once(':') {
            Some((number, sizes)) => format!("{work} {number}k files of {sizes}"),
            None => format!("{work} {files}k files"),
        };
    }
    Foreign {
        program: "Bonnie++",
        machine: line.machine.trim().to_owned(),
        work: work.trim().to_owned(),
        settings: BTreeMap::new(),
        events: kept.with_notes(&notes),
        notes,
    }
}
