//! Files that are not stores, or stores without permission.

use crate::desk::{Desk, PROGRAM, Ran, SMALL};
use crate::{kept, lab};
use rustix::process::geteuid;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

/// Creates the files that the snapshots name.
fn set_out(desk: &Desk) {
    fs::create_dir(desk.folder().join("folder")).expect("a folder");
    desk.write("small.toml", SMALL);
    desk.write("text.db", "no database at all\n".repeat(100));
    desk.write("empty.db", "");
    kept::empty_store(desk, "no-runs.db");
    kept::store_with_samples(desk, "one-run.db", 1);
    kept::newer_store(desk, "newer.db");
}

#[test]
fn stores_that_cannot_be_shown() {
    let desk = Desk::new();
    set_out(&desk);
    insta::assert_snapshot!(desk.transcript(&[
        &["show"],
        &["export"],
        &["report", "-o", "report.html"],
        &["show", "--store", "nosuch/raidlab.db"],
        &["show", "--store", "folder"],
        &["show", "--store", "text.db"],
        &["show", "--store", "empty.db"],
        &["show", "--store", "newer.db"],
        &["show", "--store", "no-runs.db"],
        &["export", "--store", "no-runs.db"],
        &["show", "--store", "one-run.db", "--run", "7"],
        &["show", "--store", "no-runs.db", "--run", "1"],
    ]));
}

#[test]
fn lab_stores_that_no_run_goes_into() {
    let Some((desk, _turn)) = lab::desk() else { return };
    set_out(&desk);
    insta::assert_snapshot!(desk.transcript(&[
        &["run", "small.toml", "--store", "nosuch/raidlab.db"],
        &["run", "small.toml", "--store", "folder"],
        &["run", "small.toml", "--store", "text.db"],
        &["run", "small.toml", "--store", "newer.db"],
        &["run", "small.toml", "--trace", "text.db"],
    ]));
}

/// As a user who may only read the store and its folder.
#[test]
fn lab_a_store_that_is_read_only() {
    let Some((desk, _turn)) = lab::desk() else { return };
    set_out(&desk);
    let folder = desk.folder();
    fs::set_permissions(folder.join("one-run.db"), PermissionsExt::from_mode(0o444)).expect("our own file");
    fs::set_permissions(&folder, PermissionsExt::from_mode(0o555)).expect("our own folder");
    let as_nobody = |arguments: &[&str]| {
        let mut raidlab = desk.raidlab(arguments);
        if geteuid().is_root() {
            raidlab.uid(65534).gid(65534);
        }
        raidlab.output().map(Ran::from)
    };
    let calls: [&[&str]; 3] = [
        &["run", "small.toml", "--store", "one-run.db"],
        &["run", "small.toml"],
        &["report", "--store", "one-run.db", "-o", "report.html"],
    ];
    let ran = calls.map(as_nobody);
    let shown = as_nobody(&["show", "--store", "one-run.db"]);
    fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).expect("our own folder");
    let Ok(shown) = shown else {
        requirements::skip(format!("{PROGRAM} cannot be run as user 65534"));
        return;
    };
    assert_eq!(shown.exit, Some(0), "what may be read can be shown: {}", shown.stderr);
    let texts: Vec<String> = ran.map(|ran| desk.shown(&ran.expect("it runs as that user"))).into();
    insta::assert_snapshot!(texts.join("\n"));
    assert!(!folder.join("raidlab.db").exists());
}

/// The contents of a store could not be listed.
#[test]
fn issue_12_16_the_runs_of_a_store_are_listed() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 2);
    insta::assert_snapshot!(desk.transcript(&[
        &["runs"],
        &["runs", "--format", "json"],
        &["runs", "--store", "none.db"]
    ]));
}
