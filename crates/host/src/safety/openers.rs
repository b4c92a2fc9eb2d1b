//! Processes that have a device open, by device number, in any root and mount namespace.

use crate::device::device_number::DeviceNumber;
use crate::device::sysfs;
use rustix::fs::FileType;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// An open file of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    Device(DeviceNumber),
    /// A regular file.
    File {
        device: u64,
        inode: u64,
    },
}

/// A process that has something open.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Opener {
    pub(crate) what: What,
    pub(crate) pid: u32,
    pub(crate) program: String,
    /// It may write.
    pub(crate) writes: bool,
}

/// All processes that have one of these open or mapped, except the given ones.
pub(crate) fn openers(wanted: &dyn Fn(What) -> bool, except: &[u32]) -> BTreeSet<Opener> {
    let mut found = BTreeSet::new();
    for process in sysfs::entries(Path::new("/proc")) {
        let Ok(pid) = sysfs::name(&process).parse::<u32>() else {
            continue;
        };
        if except.contains(&pid) {
            continue;
        }
        let mut add = |what: What, writes: bool| {
            found.insert(Opener {
                what,
                pid,
                program: sysfs::text(&process.join("comm")).unwrap_or_default(),
                writes,
            });
        };
        // Threads may have separate file descriptor tables.
        for thread in sysfs::entries(&process.join("task")) {
            for file in sysfs::entries(&thread.join("fd")) {
                if let Some(what) = what_is(&file).filter(|&what| wanted(what)) {
                    let info = thread.join("fdinfo").join(sysfs::name(&file));
                    add(what, may_write(&info));
                }
            }
        }
        // A mapped file need not be open.
        for mapped in sysfs::entries(&process.join("map_files")) {
            if let Some(what) = what_is(&mapped).filter(|&what| wanted(what)) {
                add(what, true);
            }
        }
    }
    found
}

/// What a link in /proc refers to, resolved by the kernel and not by its text.
fn what_is(link: &PathBuf) -> Option<What> {
    let stat = rustix::fs::stat(link).ok()?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => Some(What::Device(DeviceNumber::of_rdev(stat.st_rdev))),
        FileType::RegularFile => Some(What::File {
            device: stat.st_dev,
            inode: stat.st_ino,
        }),
        _ => None,
    }
}

/// From the flags in /proc/PID/fdinfo; true if they cannot be read.
fn may_write(info: &Path) -> bool {
    let text = fs::read_to_string(info).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    flags.is_none_or(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_process_that_writes_a_file_is_found_and_left_out_if_told() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let meta = file.as_file().metadata().expect("it is there");
        let this = What::File {
            device: meta.dev(),
            inode: meta.ino(),
        };
        let found = openers(&|what| what == this, &[]);
        let us = found.iter().find(|opener| opener.pid == std::process::id());
        assert!(us.is_some_and(|us| us.writes), "{found:?}");
        assert!(openers(&|what| what == this, &[std::process::id()]).is_empty());
        let reader = fs::File::open(file.path()).expect("readable");
        drop(file.into_file());
        let found = openers(&|what| what == this, &[]);
        assert!(
            !found.is_empty() && found.iter().all(|opener| !opener.writes),
            "{found:?}"
        );
        drop(reader);
    }
}
