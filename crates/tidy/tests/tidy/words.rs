//! The field's own words: those that no engineer at a distribution would write are not written.

use crate::tree::files;
use regex::Regex;
use std::collections::BTreeSet;

/// What is not written, and what is written instead. Letters in either case; identifiers count.
const FORBIDDEN: &[(&str, &str)] = &[
    (
        r"\bmend(s|ed|ing)?\b|_mend\b|\bmend_|(?-i:Mend)",
        "fix; in diagnostics `help:`",
    ),
    (r"mistake", "error, diagnostic"),
    (r"rehears", "dry run"),
    (r"tak(e|es|en|ing)[ _-]?back", "rolled back, undone"),
    (r"(keep|kept)[ _]out", "excluded"),
    (r"\bsettl(e|ed|es|ing)|settle_|_settle", "quiesce, wait until idle"),
    (r"\bbeside\b|_beside\b|\bbeside_", "on an external device; next to"),
    (r"\baside\b", "on an external device"),
    (r"linear volume", "linear LV"),
    (r"\bpulse|_pulse", "heartbeat"),
    (r"said[ _]?too[ _]?much", "output limit exceeded"),
    (r"ended[ _]by[ _]itself|ByItself", "exited"),
    (r"\bmad\b|\bmad_|_mad\b", "misbehaving"),
    (r"\bspite\b", "hostile input"),
    (r"order of chance", "random order"),
    (r"comes? to (be |what|\d)|what it comes to", "expands to"),
    (r"\btold\b", "reported"),
    (r"\blaid out\b|\blays? out\b|lay_out|laid_out", "prepared"),
];

/// Terms of drives and buses, and names that are stored, in which a forbidden word stands.
const ALLOWED: &[&str] = &[
    "write_settle",
    "write settle",
    "bus settle",
    "settling delay",
    "rename = \"beside\"",
];

/// Files that are not cleaned yet. The list only gets shorter; a new file is never on it.
const NOT_YET: &str = include_str!("words-not-yet.txt");

fn not_yet() -> BTreeSet<&'static str> {
    NOT_YET.lines().filter(|line| !line.is_empty()).collect()
}

/// Files with forbidden words, each with where and what.
fn hits() -> Vec<(String, Vec<String>)> {
    let patterns: Vec<(Regex, &str)> = FORBIDDEN
        .iter()
        .map(|(pattern, instead)| (Regex::new(&format!("(?i){pattern}")).expect("a pattern"), *instead))
        .collect();
    let any: Vec<&str> = FORBIDDEN.iter().map(|(pattern, _)| *pattern).collect();
    let any = Regex::new(&format!("(?i){}", any.join("|"))).expect("patterns");
    let of_file = |text: &str| {
        let mut hits = Vec::new();
        if !any.is_match(text) {
            return hits;
        }
        for (number, line) in text.lines().enumerate() {
            let line = &ALLOWED
                .iter()
                .fold(line.to_owned(), |line, term| line.replace(term, ""));
            for (pattern, instead) in &patterns {
                if let Some(found) = pattern.find(line) {
                    hits.push(format!("{}: `{}`, write: {instead}", number + 1, found.as_str()));
                }
            }
        }
        hits
    };
    files(&["rs", "md", "toml", "c", "h"])
        .into_iter()
        // This file names them; what was said in the past stays as it was said.
        .filter(|(path, _)| path != "crates/tidy/tests/tidy/words.rs" && path != "CHANGELOG.md")
        .map(|(path, text)| (path, of_file(&text)))
        .filter(|(_, hits)| !hits.is_empty())
        .collect()
}

#[test]
fn the_words_are_the_fields() {
    let not_yet = not_yet();
    let new: Vec<String> = hits()
        .into_iter()
        .filter(|(path, _)| !not_yet.contains(path.as_str()))
        .flat_map(|(path, hits)| hits.into_iter().map(move |hit| format!("{path}:{hit}")))
        .collect();
    assert!(new.is_empty(), "{}", new.join("\n"));
}

/// Prints the list as it could be by now: `cargo test -p tidy -- --ignored --nocapture the_list`.
#[test]
#[ignore = "prints the list of files that are not cleaned yet"]
fn the_list_of_files_that_are_not_clean() {
    for (path, _) in hits() {
        println!("not yet: {path}");
    }
}
