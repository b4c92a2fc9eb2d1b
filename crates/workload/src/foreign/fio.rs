//! Results of fio in one form, whatever it printed them as, and what may be derived from them.
//!
//! Figures are added only where their requests ran at the same time: jobs of one name in one group, and the reads and
//! writes of one mix. Everything that is left out is named.

use super::{Foreign, Kept};
use crate::latency::histogram;
use crate::report::{PERCENTILES, Reporter};
use std::collections::BTreeMap;
use std::time::Duration;
use study::metric::{MEBIBYTE, Metric};

/// What a request does. `Mixed` is all of them, which fio reports with `unified_rw_reporting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Read,
    Write,
    Trim,
    Mixed,
}

impl Direction {
    pub(super) const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Mixed];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Mixed => "mixed",
        }
    }
}

/// One direction of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) bytes: f64,
    pub(super) operations: f64,
    pub(super) milliseconds: f64,
    /// In nanoseconds, by per cent.
    pub(super) percentiles: Vec<(f64, f64)>,
    /// The middle of each of fio's bins, in nanoseconds, with its count.
    pub(super) bins: BTreeMap<u64, u64>,
}

/// One job, or a group of jobs that fio added up.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) group: u64,
    /// Identifies it in reports of one run: fio's process.
    pub(super) process: Option<u64>,
    pub(super) error: Option<String>,
    /// Milliseconds since the epoch, if fio reports it.
    pub(super) started_ms: Option<u64>,
    /// Those of the job and those of `[global]`.
    pub(super) options: BTreeMap<String, String>,
    pub(super) directions: BTreeMap<Direction, Figures>,
    pub(super) fsyncs: BTreeMap<u64, u64>,
}

/// One run of fio.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) version: String,
    /// When it was reported, in milliseconds since the epoch, or 0.
    pub(super) reported_ms: u64,
    pub(super) jobs: Vec<Job>,
    pub(super) notes: Vec<String>,
}

/// The name under which fio reports the sum of its clients, and why that is left out.
pub(super) const ALL_CLIENTS: &str = "All clients";
pub(super) const WITHOUT_SUM: &str =
    "fio's sum over all clients is left out: it also adds what ran one after the other";

/// Options that say what the work was.
const WORK: [&str; 12] = [
    "rw",
    "bs",
    "iodepth",
    "numjobs",
    "size",
    "direct",
    "ioengine",
    "rwmixread",
    "rwmixwrite",
    "sync",
    "fsync",
    "time_based",
];

/// Times of one direction that differ by less are of requests that ran together: fio reports whole milliseconds.
const SAME_MS: f64 = 2.0;
const SAME_SHARE: f64 = 0.01;

/// The results of a file.
pub(super) fn results(runs: Vec<Run>) -> Result<Vec<Foreign>, String> {
    let mut all = Vec::new();
    for run in last_of_each_run(runs) {
        all.push(run.foreign()?);
    }
    Ok(all)
}

/// With `--status-interval`, fio reports everything that was done so far again and again.
fn last_of_each_run(runs: Vec<Run>) -> Vec<Run> {
    let mut kept: Vec<(Run, u32)> = Vec::new();
    for run in runs {
        match kept.last_mut() {
            Some((before, dropped)) if run.continues(before) => {
                *dropped += 1;
                *before = run;
            }
            _ => kept.push((run, 0)),
        }
    }
    let noted = kept.into_iter().map(|(mut run, dropped)| {
        if dropped > 0 {
            run.notes.push(format!(
                "{dropped} earlier reports of the same run (--status-interval) are left out: the last one includes them"
            ));
        }
        run
    });
    noted.collect()
}

