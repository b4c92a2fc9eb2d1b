//! A stack that is set up.

use crate::array::integrity::Checksummed;
use crate::array::lvm_volume::LogicalVolume;
use crate::array::md::Array;
use crate::array::zfs::Pool;
use crate::filesystem::image::StoredImage;
use crate::filesystem::mounting::Mounting;
use crate::machine::device::BlockDevice;
use crate::machine::ledger::LedgerEntry;
use std::path::{Path, PathBuf};

/// A stack that is set up.
#[derive(Debug)]
pub struct Stack {
    /// The device of the filesystem, or of the workload on a raw device: the array or the single disk. The first
    /// disk if the filesystem has several.
    pub block_device: PathBuf,
    /// Mount point of the filesystem; `None` on a raw device.
    pub mount_point: Option<PathBuf>,
    /// The disks in use: those of the array, spares last, then external devices such as a journal's.
    pub members: Vec<BlockDevice>,
    /// Number of members in group `data`.
    pub(crate) data_disks: usize,
    /// The devices on which the array is, or the filesystem that has all disks: the disks in group order, or the topmost layer on
    /// each.
    pub(crate) below: Vec<BlockDevice>,
    /// The layers on the array, from the array up.
    pub(crate) layers: Vec<BlockDevice>,
    /// `None` without md.
    pub array: Option<Array>,
    /// If md's members are dm-integrity devices: each disk of group `data` with its device.
    pub(crate) checksummed: Vec<Checksummed>,
    /// The arrays that are its members.
    pub(super) inner: Vec<Array>,
    /// The volume on the array.
    pub(crate) volume: Option<LogicalVolume>,
    pub(super) mounting: Option<Mounting>,
    /// The image that carries the filesystem.
    pub(crate) image: Option<StoredImage>,
    /// Mounted filesystems on other groups of disks, by group.
    pub(super) group_mounts: Vec<(String, PathBuf)>,
    pub(super) acts: Vec<LedgerEntry>,
}

impl Stack {
    /// Mount point of the filesystem on another group, if any.
    pub fn group_mount(&self, group: &str) -> Option<&Path> {
        let found = self.group_mounts.iter().find(|(name, _)| name == group);
        found.map(|(_, folder)| folder.as_path())
    }

    /// The ZFS pool, if any.
    pub(crate) fn pool(&self) -> Option<&Pool> {
        let of_image = self.image.as_ref().map(|image| &image.mounting);
        of_image.or(self.mounting.as_ref())?.pool.as_ref()
    }

    /// Every array, inner arrays first.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.inner.iter().chain(&self.array)
    }
}
