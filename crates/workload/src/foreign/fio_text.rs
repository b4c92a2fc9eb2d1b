//! fio's default output of versions 1 to 3, for people: `read: IOPS=12.6k, BW=49.2MiB/s (51.6MB/s)(49.3MiB/1001msec)`.
//!
//! Its figures have three or four digits. Text around it, indentation and marks of quotation are ignored.

use super::fio::{ALL_CLIENTS, Direction, Figures, Job, Run, failed};
use std::collections::BTreeMap;

/// Whether the text has the line of a job.
pub(super) fn is_there(text: &str) -> bool {
    text.lines().any(|line| job_line(line).is_some())
}

/// The runs in a text: one ends with its summary.
pub(super) fn runs(text: &str) -> Vec<Run> {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line.trim_start_matches(|c: char| {
            c.is_whitespace() || c == '>' || c == '#' || c == '|' && !line.contains("th=[")
        }));
    }
    reader.end_of_run();
    reader.runs
}

const WITHOUT_SUMMARY: &str =
    "fio's summary (`Run status group`) is not there: what was cut off, of the last job too, is missing";

#[derive(Default)]
struct Reader {
    runs: Vec<Run>,
    run: Run,
    /// By the name of a job: what its first line says.
    patterns: BTreeMap<String, BTreeMap<String, String>>,
    direction: Option<Direction>,
    /// Nanoseconds of the unit of the percentiles that follow.
    unit: Option<f64>,
    /// Machines of a run with `--client`, each of which has its own summary, and the summaries so far.
    clients: u32,
    summaries: u32,
    has_ended: bool,
    /// When the last job was printed.
    printed: Option<u32>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some((name, rest)) = line.split_once(": (g=") {
            return self.header(name, rest);
        }
        if let Some(job) = job_line(line) {
            return self.job(line, job);
        }
        if line.starts_with("Run status group") {
            self.summaries += u32::from(line.starts_with("Run status group 0"));
            self.has_ended = self.summaries >= self.clients;
            self.direction = None;
        } else if line.starts_with("hostname=") && line.contains(" be=") {
            if self.has_ended {
                self.end_of_run();
            }
            self.clients += 1;
        } else if line.starts_with("fio-") && !line.contains(' ') {
            if !self.run.jobs.is_empty() {
                self.end_of_run();
            }
            self.run.version = line.trim().to_owned();
        } else {
            self.of_job(line);
        }
    }

    /// `a: (g=0): rw=randread, bs=4K-4K/4K-4K, ioengine=libaio, iodepth=16`
    fn header(&mut self, name: &str, rest: &str) {
        // All headings of a run are before its jobs, and those of its other clients may be later.
        if !self.run.jobs.is_empty() && self.summaries >= self.clients {
            self.end_of_run();
        }
        let name = name.rsplit(['>', ' ']).next().unwrap_or(name);
        let mut said = BTreeMap::new();
        for key in ["rw", "ioengine", "iodepth"] {
            let value = rest.split(&format!(" {key}=")).nth(1);
            if let Some(value) = value.and_then(|value| value.split([',', ' ']).next()) {
                said.insert(key.to_owned(), value.to_owned());
            }
        }
        if let Some((_, sizes)) = rest.split_once(", bs=") {
            let end = sizes.find(", ioengine").unwrap_or(sizes.len());
            said.insert("bs".to_owned(), sizes[..end].to_owned());
        }
        self.patterns.insert(name.to_owned(), said);
    }

    fn job(&mut self, line: &str, mut job: Job) {
        self.direction = None;
        let printed = second_of_day(line);
        let is_later = |before: u32, now: u32| before.abs_diff(now) > PRINTING_S;
        let is_later = self
            .printed
            .zip(printed)
            .is_some_and(|(before, now)| is_later(before, now));
        // The sum is printed after the summary.
        let has_ended = match job.name == ALL_CLIENTS {
            true => self.run.jobs.iter().any(|before| before.name == ALL_CLIENTS),
            false => self.has_ended,
        };
        if has_ended || is_later {
            self.end_of_run();
        }
        self.printed = printed;
        job.options = self.patterns.get(&job.name).cloned().unwrap_or_default();
        self.run.jobs.push(job);
    }

    fn of_job(&mut self, line: &str) {
        let Some(job) = self.run.jobs.last_mut() else { return };
        if let Some((direction, figures)) = figures(line) {
            self.direction = Some(direction);
            self.unit = None;
            job.directions.insert(direction, figures);
        } else if let Some(odd) = odd_figures(line) {
            job.unreadable = Some(odd);
        } else if let Some(rest) = line
            .strip_prefix("clat percentiles (")
            .or(line.strip_prefix("lat percentiles ("))
        {
            self.unit = unit(rest);
            if line.starts_with("lat ") {
                let what =
                    "the percentiles of `{}` are of total latencies (lat_percentiles), not of completion latencies";
                self.run.notes.push(what.replace("{}", &job.name));
            }
        } else if line.contains("th=[") {
            let (Some(direction), Some(unit)) = (self.direction, self.unit) else {
                return;
            };
            if let Some(figures) = job.directions.get_mut(&direction) {
                figures.percentiles.extend(percentiles(line, unit));
            }
        } else if let Some(rest) = line.strip_prefix("issued").and_then(|rest| rest.split("total=").nth(1)) {
            let counts = rest.split_whitespace().next().unwrap_or_default();
            // The fourth count is that of syncs.
            for (direction, count) in Direction::ALL[..3].iter().zip(counts.split([',', '/'])) {
                let count = count.trim_start_matches(['r', 'w', 'd', '=']).parse::<f64>();
                if let (Some(figures), Ok(count)) = (job.directions.get_mut(direction), count) {
                    figures.operations = count;
                }
            }
        }
    }

    fn end_of_run(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        if !self.has_ended {
            run.notes.push(WITHOUT_SUMMARY.to_owned());
        }
        self.has_ended = false;
        (self.clients, self.summaries) = (0, 0);
        if !run.jobs.is_empty() {
            self.run.version = run.version.clone();
            self.runs.push(run);
        }
    }
}