impl Run {
    /// Whether it is a later report of the same run: its work began before that was reported, and it did no less.
    fn continues(&self, earlier: &Self) -> bool {
        let same = |job: &Job, before: &Job| {
            (&job.name, job.group, job.process) == (&before.name, before.group, before.process)
        };
        let more = |job: &Job, before: &Job| {
            before.directions.iter().all(|(direction, figures)| {
                job.directions
                    .get(direction)
                    .is_some_and(|now| now.bytes >= figures.bytes && now.milliseconds >= figures.milliseconds)
            })
        };
        // Jobs of later groups may not have begun.
        let all = earlier.jobs.len() <= self.jobs.len()
            && earlier
                .jobs
                .iter()
                .zip(&self.jobs)
                .all(|(before, job)| same(job, before) && more(job, before));
        if !all || earlier.jobs.is_empty() {
            return false;
        }
        if self.jobs.iter().all(|job| job.process.is_some()) {
            return true;
        }
        self.reported_ms > 0 && (self.reported_ms as f64 - self.milliseconds()) < earlier.reported_ms as f64
    }

    /// How long its groups took, one after the other.
    fn milliseconds(&self) -> f64 {
        let mut longest: BTreeMap<u64, f64> = BTreeMap::new();
        for job in &self.jobs {
            let of_group = longest.entry(job.group).or_default();
            *of_group = job.milliseconds().max(*of_group);
        }
        longest.values().sum()
    }

    fn foreign(mut self) -> Result<Foreign, String> {
        let mut kept = Kept::default();
        if !self.version.is_empty() {
            kept.provenance("fio", &self.version);
        }
        let mut notes = std::mem::take(&mut self.notes);
        self.without_failed(&mut notes)?;
        let mut tests = self.tests(&mut notes);
        tests.retain(|test| !test.directions.is_empty());
        if tests.is_empty() {
            notes.push("no job moved any data".to_owned());
            return Err(format!("has no figure of fio: {}", notes.join("; ")));
        }
        let only = tests.len() == 1;
        let settings = self.settings(only);
        for test in &tests {
            test.report(only, &mut kept, &mut notes);
        }
        notes.dedup();
        Ok(Foreign {
            program: "fio",
            label: String::new(),
            settings,
            events: kept.with_notes(&notes),
            notes,
        })
    }

    /// Leaves failed jobs out; an error if no other is left.
    fn without_failed(&mut self, notes: &mut Vec<String>) -> Result<(), String> {
        if self.jobs.is_empty() {
            return Err("is a report of fio without jobs".to_owned());
        }
        let failed: Vec<String> = self.jobs.iter().filter_map(Job::failure).collect();
        self.jobs.retain(|job| job.error.is_none());
        if self.jobs.is_empty() {
            return Err(failed.join("; "));
        }
        notes.extend(failed.into_iter().map(|what| format!("{what}: left out")));
        Ok(())
    }

    /// The options of the jobs that describe their work.
    fn settings(&self, only: bool) -> BTreeMap<String, String> {
        let mut settings = BTreeMap::new();
        for job in &self.jobs {
            for (name, value) in job.options.iter().filter(|(name, _)| WORK.contains(&name.as_str())) {
                let name = if only {
                    name.clone()
                } else {
                    format!("{} {name}", job.name)
                };
                settings.insert(name, value.clone());
            }
        }
        settings
    }

    /// Jobs of one name that ran at the same time are one test.
    fn tests(&self, notes: &mut Vec<String>) -> Vec<Test> {
        let mut tests: Vec<Test> = Vec::new();
        let mut at: BTreeMap<(&str, u64), Vec<usize>> = BTreeMap::new();
        let mut groups: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for job in &self.jobs {
            let of_name = groups.entry(&job.name).or_default();
            if !of_name.contains(&job.group) {
                of_name.push(job.group);
            }
        }
        for job in &self.jobs {
            let directions = job.directions(notes);
            let known = at.entry((&job.name, job.group)).or_default();
            if let Some(&test) = known.iter().find(|test| tests[**test].ran_with(job)) {
                tests[test].add(job, directions);
                continue;
            }
            let mut name = job.name.clone();
            if groups[job.name.as_str()].len() > 1 {
                name = format!("{name} (group {})", job.group);
            }
            if !known.is_empty() {
                notes.push(format!(
                    "jobs named `{}` ran one after the other: they are not added",
                    job.name
                ));
                name = format!("{name} #{}", known.len() + 1);
            }
            known.push(tests.len());
            tests.push(Test::of(name, job, directions));
        }
        for (name, groups) in groups.iter().filter(|(_, groups)| groups.len() > 1) {
            notes.push(format!(
                "`{name}` is the name of jobs in {} groups, which ran one after the other: they are not added",
                groups.len()
            ));
        }
        tests
    }
}

