//! The struct that describes a filesystem.

use crate::make::Made;
use crate::mount_option::EVERYWHERE;
use crate::{FilesystemSpec, Flavour, Program};

/// Description of a filesystem.
#[derive(Debug)]
pub struct Filesystem {
    /// Its names in study files; raidlab itself writes the first one.
    pub words: &'static [&'static str],
    /// Its name in sentences: `XFS`, `the raw device`.
    pub name: &'static str,
    /// Its name in the tables of a report, where drivers of one filesystem are distinguished: `NTFS (ntfs3)`.
    pub title: &'static str,
    /// Size in bytes of the smallest device that mkfs accepts.
    pub smallest_bytes: u64,
    /// The same if mkfs gets the array's stripe geometry.
    pub smallest_striped_bytes: u64,
    pub block_sizes: BlockSizes,
    /// Maximum file size in bytes, if a workload can reach it.
    pub largest_file_bytes: Option<u64>,
    /// Journal or log, if its size can be chosen and it can be on an external device.
    pub journal: Option<Journal>,
    /// Has the mount option `data=` (journal modes).
    pub has_journal_modes: bool,
    /// mkfs has options for the array's stripe geometry.
    pub aligns: bool,
    /// Part of the initialisation can be left to the kernel, which does it after the mount.
    pub initialises_lazily: bool,
    /// Has `logbufs` and `logbsize`.
    pub has_log_buffers: bool,
    /// Has its own read-ahead setting, under its UUID or BDI, instead of that of the block device.
    pub reads_ahead_itself: bool,
    pub compression: Option<Compression>,
    /// Its built-in support for several devices; `None` if it is made on one device.
    pub several: Option<SeveralDevices>,
    /// fstrim(8) discards its free space (the ioctl FITRIM).
    pub trims: bool,
    /// Keeps checksums of data, so that it does not return what a disk has silently changed.
    pub has_data_checksums: bool,
    /// Mount options that turn these off.
    pub without_data_checksums: &'static [&'static str],
    pub kernel: KernelSupport,
    pub made: Made,
    pub mounting: Mounting,
    /// Names of its mount options in Linux 6.12 (its `fs_parameter_spec` or `match_table_t`), without those that `no`
    /// negates; `None` if they are not known.
    pub mount_options: Option<&'static str>,
    /// Names that wipefs gives to the signatures that mkfs leaves.
    pub signatures: &'static [&'static str],
    pub checker: Option<Checker>,
    /// Programs and files that have to be installed for it.
    pub needs: &'static [Need],
}

impl Filesystem {
    /// A single-device filesystem with blocks up to the page size and no options.
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
        trims: false,
        has_data_checksums: false,
        without_data_checksums: &[],
        kernel: KernelSupport::PLAIN,
        made: Made::Nothing,
        mounting: Mounting::PLAIN,
        mount_options: None,
        signatures: &[],
        checker: None,
        needs: &[],
    };

    /// The name that raidlab writes in studies, labels and tables.
    pub const fn word(&self) -> &'static str {
        self.words[0]
    }

    /// All names that `mount -o` takes for it, if they are known.
    pub fn mount_option_names(&self) -> Option<impl Iterator<Item = &'static str>> {
        let own = self.mount_options?.split_whitespace();
        Some(own.chain(EVERYWHERE.split_whitespace()))
    }

    /// No filesystem: nothing is made or mounted, and the workload uses the block device itself.
    pub const fn is_raw(&self) -> bool {
        matches!(self.made, Made::Nothing)
    }

    /// A pool with datasets, made on partitions.
    pub const fn is_pool(&self) -> bool {
        matches!(self.made, Made::Pool(_))
    }

    /// Whether its built-in support for several devices is `kind`.
    pub fn makes(&self, kind: Several) -> bool {
        self.several.as_ref().is_some_and(|several| several.kind == kind)
    }

    /// The program that makes the filesystem.
    pub const fn maker(&self) -> Option<&'static Program> {
        match &self.made {
            Made::Nothing => None,
            Made::Mkfs(mkfs) => Some(mkfs.program),
            Made::Pool(program) => Some(program),
        }
    }
}