/// The jobs of a run are printed together, each with the time: one that is later is of another run.
const PRINTING_S: u32 = 2;

/// The time at the end of a job's line.
fn second_of_day(line: &str) -> Option<u32> {
    let clock = line
        .split_whitespace()
        .rev()
        .find(|word| word.matches(':').count() == 2)?;
    let parts: Vec<u32> = clock.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    Some(
        parts
            .iter()
            .fold(0_u32, |sum, part| sum.saturating_mul(60).saturating_add(*part)),
    )
}

/// `a: (groupid=0, jobs=1): err= 0: pid=25094: Fri Nov 27 22:16:38 2026`
fn job_line(line: &str) -> Option<Job> {
    let (name, rest) = line.split_once(": (groupid=")?;
    let after = |key: &str| {
        let text = rest.split(key).nth(1)?.trim_start();
        text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())]
            .parse::<u64>()
            .ok()
    };
    let group = rest[..rest.find(|c: char| !c.is_ascii_digit())?].parse().ok()?;
    let error = after("err=")?;
    let name = name
        .trim_start_matches(|c: char| c.is_whitespace() || c == '>' || c == '#')
        .trim();
    Some(Job {
        name: name.to_owned(),
        group,
        process: after("pid="),
        error: failed(error as i32),
        ..Job::default()
    })
}

/// `read : io=10240MB, bw=63317KB/s, iops=15829, runt=165607msec`, or as version 3 writes it.
fn figures(line: &str) -> Option<(Direction, Figures)> {
    let (word, rest) = line.split_once(':')?;
    let direction = Direction::ALL
        .into_iter()
        .find(|direction| direction.name() == word.trim())?;
    let value = |key: &str| {
        let text = rest.split(key).nth(1)?.trim_start();
        let mut parts = text[..text.find([' ', '(', ';']).unwrap_or(text.len())].split(',');
        let first = parts.next()?.to_owned();
        // `io=1,024MB` of fio 1.
        let is_thousands = |part: &&str| part.bytes().take_while(u8::is_ascii_digit).count() == 3;
        Some(parts.take_while(is_thousands).fold(first, |all, part| all + part))
    };
    let iops = value("IOPS=")
        .or(value("iops="))
        .and_then(|value| amount(&value))
        .unwrap_or(0.0);
    let (bytes, milliseconds) = match (value("io="), value("runt=")) {
        (Some(io), Some(run)) => (amount_of_fio_2(&io)?, run.trim_end_matches("msec").trim().parse().ok()?),
        _ => {
            let (_, of) = rest.rsplit_once('(')?;
            let (io, run) = of.split_once('/')?;
            (amount(io)?, run.split("msec").next()?.trim().parse().ok()?)
        }
    };
    let operations = iops * milliseconds / 1e3;
    Some((
        direction,
        Figures {
            bytes,
            operations,
            milliseconds,
            ..Figures::default()
        },
    ))
}

/// The beginning of a line that should have figures, as `figures` reads them, but is cut off or changed.
fn odd_figures(line: &str) -> Option<String> {
    let (word, rest) = line.split_once(':')?;
    let is_direction = Direction::ALL.iter().any(|direction| direction.name() == word.trim());
    let has_figures = ["IOPS=", "iops=", "BW=", "bw=", "io="]
        .iter()
        .any(|key| rest.contains(key));
    (is_direction && has_figures).then(|| line.trim().chars().take(40).collect())
}

/// fio 1 and 2 write `10240MB` for 10,240 x 1024 x 1024 bytes.
fn amount_of_fio_2(text: &str) -> Option<f64> {
    match text.strip_suffix('B') {
        Some(rest) if rest.ends_with(['K', 'M', 'G', 'T', 'P']) => amount(&format!("{rest}iB")),
        _ => amount(text),
    }
}

/// `49.3MiB`, `51.6MB`, `12.6k`.
fn amount(text: &str) -> Option<f64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let unit = text[end..].trim();
    let base: f64 = if unit.contains('i') { 1024.0 } else { 1000.0 };
    let power = match unit.chars().next().map(|c| c.to_ascii_uppercase()) {
        None | Some('B') => 0,
        Some('K') => 1,
        Some('M') => 2,
        Some('G') => 3,
        Some('T') => 4,
        _ => return None,
    };
    Some(number * base.powi(power))
}

fn unit(text: &str) -> Option<f64> {
    match text.split(')').next()? {
        "nsec" => Some(1.0),
        "usec" => Some(1e3),
        "msec" => Some(1e6),
        "sec" => Some(1e9),
        _ => None,
    }
}

/// `|  1.00th=[   40],  5.00th=[   42]`
fn percentiles(line: &str, unit: f64) -> Vec<(f64, f64)> {
    let parsed = line.split(',').filter_map(|part| {
        let (percent, value) = part.trim().trim_start_matches('|').trim().split_once("th=[")?;
        let value = value
            .trim()
            .trim_end_matches(']')
            .trim()
            .trim_start_matches('>')
            .parse::<f64>()
            .ok()?;
        Some((percent.trim().parse().ok()?, value * unit))
    });
    parsed.collect()
}
