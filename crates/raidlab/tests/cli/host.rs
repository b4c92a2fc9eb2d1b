//! Trials on this machine: `root_loop_…` needs root and loop devices, and tells which is missing.

use crate::desk::{Desk, Ran};
use crate::machine::in_a_world_of_its_own;
use crate::processes::descendants_of;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Two short trials on one file.
pub const STUDY: &str = include_str!("host.toml");

pub const RUN: [&str; 6] = ["run", "host.toml", "--on", "host", "--loop", "1x1G"];

/// One at a time: what a test finds left behind must be its own.
static LOOPS: Mutex<()> = Mutex::new(());

/// A desk with a study for this machine, and the loop devices for oneself. None, and says why, where that cannot be.
pub fn desk() -> Option<(Desk, MutexGuard<'static, ()>)> {
    let reason = if !rustix::process::geteuid().is_root() {
        "needs root"
    } else if !Path::new("/dev/loop-control").exists() {
        "this kernel has no loop devices"
    } else {
        let turn = LOOPS.lock().unwrap_or_else(PoisonError::into_inner);
        let desk = Desk::new();
        desk.write("host.toml", STUDY);
        return Some((desk, turn));
    };
    println!("skipped: {reason}");
    None
}

pub fn system(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .env("PATH", tools::SEARCH_PATH)
        .args(arguments)
        .output()
        .expect("a program of the system");
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

/// A loop device of the machine's own, on which something is.
pub struct Bystander {
    pub node: String,
    pub file: PathBuf,
}

impl Bystander {
    pub fn new(desk: &Desk, name: &str) -> Bystander {
        let file = desk.folder().join(name);
        fs::File::create(&file)
            .and_then(|file| file.set_len(64 << 20))
            .expect("a file");
        let node = system("losetup", &["--find", "--show", file.to_str().expect("UTF-8")]);
        Bystander { node, file }
    }

    /// The kernel's name for it.
    pub fn name(&self) -> &str {
        self.node.trim_start_matches("/dev/")
    }

    pub fn with_ext4(self) -> Bystander {
        system("mke2fs", &["-q", "-t", "ext4", "-L", "photos", &self.node]);
        self
    }

    pub fn contents(&self) -> Vec<u8> {
        system("sync", &[]);
        fs::read(&self.file).expect("the file")
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        system("losetup", &["--detach", &self.node]);
    }
}

/// All that a run might leave: files, mounts, loop devices, control groups, processes.
#[derive(Debug, PartialEq, Eq)]
pub struct World {
    files: Vec<PathBuf>,
    state: Vec<PathBuf>,
    mounts: Vec<String>,
    pub loops: Vec<String>,
    groups: Vec<PathBuf>,
}

impl World {
    /// As far as it can come from this desk: others may be at work on the machine.
    pub fn of(desk: &Desk) -> World {
        let root = desk
            .folder()
            .parent()
            .expect("it has one")
            .to_str()
            .expect("UTF-8")
            .to_owned();
        let lines = |path: &str| -> Vec<String> {
            let text = fs::read_to_string(path).unwrap_or_default();
            text.lines()
                .filter(|line| line.contains(&root))
                .map(str::to_owned)
                .collect()
        };
        let names = |folder: &Path, keep: &dyn Fn(&str) -> bool| -> Vec<PathBuf> {
            let mut all: Vec<PathBuf> = fs::read_dir(folder)
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| keep(&path.file_name().unwrap_or_default().to_string_lossy()))
                .collect();
            all.sort();
            all
        };
        let loops = system("losetup", &["--list", "--noheadings", "--output", "NAME,BACK-FILE"]);
        let is_run = |name: &str| name.starts_with("raidlab-");
        World {
            files: names(&desk.folder(), &|name| !name.starts_with("raidlab.db")),
            state: names(&desk.state(), &|name| name != "lock"),
            mounts: lines("/proc/self/mounts"),
            loops: loops
                .lines()
                .filter(|line| line.contains(&root))
                .map(str::to_owned)
                .collect(),
            groups: ["/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"]
                .iter()
                .flat_map(|folder| names(Path::new(folder), &is_run))
                // One with processes is that of a run under way, somebody else's.
                .filter(|group| fs::read_to_string(group.join("cgroup.procs")).is_ok_and(|text| text.is_empty()))
                .collect(),
        }
    }
}

