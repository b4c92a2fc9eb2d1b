//! Output of results: to a report, to a script, to a pipe that closes.

use crate::desk::Desk;
use crate::kept;
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn what_was_measured_comes_out() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 2);
    let json = desk.run_without_touching(&["export"]);
    assert_eq!((json.exit, json.stderr.as_str()), (Some(0), ""));
    let export: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON and nothing else");
    assert_eq!(export["samples"].as_array().map(Vec::len), Some(2));
    let csv = desk.run_without_touching(&["export", "--format", "csv", "--run", "1"]);
    assert_eq!((csv.exit, csv.stdout.lines().count()), (Some(0), 3), "{}", csv.stdout);
    let table = desk.run_without_touching(&["show"]);
    assert_eq!(table.exit, Some(0));
    assert!(
        table.stdout.contains("Small") && !table.stdout.contains('\u{1b}'),
        "{}",
        table.stdout
    );
}

#[test]
fn a_report_says_where_it_is() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 2);
    let ran = desk.run(&["report", "-o", "report.html"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(0), ""), "{}", ran.stderr);
    assert_eq!(ran.stderr, "raidlab: the report is in report.html\n");
    let page = fs::read_to_string(desk.folder().join("report.html")).expect("the report is there");
    assert!(page.contains("</html>"));
}

#[test]
fn a_report_where_none_can_be() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 2);
    desk.write("file", "");
    insta::assert_snapshot!(desk.transcript(&[
        &["report", "-o", "."],
        &["report", "-o", "file/report.html"],
        &["report", "-o", "/proc/report.html"],
        &["report", "-o", ""],
        &["report"],
    ]));
}

/// `raidlab export | head -1`
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 3000);
    let whole = desk.run(&["export"]).stdout.len();
    assert!(
        whole > 2 * 65536,
        "{whole} bytes go into a pipe at once, and the test shows nothing"
    );
    let mut child = desk.raidlab(&["export"]).spawn().expect("raidlab starts");
    let mut start = [0; 1];
    child
        .stdout
        .take()
        .expect("it is a pipe")
        .read_exact(&mut start)
        .expect("it says something");
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()),
        (Some(0), "")
    );
}

#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 2);
    let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let mut export: Command = desk.raidlab(&["export"]);
    let ran = export.stdout(Stdio::from(full)).output().expect("raidlab is run");
    assert_eq!(ran.status.code(), Some(1));
    let words = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(words, "raidlab: cannot write the result: No space left on device\n");
}
