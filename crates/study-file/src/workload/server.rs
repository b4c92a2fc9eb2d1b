//! `server = { … }`: work of mail servers, package managers and databases.

use super::rules::Rules;
use super::tree::{file_sizes, spread_over};
use super::{Form, WorkloadKind};
use crate::Known;
use crate::diagnostic::Found;
use crate::document::Entry;
use crate::impossible::{Impossible, impossible};
use crate::key::Axis::{Listed, Single};
use crate::key::Takes::{Count, Size, Spread, Time, Words};
use crate::key::{Key, MIB, TIB, Table, Takes, key};
use crate::point::{Axis, Point};
use study::stack::{MachineSpec, StackSpec};
use study::workload::{ServerSpec, ServerTest, Work};

pub(super) static SERVER: WorkloadKind = WorkloadKind {
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
    read,
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
    key(Table::Server, "tests", Words(TESTS), Single, "all, in this order", "`create`: each file is created, written and fsynced; `deliver` (Maildir): written and fsynced in `tmp`, renamed into `new`, `new` fsynced; `replace` (packages): written next to the old one, fsynced, renamed over it; `append` (log): each client appends records to its own file, fdatasync after each; `commit` (group commit): one file for all clients, one fdatasync for all that wait; `mixed`: files of a tree are read or replaced"),
    key(Table::Server, "clients", Count { min: 1, max: 1024 }, Listed, "1", "threads at the same time"),
    key(Table::Server, "files", Count { min: 1, max: 10_000_000 }, Listed, "1000", "number of files"),
    key(Table::Server, "size", Spread, Listed, "`4K`", "size of every file, or a spread: `{ min, median, max }`").on_axis("file_size"),
    key(Table::Server, "directories", Count { min: 1, max: 1_000_000 }, Listed, "one for 64 files", "number of directories"),
    key(Table::Server, "records", Count { min: 1, max: 100_000_000 }, Listed, "1000", "records that each client appends"),
    key(Table::Server, "record", Size { min: 1, max: MIB }, Listed, "`4K`", "bytes of a record"),
    key(Table::Server, "read_percent", Count { min: 0, max: 100 }, Listed, "50", "`mixed`: share of operations that read a file; the others replace one"),
    key(Table::Server, "rate", Count { min: 1, max: 10_000_000 }, Listed, "as many as they can", "`mixed`: operations a second of all clients together; latencies count from the moment at which an operation was due"),
    key(Table::Server, "runtime", Time, Listed, "ten seconds", "`mixed`: duration"),
];

const RUNTIME_NS: u64 = 10_000_000_000;

/// The part that is not an axis.
struct Server {
    tests: Vec<ServerTest>,
}

fn read(entry: &Entry, _: &Known, _: &mut Found) -> Option<Box<dyn Form>> {
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
