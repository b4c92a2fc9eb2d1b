//! Imports results of fio, Bonnie++ and IOzone from elsewhere: converts their files to the events of a trial with
//! the same workload.

mod bonnie;
mod fio;
mod fio_job_group;
mod fio_json;
mod fio_terse;
mod fio_text;
mod fio_together;
mod iozone;
mod strip_log_prefixes;
#[cfg(test)]
mod tests;

use crate::environment::{DeviceCounters, Host};
use crate::{Engine, HostError, Target, WorkloadError};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use study::event::{Event, ToolCall};
use study::workload::ImportedSpec;
use tools::{Invocation, MissingTool, MissingTools, Tool, ToolError};

/// One imported measurement.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// `fio`, `Bonnie++`, `IOzone`.
    pub program: &'static str,
    /// The machine that its file names; may be empty.
    pub machine: String,
    /// What distinguishes its work from other work in its file: sizes, a number of processes. May be empty.
    pub work: String,
    /// What its file says of the work. Results of different work are not trials of one workload.
    pub settings: BTreeMap<String, String>,
    /// Samples, latencies, guards, and what is known about their origin.
    pub events: Vec<Event>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Results in one file: more are no measurement that anybody looks at.
const RESULTS_MAX: usize = 10_000;
const EVENTS_MAX: usize = 200_000;
/// fio's limit of a job's name is 127.
const NAME_BYTES_MAX: usize = 255;

/// Notes of one kind. Each result has the notes of its file: a long file would be stored many times.
const NOTES_MAX: usize = 20;

/// The notes, each once, and of each kind not too many.
fn few(notes: Vec<String>) -> Vec<String> {
    let mut known = HashSet::new();
    let mut kinds: HashMap<String, usize> = HashMap::new();
    let mut few: Vec<(Vec<String>, usize)> = Vec::new();
    for note in notes {
        if !known.insert(note.clone()) {
            continue;
        }
        let next = few.len().min(NOTES_MAX);
        let kind = *kinds.entry(kind(&note)).or_insert(next);
        if kind == few.len() {
            few.push((Vec::new(), 0));
        }
        let (kept, more) = &mut few[kind];
        match kept.len() < NOTES_MAX {
            true => kept.push(note),
            false => *more += 1,
        }
    }
    let counted = few.into_iter().flat_map(|(mut kept, more)| {
        if more > 0 {
            kept.push(format!("and {more} more of this kind"));
        }
        kept
    });
    counted.collect()
}

/// A note without its names and numbers.
fn kind(note: &str) -> String {
    let words = note.split('`').step_by(2).flat_map(str::chars);
    words.filter(|c| !c.is_ascii_digit()).collect()
}

/// What a note or an error repeats of a file.
fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(NAME_BYTES_MAX) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Parses a file of results; fails if the format is unknown.
pub fn read(text: &str) -> Result<Vec<Foreign>, String> {
    let text = strip_log_prefixes::strip(text.trim_start_matches('\u{feff}'));
    if text.contains("(groupid=3D") || text.contains("IOPS=3D") {
        return Err(
            "is quoted-printable (`=3D` for `=`), as mails are stored: save the decoded text of the mail"
                .to_owned(),
        );
    }
    let results = read_any(&text)?;
    let events: usize = results.iter().map(|result| result.events.len()).sum();
    if results.len() > RESULTS_MAX || events > EVENTS_MAX {
        return Err(format!(
            "has {} results with {events} figures: at most {RESULTS_MAX} with {EVENTS_MAX} are imported at once",
            results.len()
        ));
    }
    let mut names = results
        .iter()
        .flat_map(|result| &result.events)
        .filter_map(|event| match event {
            Event::Sample(sample) => Some(sample.test.as_str()),
            _ => None,
        })
        .chain(results.iter().map(|result| result.machine.as_str()));
    match names.find_map(unusable) {
        Some(reason) => Err(reason),
        None => Ok(results),
    }
}

/// Why a name of a test, a stack, a workload or a machine is refused.
pub fn unusable(name: &str) -> Option<String> {
    if name.len() > NAME_BYTES_MAX {
        let bytes = name.len();
        return Some(format!(
            "has a name of {bytes} bytes: at most {NAME_BYTES_MAX} are possible"
        ));
    }
    name.starts_with(['=', '+', '-', '@'])
        .then(|| format!("has a name `{name}`: a spreadsheet that opens an export takes such a name for a formula"))
}

