//! The keys of workloads.

use crate::key::Axis::{Listed, ListedOrDefault, Single};
use crate::key::Takes::{Count, Flag, GroupName, Hex, Name, Pattern, Size, Spread, Time, Word, Words};
use crate::key::{GIB, KIB, Key, MIB, PIB, TIB, Table, Takes, key};

const TESTS: &[&[&str]] = &[&["write"], &["read"], &["copy"], &["delete"]];
const COLLECTIONS: &[&[&str]] = &[&["marechal-small"], &["marechal-medium"], &["marechal-large"]];
const SYNC: &[&[&str]] = &[&["none"], &["sync"], &["dsync"]];
const VERIFY: &[&[&str]] = &[
    &["none"],
    &["crc32c"],
    &["xxhash"],
    &["md5"],
    &["sha1"],
    &["sha256"],
    &["sha512"],
];
const ENGINES: &[&[&str]] = &[&["native"], &["iozone"]];
const IOZONE_TESTS: &[&[&str]] = &[
    &["write"],
    &["rewrite"],
    &["read"],
    &["reread"],
    &["random-read"],
    &["random-write"],
    &["backward-read"],
    &["record-rewrite"],
    &["strided-read"],
    &["fwrite"],
    &["frewrite"],
    &["fread"],
    &["freread"],
];

