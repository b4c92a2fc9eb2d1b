//! What changes while a run is under way: disks are swapped, filesystems made, signals sent, tools killed.

use crate::desk::Desk;
use crate::on_host::rig::{Bystander, RUN, STUDY, World, desk, ends, send, start, system};
use crate::processes::{assert_gone, descendants_of};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(120);

/// Whether a program of the system succeeds.
fn does(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let output = command.env("PATH", tools::SEARCH_PATH).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        sleep(Duration::from_millis(10));
    }
}

/// A blank disk of 512 MiB.
fn blank(desk: &Desk, name: &str) -> Bystander {
    let disk = Bystander::new(desk, name);
    let file = fs::File::options().write(true).open(&disk.file).expect("the file");
    file.set_len(512 << 20).expect("sparse");
    system("losetup", &["--set-capacity", &disk.node]);
    disk
}

/// Three short trials on one disk.
fn three_trials(desk: &Desk, disk: &Bystander) -> Child {
    desk.write("host.toml", STUDY.replace("trials = 1", "trials = 3"));
    let run = [
        "run",
        "host.toml",
        "--on",
        "host",
        "--only",
        "type=ext2",
        "--devices",
        &disk.node,
    ];
    desk.raidlab(&run).spawn().expect("raidlab is run")
}

#[test]
fn root_loop_another_disk_under_the_same_name_is_not_overwritten() {
    let Some((desk, _turn)) = desk() else { return };
    let disk = blank(&desk, "disk");
    let other = desk.folder().join("other");
    let file = fs::File::create(&other).expect("a file");
    file.set_len(512 << 20).expect("sparse");
    let data = vec![0xa5; 1 << 20];
    file.write_all_at(&data, 0).expect("written");
    file.write_all_at(&data, 300 << 20).expect("written");
    let before = fs::read(&other).expect("the file");
    let mut child = three_trials(&desk, &disk);
    sleep(Duration::from_millis(700));
    let mut is_swapped = false;
    while child.try_wait().expect("ours").is_none() {
        if !is_swapped && does("losetup", &["--detach", &disk.node]) {
            is_swapped = does("losetup", &[&disk.node, other.to_str().expect("UTF-8")]);
        }
        sleep(Duration::from_millis(5));
    }
    let ran = ends(child);
    system("sync", &[]);
    assert!(
        fs::read(&other).expect("the file") == before,
        "swapped: {is_swapped}; {}",
        ran.stderr
    );
    // For the end of the test, which detaches it.
    if !is_swapped {
        let _ = does("losetup", &["--detach", &disk.node]);
        wait_until("it stays attached", || {
            does("losetup", &[&disk.node, other.to_str().expect("UTF-8")])
        });
    }
}

#[test]
fn root_loop_a_filesystem_made_between_two_trials_is_not_overwritten() {
    let Some((desk, _turn)) = desk() else { return };
    let disk = blank(&desk, "disk");
    let mut child = three_trials(&desk, &disk);
    let mut is_made = false;
    sleep(Duration::from_millis(700));
    while child.try_wait().expect("ours").is_none() {
        is_made = is_made || does("mke2fs", &["-q", "-t", "ext4", "-L", "mine", &disk.node]);
        sleep(Duration::from_millis(2));
    }
    let ran = ends(child);
    if is_made {
        let label = system(
            "blkid",
            &["--probe", "--output", "value", "--match-tag", "LABEL", &disk.node],
        );
        assert_eq!(label, "mine", "{}", ran.stderr);
    } else {
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    }
}

#[test]
fn root_loop_what_was_made_while_a_run_waits_for_the_lock_is_not_wiped_and_the_lock_is_roots() {
    let Some((desk, _turn)) = desk() else { return };
    let disk = blank(&desk, "disk").with_ext4();
    assert_eq!(
        desk.run(&[&RUN as &[&str], &["--only", "type=ext2"]].concat()).exit,
        Some(0)
    );
    let lock = desk.state().join("lock");
    assert_eq!(
        fs::metadata(&lock).expect("it is there").mode() & 0o777,
        0o600,
        "anybody could block it"
    );
    let held = fs::File::options()
        .read(true)
        .write(true)
        .open(&lock)
        .expect("root may");
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).expect("free");
    let run = [
        "run",
        "host.toml",
        "--on",
        "host",
        "--devices",
        &disk.node,
        "--destroy",
        disk.name(),
    ];
    let mut command = desk.raidlab(&run);
    let errors = desk.folder().join("errors");
    command.stderr(fs::File::create(&errors).expect("a file"));
    let mut child = command.spawn().expect("raidlab is run");
    let until = Instant::now() + Duration::from_secs(20);
    let said = || fs::read_to_string(&errors).unwrap_or_default();
    while !said().contains("waiting for another raidlab") && Instant::now() < until {
        sleep(Duration::from_millis(20));
    }
    let is_reported = said().contains("waiting for another raidlab");
    system("mke2fs", &["-q", "-F", "-t", "ext4", "-L", "mine", &disk.node]);
    drop(held);
    let status = child.wait().expect("it ends");
    let label = system(
        "blkid",
        &["--probe", "--output", "value", "--match-tag", "LABEL", &disk.node],
    );
    assert_eq!(label, "mine", "it was wiped: {}", said());
    assert_eq!(status.code(), Some(2), "{}", said());
    assert!(said().contains("not as they were judged"), "{}", said());
    assert!(is_reported, "it is not reported whom raidlab waits for: {}", said());
}

#[test]
fn root_loop_two_terminations_at_once_leave_nothing() {
    let Some((desk, _turn)) = desk() else { return };
    let before = World::of(&desk);
    let child = start(&desk);
    wait_until("nothing is attached", || World::of(&desk).loops != before.loops);
    sleep(Duration::from_millis(200));
    // As timeout(1) does: to the process, and to its group.
    send(&child, Signal::TERM);
    sleep(Duration::from_millis(1));
    send(&child, Signal::TERM);
    let ran = ends(child);
    assert_eq!(ran.exit, Some(130), "{}", ran.stderr);
    assert_eq!(World::of(&desk), before, "{}", ran.stderr);
}

/// A study of IOzone's, whose jobs are processes of their own.
const FORKS: &str = r#"
title = "Forks"
ram = "512 MiB"
[disks]
model = "wd-500gb-2007"
count = 1
[[stack]]
array = { level = "single" }
fs = { type = "ext4" }
[[workload]]
name = "forks"
iozone = { engine = "iozone", size = "512M", record = "4K", processes = 4, tests = ["write"] }
[precision]
trials = 1
"#;

#[test]
fn root_loop_what_a_tool_forked_does_not_survive_its_trial() {
    let Some((desk, _turn)) = desk() else { return };
    if !does("iozone", &["-v"]) {
        println!("skipped: iozone is not installed");
        return;
    }
    desk.write("host.toml", FORKS);
    let before = World::of(&desk);
    let child = start(&desk);
    let tools = || -> Vec<_> {
        let all = descendants_of(child.id());
        let is_tool =
            |pid: i32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "iozone");
        all.into_iter().filter(|process| is_tool(process.pid)).collect()
    };
    wait_until("iozone does not fork", || tools().len() >= 5);
    let tools = tools();
    // The trial's own process: nobody is left that knows of the others.
    let all = descendants_of(child.id());
    let trial = all.iter().find(|process| !tools.contains(process)).expect("it has one");
    crate::processes::signal(u32::try_from(trial.pid).expect("a number"), Signal::KILL);
    let ran = ends(child);
    assert_gone(&tools, Duration::from_secs(1));
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    assert_eq!(World::of(&desk), before, "{}", ran.stderr);
}
