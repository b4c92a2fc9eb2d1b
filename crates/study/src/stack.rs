//! The stack under test: disks, the array over them, the filesystem on it, how it is mounted.

use serde::{Deserialize, Serialize};

/// The machine that a cell runs on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineSpec {
    /// Where: a lab guest or the host itself.
    pub kind: MachineKind,
    /// Memory of the machine (lab: of the guest).
    pub ram_bytes: u64,
    /// Kernel version ("6.12"), or the name under which a developer's own tree was built.
    pub kernel: String,
    /// Disk groups by name; the group `data` carries the array.
    pub disks: Vec<DiskGroup>,
}

/// Where trials run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MachineKind {
    /// A User-Mode Linux guest in virtual time on simulated disks.
    Lab,
    /// This machine's own kernel and real disks.
    Host,
}

/// Disks of one model that serve one purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskGroup {
    /// `data` for the disks under test; later `journal`, `source`.
    pub name: String,
    /// Name in the disk catalogue.
    pub model: String,
    pub count: u32,
}

/// Disks → array → filesystem → mount.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StackSpec {
    pub array: ArraySpec,
    pub filesystem: FilesystemSpec,
    /// Mount options as mount(8) takes them after `-o`, one an entry; empty for the defaults.
    pub mount_options: Vec<String>,
    /// I/O scheduler of the member disks (`none`, `mq-deadline`, `bfq`, `kyber`); the kernel's choice if absent.
    pub scheduler: Option<String>,
    /// Read-ahead of the array in 512-byte sectors, as `blockdev --setra`; the kernel's choice if absent.
    pub read_ahead_sectors: Option<u64>,
}

/// The array over the disks of group `data`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArraySpec {
    pub level: Level,
    /// Chunk; absent where the level has none, or for mdadm's default (512 KiB).
    pub chunk_bytes: Option<u64>,
    pub bitmap: Bitmap,
    /// Hot spares, taken from the end of the group.
    pub spares: u32,
    /// What of each member is used (mdadm `--size`); all of it if absent.
    pub member_size_bytes: Option<u64>,
    /// RAID 10 layout (`n2`, `f2`, `o2`), RAID 5/6 parity layout (`left-symmetric`); mdadm's default if absent.
    pub layout: Option<String>,
    /// Superblock format (`1.2`, `1.0`, `0.90`); mdadm's default if absent.
    pub metadata: Option<String>,
}

/// RAID level. `Single` is one disk as it is, without md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Single,
    Linear,
    Raid0,
    Raid1,
    Raid4,
    Raid5,
    Raid6,
    Raid10,
}

/// Where md keeps its write-intent bitmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bitmap {
    Internal,
    None,
}

/// The filesystem on the array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesystemSpec {
    pub kind: FilesystemKind,
    /// Block size (btrfs: sector size); mkfs's default if absent.
    pub block_size_bytes: Option<u64>,
    /// Journal mode of ext3, ext4 and ReiserFS (`data=`); the filesystem's default if absent.
    pub journal_mode: Option<JournalMode>,
    /// Size of the journal or log; mkfs's default if absent.
    pub journal_size_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilesystemKind {
    /// No filesystem: the work goes to the block device itself.
    Raw,
    Ext2,
    Ext3,
    Ext4,
    Xfs,
    Jfs,
    Reiserfs,
    Btrfs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalMode {
    Journal,
    Ordered,
    Writeback,
}
