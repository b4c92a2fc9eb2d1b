//! Exports for other programs: JUnit for CI servers, OpenMetrics for Prometheus. The exit code is 0 whatever the
//! verdicts.

use crate::desk::Desk;
use crate::kept;
use std::collections::BTreeSet;
use std::fs;
use study::stack::MachineKind;

fn desk() -> Desk {
    let desk = Desk::new();
    kept::judged_store(&desk, "raidlab.db", MachineKind::Lab, 1.0);
    desk
}

/// The verdicts on the claims, in the study's order.
const VERDICTS: [&str; 4] = ["supported", "refuted", "undecided", "untestable"];

#[test]
fn a_refuted_claim_is_no_failure_of_the_command() {
    let desk = desk();
    let shown = desk.run_without_touching(&["show"]);
    assert_eq!(shown.exit, Some(0), "{}", shown.stderr);
    let places = VERDICTS.map(|verdict| shown.stdout.find(verdict));
    assert!(places.iter().all(Option::is_some), "{}", shown.stdout);
    for format in ["json", "csv", "junit", "openmetrics"] {
        let ran = desk.run_without_touching(&["export", "--format", format]);
        assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""), "{format}");
    }
    assert_eq!(desk.run(&["export", "--format", "parquet", "-o", "out"]).exit, Some(0));
    assert_eq!(desk.run(&["show", "--format", "json"]).exit, Some(0));
    assert_eq!(desk.run(&["report", "-o", "page.html"]).exit, Some(0));
}

/// Supported claims pass, refuted ones fail, the others are skipped, each with its measurements.
#[test]
fn claims_are_cases_of_junit() {
    let desk = desk();
    let ran = desk.run_without_touching(&["export", "--format", "junit"]);
    let claims = ran.stdout.split("<testsuite name=\"claims\"").nth(1).expect("a suite");
    assert!(
        claims.starts_with(" tests=\"4\" skipped=\"2\" errors=\"0\" failures=\"1\">"),
        "{claims}"
    );
    let cases: Vec<&str> = claims.split("<testcase ").skip(1).collect();
    let [supported, refuted, undecided, untestable] = cases[..] else {
        panic!("{claims}")
    };
    assert!(
        supported.starts_with("name=\"XFS writes faster\" classname=\"claims\"/>"),
        "{supported}"
    );
    assert!(refuted.starts_with("name=\"ext4 writes faster\""), "{refuted}");
    assert!(
        refuted.contains("<failure message=\"refuted; ") && refuted.contains("type=\"refuted\""),
        "{refuted}"
    );
    assert!(refuted.contains("0.50"), "the effect is said: {refuted}");
    assert!(undecided.contains("<skipped message=\"undecided; "), "{undecided}");
    assert!(untestable.contains("<skipped message=\"untestable; "), "{untestable}");
    assert!(untestable.contains("no disk model has it"), "{untestable}");
    let trials = ran.stdout.split("<testsuite name=\"trials\"").nth(1).expect("a suite");
    assert!(
        trials.starts_with(" tests=\"8\" skipped=\"0\" errors=\"0\" failures=\"0\">"),
        "{trials}"
    );
    // The same to a file.
    assert_eq!(
        desk.run(&["export", "--format", "junit", "-o", "junit.xml"]).exit,
        Some(0)
    );
    assert_eq!(
        fs::read_to_string(desk.folder().join("junit.xml")).expect("a file"),
        ran.stdout
    );
}

/// Requirements of the OpenMetrics text format: contiguous families, each starting with its type and unit, every
/// line a name, quoted labels and a number, and the end marked.
#[test]
fn openmetrics_can_be_read() {
    let ran = desk().run_without_touching(&["export", "--format", "openmetrics"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let (last, lines) = lines.split_last().expect("lines");
    assert_eq!(*last, "# EOF");
    let (mut family, mut units, mut seen, mut samples) = ("", BTreeSet::new(), BTreeSet::new(), 0);
    for line in lines {
        if let Some(description) = line.strip_prefix("# ") {
            let words: Vec<&str> = description.splitn(3, ' ').collect();
            let [kind, name, value] = words[..] else {
                panic!("{line}")
            };
            if name != family {
                assert!(seen.insert(name), "{name} is in pieces");
                family = name;
            }
            match kind {
                "TYPE" => assert_eq!(value, "gauge", "{line}"),
                "UNIT" => {
                    units.insert(value);
                    assert!(name.ends_with(&format!("_{value}")), "{line}");
                }
                other => assert_eq!(other, "HELP", "{line}"),
            }
            continue;
        }
        let (name, rest) = line.split_once('{').expect("labels");
        assert_eq!(name, family, "{line}");
        let (labels, value) = rest.rsplit_once("} ").expect("a value");
        assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
        let labels: Vec<(&str, &str)> = labels
            .split("\",")
            .map(|label| label.split_once("=\"").unwrap_or_else(|| panic!("{line}")))
            .collect();
        let names: BTreeSet<&str> = labels.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), labels.len(), "{line}");
        assert!(
            ["cell", "stack", "workload", "seed", "test"]
                .iter()
                .all(|name| names.contains(name)),
            "{line}"
        );
        samples += 1;
    }
    assert_eq!(samples, 16, "2 cells of 4 trials of 2 tests");
    assert_eq!(units, BTreeSet::from(["bytes_per_second"]));
    // 50 MiB/s
    assert!(ran.stdout.contains("} 52428800.0\n"), "{}", ran.stdout);
}

/// A sparse file of 3 GiB was read into memory.
#[test]
fn a_file_that_is_too_large_for_an_export_is_not_read() {
    let desk = Desk::new();
    desk.write("sparse.json", "");
    let sparse = fs::File::options().write(true).open(desk.folder().join("sparse.json"));
    sparse.and_then(|sparse| sparse.set_len(3 << 30)).expect("sparse");
    let ran = desk.run(&["digest", "sparse.json"]);
    assert_eq!(
        (ran.exit, ran.stderr.as_str()),
        (Some(2), "raidlab: `sparse.json` is larger than 256 MiB\n")
    );
}
