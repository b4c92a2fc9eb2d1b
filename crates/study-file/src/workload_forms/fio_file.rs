//! `fio_file = "…"`: a fio job file.

use super::rules::Rules;
use super::{Form, job_file};
use crate::Known;
use crate::parse::document::Entry;
use crate::point::{Axis, Point};
use crate::syntax::diagnostic::Found;
use study::workload::{FioFileSpec, Work};

struct FioFile {
    spec: FioFileSpec,
    /// Text of the file.
    text: String,
}

pub(super) fn read(entry: &Entry, known: &Known, found: &mut Found) -> Option<Box<dyn Form>> {
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
