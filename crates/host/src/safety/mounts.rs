//! Mounts in any mount namespace that a process is in, and swap areas.

use crate::device::device_number::DeviceNumber;
use crate::device::sysfs;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A mount, and the devices that identify it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mount {
    /// btrfs and ZFS report anonymous device numbers.
    number: Option<DeviceNumber>,
    /// The device that it was mounted from, as the process sees it.
    source: Option<DeviceNumber>,
    pub(crate) folder: String,
}

impl Mount {
    pub(crate) fn is_of(&self, device: DeviceNumber) -> bool {
        self.number == Some(device) || self.source == Some(device)
    }
}

/// The mounts of every mount namespace.
pub(crate) fn mounts() -> BTreeSet<Mount> {
    let mut namespaces = BTreeSet::new();
    let mut all = BTreeSet::new();
    let processes = std::iter::once(PathBuf::from("/proc/self")).chain(sysfs::entries(Path::new("/proc")));
    for process in processes {
        let is_process = sysfs::name(&process).bytes().all(|byte| byte.is_ascii_digit());
        if !is_process && sysfs::name(&process) != "self" {
            continue;
        }
        let namespace = fs::read_link(process.join("ns/mnt")).ok();
        // A process in a chroot shows only the mounts below its own root.
        let root = fs::metadata(process.join("root"))
            .ok()
            .map(|root| (root.dev(), root.ino()));
        if !namespaces.insert((namespace, root)) {
            continue;
        }
        let Ok(table) = fs::read(process.join("mountinfo")) else {
            continue;
        };
        let table = String::from_utf8_lossy(&table);
        all.extend(table.lines().filter_map(|line| parse(line, &process.join("root"))));
    }
    all
}

/// A line of mountinfo, of a process with this root.
fn parse(line: &str, root: &Path) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ');
    let number = DeviceNumber::parse(left.nth(2)?);
    let folder = unescape(left.nth(1)?);
    let source = unescape(right.split(' ').nth(1)?);
    let source = source
        .strip_prefix('/')
        .and_then(|path| DeviceNumber::of_node(&root.join(path)));
    Some(Mount { number, source, folder })
}

/// The kernel writes white space and backslashes as three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let octal = after
            .get(..3)
            .filter(|_| first == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A swap area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Swap {
    Device(DeviceNumber),
    File { device: u64, inode: u64 },
}

pub(crate) fn swaps() -> Vec<Swap> {
    let table = fs::read("/proc/swaps").unwrap_or_default();
    let lines = table.split(|&byte| byte == b'\n').skip(1);
    lines
        .filter_map(|line| {
            let word = line.split(|byte| byte.is_ascii_whitespace()).next()?;
            let path = unescape(&String::from_utf8_lossy(word));
            let path = PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes()));
            DeviceNumber::of_node(&path).map(Swap::Device).or_else(|| {
                let file = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
                Some(Swap::File {
                    device: file.dev(),
                    inode: file.ino(),
                })
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_mountinfo() {
        let line = "29 1 254:0 / /mnt/my\\040disk rw,relatime shared:1 - ext4 /dev/nothing rw";
        let mounted = parse(line, Path::new("/")).expect("whole");
        assert!(mounted.is_of(DeviceNumber { major: 254, minor: 0 }));
        assert!(!mounted.is_of(DeviceNumber { major: 254, minor: 1 }));
        assert_eq!(mounted.folder, "/mnt/my disk");
        assert!(parse("29 1 254:0", Path::new("/")).is_none());
    }

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(unescape(r"a\040b\134c\0"), r"a b\c\0");
    }

    #[test]
    fn this_process_has_mounts() {
        assert!(mounts().iter().any(|mount| mount.folder == "/"));
    }
}
