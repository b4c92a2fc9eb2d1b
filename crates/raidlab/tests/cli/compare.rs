//! Verdicts and comparisons, on a store that is at hand (made-up figures: see `store/tests/migrates.rs`).

use crate::desk::Desk;
use serde_json::Value;
use std::path::Path;

/// The store of schema 3 as `old.db`, brought up to date.
fn desk() -> Desk {
    let desk = Desk::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/data/schema-3.db");
    desk.write("old.db", std::fs::read(data).expect("the fixture is there"));
    assert_eq!(desk.run(&["show", "--store", "old.db"]).exit, Some(0));
    desk
}

#[test]
fn show_begins_with_the_claims() {
    let ran = desk().run(&["show", "--store", "old.db", "--run", "1"]);
    let (claims, table) = (
        ran.stdout.find("The study's claim is supported"),
        ran.stdout.find("By bitmap"),
    );
    assert!(claims.is_some() && claims < table, "{}", ran.stdout);
    assert!(ran.stdout.contains("published: +10 %"), "{}", ran.stdout);
}

#[test]
fn export_has_the_claims() {
    let ran = desk().run(&["export", "--store", "old.db", "--run", "1"]);
    let export: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let claim = &export["claims"][0];
    assert_eq!((&claim["verdict"], &claim["pairs"]), (&"supported".into(), &2.into()));
    let effect = |name: &str| claim["effect"][name].as_f64();
    assert!(
        effect("low") > effect("deciding_low") && effect("high") < effect("deciding_high"),
        "{claim}"
    );
    assert!(effect("deciding_low") > effect("claimed_low"), "{claim}");
    assert!(effect("deciding_confidence") > Some(0.95), "{claim}");
    assert_eq!(
        export["control"],
        Value::Array(Vec::new()),
        "a study without replicates"
    );
}

#[test]
fn a_run_compared_with_itself_is_equal() {
    let desk = desk();
    let ran = desk.run_without_touching(&["compare", "old.db:1", "1", "--store", "old.db"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("they are equal"), "{}", ran.stdout);
    assert!(ran.stdout.contains("simulated disks, virtual time"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("only in"), "{}", ran.stdout);
}

#[test]
fn cells_that_one_has_are_listed_and_nothing_is_claimed_of_them() {
    let desk = desk();
    let ran = desk.run(&["compare", "old.db:1", "old.db:2", "--format", "json"]);
    let comparison: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(comparison["rows"], Value::Array(Vec::new()));
    assert_eq!(comparison["only_in_a"].as_array().map(Vec::len), Some(12));
    assert_eq!(comparison["only_in_b"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_cannot_be_compared_says_so() {
    let desk = desk();
    for (call, words) in [
        (["compare", "nosuch.db", "old.db"], "nosuch.db"),
        (["compare", "old.db:7", "old.db"], "7"),
        (["compare", "old.db@colour=red", "old.db"], "colour"),
    ] {
        let ran = desk.run_without_touching(&call);
        assert_eq!(ran.exit, Some(2), "{call:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{call:?}: {}", ran.stderr);
    }
}
