//! Results of fio in one form, whatever it printed them as, and what may be derived from them.
//!
//! Figures are added only where their requests ran at the same time: jobs of one name in one group, and the reads and
//! writes of one mix. Everything that is left out is named.

use super::fio_job_group::JobGroup;
use super::fio_together::{Time, Together};
use super::{Foreign, Kept, few, short};
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    /// Why it failed.
    pub(super) error: Option<String>,
    /// The line of its figures that is not as fio prints it.
    pub(super) unreadable: Option<String>,
    /// Milliseconds since the epoch, if fio reports it.
    pub(super) started_ms: Option<u64>,
    /// Those of the job and those of `[global]`.
    pub(super) options: BTreeMap<String, String>,
    pub(super) directions: BTreeMap<Direction, Figures>,
    /// Latencies of fsync and its like; no data.
    pub(super) fsyncs: Figures,
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

/// The name under which fio reports the sum of its clients.
pub(super) const ALL_CLIENTS: &str = "All clients";

/// Options that say what the work was.
const WORK: [&str; 16] = [
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
    "verify",
    "rate",
    "rate_iops",
    "latency_target",
];

/// Options that keep a job from doing as much as it can.
const LIMITS: [&str; 4] = ["rate", "rate_iops", "thinktime", "latency_target"];

/// Whether an option matters to what is read of a job.
pub(super) fn is_known(option: &str) -> bool {
    let mut known = WORK.iter().chain(&LIMITS).chain(&["readwrite", "startdelay"]);
    known.any(|known| *known == option)
}

/// More requests, or milliseconds (35 years), are no measurement. Sums of those of 10,000 jobs fit into 64 bits.
const COUNT_MAX: u64 = 1 << 48;
const MILLISECONDS_MAX: f64 = 1e12;
/// An hour. fio's bins end at 17 s.
const BIN_NS_MAX: u64 = 3600 * 1_000_000_000;
/// As many bytes as a job of [`COUNT_MAX`] requests of 4 GiB.
const BYTES_MAX: f64 = 1.3e24;

