//! Permitted dependencies between crates: the authoritative list. Cargo.toml and the table of ARCHITECTURE.md must
//! match it.

use super::tree::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// A crate and its dependencies in this workspace. Adding an arrow is a decision: data flows one way, from the
/// study file to the report, and no stage knows a later one.
const ALLOWED: &[(&str, &[&str])] = &[
    ("disksim", &[]),
    ("filesystems", &[]),
    ("measure", &["disksim"]),
    ("study", &["filesystems"]),
    ("study-file", &["filesystems", "study"]),
    ("xtask", &["disksim", "study", "study-file"]),
    ("tools", &["filesystems", "study"]),
    ("stack", &["filesystems", "study", "tools"]),
    ("workload", &["study", "tools"]),
    ("trial", &["stack", "study", "tools", "workload"]),
    ("lab", &["disksim", "files", "filesystems", "study", "tools", "trial"]),
    ("host", &["stack", "study", "tools", "trial"]),
    ("store", &["study"]),
    ("stats", &["study"]),
    ("report", &["stats", "study"]),
    ("runner", &["host", "lab", "stats", "store", "study", "tools", "trial"]),
    ("files", &[]),
    (
        "prepare",
        &[
            "disksim",
            "files",
            "filesystems",
            "host",
            "lab",
            "runner",
            "stats",
            "study",
            "study-file",
            "tools",
            "trial",
            "workload",
        ],
    ),
    (
        "results",
        &[
            "files",
            "lab",
            "prepare",
            "report",
            "stats",
            "store",
            "study",
            "study-file",
            "tools",
            "workload",
        ],
    ),
    (
        "fleet",
        &["files", "prepare", "report", "runner", "store", "study", "tools"],
    ),
    ("crash-test", &["lab", "prepare", "study", "trial"]),
    ("lab-bench", &["disksim", "files", "lab", "prepare", "study", "trial"]),
    ("real-disk", &["disksim", "files", "host", "measure", "report", "tools"]),
    (
        "raidlab",
        &[
            "crash-test",
            "disksim",
            "files",
            "filesystems",
            "fleet",
            "host",
            "lab",
            "lab-bench",
            "prepare",
            "real-disk",
            "report",
            "results",
            "risk",
            "runner",
            "stats",
            "store",
            "study",
            "study-file",
            "tools",
            "trial",
        ],
    ),
    ("risk", &[]),
    ("requirements", &[]),
];

type Arrows = BTreeMap<String, BTreeSet<String>>;

fn allowed() -> Arrows {
    ALLOWED
        .iter()
        .map(|(name, uses)| ((*name).to_owned(), uses.iter().map(|&name| name.to_owned()).collect()))
        .collect()
}

/// The dependencies in the crates' own files, without those of tests.
fn of_cargo() -> Arrows {
    let folders = fs::read_dir(root().join("crates")).expect("our crates").flatten();
    let tables = folders.filter_map(|folder| fs::read_to_string(folder.path().join("Cargo.toml")).ok());
    let tables: Vec<toml::Table> = tables.map(|text| text.parse().expect("cargo reads it too")).collect();
    let name = |table: &toml::Table| table["package"]["name"].as_str().expect("a name").to_owned();
    let ours: BTreeSet<String> = tables.iter().map(name).collect();
    let uses = |table: &toml::Table| -> BTreeSet<String> {
        let dependencies = table.get("dependencies").and_then(toml::Value::as_table).into_iter();
        let names = dependencies.flat_map(toml::Table::keys);
        names.filter(|name| ours.contains(*name)).cloned().collect()
    };
    tables.iter().map(|table| (name(table), uses(table))).collect()
}

/// The rows ``| `crate` | what | uses |`` of ARCHITECTURE.md.
fn of_architecture() -> Arrows {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map");
    let words = |cell: &str| -> BTreeSet<String> {
        let names = cell.split(',').map(|name| name.trim().trim_matches('`').to_owned());
        names.filter(|name| name != "nothing").collect()
    };
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [name, _, uses] = cells[..] else { return None };
        let name = name.strip_prefix('`')?.strip_suffix('`')?;
        // `kernel/` is not a crate, and there are other tables.
        let is_crate = name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        is_crate.then(|| (name.to_owned(), words(uses)))
    });
    rows.collect()
}

#[test]
fn crates_use_those_that_they_may_and_no_others() {
    assert_eq!(
        of_cargo(),
        allowed(),
        "left: the Cargo.toml files, right: the list above"
    );
}

#[test]
fn architecture_says_which_crate_uses_which() {
    assert_eq!(
        of_architecture(),
        allowed(),
        "left: ARCHITECTURE.md, right: the list above"
    );
}

#[test]
fn arrows_make_no_circle() {
    let mut left = allowed();
    while !left.is_empty() {
        let free: Vec<String> = left
            .iter()
            .filter(|(_, uses)| uses.iter().all(|name| !left.contains_key(name)))
            .map(|(name, _)| name.clone())
            .collect();
        assert!(!free.is_empty(), "a circle among {:?}", left.keys());
        left.retain(|name, _| !free.contains(name));
    }
}
