//! `iozone = { … }`: IOzone's tests.

use super::Form;
use super::rules::Rules;
use crate::Known;
use crate::axes::{Axis, Point};
use crate::parse::entry::Entry;
use crate::rules::impossible::{Impossible, impossible};
use crate::schema::key::KIB;
use crate::syntax::diagnostic::Found;
use crate::syntax::unit::format_size;
use study::stack::{MachineSpec, StackSpec};
use study::workload::{IozoneEngine, IozoneSpec, IozoneTest, Work};

/// The part that is not an axis.
struct Iozone {
    tests: Vec<IozoneTest>,
}

pub(super) fn read(entry: &Entry, _: &Known, _: &mut Found) -> Option<Box<dyn Form>> {
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
