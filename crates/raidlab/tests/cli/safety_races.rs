//! Changes while a run is in progress: disks are swapped, filesystems made, signals sent, tools killed.

use crate::desk::{Desk, Ran};
use crate::on_host::interposed::{self, When};
use crate::on_host::rig::{Bystander, RUN, STUDY, World, desk, ends, run_on, send, system};
use crate::processes::{descendants_of, is_alive};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::process::Command;
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

/// Two short trials on one disk, with an action by another program after the check with this number, which is
/// retried until it succeeds.
fn two_trials(desk: &Desk, disk: &Bystander, look: u32, act: &str) -> Ran {
    desk.write("host.toml", STUDY.replace("trials = 1", "trials = 2"));
    let store = format!("{look}.db");
    let run = run_on(&disk.node, &["--store", &store]);
    let mut command = interposed::raidlab(desk, "", "wipefs", When::After(look), act, &run);
    Ran::from(command.output().expect("raidlab is run"))
}

/// The disk is checked when it is selected, when it is claimed, when its trial starts, before mkfs, when it is
/// undone, and before the next trial.
#[test]
fn root_loop_another_disk_under_the_same_name_is_not_overwritten() {
    let Some((desk, _turn)) = desk() else { return };
    for look in [1, 2] {
        let disk = blank(&desk, "disk");
        let other = desk.folder().join("other");
        let file = fs::File::create(&other).expect("a file");
        file.set_len(512 << 20).expect("sparse");
        let data = vec![0xa5; 1 << 20];
        file.write_all_at(&data, 0).expect("written");
        file.write_all_at(&data, 300 << 20).expect("written");
        let before = fs::read(&other).expect("the file");
        let (node, path) = (&disk.node, other.display());
        // Another program may have the device open when it is detached: the kernel then does that when it is closed.
        let act = format!(
            "losetup --detach {node}; for i in $(seq 10); do losetup {node} {path} && exit 0; sleep 0.1; done; exit 1"
        );
        let ran = two_trials(&desk, &disk, look, &act);
        system("sync", &[]);
        let is_swapped = interposed::acted(&desk);
        assert!(
            fs::read(&other).expect("the file") == before,
            "look {look}: {}",
            ran.stderr
        );
        // Once it is held, the kernel does not detach it.
        assert_eq!(is_swapped, look == 1, "look {look}: {}", ran.stderr);
        let expected = if is_swapped { 2 } else { 0 };
        assert_eq!(ran.exit, Some(expected), "look {look}: {}", ran.stderr);
        // For the end of the test, which detaches it.
        if !is_swapped {
            let _ = does("losetup", &["--detach", &disk.node]);
            wait_until("it stays attached", || {
                does("losetup", &[&disk.node, other.to_str().expect("UTF-8")])
            });
        }
    }
}

#[test]
fn root_loop_a_filesystem_made_between_two_looks_is_not_overwritten() {
    let Some((desk, _turn)) = desk() else { return };
    // The fifth one belongs to the undo, when the first trial is already over.
    for look in [1, 2, 5] {
        let disk = blank(&desk, "disk");
        let act = format!("mke2fs -q -t ext4 -L mine {}", disk.node);
        let ran = two_trials(&desk, &disk, look, &act);
        assert!(interposed::acted(&desk), "look {look}: {}", ran.stderr);
        let label = ["--probe", "--output", "value", "--match-tag", "LABEL", &disk.node];
        assert_eq!(system("blkid", &label), "mine", "look {look}: {}", ran.stderr);
        let check = ["-fn", &disk.node];
        assert!(does("e2fsck", &check), "look {look}: {}", ran.stderr);
        assert_ne!(ran.exit, Some(0), "look {look}: {}", ran.stderr);
    }
}

/// Two blank disks, and raidlab on the first one, which waits in its first mkfs until a file `go` exists. Returns
/// the output of the second raidlab after `meanwhile` was run; `prepare` is run for both.
fn second_of_two(desk: &Desk, first: &str, second: &str, prepare: &str, meanwhile: &dyn Fn()) -> Ran {
    let folder = desk.folder();
    let act = format!(
        "touch {0}/waits; for i in $(seq 600); do [ ! -e {0}/go ] || break; sleep 0.1; done",
        folder.display()
    );
    let mut command = interposed::raidlab(
        desk,
        prepare,
        "mke2fs",
        When::BeforeFirst,
        &act,
        &run_on(first, &["--store", "1.db"]),
    );
    let mut one = command.spawn().expect("raidlab is run");
    let until = Instant::now() + PATIENCE;
    while !folder.join("waits").exists() && one.try_wait().expect("ours").is_none() && Instant::now() < until {
        sleep(Duration::from_millis(10));
    }
    assert!(
        folder.join("waits").exists(),
        "the first does not begin: {}",
        ends(one).stderr
    );
    meanwhile();
    let script = format!("{prepare}\nexec \"$0\" \"$@\"");
    let mut command = desk.command("unshare");
    command
        .args(requirements::own_mounts(&script))
        .arg(crate::desk::PROGRAM);
    let two = command
        .args(run_on(second, &["--store", "2.db"]))
        .output()
        .expect("raidlab is run");
    desk.write("go", "");
    ends(one);
    Ran::from(two)
}

