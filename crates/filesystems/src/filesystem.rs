//! The struct that describes a filesystem.

use crate::make::Made;
use crate::{FilesystemSpec, Flavour, Program};

/// Everything that is known of a filesystem.
#[derive(Debug)]
pub struct Filesystem {
    /// As studies write it; raidlab itself writes the first of these words.
    pub words: &'static [&'static str],
    /// Its name in sentences: `XFS`, `the raw device`.
    pub name: &'static str,
    /// Its name in the tables of a report, where drivers of one filesystem are distinguished: `NTFS (ntfs3)`.
    pub title: &'static str,
    /// The smallest device, in bytes, on which its mkfs makes one.
    pub smallest_bytes: u64,
    /// The same, in bytes, if mkfs gets the array's stripe geometry.
    pub smallest_striped_bytes: u64,
    pub block_sizes: BlockSizes,
    /// The largest file, in bytes, if a workload can reach the limit.
    pub largest_file_bytes: Option<u64>,
    /// Of a journal or log whose size can be chosen and which can be on a device of its own.
    pub journal: Option<Journal>,
    /// Has a choice of journal modes: the mount option `data=`.
    pub has_journal_modes: bool,
    /// mkfs has options for the array's stripe geometry.
    pub aligns: bool,
    /// Part of the initialisation can be left to the kernel, which does it after the mount.
    pub initialises_lazily: bool,
    /// Has `logbufs` and `logbsize`.
    pub has_log_buffers: bool,
    /// Reads ahead by a setting of its own, under its UUID or BDI, and not by that of the block device.
    pub reads_ahead_itself: bool,
    pub compression: Option<Compression>,
    /// What it makes of several devices without an array below; none if it is made of one device.
    pub several: Option<SeveralDevices>,
    pub kernel: Kernel,
    pub made: Made,
    pub mounting: Mounting,
    /// What wipefs calls the signatures that its mkfs leaves.
    pub signatures: &'static [&'static str],
    pub checker: Option<Checker>,
    /// What a machine has to have installed for it.
    pub needs: &'static [Need],
}

impl Filesystem {
    /// A filesystem of one device, with blocks up to a page and nothing to choose.
    pub(crate) const PLAIN: Self = Self {
        words: &[],
        name: "",
        title: "",
        smallest_bytes: 0,
        smallest_striped_bytes: 0,
        block_sizes: BlockSizes::UpToPage {
            least_bytes: 1 << 10,
            larger_on_host: false,
        },
        largest_file_bytes: None,
        journal: None,
        has_journal_modes: false,
        aligns: false,
        initialises_lazily: false,
        has_log_buffers: false,
        reads_ahead_itself: false,
        compression: None,
        several: None,
        kernel: Kernel::PLAIN,
        made: Made::Nothing,
        mounting: Mounting::PLAIN,
        signatures: &[],
        checker: None,
        needs: &[],
    };

    /// As raidlab writes it in studies, labels and tables.
    pub const fn word(&self) -> &'static str {
        self.words[0]
    }

    /// Nothing is made and nothing is mounted: the work goes to the block device itself.
    pub const fn is_raw(&self) -> bool {
        matches!(self.made, Made::Nothing)
    }

    /// It is a pool with datasets, made of partitions.
    pub const fn is_pool(&self) -> bool {
        matches!(self.made, Made::Pool(_))
    }

    /// What it makes of several devices by itself is `kind`.
    pub fn makes(&self, kind: Several) -> bool {
        self.several.as_ref().is_some_and(|several| several.kind == kind)
    }

    /// The program that makes it.
    pub const fn maker(&self) -> Option<&'static Program> {
        match &self.made {
            Made::Nothing => None,
            Made::Mkfs(mkfs) => Some(mkfs.program),
            Made::Pool(program) => Some(program),
        }
    }
}

/// Which block sizes it can have, in bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum BlockSizes {
    /// It has none: why, and what a study should write.
    None {
        reason: &'static str,
        instead: &'static str,
    },
    /// 4 KiB and no other: why.
    Page { reason: &'static str },
    UpToPage {
        least_bytes: u64,
        /// A kernel with large folios, as hosts have, mounts blocks larger than a page.
        larger_on_host: bool,
    },
    /// Clusters, whose size does not depend on the page.
    Clusters,
}

