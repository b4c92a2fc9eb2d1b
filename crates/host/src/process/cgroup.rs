//! Control groups, version 1 or 2. They are used to kill all processes of a trial and to limit its memory.

use crate::ledger::ledger_file::DiskLedger;
use crate::ledger::undo::HostUndo;
use rustix::process::{Pid, Signal};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Moves this process into a new group, so that it and everything it forks can be killed. Returns the reason if that
/// is not possible on this machine.
pub(crate) fn enter(name: &str, ledger: &mut DiskLedger) -> Result<(), String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let root = of_kind(&mounts, "cgroup2", "")
        .or_else(|| Some(hierarchy(&mounts, |_| false)?.0))
        .ok_or("this machine has no control groups")?;
    join(&make(&root, name, ledger)?)
}

/// Limits the memory of this process and of everything it starts, including page cache. Returns the reason if that is
/// not possible on this machine.
pub(crate) fn limit_memory(name: &str, bytes: u64, ledger: &mut DiskLedger) -> Result<(), String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let (root, attribute) = hierarchy(&mounts, |root| {
        let enabled = fs::read_to_string(root.join("cgroup.subtree_control")).unwrap_or_default();
        enabled.split_whitespace().any(|controller| controller == "memory")
    })
    .ok_or("no control group of this machine can limit memory")?;
    let group = make(&root, name, ledger)?;
    write(&group.join(attribute), &bytes.to_string())?;
    join(&group)
}

/// Creates a group unless it exists: both controllers may be in one hierarchy.
fn make(root: &Path, name: &str, ledger: &mut DiskLedger) -> Result<PathBuf, String> {
    let group = root.join(name);
    if group.is_dir() {
        return Ok(group);
    }
    ledger
        .intend(&HostUndo::Cgroup { path: group.clone() })
        .map_err(|error| format!("could not write the ledger: {error}"))?;
    fs::create_dir(&group).map_err(|error| format!("could not make {}: {error}", group.display()))?;
    Ok(group)
}

fn join(group: &Path) -> Result<(), String> {
    write(&group.join("cgroup.procs"), &std::process::id().to_string())
}

fn write(path: &Path, value: &str) -> Result<(), String> {
    fs::write(path, value).map_err(|error| format!("could not write `{value}` to {}: {error}", path.display()))
}

/// Mount point of a type of hierarchy with this option.
fn of_kind(mounts: &str, kind: &str, option: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        let is_it =
            right.next()? == kind && (option.is_empty() || right.nth(1)?.split(',').any(|other| other == option));
        is_it.then(|| PathBuf::from(left.split(' ').nth(4).unwrap_or_default()))
    })
}

/// The folder for groups that limit memory, and the attribute that sets the limit.
fn hierarchy(mounts: &str, has_memory: impl Fn(&Path) -> bool) -> Option<(PathBuf, &'static str)> {
    let second = of_kind(mounts, "cgroup2", "").filter(|root| has_memory(root));
    second
        .map(|root| (root, "memory.max"))
        .or_else(|| Some((of_kind(mounts, "cgroup", "memory")?, "memory.limit_in_bytes")))
}

/// Kills all processes in a group, including those that fork meanwhile. Returns the PIDs that do not exit.
pub(crate) fn end_all(group: &Path) -> Vec<u32> {
    const TRIES: u32 = 100;
    for _ in 0..TRIES {
        let alive = processes(group);
        if alive.is_empty() {
            return alive;
        }
        // Since Linux 5.14, and of the second version only.
        if fs::write(group.join("cgroup.kill"), "1").is_err() {
            for pid in alive
                .into_iter()
                .filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?))
            {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    processes(group)
}

fn processes(group: &Path) -> Vec<u32> {
    let text = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    // PID 0 is a process that is not visible in this PID namespace.
    text.lines()
        .filter_map(|line| line.parse().ok())
        .filter(|&pid| pid != 0)
        .collect()
}

/// Removes a group; its last processes may still be exiting.
pub(crate) fn remove(path: &Path) -> Result<(), String> {
    const TRIES: u32 = 100;
    if path.parent().is_none_or(|root| !root.join("cgroup.procs").exists()) {
        return match path.exists() {
            true => Err("it is not a control group".to_owned()),
            false => Ok(()),
        };
    }
    end_all(path);
    for _ in 0..TRIES {
        match fs::remove_dir(path) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.raw_os_error() != Some(libc::EBUSY) => return Err(error.to_string()),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
    let left: Vec<String> = processes(path).iter().map(ToString::to_string).collect();
    Err(format!("processes are still in it: {}", left.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: &str = "30 20 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                        31 20 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                        32 20 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn the_second_version_if_it_has_memory_and_else_the_first() {
        let (root, attribute) = hierarchy(BOTH, |_| true).expect("there is one");
        assert_eq!(
            (root.as_path(), attribute),
            (Path::new("/sys/fs/cgroup/unified"), "memory.max")
        );
        let (root, attribute) = hierarchy(BOTH, |_| false).expect("there is one");
        assert_eq!(
            (root.as_path(), attribute),
            (Path::new("/sys/fs/cgroup/memory"), "memory.limit_in_bytes")
        );
        assert_eq!(hierarchy("32 20 0:28 / /x rw - cgroup2 cgroup2 rw\n", |_| false), None);
    }

    /// Kills processes that fork continuously and have no parent of ours.
    #[test]
    fn root_what_is_forked_meanwhile_is_ended_too() {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let root = of_kind(&mounts, "cgroup2", "").or_else(|| Some(hierarchy(&mounts, |_| false)?.0));
        // The name is not that of a run's group, which other tests look for.
        let group = root.map(|root| root.join(format!("test-of-raidlab-{}", std::process::id())));
        let Some(group) = group.filter(|group| fs::create_dir(group).is_ok()) else {
            return requirements::skip("needs root, and control groups");
        };
        let script = "echo $$ > \"$0/cgroup.procs\"; for i in 1 2 3; do (setsid sh -c 'while :; do sleep 60 & sleep 0.01; \
                      done' &) ; done; exec sleep 60";
        let mut child = std::process::Command::new("sh")
            .args(["-c", script])
            .arg(&group)
            .spawn()
            .expect("sh");
        while processes(&group).len() < 10 {
            std::thread::sleep(Duration::from_millis(10));
        }
        // As if the first of them was killed: nobody waits for the others.
        child.kill().expect("ours");
        child.wait().expect("ours");
        assert_eq!(remove(&group), Ok(()));
        assert!(!group.exists());
    }
}