/// The results of all programs.
fn read_any(text: &str) -> Result<Vec<Foreign>, String> {
    let mut results = read_fio(text)?;
    if iozone::is_there(text) {
        results.extend(iozone::read(text)?);
    }
    // A line of JSON may look like a line of Bonnie++.
    if results.is_empty() || bonnie::has_heading(text) {
        results.extend(bonnie::read(text)?);
    }
    if results.is_empty() {
        return Err(unknown(text));
    }
    Ok(results)
}

/// A text may have several forms of one report.
fn read_fio(text: &str) -> Result<Vec<Foreign>, String> {
    let has_text = fio_text::is_there(text);
    let mut runs = fio_json::runs(text)?;
    if let Some(first) = runs.first_mut() {
        if has_text {
            first
                .notes
                .push("fio's default output is left out: the JSON that is there too is read".to_owned());
        }
    } else if has_text {
        runs = fio_text::runs(text);
    } else if text.lines().any(fio_terse::is_line) {
        runs = fio_terse::runs(text)?;
    }
    fio::results(runs)
}

/// Why a text without results is refused: by its name, if it can be named.
fn unknown(text: &str) -> String {
    const PART_OF_TEXT: &str =
        "has only a part of fio's output: the line `NAME: (groupid=…` of each job is needed too";
    const PART_OF_JSON: &str =
        "has only a part of fio's JSON: all of it, from its first brace to its last, is needed";
    const PAGE: &str =
        "is a web page: import the values that it was made from (for bon_csv2html, the lines of Bonnie++)";
    const NAMED: [(&str, &str); 12] = [
        (
            "--Sequential Output--",
            "has a table of Bonnie++ without a row that can be read: its lines were joined, or cut off",
        ),
        (
            "Run status group",
            "has only the summary of fio's output: the lines of its jobs are needed too",
        ),
        ("clat (", PART_OF_TEXT),
        ("lat percentiles (", PART_OF_TEXT),
        ("IOPS=", PART_OF_TEXT),
        ("\"clat_ns\"", PART_OF_JSON),
        ("\"clat\"", PART_OF_JSON),
        (
            "Jobs: ",
            "has only fio's progress: fio was stopped, or its output was cut off",
        ),
        ("<html", PAGE),
        ("<table", PAGE),
        ("msec, ", "is a log of fio, not its report"),
        ("fio: ", "has messages of fio, but no report"),
    ];
    let lower = text.to_lowercase();
    for (sign, reason) in NAMED {
        if lower.contains(&sign.to_lowercase()) {
            return reason.to_owned();
        }
    }
    "is not a result of fio (JSON, terse or its default output), of Bonnie++ (its line of values or its table) or of \
     IOzone"
        .to_owned()
}

impl Engine for ImportedSpec {
    fn tool(&self) -> Option<Tool> {
        None
    }

    fn run(&self, _: &Target<'_>, _: u64, _: &mut dyn Host) -> Result<(), WorkloadError> {
        let what = format!(
            "results of {} that were imported cannot be measured again",
            self.program
        );
        Err(WorkloadError::Spec(what))
    }
}

/// A host that only records events.
#[derive(Default)]
struct Kept(Vec<Event>);

impl Kept {
    fn provenance(&mut self, key: &str, value: &str) {
        self.0.push(Event::Provenance {
            key: key.to_owned(),
            value: value.to_owned(),
        });
    }

    /// All events, and what was left out ([`few`]).
    fn with_notes(mut self, notes: &[String]) -> Vec<Event> {
        if !notes.is_empty() {
            self.provenance("imported.notes", &notes.join("; "));
        }
        self.0
    }
}

impl Host for Kept {
    fn event(&mut self, event: Event) {
        self.0.push(event);
    }

    fn step(&mut self, _: &str) {}

    fn quiesce_and_drop_caches(&mut self) -> Result<(), HostError> {
        Ok(())
    }

    fn device_counters(&mut self) -> Result<DeviceCounters, HostError> {
        Ok(DeviceCounters::default())
    }

    fn remount(&mut self) -> Result<(), HostError> {
        Ok(())
    }

    fn run_tool(&mut self, invocation: &Invocation) -> Result<ToolCall, ToolError> {
        Err(MissingTools(vec![MissingTool(invocation.tool())]).into())
    }
}
