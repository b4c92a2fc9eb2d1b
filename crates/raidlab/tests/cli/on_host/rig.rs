//! Basis of these tests: a desk, other people's disks, and everything that a run might leave.

use crate::desk::{Desk, Ran};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Two short trials on one file.
pub const STUDY: &str = include_str!("../host.toml");

pub const RUN: [&str; 6] = ["run", "host.toml", "--on", "host", "--loop", "1x1G"];

/// The arguments of a run of the study's ext2 cell on these devices.
pub fn run_on<'a>(devices: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let run = [
        "run",
        "host.toml",
        "--on",
        "host",
        "--only",
        "type=ext2",
        "--devices",
        devices,
    ];
    [&run, more].concat()
}

/// One at a time: anything that a test finds left behind must be its own.
static LOOPS: Mutex<()> = Mutex::new(());

/// A desk with a study for this machine, and exclusive use of loop devices. The test is skipped if that is impossible.
pub fn desk() -> Option<(Desk, MutexGuard<'static, ()>)> {
    let control = Path::new("/dev/loop-control").exists();
    let loops = control
        .then_some(())
        .ok_or("this kernel has no loop devices".to_owned());
    requirements::met(requirements::root().and(loops))?;
    let turn = LOOPS.lock().unwrap_or_else(PoisonError::into_inner);
    let desk = Desk::new();
    desk.write("host.toml", STUDY);
    Some((desk, turn))
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

/// A loop device of the machine itself, with contents.
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

    /// The kernel's name of it.
    pub fn name(&self) -> &str {
        self.node.trim_start_matches("/dev/")
    }

    /// Complete: a filesystem that the kernel still initialises makes raidlab wait.
    pub fn with_ext4(self) -> Bystander {
        let complete = "lazy_itable_init=0,lazy_journal_init=0";
        system(
            "mke2fs",
            &["-q", "-t", "ext4", "-E", complete, "-L", "photos", &self.node],
        );
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

/// Everything that a run might leave: files, mounts, loop devices, control groups, processes.
#[derive(Debug, PartialEq, Eq)]
pub struct World {
    files: Vec<PathBuf>,
    state: Vec<PathBuf>,
    mounts: Vec<String>,
    pub loops: Vec<String>,
    groups: Vec<PathBuf>,
}

impl World {
    /// As far as it can come from this desk: the machine may run other work.
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
                // A group with processes belongs to another running raidlab.
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

/// The trials of the store by status.
pub fn trials(desk: &Desk) -> (usize, usize) {
    let ran = desk.run(&["export", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let rows = json["trials"].as_array().cloned().unwrap_or_default();
    (rows.iter().filter(|row| row["status"] == "done").count(), rows.len())
}
