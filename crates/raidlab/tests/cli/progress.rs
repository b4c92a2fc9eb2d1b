//! What a run says while it runs, where no terminal is.

use crate::lab;
use std::process::Stdio;

#[test]
fn lab_progress_is_plain_lines_and_results_are_apart() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let ran = desk.run(&["run", "small.toml", "--jobs", "2"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    for text in [&ran.stdout, &ran.stderr] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
    assert!(ran.stdout.starts_with("6 trials done, 0 failed; "), "{}", ran.stdout);
    let trials: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.contains(" virtual in "))
        .collect();
    assert_eq!(trials.len(), 6, "{}", ran.stderr);
    for (number, line) in (1..).zip(trials) {
        assert!(
            line.starts_with(&format!("raidlab: {number}/6 ext")) && line.contains(" left, "),
            "{line}"
        );
    }
    lab::assert_undisturbed(&desk);
}

#[test]
fn lab_a_run_that_is_done_is_not_done_again() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let first = desk.run(&["run", "small.toml"]);
    assert_eq!(first.exit, Some(0), "{}", first.stderr);
    let again = desk.run(&["run", "small.toml"]);
    assert!(
        again
            .stdout
            .starts_with("0 trials done, 0 failed, 6 were already in the store; "),
        "{}",
        again.stdout
    );
    assert!(
        again
            .stderr
            .contains("all trials of this study with seed 1 are already in the store"),
        "{}",
        again.stderr
    );
    lab::assert_undisturbed(&desk);
}

/// The table of a run stood only in `raidlab show`.
#[test]
fn lab_issue_12_16_the_table_is_shown_after_a_run() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let ran = desk.run(&["run", "small.toml"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let (first, table) = ran.stdout.split_once("\n\n").expect("a line, and the table below it");
    assert!(
        first.starts_with("6 trials done") && first.lines().count() == 1,
        "{first}"
    );
    assert_eq!(table, desk.run(&["show"]).stdout);
}

/// A terminal that can only print lines showed nothing at all.
#[test]
fn lab_issue_12_16_a_dumb_terminal_gets_lines() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let command = format!("{} run small.toml", crate::desk::PROGRAM);
    let mut script = desk.command("script");
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    let output = match script.env("TERM", "dumb").output() {
        Ok(output) => output,
        Err(error) => return println!("skipped: no terminal to try it on: script: {error}"),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert_eq!(
        text.lines().filter(|line| line.contains(" virtual in ")).count(),
        6,
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

/// `raidlab run study.toml 2>&1 | head -1`: what nobody reads is not said, but the run is done.
#[test]
fn lab_nobody_need_read_the_progress() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut raidlab = desk.raidlab(&["run", "small.toml"]);
    let ran = raidlab.stderr(Stdio::from(writer)).output().expect("raidlab is run");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    assert!(said.starts_with("6 trials done, 0 failed; "), "{said}");
    lab::assert_undisturbed(&desk);
}
