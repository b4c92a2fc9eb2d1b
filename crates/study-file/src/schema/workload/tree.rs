//! `tree = { … }`: a collection of files.

use super::{KindOfWork, WorkloadKind};
use crate::schema::key::Axis::{Listed, Single};
use crate::schema::key::Takes::{Count, Flag, GroupName, Size, Spread, Word, Words};
use crate::schema::key::{Key, TIB, Table, Takes, key};

pub(super) static TREE: WorkloadKind = WorkloadKind {
    work: KindOfWork::Tree,
    key: key(
        Table::Workload,
        "tree",
        Takes::One(Table::Tree),
        Single,
        "",
        "a collection of files",
    ),
    keys: &[KEYS],
    tests: "`write`, `read`, `copy`, `delete`",
    metrics: "`throughput`, `files_per_second`",
};

const TESTS: &[&[&str]] = &[&["write"], &["read"], &["copy"], &["delete"]];
const COLLECTIONS: &[&[&str]] = &[&["marechal-small"], &["marechal-medium"], &["marechal-large"]];

#[rustfmt::skip]
static KEYS: &[Key] = &[
    key(Table::Tree, "collection", Word(COLLECTIONS), Listed, "none", "a collection by name, instead of `files`, `size` and `directories`: Marechal's 10,928 source files, 1,744 songs, 3 files of 2 GiB"),
    key(Table::Tree, "files", Count { min: 1, max: 100_000_000 }, Listed, "1000", "number of files"),
    key(Table::Tree, "size", Spread, Listed, "`4K`", "size of every file, or a spread: `{ min, median, max }`").on_axis("file_size"),
    key(Table::Tree, "directories", Count { min: 1, max: 10_000_000 }, Listed, "one for 64 files", "number of directories"),
    key(Table::Tree, "tests", Words(TESTS), Single, "all, in this order", "tests, in this order"),
    key(Table::Tree, "from", GroupName, Single, "memory", "a group of disks, `[disks.NAME]`: `write` copies the files from the filesystem there"),
    key(Table::Tree, "from_warm", Flag, Listed, "`false`", "the files of `from` are read once, unmeasured, before `write`: those that fit into memory come from there"),
    key(Table::Tree, "to", GroupName, Single, "nowhere", "a group of disks, `[disks.NAME]`: `read` copies the files to the filesystem there"),

    key(Table::FileSize, "min", Size { min: 0, max: 16 * TIB }, Single, "", "the smallest file"),
    key(Table::FileSize, "median", Size { min: 1, max: 16 * TIB }, Single, "", "half of the files are smaller; sizes are log-normal"),
    key(Table::FileSize, "max", Size { min: 1, max: 16 * TIB }, Single, "", "the largest file"),
];
