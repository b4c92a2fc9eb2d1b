//! Filesystem options of a study.

use crate::FilesystemKind;
use serde::{Deserialize, Serialize};

/// The filesystem on the array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesystemSpec {
    pub kind: FilesystemKind,
    /// Block size (btrfs: sector size); mkfs's default if absent.
    pub block_size_bytes: Option<u64>,
    /// Journal mode of ext3, ext4 and ReiserFS (`data=`); the filesystem's default if absent.
    pub journal_mode: Option<JournalMode>,
    /// Size of the journal or log; mkfs's default if absent.
    pub journal_size_bytes: Option<u64>,
    /// The disk group whose first disk holds the journal or log; on the array itself if absent.
    #[serde(default)]
    pub journal_on: Option<String>,
    /// The stripe geometry passed to mkfs.
    #[serde(default)]
    pub align: Align,
    /// ext4 leaves part of its initialisation to the kernel, which then runs during the measurements.
    #[serde(default)]
    pub lazy_init: bool,
    /// XFS: log buffers in memory (`logbufs`) and the size of each (`logbsize`).
    #[serde(default)]
    pub log_buffers: Option<u32>,
    #[serde(default)]
    pub log_buffer_size_bytes: Option<u64>,
    /// btrfs: profiles of data and metadata; mkfs's defaults if absent.
    #[serde(default)]
    pub data_profile: Option<Profile>,
    #[serde(default)]
    pub metadata_profile: Option<Profile>,
    /// bcachefs: copies of data and metadata; 1 if absent.
    #[serde(default)]
    pub replicas: Option<u32>,
    /// bcachefs: the group of disks that take writes first and keep what was read; the others hold the data. All disks are alike if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// ZFS, btrfs, bcachefs: `lz4`, `zstd:3` (`zstd-3` on ZFS), `off`, …
    #[serde(default)]
    pub compression: Option<String>,
    /// Options that only ZFS has.
    #[serde(default)]
    pub zfs: ZfsSpec,
}

impl FilesystemSpec {
    /// Whether written data is compressed.
    pub fn compresses(&self) -> bool {
        match self.compression.as_deref() {
            Some(word) => word != "off",
            None => self.kind.compression.as_ref().is_some_and(|how| how.is_default),
        }
    }
}

/// A ZFS pool with one dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZfsSpec {
    /// Type of its top-level vdevs; a stripe if absent.
    pub pool: Option<Pool>,
    /// Disks of each top-level vdev; one vdev of all disks if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vdev_disks: Option<u32>,
    /// ZFS's default (128 KiB) if absent.
    pub recordsize_bytes: Option<u64>,
    /// Logarithm of the sector size; derived from the disks if absent.
    pub ashift: Option<u32>,
    pub sync: Option<ZfsSync>,
    /// A log device (SLOG): the first disk of group `journal`.
    pub log: bool,
    /// A special device: the first disk of group `special`.
    pub special: bool,
    /// A cache device (L2ARC): the first disk of group `cache`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub l2arc: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    Stripe,
    Mirror,
    Raidz1,
    Raidz2,
    Raidz3,
    Draid1,
    Draid2,
}

impl Pool {
    pub const ALL: [Self; 7] = [
        Self::Stripe,
        Self::Mirror,
        Self::Raidz1,
        Self::Raidz2,
        Self::Raidz3,
        Self::Draid1,
        Self::Draid2,
    ];

    /// The word in studies and for zpool.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stripe => "stripe",
            Self::Mirror => "mirror",
            Self::Raidz1 => "raidz1",
            Self::Raidz2 => "raidz2",
            Self::Raidz3 => "raidz3",
            Self::Draid1 => "draid1",
            Self::Draid2 => "draid2",
        }
    }

    /// Smallest number of disks per vdev that zpool accepts.
    pub const fn disks_min(self) -> u32 {
        match self {
            Self::Stripe => 1,
            Self::Mirror | Self::Raidz1 | Self::Draid1 => 2,
            Self::Raidz2 | Self::Draid2 => 3,
            Self::Raidz3 => 4,
        }
    }
}

/// How ZFS treats synchronous writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZfsSync {
    Standard,
    Always,
    Disabled,
}

/// How btrfs spreads its chunks over devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    Single,
    Dup,
    Raid0,
    Raid1,
    Raid1c3,
    Raid1c4,
    Raid10,
    Raid5,
    Raid6,
}

impl Profile {
    pub const ALL: [Self; 9] = [
        Self::Single,
        Self::Dup,
        Self::Raid0,
        Self::Raid1,
        Self::Raid1c3,
        Self::Raid1c4,
        Self::Raid10,
        Self::Raid5,
        Self::Raid6,
    ];

    /// The word in studies and for mkfs.btrfs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Dup => "dup",
            Self::Raid0 => "raid0",
            Self::Raid1 => "raid1",
            Self::Raid1c3 => "raid1c3",
            Self::Raid1c4 => "raid1c4",
            Self::Raid10 => "raid10",
            Self::Raid5 => "raid5",
            Self::Raid6 => "raid6",
        }
    }

    /// Smallest number of devices that mkfs.btrfs accepts.
    pub const fn devices_min(self) -> u32 {
        match self {
            Self::Single | Self::Dup => 1,
            Self::Raid0 | Self::Raid1 | Self::Raid5 => 2,
            Self::Raid1c3 | Self::Raid6 => 3,
            Self::Raid1c4 | Self::Raid10 => 4,
        }
    }
}

/// The stripe geometry passed to mkfs, which guides allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Align {
    /// The array's own geometry.
    #[default]
    Right,
    /// No geometry.
    Off,
    /// A wrong geometry: one and a half times the chunk size, and one disk too many.
    Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalMode {
    Journal,
    Ordered,
    Writeback,
}

impl JournalMode {
    pub const ALL: [Self; 3] = [Self::Journal, Self::Ordered, Self::Writeback];

    /// The word in studies and for the mount option `data=`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Journal => "journal",
            Self::Ordered => "ordered",
            Self::Writeback => "writeback",
        }
    }
}
