//! `server = { … }`: work of mail servers, package managers and databases.

use super::{KindOfWork, WorkloadKind};
use crate::schema::key::Axis::{Listed, Single};
use crate::schema::key::Takes::{Count, Size, Spread, Time, Words};
use crate::schema::key::{Key, MIB, Table, Takes, key};

pub(super) static SERVER: WorkloadKind = WorkloadKind {
    work: KindOfWork::Server,
    key: key(
        Table::Workload,
        "server",
        Takes::One(Table::Server),
        Single,
        "",
        "what mail servers, package managers and databases do: each operation ends on stable storage",
    ),
    keys: &[KEYS],
    tests: "`create`, `deliver`, `replace`; `append`, `commit`, `mixed`",
    metrics: "`files_per_second`; `iops`",
};

const TESTS: &[&[&str]] = &[
    &["create"],
    &["deliver"],
    &["replace"],
    &["append"],
    &["commit"],
    &["mixed"],
];

#[rustfmt::skip]
static KEYS: &[Key] = &[
    key(Table::Server, "tests", Words(TESTS), Single, "all, in this order", "`create`: each file is created, written and fsynced; `deliver` (Maildir): written and fsynced in `tmp`, renamed into `new`, `new` fsynced; `replace` (packages): written next to the old one, fsynced, renamed over it; `append` (log): each client appends records to its own file, fdatasync after each; `commit` (group commit): all clients append to one file, one fdatasync for all that wait (PostgreSQL overwrites recycled WAL segments, which costs less); `mixed`: files of a tree are read or replaced"),
    key(Table::Server, "clients", Count { min: 1, max: 1024 }, Listed, "1", "threads at the same time; at most 300 in a guest"),
    key(Table::Server, "files", Count { min: 1, max: 10_000_000 }, Listed, "1000", "number of files"),
    key(Table::Server, "size", Spread, Listed, "`4K`", "size of every file, or a spread: `{ min, median, max }`").on_axis("file_size"),
    key(Table::Server, "directories", Count { min: 1, max: 1_000_000 }, Listed, "one for 64 files", "number of directories"),
    key(Table::Server, "records", Count { min: 1, max: 100_000_000 }, Listed, "1000", "records that each client appends"),
    key(Table::Server, "record", Size { min: 1, max: MIB }, Listed, "`4K`", "bytes of a record"),
    key(Table::Server, "read_percent", Count { min: 0, max: 100 }, Listed, "50", "`mixed`: share of operations that read a file; the others replace one"),
    key(Table::Server, "rate", Count { min: 1, max: 10_000_000 }, Listed, "as many as they can", "`mixed`: operations a second of all clients together; latencies count from the moment at which an operation was due"),
    key(Table::Server, "runtime", Time, Listed, "ten seconds", "`mixed`: duration"),
];