pub fn start(desk: &Desk) -> Child {
    desk.raidlab(&RUN).spawn().expect("raidlab is run")
}

pub fn send(child: &Child, signal: Signal) {
    let _ = kill_process(Pid::from_child(child), signal);
}

pub fn ends(child: Child) -> Ran {
    Ran::from(child.wait_with_output().expect("it is ours"))
}

/// The trials of the store by their state.
pub fn trials(desk: &Desk) -> (usize, usize) {
    let ran = desk.run(&["export", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let rows = json["trials"].as_array().cloned().unwrap_or_default();
    (rows.iter().filter(|row| row["status"] == "done").count(), rows.len())
}

#[test]
fn root_loop_a_study_leaves_results_and_nothing_else() {
    let Some((desk, _turn)) = desk() else { return };
    let beside = Bystander::new(&desk, "beside").with_ext4();
    let mounted = desk.folder().join("mounted");
    fs::create_dir(&mounted).expect("a folder");
    system("mount", &[&beside.node, mounted.to_str().expect("UTF-8")]);
    fs::write(mounted.join("mine"), "mine").expect("written");
    let before = World::of(&desk);

    let ran = desk.run(&RUN);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("2 trials done, 0 failed; "), "{}", ran.stdout);
    assert!(!ran.stderr.contains("virtual"), "{}", ran.stderr);
    assert_eq!(World::of(&desk), before);
    assert_eq!(fs::read_to_string(mounted.join("mine")).expect("still mounted"), "mine");
    system("umount", &[mounted.to_str().expect("UTF-8")]);

    // Real figures say that they are, and on what.
    let shown = desk.run(&["show"]).stdout;
    assert!(
        shown.contains("real disks of this host") && !shown.contains("simulated"),
        "{shown}"
    );
    desk.run(&["report", "-o", "report.html"]);
    let page = fs::read_to_string(desk.folder().join("report.html")).expect("a report");
    assert!(page.contains("file of 1024 MiB on a loop device"), "{page}");

    let export = desk.run(&["export", "--format", "json"]).stdout;
    for fact in [
        "host.processor",
        "host.ram_bytes",
        "disk.0.write_cache",
        "mount.options",
        "load.others_processor",
    ] {
        assert!(export.contains(fact), "{fact} is not in the export");
    }
    let json: serde_json::Value = serde_json::from_str(&export).expect("JSON");
    let guards = json["guards"].as_array().expect("guards");
    for name in ["memory", "cold-cache", "settled"] {
        let passed = guards
            .iter()
            .filter(|guard| guard["guard"] == name && guard["passed"] == true);
        assert!(passed.count() >= 2, "guard {name}: {guards:?}");
    }

    let again = desk.run(&RUN);
    assert!(again.stderr.contains("are in the store already"), "{}", again.stderr);
    // Other disks, another run.
    let other = desk.run(&[
        "run",
        "host.toml",
        "--on",
        "host",
        "--loop",
        "1x2G",
        "--only",
        "type=ext2",
    ]);
    assert!(
        other.stdout.starts_with("1 trials done, 0 failed; "),
        "{}{}",
        other.stdout,
        other.stderr
    );
}

#[test]
fn root_loop_disks_that_are_refused_stay_as_they_are() {
    let Some((desk, _turn)) = desk() else { return };
    let run = |devices: &str, more: &[&str]| {
        let arguments = [&["run", "host.toml", "--on", "host", "--devices", devices], more].concat();
        let ran = desk.run(&arguments);
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("nothing was touched"), "{}", ran.stderr);
        assert!(!desk.folder().join("raidlab.db").exists());
        ran.stderr
    };
    let disk = Bystander::new(&desk, "disk").with_ext4();
    let (node, name) = (disk.node.as_str(), disk.name());
    let before = disk.contents();

    let words = run(node, &[]);
    assert!(
        words.contains(&format!(
            "{name} carries ext4, labelled `photos`; `--destroy {name}` gives up"
        )),
        "{words}"
    );
    let words = run(node, &["--destroy", "S3Z9NB0K"]);
    assert!(
        words.contains("--destroy S3Z9NB0K: no disk of --devices has this serial number"),
        "{words}"
    );

    // Nothing lifts the others.
    let folder = desk.folder().join("mnt");
    fs::create_dir(&folder).expect("a folder");
    let folder = folder.to_str().expect("UTF-8");
    system("mount", &["-o", "ro,noload", node, folder]);
    let words = run(node, &["--destroy", name]);
    assert!(words.contains(&format!("{name} is mounted on {folder}")), "{words}");
    system("umount", &[folder]);

    let held = fs::File::open(node).expect("root may");
    let words = run(node, &["--destroy", name]);
    assert!(
        words.contains(&format!("{name} is open in process {}", std::process::id())),
        "{words}"
    );
    drop(held);

    system("blockdev", &["--setro", node]);
    let words = run(node, &["--destroy", name]);
    assert!(words.contains("it is read-only"), "{words}");
    system("blockdev", &["--setrw", node]);

    let upper = system("losetup", &["--find", "--show", node]);
    let words = run(node, &["--destroy", name]);
    system("losetup", &["--detach", &upper]);
    assert!(
        words.contains(&format!("{name} is what {} is attached to", &upper[5..])),
        "{words}"
    );

    std::os::unix::fs::symlink(node, desk.folder().join("alias")).expect("a link");
    let words = run(&format!("{node},alias"), &["--destroy", name]);
    assert!(
        words.contains(&format!("{node} and alias are the same disk")),
        "{words}"
    );

    let words = run("/dev/nothing-there,/dev/null,host.toml", &[]);
    assert!(words.contains("there is no `/dev/nothing-there`"), "{words}");
    assert!(words.contains("`/dev/null` is no block device"), "{words}");

    assert_eq!(disk.contents(), before, "not a byte was written");
}

