//! Parses an fio job file to sections, with all reasons why a study may not use it at once, and notes about what has no
//! effect.

mod option;
mod section;
mod section_files;
mod source;
#[cfg(test)]
mod tests;

pub(crate) use source::JobFile;

use option::{Taken, name_of, option};
use section_files::FilesBySection;
use std::collections::{BTreeMap, BTreeSet};
use study::workload::{FioFileSpec, FioSection};

const SECTIONS_MAX: usize = 1000;
/// What all sections together repeat of `[global]`.
const REPEATED_BYTES_MAX: usize = 16 << 20;

/// Why a study may not use a line, with the line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub message: String,
    pub help: String,
}

impl Refusal {
    fn at(at: &str, message: impl std::fmt::Display, help: impl Into<String>) -> Self {
        Self {
            message: format!("{at}: {message}"),
            help: help.into(),
        }
    }
}

/// What the study adds to a job file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Given<'a> {
    /// Values of `${NAME}`.
    pub variables: &'a [(String, String)],
    /// Size of the files of sections without one.
    pub size_bytes: Option<u64>,
}

/// An option of a section with its place.
#[derive(Clone, Debug)]
struct Said<'a> {
    name: String,
    value: String,
    at: &'a str,
}

/// A section before its values are read.
#[derive(Debug)]
struct Raw<'a> {
    /// As in the file.
    heading: String,
    /// The name of its test and its files.
    name: String,
    at: &'a str,
    said: Vec<Said<'a>>,
    /// Options that were refused: nothing is concluded from their absence.
    refused: BTreeSet<String>,
}

impl Raw<'_> {
    fn said(&self, wanted: &str) -> Option<&Said<'_>> {
        self.said.iter().find(|said| said.name == wanted)
    }

    fn text(&self, wanted: &str) -> Option<&str> {
        self.said(wanted).map(|said| said.value.as_str())
    }

    /// Where an option is, or the section.
    fn place_of(&self, wanted: &str) -> &str {
        self.said(wanted).map_or(self.at, |said| said.at)
    }
}

/// Notes by what holds instead, with the names of the options.
type Notes = BTreeMap<&'static str, BTreeSet<String>>;

struct Parser<'a> {
    global: Vec<Said<'a>>,
    global_refused: BTreeSet<String>,
    sections: Vec<Raw<'a>>,
    in_global: bool,
    /// What the sections repeat of `[global]`.
    repeated_bytes: usize,
    ignored: Notes,
    notes: Vec<String>,
    refused: Vec<Refusal>,
}

/// Parses the sections of a job file, each with the preceding options of `[global]`.
pub(crate) fn parse(file: &JobFile, given: Given<'_>) -> Result<FioFileSpec, Vec<Refusal>> {
    let mut parser = Parser {
        global: Vec::new(),
        global_refused: BTreeSet::new(),
        sections: Vec::new(),
        in_global: false,
        repeated_bytes: 0,
        ignored: Notes::new(),
        notes: Vec::new(),
        refused: Vec::new(),
    };
    for line in &file.lines {
        match line.text.strip_prefix('[') {
            Some(_) if line.included => parser.refused.push(Refusal::at(
                &line.at,
                "an included file begins a section",
                "include options only, as fio does",
            )),
            Some(heading) => parser.heading(heading, &line.at),
            None => parser.line(&line.text, &line.at, file, given.variables),
        }
    }
    parser.names_of_waits();
    if parser.sections.is_empty() {
        let last = file
            .lines
            .last()
            .map_or_else(|| format!("{}:1", file.path), |line| line.at.clone());
        parser.refused.push(Refusal::at(
            &last,
            "there is no job section",
            "write a job's name in brackets, then its options",
        ));
    }
    let (all_files, refused) = FilesBySection::of(&parser.sections, given.size_bytes, &file.path);
    parser.refused.extend(refused);
    let mut sections: Vec<FioSection> = Vec::new();
    for (raw, files) in parser.sections.iter().zip(&all_files.of_sections) {
        match section::section(raw, files, &file.path) {
            Ok(section) => sections.push(section),
            Err(refused) => parser.refused.extend(refused),
        }
    }
    if !parser.refused.is_empty() {
        return Err(parser.refused);
    }
    let mut notes = parser.notes;
    notes.extend(all_files.notes);
    notes.extend(
        parser
            .ignored
            .iter()
            .map(|(reason, names)| ignored_words(names, reason)),
    );
    let mut spec = FioFileSpec {
        path: file.path.clone(),
        sections,
        notes: notes.into_iter().map(|note| format!("{}: {note}", file.path)).collect(),
    };
    spec.name_directions();
    Ok(spec)
}

fn ignored_words(names: &BTreeSet<String>, reason: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let verb = if names.len() == 1 { "has" } else { "have" };
    format!("{} {verb} no effect: {reason}", names.join(", "))
}

