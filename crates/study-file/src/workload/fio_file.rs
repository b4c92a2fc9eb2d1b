//! `fio_file = "…"`: a fio job file.

use super::rules::Rules;
use super::{Form, WorkloadKind, job_file};
use crate::Known;
use crate::diagnostic::Found;
use crate::document::Entry;
use crate::key::Axis::Single;
use crate::key::{Table, Takes, key};
use crate::point::{Axis, Point};
use study::workload::{FioFileSpec, Work};

pub(super) static FIO_FILE: WorkloadKind = WorkloadKind {
    key: key(
        Table::Workload,
        "fio_file",
        Takes::Name,
        Single,
        "",
        "a fio job file with one or several sections, in the study's folder; see below",
    ),
    keys: &[],
    tests: "names of the sections",
    metrics: "`throughput`, `iops`",
    read,
};

struct FioFile {
    spec: FioFileSpec,
    /// Text of the file.
    text: String,
}

fn read(entry: &Entry, known: &Known, found: &mut Found) -> Option<Box<dyn Form>> {
    let file = entry.value("fio_file")?;
    match job_file::read(&file.value.word(), known) {
        Ok((spec, text)) => Some(Box::new(FioFile { spec, text })),
        Err((message, help)) => {
            found.add_with_help(&file.span, message, help);
            None
        }
    }
}

impl Form for FioFile {
    fn work(&self, _: &Point) -> Work {
        Work::FioFile(self.spec.clone())
    }

    fn tests(&self, _: &[Axis]) -> Vec<Option<String>> {
        let sections = self.spec.sections.iter();
        sections.map(|section| Some(section.name.clone())).collect()
    }

    fn file(&self) -> Option<(&str, &str)> {
        Some((&self.spec.path, &self.text))
    }
}

/// Its requirements are in fio's own file.
impl Rules for FioFileSpec {}
