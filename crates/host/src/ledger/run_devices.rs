//! The devices that belong to a run: its disks, their partitions, devices built only on these, and loop devices on its
//! own files.

use crate::device::disk::{Disk, whole_disk};
use crate::device::loop_status::{Backing, Loop};
use crate::device::sysfs;
use crate::ledger::ledger_file::ClaimedDisk;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What identifies the devices of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunDevices {
    pub(crate) claims: Vec<ClaimedDisk>,
    /// The machine was not rebooted since the claim.
    pub(crate) same_boot: bool,
    /// Files behind loop devices.
    pub(crate) files: Vec<PathBuf>,
}

/// Maximum depth of stacked devices.
const HEIGHT_MAX: u32 = 32;

impl RunDevices {
    /// Whether a device belongs to the run. False if it does not exist.
    pub(crate) fn own(&self, node: &Path) -> bool {
        match Disk::at(node) {
            Ok(disk) => self.own_folder(&disk.sysfs),
            Err(_) => !node.exists(),
        }
    }

    /// The same for its folder in /sys.
    pub(crate) fn own_folder(&self, folder: &Path) -> bool {
        self.own_at(folder, HEIGHT_MAX)
    }

    fn own_at(&self, folder: &Path, height: u32) -> bool {
        let components = sysfs::entries(&folder.join("slaves"));
        let is_gone = components.is_empty() && sysfs::number(&folder.join("size")) == Some(0);
        if height == 0 || is_gone {
            // A stopped array whose node still exists.
            return is_gone;
        }
        let is_claimed = Disk::at_folder(folder).is_some_and(|disk| {
            let mut claims = self.claims.iter();
            claims.any(|claim| claim.identity.is_of_hardware(&disk, self.same_boot))
        });
        if is_claimed || self.is_on_own_file(folder) || self.is_on_own_filesystem(folder, height) {
            return true;
        }
        let whole = whole_disk(folder);
        if whole != folder {
            return self.own_at(&whole, height - 1);
        }
        let is_own = |component: &PathBuf| {
            let folder = fs::canonicalize(component);
            folder.is_ok_and(|folder| self.own_at(&folder, height - 1))
        };
        !components.is_empty() && components.iter().all(is_own)
    }

    /// Whether a device is built only on files of the run.
    pub(crate) fn is_on_own_files(&self, node: &Path) -> bool {
        self.claims.is_empty() && self.own(node)
    }

    /// Whether it is a loop device whose file is on a filesystem on devices of the run: ext4 and XFS have the number of their device,
    /// btrfs has one of its own.
    fn is_on_own_filesystem(&self, folder: &Path, height: u32) -> bool {
        let Ok(Some(Loop {
            backing: Backing::File { device, .. },
            ..
        })) = Loop::at(folder)
        else {
            return false;
        };
        let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
        let below = fs::canonicalize(Path::new("/sys/dev/block").join(number));
        below.is_ok_and(|below| self.own_at(&below, height - 1))
    }

    fn is_on_own_file(&self, folder: &Path) -> bool {
        let Ok(Some(Loop { backing, .. })) = Loop::at(folder) else {
            return false;
        };
        let files = self.files.iter().filter_map(|file| fs::metadata(file).ok());
        files.into_iter().any(|file| {
            backing
                == Backing::File {
                    device: file.dev(),
                    inode: file.ino(),
                }
        })
    }
}
