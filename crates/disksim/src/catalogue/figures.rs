//! The figures of a model file for display: name, value, source, certainty.

use super::format::Sure;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Key path, for example `disk.rpm`.
    pub name: String,
    pub value: String,
    pub sure: Sure,
    pub source: String,
}

/// Every figure of a file, in the order of its keys. None if the file cannot be parsed.
pub fn collect(text: &str) -> Vec<Note> {
    let mut notes = Vec::new();
    let Ok(table) = toml::from_str::<toml::Table>(text) else {
        return notes;
    };
    // Tables nest two deep; a work list avoids recursion on unusual files.
    let mut pending: Vec<(String, toml::Table)> = std::vec![(String::new(), table)];
    while let Some((path, table)) = pending.pop() {
        for (key, value) in table {
            let name = if path.is_empty() { key } else { format!("{path}.{key}") };
            let toml::Value::Table(inner) = value else { continue };
            match figure(&name, &inner) {
                Some(note) => notes.push(note),
                None => pending.push((name, inner)),
            }
        }
    }
    notes
}

fn figure(name: &str, table: &toml::Table) -> Option<Note> {
    let sure = match table.get("sure")?.as_str()? {
        "measured" => Sure::Measured,
        "datasheet" => Sure::Datasheet,
        _ => Sure::Unverified,
    };
    let source = table.get("source")?.as_str()?.to_string();
    let value = table.get("is")?.to_string();
    Some(Note {
        name: name.to_string(),
        value,
        sure,
        source,
    })
}
