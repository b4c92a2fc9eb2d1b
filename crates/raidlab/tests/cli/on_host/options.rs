//! Options of a run on this machine, and who may run it.

use super::rig::{Bystander, RUN, STUDY, World, desk};
use crate::desk::{Desk, Ran};

#[test]
fn root_loop_a_dry_run_touches_nothing() {
    let Some((desk, _turn)) = desk() else { return };
    let disk = Bystander::new(&desk, "disk").with_ext4();
    let before = (World::of(&desk), disk.contents());
    let ran = desk.run(&[
        "run",
        "host.toml",
        "--on",
        "host",
        "--devices",
        &disk.node,
        "--destroy",
        disk.name(),
        "--dry-run",
    ]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    for words in [
        "wipefs --all --quiet /dev/loop",
        "mke2fs -q -F -t ext2",
        "mount -t xfs",
        "umount ",
        "wipefs --all --quiet --types xfs",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert_eq!((World::of(&desk), disk.contents()), before);
    assert!(!desk.folder().join("raidlab.db").exists());
}

#[test]
fn what_makes_no_sense_on_this_machine_or_in_the_lab() {
    let desk = Desk::new();
    desk.write("host.toml", STUDY);
    let cases: [(&[&str], &str); 7] = [
        (
            &["--devices", "/dev/sdx"],
            "--devices is for trials on this machine: add `--on host`",
        ),
        (&["--loop", "8x20G"], "--loop is for trials on this machine"),
        (
            &["--on", "host", "--jobs", "2"],
            "--jobs: on this machine trials run one at a time",
        ),
        (&["--on", "host", "--trace", "t"], "--trace records simulated disks"),
        (
            &["--on", "host", "--loop", "8"],
            "write number and size of the files, at least 16M each: `8x20G`",
        ),
        (
            &["--on", "host", "--loop", "1x1G", "--devices", "/dev/sdx"],
            "cannot be used with",
        ),
        (
            &["--on", "host", "--trial-limit", "1"],
            "write a time from 1 second to 1 year",
        ),
    ];
    for (options, words) in cases {
        let ran = desk.run_without_touching(&[&["run", "host.toml"], options].concat());
        assert_eq!(
            (ran.exit, ran.stdout.as_str()),
            (Some(2), ""),
            "{options:?}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(words), "{options:?}: {}", ran.stderr);
    }
    let lab = desk.run_without_touching(&["run", "host.toml", "--dry-run", "--on", "host", "--loop", "2x1G"]);
    assert_eq!(lab.exit, Some(0), "{}", lab.stderr);
    assert!(lab.stdout.contains("losetup --find --show"), "{}", lab.stdout);
}

#[test]
fn root_others_than_root_are_told_so() {
    if !rustix::process::geteuid().is_root() {
        requirements::skip("needs root, to be somebody else");
        return;
    }
    let desk = Desk::new();
    desk.write("host.toml", STUDY);
    let ran = desk
        .command("setpriv")
        .args([
            "--reuid",
            "65534",
            "--regid",
            "65534",
            "--clear-groups",
            crate::desk::PROGRAM,
        ])
        .args(RUN)
        .output()
        .expect("util-linux has it");
    let ran = Ran::from(ran);
    assert_eq!(ran.exit, Some(3), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("`sudo raidlab run …`; the lab (without `--on host`) needs no root"),
        "{}",
        ran.stderr
    );
}

/// Nine trials failed one by one, with exit code 1.
#[test]
fn root_loop_issue_12_14_md_that_the_kernel_lacks_is_refused_before_anything_is_made() {
    let Some((desk, _turn)) = desk() else { return };
    if host::kernel_has_level(study::stack::Level::Raid6) {
        requirements::skip("this kernel has md, and lacks nothing");
        return;
    }
    let study = STUDY
        .replace("level = \"single\"", "level = 6")
        .replace("count = 1", "count = 4");
    assert_ne!(study, STUDY);
    desk.write("md.toml", study);
    let before = World::of(&desk);
    let ran = desk.run(&["run", "md.toml", "--on", "host", "--loop", "4x1G"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(3), ""), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("this machine's kernel has no md level 6")
            && ran.stderr.contains("nothing was touched"),
        "{}",
        ran.stderr
    );
    assert_eq!(World::of(&desk), before);
    assert!(!desk.folder().join("raidlab.db").exists());
    // The dry run still works, for another machine.
    let dry = desk.run(&["run", "md.toml", "--on", "host", "--loop", "4x1G", "--dry-run"]);
    assert_eq!(dry.exit, Some(0), "{}", dry.stderr);
    assert!(dry.stdout.contains("mdadm --create"), "{}", dry.stdout);
}
