//! Parses fio's JSON report (`json`, `json+`) of versions 3.x.

use crate::course::Course;
use crate::error::excerpt;
use crate::host::Host;
use crate::io::report::{WrittenOut, report_test};
use crate::io::tally::{Ramp, Stream, Tally};
use crate::report::Reporter;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;
use study::metric::Metric;
use study::workload::IoPattern;

/// One entry of `jobs`.
pub(crate) struct JobReport {
    pub(crate) name: String,
    pub(super) tally: Tally,
    pub(crate) read_time: Duration,
    pub(crate) write_time: Duration,
    /// Percentiles in nanoseconds, if there are no bins for a histogram (`json`).
    pub(crate) percentiles: Vec<(Metric, f64)>,
}

pub(crate) struct FioReport {
    pub(crate) version: String,
    pub(crate) jobs: Vec<JobReport>,
}

impl JobReport {
    /// From the first request to the last; fio reports whole milliseconds.
    pub(super) fn duration(&self) -> Duration {
        self.read_time.max(self.write_time)
    }

    /// Removes the reads of a verification: only the writes belong to the job.
    pub(super) fn without_reads(&mut self) {
        self.tally.reads = Stream::new();
        self.read_time = Duration::ZERO;
    }
}

#[derive(Deserialize)]
struct Report {
    #[serde(rename = "fio version", default)]
    version: String,
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    #[serde(default)]
    jobname: String,
    error: i64,
    read: Direction,
    write: Direction,
    /// Missing in reports of older fio versions and of some other programs.
    #[serde(default)]
    sync: Syncs,
}

#[derive(Deserialize)]
struct Direction {
    io_bytes: u64,
    /// Milliseconds.
    runtime: u64,
    #[serde(default)]
    total_ios: u64,
    lat_ns: Latencies,
    #[serde(default)]
    clat_ns: Option<Percentiles>,
}

#[derive(Deserialize, Default)]
struct Percentiles {
    #[serde(default)]
    percentile: BTreeMap<String, u64>,
}

#[derive(Deserialize, Default)]
struct Syncs {
    #[serde(default)]
    lat_ns: Latencies,
}

#[derive(Deserialize, Default)]
struct Latencies {
    #[serde(rename = "N", default)]
    count: u64,
    /// The middle of each of fio's bins, in nanoseconds, with its count. Missing if there are none.
    #[serde(default)]
    bins: BTreeMap<u64, u64>,
    #[serde(default)]
    percentile: BTreeMap<String, u64>,
}

/// Whether latencies must have bins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bins {
    /// `json+` has them.
    Needed,
    /// `json` is sufficient.
    Optional,
}

/// Parses a report, ignoring other output of fio before and after it.
pub(crate) fn parse(printed: &str, bins: Bins) -> Result<FioReport, String> {
    let start = if printed.starts_with('{') {
        Some(0)
    } else {
        printed.find("\n{").map(|at| at + 1)
    };
    let start = start.ok_or_else(|| "it has no JSON".to_owned())?;
    // A stream, so that output after the report is ignored.
    let report: Report = serde_json::Deserializer::from_str(&printed[start..])
        .into_iter()
        .next()
        .unwrap_or_else(|| unreachable!("a stream that begins with a brace is not empty"))
        .map_err(|error| error.to_string())?;
    if report.jobs.is_empty() {
        return Err("it has no job".to_owned());
    }
    let jobs = report.jobs.into_iter().map(|job| job_report(job, bins));
    Ok(FioReport {
        jobs: jobs.collect::<Result<_, _>>()?,
        version: report.version,
    })
}

fn job_report(job: Job, bins: Bins) -> Result<JobReport, String> {
    if job.error != 0 {
        let error = std::io::Error::from_raw_os_error(job.error as i32);
        return Err(format!("its job failed: {error}"));
    }
    let milliseconds = job.read.runtime.max(job.write.runtime);
    if milliseconds == 0 {
        return Err("it took less than a millisecond, which is fio's resolution: make the job larger".to_owned());
    }
    let direction = if job.read.io_bytes > 0 { &job.read } else { &job.write };
    let percentiles = percentiles(direction);
    Ok(JobReport {
        tally: Tally {
            reads: direction_stream(&job.read, bins)?,
            writes: direction_stream(&job.write, bins)?,
            ramp: Ramp::default(),
            by_phase: Vec::new(),
            course: Course::new(),
            fsyncs: stream(0, &job.sync.lat_ns, job.sync.lat_ns.count, bins)?,
        },
        read_time: Duration::from_millis(job.read.runtime),
        write_time: Duration::from_millis(job.write.runtime),
        name: job.jobname,
        percentiles,
    })
}

