//! fio's JSON reports of versions 2 and 3, wherever they are in a text: between lines of other programs, inside other
//! JSON, in its strings.
//!
//! Reports are read one after the other and nothing else of the text is kept.

use super::fio::{Direction, Figures, Job, Run, failed};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

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
    if found.runs.is_empty()
        && let Some(broken) = broken
    {
        return Err(broken);
    }
    Ok(found.runs)
}

/// Some versions print averages of nothing as `nan`, which is not JSON.
fn without_nan(text: &str) -> std::borrow::Cow<'_, str> {
    let mut text = std::borrow::Cow::Borrowed(text);
    for word in [": -nan", ": nan", ": inf", ": -inf", ":-nan", ":nan"] {
        if text.contains(word) {
            text = text.replace(word, ": 0").into();
        }
    }
    text
}

#[derive(Default)]
struct Found {
    runs: Vec<Run>,
    error: Option<String>,
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
                    broken = Some(format!(
                        "has a report of fio whose JSON is broken near line {line}: {what}"
                    ));
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

/// Keeps the reports of a value, as far as it is not nested more deeply than serde_json reads.
fn walk(json: &str, found: &mut Found, depth: u32) {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let _ = Finder { found, depth }.deserialize(&mut deserializer);
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
        if self.depth < DEPTH_MAX && text.contains("\"fio version\"") {
            let broken = scan(text, self.found, self.depth + 1);
            self.found.error = self.found.error.take().or(broken);
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
                "jobs" => report.jobs = Some(map.next_value()?),
                "client_stats" => report.clients = Some(map.next_value()?),
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

    fn run(&self, raw: &RawValue) -> Result<Run, String> {
        let jobs: Vec<JobJson> = serde_json::from_str(raw.get())
            .map_err(|error| format!("has a report of fio with odd jobs: {error}"))?;
        let mut run = Run {
            version: self.version.as_ref().map(words).unwrap_or_default(),
            reported_ms: self
                .milliseconds
                .as_u64()
                .unwrap_or(self.seconds.as_u64().unwrap_or(0) * 1000),
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

fn options(value: &Value) -> BTreeMap<String, String> {
    let all = value.as_object().into_iter().flatten();
    all.map(|(name, value)| (name.clone(), words(value))).collect()
}

#[derive(Deserialize)]
struct JobJson {
    #[serde(default)]
    jobname: String,
    #[serde(default)]
    groupid: u64,
    #[serde(default)]
    error: i64,
    #[serde(default)]
    job_start: Option<u64>,
    #[serde(default, rename = "job options")]
    options: Value,
    #[serde(default)]
    read: Option<DirectionJson>,
    #[serde(default)]
    write: Option<DirectionJson>,
    #[serde(default)]
    trim: Option<DirectionJson>,
    #[serde(default)]
    mixed: Option<DirectionJson>,
    #[serde(default)]
    sync: Option<DirectionJson>,
}

#[derive(Deserialize)]
struct DirectionJson {
    #[serde(default)]
    io_bytes: f64,
    #[serde(default)]
    io_kbytes: Option<f64>,
    /// KiB/s.
    #[serde(default)]
    bw: f64,
    #[serde(default)]
    iops: f64,
    /// Milliseconds. fio always reports them; other programs shorten its reports.
    #[serde(default)]
    runtime: Option<f64>,
    #[serde(default)]
    total_ios: f64,
    #[serde(default)]
    lat_ns: Option<LatencyJson>,
    #[serde(default)]
    clat_ns: Option<LatencyJson>,
    #[serde(default)]
    lat: Option<LatencyJson>,
    #[serde(default)]
    clat: Option<LatencyJson>,
}

#[derive(Deserialize)]
struct LatencyJson {
    #[serde(default)]
    bins: BTreeMap<u64, u64>,
    /// fio 2 has the key `0.00` several times.
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

impl JobJson {
    fn job(self, global: &BTreeMap<String, String>) -> Result<Job, String> {
        let name = self.jobname;
        let given = [
            (Direction::Read, self.read),
            (Direction::Write, self.write),
            (Direction::Trim, self.trim),
            (Direction::Mixed, self.mixed),
        ];
        if given.iter().all(|(_, direction)| direction.is_none()) && self.error == 0 {
            return Err(format!(
                "has a job `{name}` with none of `read`, `write`, `trim` and `mixed`"
            ));
        }
        let mut directions = BTreeMap::new();
        for (direction, given) in given {
            let Some(given) = given else { continue };
            if given.runtime.is_none() && (given.bw > 0.0 || given.iops > 0.0) {
                let direction = direction.name();
                return Err(format!(
                    "has a report of fio that was shortened: `{direction}` of its job `{name}` has no `runtime`"
                ));
            }
            directions.insert(direction, given.figures());
        }
        let mut all = global.clone();
        all.extend(options(&self.options));
        let error = failed(i32::try_from(self.error).unwrap_or(i32::MAX));
        Ok(Job {
            name,
            group: self.groupid,
            process: None,
            error,
            unreadable: None,
            started_ms: self.job_start,
            options: all,
            directions,
            fsyncs: self.sync.map(DirectionJson::figures).unwrap_or_default(),
        })
    }
}

impl DirectionJson {
    fn figures(self) -> Figures {
        let runtime = self.runtime.unwrap_or(0.0);
        // fio 2 reports KiB under the same name, as the rate shows.
        let in_kib = self.io_kbytes.is_none() && {
            let rate = self.io_bytes * 1000.0 / runtime.max(1.0);
            self.bw > 0.0 && rate < self.bw * 30.0
        };
        let bytes = if in_kib { self.io_bytes * 1024.0 } else { self.io_bytes };
        let operations = if self.total_ios > 0.0 {
            self.total_ios
        } else {
            self.iops * runtime / 1000.0
        };
        let in_nanoseconds = [
            (self.lat_ns, 1.0),
            (self.clat_ns, 1.0),
            (self.lat, 1e3),
            (self.clat, 1e3),
        ];
        let mut figures = Figures {
            bytes,
            operations,
            milliseconds: runtime,
            ..Figures::default()
        };
        for (latency, scale) in in_nanoseconds {
            let Some(latency) = latency else { continue };
            if figures.bins.is_empty() && scale == 1.0 {
                figures.bins = latency.bins;
            }
            if figures.percentiles.is_empty() {
                let parsed = latency.percentile.iter().filter_map(|(percent, value)| {
                    let percent: f64 = percent.parse().ok()?;
                    Some((percent, value * scale))
                });
                figures.percentiles = parsed.filter(|(percent, _)| *percent > 0.0).collect();
            }
        }
        figures
    }
}
