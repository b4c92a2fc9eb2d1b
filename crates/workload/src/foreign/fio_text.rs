//! fio's default output of versions 1 to 3, for people: `read: IOPS=12.6k, BW=49.2MiB/s (51.6MB/s)(49.3MiB/1001msec)`.
//!
//! Its figures have three or four digits. Text around it, indentation and marks of quotation are ignored.

use super::fio::{ALL_CLIENTS, Direction, Figures, Job, Run, failed};
use super::short;
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
    let orphans = reader.orphans();
    if let Some(last) = reader.runs.last_mut() {
        last.notes.extend(orphans);
    }
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
    /// Whether lines of figures are of the last job.
    is_in_job: bool,
    /// Percentiles that follow are of fsync.
    is_of_fsync: bool,
    /// Lines of figures, and summaries, whose jobs are missing.
    orphans: u32,
    orphaned_summaries: u32,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some((name, rest)) = line.split_once(": (g=") {
            return self.header(name, rest);
        }
        if let Some(job) = job_line(line) {
            return self.job(line, job);
        }
        // Pages may lose the end of the line before.
        if line.contains("Run status group") {
            let is_first = line.contains("Run status group 0");
            if is_first && (self.run.jobs.is_empty() || self.has_ended) {
                self.orphaned_summaries += 1;
            }
            self.summaries += u32::from(is_first);
            self.has_ended = self.summaries >= self.clients;
            self.is_in_job = false;
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
        // Words before a name may be those of a log.
        let last = name.rsplit(['>', ' ']).next().unwrap_or(name);
        self.patterns.insert(last.to_owned(), said.clone());
        self.patterns.insert(name_of(name).to_owned(), said);
    }

    fn job(&mut self, line: &str, mut job: Job) {
        (self.direction, self.is_of_fsync) = (None, false);
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
        self.is_in_job = true;
    }

    fn of_job(&mut self, line: &str) {
        let figures = figures(line);
        let is_new = |job: &Job| figures.as_ref().is_none_or(|(of, ..)| !job.directions.contains_key(of));
        let Some(job) = self.run.jobs.last_mut().filter(|job| self.is_in_job && is_new(job)) else {
            // Those of another job, whose first line is missing.
            self.orphans += u32::from(figures.is_some());
            self.is_in_job = false;
            return;
        };
        if let Some((direction, figures, odd)) = figures {
            if odd > SAME_AMOUNT {
                let (name, direction) = (short(&job.name), direction.name());
                self.run.notes.push(format!(
                    "the rate of {direction} of `{name}` is not its amount of data in its time, which is taken"
                ));
            }
            (self.direction, self.is_of_fsync) = (Some(direction), false);
            self.unit = None;
            job.directions.insert(direction, figures);
        } else if line.starts_with("fsync/fdatasync") {
            (self.unit, self.is_of_fsync) = (None, true);
        } else if let Some(rest) = line.strip_prefix("sync percentiles (") {
            self.unit = unit(rest).filter(|_| self.is_of_fsync);
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
            let figures = match (self.is_of_fsync, self.direction) {
                (true, _) => Some(&mut job.fsyncs),
                (false, Some(direction)) => job.directions.get_mut(&direction),
                (false, None) => None,
            };
            if let (Some(figures), Some(unit)) = (figures, self.unit) {
                figures.percentiles.extend(percentiles(line, unit));
            }
        } else if let Some(rest) = line.strip_prefix("issued").and_then(|rest| rest.split("total=").nth(1)) {
            // Nothing with figures follows for this job.
            self.is_in_job = false;
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
        self.is_in_job = false;
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

    /// What is left out because it is of jobs whose first line is missing.
    fn orphans(&self) -> impl Iterator<Item = String> + use<> {
        let named = |count: u32, one: &str, more: &str| {
            let what = match count {
                0 => return None,
                1 => format!("left out: {one}"),
                _ => format!("left out: {count} {more}"),
            };
            Some(what + " without its job (`NAME: (groupid=…`)")
        };
        let lines = named(
            self.orphans,
            "a line of reads or writes",
            "lines of reads or writes, each",
        );
        let summaries = named(self.orphaned_summaries, "a summary", "summaries, each");
        lines.into_iter().chain(summaries)
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
    Some(Job {
        name: name_of(name).to_owned(),
        group,
        process: after("pid="),
        error: failed(i64::try_from(error).unwrap_or(i64::MAX)),
        ..Job::default()
    })
}

/// The name of a job, without marks of quotation.
fn name_of(name: &str) -> &str {
    name.trim_start_matches(|c: char| c.is_whitespace() || c == '>' || c == '#')
        .trim()
}

/// `read : io=10240MB, bw=63317KB/s, iops=15829, runt=165607msec`, or as version 3 writes it.
///
/// With them the factor by which its rates differ from its amount of data in its time.
fn figures(line: &str) -> Option<(Direction, Figures, f64)> {
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
    let (io, rates, milliseconds) = match (value("io="), value("runt=")) {
        (Some(io), Some(run)) => {
            let rate = value("bw=").and_then(|rate| Printed::of_fio_2(&rate));
            (Printed::of_fio_2(&io)?, [rate, None], run)
        }
        _ => {
            let (before, of) = rest.rsplit_once('(')?;
            let (io, run) = of.split_once('/')?;
            let decimal = before.rsplit_once('(').and_then(|(_, rate)| Printed::of(rate));
            let rates = [value("BW=").and_then(|rate| Printed::of(&rate)), decimal];
            (Printed::of(io)?, rates, run.to_owned())
        }
    };
    let milliseconds: f64 = run_time(&milliseconds)?;
    let rates = rates.into_iter().flatten().map(|rate| rate.times(milliseconds / 1e3));
    let rates: Vec<Printed> = rates.collect();
    // Times that are shorter are printed as 0.
    let odd = match milliseconds >= 1.0 {
        true => rates.iter().map(|rate| rate.factor_to(&io)).fold(1.0, f64::max),
        false => 1.0,
    };
    if odd > OTHER_UNIT {
        return None;
    }
    Some((
        direction,
        Figures {
            bytes: agreed(&io, &rates),
            operations: iops * milliseconds / 1e3,
            milliseconds,
            ..Figures::default()
        },
        odd,
    ))
}

/// `165607msec`.
fn run_time(text: &str) -> Option<f64> {
    text.split("msec").next()?.trim().parse().ok()
}

/// The beginning of a line that should have figures, as `figures` reads them, but is cut off or changed, or contradicts
/// itself.
fn odd_figures(line: &str) -> Option<String> {
    let (word, rest) = line.split_once(':')?;
    let is_direction = Direction::ALL.iter().any(|direction| direction.name() == word.trim());
    let has_figures = ["IOPS=", "iops=", "BW=", "bw=", "io="]
        .iter()
        .any(|key| rest.contains(key));
    (is_direction && has_figures).then(|| line.trim().chars().take(40).collect())
}

/// A figure as fio printed it, and half a unit of its last digit.
#[derive(Clone, Copy, Debug)]
struct Printed {
    value: f64,
    half: f64,
    /// All decimals are zeros. fio loses the carry of some figures when it rounds them up: 17.96 is printed as `17.0`.
    may_lack_one: bool,
    /// What one before the decimal point is.
    one: f64,
    /// Rates may be in bits (`unit_base`).
    is_in_bytes: bool,
}

impl Printed {
    /// `49.3MiB`, `51.6MB/s)`.
    fn of(text: &str) -> Option<Self> {
        let text = text.split([' ', '/', ')']).next()?;
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let decimals = text[..end].split_once('.').map_or("", |(_, decimals)| decimals);
        let one = amount(&format!("1{}", &text[end..]))?;
        Some(Self {
            is_in_bytes: text.ends_with('B'),
            value: amount(text)?,
            half: one / 2.0 / 10_f64.powi(decimals.len() as i32),
            may_lack_one: !decimals.is_empty() && decimals.bytes().all(|digit| digit == b'0'),
            one,
        })
    }

    /// fio 1 and 2 write `10240MB` for 10,240 x 1024 x 1024 bytes.
    fn of_fio_2(text: &str) -> Option<Self> {
        let text = text.split('/').next()?;
        match text.strip_suffix('B') {
            Some(rest) if rest.ends_with(['K', 'M', 'G', 'T', 'P']) => Self::of(&format!("{rest}iB")),
            _ => Self::of(text),
        }
    }

    fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            half: self.half * factor,
            one: self.one * factor,
            ..self
        }
    }

    /// By which factor it differs from another amount, whatever their digits.
    fn factor_to(self, other: &Self) -> f64 {
        let low = |of: Self| of.value - of.half;
        let high = |of: Self| of.value + if of.may_lack_one { of.one } else { of.half };
        let factor = |more: Self, less: Self| low(more) / high(less);
        match self.is_in_bytes && other.is_in_bytes {
            true => factor(self, *other).max(factor(*other, self)),
            false => 1.0,
        }
    }

    /// The intervals in which the figure may be, the likely one first.
    fn intervals(self) -> impl Iterator<Item = (f64, f64)> {
        let lacks_one = self.value + self.one;
        let unlikely = self.may_lack_one.then_some((lacks_one - self.half, lacks_one));
        std::iter::once((self.value - self.half, self.value + self.half)).chain(unlikely)
    }
}