/// In the order of the reference.
#[rustfmt::skip]
pub(crate) static WORK_KEYS: &[Key] = &[
    key(Table::Workload, "name", Name, Single, "", "what the workload is called, in tables and in claims"),
    key(Table::Workload, "tree", Takes::One(Table::Tree), Single, "", "a collection of files"),
    key(Table::Workload, "fio", Takes::One(Table::Fio), Single, "", "reads and writes by fio, in fio's words"),
    key(Table::Workload, "fio_file", Name, Single, "", "a job file of fio's, of one or several sections, beside the study; see below"),
    key(Table::Workload, "io", Takes::One(Table::Io), Single, "", "reads and writes by raidlab's own engine, which starts in no time"),
    key(Table::Workload, "bonnie", Takes::One(Table::Bonnie), Single, "", "Bonnie++ itself"),
    key(Table::Workload, "iozone", Takes::One(Table::Iozone), Single, "", "IOzone's 13 tests, by raidlab's own engine or by IOzone itself"),

    key(Table::Tree, "collection", Word(COLLECTIONS), Listed, "none", "a collection by name, instead of `files`, `size` and `directories`: Marechal's 10,928 source files, 1,744 songs, 3 files of 2 GiB"),
    key(Table::Tree, "files", Count { min: 1, max: 100_000_000 }, Listed, "1000", "number of files"),
    key(Table::Tree, "size", Spread, Listed, "`4K`", "size of every file, or a spread: `{ min, median, max }`"),
    key(Table::Tree, "directories", Count { min: 1, max: 10_000_000 }, Listed, "one for 64 files", "directories over which they are spread"),
    key(Table::Tree, "tests", Words(TESTS), Single, "all, in this order", "what is measured, in which order"),
    key(Table::Tree, "from", GroupName, Single, "memory", "a group of disks, `[disks.NAME]`: `write` copies the files from the filesystem there"),
    key(Table::Tree, "to", GroupName, Single, "nowhere", "a group of disks, `[disks.NAME]`: `read` copies the files to the filesystem there"),

    key(Table::FileSize, "min", Size { min: 0, max: 16 * TIB }, Single, "", "the smallest file"),
    key(Table::FileSize, "median", Size { min: 1, max: 16 * TIB }, Single, "", "half of the files are smaller; sizes are log-normal"),
    key(Table::FileSize, "max", Size { min: 1, max: 16 * TIB }, Single, "", "the largest file"),

    key(Table::Io, "rw", Pattern, Listed, "`read`", "`read`, `write`, `randread`, `randwrite`, `readwrite`, `randrw`; `read:8K` leaves out 8 KiB after each block, `read:-8K` goes backwards, `randread:8` jumps after 8 blocks"),
    key(Table::Io, "bs", Size { min: 1, max: GIB }, Listed, "`4K`", "bytes of one read or write"),
    key(Table::Io, "size", Size { min: 512, max: PIB }, Listed, "`1G`", "bytes that each job works on, in a file of its own or a part of the raw device"),
    key(Table::Io, "numjobs", Count { min: 1, max: 4096 }, Listed, "1", "jobs side by side"),
    key(Table::Io, "iodepth", Count { min: 1, max: 65536 }, Listed, "1", "requests that each job keeps under way"),
    key(Table::Io, "direct", Flag, Listed, "`false`", "past the page cache"),
    key(Table::Io, "sync", Word(SYNC), Listed, "`none`", "`sync`: every write with its metadata is on stable storage when it returns (O_SYNC); `dsync`: its data (O_DSYNC)"),
    key(Table::Io, "fsync", Count { min: 0, max: 1 << 31 }, Listed, "0", "fsync after every so many writes; 0: never"),
    key(Table::Io, "fdatasync", Count { min: 0, max: 1 << 31 }, Listed, "0", "fdatasync after every so many writes; 0: never"),
    key(Table::Io, "end_fsync", Flag, Listed, "`false`", "fsync at the end, inside the measured time"),
    key(Table::Io, "runtime", Time, Listed, "until `size` is done", "stop after this time"),
    key(Table::Io, "time_based", Flag, Listed, "`true`", "with `runtime`: go round again until it is over"),
    key(Table::Io, "ramp_time", Time, Listed, "none", "with `runtime`: work so long before anything is counted"),
    key(Table::Io, "rwmixread", Count { min: 0, max: 100 }, Listed, "50", "share of reads in `readwrite` and `randrw`, per cent"),
    key(Table::Io, "offset", Size { min: 0, max: PIB }, Listed, "0", "where in the file, or on a raw device, the first job begins"),
    key(Table::Io, "offset_increment", Size { min: 0, max: PIB }, ListedOrDefault, "`size`", "on a raw device: how far the next job is from it"),
    key(Table::Io, "rate", Size { min: 1, max: TIB }, ListedOrDefault, "none", "the most that each job does a second"),
    key(Table::Io, "rate_iops", Count { min: 1, max: 1 << 31 }, ListedOrDefault, "none", "the most reads and writes that each job does a second"),
    key(Table::Io, "thinktime", Time, Listed, "none", "wait so long between blocks"),
    key(Table::Io, "thinktime_blocks", Count { min: 1, max: 1 << 31 }, Listed, "1", "wait after so many blocks"),
    key(Table::Io, "zero_buffers", Flag, Listed, "`false`", "write zeros"),
    key(Table::Io, "buffer_pattern", Hex, ListedOrDefault, "random bytes", "write these bytes again and again: `0xdeadbeef`"),
    key(Table::Io, "buffer_compress_percentage", Count { min: 0, max: 100 }, Listed, "0", "share of each block that compresses to nothing"),
    key(Table::Io, "dedupe_percentage", Count { min: 0, max: 100 }, ListedOrDefault, "as it comes", "share of blocks that are equal to one before; no others are"),
    key(Table::Io, "verify", Word(VERIFY), Listed, "`none`", "read back and compare all that was written; raidlab's engine does it byte by byte, whatever the word"),
    key(Table::Io, "group_reporting", Flag, Listed, "`true`", "figures of all jobs together; if not, of each job besides"),

    key(Table::Bonnie, "size", Size { min: 0, max: 16 * TIB }, Listed, "0", "bytes of one volume, in whole MiB; 0: no throughput tests. All volumes should be twice the RAM"),
    key(Table::Bonnie, "volumes", Count { min: 1, max: 4096 }, Listed, "1", "so many volumes, worked through as one"),
    key(Table::Bonnie, "chunk_size", Size { min: 256, max: MIB }, Listed, "`8K`", "bytes of one read or write, a power of two"),
    key(Table::Bonnie, "per_char", Flag, Listed, "`true`", "the tests of single characters, too"),
    key(Table::Bonnie, "char_size", Size { min: MIB, max: TIB }, Listed, "`1M`", "bytes of those, in whole MiB (`-f`): each costs a system call, in the lab some 10 µs of wall time"),
    key(Table::Bonnie, "seeks", Count { min: 1, max: 1 << 30 }, Listed, "8192", "number of seeks"),
    key(Table::Bonnie, "seekers", Count { min: 1, max: 1024 }, Listed, "5", "processes that seek"),
    key(Table::Bonnie, "files", Count { min: 0, max: 100_000_000 }, Listed, "0", "files of the file-creation tests, in multiples of 1024; 0: no such tests"),
    key(Table::Bonnie, "file_min", Size { min: 0, max: GIB }, Listed, "0", "their smallest size"),
    key(Table::Bonnie, "file_max", Size { min: 0, max: GIB }, Listed, "0", "their largest size"),
    key(Table::Bonnie, "directories", Count { min: 1, max: 1 << 20 }, Listed, "1", "directories over which they are spread"),
    key(Table::Bonnie, "processes", Count { min: 1, max: 64 }, Listed, "1", "copies of it all at the same time (`-c`)"),
    key(Table::Bonnie, "direct", Flag, Listed, "`false`", "past the page cache in the block tests"),
    key(Table::Bonnie, "no_buffering", Flag, Listed, "`false`", "fsync after every write (`-b`)"),

    key(Table::Iozone, "engine", Word(ENGINES), Listed, "`native`", "`native`: raidlab's own, with the same patterns; `iozone`: IOzone 3 itself (Debian non-free)"),
    key(Table::Iozone, "file", Size { min: 4 * KIB, max: 16 * TIB }, Listed, "`4M`", "bytes of each process' file, in whole KiB"),
    key(Table::Iozone, "record", Size { min: KIB, max: GIB }, Listed, "`4K`", "bytes of one read or write, in whole KiB"),
    key(Table::Iozone, "processes", Count { min: 1, max: 1024 }, Listed, "1", "processes side by side, each with a file of its own: throughput mode if more than 1"),
    key(Table::Iozone, "tests", Words(IOZONE_TESTS), Single, "all, in this order", "which columns"),
    key(Table::Iozone, "direct", Flag, Listed, "`false`", "past the page cache (`-I`)"),
    key(Table::Iozone, "sync", Flag, Listed, "`false`", "every write is on stable storage when it returns (`-o`)"),
    key(Table::Iozone, "include_flush", Flag, Listed, "`true`", "fsync and fflush are inside the measured time (`-e`)"),
    key(Table::Iozone, "stride", Count { min: 2, max: 1 << 20 }, Listed, "17", "records from one read to the next in `strided-read` (`-j`)"),
];