#[test]
fn root_loop_a_partition_of_a_claimed_disk_is_not_overwritten() {
    let Some((desk, _turn)) = desk() else { return };
    let disk = blank(&desk, "disk");
    let part = format!("{}p1", disk.node);
    let add = || system("addpart", &[&disk.node, "1", "2048", "819200"]);
    let ran = second_of_two(&desk, &disk.node, &part, "", &|| drop(add()));
    let _ = does("delpart", &[&disk.node, "1"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("is in use by another raidlab"), "{}", ran.stderr);
}

/// As with multipath, where the kernel shows a disk once per path.
#[test]
fn root_loop_another_path_to_a_claimed_disk_is_not_overwritten() {
    let Some((desk, _turn)) = desk() else { return };
    let (one, two) = (blank(&desk, "one"), blank(&desk, "two"));
    // Loop devices have no WWID: in this namespace their folders are copies with one.
    let mut prepare = String::new();
    for disk in [&one, &two] {
        let (name, folder) = (disk.name(), desk.folder());
        let sysfs = format!("/sys/devices/virtual/block/{name}");
        let copy = format!("{}/sysfs-{name}", folder.display());
        prepare += &format!(
            "[ -d {copy} ] || cp -a {sysfs} {copy} 2> /dev/null || true\necho naa.5000c500a1b2c3d4 > {copy}/wwid\n\
             mount --bind {copy} {sysfs}\n"
        );
    }
    let ran = second_of_two(&desk, &one.node, &two.node, &prepare, &|| ());
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("is in use by another raidlab"), "{}", ran.stderr);
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
    let said = || fs::read_to_string(&errors).unwrap_or_default();
    wait_until("it is not reported whom raidlab waits for", || {
        said().contains("waiting for another raidlab")
    });
    system("mke2fs", &["-q", "-F", "-t", "ext4", "-L", "mine", &disk.node]);
    drop(held);
    let status = child.wait().expect("it ends");
    let label = system(
        "blkid",
        &["--probe", "--output", "value", "--match-tag", "LABEL", &disk.node],
    );
    assert_eq!(label, "mine", "it was wiped: {}", said());
    assert_eq!(status.code(), Some(2), "{}", said());
    assert!(said().contains("changed since they were checked"), "{}", said());
}

#[test]
fn root_loop_two_terminations_at_once_leave_nothing() {
    let Some((desk, _turn)) = desk() else { return };
    let before = World::of(&desk);
    let child = interposed::that_waits(&desk, &RUN);
    // Like timeout(1): to the process, and to its group.
    send(&child, Signal::TERM);
    send(&child, Signal::TERM);
    let ran = ends(child);
    interposed::remove_files(&desk);
    assert_eq!(ran.exit, Some(130), "{}", ran.stderr);
    assert_eq!(World::of(&desk), before, "{}", ran.stderr);
}

/// A program that forks: fio, whose wrapper leaves orphaned processes in their own session that hold the mount.
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
fio = { rw = "write", size = "1M" }
[precision]
trials = 1
"#;

/// Whether its trial completes, or its process is killed and the others are orphaned.
#[test]
fn root_loop_what_a_tool_forked_does_not_survive_its_trial() {
    let Some((desk, _turn)) = desk() else { return };
    desk.write("host.toml", FORKS);
    for is_killed in [false, true] {
        let before = World::of(&desk);
        let wait = if is_killed { "sleep 600" } else { "true" };
        let act = format!(
            "folder=$(grep -o '{}[^ ]*' /proc/mounts | head -n 1)\n[ -n \"$folder\" ] || exit 1\n\
             for i in 1 2 3; do ( cd $folder; exec 3> held$i; setsid sh -c 'echo $$ >> {}; exec sleep 600' & ); done\n\
             while [ $(wc -l < {1}) -lt 3 ]; do sleep 0.01; done; {wait}",
            desk.state().display(),
            desk.folder().join("pids").display()
        );
        desk.write("pids", "");
        let mut command = interposed::raidlab(&desk, "", "fio", When::After(0), &act, &RUN);
        let child = command.spawn().expect("raidlab is run");
        let pids = || -> Vec<String> {
            let text = fs::read_to_string(desk.folder().join("pids")).expect("it is there");
            text.lines().map(str::to_owned).collect()
        };
        if is_killed {
            wait_until("nothing is forked", || pids().len() == 3);
            let all = descendants_of(child.id());
            let is_trial = |pid: i32| {
                let text = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                text.contains("host-job")
            };
            let trial = all.iter().find(|process| is_trial(process.pid)).expect("it has one");
            crate::processes::signal(u32::try_from(trial.pid).expect("a number"), Signal::KILL);
        }
        let ran = ends(child);
        let alive: Vec<String> = pids()
            .into_iter()
            .filter(|pid| pid.parse().is_ok_and(is_alive))
            .collect();
        for pid in alive.iter().filter_map(|pid| pid.parse().ok()) {
            crate::processes::signal(pid, Signal::KILL);
        }
        assert_eq!(pids().len(), 3, "nothing was forked: {}", ran.stderr);
        assert!(alive.is_empty(), "they survived: {alive:?}: {}", ran.stderr);
        // While they held the mount, it could not be torn down.
        assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
        for file in ["real-fio", "wrapped-fio", "calls", "said", "pids", "acted"] {
            let _ = fs::remove_file(desk.folder().join(file));
        }
        desk.write("host.toml", FORKS);
        assert_eq!(World::of(&desk), before, "{}", ran.stderr);
        let _ = fs::remove_file(desk.folder().join("raidlab.db"));
    }
}
