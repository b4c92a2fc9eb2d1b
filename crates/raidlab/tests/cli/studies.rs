//! Files that are not studies, or invalid ones.

use crate::desk::Desk;
use std::fmt::Write;
use std::time::{Duration, Instant};

const TEN_ERRORS: &str = include_str!("../../../study-file/tests/it/ten-errors.toml");

#[test]
fn ten_errors_are_all_reported_with_place_and_help() {
    let desk = Desk::new();
    desk.write("wrong.toml", TEN_ERRORS);
    for command in ["run", "plan", "shell"] {
        let ran = desk.run_without_touching(&[command, "wrong.toml"]);
        assert_eq!(ran.exit, Some(2));
        assert_eq!(ran.stdout, "");
        let places = ran
            .stderr
            .lines()
            .filter(|line| line.trim_start().starts_with("--> wrong.toml:"));
        assert_eq!(places.count(), 10, "{}", ran.stderr);
        assert_eq!(ran.stderr.matches("= help: ").count(), 10, "{}", ran.stderr);
        assert!(
            ran.stderr.trim_end().ends_with("10 errors in wrong.toml"),
            "{}",
            ran.stderr
        );
    }
    insta::assert_snapshot!(desk.transcript(&[&["run", "wrong.toml"]]));
}

#[test]
fn a_kernel_and_a_disk_that_there_are_not() {
    let desk = Desk::new();
    let workload = "[[workload]]\nname = \"a\"\ntree = { files = 1, size = \"4K\" }\n";
    desk.write("kernel.toml", format!("kernel = \"9.9\"\n{workload}"));
    desk.write("model.toml", format!("[disks]\nmodel = \"wd-500gb-2008\"\n{workload}"));
    insta::assert_snapshot!(desk.transcript(&[&["run", "kernel.toml"], &["run", "model.toml"]]));
}

#[test]
fn files_that_are_no_studies() {
    let desk = Desk::new();
    std::fs::create_dir(desk.folder().join("folder")).expect("a folder");
    desk.write("empty.toml", "");
    desk.write("binary.toml", b"title = \"a\"\n\x7fELF\x02\x01\xff\xfe");
    desk.write("text.txt", "Dear raidlab,\nplease test my disks.\n");
    desk.write("endless.toml", "x".repeat((1 << 20) + 1));
    insta::assert_snapshot!(desk.transcript(&[
        &["run", "nosuch.toml"],
        &["run", "folder"],
        &["run", "empty.toml"],
        &["run", "binary.toml"],
        &["run", "text.txt"],
        &["run", "endless.toml"],
        &["plan", "/dev/zero"],
    ]));
}

/// What takes more than linear time for a megabyte takes hours.
const PATIENCE: Duration = Duration::from_secs(1200);

/// A megabyte of junk is rejected quickly and does not fill the terminal.
#[test]
fn a_megabyte_of_junk() {
    let mut keys = String::new();
    for number in 0.. {
        let _ = writeln!(keys, "key{number} = {number}");
        if keys.len() > 1_000_000 {
            break;
        }
    }
    keys.truncate(1_000_000);
    for junk in [
        "x".repeat(1_000_000),
        "foo = bar\n".repeat(100_000),
        "a = [\n\n\n\n".repeat(100_000),
        keys,
    ] {
        let desk = Desk::new();
        desk.write("junk.toml", &junk);
        let began = Instant::now();
        let ran = desk.run_without_touching(&["run", "junk.toml"]);
        assert!(began.elapsed() < PATIENCE, "{:?} for {:.20}…", began.elapsed(), junk);
        assert_eq!(ran.exit, Some(2));
        assert!(ran.stderr.contains("in junk.toml"), "{:.1000}", ran.stderr);
        assert!(
            ran.stderr.lines().count() < 1000,
            "{} lines",
            ran.stderr.lines().count()
        );
    }
}
