//! Files of version 0.1.0 (`earlier/`) are readable by this version, as docs/stability.md promises.

use crate::desk::{Desk, Ran};
use serde_json::Value;

const STUDY: &str = include_str!("earlier/study.toml");
const PLAN: &str = include_str!("earlier/plan.txt");
const MEASURED: &str = include_str!("earlier/measured.toml");
const STORE: &[u8] = include_bytes!("earlier/store.db");
const JSON: &str = include_str!("earlier/run.json");
const CSV: &str = include_str!("earlier/run.csv");
const DIGEST: &str = include_str!("earlier/digest.txt");

/// Parts of the JSON export that are computed from the measurements, and may be computed better.
const COMPUTED: [&str; 1] = ["claims"];

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("study.toml", STUDY);
    desk.write("measured.toml", MEASURED);
    desk.write("store.db", STORE);
    desk.write("run.json", JSON);
    desk
}

fn ran(desk: &Desk, arguments: &[&str]) -> Ran {
    let ran = desk.run(arguments);
    assert_eq!(ran.exit, Some(0), "{arguments:?}: {}", ran.stderr);
    ran
}

#[test]
fn a_study_has_the_same_cells() {
    let plan = ran(&desk(), &["plan", "study.toml", "--format", "json"]).stdout;
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    let cells = plan["cells"].as_array().expect("a list");
    let cells: Vec<String> = cells
        .iter()
        .map(|cell| format!("{} {}", cell["id"].as_str().unwrap(), cell["key"].as_str().unwrap()))
        .collect();
    assert!(cells.len() > 100, "the fixture is not trivial");
    assert_eq!(cells, PLAN.lines().collect::<Vec<_>>());
}

#[test]
fn a_store_has_the_same_values_in_json() {
    let export = ran(&desk(), &["export", "--store", "store.db", "--format", "json"]).stdout;
    let now: Value = serde_json::from_str(&export).expect("JSON");
    let then: Value = serde_json::from_str(JSON).expect("JSON");
    let mut differences = Vec::new();
    for (key, value) in then.as_object().expect("a table") {
        if COMPUTED.contains(&key.as_str()) {
            assert!(now[key].is_array(), "{key}");
        } else {
            compare(key, value, &now[key], &mut differences);
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(then["samples"].as_array().is_some_and(|samples| samples.len() > 100));
}

/// New keys are allowed; earlier keys and values must exist.
fn compare(place: &str, then: &Value, now: &Value, differences: &mut Vec<String>) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (key, value) in then {
                let place = format!("{place}.{key}");
                compare(&place, value, now.get(key).unwrap_or(&Value::Null), differences);
            }
        }
        (Value::Array(then), Value::Array(now)) if then.len() == now.len() => {
            for (number, (then, now)) in then.iter().zip(now).enumerate() {
                compare(&format!("{place}[{number}]"), then, now, differences);
            }
        }
        _ if then == now => {}
        _ => differences.push(format!("{place}: {then} was {now}")),
    }
}

#[test]
fn new_keys_are_no_difference_and_changed_ones_are() {
    let then = serde_json::json!({"a": [{"b": 1}], "c": null});
    let is_same = |now: Value| {
        let mut differences = Vec::new();
        compare("", &then, &now, &mut differences);
        differences.is_empty()
    };
    assert!(is_same(
        serde_json::json!({"a": [{"b": 1, "new": 2}], "c": null, "new": 3})
    ));
    for changed in [
        serde_json::json!({"a": [{"b": 2}], "c": null}),
        serde_json::json!({"a": [{}], "c": null}),
        serde_json::json!({"a": [{"b": 1}, {"b": 1}], "c": null}),
        serde_json::json!({"c": null}),
    ] {
        assert!(!is_same(changed.clone()), "{changed}");
    }
}

#[test]
fn a_store_has_the_same_columns_and_values_in_csv() {
    let now = ran(&desk(), &["export", "--store", "store.db", "--format", "csv"]).stdout;
    assert_eq!(now.lines().count(), CSV.lines().count());
    // New columns are at the end.
    for (now, then) in now.lines().zip(CSV.lines()) {
        let rest = now.strip_prefix(then);
        let is_same = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(','));
        assert!(is_same, "now:  {now}\nthen: {then}");
    }
}

#[test]
fn a_store_is_shown_reported_compared_and_has_the_same_digest() {
    let desk = desk();
    let runs = ran(&desk, &["runs", "--store", "store.db"]).stdout;
    assert!(runs.contains("Measured by version 0.1.0"), "{runs}");
    let shown = ran(&desk, &["show", "--store", "store.db"]).stdout;
    for figure in ["1.78", "1.95", "2.07", "4.51", "7,727", "5,088"] {
        assert!(shown.contains(figure), "{figure} is missing: {shown}");
    }
    ran(&desk, &["report", "--store", "store.db", "-o", "report.html"]);
    assert_eq!(ran(&desk, &["digest", "store.db"]).stdout, DIGEST);
    let equal = ran(&desk, &["digest", "store.db", "run.json"]);
    assert_eq!(equal.exit, Some(0), "the export of that version has the same digest");
    ran(&desk, &["compare", "store.db", "store.db"]);
}

/// A run of this version goes into the store of an earlier one, and its existing runs are unchanged.
#[test]
fn lab_a_store_takes_new_runs() {
    let Some((desk, _turn)) = crate::lab::desk() else {
        return;
    };
    desk.write("measured.toml", MEASURED);
    desk.write("store.db", STORE);
    ran(
        &desk,
        &[
            "run",
            "measured.toml",
            "--store",
            "store.db",
            "--only",
            "type=ext2,workload=few files",
        ],
    );
    let runs = ran(&desk, &["runs", "--store", "store.db", "--format", "json"]).stdout;
    let runs: Value = serde_json::from_str(&runs).expect("JSON");
    assert_eq!(runs.as_array().map(Vec::len), Some(2), "{runs}");
    let then = ran(
        &desk,
        &["export", "--store", "store.db", "--run", "1", "--format", "csv"],
    );
    assert_eq!(then.stdout.lines().count(), CSV.lines().count());
}
