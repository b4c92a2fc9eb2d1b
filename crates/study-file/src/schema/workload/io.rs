//! `io = { … }` and `fio = { … }`: reads and writes with fio's options.

use super::{KindOfWork, WorkloadKind};
use crate::schema::fio_options::FIO_OPTIONS;
use crate::schema::key::Axis::{Listed, ListedOrDefault, Single};
use crate::schema::key::Takes::{Count, Flag, Hex, Size, Time, Word};
use crate::schema::key::{GIB, Key, PIB, TIB, Table, Takes, key};

/// Includes the keys of `io`.
pub(super) static FIO: WorkloadKind = WorkloadKind {
    work: KindOfWork::Fio,
    key: key(
        Table::Workload,
        "fio",
        Takes::One(Table::Fio),
        Single,
        "",
        "reads and writes by fio",
    ),
    keys: &[KEYS, FIO_OPTIONS],
    tests: "the pattern: `randread`, …",
    metrics: "`throughput`, `iops`",
};

/// Its keys are listed with those of `fio`.
pub(super) static IO: WorkloadKind = WorkloadKind {
    work: KindOfWork::Io,
    key: key(
        Table::Workload,
        "io",
        Takes::One(Table::Io),
        Single,
        "",
        "reads and writes by raidlab's own engine, which needs no start-up time",
    ),
    keys: &[],
    tests: "the pattern: `randread`, …",
    metrics: "`throughput`, `iops`",
};

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

#[rustfmt::skip]
static KEYS: &[Key] = &[
    key(Table::Io, "rw", Takes::Pattern, Listed, "`read`", "`read`, `write`, `randread`, `randwrite`, `readwrite`, `randrw`; `read:8K` leaves out 8 KiB after each block, `read:-8K` goes backwards, `randread:8` jumps after 8 blocks"),
    key(Table::Io, "bs", Size { min: 1, max: GIB }, Listed, "`4K`", "bytes of one read or write"),
    key(Table::Io, "size", Size { min: 512, max: PIB }, Listed, "`1G`", "bytes that each job works on, in its own file or its part of the raw device").on_axis("io_size"),
    key(Table::Io, "numjobs", Count { min: 1, max: 4096 }, Listed, "1", "parallel jobs; at most 300 in a guest"),
    key(Table::Io, "iodepth", Count { min: 1, max: 32768 }, Listed, "1", "requests in flight for each job; io_uring has at most 32768"),
    key(Table::Io, "direct", Flag, Listed, "`false`", "direct I/O (O_DIRECT)"),
    key(Table::Io, "overwrite", Flag, Listed, "`false`", "files that are only written are filled before, so that writes overwrite data; otherwise their space is reserved, and each block's first write also changes metadata"),
    key(Table::Io, "sync", Word(SYNC), Listed, "`none`", "`sync`: every write with its metadata is on stable storage when it returns (O_SYNC); `dsync`: its data (O_DSYNC)"),
    key(Table::Io, "fsync", Count { min: 0, max: 1 << 31 }, Listed, "0", "fsync after this number of writes; 0: never"),
    key(Table::Io, "fdatasync", Count { min: 0, max: 1 << 31 }, Listed, "0", "fdatasync after this number of writes; 0: never"),
    key(Table::Io, "end_fsync", Flag, Listed, "`false`", "fsync at the end, inside the measured time"),
    key(Table::Io, "runtime", Time, Listed, "until `size` is done", "stop after this time"),
    key(Table::Io, "time_based", Flag, Listed, "`true`", "with `runtime`: start over until it has elapsed"),
    key(Table::Io, "ramp_time", Time, Listed, "none", "with `runtime`: run for this time before measuring"),
    key(Table::Io, "rwmixread", Count { min: 0, max: 100 }, Listed, "50", "share of reads in `readwrite` and `randrw`, per cent"),
    key(Table::Io, "offset", Size { min: 0, max: PIB }, Listed, "0", "offset of the first job in the file or on a raw device"),
    key(Table::Io, "offset_increment", Size { min: 0, max: PIB }, ListedOrDefault, "`size`", "on a raw device: distance from one job to the next"),
    key(Table::Io, "rate", Size { min: 1, max: TIB }, ListedOrDefault, "none", "maximum bandwidth of each job, per second"),
    key(Table::Io, "rate_iops", Count { min: 1, max: 1 << 31 }, ListedOrDefault, "none", "maximum IOPS of each job"),
    key(Table::Io, "thinktime", Time, Listed, "none", "time to wait between blocks"),
    key(Table::Io, "thinktime_blocks", Count { min: 1, max: 1 << 31 }, Listed, "1", "number of blocks between waits"),
    key(Table::Io, "zero_buffers", Flag, Listed, "`false`", "write zeros"),
    key(Table::Io, "buffer_pattern", Hex, ListedOrDefault, "random bytes", "write these bytes again and again: `0xdeadbeef`"),
    key(Table::Io, "buffer_compress_percentage", Count { min: 0, max: 100 }, Listed, "0", "share of each block that is compressible"),
    key(Table::Io, "dedupe_percentage", Count { min: 0, max: 100 }, ListedOrDefault, "not set", "share of blocks that duplicate an earlier one"),
    key(Table::Io, "verify", Word(VERIFY), Listed, "`none`", "read back and compare all that was written; raidlab's engine always compares byte by byte"),
    key(Table::Io, "group_reporting", Flag, Listed, "`true`", "figures of all jobs together; otherwise also of each job"),
    key(Table::Io, "fits_memory", Flag, Listed, "`false`", "the files fit in memory on purpose, such as a burst of \
        random writes that a cache assembles into whole stripes: no guard `read-modify-write`"),
];
