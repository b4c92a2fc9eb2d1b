//! `server = { … }`: work of mail servers, package managers and databases.

use super::Form;
use super::rules::Rules;
use super::tree::{file_sizes, spread_over};
use crate::Known;
use crate::axes::{Axis, Point};
use crate::parse::entry::Entry;
use crate::rules::impossible::{Impossible, impossible};
use crate::schema::key::TIB;
use crate::syntax::diagnostic::Found;
use study::stack::{MachineSpec, StackSpec};
use study::workload::{ServerSpec, ServerTest, Work};

const RUNTIME_NS: u64 = 10_000_000_000;

/// The part that is not an axis.
struct Server {
    tests: Vec<ServerTest>,
}

pub(super) fn read(entry: &Entry, _: &Known, _: &mut Found) -> Option<Box<dyn Form>> {
    let tests = tests(entry.tables("server").first()?);
    Some(Box::new(Server { tests }))
}

fn tests(table: &Entry) -> Vec<ServerTest> {
    if table.field("tests").is_none() {
        return ServerTest::ALL.to_vec();
    }
    let named = |word: &str| ServerTest::ALL.into_iter().find(|test| test.name() == word);
    let tests = table.values("tests").iter();
    tests.filter_map(|given| named(&given.value.word())).collect()
}

impl Form for Server {
    fn work(&self, point: &Point) -> Work {
        Work::Server(ServerSpec {
            tests: self.tests.clone(),
            clients: point.small("clients"),
            files: point.small("files"),
            size: file_sizes(point),
            directories: spread_over(point),
            records: point.small("records"),
            record_bytes: point.number("record").unwrap_or(4096),
            read_percent: point.number("read_percent").unwrap_or(50) as u8,
            rate: point.number("rate").map(|_| point.small("rate")),
            runtime_ns: point.number("runtime").unwrap_or(RUNTIME_NS),
        })
    }

    fn tests(&self, _: &[Axis]) -> Vec<Option<String>> {
        self.tests.iter().map(|test| Some(test.name().to_owned())).collect()
    }
}

impl Rules for ServerSpec {
    fn room_axes(&self) -> &'static [&'static str] {
        &["files", "file_size", "records", "record", "clients"]
    }

    fn file_size_axes(&self) -> &'static [&'static str] {
        &["file_size", "records", "record"]
    }

    fn check(&self, _: &MachineSpec, _: &StackSpec) -> Vec<Impossible> {
        let mut all = Vec::new();
        if self.files < self.clients && self.tests.iter().any(|test| test.has_files()) {
            let reason = format!(
                "{} files are too few for {} clients, each of which needs its own",
                self.files, self.clients
            );
            all.extend(impossible(
                &["files", "clients"],
                reason,
                format!("write `files = {}` or more", self.clients),
            ));
        }
        if self.size.max_bytes > TIB {
            let reason = "a file of a server is larger than 1 TiB".to_owned();
            all.extend(impossible(&["file_size"], reason, "write a smaller `size`"));
        }
        all
    }
}
