//! Device numbers: the kernel's identification of a block device. Any program can create paths.

use rustix::fs::FileType;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Major and minor number of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeviceNumber {
    pub major: u32,
    pub minor: u32,
}

impl DeviceNumber {
    pub(crate) fn of_rdev(rdev: u64) -> DeviceNumber {
        DeviceNumber {
            major: rustix::fs::major(rdev),
            minor: rustix::fs::minor(rdev),
        }
    }

    /// `254:0`, as in sysfs and mountinfo.
    pub(crate) fn parse(text: &str) -> Option<DeviceNumber> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(DeviceNumber {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }

    /// Number of the block device at a path; none if it is something else.
    pub(crate) fn of_node(path: &Path) -> Option<DeviceNumber> {
        let stat = rustix::fs::stat(path).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice).then(|| Self::of_rdev(stat.st_rdev))
    }

    /// Number of an open block device.
    pub(crate) fn of_file(file: impl AsFd) -> Option<DeviceNumber> {
        let stat = rustix::fs::fstat(file).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice).then(|| Self::of_rdev(stat.st_rdev))
    }

    /// Path of the device's symlink in sysfs.
    pub(crate) fn sysfs_link(self) -> PathBuf {
        PathBuf::from(format!("/sys/dev/block/{self}"))
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_the_kernel_writes_them() {
        let number = DeviceNumber::parse("254:17\n").expect("a number");
        assert_eq!((number.major, number.minor), (254, 17));
        assert_eq!(number.to_string(), "254:17");
        assert_eq!(DeviceNumber::parse("254"), None);
        assert_eq!(DeviceNumber::of_node(Path::new("/dev/null")), None);
    }
}
