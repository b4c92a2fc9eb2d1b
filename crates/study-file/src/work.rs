//! `[[workload]]` → what kind of work it is, with its axes.

use crate::document::Entry;
use crate::fio_file;
use crate::key::Table;
use crate::mistake::{Found, Span};
use crate::pattern::Pattern;
use crate::point::{Axis, Point, axes_of, points};
use crate::{Known, build_work};
use study::workload::{FioFileSpec, IoEngine, IozoneTest, TreeTest, WorkloadSpec};

/// One `[[workload]]`.
pub(crate) struct WorkloadEntry {
    pub name: String,
    pub span: Span,
    pub axes: Vec<Axis>,
    pub kind: Kind,
    /// Parts of it could not be read: no cell comes of it.
    pub broken: bool,
}

/// What work it is, as far as it is no axis.
pub(crate) enum Kind {
    Tree {
        tests: Vec<TreeTest>,
        from: Option<String>,
        to: Option<String>,
    },
    Io(IoEngine),
    FioFile {
        spec: FioFileSpec,
        /// The file as it was read.
        text: String,
    },
    Bonnie,
    Iozone {
        tests: Vec<IozoneTest>,
    },
}

/// A workload with one value on each of its axes.
pub(crate) struct Variant<'a> {
    pub point: Point<'a>,
    pub spec: WorkloadSpec,
    /// Its place on the axes on which the workload has several values.
    pub axes: Vec<(String, String)>,
}

impl WorkloadEntry {
    pub fn variants(&self) -> impl Iterator<Item = Variant<'_>> {
        points(&self.axes).map(|point| {
            let several = |name: &str| self.axes.iter().any(|axis| axis.name == name && axis.values.len() > 1);
            let varied: Vec<(&str, String)> = point.words().filter(|(name, _)| several(name)).collect();
            let suffix: String = varied.iter().map(|(name, word)| format!(" {name}={word}")).collect();
            let spec = WorkloadSpec {
                name: format!("{}{suffix}", self.name),
                work: build_work::work(&point, &self.kind),
            };
            let axes = varied.into_iter().map(|(name, word)| (name.to_owned(), word)).collect();
            Variant { point, spec, axes }
        })
    }
}

/// All workloads of the file.
pub(crate) fn workloads(top: &Entry, known: &Known, found: &mut Found) -> Vec<WorkloadEntry> {
    let mut all: Vec<WorkloadEntry> = Vec::new();
    for entry in top.tables("workload") {
        if let Some(given) = entry.value("name") {
            let name = given.value.word();
            if all.iter().any(|other| other.name == name) {
                found.add_with_mend(
                    &given.span,
                    format!("two workloads are called `{name}`"),
                    "give every workload a name of its own",
                );
            }
        }
        all.push(workload(entry, known, found));
    }
    all
}

