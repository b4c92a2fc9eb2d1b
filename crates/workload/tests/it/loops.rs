//! Real filesystems on loop devices, with real caches and counters. Needs root.

use crate::folder::{Folder, target, tree, tree_spec};
use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};
use study::event::{Event, ToolCall};
use study::workload::TreeTest::{Copy, Delete, Read, Write};
use study::workload::{IoEngine, IoPattern, IoSpec, Work, WorkloadSpec};
use tools::{Invocation, ToolError};
use workload::{DeviceCounters, Host, HostError, Target};

/// A filesystem on a loop device over a sparse file; taken apart on drop.
struct Loop {
    folder: tempfile::TempDir,
    device: String,
}

fn call(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!(
        "{program} {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    ))
}

impl Loop {
    /// The reason why this machine cannot, if so.
    fn new(mkfs: &[&str]) -> Result<Self, String> {
        let folder = tempfile::tempdir_in("/var/tmp").map_err(|error| error.to_string())?;
        let image = folder.path().join("image");
        let file = fs::File::create(&image).map_err(|error| error.to_string())?;
        file.set_len(512 << 20).map_err(|error| error.to_string())?;
        let device = call(
            "losetup",
            &["--find", "--show", "--direct-io=on", &image.display().to_string()],
        )?;
        let made = Self { folder, device };
        let [program, arguments @ ..] = mkfs else {
            panic!("a program and its arguments")
        };
        call(program, &[arguments, &[&made.device]].concat())?;
        fs::create_dir(made.mount_point()).map_err(|error| error.to_string())?;
        made.mount()?;
        Ok(made)
    }

    fn mount_point(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    fn mount(&self) -> Result<String, String> {
        call("mount", &[&self.device, &self.mount_point().display().to_string()])
    }

    /// A process that another test starts has the files of this one open until it executes its program.
    fn unmount(&self) -> Result<String, String> {
        let mut tries_left = 50;
        loop {
            match call("umount", &[&self.mount_point().display().to_string()]) {
                Err(why) if why.contains("busy") && tries_left > 0 => tries_left -= 1,
                Err(why) => return Err(why),
                Ok(said) => {
                    self.wait_until_free();
                    return Ok(said);
                }
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// A process of another test that has a copy of the mounts keeps the filesystem, and its device, until it lets go of them
    /// (`requirements::own_mounts`).
    fn wait_until_free(&self) {
        const O_EXCL: i32 = 0o200;
        let is_free = || {
            fs::OpenOptions::new()
                .read(true)
                .custom_flags(O_EXCL)
                .open(&self.device)
                .is_ok()
        };
        let until = Instant::now() + Duration::from_secs(10);
        while !is_free() && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn counters(&self) -> DeviceCounters {
        let name = self.device.trim_start_matches("/dev/");
        let stat = fs::read_to_string(format!("/sys/block/{name}/stat")).expect("a block device");
        let fields: Vec<u64> = stat
            .split_whitespace()
            .map(|field| field.parse().expect("a number"))
            .collect();
        DeviceCounters {
            reads: fields[0],
            reads_merged: fields[1],
            read_sectors: fields[2],
            writes: fields[4],
            written_sectors: fields[6],
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if call("mountpoint", &["-q", &self.mount_point().display().to_string()]).is_ok() {
            let _ = self.unmount();
        }
        let _ = call("losetup", &["-d", &self.device]);
    }
}

/// The loop device as a host; caches are really dropped if `cold`.
struct LoopHost<'a> {
    disk: &'a Loop,
    cold: bool,
    kept: Folder<'static>,
}

impl Host for LoopHost<'_> {
    fn event(&mut self, event: Event) {
        self.kept.event(event);
    }

    fn step(&mut self, name: &str) {
        self.kept.step(name);
    }

    fn quiesce_and_drop_caches(&mut self) -> Result<(), HostError> {
        if self.cold {
            call("sync", &[])?;
            fs::write("/proc/sys/vm/drop_caches", "3")?;
        }
        Ok(())
    }

    fn device_counters(&mut self) -> Result<DeviceCounters, HostError> {
        Ok(self.disk.counters())
    }

    fn remount(&mut self) -> Result<(), HostError> {
        self.disk.unmount()?;
        self.disk.mount()?;
        Ok(())
    }

    fn run_tool(&mut self, invocation: &Invocation) -> Result<ToolCall, ToolError> {
        self.kept.run_tool(invocation)
    }
}

/// Dropping caches affects the whole machine, including tests that need warm caches: tests that drop them hold a shared
/// lock, tests that need them warm an exclusive one.
static CACHES: RwLock<()> = RwLock::new(());

fn run(spec: &WorkloadSpec, disk: &Loop, cold: bool) -> Folder<'static> {
    let shared = cold.then(|| CACHES.read().unwrap_or_else(PoisonError::into_inner));
    let alone = (!cold).then(|| CACHES.write().unwrap_or_else(PoisonError::into_inner));
    let mount_point = disk.mount_point();
    let mut host = LoopHost {
        disk,
        cold,
        kept: Folder::default(),
    };
    workload::run(spec, &target(&mount_point), 7, &mut host).expect("the work is done");
    drop((shared, alone));
    host.kept
}

fn job(engine: IoEngine, pattern: IoPattern) -> WorkloadSpec {
    let io = IoSpec {
        engine,
        pattern,
        read_percent: 50,
        block_bytes: 64 << 10,
        size_bytes: 8 << 20,
        offset_bytes: 0,
        jobs: 2,
        queue_depth: 4,
        direct: false,
        fsync_every: 0,
        end_fsync: true,
        runtime_ns: None,
        ..IoSpec::default()
    };
    WorkloadSpec {
        name: "a job".to_owned(),
        age: None,
        work: Work::Io(io),
    }
}

/// Everything on one filesystem: guards pass with cold caches, and fail with warm ones.
fn everything(mkfs: &[&str]) {
    let disk = match Loop::new(mkfs) {
        Ok(disk) => disk,
        Err(reason) => return requirements::skip(reason),
    };
    let whole = tree(tree_spec(2000, 60, [64, 2048, 64 << 10], &[Write, Read, Copy, Delete]));
    let kept = run(&whole, &disk, true);
    assert_eq!(kept.guards().count(), 7);
    for guard in kept.guards() {
        assert!(guard.passed, "{mkfs:?}: {guard:?}");
    }
    fs::remove_dir_all(disk.mount_point().join("copy")).expect("the copy was left");

    let kept = run(&tree(tree_spec(500, 20, [4096; 3], &[Write, Read])), &disk, false);
    assert!(
        !kept.guard("cold-cache", "read").passed,
        "{mkfs:?}: warm reads must be reported"
    );

    for engine in [IoEngine::Native, IoEngine::Fio] {
        for pattern in [IoPattern::RandRead, IoPattern::RandWrite, IoPattern::ReadWrite] {
            let kept = run(&job(engine, pattern), &disk, true);
            for guard in kept.guards() {
                assert!(guard.passed, "{mkfs:?}, {engine:?}, {pattern:?}: {guard:?}");
            }
        }
    }
    let kept = run(&job(IoEngine::Native, IoPattern::Read), &disk, false);
    assert!(
        !kept.guard("cold-cache", "read").passed,
        "{mkfs:?}: warm reads must be reported"
    );
}

#[test]
fn loop_ext4() {
    everything(&["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"]);
}

#[test]
fn loop_xfs() {
    everything(&["mkfs.xfs", "-q"]);
}

#[test]
fn loop_btrfs() {
    everything(&["mkfs.btrfs", "-q"]);
}

/// The device itself, opened exclusively: refused while it is mounted.
#[test]
fn loop_raw() {
    let disk = match Loop::new(&["mkfs.ext4", "-q"]) {
        Ok(disk) => disk,
        Err(reason) => return requirements::skip(reason),
    };
    let _shared = CACHES.read().unwrap_or_else(PoisonError::into_inner);
    let raw = Target {
        mount_point: None,
        block_device: Path::new(&disk.device),
    };
    for engine in [IoEngine::Native, IoEngine::Fio] {
        let mut host = LoopHost {
            disk: &disk,
            cold: true,
            kept: Folder::default(),
        };
        let error = workload::run(&job(engine, IoPattern::RandWrite), &raw, 7, &mut host).expect_err("mounted");
        assert!(error.to_string().contains("busy"), "{error}");
    }
    disk.unmount().expect("nothing uses it");
    for engine in [IoEngine::Native, IoEngine::Fio] {
        for pattern in [IoPattern::RandWrite, IoPattern::Read] {
            let mut host = LoopHost {
                disk: &disk,
                cold: true,
                kept: Folder::default(),
            };
            workload::run(&job(engine, pattern), &raw, 7, &mut host).expect("the work is done");
            for guard in host.kept.guards() {
                assert!(guard.passed, "{engine:?}, {pattern:?}: {guard:?}");
            }
        }
    }
}
