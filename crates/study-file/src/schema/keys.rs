//! Table of all keys of a study file: it drives parsing and error messages, and the reference is generated from it.
//! Keys of each kind of workload are in `workload/KIND.rs`.

use super::key::Axis::{Listed, ListedOrDefault, Single};
use super::key::Takes::{
    BusDisks, Count, Figures, Filter, Flag, Kernel, Layout, Members, Model, Mount, Name, Names, Processor, Scalars,
    Share, Size, Text, Word,
};
use super::key::{GIB, KIB, Key, MIB, PIB, TIB, Table, Takes, key};
use super::workload::KINDS;
use filesystems::{Filesystem, FilesystemKind, Several};
use study::stack::{BusKind, GptPartition, Level, MEMBER_WORDS};
use study::workload::AgeProfile;

/// Whether fio has an option of this name, for which its table has a key of its own.
fn is_of_fio(key: &Key) -> bool {
    all().any(|other| other.table == Table::Fio && other.name == key.name)
}

impl Table {
    /// All keys that it can have.
    pub fn keys(self) -> impl Iterator<Item = &'static Key> {
        all()
            .filter(move |key| key.table == self || (self == Self::Fio && key.table == Self::Io && !is_of_fio(key)))
    }

    /// Keys that no other table has.
    pub fn own_keys(self) -> impl Iterator<Item = &'static Key> {
        all().filter(move |key| key.table == self)
    }

    pub fn key(self, name: &str) -> Option<&'static Key> {
        self.keys()
            .find(|key| key.name == name && !matches!(key.takes, Takes::Named(_)))
    }

    /// The key for names given by the user, and the type of the named tables.
    pub fn named(self) -> Option<(&'static Key, Table)> {
        self.keys().find_map(|key| match key.takes {
            Takes::Named(table) => Some((key, table)),
            _ => None,
        })
    }
}

/// All keys.
pub fn all() -> impl Iterator<Item = &'static Key> {
    let of_work = KINDS.iter().flat_map(|kind| kind.keys.iter().copied().flatten());
    KEYS.iter().chain(KINDS.iter().map(|kind| &kind.key)).chain(of_work)
}

const MACHINES: &[&[&str]] = &[&["lab"], &["host"]];
const LEVELS: &[&[&str]] = Level::WORDS;
const BUSES: &[&[&str]] = BusKind::WORDS;
const WRITTEN: &[&[&str]] = &[&["random"], &["sequential"]];
const BITMAPS: &[&[&str]] = &[&["internal"], &["none"], &["external"]];
const INTEGRITY: &[&[&str]] = &[&["none"], &["crc32c"]];
const RESYNCS: &[&[&str]] = &[&["before"], &["during"], &["assume-clean"]];
const INTEGRITY_MODES: &[&[&str]] = &[&["journal"], &["bitmap"], &["direct"]];
const CACHES: &[&[&str]] = &[
    &["none"],
    &["dm-cache", "lvmcache"],
    &["dm-writecache", "writecache"],
    &["bcache"],
];
const CACHE_MODES: &[&[&str]] = &[&["writethrough"], &["writeback"]];
const LUKS_ON: &[&[&str]] = &[&["none"], &["members"], &["array"], &["volume"]];
const PARTITION_ON: &[&[&str]] = &[&["none"], &["members"], &["array"]];
const VOLUMES: &[&[&str]] = &[&["none"], &["linear"], &["thin"]];
const IMAGES: &[&[&str]] = &[&["none"], &["ext4"], &["xfs"], &["btrfs"], &["zfs", "zvol"]];
const MD_JOURNAL_MODES: &[&[&str]] = &[&["write-through"], &["write-back"]];
const METADATA: &[&[&str]] = &[&["1.2"], &["1.1"], &["1.0"], &["0.90"]];
const FILESYSTEMS: &[&[&str]] = FilesystemKind::WORDS;
const ALIGNMENTS: &[&[&str]] = &[&["right"], &["off"], &["wrong"]];
const POOLS: &[&[&str]] = &[
    &["stripe"],
    &["mirror"],
    &["raidz1", "raidz"],
    &["raidz2"],
    &["raidz3"],
    &["draid1", "draid"],
    &["draid2"],
];
const SYNCS: &[&[&str]] = &[&["standard"], &["always"], &["disabled"]];
const PROFILES: &[&[&str]] = &[
    &["single"],
    &["dup"],
    &["raid0"],
    &["raid1"],
    &["raid1c3"],
    &["raid1c4"],
    &["raid10"],
    &["raid5"],
    &["raid6"],
];
const JOURNALS: &[&[&str]] = &[&["journal"], &["ordered"], &["writeback"]];
const SCHEDULERS: &[&[&str]] = &[&["none"], &["mq-deadline"], &["bfq"], &["kyber"]];
const FIGURES: &[&[&str]] = &[
    &["median"],
    &["mean"],
    &["deviation", "standard deviation"],
    &["min"],
    &["max"],
];
const ACTS: &[&[&str]] = &[
    &["fail"],
    &["remove"],
    &["add"],
    &["re-add"],
    &["replace"],
    &["grow"],
    &["check"],
    &["repair"],
    &["slow"],
    &["hang"],
    &["corrupt"],
    &["fstrim", "trim"],
];
const GROWN: &[&[&str]] = &[&["6", "raid6"]];
const WHENS: &[&[&str]] = &[&["resync done"]];
const UNITS: &[&[&str]] = &[
    &["B/s"],
    &["KiB/s"],
    &["MiB/s"],
    &["GiB/s"],
    &["IOPS"],
    &["files/s"],
    &["seeks/s"],
    &["s"],
    &["ms"],
    &["µs", "us"],
    &["%"],
];

