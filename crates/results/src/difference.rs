//! Compares two exported runs and finds the first difference.

use crate::exported_run::{ExportedRun, Trial, text};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::fmt::{Display, Write as _};
use store::TrialFacts;
use study::{DiskCounters, TestDisk};

/// Result of a comparison, in words.
pub struct Difference {
    pub is_same: bool,
    pub text: String,
    /// Files that differ between the runs: kernels, and files that guests read.
    pub inputs: Vec<Input>,
}

/// The SHA-256 of a kernel's image or of a file that guests read, in two runs.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Input {
    pub name: String,
    /// `None` if the run did not have it.
    pub one: Option<String>,
    pub other: Option<String>,
}

/// Compares two runs trial by trial.
pub fn difference(one: &ExportedRun, other: &ExportedRun) -> Difference {
    let mut text = String::new();
    for export in [one, other] {
        let run = &export.json["run"];
        let _ = writeln!(
            text,
            "{}{}  {} (raidlab {}, seed {})",
            export.digest(),
            export.digest_remark(),
            export.path.display(),
            run["raidlab_version"].as_str().unwrap_or("?"),
            run["seed"],
        );
    }
    for (what, key) in [("study", "study_sha256"), ("seed", "seed")] {
        if one.json["run"][key] != other.json["run"][key] {
            let _ = writeln!(text, "different {what}: figures may differ for that reason alone");
        }
    }
    let inputs = inputs(one, other);
    if !inputs.is_empty() {
        let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
        let _ = writeln!(text, "different files in the guests: {}", names.join(", "));
    }
    let [of_one, of_other] = [one, other].map(|export| export.trials().collect::<HashSet<Trial<'_>>>());
    let shared: Vec<Trial<'_>> = one.trials().filter(|trial| of_other.contains(trial)).collect();
    let alone = of_one.symmetric_difference(&of_other).count();
    if alone > 0 {
        let _ = writeln!(text, "{alone} trials are done in only one of the two");
    }
    let has_same_seed = one.json["run"]["seed"] == other.json["run"]["seed"];
    let parts = in_parts(one, other, has_same_seed);
    for line in &parts {
        let _ = writeln!(text, "{line}");
    }
    let differing: Vec<(Trial<'_>, Vec<String>)> = shared
        .iter()
        .map(|trial| (*trial, in_trial(one, other, *trial)))
        .filter(|(_, lines)| !lines.is_empty())
        .collect();
    let are_rows_same = alone == 0 && parts.is_empty() && differing.is_empty();
    let is_same = are_rows_same && one.digest() == other.digest();
    match differing.first() {
        None if is_same => text.push_str("identical, including the contents of the disks\n"),
        None if are_rows_same => text.push_str("the digests differ, and the rows of their trials do not\n"),
        None => {}
        Some((trial, lines)) => {
            let _ = writeln!(
                text,
                "{} of {} trials differ; the first in the plan's order:",
                differing.len(),
                shared.len()
            );
            let _ = writeln!(text, "cell `{}`, trial {}", trial.cell, trial.index + 1);
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    Difference { is_same, text, inputs }
}

/// Differences in the cells, and in the seeds of trials, which follow from that of the run. What a cell is made of is in its
/// identity.
fn in_parts(one: &ExportedRun, other: &ExportedRun, has_same_seed: bool) -> Vec<String> {
    let cell = |row: &Value| format!("`{}` ({})", text(row, "cell"), text(row, "id"));
    let trial = |row: &Value| {
        let done = (row["status"] == "done").then(|| (text(row, "cell"), row["trial"].as_u64()));
        done.map(|(name, index)| {
            let index = index.unwrap_or_default() + 1;
            let seed = has_same_seed.then(|| format!(", seed {}", row["seed"]));
            format!("cell `{name}`, trial {index}{}", seed.unwrap_or_default())
        })
    };
    let cells = [one, other].map(|export| sorted(export.rows("cells").iter().map(cell)));
    let trials = [one, other].map(|export| sorted(export.rows("trials").iter().filter_map(trial)));
    let mut lines = Vec::new();
    for (what, [a, b]) in [("cells", cells), ("trials", trials)] {
        let alone =
            |of: &[String], others: &[String]| of.iter().find(|row| others.binary_search(row).is_err()).cloned();
        if a != b {
            let first = alone(&a, &b).or_else(|| alone(&b, &a));
            let first = first.unwrap_or_else(|| "one of them is there twice".to_owned());
            lines.push(format!("the lists of {what} differ: {first}"));
        }
    }
    lines
}

fn sorted(rows: impl Iterator<Item = String>) -> Vec<String> {
    let mut rows: Vec<String> = rows.collect();
    rows.sort_unstable();
    rows
}

/// Runs of raidlab before 0.3 do not name their files: nothing is known to differ then.
fn inputs(one: &ExportedRun, other: &ExportedRun) -> Vec<Input> {
    let (one, other) = (one.inputs(), other.inputs());
    if one.is_empty() || other.is_empty() {
        return Vec::new();
    }
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names
        .into_iter()
        .filter(|name| one.get(*name) != other.get(*name))
        .map(|name| Input {
            name: name.clone(),
            one: one.get(name).cloned(),
            other: other.get(name).cloned(),
        })
        .collect()
}

/// The first difference of each kind in a trial: a sample, a latency, a disk.
fn in_trial(one: &ExportedRun, other: &ExportedRun, trial: Trial<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (table, names) in [("samples", ["test", "metric"]), ("latencies", ["test", "operation"])] {
        let (a, b) = (one.rows_of(table, trial), other.rows_of(table, trial));
        let differ = |(a, b): &(&&Value, &&Value)| field_that_differs(a, b).is_some();
        let differing = a.iter().zip(&b).filter(differ).count() + a.len().abs_diff(b.len());
        let (first, all) = (a.iter().zip(&b).find(differ), a.len());
        if let Some((a, b)) = first {
            let name = names.map(|name| text(a, name)).join(" ");
            lines.push(format!(
                "{name}: {} ({differing} of {} {table} differ)",
                values(a, b),
                all
            ));
        } else if differing > 0 {
            lines.push(format!("{} {table} in one, {} in the other", a.len(), b.len()));
        }
    }
    lines.extend(of_disks(&one.facts(trial), &other.facts(trial)));
    lines
}

/// `19.92 MiB/s against 19.43 MiB/s (2.46 %)`, or the first field that differs.
fn values(a: &Value, b: &Value) -> String {
    if let (Some(x), Some(y)) = (a["value"].as_f64(), b["value"].as_f64())
        && x != y
    {
        let unit = text(a, "unit");
        let apart = 100.0 * (x - y).abs() / x.abs().max(y.abs());
        return format!("{x} {unit} against {y} {unit} ({apart:.2} %)");
    }
    field_that_differs(a, b).map_or_else(String::new, |(key, value)| format!("{key} {value} against {}", b[key]))
}

/// The first field of two rows that differs. The seed is that of the trial and no figure.
fn field_that_differs<'a>(a: &'a Value, b: &Value) -> Option<(&'a str, &'a Value)> {
    let fields = a.as_object().into_iter().flatten();
    let mut fields = fields.map(|(key, value)| (key.as_str(), value));
    fields.find(|(key, value)| *key != "seed" && b[*key] != **value)
}

/// The first difference of the first disk that differs: in its counters, else in its contents.
fn of_disks(a: &TrialFacts, b: &TrialFacts) -> Option<String> {
    let simulated = a.disk_counters.iter().map(|disk| {
        let other = b.disk_counters.iter().find(|other| other.disk == disk.disk);
        (
            disk.disk.clone(),
            other.map_or_else(Vec::new, |other| of_simulated(disk, other)),
        )
    });
    let real = a.test_disks.iter().map(|disk| {
        let other = b.test_disks.iter().find(|other| other.place == disk.place);
        (
            disk.place.to_string(),
            other.map_or_else(Vec::new, |other| of_real(disk, other)),
        )
    });
    match simulated.chain(real).find(|(_, words)| !words.is_empty()) {
        Some((disk, words)) => Some(format!("disk {disk}: {}", words.join(", "))),
        None => {
            let (a, b) = (number_of_facts(a), number_of_facts(b));
            (a != b).then(|| format!("{a} facts of disks in one, {b} in the other"))
        }
    }
}

fn of_simulated(a: &DiskCounters, b: &DiskCounters) -> Vec<String> {
    let counts = a.counts.iter().filter_map(|(counter, a)| {
        let b = b.counts.get(counter).filter(|b| *b != a)?;
        Some(against(counter.name(), a, b))
    });
    let are_known = a.contents.is_some() && b.contents.is_some();
    let contents = (are_known && a.contents != b.contents).then(|| "contents differ".to_owned());
    counts.chain(contents).collect()
}

fn of_real(a: &TestDisk, b: &TestDisk) -> Vec<String> {
    let node = (a.node != b.node).then(|| against("node", &a.node, &b.node));
    let properties = a.properties.iter().filter_map(|a| {
        let b = b.properties.iter().find(|b| b.key == a.key && b.value != a.value)?;
        Some(against(&a.key, &a.value, &b.value))
    });
    node.into_iter().chain(properties).collect()
}

fn against(name: &str, a: &dyn Display, b: &dyn Display) -> String {
    format!("{} {a} against {b}", name.replace('_', " "))
}

fn number_of_facts(facts: &TrialFacts) -> usize {
    let simulated = facts.disk_counters.iter();
    let simulated = simulated.map(|disk| disk.counts.len() + usize::from(disk.contents.is_some()));
    let real = facts.test_disks.iter().map(|disk| 1 + disk.properties.len());
    simulated.chain(real).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::Path;

    fn export(throughput: f64, [reads, busy_ns]: [&str; 2], contents: &str) -> ExportedRun {
        let sample = |trial: u64, value: f64| {
            json!({ "cell": "xfs | tree", "trial": trial, "test": "copy", "metric": "throughput", "unit": "MiB/s",
                "value": value })
        };
        let fact = |key: &str, value: &str| json!({ "cell": "xfs | tree", "trial": 1, "key": key, "value": value });
        let json = json!({
            "format": "raidlab-export",
            "format_version": 1,
            "cells": [{ "cell": "xfs | tree", "id": "0a" }],
            "run": { "digest_sha256": format!("{throughput}"), "seed": 7, "raidlab_version": "1" },
            "trials": [
                { "cell": "xfs | tree", "trial": 0, "seed": 8, "status": "done" },
                { "cell": "xfs | tree", "trial": 1, "seed": 9, "status": "done" },
            ],
            "samples": [sample(0, 10.0), sample(1, 11.0), sample(1, throughput)],
            "provenance": [
                fact("disk.vda.reads", reads),
                fact("disk.vda.busy_ns", busy_ns),
                fact("disk.vda.contents", contents),
            ],
        });
        ExportedRun::parse(Path::new("a.json"), &json.to_string()).expect("it is one")
    }

    #[test]
    fn equal_runs_are_said_to_be() {
        let difference = difference(&export(1.0, ["5", "6"], "ab"), &export(1.0, ["5", "6"], "ab"));
        assert!(difference.is_same, "{}", difference.text);
    }

    #[test]
    fn the_first_difference_has_its_cell_trial_sample_and_disk() {
        let difference = difference(&export(20.0, ["5", "6"], "ab"), &export(19.0, ["5", "7"], "ab"));
        assert!(!difference.is_same);
        for words in [
            "1 of 2 trials differ",
            "cell `xfs | tree`, trial 2",
            "copy throughput: 20 MiB/s against 19 MiB/s (5.00 %) (1 of 2 samples differ)",
            "disk vda: busy ns 6 against 7",
        ] {
            assert!(difference.text.contains(words), "{}", difference.text);
        }
    }

    /// 18,446,744,073,709,551,615 trials were in only one of the two.
    #[test]
    fn issue_39_a_trial_that_is_there_twice_is_one() {
        let one = export(1.0, ["5", "6"], "ab");
        let mut twice = export(1.0, ["5", "6"], "ab");
        let rows = twice.json["trials"].as_array_mut().expect("rows");
        rows.push(rows[0].clone());
        for (a, b) in [(&one, &twice), (&twice, &one)] {
            let difference = difference(a, b);
            assert!(!difference.text.contains("in only one"), "{}", difference.text);
        }
    }

    /// It was said three times: of the run, of its trials, and of each row.
    #[test]
    fn another_seed_is_said_once() {
        let of_seed = |seed: u64, throughput: f64| {
            let mut export = export(throughput, ["5", "6"], "ab");
            export.json["run"]["seed"] = json!(seed);
            for table in ["trials", "samples"] {
                for row in export.json[table].as_array_mut().expect("rows") {
                    row["seed"] = json!(seed);
                }
            }
            export
        };
        let text = difference(&of_seed(7, 20.0), &of_seed(8, 19.0)).text;
        assert_eq!(text.matches("seed 7").count(), 1, "{text}");
        assert!(
            text.contains("different seed: ") && !text.contains("lists of trials"),
            "{text}"
        );
        assert!(text.contains("(1 of 2 samples differ)"), "{text}");
    }

    #[test]
    fn a_file_of_the_guests_that_differs_is_named() {
        let with = |libc: &str| {
            let mut export = export(1.0, ["5", "6"], "ab");
            let fact =
                |key: &str, value: &str| json!({ "cell": "xfs | tree", "trial": 1, "key": key, "value": value });
            let rows = export.json["provenance"].as_array_mut().expect("rows");
            rows.extend([fact("file./lib/libc.so.6", libc), fact("kernel.image", "0a")]);
            export
        };
        let difference = difference(&with("aa"), &with("bb"));
        assert!(difference.is_same, "a file alone changes no figure");
        assert!(
            difference
                .text
                .contains("different files in the guests: /lib/libc.so.6\n"),
            "{}",
            difference.text
        );
        let input = Input {
            name: "/lib/libc.so.6".to_owned(),
            one: Some("aa".to_owned()),
            other: Some("bb".to_owned()),
        };
        assert_eq!(difference.inputs, [input]);
    }

    #[test]
    fn contents_alone_make_a_difference() {
        let difference = difference(&export(1.0, ["5", "6"], "ab"), &export(1.0, ["5", "6"], "cd"));
        assert!(!difference.is_same);
        assert!(
            difference.text.contains("disk vda: contents differ"),
            "{}",
            difference.text
        );
    }

    /// An export with emptied cells, or with another seed of a trial, was "identical".
    #[test]
    fn cells_and_seeds_that_were_changed_are_a_difference() {
        let changed = |change: &dyn Fn(&mut Value)| {
            let mut changed = export(1.0, ["5", "6"], "ab");
            change(&mut changed.json);
            difference(&changed, &export(1.0, ["5", "6"], "ab"))
        };
        assert!(changed(&|_| ()).is_same);
        type Change<'a> = (&'a dyn Fn(&mut Value), &'a str);
        let changes: [Change<'_>; 3] = [
            (
                &|json| json["cells"] = json!([]),
                "the lists of cells differ: `xfs | tree` (0a)",
            ),
            (
                &|json| json["cells"][0]["id"] = json!("0b"),
                "the lists of cells differ: `xfs | tree` (0b)",
            ),
            (
                &|json| json["trials"][1]["seed"] = json!(10),
                "the lists of trials differ: cell `xfs | tree`, trial 2, seed 10",
            ),
        ];
        for (change, words) in changes {
            let difference = changed(change);
            assert!(!difference.is_same);
            assert!(difference.text.contains(words), "{}", difference.text);
        }
    }
}
