//! Pairs of cells that a setting keeps from being the same, and what differs in them.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use study::plan::{Cell, Plan};

/// Cells without a partner that do the same work and have the same value on each axis that has several values in
/// one of the plans. The axes with one value each, and what is no axis, may differ.
pub(super) fn alike<'a>(
    first: &'a Plan,
    second: &'a Plan,
    is_alone: impl Fn(&Cell) -> bool,
) -> Vec<(&'a Cell, &'a Cell)> {
    let alone = |plan: &'a Plan| -> Vec<&'a Cell> {
        let cells = plan.cells.iter();
        cells.filter(|cell| is_alone(cell) && !cell.is_imported()).collect()
    };
    let varied: BTreeSet<&str> = varied(first).chain(varied(second)).collect();
    let is_alike = |cell: &Cell, other: &Cell| {
        let value = |cell: &'_ Cell, axis: &str| cell.axes.iter().find(|(name, _)| name == axis).cloned();
        cell.replicate == other.replicate
            && cell.workload.work == other.workload.work
            && varied.iter().all(|axis| value(cell, axis) == value(other, axis))
    };
    let (of_first, of_second) = (alone(first), alone(second));
    let partner = |cell: &&'a Cell| {
        let mut others = of_second.iter().filter(|other| is_alike(cell, other));
        let only = others.next().filter(|_| others.next().is_none())?;
        let is_unique = of_first.iter().filter(|one| is_alike(one, only)).count() == 1;
        is_unique.then_some((*cell, *only))
    };
    of_first.iter().filter_map(partner).collect()
}

/// Axes with several values.
fn varied(plan: &Plan) -> impl Iterator<Item = &str> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let values = plan.cells.iter().flat_map(|cell| &cell.axes);
    values.filter_map(move |(axis, value)| (*first.entry(axis).or_insert(value) != value).then_some(axis.as_str()))
}

/// What differs between the cells of pairs, each once: `scheduler: mq-deadline in A, none in B`.
pub(super) fn differences(pairs: &[(&Cell, &Cell)]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (first, second) in pairs.iter().filter(|(first, second)| first.id != second.id) {
        if first.is_imported() || second.is_imported() {
            continue;
        }
        for (name, one, other) in parts(first, second) {
            let mut paths = Vec::new();
            compare(name, &one, &other, &mut paths);
            paths.retain(|path| !found.contains(path));
            found.extend(paths);
        }
    }
    found
}

fn parts(first: &Cell, second: &Cell) -> [(&'static str, Value, Value); 3] {
    // A value that cannot be JSON would not be in a store.
    let json = |value: Result<Value, serde_json::Error>| value.unwrap_or(Value::Null);
    [
        (
            "machine",
            json(serde_json::to_value(&first.machine)),
            json(serde_json::to_value(&second.machine)),
        ),
        (
            "stack",
            json(serde_json::to_value(&first.stack)),
            json(serde_json::to_value(&second.stack)),
        ),
        (
            "acts",
            json(serde_json::to_value(&first.acts)),
            json(serde_json::to_value(&second.acts)),
        ),
    ]
}

/// Adds what differs, at the innermost values.
fn compare(path: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
    match (one, other) {
        _ if one == other => {}
        (Value::Object(first), Value::Object(second)) => {
            let keys: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
            for key in keys {
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                compare(&format!("{path}.{key}"), &of(first), &of(second), found);
            }
        }
        (Value::Array(first), Value::Array(second)) if first.len() == second.len() => {
            for (one, other) in first.iter().zip(second) {
                compare(path, one, other, found);
            }
        }
        _ => found.push(format!("{path}: {} in A, {} in B", words(one), words(other))),
    }
}

fn words(value: &Value) -> String {
    const LONGEST: usize = 40;
    match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("{} entries", items.len()),
        other => {
            let text = other.to_string();
            match text.chars().count() > LONGEST {
                true => "other".to_owned(),
                false => text,
            }
        }
    }
}
