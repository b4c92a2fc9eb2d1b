//! `[[workload]]`: the kind of workload, with its axes. Each kind has its own file and an arm in [`read`].

mod age;
mod bonnie;
mod fio_file;
mod io;
mod iozone;
mod job_file;
mod power_cut;
mod rules;
mod server;
mod tree;

pub(crate) use rules::check_work;

use crate::Known;
use crate::axes::{Axis, Point, axes_of, points, text_bytes};
use crate::parse::entry::Entry;
use crate::schema::key::Takes;
use crate::schema::workload::{KINDS, KindOfWork, WorkloadKind};
use crate::syntax::diagnostic::{Found, Span};
use study::workload::{IoEngine, Work, WorkloadSpec};

/// The parts of a kind of workload that are not axes.
pub(crate) trait Form {
    /// The work at a point of its axes.
    fn work(&self, point: &Point) -> Work;

    /// Names of its tests; `None` for a test that the file does not determine.
    fn tests(&self, axes: &[Axis]) -> Vec<Option<String>>;

    /// Path and text of a file that belongs to the study.
    fn file(&self) -> Option<(&str, &str)> {
        None
    }
}

/// One `[[workload]]`.
pub(crate) struct WorkloadEntry {
    pub name: String,
    pub weight: Option<u32>,
    pub span: Span,
    pub axes: Vec<Axis>,
    /// Its filesystem is aged.
    pub is_aged: bool,
    /// `None` if it could not be read.
    pub form: Option<Box<dyn Form>>,
    /// Parts of it are invalid, so it gives no cells.
    pub broken: bool,
}

/// A workload with one value on each of its axes.
#[derive(Clone)]
pub(crate) struct Variant<'a> {
    pub point: Point<'a>,
    pub spec: WorkloadSpec,
    /// Its values on the axes with several values.
    pub axes: Vec<(String, String)>,
}

impl WorkloadEntry {
    /// The most text that a cell with this workload has.
    pub fn text_bytes(&self) -> usize {
        let file = self.form.as_ref().and_then(|form| form.file());
        self.name.len() + text_bytes(&self.axes) + file.map_or(0, |(path, text)| path.len() + text.len())
    }

    /// Empty for a workload that could not be read.
    pub fn variants(&self) -> impl Iterator<Item = Variant<'_>> {
        let form = self.form.iter().filter(|_| !self.broken);
        form.flat_map(|form| points(&self.axes).map(|point| self.variant(form.work(&point), point)))
    }

    fn variant<'a>(&self, work: Work, point: Point<'a>) -> Variant<'a> {
        let several = |name: &str| self.axes.iter().any(|axis| axis.name == name && axis.values.len() > 1);
        let varied: Vec<(&str, String)> = point.words().filter(|(name, _)| several(name)).collect();
        let suffix: String = varied.iter().map(|(name, word)| format!(" {name}={word}")).collect();
        Variant {
            spec: WorkloadSpec {
                name: format!("{}{suffix}", self.name),
                work,
                age: self.is_aged.then(|| age::age(&point)),
            },
            axes: varied.into_iter().map(|(name, word)| (name.to_owned(), word)).collect(),
            point,
        }
    }
}

/// All workloads of the file.
pub(crate) fn workloads(top: &Entry, known: &Known, found: &mut Found) -> Vec<WorkloadEntry> {
    let mut all: Vec<WorkloadEntry> = Vec::new();
    for entry in top.tables("workload") {
        if let Some(given) = entry.value("name") {
            let name = given.value.word();
            if all.iter().any(|other| other.name == name) {
                found.add_with_help(
                    &given.span,
                    format!("two workloads have the name `{name}`"),
                    "give every workload a different name",
                );
            }
        }
        all.push(workload(entry, known, found));
    }
    all
}

fn workload(entry: &Entry, known: &Known, found: &mut Found) -> WorkloadEntry {
    let written: Vec<&WorkloadKind> = KINDS
        .into_iter()
        .filter(|kind| !entry.tables(kind.key.name).is_empty() || entry.value(kind.key.name).is_some())
        .collect();
    let tables: Vec<&Entry> = written.iter().flat_map(|kind| entry.tables(kind.key.name)).collect();
    let guessed = KINDS.iter().any(|kind| entry.is_broken(kind.key.name));
    if written.len() != 1 && !guessed {
        let message = match written.len() {
            0 => "a workload needs a kind of work",
            _ => "a workload can have only one kind of work",
        };
        let span = tables.last().map_or(&entry.span, |table| &table.span);
        let words: Vec<String> = KINDS.iter().map(|kind| format!("`{}`", kind.key.name)).collect();
        found.add_with_help(span, message, format!("write exactly one of {}", words.join(", ")));
    }
    let aged: Vec<&Entry> = entry.tables("age").iter().collect();
    let form = written.first().and_then(|kind| read(kind.work, entry, known, found));
    WorkloadEntry {
        name: entry.text("name").unwrap_or_default(),
        weight: entry
            .value("weight")
            .and_then(|given| given.value.count())
            .map(|weight| weight as u32),
        span: entry.span.clone(),
        axes: tables
            .first()
            .into_iter()
            .chain(&aged)
            .flat_map(|table| axes_of(table, known))
            .collect(),
        is_aged: !aged.is_empty(),
        broken: entry.broken
            || written.len() != 1
            || form.is_none()
            || entry.value("name").is_none()
            || tables.iter().any(|table| table.broken || has_broken_list(table))
            || aged.iter().any(|table| table.broken)
            || entry.is_broken("age"),
        form,
    }
}

/// Parses the parts of a kind of workload that are not axes. `None` if it is invalid, which has been reported.
fn read(kind: KindOfWork, entry: &Entry, known: &Known, found: &mut Found) -> Option<Box<dyn Form>> {
    match kind {
        KindOfWork::Tree => tree::read(entry, known, found),
        KindOfWork::Fio => io::read("fio", IoEngine::Fio, entry, found),
        KindOfWork::FioFile => fio_file::read(entry, known, found),
        KindOfWork::Io => io::read("io", IoEngine::Native, entry, found),
        KindOfWork::Bonnie => bonnie::read(entry, known, found),
        KindOfWork::Iozone => iozone::read(entry, known, found),
        KindOfWork::Server => server::read(entry, known, found),
        KindOfWork::PowerCut => power_cut::read(entry, known, found),
    }
}

/// Whether a list that is not an axis, such as the tests, could not be read.
fn has_broken_list(table: &Entry) -> bool {
    let mut lists = table.table.keys().filter(|key| matches!(key.takes, Takes::Words(_)));
    lists.any(|key| table.is_broken(key.name))
}
