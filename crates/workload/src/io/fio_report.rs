//! Parses the report (`json+`) of an fio that raidlab started. Reports from elsewhere: `foreign`.

use crate::error::excerpt;
use crate::io::tally::{Ramp, Stream, Tally};
use crate::throughput_series::ThroughputSeries;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// One entry of `jobs`.
pub(crate) struct JobReport {
    pub(crate) name: String,
    pub(super) tally: Tally,
    pub(crate) read_time: Duration,
    pub(crate) write_time: Duration,
}

pub(crate) struct FioReport {
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
    lat_ns: Latencies,
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
}

/// Parses a report, ignoring other output of fio before and after it.
fn parse(printed: &str) -> Result<FioReport, String> {
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
    let jobs = report.jobs.into_iter().map(job_report);
    Ok(FioReport {
        jobs: jobs.collect::<Result<_, _>>()?,
    })
}

fn job_report(job: Job) -> Result<JobReport, String> {
    if job.error != 0 {
        let error = std::io::Error::from_raw_os_error(job.error as i32);
        return Err(format!("its job failed: {error}"));
    }
    let milliseconds = job.read.runtime.max(job.write.runtime);
    if milliseconds == 0 {
        return Err("it took less than a millisecond, which is fio's resolution: make the job larger".to_owned());
    }
    Ok(JobReport {
        tally: Tally {
            reads: stream(job.read.io_bytes, &job.read.lat_ns)?,
            writes: stream(job.write.io_bytes, &job.write.lat_ns)?,
            ramp: Ramp::default(),
            by_phase: Vec::new(),
            throughput: ThroughputSeries::new(),
            fsyncs: stream(0, &job.sync.lat_ns)?,
        },
        read_time: Duration::from_millis(job.read.runtime),
        write_time: Duration::from_millis(job.write.runtime),
        name: job.jobname,
    })
}

fn stream(bytes: u64, latencies: &Latencies) -> Result<Stream, String> {
    let mut stream = Stream::new();
    stream.bytes = bytes;
    for (&nanoseconds, &number) in &latencies.bins {
        stream.histogram.saturating_record_n(nanoseconds, number);
    }
    let binned = stream.histogram.len();
    if binned == latencies.count {
        return Ok(stream);
    }
    Err(format!(
        "{binned} latencies in the bins of {} operations",
        latencies.count
    ))
}

/// The same, with an error that contains the output.
pub(super) fn parse_own(printed: &str) -> Result<FioReport, crate::WorkloadError> {
    parse(printed).map_err(|what| crate::WorkloadError::FioOutput {
        what,
        printed: excerpt(printed),
    })
}
