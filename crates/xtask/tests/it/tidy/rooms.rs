//! Folders with walls: which code may use which within a crate.

use super::tree::files;
use regex::Regex;
use std::collections::BTreeSet;

/// Modules of `lab` that the code inside a guest may use, apart from its own.
const INSIDE_MAY_USE: [&str; 3] = ["inside", "processor", "protocol"];

/// The modules of its crate that a source names: `crate::NAME`.
fn used(text: &str) -> BTreeSet<String> {
    let pattern = Regex::new(r"\bcrate::(\w+)").expect("a pattern");
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| pattern.captures_iter(line).map(|found| found[1].to_owned()))
        .collect()
}

/// The files below this folder of crate `lab`, or directly named so, with the modules that they use.
fn lab_files() -> Vec<(String, BTreeSet<String>)> {
    let all = files(&["rs"]).into_iter();
    let lab = all.filter_map(|(path, text)| Some((path.strip_prefix("crates/lab/src/")?.to_owned(), used(&text))));
    lab.collect()
}

#[test]
fn code_inside_a_guest_uses_nothing_that_runs_outside() {
    let (inside, outside): (Vec<_>, Vec<_>) = lab_files()
        .into_iter()
        .partition(|(path, _)| path.starts_with("inside"));
    assert!(inside.len() > 3, "these are not all files: {inside:?}");
    for (path, used) in inside {
        let others: Vec<&String> = used
            .iter()
            .filter(|name| !INSIDE_MAY_USE.contains(&name.as_str()))
            .collect();
        assert!(others.is_empty(), "{path} runs inside a guest and uses {others:?}");
    }
    for (path, used) in outside {
        assert!(
            !used.contains("inside"),
            "{path} runs outside of guests and uses `inside`"
        );
    }
}

#[test]
fn what_both_sides_know_depends_on_neither() {
    for (path, used) in lab_files().into_iter().filter(|(path, _)| path.starts_with("protocol")) {
        assert!(used.iter().all(|name| name == "protocol"), "{path} uses {used:?}");
    }
}