impl Job {
    fn failure(&self) -> Option<String> {
        let error = self.error.as_ref()?;
        Some(format!("its job `{}` failed: {error}", self.name))
    }

    fn milliseconds(&self) -> f64 {
        self.directions
            .values()
            .map(|figures| figures.milliseconds)
            .fold(0.0, f64::max)
    }

    fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    fn pattern(&self) -> Option<String> {
        let rw = self.option("rw").or_else(|| self.option("readwrite"))?;
        Some(rw.split(':').next().unwrap_or_default().to_lowercase())
    }

    /// The directions with figures, without the reads of a verification, which were not the work.
    fn directions(&self, notes: &mut Vec<String>) -> BTreeMap<Direction, Figures> {
        let mut directions = self.directions.clone();
        let only_writes = self.pattern().is_some_and(|rw| rw == "write" || rw == "randwrite");
        if only_writes && directions.get(&Direction::Read).is_some_and(|reads| reads.bytes > 0.0) {
            directions.remove(&Direction::Read);
            notes.push(format!(
                "the reads of `{}`, which verified its writes, are left out",
                self.name
            ));
        }
        directions.retain(|direction, figures| {
            let is_empty = figures.bytes <= 0.0 && figures.operations <= 0.0;
            let is_short = !is_empty && figures.milliseconds < 1.0;
            if is_short {
                notes.push(format!(
                    "the {}s of `{}` took less than a millisecond, which is fio's resolution: left out",
                    direction.name(),
                    self.name
                ));
            }
            !is_empty && !is_short
        });
        directions
    }
}

/// What is reported under one name.
struct Test {
    name: String,
    directions: BTreeMap<Direction, Figures>,
    fsyncs: BTreeMap<u64, u64>,
    jobs: usize,
    /// Its reads and writes are of one mix.
    is_mix: bool,
    /// From the first start to the first end, in milliseconds since the epoch, if known.
    together: Option<(u64, u64)>,
}

impl Test {
    fn of(name: String, job: &Job, directions: BTreeMap<Direction, Figures>) -> Self {
        Self {
            name,
            is_mix: is_mix(job, &directions),
            together: time_of(job),
            directions,
            fsyncs: job.fsyncs.clone(),
            jobs: 1,
        }
    }

    /// Whether the job ran while all others of the test did; assumed in a group, unless fio says when.
    fn ran_with(&self, job: &Job) -> bool {
        match (self.together, time_of(job)) {
            (Some(ours), Some(theirs)) => ours.0.max(theirs.0) < ours.1.min(theirs.1),
            _ => true,
        }
    }

    fn add(&mut self, job: &Job, directions: BTreeMap<Direction, Figures>) {
        self.is_mix &= is_mix(job, &directions) || directions.len() < 2;
        self.jobs += 1;
        if let (Some(ours), Some(theirs)) = (&mut self.together, time_of(job)) {
            *ours = (ours.0.max(theirs.0), ours.1.min(theirs.1));
        }
        for (direction, figures) in directions {
            self.directions.entry(direction).or_default().add(figures);
        }
        for (nanoseconds, count) in &job.fsyncs {
            *self.fsyncs.entry(*nanoseconds).or_default() += count;
        }
    }

    fn report(&self, only: bool, kept: &mut Kept, notes: &mut Vec<String>) {
        if let [(direction, figures)] = self.directions.iter().collect::<Vec<_>>()[..] {
            self.figures(&self.name, (*direction, figures), kept, notes);
        } else {
            self.report_whole(kept, notes);
            for (direction, figures) in &self.directions {
                if *direction == Direction::Mixed {
                    continue;
                }
                // As of a mix that raidlab measures, if there is nothing to confuse it with.
                let is_plain = only && Direction::ALL.iter().all(|other| other.name() != self.name);
                let name = if is_plain {
                    direction.name().to_owned()
                } else {
                    format!("{} {}", self.name, direction.name())
                };
                self.figures(&name, (*direction, figures), kept, notes);
            }
        }
        let mut reporter = Reporter {
            host: kept,
            test: &self.name,
        };
        reporter.latency("fsync", &histogram_of(&self.fsyncs));
    }