#[test]
fn root_loop_members_and_swap_are_refused() {
    let Some((desk, _turn)) = desk() else { return };
    let disk = Bystander::new(&desk, "disk");
    let (node, name) = (disk.node.as_str(), disk.name());
    let refused = |words: &str| {
        let before = disk.contents();
        let ran = desk.run(&["run", "host.toml", "--on", "host", "--devices", node, "--destroy", name]);
        assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        assert!(disk.contents() == before, "not a byte was written: {words}");
    };
    // The signature alone makes a member: what it is part of need not run.
    let raid = [0xfc_u8, 0x4e, 0x2b, 0xa9];
    if Command::new("pvcreate")
        .env("PATH", tools::SEARCH_PATH)
        .arg("--version")
        .output()
        .is_ok()
    {
        system("pvcreate", &["-qq", node]);
        refused(&format!("{name} is a member of an LVM volume group"));
        system("wipefs", &["--all", "--quiet", node]);
    }
    md_superblock(&disk.file, raid);
    system("blockdev", &["--flushbufs", node]);
    if system("wipefs", &["--noheadings", node]).contains("linux_raid_member") {
        refused(&format!("{name} is a member of an md array"));
    }
    system("wipefs", &["--all", "--quiet", "--force", node]);
    system("mkswap", &["-q", node]);
    system("swapon", &[node]);
    refused(&format!("{name} is swapped to"));
    system("swapoff", &[node]);
}

/// A superblock of format 1.2, 4 KiB from the start.
fn md_superblock(file: &Path, magic: [u8; 4]) {
    md_superblock_at(file, magic, 4096);
}

