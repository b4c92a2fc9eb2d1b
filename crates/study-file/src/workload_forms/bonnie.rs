//! `bonnie = { … }`: Bonnie++.

use super::Form;
use super::rules::Rules;
use crate::Known;
use crate::axes::{Axis, Point};
use crate::parse::entry::Entry;
use crate::rules::impossible::{Impossible, impossible};
use crate::schema::key::MIB;
use crate::syntax::diagnostic::Found;
use crate::syntax::unit::format_size;
use study::stack::{MachineSpec, StackSpec};
use study::workload::{BONNIE_FILE_TESTS, BONNIE_TESTS, BonnieSpec, Work};

struct Bonnie;

pub(super) fn read(_: &Entry, _: &Known, _: &mut Found) -> Option<Box<dyn Form>> {
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