/// Supported block sizes, in bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum BlockSizes {
    /// It has no block size: the reason, and what a study should write instead.
    None {
        reason: &'static str,
        instead: &'static str,
    },
    /// 4 KiB only, with the reason.
    Page { reason: &'static str },
    UpToPage {
        least_bytes: u64,
        /// Blocks larger than a page can be mounted by kernels with large folios, which hosts have.
        larger_on_host: bool,
    },
    /// Cluster sizes, which do not depend on the page size.
    Clusters,
}

/// A journal or log.
#[derive(Debug)]
pub struct Journal {
    pub least: Amount,
    pub most: Amount,
    /// mkfs takes the size in MiB.
    pub is_in_mib: bool,
    /// Name that wipefs gives to the signature of an external journal.
    pub signature: &'static str,
    /// Arguments of mkfs that make an external journal before the filesystem is made; `None` if one call makes both.
    pub device: Option<fn(&FilesystemSpec, &str) -> Vec<String>>,
    /// The mount option that names the journal device, with `{}` in its place; `None` if the superblock names it.
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

/// Compression of file contents.
#[derive(Debug)]
pub struct Compression {
    pub words: &'static [&'static str],
    /// Prefixes that take a level, with the highest one: `("zstd:", 15)`.
    pub levels: &'static [(&'static str, u32)],
    /// All values, for messages.
    pub shown: &'static str,
    /// It compresses by default.
    pub is_default: bool,
    /// The mount option, with `{}` in place of the value, if it is not an option of mkfs.
    pub mount_option: Option<&'static str>,
}

impl Compression {
    /// Whether `word` is a valid value.
    pub fn knows(&self, word: &str) -> bool {
        let level = |(prefix, most): &(&str, u32)| {
            let level = word.strip_prefix(prefix).and_then(|level| level.parse::<u32>().ok());
            level.is_some_and(|level| (1..=*most).contains(&level))
        };
        self.words.contains(&word) || self.levels.iter().any(level)
    }
}

/// A filesystem's built-in support for several devices.
#[derive(Debug)]
pub struct SeveralDevices {
    pub kind: Several,
    /// Approximate space for data, given the number of devices and their total size, without copies and parity.
    pub usable_bytes: fn(&FilesystemSpec, u64, u64) -> u64,
}

/// How it spreads data over devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Several {
    /// One profile for data and one for metadata (btrfs).
    Profiles,
    /// Replicas (bcachefs).
    Replicas,
    /// Virtual devices of a pool (ZFS).
    Pool,
}

/// Kernels that support a filesystem.
#[derive(Debug)]
pub struct KernelSupport {
    /// The type for mount(2); the filesystem's word if empty.
    pub mount_type: &'static str,
    /// The smallest lab kernel that has it.
    pub flavour: Flavour,
    /// Lines of that kernel's configuration.
    pub config: &'static [&'static str],
    /// First Linux version that has it; `None` if all versions that raidlab runs have it.
    pub since: Option<(u32, u32)>,
    /// Last Linux version that has it, if it was removed.
    pub last: Option<(u32, u32)>,
    /// For a filesystem outside Linux: its release, and the newest Linux that this release supports.
    pub release: Option<(&'static str, (u32, u32))>,
    /// It is part of Linux and mounted by the kernel, so a host's kernel may lack it.
    pub is_in_linux: bool,
}

impl KernelSupport {
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
    /// The first device is the source; each other device is passed as an option `device={}`.
    First,
    /// As `First`, with this option for each of the other devices (`{}` is the device).
    FirstAndOption(&'static str),
    /// All devices, separated by colons.
    All,
}

/// The program that checks an unmounted filesystem.
#[derive(Debug)]
pub struct Checker {
    pub program: &'static Program,
    /// Arguments for a read-only check without questions; the device follows. The exit status is 0 if the filesystem is
    /// clean.
    pub arguments: &'static [&'static str],
}

/// A program or file that has to be installed.
#[derive(Debug, PartialEq, Eq)]
pub struct Need {
    /// A program on the path, or an absolute path.
    pub file: &'static str,
    /// The Debian package.
    pub package: &'static str,
    /// Its purpose: `makes XFS`.
    pub why: &'static str,
}
