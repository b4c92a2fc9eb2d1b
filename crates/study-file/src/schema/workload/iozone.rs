//! `iozone = { … }`: IOzone's tests.

use super::{KindOfWork, WorkloadKind};
use crate::schema::key::Axis::{Listed, Single};
use crate::schema::key::Takes::{Count, Flag, Size, Word, Words};
use crate::schema::key::{GIB, KIB, Key, TIB, Table, Takes, key};

pub(super) static IOZONE: WorkloadKind = WorkloadKind {
    work: KindOfWork::Iozone,
    key: key(
        Table::Workload,
        "iozone",
        Takes::One(Table::Iozone),
        Single,
        "",
        "IOzone's 13 tests, by raidlab's own engine or by IOzone itself",
    ),
    keys: &[KEYS],
    tests: "its 13 columns, by the names in the table",
    metrics: "`throughput`",
};

const ENGINES: &[&[&str]] = &[&["native"], &["iozone"]];
const TESTS: &[&[&str]] = &[
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

#[rustfmt::skip]
static KEYS: &[Key] = &[
    key(Table::Iozone, "engine", Word(ENGINES), Listed, "`native`", "`native`: raidlab's own, with the same patterns; `iozone`: IOzone 3 itself (Debian non-free)"),
    key(Table::Iozone, "file", Size { min: 4 * KIB, max: 16 * TIB }, Listed, "`4M`", "bytes of each process' file, in whole KiB"),
    key(Table::Iozone, "record", Size { min: KIB, max: GIB }, Listed, "`4K`", "bytes of one read or write, in whole KiB"),
    key(Table::Iozone, "processes", Count { min: 1, max: 1024 }, Listed, "1", "parallel processes, each with its own file: throughput mode if more than 1; at most 300 in a guest"),
    key(Table::Iozone, "tests", Words(TESTS), Single, "all, in this order", "which columns"),
    key(Table::Iozone, "direct", Flag, Listed, "`false`", "direct I/O (`-I`)"),
    key(Table::Iozone, "sync", Flag, Listed, "`false`", "every write is on stable storage when it returns (`-o`)").on_axis("o_sync"),
    key(Table::Iozone, "include_flush", Flag, Listed, "`true`", "fsync and fflush are inside the measured time (`-e`)"),
    key(Table::Iozone, "stride", Count { min: 2, max: 1 << 20 }, Listed, "17", "records from one read to the next in `strided-read` (`-j`)"),
];
