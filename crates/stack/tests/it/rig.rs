//! Loop devices and a context for tests on real kernels.

use stack::{
    Access, Cause, Context, DiskKind, Disks, MemoryLedger, NoDiskCheck, StackError, StackSetting, System, Teardown,
    Undo, tools_needed,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use study::event::{Event, Guard};
use study::stack::{ArraySpec, Bitmap, FilesystemKind, FilesystemSpec, Level, StackSpec};
use tools::{Tool, Tools};

/// Sparse files behind loop devices, in a temporary folder.
pub struct Rig {
    pub folder: tempfile::TempDir,
    pub devices: Vec<PathBuf>,
    pub ledger: MemoryLedger,
    pub events: Vec<Event>,
}

/// Loop devices, or the reason why there are none.
pub fn loops(count: usize, bytes: u64) -> Result<Rig, String> {
    let folder = tempfile::Builder::new()
        .prefix("raidlab-test-")
        .tempdir()
        .expect("a folder");
    let mut rig = Rig {
        folder,
        devices: Vec::new(),
        ledger: MemoryLedger::default(),
        events: Vec::new(),
    };
    for index in 0..count {
        let file = rig.folder.path().join(format!("disk{index}"));
        let sparse = std::fs::File::create(&file).and_then(|disk| disk.set_len(bytes));
        sparse.map_err(|error| format!("no room for a disk: {error}"))?;
        let made = program("losetup").args(["--find", "--show"]).arg(&file).output();
        let made = made.map_err(|error| format!("losetup: {error}"))?;
        if !made.status.success() {
            return Err(format!(
                "no loop device: {}",
                String::from_utf8_lossy(&made.stderr).trim()
            ));
        }
        rig.devices.push(String::from_utf8_lossy(&made.stdout).trim().into());
    }
    Ok(rig)
}

/// Whether the kernel supports a filesystem; the error is the reason to skip.
pub fn kernel_has(kind: &str) -> Result<(), String> {
    let known = std::fs::read_to_string("/proc/filesystems").expect("readable");
    let is_it = |line: &str| line.split_whitespace().last() == Some(kind);
    known
        .lines()
        .any(is_it)
        .then_some(())
        .ok_or(format!("this kernel has no {kind}"))
}

/// A program of the system, regardless of the tests' PATH.
pub fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.env("PATH", tools::SEARCH_PATH);
    command
}

impl Rig {
    /// Calls `act` with a context for this spec's tools.
    pub fn with<T>(&mut self, spec: &StackSpec, name: &str, act: impl FnOnce(&mut Context<'_>) -> T) -> T {
        let mut tools = Tools::find(&tools_needed(spec, Teardown::Full)).expect("the tools are installed");
        let events = &mut self.events;
        act(&mut Context {
            access: Access {
                executor: &mut System::new(&mut tools),
                recorder: &mut |event| events.push(event),
                check: &mut NoDiskCheck,
            },
            ledger: &mut self.ledger,
            began: Instant::now(),
            setting: StackSetting {
                work_folder: self.folder.path(),
                name,
                zeroed: true,
                created: false,
                disk_kind: DiskKind::Real,
                teardown: Teardown::Full,
            },
        })
    }

    pub fn up(&mut self, spec: &StackSpec, name: &str) -> Result<stack::Stack, StackError> {
        let devices = self.devices.clone();
        self.with(spec, name, |context| stack::up(spec, &Disks::data(&devices), context))
    }

    pub fn down(&mut self, spec: &StackSpec, name: &str, stack: stack::Stack) {
        self.with(spec, name, |context| stack::down(stack, context))
            .unwrap_or_else(|error| panic!("{error}"));
    }

    /// Nothing is left: no line in the ledger, no mount, no folder, no signature.
    pub fn must_be_as_new(&self) {
        assert_eq!(self.ledger.open, []);
        let folder = self.folder.path().to_str().expect("UTF-8");
        assert!(!read("/proc/self/mounts").contains(folder), "still mounted");
        let entries = self.folder.path().read_dir().expect("readable").flatten();
        let left: Vec<_> = entries
            .map(|entry| entry.file_name())
            .filter(|name| name.len() > "disk00".len())
            .collect();
        assert_eq!(left, Vec::<std::ffi::OsString>::new());
        for device in &self.devices {
            let found = program("wipefs")
                .arg("--noheadings")
                .arg(device)
                .output()
                .expect("wipefs runs");
            assert_eq!(
                String::from_utf8_lossy(&found.stdout),
                "",
                "{} has signatures",
                device.display()
            );
        }
    }

    pub fn provenance(&self, key: &str) -> Option<&str> {
        self.events.iter().rev().find_map(|event| match event {
            Event::Provenance { key: found, value } if found == key => Some(value.as_str()),
            _ => None,
        })
    }

    pub fn calls(&self, word: &str) -> usize {
        let has = |event: &&Event| matches!(event, Event::Call(call) if call.argv.iter().any(|arg| arg == word));
        self.events.iter().filter(has).count()
    }
}

impl Drop for Rig {
    /// Cleans up after a failed test as well.
    fn drop(&mut self) {
        let present: Vec<_> = [Tool::Mdadm, Tool::Wipefs]
            .into_iter()
            .filter(|&t| Tools::find(&[t]).is_ok())
            .collect();
        let mut tools = Tools::find(&present).expect("were found");
        for act in self.ledger.open.drain(..).rev() {
            if let Err(cause) = undone(&act.undo, &mut tools) {
                println!("left behind: could not {}: {cause}", act.undo);
            }
        }
        for device in &self.devices {
            let _ = program("losetup").arg("--detach").arg(device).status();
        }
    }
}

/// Undoes an act with these programs.
pub fn undone(act: &Undo, tools: &mut Tools) -> Result<(), Cause> {
    let mut access = Access {
        executor: &mut System::new(tools),
        recorder: &mut |_| (),
        check: &mut NoDiskCheck,
    };
    stack::undo(act, &mut access).map(drop)
}

pub fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).expect("readable")
}

pub fn passed(guard: &Guard) {
    assert!(guard.passed, "{}: {}", guard.name, guard.detail);
}

pub fn spec(level: Level, kind: FilesystemKind) -> StackSpec {
    StackSpec {
        array: ArraySpec {
            level,
            bitmap: Bitmap::None,
            ..ArraySpec::default()
        },
        filesystem: FilesystemSpec {
            kind,
            ..FilesystemSpec::default()
        },
        ..StackSpec::default()
    }
}

/// Runs a test's body, or prints why it cannot run here.
pub fn run(body: impl FnOnce() -> Result<(), String>) {
    if let Err(reason) = body() {
        requirements::skip(reason);
    }
}