fn direction_stream(direction: &Direction, bins: Bins) -> Result<Stream, String> {
    let count = if bins == Bins::Needed {
        direction.lat_ns.count
    } else {
        direction.total_ios
    };
    stream(direction.io_bytes, &direction.lat_ns, count, bins)
}

fn stream(bytes: u64, latencies: &Latencies, count: u64, bins: Bins) -> Result<Stream, String> {
    let mut stream = Stream::new();
    stream.bytes = bytes;
    for (&nanoseconds, &number) in &latencies.bins {
        stream.histogram.saturating_record_n(nanoseconds, number);
    }
    let binned = stream.histogram.len();
    if binned == latencies.count || (latencies.bins.is_empty() && bins == Bins::Optional) {
        stream.uncounted = count.saturating_sub(binned);
        return Ok(stream);
    }
    Err(format!(
        "{binned} latencies in the bins of {} operations",
        latencies.count
    ))
}

fn percentiles(direction: &Direction) -> Vec<(Metric, f64)> {
    let of_completion = direction.clat_ns.as_ref().map(|clat| &clat.percentile);
    let all = [Some(&direction.lat_ns.percentile), of_completion];
    let Some(found) = all.into_iter().flatten().find(|map| !map.is_empty()) else {
        return Vec::new();
    };
    let wanted = [
        (Metric::LatencyP50, 50.0),
        (Metric::LatencyP99, 99.0),
        (Metric::LatencyP999, 99.9),
    ];
    let value = |percent: f64| {
        found
            .iter()
            .find(|(key, _)| key.parse::<f64>().is_ok_and(|key| (key - percent).abs() < 1e-6))
            .map(|(_, nanoseconds)| *nanoseconds as f64)
    };
    wanted
        .into_iter()
        .filter_map(|(metric, percent)| Some((metric, value(percent)?)))
        .collect()
}

/// The same, with an error that contains the output.
pub(super) fn parse_own(printed: &str) -> Result<FioReport, crate::WorkloadError> {
    parse(printed, Bins::Needed).map_err(|what| crate::WorkloadError::FioOutput {
        what,
        printed: excerpt(printed),
    })
}

/// A report of an fio run elsewhere.
pub(crate) struct FioResult<F> {
    pub(crate) version: String,
    /// Reports the figures of every job name; jobs of the same name are combined.
    pub(crate) report: F,
}

/// Parses a report in either format.
pub(crate) fn fio_results(printed: &str) -> Result<FioResult<impl FnOnce(&mut dyn Host) + use<>>, String> {
    let FioReport { version, jobs } = parse(printed, Bins::Optional)?;
    let report = move |host: &mut dyn Host| {
        let mut names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        names.dedup();
        for name in names {
            let own: Vec<&JobReport> = jobs.iter().filter(|job| job.name == name).collect();
            report_name(name, &own, host);
        }
    };
    Ok(FioResult { version, report })
}

fn report_name(name: &str, jobs: &[&JobReport], host: &mut dyn Host) {
    let mut tally = Tally::new();
    jobs.iter().for_each(|job| tally.merge(&job.tally));
    let duration = jobs.iter().map(|job| job.duration()).max().unwrap_or_default();
    let pattern = match (tally.reads.bytes > 0, tally.writes.bytes > 0) {
        (true, true) => IoPattern::ReadWrite,
        (false, true) => IoPattern::Write,
        _ => IoPattern::Read,
    };
    // fio does not report when the data was on the disks.
    let as_fio_says = WrittenOut {
        is_buffered: false,
        sync: Duration::ZERO,
        ramp: Duration::ZERO,
    };
    report_test(name, pattern, &tally, duration, as_fio_says, host);
    // Percentiles of several jobs cannot be combined without histograms.
    if let ([job], true) = (
        jobs,
        tally.reads.histogram.is_empty() && tally.writes.histogram.is_empty(),
    ) {
        for (metric, nanoseconds) in &job.percentiles {
            Reporter {
                host: &mut *host,
                test: name,
            }
            .sample(*metric, nanoseconds / 1e6);
        }
    }
}