impl<'a> Parser<'a> {
    /// `rest` is a heading without its first bracket.
    fn heading(&mut self, rest: &str, at: &'a str) {
        let Some(heading) = rest.strip_suffix(']') else {
            let message = format!("`[{rest}` has no closing bracket");
            self.refused
                .push(Refusal::at(at, message, "write a job's name in brackets"));
            return;
        };
        // fio compares no more of the name.
        self.in_global = heading.starts_with("global");
        if self.in_global {
            return;
        }
        if self.sections.len() == SECTIONS_MAX {
            let message = format!("there are more than {SECTIONS_MAX} sections");
            self.refused.push(Refusal::at(at, message, "write fewer, or `numjobs`"));
        }
        if self.sections.len() >= SECTIONS_MAX {
            return;
        }
        let global = self.global.iter().map(|said| said.name.len() + said.value.len());
        self.repeated_bytes += global.sum::<usize>();
        if self.repeated_bytes > REPEATED_BYTES_MAX {
            let message = format!(
                "the sections repeat more than {} MiB of [global]",
                REPEATED_BYTES_MAX >> 20
            );
            self.refused
                .push(Refusal::at(at, message, "write fewer options, or fewer sections"));
            return;
        }
        let name = self.test_name(heading);
        if name != heading {
            self.notes.push(format!("[{heading}] is the test `{name}`"));
        }
        self.sections.push(Raw {
            heading: heading.to_owned(),
            name,
            at,
            said: self.global.clone(),
            refused: self.global_refused.clone(),
        });
    }

    /// A name that no other section has, with the characters that files and tests can have.
    fn test_name(&self, heading: &str) -> String {
        const NAME_MAX: usize = 64;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let plain: String = heading
            .chars()
            .map(|c| if is_plain(c) { c } else { '-' })
            .take(NAME_MAX)
            .collect();
        let plain = plain.trim_start_matches('.');
        let plain = if plain.is_empty() { "job" } else { plain };
        let is_free = |name: &String| self.sections.iter().all(|other| other.name != *name);
        let numbered = (2..).map(|number| format!("{plain}-{number}"));
        let mut names = std::iter::once(plain.to_owned()).chain(numbered);
        names.find(is_free).expect("there are more numbers than sections")
    }

    fn line(&mut self, text: &str, at: &'a str, file: &JobFile, variables: &[(String, String)]) {
        let name = name_of(text);
        let taken = substitute(text, &file.path, variables).and_then(|text| option(&text, at));
        if self.sections.is_empty() && !self.in_global {
            let message = format!("`{text}` is before the first section");
            let help = "begin with [global] or a job's name in brackets";
            self.refused.push(Refusal::at(at, message, help));
            return;
        }
        let (place, broken) = match self.sections.last_mut() {
            Some(section) if !self.in_global => (&mut section.said, &mut section.refused),
            _ => (&mut self.global, &mut self.global_refused),
        };
        match taken {
            Ok(Taken::Kept(said)) => {
                // fio uses the last one.
                place.retain(|other| other.name != said.name);
                place.push(said);
            }
            Ok(Taken::Ignored(reason)) => {
                self.ignored.entry(reason).or_default().insert(name);
            }
            Ok(Taken::Dropped) => {}
            Err((message, help)) => {
                self.refused.push(Refusal::at(at, message, help));
                broken.insert(name);
            }
        }
    }

    /// `wait_for` names a section by its heading.
    fn names_of_waits(&mut self) {
        let names: Vec<(String, String)> = self
            .sections
            .iter()
            .map(|raw| (raw.heading.clone(), raw.name.clone()))
            .collect();
        for raw in &mut self.sections {
            for said in raw.said.iter_mut().filter(|said| said.name == "wait_for") {
                match names.iter().find(|(heading, _)| *heading == said.value) {
                    Some((_, name)) => name.clone_into(&mut said.value),
                    None => {
                        let message = format!("`wait_for` names [{}], which does not exist", said.value);
                        self.refused
                            .push(Refusal::at(said.at, message, "write the name of a section"));
                    }
                }
            }
        }
    }
}

/// Replaces `${NAME}`, in which fio uses the environment.
fn substitute(text: &str, path: &str, variables: &[(String, String)]) -> Result<String, (String, String)> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, name, after)) = next_variable(rest) {
        let Some((_, value)) = variables.iter().find(|(known, _)| known == name) else {
            return Err((
                format!("`${{{name}}}` has no value"),
                format!("write fio_file = {{ path = \"{path}\", vars = {{ {name} = [\"…\"] }} }} in the study"),
            ));
        };
        out.push_str(before);
        out.push_str(value);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

fn next_variable(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

/// Whether an option of the file contains the variable.
pub(crate) fn uses(file: &JobFile, variable: &str) -> bool {
    let word = format!("${{{variable}}}");
    file.lines
        .iter()
        .any(|line| !line.text.starts_with('[') && line.text.contains(&word))
}
