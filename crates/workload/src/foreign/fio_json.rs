//! fio's JSON reports of versions 2 and 3, wherever they are in a text: between lines of other programs, inside other
//! JSON, in its strings.
//!
//! Reports are read one after the other and nothing else of the text is kept.

mod job;
mod without_nan;

use super::fio::{Run, is_known};
use super::short;
use job::JobJson;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;
use without_nan::without_nan;

/// Strings with reports in strings with reports are nobody's, and neither are `jobs` in `jobs`.
const DEPTH_MAX: u32 = 4;

/// All reports in the text; the error if there is one that cannot be read.
pub(super) fn runs(text: &str) -> Result<Vec<Run>, String> {
    let text = without_nan(text);
    let mut found = Found::default();
    let broken = scan(&text, &mut found, 0);
    if let Some(error) = found.error {
        return Err(error);
    }
    if let Some(broken) = broken {
        let Some(first) = found.runs.first_mut() else {
            return Err(format!("has {broken}"));
        };
        first.notes.push(format!("left out: {broken}"));
    }
    Ok(found.runs)
}

#[derive(Default)]
struct Found {
    runs: Vec<Run>,
    error: Option<String>,
}

impl Found {
    fn too_deep(&mut self) {
        let what = || "has a report of fio in too many strings, or lists of jobs, in each other".to_owned();
        self.error.get_or_insert_with(what);
    }

    /// Sets the value of a key; an error if the object has it twice.
    fn only<'a>(&mut self, key: &str, known: &mut Option<&'a RawValue>, value: &'a RawValue) {
        let before = known.replace(value);
        if before.is_some_and(|before| may_have_reports(before.get()) || may_have_reports(value.get())) {
            let what = || format!("has a report of fio with `{key}` twice: which of them it is of is not known");
            self.error.get_or_insert_with(what);
        }
    }
}

/// Looks for values that begin with a brace; what is wrong with one that seems to be a report.
///
/// A value that ends too early is tried again from its next brace, except from those that were open where it ended:
/// they end there too. So the time is linear, however many braces are open.
fn scan(text: &str, found: &mut Found, depth: u32) -> Option<String> {
    let mut broken = None;
    let mut is_broken: Vec<bool> = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find('{') {
        at += next;
        if is_broken.get(at) == Some(&true) {
            at += 1;
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(&text[at..]).into_iter::<&RawValue>();
        match stream.next() {
            Some(Ok(raw)) => {
                walk(raw.get(), found, depth);
                at += stream.byte_offset().max(1);
            }
            Some(Err(error)) => {
                is_broken.resize(text.len(), false);
                let end = at + bytes_read(&text[at..], &error);
                let mut has_report = seems_a_report(&text[at..]);
                for brace in open_braces(&text.as_bytes()[at..end]) {
                    is_broken[at + brace] = true;
                    has_report |= seems_a_report(&text[at + brace..]);
                }
                if broken.is_none() && has_report {
                    let line = text[..at].matches('\n').count() + error.line();
                    let what = if error.is_eof() {
                        "ends too early".to_owned()
                    } else {
                        error.to_string()
                    };
                    broken = Some(format!("a report of fio whose JSON is broken near line {line}: {what}"));
                }
                at += 1;
            }
            None => break,
        }
    }
    broken
}

fn seems_a_report(value: &str) -> bool {
    value[1..]
        .trim_start_matches([' ', '\n', '\r', '\t'])
        .starts_with("\"fio version\"")
}

/// How many bytes of a value were read, with the one that is wrong: serde_json counts it or not.
fn bytes_read(value: &str, error: &serde_json::Error) -> usize {
    let line = match error.line().saturating_sub(1) {
        0 => 0,
        before => value.match_indices('\n').nth(before - 1).map_or(0, |(at, _)| at + 1),
    };
    (line + error.column()).min(value.len())
}

/// The places of the braces that are still open at the end of JSON. Its last bytes may be wrong: no brace in them is
/// one of these.
fn open_braces(json: &[u8]) -> Vec<usize> {
    let mut open = Vec::new();
    let (mut is_string, mut is_escaped) = (false, false);
    for (at, byte) in json.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            b'{' if !is_string => open.push(at),
            b'}' if !is_string => drop(open.pop()),
            _ => {}
        }
    }
    open.retain(|brace| brace + 2 < json.len());
    open
}

