//! `fio_file = "…"` or `fio_file = { path = "…", … }`: a fio job file.

use super::Form;
use super::job_file::{self, Given, JobFile, Refusal};
use super::rules::Rules;
use crate::Known;
use crate::axes::{Axis, Point, axes_of, axis_of_variable, points, size};
use crate::parse::entry::Entry;
use crate::syntax::diagnostic::{Found, Span};
use std::collections::HashMap;
use study::workload::{FioFileSpec, Work, WorkSpec};

/// The file is read once for each combination of these.
const COMBINATIONS_MAX: usize = 4096;
/// Text of the job file for all combinations.
const TEXT_BYTES_MAX: usize = 32 << 20;
const SIZE: &str = "fio_file_size";

struct FioFile {
    file: JobFile,
    /// By the values of its axes.
    specs: HashMap<Vec<String>, FioFileSpec>,
    tests: Vec<String>,
}

pub(super) fn read(entry: &Entry, known: &Known, found: &mut Found) -> Option<Box<dyn Form>> {
    let table = entry.tables("fio_file").first();
    let path = match table {
        Some(table) => table.value("path")?,
        None => entry.value("fio_file")?,
    };
    let refuse = |refused: Vec<Refusal>, found: &mut Found| {
        for Refusal { message, help } in refused {
            found.add_with_help(&path.span, message, help);
        }
    };
    let file = match JobFile::read(&path.value.word(), known) {
        Ok(file) => file,
        Err(refused) => {
            refuse(refused, found);
            return None;
        }
    };
    let axes = table.map(|table| axes_of(table, known)).unwrap_or_default();
    let variables = table.map_or(&[][..], |table| table.variables("vars"));
    for variable in variables
        .iter()
        .filter(|variable| !job_file::uses(&file, &variable.name))
    {
        let message = format!("{} has no `${{{}}}`", file.path, variable.name);
        found.add_with_help(&variable.span, message, "leave the variable out");
    }
    if table.is_some_and(|table| table.is_broken("vars") || table.is_broken("size"))
        || too_many(&axes, &file, &path.span, found)
    {
        return None;
    }
    let names: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
    let mut specs = HashMap::new();
    let mut is_sound = true;
    for point in points(&axes) {
        let variables: Vec<(String, String)> = names
            .iter()
            .map(|name| ((*name).to_owned(), point.get(&axis_of_variable(name)).word()))
            .collect();
        let given = Given {
            variables: &variables,
            size_bytes: point.number(SIZE),
        };
        match job_file::parse(&file, given) {
            Ok(spec) => drop(specs.insert(words(&point), spec)),
            Err(refused) => {
                refuse(refused, found);
                is_sound = false;
            }
        }
    }
    let mut tests: Vec<String> = Vec::new();
    for point in points(&axes) {
        // Whether a section is a mix may depend on the variables.
        let of_point = specs.get(&words(&point)).map(FioFileSpec::tests).unwrap_or_default();
        for test in of_point {
            if !tests.iter().any(|known| known == test) {
                tests.push(test.to_owned());
            }
        }
    }
    is_sound.then(|| -> Box<dyn Form> { Box::new(FioFile { file, specs, tests }) })
}

fn too_many(axes: &[Axis], file: &JobFile, span: &Span, found: &mut Found) -> bool {
    let combinations = size(axes);
    let most = COMBINATIONS_MAX.min(TEXT_BYTES_MAX / file.text.len().max(1));
    if combinations > most {
        let message = format!("there are {combinations} combinations of `size` and `vars`");
        found.add_with_help(span, message, format!("at most {most} are possible with this file"));
    }
    combinations > most
}

fn words(point: &Point) -> Vec<String> {
    point.words().map(|(_, word)| word).collect()
}

impl Form for FioFile {
    fn work(&self, point: &Point) -> Work {
        Work::FioFile(self.specs[&words(point)].clone())
    }

    fn tests(&self, _: &[Axis]) -> Vec<Option<String>> {
        self.tests.iter().cloned().map(Some).collect()
    }

    fn file(&self) -> Option<(&str, &str)> {
        Some((&self.file.path, &self.file.text))
    }
}

/// Its requirements are in fio's own file.
impl Rules for FioFileSpec {
    fn room_axes(&self) -> &'static [&'static str] {
        &[SIZE]
    }

    fn file_size_axes(&self) -> &'static [&'static str] {
        &[SIZE]
    }
}
