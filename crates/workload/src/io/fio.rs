//! The same job by fio, and its report turned into the same tally.
//!
//! One start of fio a trial: in the lab it costs seconds of wall time. Jobs are threads (`--thread`), since
//! processes would only add the cost of forking, and are summed up by fio (`--group_reporting`). The clock is
//! always clock_gettime: the processor's counter, fio's own choice, is real time in the lab. Latencies are from
//! submission to completion (`lat`), as raidlab's own engine takes them.
//!
//! At a queue depth above 1 fio is told to use io_uring, or POSIX asynchronous I/O where that is not offered: with
//! its own choice, psync, the depth would be ignored.

use crate::host::Host;
use crate::io::order::is_mixed;
use crate::io::tally::{Outcome, Stream, Tally};
use crate::io::{place, ring};
use crate::{Target, WorkloadError};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use study::workload::IoSpec;
use tools::{Invocation, Tool};

/// Far more than the histograms of a job come to.
const OUTPUT_BYTES_MAX: usize = 16 << 20;
/// A job of fixed size may be slow, but not for ever.
const TIME_LIMIT: Duration = Duration::from_secs(24 * 3600);

pub(super) fn run(
    spec: &IoSpec,
    target: &Target<'_>,
    seed: u64,
    host: &mut dyn Host,
) -> Result<Outcome, WorkloadError> {
    // Fails where the files or the device are not there, or the device is in use: fio would not always.
    drop(place::open_places(spec, target)?);
    let io_engine = match spec.queue_depth {
        1 => "psync",
        _ if ring::is_offered() => "io_uring",
        _ => "posixaio",
    };
    let invocation = Invocation::new(Tool::Fio)
        .args(arguments(spec, target, seed, io_engine))
        .limit(TIME_LIMIT + Duration::from_nanos(spec.runtime_ns.unwrap_or(0)))
        .output_bytes_max(OUTPUT_BYTES_MAX);
    let call = host.run_tool(&invocation)?;
    parse(&call.stdout)
}

/// The job as fio's command line.
fn arguments(spec: &IoSpec, target: &Target<'_>, seed: u64, io_engine: &str) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "--name=io",
        "--output-format=json+",
        "--eta=never",
        "--thread=1",
        "--group_reporting=1",
        "--clocksource=clock_gettime",
        "--lat_percentiles=1",
        "--clat_percentiles=0",
        "--allow_mounted_write=0",
        "--fallocate=native",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut option = |name: &str, value: &dyn std::fmt::Display| arguments.push(format!("--{name}={value}"));
    option("rw", &spec.pattern.name());
    if is_mixed(spec.pattern) {
        option("rwmixread", &spec.read_percent);
    }
    option("bs", &spec.block_bytes);
    option("size", &spec.size_bytes);
    option("numjobs", &spec.jobs);
    option("ioengine", &io_engine);
    option("iodepth", &spec.queue_depth);
    option("direct", &u8::from(spec.direct));
    option("fsync", &spec.fsync_every);
    option("end_fsync", &u8::from(spec.end_fsync));
    // fio takes a signed number.
    option("randseed", &(seed >> 1));
    if let Some(runtime_ns) = spec.runtime_ns {
        option("runtime", &format_args!("{}us", runtime_ns.div_ceil(1000)));
        option("time_based", &1);
    }
    match target.mount_point {
        Some(mount_point) => {
            option("directory", &escaped(mount_point));
            option("filename_format", &place::file_name("$jobnum"));
        }
        None => {
            option("filename", &escaped(target.block_device));
            option("allow_file_create", &0);
            option("offset", &spec.offset_bytes);
            option("offset_increment", &spec.size_bytes);
        }
    }
    arguments
}

/// fio takes a colon for the end of a path.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace(':', "\\:")
}

#[derive(Deserialize)]
struct Report {
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    error: i64,
    read: Direction,
    write: Direction,
    sync: Syncs,
}

#[derive(Deserialize)]
struct Direction {
    io_bytes: u64,
    /// Milliseconds.
    runtime: u64,
    lat_ns: Latencies,
}

#[derive(Deserialize)]
struct Syncs {
    lat_ns: Latencies,
}

#[derive(Deserialize)]
struct Latencies {
    #[serde(rename = "N")]
    count: u64,
    /// The middle of each of fio's bins, in nanoseconds, and how many are in it. Missing if there are none.
    #[serde(default)]
    bins: BTreeMap<u64, u64>,
}

/// Reads fio's json+ report, whatever it printed around it.
fn parse(printed: &str) -> Result<Outcome, WorkloadError> {
    let not_understood = |what: String| WorkloadError::FioOutput {
        what,
        printed: excerpt(printed),
    };
    let start = if printed.starts_with('{') {
        Some(0)
    } else {
        printed.find("\n{").map(|at| at + 1)
    };
    let start = start.ok_or_else(|| not_understood("there is no JSON in it".to_owned()))?;
    // A stream, so that words after the report do no harm.
    let report: Report = serde_json::Deserializer::from_str(&printed[start..])
        .into_iter()
        .next()
        .unwrap_or_else(|| unreachable!("a stream that begins with a brace is not empty"))
        .map_err(|error| not_understood(error.to_string()))?;
    let [job] = &report.jobs[..] else {
        return Err(not_understood(format!(
            "it has {} jobs instead of one",
            report.jobs.len()
        )));
    };
    if job.error != 0 {
        let error = std::io::Error::from_raw_os_error(job.error as i32);
        return Err(not_understood(format!("its job failed: {error}")));
    }
    let tally = Tally {
        reads: stream(job.read.io_bytes, &job.read.lat_ns).map_err(not_understood)?,
        writes: stream(job.write.io_bytes, &job.write.lat_ns).map_err(not_understood)?,
        fsyncs: stream(0, &job.sync.lat_ns).map_err(not_understood)?,
    };
    let milliseconds = job.read.runtime.max(job.write.runtime);
    if milliseconds == 0 {
        let what = "it took less than a millisecond, which is all that fio tells: make the job larger";
        return Err(not_understood(what.to_owned()));
    }
    Ok(Outcome {
        tally,
        duration: Duration::from_millis(milliseconds),
    })
}

fn stream(bytes: u64, latencies: &Latencies) -> Result<Stream, String> {
    let mut stream = Stream::new();
    stream.bytes = bytes;
    for (&nanoseconds, &count) in &latencies.bins {
        stream.histogram.saturating_record_n(nanoseconds, count);
    }
    let binned = stream.operations();
    if binned == latencies.count {
        Ok(stream)
    } else {
        Err(format!(
            "{binned} latencies in the bins of {} operations",
            latencies.count
        ))
    }
}

/// The beginning and the end of what was printed.
fn excerpt(printed: &str) -> String {
    const LINES: usize = 4;
    let lines: Vec<&str> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return "nothing".to_owned();
    }
    if lines.len() <= 2 * LINES {
        return shortened(&lines.join(" "));
    }
    format!(
        "{} … {}",
        shortened(&lines[..LINES].join(" ")),
        shortened(&lines[lines.len() - LINES..].join(" "))
    )
}

fn shortened(text: &str) -> String {
    const CHARACTERS: usize = 200;
    match text.char_indices().nth(CHARACTERS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests;
