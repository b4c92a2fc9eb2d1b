//! `bonnie = { … }`: Bonnie++.

use super::rules::Rules;
use super::{Form, WorkloadKind};
use crate::Known;
use crate::diagnostic::Found;
use crate::document::Entry;
use crate::impossible::{Impossible, impossible};
use crate::key::Axis::{Listed, Single};
use crate::key::Takes::{Count, Flag, Size};
use crate::key::{GIB, Key, MIB, TIB, Table, Takes, key};
use crate::point::{Axis, Point};
use crate::unit::format_size;
use study::stack::{MachineSpec, StackSpec};
use study::workload::{BONNIE_FILE_TESTS, BONNIE_TESTS, BonnieSpec, Work};

pub(super) static BONNIE: WorkloadKind = WorkloadKind {
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
    read,
};

#[rustfmt::skip]
static KEYS: &[Key] = &[
    key(Table::Bonnie, "size", Size { min: 0, max: 16 * TIB }, Listed, "0", "bytes of one volume, in whole MiB; 0: no throughput tests. All volumes together should be twice the RAM").on_axis("bonnie_size"),
    key(Table::Bonnie, "volumes", Count { min: 1, max: 4096 }, Listed, "1", "number of volumes, used as one file"),
    key(Table::Bonnie, "chunk_size", Size { min: 256, max: MIB }, Listed, "`8K`", "bytes of one read or write, a power of two"),
    key(Table::Bonnie, "per_char", Flag, Listed, "`true`", "also run the single-character tests"),
    key(Table::Bonnie, "char_size", Size { min: MIB, max: TIB }, Listed, "`1M`", "bytes of the single-character tests, in whole MiB (`-f`): each character costs a system call, about 10 µs of wall time in the lab"),
    key(Table::Bonnie, "seeks", Count { min: 1, max: 1 << 30 }, Listed, "8192", "number of seeks"),
    key(Table::Bonnie, "seekers", Count { min: 1, max: 1024 }, Listed, "5", "processes that seek"),
    key(Table::Bonnie, "files", Count { min: 0, max: 100_000_000 }, Listed, "0", "files of the file-creation tests, in multiples of 1024; 0: no such tests"),
    key(Table::Bonnie, "file_min", Size { min: 0, max: GIB }, Listed, "0", "their smallest size"),
    key(Table::Bonnie, "file_max", Size { min: 0, max: GIB }, Listed, "0", "their largest size"),
    key(Table::Bonnie, "directories", Count { min: 1, max: 1 << 20 }, Listed, "1", "number of directories"),
    key(Table::Bonnie, "processes", Count { min: 1, max: 64 }, Listed, "1", "concurrent copies of all tests (`-c`)"),
    key(Table::Bonnie, "direct", Flag, Listed, "`false`", "direct I/O in the block tests"),
    key(Table::Bonnie, "no_buffering", Flag, Listed, "`false`", "fsync after every write (`-b`)"),
];

struct Bonnie;

fn read(_: &Entry, _: &Known, _: &mut Found) -> Option<Box<dyn Form>> {
    Some(Box::new(Bonnie))
}

impl Form for Bonnie {
    fn work(&self, point: &Point) -> Work {
        Work::Bonnie(bonnie(point))
    }

    fn tests(&self, _: &[Axis]) -> Vec<Option<String>> {
        let tests = BONNIE_TESTS.iter().chain(&BONNIE_FILE_TESTS);
        tests.map(|test| Some((*test).to_owned())).collect()
    }
}

fn bonnie(point: &Point) -> BonnieSpec {
    BonnieSpec {
        size_bytes: point.number("bonnie_size").unwrap_or(0),
        volumes: point.small("volumes"),
        chunk_bytes: point.number("chunk_size").unwrap_or(8 << 10),
        per_char: point.flag("per_char"),
        char_bytes: point.number("char_size").unwrap_or(1 << 20),
        seeks: point.small("seeks"),
        seekers: point.small("seekers"),
        files: point.small("files"),
        file_min_bytes: point.number("file_min").unwrap_or(0),
        file_max_bytes: point.number("file_max").unwrap_or(0),
        directories: point.small("directories"),
        processes: point.small("processes"),
        direct: point.flag("direct"),
        no_buffering: point.flag("no_buffering"),
    }
}

impl Rules for BonnieSpec {
    fn room_axes(&self) -> &'static [&'static str] {
        &["files", "bonnie_size", "volumes", "processes"]
    }

    fn file_size_axes(&self) -> &'static [&'static str] {
        &[]
    }

    fn check(&self, _: &MachineSpec, _: &StackSpec) -> Vec<Impossible> {
        check(self)
    }
}

fn check(bonnie: &BonnieSpec) -> Vec<Impossible> {
    let mut all = Vec::new();
    if !bonnie.size_bytes.is_multiple_of(MIB) {
        let reason = format!(
            "Bonnie++ takes whole MiB, but `size` is {}",
            format_size(bonnie.size_bytes)
        );
        all.extend(impossible(&["bonnie_size"], reason, "write whole MiB"));
    }
    if !bonnie.files.is_multiple_of(1024) {
        let (below, above) = (bonnie.files / 1024 * 1024, bonnie.files.next_multiple_of(1024));
        let reason = format!(
            "Bonnie++ takes multiples of 1024 files, but `files` is {}",
            bonnie.files
        );
        all.extend(impossible(&["files"], reason, format!("write {below} or {above}")));
    }
    if bonnie.size_bytes == 0 && bonnie.files == 0 {
        let reason = "Bonnie++ needs `size` or `files`".to_owned();
        all.extend(impossible(&["bonnie_size", "files"], reason, "add one of the two"));
    }
    if bonnie.file_min_bytes > bonnie.file_max_bytes {
        let reason = "`file_min` is larger than `file_max`".to_owned();
        all.extend(impossible(&["file_min", "file_max"], reason, "file_min ≤ file_max"));
    }
    all
}