fn workload(entry: &Entry, known: &Known, found: &mut Found) -> WorkloadEntry {
    let kinds = || {
        Table::Workload
            .keys()
            .map(|key| key.name)
            .filter(|name| *name != "name")
    };
    let tables: Vec<(&'static str, &Entry)> = kinds()
        .flat_map(|kind| entry.tables(kind).iter().map(move |table| (kind, table)))
        .collect();
    let file = entry.value("fio_file");
    let count = tables.len() + usize::from(file.is_some());
    let guessed = kinds().any(|kind| entry.is_broken(kind));
    if count != 1 && !guessed {
        let message = match count {
            0 => "a workload needs its work".to_owned(),
            _ => "a workload has one kind of work".to_owned(),
        };
        let span = tables.last().map_or(&entry.span, |(_, table)| &table.span);
        let words: Vec<String> = kinds().map(|kind| format!("`{kind}`")).collect();
        found.add_with_mend(span, message, format!("write exactly one of {}", words.join(", ")));
    }
    let table = tables.first();
    let mut broken = entry.broken || count != 1 || entry.value("name").is_none();
    broken |= tables
        .iter()
        .any(|(_, table)| table.broken || has_tests(table) && table.is_broken("tests"));
    let kind = match (table, file) {
        (Some((name @ ("fio" | "io"), table)), _) => {
            check_io(name, table, found);
            Kind::Io(if *name == "fio" {
                IoEngine::Fio
            } else {
                IoEngine::Native
            })
        }
        (Some(("bonnie", _)), _) => Kind::Bonnie,
        (Some(("iozone", table)), _) => Kind::Iozone {
            tests: iozone_tests(table),
        },
        (Some((_, table)), _) => {
            check_tree(table, found);
            Kind::Tree {
                tests: tree_tests(table),
                from: table.text("from"),
                to: table.text("to"),
            }
        }
        (None, Some(file)) => match fio_file::read(&file.value.word(), known) {
            Ok((spec, text)) => Kind::FioFile { spec, text },
            Err((message, mend)) => {
                found.add_with_mend(&file.span, message, mend);
                broken = true;
                no_work()
            }
        },
        (None, None) => no_work(),
    };
    WorkloadEntry {
        name: entry.text("name").unwrap_or_default(),
        span: entry.span.clone(),
        axes: table.map(|(_, table)| axes_of(table, known)).unwrap_or_default(),
        kind,
        broken,
    }
}

/// Stands where the work could not be read; no cell comes of it.
fn no_work() -> Kind {
    Kind::Tree {
        tests: Vec::new(),
        from: None,
        to: None,
    }
}

/// What makes sense only with something else.
fn check_io(kind: &str, table: &Entry, found: &mut Found) {
    let patterns = || {
        table
            .values("rw")
            .iter()
            .filter_map(|given| Pattern::parse(&given.value.word()).ok())
    };
    if let Some(mix) = table.field("rwmixread")
        && !table.is_broken("rw")
        && !patterns().any(|rw| rw.pattern.is_mixed())
    {
        let message = format!("`rwmixread` is for mixed patterns, and `rw` of this `{kind}` is none");
        found.add_with_mend(
            &mix.span,
            message,
            "write rw = \"randrw\" or \"readwrite\", or leave `rwmixread` out",
        );
    }
    for (name, needed, what) in [
        ("time_based", "runtime", "says whether to go on until `runtime` is over"),
        ("ramp_time", "runtime", "comes before `runtime`"),
        ("thinktime_blocks", "thinktime", "says when `thinktime` comes"),
    ] {
        if let (Some(field), None) = (table.field(name), table.field(needed)) {
            let mend = format!("write `{needed}`, too, or leave `{name}` out");
            found.add_with_mend(&field.span, format!("`{name}` {what}, and there is none"), mend);
        }
    }
    if let (Some(_), Some(field)) = (table.field("zero_buffers"), table.field("buffer_pattern")) {
        let message = "`zero_buffers` and `buffer_pattern` both say what is written";
        found.add_with_mend(&field.span, message, "leave one of the two out");
    }
}

/// A collection by name has its own numbers.
fn check_tree(tree: &Entry, found: &mut Found) {
    if tree.field("collection").is_none() {
        return;
    }
    for name in ["files", "size", "directories"] {
        if let Some(field) = tree.field(name) {
            let message = format!("`collection` has its own `{name}`");
            found.add_with_mend(&field.span, message, "leave one of the two out");
        }
    }
}

fn has_tests(table: &Entry) -> bool {
    matches!(table.table, Table::Tree | Table::Iozone)
}

fn tree_tests(tree: &Entry) -> Vec<TreeTest> {
    if tree.table != Table::Tree || tree.field("tests").is_none() {
        return TreeTest::ALL.to_vec();
    }
    let named = |word: &str| TreeTest::ALL.into_iter().find(|test| test.name() == word);
    let tests = tree.values("tests").iter();
    tests.filter_map(|given| named(&given.value.word())).collect()
}

/// In IOzone's own order, whatever that of the file is.
fn iozone_tests(table: &Entry) -> Vec<IozoneTest> {
    if table.field("tests").is_none() {
        return IozoneTest::ALL.to_vec();
    }
    let words: Vec<String> = table.values("tests").iter().map(|given| given.value.word()).collect();
    let is_wanted = |test: &IozoneTest| words.iter().any(|word| word == test.name());
    IozoneTest::ALL.into_iter().filter(is_wanted).collect()
}
