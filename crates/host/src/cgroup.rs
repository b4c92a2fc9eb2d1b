//! The memory of a trial, limited by a control group: version 2 of the hierarchy, or version 1.

use crate::ledger::DiskLedger;
use crate::undo::Undo;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Puts this process, and all that it will start, into a new group that may use so much memory, page cache included.
/// Why not, if the machine cannot.
pub(crate) fn limit_memory(name: &str, bytes: u64, ledger: &mut DiskLedger) -> Result<(), String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let (root, attribute) = hierarchy(&mounts, |root| {
        let enabled = fs::read_to_string(root.join("cgroup.subtree_control")).unwrap_or_default();
        enabled.split_whitespace().any(|controller| controller == "memory")
    })
    .ok_or("no control group of this machine can limit memory")?;
    let group = root.join(name);
    ledger
        .intend(&Undo::Cgroup { path: group.clone() })
        .map_err(|error| format!("could not write the ledger: {error}"))?;
    let write = |name: &str, value: &str| {
        fs::write(group.join(name), value)
            .map_err(|error| format!("could not write `{value}` to {}: {error}", group.join(name).display()))
    };
    fs::create_dir(&group).map_err(|error| format!("could not make {}: {error}", group.display()))?;
    write(attribute, &bytes.to_string())?;
    write("cgroup.procs", &std::process::id().to_string())
}

/// The folder that groups which limit memory are made in, and the attribute that does it.
fn hierarchy(mounts: &str, has_memory: impl Fn(&Path) -> bool) -> Option<(PathBuf, &'static str)> {
    let of_kind = |kind: &str, option: &str| {
        mounts.lines().find_map(|line| {
            let (left, right) = line.split_once(" - ")?;
            let mut right = right.split(' ');
            let is_it = right.next()? == kind
                && (option.is_empty() || right.nth(1)?.split(',').any(|other| other == option));
            is_it.then(|| PathBuf::from(left.split(' ').nth(4).unwrap_or_default()))
        })
    };
    let second = of_kind("cgroup2", "").filter(|root| has_memory(root));
    second
        .map(|root| (root, "memory.max"))
        .or_else(|| Some((of_kind("cgroup", "memory")?, "memory.limit_in_bytes")))
}

/// Removes a group; its last processes may be just ending.
pub(crate) fn remove(path: &Path) -> Result<(), String> {
    const TRIES: u32 = 100;
    for _ in 0..TRIES {
        match fs::remove_dir(path) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.raw_os_error() != Some(libc::EBUSY) => return Err(error.to_string()),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
    let processes = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    let processes: Vec<&str> = processes.lines().collect();
    Err(format!("processes are still in it: {}", processes.join(", ")))
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
}
