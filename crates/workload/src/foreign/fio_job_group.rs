//! What is reported under one name: the jobs of fio that ran together, and what may be derived from them.

use super::Kept;
use super::fio::{Direction, Figures, Job};
use crate::latency::histogram;
use crate::reporter::{PERCENTILES, Reporter};
use std::collections::BTreeMap;
use std::time::Duration;
use study::metric::{MEBIBYTE, Metric};

/// Times of one direction that differ by less are of requests that ran together: fio reports whole milliseconds.
const SAME_MS: f64 = 2.0;
const SAME_SHARE: f64 = 0.01;

/// What is reported under one name.
pub(super) struct JobGroup {
    name: String,
    pub(super) directions: BTreeMap<Direction, Figures>,
    fsyncs: Figures,
    /// The number of jobs with latencies of fsync.
    fsync_jobs: usize,
    /// The number of jobs with each direction.
    jobs: BTreeMap<Direction, usize>,
    /// Its reads and writes are of one mix.
    is_mix: bool,
}

impl JobGroup {
    pub(super) fn of(name: String, job: &Job, directions: BTreeMap<Direction, Figures>) -> Self {
        Self {
            name,
            is_mix: is_mix(job, &directions),
            jobs: directions.keys().map(|direction| (*direction, 1)).collect(),
            directions,
            fsync_jobs: usize::from(job.fsyncs.has_latencies()),
            fsyncs: job.fsyncs.clone(),
        }
    }

    pub(super) fn add(&mut self, job: &Job, directions: BTreeMap<Direction, Figures>) {
        self.is_mix &= is_mix(job, &directions) || directions.len() < 2;
        for (direction, figures) in directions {
            *self.jobs.entry(direction).or_default() += 1;
            self.directions.entry(direction).or_default().add(figures);
        }
        self.fsync_jobs += usize::from(job.fsyncs.has_latencies());
        self.fsyncs.add(job.fsyncs.clone());
    }

    pub(super) fn report(&self, only: bool, kept: &mut Kept, notes: &mut Vec<String>) {
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
        if self.fsync_jobs > 0 {
            let name = if only && self.name != "fsync" {
                "fsync".to_owned()
            } else {
                format!("{} fsync", self.name)
            };
            let mut reporter = Reporter {
                host: kept,
                test: &name,
            };
            latencies("fsync", &self.fsyncs, self.fsync_jobs, &mut reporter, notes);
        }
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
        let jobs = match direction {
            Direction::Mixed => self.jobs.values().copied().max(),
            direction => self.jobs.get(&direction).copied(),
        };
        let jobs = jobs.unwrap_or_default();
        let mut reporter = Reporter { host: kept, test };
        reporter.sample(Metric::Throughput, figures.bytes / MEBIBYTE / seconds);
        if figures.operations > 0.0 {
            reporter.sample(Metric::Iops, figures.operations / seconds);
        }
        reporter.seconds(Metric::Duration, Duration::from_secs_f64(seconds));
        latencies(direction.name(), figures, jobs, &mut reporter, notes);
    }
}

/// Reports the percentiles of a number of jobs, and the latencies that they are of, if fio printed their bins.
fn latencies(of: &str, figures: &Figures, jobs: usize, reporter: &mut Reporter<'_>, notes: &mut Vec<String>) {
    // An empty histogram takes as much time and memory as a full one.
    let bins = (!figures.bins.is_empty()).then(|| histogram_of(&figures.bins));
    if let Some(bins) = bins.filter(|bins| !bins.is_empty()) {
        reporter.percentiles(&bins);
        reporter.latency(of, &bins);
    } else if jobs <= 1 {
        for (metric, quantile) in PERCENTILES {
            let same = |(percent, _): &&(f64, f64)| (percent - quantile * 100.0).abs() < 1e-6;
            if let Some((_, nanoseconds)) = figures.percentiles.iter().find(same) {
                reporter.sample(metric, nanoseconds / 1e6);
            }
        }
    } else if !figures.percentiles.is_empty() {
        notes.push(format!(
            "percentiles of the {jobs} jobs of `{}` are left out: they can be added only from bins (json+)",
            reporter.test
        ));
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

fn histogram_of(bins: &BTreeMap<u64, u64>) -> crate::latency::LatencyHistogram {
    let mut all = histogram();
    for (&nanoseconds, &count) in bins {
        all.saturating_record_n(nanoseconds, count);
    }
    all
}
