//! Block devices: which one a path refers to, and whether it is in use.

use crate::machine::error::Cause;
use crate::machine::sysfs;
use rustix::fs::{FileType, Mode, OFlags};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A block device, with the given path and the kernel's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    pub path: PathBuf,
    /// `vda`, `sdb1`, `md100`
    pub kernel_name: String,
    /// Its folder in /sys.
    pub(crate) sysfs: PathBuf,
    is_simulated: bool,
}

impl BlockDevice {
    /// Finds the device that a path refers to, following symbolic links such as those in /dev/disk/by-id.
    pub fn at(path: &Path) -> Result<Self, Cause> {
        let shown = path.display();
        let stat = rustix::fs::stat(path).map_err(Cause::errno(format!("stat {shown}")))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
            return Err(Cause::Impossible(format!("{shown} is not a block device")));
        }
        let (major, minor) = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
        let link = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
        let sysfs = fs::canonicalize(&link).map_err(Cause::system(format!("find {shown} in /sys")))?;
        let kernel_name = sysfs.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self {
            path: path.to_owned(),
            kernel_name,
            sysfs,
            is_simulated: false,
        })
    }

    /// A device that exists only in the dry run: a whole disk, or something used like one.
    pub(crate) fn simulated(path: &Path, sysfs: &Path) -> Self {
        Self {
            path: path.to_owned(),
            kernel_name: sysfs.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            sysfs: sysfs.to_owned(),
            is_simulated: true,
        }
    }

    pub(crate) const fn is_simulated(&self) -> bool {
        self.is_simulated
    }

    pub fn size_bytes(&self) -> Result<u64, Cause> {
        let attribute = self.sysfs.join("size");
        Ok(sysfs::number(&attribute, &sysfs::read(&attribute)?)? * 512)
    }

    /// The folder of its request queue: a partition has that of its disk. Accessed only when needed: in a guest the
    /// kernel's allocations for a path move all later ones.
    pub(crate) fn queue(&self) -> PathBuf {
        match !self.is_simulated && self.sysfs.join("partition").exists() {
            true => self.sysfs.join("..").join("queue"),
            false => self.sysfs.join("queue"),
        }
    }

    /// Rejects a device that is mounted, used as swap, or part of an array or volume. The kernel reports that.
    pub(crate) fn must_be_free(&self) -> Result<(), Cause> {
        let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
        match rustix::fs::open(&self.path, flags, Mode::empty()) {
            Ok(_) => Ok(()),
            Err(rustix::io::Errno::BUSY) => Err(Cause::State(format!(
                "{} is in use: mounted, or part of another device",
                self.path.display()
            ))),
            Err(errno) => Err(Cause::errno(format!("open {}", self.path.display()))(errno)),
        }
    }
}

/// Waits for the node of a new device; there may be only devtmpfs and no udev.
pub(crate) fn wait_for_node(path: &Path, at_most: Duration) -> Result<BlockDevice, Cause> {
    let deadline = Instant::now() + at_most;
    loop {
        match BlockDevice::at(path) {
            Ok(device) => return Ok(device),
            Err(cause) if Instant::now() >= deadline => return Err(cause),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}
