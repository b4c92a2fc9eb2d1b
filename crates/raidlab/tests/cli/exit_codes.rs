//! Every documented exit code, each with a command that ends with it.

use crate::desk::{Desk, SMALL};
use crate::lab;
use crate::processes::signal;
use crate::under_way::UnderWay;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs::File;

const STABILITY: &str = include_str!("../../../../docs/stability.md");

/// The rows of the table in docs/stability.md.
fn documented() -> BTreeSet<i32> {
    STABILITY
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok())
        .collect()
}

#[test]
fn the_help_and_the_promise_list_the_same_codes() {
    let help = Desk::new().run(&["--help"]).stdout;
    let (_, codes) = help.split_once("exit status: ").expect("the help lists them");
    let codes = codes.split_whitespace().collect::<Vec<_>>().join(" ");
    let codes: BTreeSet<i32> = codes
        .split(", ")
        .filter_map(|code| code.split(' ').next()?.parse().ok())
        .collect();
    assert_eq!(codes, documented());
    assert_eq!(codes, BTreeSet::from([0, 1, 2, 3, 130]), "and these are tested below");
}

#[test]
fn exit_0_done() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    for arguments in [&["--version"] as &[&str], &["plan", "small.toml"], &["disk", "list"]] {
        assert_eq!(desk.run(arguments).exit, Some(0), "{arguments:?}");
    }
}

#[test]
fn exit_1_what_was_begun_could_not_be_finished() {
    let desk = Desk::new();
    let mut raidlab = desk.raidlab(&["disk", "list"]);
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = raidlab.stdout(full).output().expect("raidlab is run");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn exit_1_runs_that_differ() {
    let desk = Desk::new();
    crate::kept::store_with_samples(&desk, "one.db", 1);
    crate::kept::store_with_samples(&desk, "two.db", 2);
    assert_eq!(desk.run(&["digest", "one.db", "two.db"]).exit, Some(1));
    assert_eq!(desk.run(&["digest", "one.db", "one.db"]).exit, Some(0));
}

#[test]
fn lab_exit_1_a_trial_failed() {
    let Some((desk, _turn)) = lab::desk() else { return };
    // The compiler knows the names of mount options, not their values, and the kernel rejects this one.
    let study = SMALL.replace("\n[[workload]]", "mount = \"errors=never\"\n\n[[workload]]");
    desk.write("refused.toml", study);
    let ran = desk.run(&["run", "refused.toml"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
}

#[test]
fn exit_2_invalid_input() {
    let desk = Desk::new();
    desk.write("wrong.toml", "title = 1");
    for arguments in [
        &["rnu"] as &[&str],
        &["run"],
        &["run", "missing.toml"],
        &["plan", "wrong.toml"],
        &["show", "--store", "missing.db"],
        &["kernel", "build", "2.4"],
        &["disk", "show", "no-such-disk"],
    ] {
        let ran = desk.run_without_touching(arguments);
        assert_eq!(ran.exit, Some(2), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn exit_3_the_machine_lacks_something() {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    // There is no Slurm. (For root, compilers are not searched on this PATH.)
    let mut raidlab = desk.raidlab(&["submit", "small.toml", "--slurm"]);
    let output = raidlab.env("PATH", desk.folder()).output().expect("raidlab is run");
    assert_eq!(
        output.status.code(),
        Some(3),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn lab_exit_130_interrupted() {
    let Some((desk, _slot)) = lab::desk() else { return };
    let (raidlab, _) = UnderWay::with_a_stopped_guest(&desk);
    signal(raidlab.id(), Signal::INT);
    assert_eq!(raidlab.end().exit, Some(130));
}

/// `plan` listed the refusal among the kernels to be built, and ended with success.
#[test]
fn issue_39_13_a_kernel_that_cannot_be_is_an_error_of_plan() {
    let desk = Desk::new();
    desk.write(
        "study.toml",
        format!("kernel = \"7.3\"\ncpu = \"xeon-gold-6248\"\n{SMALL}"),
    );
    let ran = desk.run(&["plan", "study.toml"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("Linux 7.3 has no processor models yet"),
        "{}",
        ran.stderr
    );
}

/// Both were ignored in the lab.
#[test]
fn issue_39_options_of_a_host_are_refused_in_the_lab() {
    let desk = Desk::new();
    desk.write("study.toml", SMALL);
    for option in [&["--trial-limit", "1s"] as &[&str], &["--serials"]] {
        let ran = desk.run(&[&["run", "study.toml"] as &[&str], option].concat());
        assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
        let words = format!("{} is for trials on this machine: add `--on host`", option[0]);
        assert!(ran.stderr.contains(&words), "{}", ran.stderr);
    }
}