/// Versions before 2 mixed units of 1000 and of 1024: their square is 5 %, that of terabytes 10 %.
const SAME_AMOUNT: f64 = 1.25;
/// Figures that differ by more are of other units: the line was changed.
const OTHER_UNIT: f64 = 500.0;

/// The amount of data as printed, if the rates agree with it within their digits or nothing does; else the amount on which all
/// agree.
fn agreed(io: &Printed, rates: &[Printed]) -> f64 {
    let mut narrowed: Vec<(u32, (f64, f64))> = vec![(0, (0.0, f64::INFINITY))];
    for printed in rates.iter().chain([io]) {
        let both = |(odd, (low, high)): (u32, (f64, f64))| {
            let each = (0..).zip(printed.intervals());
            each.map(move |(is_odd, (from, to)): (u32, (f64, f64))| (odd + is_odd, (low.max(from), high.min(to))))
        };
        narrowed = narrowed
            .into_iter()
            .flat_map(both)
            .filter(|(_, (low, high))| low <= high)
            .collect();
    }
    let likely = narrowed.into_iter().min_by_key(|(odd, _)| *odd);
    likely.map_or(io.value, |(_, (low, high))| match (low..=high).contains(&io.value) {
        true => io.value,
        false => low.midpoint(high),
    })
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