/// Keeps the reports of a value. One that serde_json does not read to its end (numbers that are too large, halves of
/// surrogate pairs, too many levels) is an error if it has reports: those behind that place would be lost.
fn walk(json: &str, found: &mut Found, depth: u32) {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let visited = Finder {
        found: &mut *found,
        depth,
    }
    .deserialize(&mut deserializer);
    if let Err(error) = visited
        && may_have_reports(json)
    {
        let what = || format!("has JSON with a report of fio that cannot be read to its end: {error} of it");
        found.error.get_or_insert_with(what);
    }
}

/// Whether a report can be in JSON or in its strings.
fn may_have_reports(json: &str) -> bool {
    ["fio version", "jobname"].iter().any(|sign| json.contains(sign))
}

/// Visits a value and keeps the reports in it.
struct Finder<'a> {
    found: &'a mut Found,
    depth: u32,
}

impl<'de> DeserializeSeed<'de> for Finder<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Finder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if !text.contains('{') || !text.contains("fio version") {
            return Ok(());
        }
        if self.depth >= DEPTH_MAX {
            self.found.too_deep();
            return Ok(());
        }
        if let Some(broken) = scan(&without_nan(text), self.found, self.depth + 1) {
            self.found.error.get_or_insert_with(|| format!("has {broken}"));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        let depth = self.depth;
        while all
            .next_element_seed(Finder {
                found: self.found,
                depth,
            })?
            .is_some()
        {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let depth = self.depth;
        let mut report = Report::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "fio version" => report.version = Some(map.next_value()?),
                "timestamp" => report.seconds = map.next_value()?,
                "timestamp_ms" => report.milliseconds = map.next_value()?,
                "global options" => report.global = map.next_value()?,
                "jobs" => self.found.only(&key, &mut report.jobs, map.next_value()?),
                "client_stats" => self.found.only(&key, &mut report.clients, map.next_value()?),
                _ => map.next_value_seed(Finder {
                    found: self.found,
                    depth,
                })?,
            }
        }
        report.end(self.found, depth);
        Ok(())
    }
}

/// The keys of a report, in an object that may be none.
#[derive(Default)]
struct Report<'a> {
    version: Option<Value>,
    seconds: Value,
    milliseconds: Value,
    global: Value,
    jobs: Option<&'a RawValue>,
    clients: Option<&'a RawValue>,
}

impl Report<'_> {
    fn end(self, found: &mut Found, depth: u32) {
        let is_fio = |jobs: &&RawValue| self.version.is_some() || jobs.get().contains("\"jobname\"");
        let all = [self.jobs, self.clients];
        for raw in all.into_iter().flatten().filter(|jobs| !is_fio(jobs)) {
            if depth < DEPTH_MAX {
                walk(raw.get(), found, depth + 1);
            } else if may_have_reports(raw.get()) {
                found.too_deep();
            }
        }
        let reported: Vec<&RawValue> = all.into_iter().flatten().filter(is_fio).collect();
        if reported.is_empty() {
            if self.version.is_some() {
                let what = "has a report of fio without `jobs` or `client_stats`";
                found.error.get_or_insert_with(|| what.to_owned());
            }
            return;
        }
        for raw in reported {
            match self.run(raw) {
                Ok(run) => found.runs.push(run),
                Err(error) => {
                    found.error.get_or_insert(error);
                }
            }
        }
    }

    /// 0 if it is not known, or no time that a clock shows.
    fn reported_ms(&self) -> u64 {
        let seconds = || self.seconds.as_u64().and_then(|seconds| seconds.checked_mul(1000));
        self.milliseconds.as_u64().or_else(seconds).unwrap_or(0)
    }

    fn run(&self, raw: &RawValue) -> Result<Run, String> {
        let jobs: Vec<JobJson> = serde_json::from_str(raw.get())
            .map_err(|error| format!("has a report of fio with odd jobs: {error}"))?;
        let mut run = Run {
            version: self.version.as_ref().map(words).unwrap_or_default(),
            reported_ms: self.reported_ms(),
            ..Run::default()
        };
        let global = options(&self.global);
        for job in jobs {
            run.jobs.push(job.job(&global)?);
        }
        Ok(run)
    }
}

/// The words of a string; JSON of anything else.
fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Those that matter. Each job has those of all jobs: long ones would be stored many times.
fn options(value: &Value) -> BTreeMap<String, String> {
    let all = value.as_object().into_iter().flatten();
    all.filter(|(name, _)| is_known(name))
        .map(|(name, value)| (name.clone(), short(&words(value)).into_owned()))
        .collect()
}
