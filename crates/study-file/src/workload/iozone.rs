//! `iozone = { … }`: IOzone's tests.

use super::rules::Rules;
use super::{Form, WorkloadKind};
use crate::Known;
use crate::diagnostic::Found;
use crate::document::Entry;
use crate::impossible::{Impossible, impossible};
use crate::key::Axis::{Listed, Single};
use crate::key::Takes::{Count, Flag, Size, Word, Words};
use crate::key::{GIB, KIB, Key, TIB, Table, Takes, key};
use crate::point::{Axis, Point};
use crate::unit::format_size;
use study::stack::{MachineSpec, StackSpec};
use study::workload::{IozoneEngine, IozoneSpec, IozoneTest, Work};

pub(super) static IOZONE: WorkloadKind = WorkloadKind {
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
    read,
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
    key(Table::Iozone, "processes", Count { min: 1, max: 1024 }, Listed, "1", "parallel processes, each with its own file: throughput mode if more than 1"),
    key(Table::Iozone, "tests", Words(TESTS), Single, "all, in this order", "which columns"),
    key(Table::Iozone, "direct", Flag, Listed, "`false`", "direct I/O (`-I`)"),
    key(Table::Iozone, "sync", Flag, Listed, "`false`", "every write is on stable storage when it returns (`-o`)").on_axis("o_sync"),
    key(Table::Iozone, "include_flush", Flag, Listed, "`true`", "fsync and fflush are inside the measured time (`-e`)"),
    key(Table::Iozone, "stride", Count { min: 2, max: 1 << 20 }, Listed, "17", "records from one read to the next in `strided-read` (`-j`)"),
];

/// The part that is not an axis.
struct Iozone {
    tests: Vec<IozoneTest>,
}

fn read(entry: &Entry, _: &Known, _: &mut Found) -> Option<Box<dyn Form>> {
    let tests = tests(entry.tables("iozone").first()?);
    Some(Box::new(Iozone { tests }))
}

/// In IOzone's order, not that of the file.
fn tests(table: &Entry) -> Vec<IozoneTest> {
    if table.field("tests").is_none() {
        return IozoneTest::ALL.to_vec();
    }
    let words: Vec<String> = table.values("tests").iter().map(|given| given.value.word()).collect();
    let is_wanted = |test: &IozoneTest| words.iter().any(|word| word == test.name());
    IozoneTest::ALL.into_iter().filter(is_wanted).collect()
}

impl Form for Iozone {
    fn work(&self, point: &Point) -> Work {
        Work::Iozone(iozone(point, self.tests.clone()))
    }

    fn tests(&self, _: &[Axis]) -> Vec<Option<String>> {
        self.tests.iter().map(|test| Some(test.name().to_owned())).collect()
    }
}

fn iozone(point: &Point, tests: Vec<IozoneTest>) -> IozoneSpec {
    IozoneSpec {
        engine: match point.text("engine").as_deref() {
            Some("iozone") => IozoneEngine::Iozone,
            _ => IozoneEngine::Native,
        },
        file_bytes: point.number("file").unwrap_or(4 << 20),
        record_bytes: point.number("record").unwrap_or(4 << 10),
        processes: point.small("processes"),
        tests,
        direct: point.flag("direct"),
        sync: point.flag("o_sync"),
        include_flush: point.flag("include_flush"),
        stride_records: point.small("stride"),
    }
}

impl Rules for IozoneSpec {
    fn room_axes(&self) -> &'static [&'static str] {
        &["file", "processes"]
    }

    fn file_size_axes(&self) -> &'static [&'static str] {
        &["file"]
    }

    fn check(&self, _: &MachineSpec, _: &StackSpec) -> Vec<Impossible> {
        check(self)
    }
}

fn check(iozone: &IozoneSpec) -> Vec<Impossible> {
    let mut all = Vec::new();
    if !iozone.file_bytes.is_multiple_of(KIB) || !iozone.record_bytes.is_multiple_of(KIB) {
        let reason = "IOzone counts in whole KiB".to_owned();
        all.extend(impossible(&["file", "record"], reason, "write whole KiB"));
    }
    if !iozone.file_bytes.is_multiple_of(iozone.record_bytes) {
        let (file, record) = (format_size(iozone.file_bytes), format_size(iozone.record_bytes));
        let reason = format!("`file` ({file}) is not a multiple of `record` ({record})");
        all.extend(impossible(&["record", "file"], reason, "write a multiple of `record`"));
    }
    if iozone.engine == IozoneEngine::Iozone && iozone.processes > 256 {
        let reason = "IOzone has at most 256 processes".to_owned();
        all.extend(impossible(&["processes", "engine"], reason, "write 256 or fewer"));
    }
    all
}
