//! Verdicts and comparisons, on a store that is at hand (made-up figures: see `store/tests/it/migrates.rs`).

use crate::desk::Desk;
use crate::kept;
use serde_json::Value;
use std::fs;
use std::path::Path;
use study::stack::MachineKind;

/// The store of schema 3 as `old.db`, migrated.
fn desk() -> Desk {
    let desk = Desk::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/data/schema-3.db");
    desk.write("old.db", fs::read(data).expect("the fixture is there"));
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
    assert!(ran.stdout.contains("equal in"), "{}", ran.stdout);
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

/// The page goes to the file of `-o`, or to standard output, and has the same contents as the text.
#[test]
fn a_comparison_is_a_page_on_demand() {
    let desk = Desk::new();
    kept::judged_store(&desk, "one.db", MachineKind::Lab, 1.0);
    kept::judged_store(&desk, "two.db", MachineKind::Lab, 1.5);
    let compare = ["compare", "one.db", "two.db"];
    let text = desk.run(&compare);
    assert_eq!(text.exit, Some(0), "{}", text.stderr);
    let summary = text.stdout.lines().nth(3).expect("a sentence");
    assert!(summary.contains("B is faster"), "{}", text.stdout);
    let page = desk.run(&[&compare[..], &["--format", "html", "-o", "page.html"]].concat());
    assert_eq!((page.exit, page.stdout.as_str()), (Some(0), ""), "{}", page.stderr);
    assert_eq!(page.stderr, "raidlab: the comparison is in page.html\n");
    let written = fs::read_to_string(desk.folder().join("page.html")).expect("the page is there");
    assert!(
        written.contains(&format!("<p class=\"verdict\">{summary}</p>")),
        "{written}"
    );
    let printed = desk.run_without_touching(&[&compare[..], &["--format", "html"]].concat());
    assert_eq!(printed.stdout, written);
    for format in ["text", "json"] {
        let printed = desk.run(&[&compare[..], &["--format", format]].concat()).stdout;
        assert_eq!(
            desk.run(&[&compare[..], &["--format", format, "-o", "out"]].concat())
                .exit,
            Some(0)
        );
        assert_eq!(
            fs::read_to_string(desk.folder().join("out")).expect("it is there"),
            printed
        );
    }
}

/// Neither of the two stores is overwritten by their comparison.
#[test]
fn a_comparison_overwrites_no_store() {
    let desk = Desk::new();
    kept::judged_store(&desk, "one.db", MachineKind::Lab, 1.0);
    kept::judged_store(&desk, "two.db", MachineKind::Lab, 1.0);
    for output in ["one.db", "two.db", "one.db-wal", "two.db-wal"] {
        let ran = desk.run_without_touching(&["compare", "one.db", "two.db", "--format", "html", "-o", output]);
        assert_eq!(ran.exit, Some(2), "{output}: {}", ran.stderr);
        assert!(ran.stderr.contains("is not overwritten"), "{output}: {}", ran.stderr);
    }
}

/// Another machine and other disks, the same stacks and workload.
#[test]
fn the_lab_is_compared_with_a_host() {
    let desk = Desk::new();
    kept::judged_store(&desk, "lab.db", MachineKind::Lab, 1.0);
    kept::judged_store(&desk, "host.db", MachineKind::Host, 0.5);
    let ran = desk.run(&["compare", "lab.db", "host.db", "--format", "json"]);
    let comparison: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    assert_eq!(
        (&comparison["a"]["simulated"], &comparison["b"]["simulated"]),
        (&true.into(), &false.into())
    );
    let rows = comparison["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4, "{comparison:#}");
    for row in rows {
        assert_eq!(
            (&row["same_cell"], &row["paired_by_seed"]),
            (&false.into(), &true.into()),
            "{row}"
        );
        assert_eq!(
            (&row["outcome"], row["trials_compared"].as_u64()),
            (&"slower".into(), Some(4)),
            "{row}"
        );
        assert!(
            (row["times_better"].as_f64().expect("a ratio") - 0.5).abs() < 1e-9,
            "{row}"
        );
    }
    assert_eq!(
        (&comparison["only_in_a"], &comparison["only_in_b"]),
        (&Value::Array(Vec::new()), &Value::Array(Vec::new()))
    );
    let text = desk.run(&["compare", "lab.db", "host.db"]).stdout;
    let is_marked: Vec<bool> = text
        .lines()
        .take(2)
        .map(|line| line.contains("(simulated disks"))
        .collect();
    assert_eq!(is_marked, [true, false], "{text}");
}

/// A page that is published had the folders of both stores.
#[test]
fn issue_39_no_folder_is_published_by_a_comparison() {
    let desk = desk();
    let folder = desk.folder().display().to_string();
    let store = format!("{folder}/old.db");
    for format in ["html", "json"] {
        let ran = desk.run(&["compare", &store, &store, "--format", format]);
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        assert!(
            ran.stdout.contains("of old.db") && !ran.stdout.contains(&folder),
            "{format}"
        );
    }
}
