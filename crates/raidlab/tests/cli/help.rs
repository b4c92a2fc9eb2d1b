//! Help texts of the commands.

use crate::desk::{Desk, SMALL};

const FIRST_LOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/first-look.toml");

/// Shows every change of the command line, because scripts rely on it.
#[test]
fn every_command_explains_itself() {
    let commands = [
        "",
        "run",
        "plan",
        "report",
        "show",
        "export",
        "compare",
        "disk",
        "disk list",
        "disk show",
        "disk measure",
        "disk replay",
        "disk import",
        "risk",
        "kernel",
        "kernel build",
        "kernel list",
        "doctor",
        "shell",
        "power-cut",
    ];
    let desk = Desk::new();
    let calls: Vec<Vec<&str>> = commands
        .iter()
        .map(|command| command.split_whitespace().chain(["--help"]).collect())
        .collect();
    let calls: Vec<&[&str]> = calls.iter().map(Vec::as_slice).collect();
    let text = desk.transcript(&calls);
    insta::assert_snapshot!(text);
    assert!(!text.contains("=> 2"));
}

#[test]
fn a_command_that_is_none() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.transcript(&[&["rnu", "study.toml"], &["run"], &["kernel", "buidl"]]));
}

#[test]
fn the_version() {
    let ran = Desk::new().run(&["--version"]);
    assert_eq!(
        (ran.exit, ran.stdout),
        (Some(0), format!("raidlab {}\n", env!("CARGO_PKG_VERSION")))
    );
}

/// Other codes of this list are tested where they occur.
#[test]
fn the_help_lists_the_exit_codes() {
    let help = Desk::new()
        .run(&["--help"])
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let codes = "exit status: 0 done, 1 a trial failed, 2 invalid input (nothing was touched), 3 the machine \
        lacks something (the message says how to fix it), 130 interrupted (the same command resumes)";
    assert!(help.contains(codes), "{help}");
}

#[test]
fn a_plan_without_running_it() {
    let desk = Desk::new();
    let mut ran = desk.run_without_touching(&["plan", FIRST_LOOK]);
    assert!(ran.stderr.is_empty());
    // What it costs depends on the machine.
    let (plan, cost) = ran.stdout.split_once("\non this machine:\n").expect("what it costs");
    assert!(
        cost.trim_start().starts_with("time: ") && cost.contains("memory: "),
        "{cost}"
    );
    ran.stdout = plan.to_owned();
    insta::assert_snapshot!(desk.shown(&ran));
}

#[test]
fn a_part_of_a_plan() {
    let desk = Desk::new();
    let ran = desk.run_without_touching(&["plan", FIRST_LOOK, "--only", "type=ext3,workload=small files"]);
    let cells: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.contains(" | "))
        .map(str::trim)
        .collect();
    assert_eq!(cells, ["1  ext3 1K | small files", "2  ext3 4K | small files"]);
}

#[test]
fn a_plan_for_a_script() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    let ran = desk.run_without_touching(&["plan", "small.toml", "--format", "json"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON and nothing else");
    assert_eq!(plan["title"], "Small");
    assert_eq!(plan["cells"].as_array().map(Vec::len), Some(2));
}
