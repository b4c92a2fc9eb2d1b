//! Studies that are not submitted: the reason, and that nothing is left.

use super::cluster::Cluster;
use crate::desk::{Desk, SMALL};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    desk
}

#[test]
fn without_slurm_a_study_is_not_submitted() {
    let desk = desk();
    let mut text = String::new();
    for arguments in [
        &["submit", "small.toml", "--slurm"][..],
        &["submit", "small.toml", "--slurm", "--dry-run"],
        &["submit", "small.toml", "--slurm", "--tasks", "4", "--sbatch", "account"],
        &["submit", "small.toml", "--slurm", "--tasks", "0"],
        &["submit", "small.toml", "--slurm", "--inventory", "nodes.toml"],
        &["submit", "small.toml"],
    ] {
        let mut raidlab = desk.raidlab(arguments);
        let ran = raidlab
            .env("PATH", "/nonexistent")
            .output()
            .expect("raidlab is run")
            .into();
        text.push_str(&format!("$ raidlab {}\n{}\n", arguments.join(" "), desk.shown(&ran)));
    }
    insta::assert_snapshot!(text);
    assert!(!desk.folder().join("small-seed1.job").exists());
}

#[test]
fn the_scripts_are_plain() {
    let desk = desk();
    let arguments = [
        "submit",
        "small.toml",
        "--slurm",
        "--tasks",
        "4",
        "--partition",
        "batch",
        "--time",
        "2:00:00",
        "--mem",
        "4G",
        "--sbatch=--account=storage",
        "--seed",
        "7",
        "--only",
        "type=ext2",
        "--dry-run",
    ];
    let ran = desk.run_without_touching(&arguments);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    insta::assert_snapshot!(desk.shown(&ran).replace(crate::desk::PROGRAM, "/usr/bin/raidlab"));
}

#[test]
fn root_slurm_refuses_a_job() {
    let Some(cluster) = Cluster::start(1) else { return };
    let desk = desk();
    let refused = cluster.raidlab(
        &desk,
        &[
            "submit",
            "small.toml",
            "--slurm",
            "--tasks",
            "2",
            "--partition",
            "nosuch",
        ],
    );
    assert_eq!(refused.exit, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("invalid partition specified: nosuch"),
        "{}",
        refused.stderr
    );
    let none = cluster.raidlab(&desk, &["submit", "small.toml", "--slurm", "--partition", "nosuch"]);
    assert_eq!(none.exit, Some(2), "{}", none.stderr);
    assert!(!desk.folder().join("small-seed1.job").exists());
    assert_eq!(cluster.ask("squeue", &["--noheader"]), "");
}