/// Keys that do not belong to a kind of workload, in the order of the reference.
#[rustfmt::skip]
static KEYS: &[Key] = &[
    key(Table::Top, "title", Name, Single, "the file's name", "title of the study"),
    key(Table::Top, "description", Text, Single, "none", "its purpose, and what a reader of its results must know"),
    key(Table::Top, "machine", Word(MACHINES), Single, "`lab`", "`lab`: Linux in virtual time on simulated disks; `host`: this machine and its real disks"),
    key(Table::Top, "ram", Size { min: 64 * MIB, max: 16 * TIB }, Listed, "`1G`", "memory of the machine; data that fits in it is read from memory, not from disks"),
    key(Table::Top, "cpu", Processor, Listed, "`infinite`", "the lab's processor (`raidlab cpu list`, with your own of `~/.config/raidlab/cpus`, or a model file in the study's folder, `\"./here.toml\"`), whose time is charged to what runs on it; `infinite` takes no time; a host has its own"),
    key(Table::Top, "cores", Count { min: 1, max: 256 }, ListedOrDefault, "those of the processor", "number of cores"),
    key(Table::Top, "kernel", Kernel, Listed, "6.12 in the lab", "kernel version, in quotes; a host runs its own"),
    key(Table::Top, "create_once", Flag, Listed, "`false`", "lab: create each stack once for each seed and each set of files that `io` reads, and start each of its trials from a copy of its disks, assembled and mounted: saves the time of `mdadm --create`, mkfs and the initialisation that follows, also in later runs, for which up to 2 GiB of stacks are kept in the cache. Not with LVM, dm-integrity, bcachefs, acts and power cuts"),
    key(Table::Top, "replicate", Count { min: 1, max: 100 }, Single, "1", "repeats each stack this many times, with different seeds: differences between replicates are noise"),
    key(Table::Top, "disks", Takes::One(Table::Disks), Single, "one disk", "the disks under test"),
    key(Table::Top, "stack", Takes::Many(Table::Stack), Single, "one disk with ext4", "the stacks under test, from the array up"),
    key(Table::Top, "workload", Takes::Many(Table::Workload), Single, "", "the workloads to measure on every stack"),
    key(Table::Top, "act", Takes::Many(Table::Act), Single, "none", "acts on the array while the workload runs: a disk fails, is removed, added again"),
    key(Table::Top, "claim", Takes::Many(Table::Claim), Single, "none", "what the results should support or refute"),
    key(Table::Top, "table", Takes::Many(Table::Shown), Single, "none", "a custom table of the results, optionally with published figures"),
    key(Table::Top, "precision", Takes::One(Table::Precision), Single, "3 trials", "how precise the results should be"),

    key(Table::Disks, "model", Model, Listed, "the first of the catalogue", "model of all the disks (`raidlab disk list`), or a model file in the study's folder (`./raptor.toml`); on a host, free text"),
    key(Table::Disks, "count", Count { min: 1, max: 4096 }, Listed, "1", "number of disks, hot spares included; `single` uses the first"),
    key(Table::Disks, "state", Takes::One(Table::State), Single, "that of the model", "lab: what the disks hold before the stack is created. Solid-state drives of the catalogue are preconditioned: full, after long random writes. raidlab runs mkfs without discards, so the state is still there when the tests begin; what mkfs and files write comes on top of it. On a real machine mkfs trims the members of RAID 0, 1 and 10 unless it has `nodiscard` or `-K`"),
    key(Table::Disks, "bus", Takes::Many(Table::Bus), Single, "a separate bus for each disk", "buses that the lab's disks share, nearest to the disks first"),
    key(Table::Disks, "NAME", Takes::Named(Table::Group), Single, "none", "other groups of disks, as `[disks.journal]`; those of `[disks]` itself are the group `data`"),

    key(Table::Group, "model", Model, Single, "that of `[disks]`", "model of the group's disks"),
    key(Table::Group, "count", Count { min: 1, max: 4096 }, Single, "1", "number of disks"),
    key(Table::Group, "state", Takes::One(Table::State), Single, "that of the model", "what they hold before the stack is created; one value for each key"),
    key(Table::Group, "array", Takes::One(Table::Array), Single, "`{ level = \"single\" }`", "the array of a filesystem on another group of disks, to copy from or to; one value for each key"),
    key(Table::Group, "fs", Takes::One(Table::Filesystem), Single, "none", "that filesystem; one value for each key"),
    key(Table::Group, "mount", Mount, Single, "none", "its mount options"),

    key(Table::State, "filled", Takes::Percent { max: 100 }, Listed, "`100 %`", "solid-state drives: share of the addresses that hold data, in pieces of 1 MiB all over the drive, also where the tests write; `0 %` is a new drive. Files that were deleted and not trimmed count; `fstrim` and the mount option `discard` empty them, except on RAID 4, 5 and 6, where md passes no discards"),
    key(Table::State, "written", Word(WRITTEN), Listed, "`random`", "how it was written: `random`, over and over, so that garbage collection runs from the first write on, as after long use; `sequential`, once and in the order of addresses, as by a copy onto a new drive, whose spare area is empty: fast until that is used up. Nothing else than `filled` counts on a new drive"),
    key(Table::State, "zone", Takes::Percent { max: 100 }, ListedOrDefault, "0 %", "disks with shingled tracks (SMR): how much of the persistent cache, the zone that takes writes that do not fill a band, is in use. The disk empties it while it is idle, also between mkfs and the tests"),

    key(Table::Bus, "name", Name, Single, "", "name of the bus"),
    key(Table::Bus, "kind", Word(BUSES), Single, "", "`ide` has one command at a time for all its disks; transfers on a bus are serialised"),
    key(Table::Bus, "mb_s", Count { min: 1, max: 1_000_000 }, Single, "", "megabytes (10⁶ bytes) per second"),
    key(Table::Bus, "disks", BusDisks, Single, "all disks", "disks on the bus: `[1, 2]` are disks of `data`, `\"journal\"` is all disks of a group, `\"source:1\"` one of them"),

    key(Table::Stack, "array", Takes::Many(Table::Array), Single, "`{ level = \"single\" }`", "the array over the disks"),
    key(Table::Stack, "fs", Takes::Many(Table::Filesystem), Single, "`{ type = \"ext4\" }`", "the filesystem on the array"),
    key(Table::Stack, "cache", Takes::Many(Table::Cache), Single, "none", "a device on the array whose blocks are cached on the first disk of group `cache`, by LVM (lvmcache(7)) or bcache; with `luks` on the array the encryption is above it. The cache is empty when the tests begin: `ramp_time` and `runtime` decide how warm it is"),
    key(Table::Stack, "luks", Takes::Many(Table::Luks), Single, "none", "LUKS2 (dm-crypt) on each member, on the array or on its volume, with aes-xts-plain64 and a key of 512 bits. Without `cpu` encryption takes no time"),
    key(Table::Stack, "partition", Takes::Many(Table::Partition), Single, "none", "a GPT with one partition on each member or on the array; what is above is on the partition"),
    key(Table::Stack, "volume", Takes::Many(Table::Volume), Single, "none", "an LVM volume group on the array, with one logical volume: above a cache, and above `luks` on the array"),
    key(Table::Stack, "image", Takes::Many(Table::Image), Single, "none", "a file or a zvol that carries `fs`, as the disk of a virtual machine: on the array there is another filesystem, with this one file, or a pool with this one zvol. A file is attached by a loop device with direct I/O, as virtual machines have it without a cache of the host (`cache=none`); the machine is the same for both"),
    key(Table::Stack, "snapshots", Count { min: 0, max: 256 }, Listed, "0", "number of snapshots, taken once, after the files that the workload finds are written and before its first test. btrfs and ZFS take their own; elsewhere LVM does, of `volume`, which is then required, with `snapshot_size` if it is linear"),
    key(Table::Stack, "mount", Mount, ListedOrDefault, "none", "mount options as after `mount -o`: `noatime,data=journal`; `defaults` for none"),
    key(Table::Stack, "scheduler", Word(SCHEDULERS), ListedOrDefault, "the kernel's", "I/O scheduler of the member disks"),
    key(Table::Stack, "read_ahead", Count { min: 0, max: 1 << 31 }, ListedOrDefault, "the kernel's", "read-ahead of the array in sectors of 512 bytes, as `blockdev --setra`"),

    key(Table::Stack, "queue_depth", Count { min: 1, max: 65_535 }, ListedOrDefault, "the disk's", "queue depth of each disk"),
    key(Table::Stack, "write_cache", Flag, ListedOrDefault, "the disks' default", "the disks' volatile write cache"),

    key(Table::Array, "level", Word(LEVELS), Listed, "`single`, of ZFS `none`", "RAID level; `single` is one disk without md; `none` gives all disks to a filesystem that builds its own array; `lvm-…` are LVM logical volumes"),
    key(Table::Array, "members", Members, ListedOrDefault, "all disks of `[disks]`", "which disks are its members, in this order, spares last, separated by commas: `\"data:1,ssd:1\"` is disk 1 of `[disks]` (the group `data`) and disk 1 of `[disks.ssd]`; `\"data,spare\"` is all disks of both groups. A list is one of stacks to compare"),
    key(Table::Array, "of", Takes::One(Table::Inner), Single, "disks", "nested RAID: the members are arrays, such as RAID 1 over two RAID 0"),
    key(Table::Array, "chunk", Size { min: 4 * KIB, max: GIB }, ListedOrDefault, "mdadm's (512K), LVM's (64K)", "chunk of levels 0, 4, 5, 6 and 10: a power of two"),
    key(Table::Array, "bitmap", Word(BITMAPS), ListedOrDefault, "mdadm's: `internal` on redundant arrays with members over 100 GiB", "write-intent bitmap; `external` is a file on a small ext2 on the first disk of group `bitmap`"),
    key(Table::Array, "spares", Count { min: 0, max: 4095 }, Listed, "0", "spares, the last of the disks: hot spares of md, elsewhere disks that an act lets take over"),
    key(Table::Array, "size", Size { min: MIB, max: PIB }, ListedOrDefault, "all", "used size of each member (`mdadm --size`); not with levels 0, linear, single"),
    key(Table::Array, "layout", Layout, ListedOrDefault, "mdadm's", "RAID 10: `n2` (near), `f2` (far), `o2` (offset), with 2 or more copies; RAID 5, 6: `left-symmetric`, …"),
    key(Table::Array, "metadata", Word(METADATA), ListedOrDefault, "mdadm's (1.2)", "superblock format, in quotes"),
    key(Table::Array, "write_journal", Flag, Listed, "`false`", "levels 4, 5, 6: md's journal, on the first disk of group `journal`"),
    key(Table::Array, "journal_mode", Word(MD_JOURNAL_MODES), ListedOrDefault, "md's (`write-through`)", "of `write_journal`: `write-back` acknowledges a write when the journal has it, and a lost journal is lost data"),
    key(Table::Array, "ppl", Flag, Listed, "`false`", "level 5: partial parity log"),
    key(Table::Array, "stripe_cache", Count { min: 17, max: 32_768 }, ListedOrDefault, "the kernel's (256)", "levels 4, 5, 6: pages of the stripe cache per member"),
    key(Table::Array, "bitmap_chunk", Size { min: 4 * KIB, max: GIB }, ListedOrDefault, "mdadm's (64M, `external` from 4K)", "chunk of the bitmap, a power of two (`mdadm --bitmap-chunk`)"),
    key(Table::Array, "write_mostly", Count { min: 0, max: 4095 }, Listed, "0", "level 1: number of write-mostly \
        members, counted from the last; they are read only if no other member can be read"),
    key(Table::Array, "write_behind", Count { min: 1, max: 16_383 }, ListedOrDefault, "no write-behind", "level 1: most outstanding writes to write-mostly members that are not waited for (`mdadm --write-behind`); needs a bitmap"),
    key(Table::Array, "group_thread_cnt", Count { min: 0, max: 8192 }, ListedOrDefault, "the kernel's (0)", "levels 4, 5, 6: threads that handle stripes, per NUMA node; 0 leaves that to one thread"),
    key(Table::Array, "rmw_level", Count { min: 0, max: 2 }, ListedOrDefault, "the kernel's (1)", "levels 4, 5, 6: how a part of a stripe is written: 0 after reading all other data of the stripe, 1 after reading the old data and parity if that is less, 2 also if it is as much"),
    key(Table::Array, "skip_copy", Count { min: 0, max: 1 }, ListedOrDefault, "the kernel's (0)", "levels 4, 5, 6: 1 \
        writes full pages without a copy to the stripe cache"),
    key(Table::Array, "sync_speed_min", Count { min: 1, max: 100_000_000 }, ListedOrDefault, "the kernel's (1000)", "redundant levels: minimum rate of resync, recovery and check next to other requests, in KiB/s of each member"),
    key(Table::Array, "sync_speed_max", Count { min: 1, max: 100_000_000 }, ListedOrDefault, "the kernel's (200000)", "redundant levels: maximum rate of resync, recovery and check, in KiB/s of each member; not where raidlab itself waits for them"),
    key(Table::Array, "initial_resync", Word(RESYNCS), Listed, "`before`", "redundant levels of md: `before`, the tests wait for the resync of the new array (in the lab disks are zeros, and there is nothing to do); `during`, it runs while they do, as on an array's first day; `assume-clean`, there is none (`mdadm --assume-clean`)"),
    key(Table::Array, "integrity", Word(INTEGRITY), Listed, "`none`", "md: dm-integrity between each disk and md \
        (integritysetup) with a checksum of every sector of 512 bytes: silent corruption becomes a read error"),
    key(Table::Array, "integrity_mode", Word(INTEGRITY_MODES), ListedOrDefault, "integritysetup's (`journal`)", "how \
        sectors and checksums stay consistent through a power cut: `journal` writes both twice, `bitmap` recomputes \
        the checksums of dirty regions, `direct` gives no protection"),
    key(Table::Array, "extent", Size { min: 4 * KIB, max: 16 * GIB }, ListedOrDefault, "LVM's (4M)", "LVM: extent size, a power of two"),

    key(Table::Cache, "type", Word(CACHES), Listed, "", "`dm-cache` (lvmcache): reads and writes; `dm-writecache`: writes alone, and a lost cache is lost data; `bcache`: reads and writes, but not sequential streams of more than 4 MiB (`sequential_cutoff`)").on_axis("cache"),
    key(Table::Cache, "mode", Word(CACHE_MODES), ListedOrDefault, "`writethrough`", "dm-cache and bcache: `writeback` acknowledges a write when the cache has it, and a lost cache is lost data; `writethrough` when the array has it, too").on_axis("cache_mode"),
    key(Table::Cache, "size", Size { min: 16 * MIB, max: PIB }, ListedOrDefault, "the whole disk", "size of the cache; for bcache raidlab makes a partition of this size on the disk; dm-writecache needs one in the lab, where it keeps 80 bytes in memory for each 4 KiB").on_axis("cache_size"),

    key(Table::Luks, "on", Word(LUKS_ON), Listed, "", "`members`: each disk is encrypted, below the array or the filesystem that has all disks; `array`: the array or the single disk is; `volume`: the logical volume is").on_axis("luks"),
    key(Table::Luks, "sector_size", Count { min: 512, max: 4096 }, ListedOrDefault, "cryptsetup's (4096 on devices with physical sectors of 4 KiB)", "bytes that are encrypted together (`--sector-size`): 512, 1024, 2048 or 4096").on_axis("luks_sector_size"),
    key(Table::Luks, "no_read_workqueue", Flag, Listed, "`false`", "reads are decrypted where they complete, not by a workqueue (`--perf-no_read_workqueue`)"),
    key(Table::Luks, "no_write_workqueue", Flag, Listed, "`false`", "writes are encrypted where they are submitted, not by a workqueue (`--perf-no_write_workqueue`)"),

    key(Table::Partition, "on", Word(PARTITION_ON), Listed, "", "`members`: each disk has one, below the array or the filesystem that has all disks; `array`: the array or the single disk has one").on_axis("partition"),
    key(Table::Partition, "start", Count { min: GptPartition::FIRST_USABLE, max: 1 << 31 }, ListedOrDefault, "2048", "its first sector, in units of 512 bytes. 63 was usual until about 2010 and is not aligned to physical sectors of 4 KiB").on_axis("partition_start"),

    key(Table::Volume, "type", Word(VOLUMES), Listed, "", "`linear`, or `thin`: a thin pool with one thin LV of the pool's size, so that snapshots of a full one overrun the pool, and writes fail").on_axis("volume"),
    key(Table::Volume, "chunk", Size { min: 4 * KIB, max: GIB }, ListedOrDefault, "LVM's (thin 64K or more, snapshots of linear LVs 4K)", "a power of two: what a thin pool allocates at a time, 64K or more; of a linear LV what is copied for its snapshots at a time, up to 512K").on_axis("volume_chunk"),
    key(Table::Volume, "snapshot_size", Size { min: 16 * MIB, max: PIB }, ListedOrDefault, "none", "linear: space for the copies of each of `snapshots`. A snapshot whose space is full is lost, and the guard `snapshots` fails"),

    key(Table::Image, "on", Word(IMAGES), Listed, "", "the filesystem with the image, or `zfs` for a zvol in a pool; with `zfs` the level of the array is `none` unless it is written").on_axis("image"),
    key(Table::Image, "preallocate", Flag, Listed, "`false`", "`fallocate` allocates the space of the file first; otherwise the file is sparse, and each first write to a place allocates it. A zvol is sparse"),
    key(Table::Image, "size", Size { min: 64 * MIB, max: PIB }, ListedOrDefault, "three quarters of the free space", "size of the image").on_axis("image_size"),
    key(Table::Image, "mount", Mount, ListedOrDefault, "none", "mount options of the filesystem with the file: `nodatacow` of btrfs overwrites it in place").on_axis("image_mount"),
    key(Table::Image, "block", Size { min: 4 * KIB, max: 128 * KIB }, ListedOrDefault, "ZFS's (16K)", "zvol: its block (`volblocksize`), a power of two").on_axis("image_block"),
    key(Table::Image, "pool", Word(POOLS), ListedOrDefault, "`stripe`", "zvol: type of the pool's top-level vdevs").on_axis("image_pool"),
    key(Table::Image, "sync", Word(SYNCS), ListedOrDefault, "`standard`", "zvol: handling of synchronous writes (property `sync`)").on_axis("image_sync"),
    key(Table::Image, "log", Flag, Listed, "`false`", "zvol: a log device of the pool, the first disk of group `journal`").on_axis("image_log"),

    key(Table::Inner, "level", Word(MEMBER_WORDS), Listed, "", "level of the arrays that are members").on_axis("of_level"),
    key(Table::Inner, "disks", Count { min: 2, max: 2048 }, Listed, "", "disks of each").on_axis("of_disks"),
    key(Table::Inner, "chunk", Size { min: 4 * KIB, max: GIB }, ListedOrDefault, "mdadm's (512K)", "chunk of each").on_axis("of_chunk"),

    key(Table::Filesystem, "type", Word(FILESYSTEMS), Listed, "`ext4`", "the filesystem; `raw` measures the block device itself"),
    key(Table::Filesystem, "block_size", Size { min: 512, max: 64 * KIB }, ListedOrDefault, "mkfs's", "block size, also where mkfs calls it sector size or cluster size"),
    key(Table::Filesystem, "journal", Word(JOURNALS), ListedOrDefault, "the filesystem's", "journal mode").of(|filesystem| filesystem.has_journal_modes),
    key(Table::Filesystem, "journal_size", Size { min: MIB, max: 40 * GIB }, ListedOrDefault, "mkfs's", "size of the journal or log").of(|filesystem| filesystem.journal.is_some()),
    key(Table::Filesystem, "journal_on", Name, ListedOrDefault, "the array itself", "group whose first disk has the journal or log: `journal`").of(|filesystem| filesystem.journal.is_some()),
    key(Table::Filesystem, "align", Word(ALIGNMENTS), Listed, "`right`", "stripe geometry: `right` that of the array, `off` none, `wrong` on purpose (one and a half chunks, one disk more)").of(|filesystem| filesystem.aligns),
    key(Table::Filesystem, "lazy_init", Flag, Listed, "`false`", "leave part of the initialisation to the kernel, which does it during the measurement").of(|filesystem| filesystem.initialises_lazily),
    key(Table::Filesystem, "log_buffers", Count { min: 2, max: 8 }, ListedOrDefault, "the kernel's", "log buffers in memory (`logbufs`)").of(|filesystem| filesystem.has_log_buffers),
    key(Table::Filesystem, "log_buffer_size", Size { min: 16 * KIB, max: 256 * KIB }, ListedOrDefault, "the kernel's", "size of a log buffer (`logbsize`), a power of two").of(|filesystem| filesystem.has_log_buffers),
    key(Table::Filesystem, "data", Word(PROFILES), ListedOrDefault, "`single`", "profile of data").of(|filesystem| filesystem.makes(Several::Profiles)).on_axis("fs_data"),
    key(Table::Filesystem, "metadata", Word(PROFILES), ListedOrDefault, "`dup`, with several disks `raid1`", "profile of metadata").of(|filesystem| filesystem.makes(Several::Profiles)).on_axis("fs_metadata"),
    key(Table::Filesystem, "replicas", Count { min: 1, max: 3 }, ListedOrDefault, "1", "copies of data and metadata").of(|filesystem| filesystem.makes(Several::Replicas)),
    key(Table::Filesystem, "tier", Name, ListedOrDefault, "none: all disks are alike", "the group whose disks take writes first (`foreground_target`) and keep what was read (`promote_target`); the others are the `background_target`. `members` of the array names both groups, as `\"ssd,data\"`").of(|filesystem| filesystem.makes(Several::Replicas)),
    key(Table::Filesystem, "compression", Name, ListedOrDefault, "the filesystem's", "`off`, `lz4`, `zstd`, … as the filesystem spells it").of(|filesystem| filesystem.compression.is_some()),
    key(Table::Filesystem, "pool", Word(POOLS), ListedOrDefault, "`stripe`", "type of the top-level vdevs; a vdev has all disks unless `vdev_disks` says otherwise").of(Filesystem::is_pool),
    key(Table::Filesystem, "vdev_disks", Count { min: 2, max: 4096 }, ListedOrDefault, "all", "disks of each vdev; data is striped over the vdevs: with 2, eight disks as `mirror` are four mirrors").of(Filesystem::is_pool),
    key(Table::Filesystem, "recordsize", Size { min: 512, max: 16 * MIB }, ListedOrDefault, "ZFS's (128K)", "largest block of a file, a power of two").of(Filesystem::is_pool),
    key(Table::Filesystem, "ashift", Count { min: 9, max: 16 }, ListedOrDefault, "from the disks", "logarithm of the sector size").of(Filesystem::is_pool),
    key(Table::Filesystem, "sync", Word(SYNCS), ListedOrDefault, "`standard`", "handling of synchronous writes (property `sync`)").of(Filesystem::is_pool).on_axis("fs_sync"),
    key(Table::Filesystem, "log", Flag, Listed, "`false`", "a log device, the first disk of group `journal`").of(Filesystem::is_pool),
    key(Table::Filesystem, "special", Flag, Listed, "`false`", "a special device for metadata, the first disk of group `special`").of(Filesystem::is_pool),
    key(Table::Filesystem, "l2arc", Flag, Listed, "`false`", "a cache device, the first disk of group `cache`, for what memory (ARC) is about to evict. It is filled with 32 MiB/s at the most, 64 MiB/s until ARC is full, and keeps what it has when caches are dropped before a test: `ramp_time` and `runtime` decide how warm it is").of(Filesystem::is_pool),

    key(Table::Workload, "name", Name, Single, "", "name of the workload, in tables and in claims"),
    key(Table::Workload, "weight", Count { min: 0, max: 9 }, Single, "1", "how often a loss in its tests counts in what a report \
        recommends: with 2 a stack at 0.8 of the best counts as one at 0.64; with 0 its tests are shown and do not count; if it is \
        written, tests of less than a second and of caches count as well"),
    key(Table::Workload, "age", Takes::One(Table::Age), Single, "a new filesystem", "ages the filesystem before its files are \
        prepared and its tests begin, so that it is as full and as fragmented as after long use ([ageing.md](ageing.md)). All \
        trials start from the same aged filesystem; with `create_once` it is made once, for all workloads with the same `age`, and kept"),

    key(Table::Age, "fill", Takes::Percent { max: 95 }, Listed, "", "how much of the filesystem is in use after ageing, its own \
        metadata included: the rest is what root can still write; the files of the workload come on top of it"),
    key(Table::Age, "turnover", Count { min: 0, max: 100 }, Listed, "3", "how many times the bytes of the filled filesystem are \
        written again: files are deleted, and new ones are written in their place; 0 only fills it"),
    key(Table::Age, "profile", Word(AgeProfile::WORDS), Listed, "`agrawal`", "sizes of files, and which of them are deleted: the \
        published profiles of Geriatrix (Kadekodi, Nagarajan and Ganger, USENIX ATC 2018)"),
    key(Table::Age, "overwrites", Takes::Percent { max: 90 }, Listed, "`0 %`", "share of the bytes written again that overwrite 4 KiB \
        to 64 KiB within a file instead of replacing a file: it fragments the files of filesystems that never overwrite in place"),
    key(Table::Age, "seed", Count { min: 1, max: 1_000_000 }, Listed, "1", "another seed gives another aged filesystem with the same \
        statistics; trials of all seeds of the run start from the same one").on_axis("age_seed"),

    key(Table::Act, "do", Word(ACTS), Single, "", "what is done, by the tools of md, LVM, btrfs or ZFS: `add` returns \
        a removed disk as a new one, `re-add` as a former member; `replace` replaces a working or failed disk by a \
        spare, `grow` turns a spare into one more member; `slow` makes a disk slower, `hang` makes it stop \
        responding, `corrupt` silently changes its contents; `fstrim` discards the free space of the mounted filesystem"),
    key(Table::Act, "disk", Count { min: 1, max: 4096 }, Single, "the whole array, for `grow`, `check`, `repair` and `fstrim`", "which disk of the array, from 1"),
    key(Table::Act, "delay", Takes::Time, Single, "needed for `slow`; `hang`: without an end", "for `slow`: time \
        added to \
        each access of the disk's media from then on, up to 60 s; for `hang`: time for which the disk does not \
        respond, up to 30 s. A disk that never responds again fails after 30 s, the command timeout of the SCSI layer"),
    key(Table::Act, "level", Word(GROWN), Single, "the array's", "for `grow`: RAID 5 becomes RAID 6"),
    key(Table::Act, "offset", Size { min: 0, max: 64 * PIB }, Single, "needed for `corrupt`", "for `corrupt`: where the first changed sector is, from the beginning of the disk's part of the array, with btrfs and ZFS from the first sector of raidlab's file there; whole sectors of 512 bytes"),
    key(Table::Act, "sectors", Count { min: 1, max: 65536 }, Single, "1", "for `corrupt`: how many sectors of 512 bytes change"),
    key(Table::Act, "at", Takes::Time, Single, "one of `at`, `after`, `when` is needed", "time since the measured work began (or its `ramp_time`, if it has one)"),
    key(Table::Act, "after", Takes::Percent { max: 99 }, Single, "one of `at`, `after`, `when` is needed", "`50 %`: when this \
        share of the work is done: of the `runtime`, if it has one; else of the bytes or files of `tree`, `server` and `iozone`, each test of which is an equal share, and of the operations of `power_cut`; not of `bonnie`"),
    key(Table::Act, "when", Word(WHENS), Single, "one of `at`, `after`, `when` is needed", "`resync done`: after the act before it, as soon as the array neither rebuilds nor checks"),

    key(Table::Claim, "says", Name, Single, "", "the claim as a sentence"),
    key(Table::Claim, "where", Filter, Single, "everywhere", "restricts the claim to these cells: `{ AXIS = VALUE, … }`; also `test` and `metric`"),
    key(Table::Claim, "that", Name, Single, "", "the comparison; see below"),
    key(Table::Claim, "published", Name, Single, "nothing", "the published statement, literally"),
    key(Table::Claim, "untestable", Name, Single, "tested", "why this study cannot test the claim; the verdict is then `untestable`, with this reason and with what was measured"),

    key(Table::Shown, "title", Name, Single, "", "heading of the table"),
    key(Table::Shown, "where", Filter, Single, "everywhere", "selects the figures of the table: `{ AXIS = VALUE, … }`; also `test` and `metric`"),
    key(Table::Shown, "rows", Names, Single, "", "the axes that name a row, a column for each: `[\"level\", \"chunk\"]`; `stack` is the stack's label, `test` the test"),
    key(Table::Shown, "columns", Names, Single, "the `column`s", "a column of figures for each combination of these axes: `[\"workload\", \"test\"]`"),
    key(Table::Shown, "column", Takes::Many(Table::Column), Single, "that of `columns`", "a column of figures; exactly one of `columns` and `column`"),
    key(Table::Shown, "unit", Word(UNITS), Single, "the samples'", "unit of the figures"),
    key(Table::Shown, "figure", Word(FIGURES), Single, "`median`", "which figure of a cell's trials"),
    key(Table::Shown, "relative_to", Scalars, Single, "absolute figures", "show ratios to this row, given by a value \
        for each of `rows`"),
    key(Table::Shown, "source", Name, Single, "none", "who published the figures that are shown next to ours, and when; needed with `published`"),
    key(Table::Shown, "published", Takes::Many(Table::Published), Single, "none", "the published figures, a table for each row that has some"),

    key(Table::Column, "heading", Name, Single, "", "heading of the column"),
    key(Table::Column, "where", Filter, Single, "everywhere", "selects the figures: `{ AXIS = VALUE, … }`; also `test` and `metric`"),
    key(Table::Column, "unit", Word(UNITS), Single, "the table's", "unit of the figures"),
    key(Table::Column, "figure", Word(FIGURES), Single, "the table's", "which figure of a cell's trials"),
    key(Table::Column, "not_measured", Name, Single, "measured", "why the study does not measure these figures and shows only published ones; instead of `where`"),

    key(Table::Published, "row", Scalars, Single, "", "which row: a value for each of `rows`"),
    key(Table::Published, "values", Figures, Single, "", "a number for each column, in the columns' units (ratios with `relative_to`); `\"-\"` where none was published"),

    key(Table::Precision, "trials", Count { min: 1, max: 10_000 }, Single, "3", "exactly this many trials of every cell; not with the other keys"),
    key(Table::Precision, "relative", Share { above: 0.0, below: 1.0 }, Single, "none", "a cell is done when the 95 % interval is within ± this share of the centre"),
    key(Table::Precision, "claims", Flag, Single, "`false`", "a cell is done when every claim that compares it is decided, or would hardly be decided by `max_trials`; not with `relative`"),
    key(Table::Precision, "models", Flag, Single, "`false`", "lab: draw the models of disks and of the processor from the ranges of what is not known of them, for each trial anew and for all stacks alike, so that intervals say what is known of the machine, and not only how trials scatter; needs eight trials or more to say much"),
    key(Table::Precision, "min_trials", Count { min: 1, max: 10_000 }, Single, "3", "minimum number of trials (an interval needs 2)"),
    key(Table::Precision, "max_trials", Count { min: 1, max: 10_000 }, Single, "12", "maximum number of trials"),
];