/// The results of a file.
pub(super) fn results(runs: Vec<Run>) -> Result<Vec<Foreign>, String> {
    let jobs = runs.iter().flat_map(|run| &run.jobs);
    if let Some(job) = jobs.into_iter().find(|job| !job.is_possible()) {
        return Err(format!(
            "has a job `{}` with figures that no job can have: negative, endless, or too large",
            short(&job.name)
        ));
    }
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
            let reports = match dropped {
                1 => "an earlier report".to_owned(),
                _ => format!("{dropped} earlier reports"),
            };
            run.notes.push(format!(
                "left out: {reports} of the same run (--status-interval), which the last one includes"
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
        let mut processes = self.jobs.iter().filter(|job| job.name != ALL_CLIENTS).peekable();
        if processes.peek().is_some() && processes.all(|job| job.process.is_some()) {
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
        self.without_sum(&mut notes);
        self.without_failed(&mut notes)?;
        let mut tests = self.tests(&mut notes);
        tests.retain(|test| !test.directions.is_empty());
        if tests.is_empty() {
            if self.jobs.iter().all(|job| job.directions.is_empty()) {
                let what = "has jobs of fio without a line of reads, writes or trims (`read: IOPS=…`) below them: they \
                            moved no data, or the lines were left out";
                let what = std::iter::once(what.to_owned()).chain(notes);
                return Err(few(what.collect()).join("; "));
            }
            notes.push("no job moved any data".to_owned());
            return Err(format!("has no figure of fio: {}", few(notes).join("; ")));
        }
        let only = tests.len() == 1;
        let settings = self.settings(only);
        self.name_limits(&mut notes);
        for test in &tests {
            test.report(only, &mut kept, &mut notes);
        }
        let notes = few(notes);
        Ok(Foreign {
            program: "fio",
            machine: String::new(),
            work: String::new(),
            settings,
            events: kept.with_notes(&notes),
            notes,
        })
    }

    /// Leaves fio's sum over its clients out, unless there is nothing else.
    fn without_sum(&mut self, notes: &mut Vec<String>) {
        let is_sum = |job: &Job| job.name == ALL_CLIENTS;
        if !self.jobs.iter().any(is_sum) {
            return;
        }
        let why = "also adds what ran one after the other";
        if self.jobs.iter().all(is_sum) {
            notes.push(format!("fio's sum over all clients is all that there is: it {why}"));
            return;
        }
        self.jobs.retain(|job| !is_sum(job));
        notes.push(format!("fio's sum over all clients is left out: it {why}"));
    }

    /// Names the options that limited jobs.
    fn name_limits(&self, notes: &mut Vec<String>) {
        for job in &self.jobs {
            for option in LIMITS {
                if let Some(value) = job.option(option).filter(|value| *value != "0") {
                    notes.push(format!(
                        "`{}` was limited ({option}={}): it could have done more",
                        short(&job.name),
                        short(value)
                    ));
                }
            }
        }
    }

    /// Leaves failed jobs out; an error if no other is left.
    fn without_failed(&mut self, notes: &mut Vec<String>) -> Result<(), String> {
        if self.jobs.is_empty() {
            return Err("is a report of fio without jobs".to_owned());
        }
        let mut of_name: HashMap<(&str, u64), usize> = HashMap::new();
        for job in &self.jobs {
            *of_name.entry((&job.name, job.group)).or_default() += 1;
        }
        // A sum would lack it without being wrong to see.
        let has_others = |job: &&Job| job.unreadable.is_some() && of_name[&(job.name.as_str(), job.group)] > 1;
        if let Some(what) = self.jobs.iter().find(has_others).and_then(Job::failure) {
            return Err(format!("cannot be added up: {what}"));
        }
        let failed: Vec<String> = self.jobs.iter().filter_map(Job::failure).collect();
        self.jobs.retain(|job| job.error.is_none() && job.unreadable.is_none());
        if self.jobs.is_empty() {
            return Err(format!("is a report of fio, but {}", few(failed).join("; ")));
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
    fn tests(&self, notes: &mut Vec<String>) -> Vec<JobGroup> {
        let mut tests: Vec<JobGroup> = Vec::new();
        let mut groups: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
        let mut starts: HashMap<(&str, u64), Vec<u64>> = HashMap::new();
        for job in &self.jobs {
            groups.entry(&job.name).or_default().insert(job.group);
            starts.entry((&job.name, job.group)).or_default().extend(job.started_ms);
        }
        let with_starts = starts.into_iter().map(|(of, starts)| (of, Together::new(starts)));
        let mut known: HashMap<(&str, u64), Together> = with_starts.collect();
        for job in &self.jobs {
            let directions = job.directions(notes);
            let known = known.entry((&job.name, job.group)).or_default();
            if let Some(test) = known.find(job) {
                known.add(test, job);
                tests[test].add(job, directions);
                continue;
            }
            let mut name = job.name.clone();
            if groups[job.name.as_str()].len() > 1 {
                name = format!("{name} (group {})", job.group);
            }
            if known.len() > 0 {
                notes.push(format!(
                    "jobs named `{}` did not start at the same time: they are not added",
                    job.name
                ));
                name = format!("{name} #{}", known.len() + 1);
            }
            known.begin(tests.len(), job);
            tests.push(JobGroup::of(name, job, directions));
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

/// Why a job with this error number of the system failed; none for 0.
pub(super) fn failed(number: i64) -> Option<String> {
    let said = || match i32::try_from(number) {
        Ok(number) => std::io::Error::from_raw_os_error(number).to_string(),
        Err(_) => format!("its error {number} is no number of the system"),
    };
    (number != 0).then(said)
}

impl Job {
    fn failure(&self) -> Option<String> {
        match (&self.error, &self.unreadable) {
            (Some(error), _) => Some(format!("its job `{}` failed: {error}", short(&self.name))),
            (None, Some(line)) => Some(format!(
                "the line `{line}` of its job `{}` is not as fio prints it",
                short(&self.name)
            )),
            (None, None) => None,
        }
    }

    pub(super) fn milliseconds(&self) -> f64 {
        self.directions
            .values()
            .map(|figures| figures.milliseconds)
            .fold(0.0, f64::max)
    }

    /// When it ran, if fio reports it.
    pub(super) fn time(&self) -> Option<Time> {
        let start = self.started_ms?;
        Some((start, start.saturating_add(self.milliseconds() as u64)))
    }

    pub(super) fn option(&self, name: &str) -> Option<&str> {
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
                "the reads of `{}`, which only writes, are left out: they verified its writes",
                self.name
            ));
        }
        directions.retain(|direction, figures| {
            let is_empty = figures.bytes <= 0.0 && figures.operations <= 0.0;
            let is_short = !is_empty && figures.milliseconds < 1.0;
            if is_short {
                notes.push(format!(
                    "{} of `{}` took less than a millisecond, which is fio's resolution: left out",
                    match direction {
                        Direction::Read => "the reads",
                        Direction::Write => "the writes",
                        Direction::Trim => "the trims",
                        Direction::Mixed => "reads and writes together",
                    },
                    self.name
                ));
            }
            !is_empty && !is_short
        });
        directions
    }
}

impl Job {
    /// Whether sums of its figures with those of others are numbers.
    fn is_possible(&self) -> bool {
        let fits = |bins: &BTreeMap<u64, u64>| {
            let sum = bins.values().try_fold(0_u64, |sum, &count| sum.checked_add(count));
            sum.is_some_and(|sum| sum <= COUNT_MAX) && bins.keys().all(|&nanoseconds| nanoseconds <= BIN_NS_MAX)
        };
        let within = |value: f64, most: f64| (0.0..=most).contains(&value);
        self.directions.values().chain([&self.fsyncs]).all(|figures| {
            within(figures.bytes, BYTES_MAX)
                && within(figures.operations, COUNT_MAX as f64)
                && within(figures.milliseconds, MILLISECONDS_MAX)
                && figures
                    .percentiles
                    .iter()
                    .all(|(_, ns)| within(*ns, MILLISECONDS_MAX * 1e6))
                && fits(&figures.bins)
        })
    }
}

impl Figures {
    pub(super) fn has_latencies(&self) -> bool {
        !self.bins.is_empty() || self.percentiles.iter().any(|(_, ns)| *ns > 0.0)
    }

    pub(super) fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.operations += other.operations;
        self.milliseconds = self.milliseconds.max(other.milliseconds);
        for (nanoseconds, count) in other.bins {
            let known = self.bins.entry(nanoseconds).or_default();
            *known = known.saturating_add(count);
        }
        if self.percentiles.is_empty() {
            self.percentiles = other.percentiles;
        }
    }
}