/// A superblock as blkid recognises it: magic, major version 1, its own place, a sum that fits.
pub fn md_superblock_at(file: &Path, magic: [u8; 4], at: u64) {
    use std::os::unix::fs::FileExt;
    let mut block = [0_u8; 256];
    block[..4].copy_from_slice(&magic);
    block[4] = 1;
    block[16..32].copy_from_slice(&[7; 16]);
    // super_offset, in sectors.
    block[144..152].copy_from_slice(&(at / 512).to_le_bytes());
    let sum: u64 = block
        .chunks(4)
        .map(|word| u64::from(u32::from_le_bytes(word.try_into().expect("four"))))
        .sum();
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    block[216..220].copy_from_slice(&(sum as u32).to_le_bytes());
    let disk = fs::File::options().write(true).open(file).expect("the file");
    disk.write_all_at(&block, at).expect("written");
    disk.sync_all().expect("synced");
}

#[test]
fn root_loop_a_real_disk_is_given_up_by_its_serial_number_alone() {
    let Some((desk, _turn)) = desk() else { return };
    let file = desk.folder().join("disk");
    fs::File::create(&file)
        .and_then(|file| file.set_len(1 << 30))
        .expect("a file");
    let node = system("losetup", &["--find", "--show", file.to_str().expect("UTF-8")]);
    let disk = Bystander { node, file }.with_ext4();
    let before = World::of(&desk);
    let ran = desk.run(&[
        "run",
        "host.toml",
        "--on",
        "host",
        "--only",
        "type=ext2",
        "--devices",
        &disk.node,
        "--destroy",
        disk.name(),
    ]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let given_up = format!("given up: {} carries ext4, labelled `photos`", disk.name());
    assert!(ran.stderr.contains(&given_up), "{}", ran.stderr);
    assert_eq!(World::of(&desk), before);
    assert_eq!(system("wipefs", &["--noheadings", &disk.node]), "", "it is free again");
}

/// How often the one that is killed at random moments is; `make kill-test` says 200.
fn kills() -> u32 {
    std::env::var("RAIDLAB_KILLS").map_or(4, |count| count.parse().expect("RAIDLAB_KILLS is a number"))
}

#[test]
fn root_loop_killed_at_any_moment_nothing_is_lost_or_left() {
    let Some((desk, _turn)) = desk() else { return };
    let beside = Bystander::new(&desk, "beside").with_ext4();
    let before = (World::of(&desk), beside.contents());
    let mut seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after 1970")
        .subsec_nanos();
    let began = Instant::now();
    assert_eq!(desk.run(&RUN).exit, Some(0));
    let whole = began.elapsed();
    let mut done_before = 0;
    fs::remove_file(desk.folder().join("raidlab.db")).expect("it is there");
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(seed) / f64::from(u32::MAX)
    };
    let mut victims = [0_u32; 3];
    for kill in 0..kills() {
        // Of one trial: half a run long, to the microsecond.
        let moment = whole.mul_f64(0.6 * random());
        let mut child = start(&desk);
        let until = Instant::now() + moment;
        while Instant::now() < until && child.try_wait().expect("ours").is_none() {
            sleep(Duration::from_millis(1));
        }
        // raidlab itself, the trial's process or one of its tools, or all of them one after the other.
        let victim = (random() * 3.0) as usize % 3;
        let family = descendants_of(child.id());
        victims[victim] += 1;
        if victim != 1 || family.is_empty() {
            send(&child, Signal::KILL);
        }
        let chosen = (random() * family.len() as f64) as usize;
        let others = family
            .iter()
            .enumerate()
            .filter(|(index, _)| victim == 2 || (victim == 1 && *index == chosen));
        for pid in others.filter_map(|(_, process)| Pid::from_raw(process.pid)) {
            let _ = kill_process(pid, Signal::KILL);
        }
        let ran = ends(child);
        let words = format!("kill {kill} after {moment:?} of {victim}\n{}", ran.stderr);
        if random() < 0.5 {
            let mut cleaning = desk.raidlab(&["clean"]).spawn().expect("raidlab is run");
            sleep(Duration::from_secs_f64(0.3 * random()));
            let _ = cleaning.kill();
            let _ = cleaning.wait();
        }
        // Every other time it is `run` itself that finds the rest.
        if kill % 2 == 0 {
            let cleaned = desk.run(&["clean"]);
            assert_eq!(cleaned.exit, Some(0), "{words}{}", cleaned.stderr);
            assert_eq!(World::of(&desk), before.0, "{words}");
        }
        let (done, _) = trials(&desk);
        assert!((done_before..=2).contains(&done), "{done_before} then {done}: {words}");
        done_before = done;
        if done == 2 {
            fs::remove_file(desk.folder().join("raidlab.db")).expect("it is there");
            done_before = 0;
        }
    }
    let ran = desk.run(&RUN);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(trials(&desk).0, 2);
    assert_eq!((World::of(&desk), beside.contents()), before);
    println!("{} kills: of raidlab, of one below it, of all: {victims:?}", kills());
}

