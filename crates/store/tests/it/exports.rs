//! Exports of a run in all formats.

use crate::fixture::Bench;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::fs::{self, File};
use store::{ClaimCase, ClaimOutcome};

/// A value as in the CSV.
fn text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::ULong(number) => number.to_string(),
        Field::UInt(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        other => panic!("no column has this type: {other:?}"),
    }
}

#[test]
fn parquet_has_the_rows_of_the_csv() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).expect("a run begins");
    for place in 0..2 {
        for index in 0..3 {
            bench.measure(&mut store, &run, place, index);
        }
    }
    let csv = store.export_csv(run.summary.id).expect("CSV");
    let path = bench.folder.path().join("samples.parquet");
    fs::write(&path, store.export_parquet(run.summary.id).expect("Parquet")).expect("a file");
    let file = SerializedFileReader::new(File::open(&path).expect("it is there")).expect("Parquet");
    let rows: Vec<Row> = file
        .get_row_iter(None)
        .expect("rows")
        .map(|row| row.expect("a row"))
        .collect();
    let mut lines = csv::Reader::from_reader(csv.as_bytes());
    let heading: Vec<String> = lines.headers().expect("a heading").iter().map(str::to_owned).collect();
    let lines: Vec<csv::StringRecord> = lines.records().map(|line| line.expect("a line")).collect();
    assert!(lines.len() > 20, "{csv}");
    assert_eq!(rows.len(), lines.len());
    for (row, line) in rows.iter().zip(&lines) {
        let names: Vec<&String> = row.get_column_iter().map(|(name, _)| name).collect();
        assert_eq!(names, heading.iter().collect::<Vec<_>>());
        let values: Vec<String> = row.get_column_iter().map(|(_, value)| text(value)).collect();
        assert_eq!(values, line.iter().collect::<Vec<_>>());
    }
    // The seeds exceed the range of a signed number.
    assert_eq!(
        text(rows[0].get_column_iter().nth(4).expect("the seed").1),
        u64::MAX.to_string()
    );
}

/// A study with many cells shows a part of them: the selection matches that part of all rows.
#[test]
fn a_selection_of_cells_is_that_part_of_the_run() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).expect("a run begins");
    for place in 0..2 {
        bench.measure(&mut store, &run, place, 1);
    }
    let (id, cell) = (run.summary.id, bench.plan.cells[1].id);
    let selection = store::Selection::of(id, [cell].into());
    let mut samples = store.samples(id).expect("samples");
    samples.retain(|sample| sample.trial.cell == cell);
    assert_eq!(bench.key(samples[0].trial), bench.plan.cells[1].key);
    assert_eq!(store.samples_of(&selection).expect("samples"), samples);
    let mut guards = store.guards(id).expect("guards");
    guards.retain(|guard| guard.trial.cell == cell);
    assert_eq!(store.guards_of(&selection).expect("guards"), guards);
    assert_eq!(store.latencies_of(&selection).expect("latencies").len(), 1);
    assert_eq!(store.provenance_of(&selection).expect("provenance").len(), 1);
    assert!(store.calls_of(&selection).expect("calls").is_empty());
    let none = store::Selection::of(id, [].into());
    assert!(store.samples_of(&none).expect("samples").is_empty());
}

/// Trials, guards and claims are test cases; failed guards and refuted claims are failures.
#[test]
fn junit_has_trials_guards_and_claims() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).expect("a run begins");
    bench.measure(&mut store, &run, 0, 0);
    bench.measure(&mut store, &run, 1, 0);
    bench.measure(&mut store, &run, 1, 1);
    let case = |name: &str, outcome| ClaimCase {
        name: name.to_owned(),
        outcome,
        detail: "1.5 < 2 & more".to_owned(),
    };
    let claims = [
        case("one", ClaimOutcome::Passed),
        case("two", ClaimOutcome::Failed),
        case("three", ClaimOutcome::Skipped),
    ];
    let xml = store.export_junit(run.summary.id, &claims).expect("XML");
    let report = quick_junit::Report::deserialize_from_str(&xml).expect("JUnit XML");
    let names: Vec<&str> = report.test_suites.iter().map(|suite| suite.name.as_str()).collect();
    assert_eq!(names, ["trials", "guards", "claims"]);
    let [trials, guards, claims] = &report.test_suites[..] else {
        panic!("three")
    };
    assert_eq!((trials.tests, trials.failures), (3, 0));
    assert_eq!((claims.tests, claims.failures), (3, 1));
    assert_eq!(xml.matches("<skipped").count(), 1, "{xml}");
    let doubts = store.guards(run.summary.id).expect("guards");
    assert!(
        doubts.iter().any(|row| !row.entry.passed),
        "the fixture has a doubtful sample"
    );
    assert!(guards.failures > 0 && guards.failures < guards.tests, "{xml}");
    insta::assert_snapshot!(xml);
}

/// The values are those of the CSV in base units.
#[test]
fn openmetrics_has_base_units() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).expect("a run begins");
    bench.measure(&mut store, &run, 0, 0);
    let text = store.export_openmetrics(run.summary.id).expect("text");
    assert!(text.ends_with("# EOF\n"), "{text}");
    insta::assert_snapshot!(text);
}
