//! Plain English with the terms of the man pages: words that must not be used.

use super::tree::files;
use regex::Regex;

/// Each forbidden word as a regular expression, and what to write instead. Case is ignored; identifiers are checked, too.
const FORBIDDEN: &[(&str, &str)] = &[
    (
        r"\bmend(s|ed|ing)?\b|_mend\b|\bmend_|(?-i:Mend)",
        "fix; in diagnostics `help:`",
    ),
    (r"mistakes?\b", "error, diagnostic"),
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
    (r"(?-i://[/!]? Of )", "a sentence with its subject"),
    (r"\bamid\b", "during, among"),
    (r"\bso many\b", "this number of"),
];

/// Standard terms of drives and buses, stored names, and comments of the kernel's driver (whose text is part of the
/// kernels' key), that contain a forbidden word.
const ALLOWED: &[&str] = &[
    "write_settle",
    "write settle",
    "bus settle",
    "settling delay",
    "rename = \"beside\"",
    "so many nanoseconds of its own work",
    "so many bytes, some of which are in no cache",
    "memory budget is so many whole segments",
    "After so many writes the caches",
];

/// Files with forbidden words, with their positions.
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
        // This file contains them. Old entries of the changelog are not rewritten.
        .filter(|(path, _)| path != "crates/xtask/tests/it/tidy/words.rs" && path != "CHANGELOG.md")
        .map(|(path, text)| (path, of_file(&text)))
        .filter(|(_, hits)| !hits.is_empty())
        .collect()
}

#[test]
fn no_file_has_a_forbidden_word() {
    let all: Vec<String> = hits()
        .into_iter()
        .flat_map(|(path, hits)| hits.into_iter().map(move |hit| format!("{path}:{hit}")))
        .collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}