    /// All directions together, if there is such a figure.
    fn report_whole(&self, kept: &mut Kept, notes: &mut Vec<String>) {
        if let Some(mixed) = self.directions.get(&Direction::Mixed).filter(|mixed| mixed.bytes > 0.0) {
            return self.figures(&self.name, (Direction::Mixed, mixed), kept, notes);
        }
        let both = [Direction::Read, Direction::Write].map(|direction| self.directions.get(&direction));
        let [Some(reads), Some(writes)] = both else {
            notes.push(format!(
                "`{}` trims and transfers data: its directions are not added",
                self.name
            ));
            return;
        };
        if !self.is_mix {
            notes.push(format!(
                "reads and writes of `{}` are not added: they are not one mix that ran for one time ({} ms and {} ms)",
                self.name, reads.milliseconds, writes.milliseconds
            ));
            return;
        }
        let mut sum = Figures {
            percentiles: Vec::new(),
            bins: BTreeMap::new(),
            ..reads.clone()
        };
        sum.bytes += writes.bytes;
        sum.operations += writes.operations;
        sum.milliseconds = sum.milliseconds.max(writes.milliseconds);
        self.figures(&self.name, (Direction::Mixed, &sum), kept, notes);
    }

    fn figures(
        &self,
        test: &str,
        (direction, figures): (Direction, &Figures),
        kept: &mut Kept,
        notes: &mut Vec<String>,
    ) {
        let seconds = figures.milliseconds / 1e3;
        let mut reporter = Reporter { host: kept, test };
        reporter.sample(Metric::Throughput, figures.bytes / MEBIBYTE / seconds);
        if figures.operations > 0.0 {
            reporter.sample(Metric::Iops, figures.operations / seconds);
        }
        reporter.seconds(Metric::Duration, Duration::from_secs_f64(seconds));
        let bins = histogram_of(&figures.bins);
        if !bins.is_empty() {
            reporter.percentiles(&bins);
            reporter.latency(direction.name(), &bins);
        } else if self.jobs == 1 {
            for (metric, quantile) in PERCENTILES {
                let same = |(percent, _): &&(f64, f64)| (percent - quantile * 100.0).abs() < 1e-6;
                if let Some((_, nanoseconds)) = figures.percentiles.iter().find(same) {
                    reporter.sample(metric, nanoseconds / 1e6);
                }
            }
        } else if !figures.percentiles.is_empty() {
            notes.push(format!(
                "percentiles of the {} jobs of `{test}` are left out: they can be added only from bins (json+)",
                self.jobs
            ));
        }
    }
}

impl Figures {
    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.operations += other.operations;
        self.milliseconds = self.milliseconds.max(other.milliseconds);
        for (nanoseconds, count) in other.bins {
            *self.bins.entry(nanoseconds).or_default() += count;
        }
        if self.percentiles.is_empty() {
            self.percentiles = other.percentiles;
        }
    }
}

/// Whether reads and writes ran together: neither verified the other, and both took the same time.
fn is_mix(job: &Job, directions: &BTreeMap<Direction, Figures>) -> bool {
    let verifies = job
        .option("verify")
        .is_some_and(|verify| verify != "0" && verify != "null");
    let both = [Direction::Read, Direction::Write].map(|direction| directions.get(&direction));
    let [Some(reads), Some(writes)] = both else {
        return false;
    };
    let apart = (reads.milliseconds - writes.milliseconds).abs();
    !verifies && apart <= SAME_MS.max(reads.milliseconds.max(writes.milliseconds) * SAME_SHARE)
}

fn time_of(job: &Job) -> Option<(u64, u64)> {
    let start = job.started_ms?;
    Some((start, start.saturating_add(job.milliseconds() as u64)))
}

fn histogram_of(bins: &BTreeMap<u64, u64>) -> crate::latency::LatencyHistogram {
    let mut all = histogram();
    for (&nanoseconds, &count) in bins {
        all.saturating_record_n(nanoseconds, count);
    }
    all
}
