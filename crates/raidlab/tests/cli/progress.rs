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
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
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
            .starts_with("0 trials done, 0 failed, 6 were there already; "),
        "{}",
        again.stdout
    );
    assert!(
        again
            .stderr
            .contains("all trials of this study with seed 1 are in the store already"),
        "{}",
        again.stderr
    );
    lab::assert_undisturbed(&desk);
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