/// A journal or log.
#[derive(Debug)]
pub struct Journal {
    pub least: Amount,
    pub most: Amount,
    /// Its mkfs counts it in MiB.
    pub is_in_mib: bool,
    /// What wipefs calls the signature of a journal on a device of its own.
    pub signature: &'static str,
    /// Arguments of mkfs that make the journal's device before the filesystem is made; none if one call makes both.
    pub device: Option<fn(&FilesystemSpec, &str) -> Vec<String>>,
    /// The mount option that names the journal's device, with `{}` for it; none if the superblock names it.
    pub mount_option: Option<&'static str>,
}

/// A size of a journal.
#[derive(Clone, Copy, Debug)]
pub enum Amount {
    Bytes(u64),
    Blocks(u64),
}

impl Amount {
    /// In bytes, with blocks of `block_bytes`.
    pub const fn bytes(self, block_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Blocks(blocks) => blocks * block_bytes,
        }
    }
}

/// How file contents can be compressed.
#[derive(Debug)]
pub struct Compression {
    pub words: &'static [&'static str],
    /// Prefixes that take a level from 1 to the number: `("zstd:", 15)`.
    pub levels: &'static [(&'static str, u32)],
    /// All of them, for messages.
    pub shown: &'static str,
    /// It compresses if nothing is said.
    pub is_default: bool,
    /// The mount option, with `{}` for the word, if it is not an option of mkfs.
    pub mount_option: Option<&'static str>,
}

impl Compression {
    /// Whether `word` is one of its own.
    pub fn knows(&self, word: &str) -> bool {
        let level = |(prefix, most): &(&str, u32)| {
            let level = word.strip_prefix(prefix).and_then(|level| level.parse::<u32>().ok());
            level.is_some_and(|level| (1..=*most).contains(&level))
        };
        self.words.contains(&word) || self.levels.iter().any(level)
    }
}

/// What a filesystem makes of several devices without an array below.
#[derive(Debug)]
pub struct SeveralDevices {
    pub kind: Several,
    /// What is left for data of so many devices with so many bytes together, without copies and parity, about.
    pub usable_bytes: fn(&FilesystemSpec, u64, u64) -> u64,
}

/// How it spreads data over devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Several {
    /// A profile for data and one for metadata (btrfs).
    Profiles,
    /// Copies (bcachefs).
    Replicas,
    /// Virtual devices of a pool (ZFS).
    Pool,
}

/// The kernels that have it.
#[derive(Debug)]
pub struct Kernel {
    /// The type that mount(2) takes; the filesystem's word if empty.
    pub mount_type: &'static str,
    /// The lab's smallest kernel that has it.
    pub flavour: Flavour,
    /// Lines for the configuration of that kernel.
    pub config: &'static [&'static str],
    /// The first version of Linux that has it, if not all that raidlab runs have.
    pub since: Option<(u32, u32)>,
    /// The last version of Linux that has it, if it was removed.
    pub last: Option<(u32, u32)>,
    /// Of a filesystem outside Linux: its release, and the newest Linux that this release is for.
    pub release: Option<(&'static str, (u32, u32))>,
    /// It is a part of Linux and mounted by the kernel, so that a host's kernel has it or not.
    pub is_in_linux: bool,
}

impl Kernel {
    pub(crate) const PLAIN: Self = Self {
        mount_type: "",
        flavour: Flavour::Base,
        config: &[],
        since: None,
        last: None,
        release: None,
        is_in_linux: true,
    };
}

/// How it is mounted.
#[derive(Debug)]
pub struct Mounting {
    /// The program that mounts it (FUSE); mount(2) if absent.
    pub program: Option<&'static Program>,
    /// How several devices are passed to mount(2).
    pub source: MountSource,
}

impl Mounting {
    pub(crate) const PLAIN: Self = Self {
        program: None,
        source: MountSource::First,
    };
}

/// How several devices are passed to mount(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountSource {
    /// The first device is the source; each other one is an option, if there are others: `device={}`.
    First,
    /// As `First`, with this option for each of the other devices, `{}` standing for it.
    FirstAndOption(&'static str),
    /// All devices with colons between.
    All,
}

/// The program that checks an unmounted filesystem.
#[derive(Debug)]
pub struct Checker {
    pub program: &'static Program,
    /// Arguments with which it checks without changing anything and without questions; the device follows. It exits
    /// with 0 if the filesystem is sound.
    pub arguments: &'static [&'static str],
}

/// Something that has to be installed.
#[derive(Debug, PartialEq, Eq)]
pub struct Need {
    /// A program on the path, or an absolute path.
    pub file: &'static str,
    /// Debian's package that has it.
    pub package: &'static str,
    /// What for: `makes XFS`.
    pub why: &'static str,
}
