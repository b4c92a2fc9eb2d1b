//! Bonnie++'s lines of values, or, where a text has none, the table that it prints for people.

use super::{Foreign, Kept};
use crate::bonnie::{csv, report, table};
use std::collections::BTreeMap;

pub(super) fn read(text: &str) -> Result<Vec<Foreign>, String> {
    let mut lines = csv::lines(text).map_err(|what| format!("is not valid Bonnie++ output: {what}"))?;
    if lines.is_empty() {
        lines = table::lines(text).map_err(|what| format!("is not a valid table of Bonnie++: {what}"))?;
    }
    Ok(lines.iter().map(foreign).collect())
}

fn foreign(line: &csv::Line) -> Foreign {
    let mut kept = Kept::default();
    let version = line.version.as_deref().unwrap_or(&line.format);
    kept.provenance("bonnie++", version);
    report(line, &line.tests(), &mut kept);
    let mut label = format!("{} {}", line.machine, line.size).trim().to_owned();
    // What else makes it another measurement.
    if !["", "1"].contains(&line.processes.as_str()) {
        label = format!("{label} {} processes", line.processes);
    }
    let files = line.files.trim_end_matches(':');
    if !["", "16", "0"].contains(&files) {
        label = format!("{label} {files}k files");
    }
    Foreign {
        program: "Bonnie++",
        label,
        settings: BTreeMap::new(),
        events: kept.0,
        notes: Vec::new(),
    }
}
