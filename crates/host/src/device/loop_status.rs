//! The backing file or device of each loop device, by device and inode number, as reported by the kernel.

use crate::device::device_number::DeviceNumber;
use crate::device::sysfs;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// `LOOP_GET_STATUS64` of <linux/loop.h>.
const LOOP_GET_STATUS64: libc::Ioctl = 0x4C05;

/// `struct loop_info64` of <linux/loop.h>.
#[repr(C)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// Backing of a loop device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Backing {
    Device(DeviceNumber),
    /// A regular file: its filesystem's device number, and its inode.
    File {
        device: u64,
        inode: u64,
    },
}

/// An attached loop device.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// Its folder in /sys.
    pub(crate) sysfs: PathBuf,
    pub(crate) backing: Backing,
    pub(crate) offset_bytes: u64,
    /// Size limit; None: to the end.
    pub(crate) limit_bytes: Option<u64>,
}

impl Loop {
    /// The loop device in this folder of /sys, if it is one and is attached. The status is read from the device itself;
    /// if it cannot be opened, the file that a write would go to is unknown.
    pub(crate) fn at(folder: &Path) -> Result<Option<Loop>, String> {
        if !folder.join("loop/backing_file").exists() {
            return Ok(None);
        }
        let name = sysfs::name(folder);
        let node = Path::new("/dev").join(&name);
        let unknown = |why: String| format!("cannot determine what {name} is attached to: {why}");
        let file = File::open(&node).map_err(|error| unknown(error.to_string()))?;
        if DeviceNumber::of_file(&file) != sysfs::device_number(folder) {
            return Err(unknown(format!("{} is another device", node.display())));
        }
        // SAFETY: all fields are integers, for which zero is valid.
        let mut info: LoopInfo64 = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel fills the structure, which has the size that it expects.
        if unsafe { libc::ioctl(file.as_raw_fd(), LOOP_GET_STATUS64, &raw mut info) } < 0 {
            let error = std::io::Error::last_os_error();
            // Detached in the meantime.
            return match error.raw_os_error() {
                Some(libc::ENXIO) => Ok(None),
                _ => Err(unknown(error.to_string())),
            };
        }
        let backing = match info.rdevice {
            0 => Backing::File {
                device: info.device,
                inode: info.inode,
            },
            rdevice => Backing::Device(DeviceNumber::of_rdev(rdevice)),
        };
        Ok(Some(Loop {
            sysfs: folder.to_owned(),
            backing,
            offset_bytes: info.offset,
            limit_bytes: Some(info.size_limit).filter(|&limit| limit > 0),
        }))
    }

    /// All attached loop devices of the machine.
    pub(crate) fn all() -> Result<Vec<Loop>, String> {
        let mut all = Vec::new();
        for folder in sysfs::entries(Path::new("/sys/block")) {
            let folder = std::fs::canonicalize(&folder).unwrap_or(folder);
            all.extend(Self::at(&folder)?);
        }
        Ok(all)
    }

    /// The byte range of its backing file or device.
    pub(crate) fn range(&self) -> std::ops::Range<u64> {
        let end = self
            .limit_bytes
            .map_or(u64::MAX, |limit| self.offset_bytes.saturating_add(limit));
        self.offset_bytes..end
    }
}
