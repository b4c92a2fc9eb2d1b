//! Names of cells: of a stack only what distinguishes it from the plan's other stacks.

use crate::plan::Cell;
use std::collections::{BTreeSet, HashMap};

/// The axes in the order in which a label names them: disks and array, filesystem, then the options.
const ORDER: &[&str] = &[
    "kernel",
    "ram",
    "model",
    "count",
    "level",
    "layout",
    "chunk",
    "type",
    "block_size",
    "journal",
    "journal_size",
    "bitmap",
    "size",
    "spares",
    "metadata",
    "mount",
    "scheduler",
    "read_ahead",
];

/// Gives every cell its label and key.
pub(crate) fn put_on(cells: &mut [Cell]) {
    let varying: Vec<&str> = ORDER.iter().copied().filter(|axis| varies(cells, axis)).collect();
    let stacks: BTreeSet<Vec<(String, String)>> = cells.iter().map(stack_place).collect();
    let mut labels: HashMap<Vec<(String, String)>, String> = HashMap::new();
    let mut taken: HashMap<String, usize> = HashMap::new();
    for place in &stacks {
        let label = short(place, &varying);
        *taken.entry(label.clone()).or_default() += 1;
        labels.insert(place.clone(), label);
    }
    for cell in cells {
        let place = stack_place(cell);
        let label = labels.get(&place).cloned().unwrap_or_default();
        cell.stack_label = if taken.get(&label) == Some(&1) {
            label
        } else {
            long(&place, &varying)
        };
        cell.key = format!("{} | {}", cell.stack_label, cell.workload.name);
    }
}

/// The cell's place on the axes of its stack.
fn stack_place(cell: &Cell) -> Vec<(String, String)> {
    cell.axes
        .iter()
        .take_while(|(axis, _)| axis != "workload")
        .cloned()
        .collect()
}

fn word<'a>(place: &'a [(String, String)], axis: &str) -> Option<&'a str> {
    place
        .iter()
        .find(|(name, _)| name == axis)
        .map(|(_, word)| word.as_str())
}

fn varies(cells: &[Cell], axis: &str) -> bool {
    let mut words = cells.iter().map(|cell| word(&cell.axes, axis));
    let first = words.next();
    words.any(|word| Some(word) != first)
}

fn short(place: &[(String, String)], varying: &[&str]) -> String {
    let axes = ORDER.iter().filter(|axis| **axis == "type" || varying.contains(axis));
    let parts: Vec<String> = axes.filter_map(|axis| part(axis, word(place, axis)?)).collect();
    parts.join(" ")
}

/// What is left where a short label does not do: axis and value.
fn long(place: &[(String, String)], varying: &[&str]) -> String {
    let axes = ORDER.iter().filter(|axis| **axis == "type" || varying.contains(axis));
    let parts: Vec<String> = axes
        .filter_map(|axis| Some(format!("{axis}={}", word(place, axis)?)))
        .collect();
    parts.join(" ")
}

/// How a label shows a value; a default goes without saying.
fn part(axis: &str, word: &str) -> Option<String> {
    if word == "default" {
        return None;
    }
    Some(match axis {
        "level" => match word {
            "single" => "single".to_owned(),
            "linear" => "linear".to_owned(),
            number => format!("RAID {number}"),
        },
        "bitmap" if word == "none" => "no bitmap".to_owned(),
        "bitmap" => "bitmap".to_owned(),
        "kernel" => format!("Linux {word}"),
        "ram" => format!("{word} RAM"),
        "count" => format!("{word} disks"),
        "spares" if word == "0" => return None,
        "spares" => format!("{word} spares"),
        "journal" if word == "journal" => "data=journal".to_owned(),
        "journal_size" => format!("{word} log"),
        "chunk" | "size" | "metadata" => format!("{axis} {word}"),
        "read_ahead" => format!("read-ahead {word}"),
        "scheduler" => format!("scheduler {word}"),
        _ => word.to_owned(),
    })
}
