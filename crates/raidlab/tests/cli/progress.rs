//! Messages of a run without a terminal.

use crate::desk::Desk;
use crate::{kept, lab};
use std::process::Stdio;
use std::time::Instant;

#[test]
fn lab_progress_is_plain_lines_and_results_are_apart() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let began = Instant::now();
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
    // One when the first trial has ended, then at most one in ten seconds: logs of CI and of Slurm keep every line.
    assert!(
        (1..=1 + began.elapsed().as_secs() / 10).contains(&(trials.len() as u64)),
        "{}",
        ran.stderr
    );
    assert!(
        trials[0].starts_with("raidlab: 1/6 ext") && trials[0].contains(" left, "),
        "{trials:?}"
    );
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

/// The table of a run was only in `raidlab show`.
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
        Err(error) => return requirements::skip(format!("no terminal to try it on: script: {error}")),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.lines().any(|line| line.contains(" virtual in ")), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

/// `raidlab run study.toml 2>&1 | head -1`: messages are lost, but the run completes.
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

/// Logs of CI should have only results, warnings and errors.
#[test]
fn lab_issue_14_a_quiet_run_prints_results_only() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let ran = desk.run(&["run", "small.toml", "--quiet"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.starts_with("6 trials done, 0 failed; "), "{}", ran.stdout);
    lab::assert_undisturbed(&desk);
}

#[test]
fn issue_14_colours_are_as_the_user_wants_them() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 4);
    let is_coloured = |arguments: &[&str], no_color: Option<&str>| {
        let mut command = desk.raidlab(arguments);
        command.env_remove("NO_COLOR");
        if let Some(value) = no_color {
            command.env("NO_COLOR", value);
        }
        let output = command.output().expect("raidlab is run");
        assert!(output.status.success(), "{output:?}");
        output.stdout.contains(&0x1b)
    };
    assert!(!is_coloured(&["show"], None), "it is no terminal");
    assert!(is_coloured(&["show", "--color", "always"], None));
    assert!(
        is_coloured(&["--color", "always", "show"], Some("1")),
        "the option is the later word"
    );
    assert!(!is_coloured(&["show", "--color", "never"], None));
    let shown_on_terminal = |environment: &[(&str, &str)], arguments: &str| {
        let mut script = desk.command("script");
        let command = format!("{} show {arguments}", crate::desk::PROGRAM);
        script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
        script.env_remove("NO_COLOR").env("TERM", "xterm");
        script.envs(environment.iter().copied());
        script.output().ok().map(|output| output.stdout.contains(&0x1b))
    };
    let Some(is_coloured) = shown_on_terminal(&[], "") else {
        return requirements::skip("no terminal to try it on: script");
    };
    assert!(is_coloured, "on a terminal");
    for (environment, arguments, expected) in [
        (&[("NO_COLOR", "1")] as &[_], "", false),
        (&[("NO_COLOR", "")], "", true),
        (&[("TERM", "dumb")], "", false),
        (&[], "--color never", false),
    ] {
        assert_eq!(
            shown_on_terminal(environment, arguments),
            Some(expected),
            "{environment:?} {arguments}"
        );
    }
}

/// Every command that prints data can print it as JSON.
#[test]
fn issue_14_every_command_that_prints_data_prints_it_as_json() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 4);
    desk.write("small.toml", crate::desk::SMALL);
    for (arguments, key) in [
        (&["show"] as &[&str], "/workloads/0/tests/0/metrics/0/stacks/0/median"),
        (&["runs"], "/0/run"),
        (&["plan", "small.toml"], "/cells/0"),
        (&["digest"], "/digest_sha256"),
        (&["digest", "raidlab.db", "raidlab.db"], "/equal"),
        (&["compare", "1", "1"], "/rows/0/outcome"),
        (&["disk", "list"], "/0/name"),
        (&["disk", "show", "seagate-exos-x16-16tb"], "/name"),
        (&["cpu", "list"], "/0/name"),
        (&["cpu", "show", "athlon-64-3700"], "/name"),
        (&["kernel", "list"], "/not_built/0/kernel"),
        (&["doctor"], "/ready"),
    ] {
        let ran = desk.run(&[arguments, &["--format", "json"]].concat());
        // doctor exits with 3 if something is missing.
        assert!(matches!(ran.exit, Some(0 | 3)), "{arguments:?}: {}", ran.stderr);
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert!(
            json.pointer(key).is_some_and(|value| !value.is_null()),
            "{arguments:?}: {key}: {json:#}"
        );
    }
}