#[test]
fn root_loop_ctrl_c_leaves_nothing_and_the_same_command_goes_on() {
    let Some((desk, _turn)) = desk() else { return };
    let before = World::of(&desk);
    let child = start(&desk);
    let until = Instant::now() + Duration::from_secs(60);
    while World::of(&desk).loops == before.loops {
        assert!(Instant::now() < until, "nothing is attached");
        sleep(Duration::from_millis(20));
    }
    // Whoever looks finds it busy, and leaves it alone.
    let cleaned = desk.run(&["clean"]);
    assert!(cleaned.stderr.contains("runs a study here"), "{}", cleaned.stderr);
    assert_ne!(World::of(&desk).loops, before.loops);
    send(&child, Signal::INT);
    let ran = ends(child);
    assert_eq!(ran.exit, Some(130), "{}", ran.stderr);
    assert_eq!(World::of(&desk), before);
    assert!(
        ran.stderr
            .contains("to go on: raidlab run host.toml --seed 1 --on host --loop 1x1G"),
        "{}",
        ran.stderr
    );
    assert!(desk.run(&["clean"]).stdout.contains("nothing is left"));
}

/// The disk below fills up: to the stack, its device fails.
#[test]
fn root_loop_a_device_that_fails_ends_its_trial_with_the_kernels_words() {
    let Some((desk, _turn)) = desk() else { return };
    fs::create_dir(desk.folder().join("disk")).expect("a folder");
    let before = World::of(&desk);
    let study = STUDY.replace("size = \"16K\"", "size = \"4M\"").replace("xfs", "ext4");
    desk.write("host.toml", study);
    // Room enough when it is looked at, and then no more.
    let mount = "mount -t tmpfs -o size=300m tmpfs disk\n\
        (for i in $(seq 1000); do ls disk/raidlab-*/disk0 && break; sleep 0.02; done
        head -c 260M /dev/zero > disk/other) > /dev/null 2>&1 &";
    let run = [&RUN as &[&str], &["--loop-folder", "disk"]].concat();
    let Some(ran) = in_a_world_of_its_own(&desk, mount, &run) else {
        return;
    };
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    let told: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.contains("a disk failed: the kernel says"))
        .collect();
    // Both: the run went on with the next.
    assert_eq!(told.len(), 2, "{}", ran.stderr);
    assert!(told.iter().all(|line| line.contains("dev loop")), "{}", ran.stderr);
    assert_eq!(World::of(&desk), before);
}

#[test]
fn root_loop_a_trial_has_a_time_limit() {
    let Some((desk, _turn)) = desk() else { return };
    let before = World::of(&desk);
    let run = [&RUN as &[&str], &["--trial-limit", "3s", "--only", "type=ext2"]].concat();
    let ran = desk.run(&run);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("--trial-limit allows for more"), "{}", ran.stderr);
    assert_eq!(World::of(&desk), before);
}

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
        (&["--on", "host", "--trace", "t"], "--trace is of simulated disks"),
        (
            &["--on", "host", "--loop", "8"],
            "write how many and how large, 16M at least: `8x20G`",
        ),
        (
            &["--on", "host", "--loop", "1x1G", "--devices", "/dev/sdx"],
            "cannot be used with",
        ),
        (
            &["--on", "host", "--trial-limit", "1"],
            "write a time of a second to a year",
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
        println!("skipped: needs root, to be somebody else");
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
