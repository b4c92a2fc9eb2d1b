//! `bonnie = { … }`: Bonnie++.

use super::{KindOfWork, WorkloadKind};
use crate::schema::key::Axis::{Listed, Single};
use crate::schema::key::Takes::{Count, Flag, Size};
use crate::schema::key::{GIB, Key, MIB, TIB, Table, Takes, key};

pub(super) static BONNIE: WorkloadKind = WorkloadKind {
    work: KindOfWork::Bonnie,
    key: key(
        Table::Workload,
        "bonnie",
        Takes::One(Table::Bonnie),
        Single,
        "",
        "Bonnie++ itself",
    ),
    keys: &[KEYS],
    tests: "`putc`, `write`, `rewrite`, `getc`, `read`; `seeks`; `create-seq`, `stat-seq`, `delete-seq`, `create-random`, `stat-random`, `delete-random`",
    metrics: "`throughput`; `iops`; `files_per_second`",
};

#[rustfmt::skip]
static KEYS: &[Key] = &[
    key(Table::Bonnie, "size", Size { min: 0, max: 16 * TIB }, Listed, "0", "bytes of one volume, in whole MiB; 0: no throughput tests. All volumes together should be twice the RAM").on_axis("bonnie_size"),
    key(Table::Bonnie, "volumes", Count { min: 1, max: 4096 }, Listed, "1", "number of volumes, used as one file"),
    key(Table::Bonnie, "chunk_size", Size { min: 256, max: MIB }, Listed, "`8K`", "bytes of one read or write, a power of two"),
    key(Table::Bonnie, "per_char", Flag, Listed, "`true`", "also run the single-character tests"),
    key(Table::Bonnie, "char_size", Size { min: MIB, max: TIB }, Listed, "`1M`", "bytes of the single-character tests, in whole MiB (`-f`): each character costs a system call, about 10 µs of wall time in the lab"),
    key(Table::Bonnie, "seeks", Count { min: 1, max: 1 << 30 }, Listed, "8192", "number of seeks"),
    key(Table::Bonnie, "seekers", Count { min: 1, max: 1024 }, Listed, "5", "processes that seek; at most 300 in a guest"),
    key(Table::Bonnie, "files", Count { min: 0, max: 100_000_000 }, Listed, "0", "files of the file-creation tests, in multiples of 1024; 0: no such tests"),
    key(Table::Bonnie, "file_min", Size { min: 0, max: GIB }, Listed, "0", "their smallest size"),
    key(Table::Bonnie, "file_max", Size { min: 0, max: GIB }, Listed, "0", "their largest size"),
    key(Table::Bonnie, "directories", Count { min: 1, max: 1 << 20 }, Listed, "1", "number of directories"),
    key(Table::Bonnie, "processes", Count { min: 1, max: 64 }, Listed, "1", "concurrent copies of all tests (`-c`)"),
    key(Table::Bonnie, "direct", Flag, Listed, "`false`", "direct I/O in the block tests"),
    key(Table::Bonnie, "no_buffering", Flag, Listed, "`false`", "fsync after every write (`-b`)"),
];
