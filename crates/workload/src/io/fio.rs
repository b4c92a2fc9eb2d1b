//! Runs the same job with fio and converts its report to the same tally.
//!
//! fio is started once per trial, because in the lab a start costs seconds of wall time. Jobs are threads
//! (`--thread`), because processes would only add the cost of fork, and fio sums them (`--group_reporting`). The
//! clock is always clock_gettime: the TSC, fio's default, is real time in the lab. Latencies are from submission to
//! completion (`lat`), as in raidlab's own engine.
//!
//! At a queue depth above 1 fio uses io_uring, or POSIX AIO if that is not available: its default, psync, would
//! ignore the depth.

use crate::environment::Host;
use crate::io::fio_log::BandwidthLog;
use crate::io::fio_phases;
use crate::io::fio_report::{self, FioReport};
use crate::io::tally::{Outcome, Tally};
use crate::io::targets::{self, Layout};
use crate::io::uring_engine;
use crate::{Target, WorkloadError};
use std::path::Path;
use std::time::Duration;
use study::workload::{BufferFill, IoEngine, IoSpec, SyncMode};
use tools::{Invocation, Tool};

/// Much larger than the histograms of a job.
pub(super) const OUTPUT_BYTES_MAX: usize = 16 << 20;
/// Time limit of a job of fixed size.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(24 * 3600);

/// Options for every job.
pub(super) const COMMON: [&str; 8] = [
    "--output-format=json+",
    "--eta=never",
    "--thread=1",
    "--clocksource=clock_gettime",
    "--lat_percentiles=1",
    "--clat_percentiles=0",
    "--allow_mounted_write=0",
    "--verify_state_save=0",
];

/// The files of a job, raidlab's or fio's.
pub(super) fn layout<'a>(spec: &IoSpec, mount_point: &'a Path) -> Layout<'a> {
    let mut layout = Layout::of(spec, mount_point);
    if spec.engine == IoEngine::Fio
        && let Some(files) = said(spec, "nrfiles").and_then(|files| files.parse::<u32>().ok())
        && files > 1
    {
        layout.files = files;
        layout.file_bytes = spec.offset_bytes + spec.size_bytes / u64::from(files);
    }
    layout.reserved = said(spec, "fallocate") != Some("none");
    layout.filled |= said(spec, "overwrite").is_some_and(|overwrite| matches!(overwrite, "1" | "true" | ""));
    layout
}

fn said<'a>(spec: &'a IoSpec, option: &str) -> Option<&'a str> {
    let found = spec.fio_options.iter().find(|(name, _)| name == option);
    found.map(|(_, value)| value.as_str())
}

pub(super) fn run(
    spec: &IoSpec,
    target: &Target<'_>,
    seed: u64,
    host: &mut dyn Host,
) -> Result<Outcome, WorkloadError> {
    // Fails if the files or the device do not exist, or if the device is in use: fio does not check this reliably.
    if target
        .mount_point
        .is_none_or(|mount_point| layout(spec, mount_point).files == 1)
    {
        drop(targets::open_places(spec, target)?);
    }
    let io_engine = match spec.queue_depth {
        1 => "psync",
        _ if uring_engine::is_offered() => "io_uring",
        _ => "posixaio",
    };
    let phases = host.phases();
    let log = BandwidthLog::of(spec, phases.as_deref())?;
    let invocation = Invocation::new(Tool::Fio)
        .args(arguments(spec, target, seed, io_engine))
        .args(log.iter().flat_map(BandwidthLog::arguments))
        .limit(TIME_LIMIT + Duration::from_nanos(spec.runtime_ns.unwrap_or(0)))
        .output_bytes_max(OUTPUT_BYTES_MAX);
    let call = host.run_tool(&invocation)?;
    let mut report = fio_report::parse_own(&call.stdout)?;
    if !spec.pattern.has_reads() {
        report.jobs.iter_mut().for_each(fio_report::JobReport::without_reads);
    }
    let mut outcome = outcome(report);
    if let Some(log) = log {
        let read = log.read()?;
        outcome.tally.throughput = read.throughput;
        if let Some(phases) = phases {
            outcome.phases = fio_phases::by_phase(&read.moved, &phases, one_size(spec));
        }
    }
    Ok(outcome)
}

/// The size of every request, unless fio mixes sizes.
pub(super) fn one_size(spec: &IoSpec) -> Option<u64> {
    let is_mixed = ["bsrange", "bssplit", "bs_unaligned"];
    let mixes = is_mixed.iter().any(|option| said(spec, option).is_some());
    (!mixes).then_some(spec.block_bytes)
}

/// Converts the report: all jobs together, and each job.
fn outcome(report: FioReport) -> Outcome {
    let mut tally = Tally::new();
    report.jobs.iter().for_each(|job| tally.merge(&job.tally));
    let duration = report.jobs.iter().map(fio_report::JobReport::duration).max();
    Outcome {
        tally,
        duration: duration.unwrap_or_default(),
        jobs: report
            .jobs
            .into_iter()
            .map(|job| {
                let duration = job.duration();
                (job.tally, duration)
            })
            .collect(),
        phases: Vec::new(),
    }
}

/// fio's command line for the job.
fn arguments(spec: &IoSpec, target: &Target<'_>, seed: u64, io_engine: &str) -> Vec<String> {
    let mut arguments: Vec<String> = COMMON.map(str::to_owned).to_vec();
    arguments.insert(0, "--name=io".to_owned());
    let mut option = |name: &str, value: &dyn std::fmt::Display| arguments.push(format!("--{name}={value}"));
    let pattern = spec.pattern.name();
    match (spec.skip_bytes, spec.run_blocks) {
        (0, 0 | 1) => option("rw", &pattern),
        (0, blocks) => option("rw", &format_args!("{pattern}:{blocks}")),
        (bytes, _) => option("rw", &format_args!("{pattern}:{bytes}")),
    }
    if spec.pattern.is_mixed() && said(spec, "rwmixwrite").is_none() {
        option("rwmixread", &spec.read_percent);
    }
    option("bs", &spec.block_bytes);
    option("numjobs", &spec.jobs);
    if said(spec, "ioengine").is_none() {
        option("ioengine", &io_engine);
    }
    if said(spec, "fallocate").is_none() {
        option("fallocate", &"native");
    }
    option("iodepth", &spec.queue_depth);
    option("direct", &u8::from(spec.direct));
    match spec.sync {
        SyncMode::None => {}
        SyncMode::Sync => option("sync", &"sync"),
        SyncMode::Dsync => option("sync", &"dsync"),
    }
    option("fsync", &spec.fsync_every);
    option("fdatasync", &spec.fdatasync_every);
    option("end_fsync", &u8::from(spec.end_fsync));
    option("group_reporting", &u8::from(spec.group_reporting));
    // fio expects a signed number.
    option("randseed", &(seed >> 1));
    let microseconds = |nanoseconds: u64| format!("{}us", nanoseconds.div_ceil(1000));
    if let Some(runtime_ns) = spec.runtime_ns {
        option("runtime", &microseconds(runtime_ns));
        option("time_based", &u8::from(spec.time_based));
    }
    if spec.ramp_ns > 0 {
        option("ramp_time", &microseconds(spec.ramp_ns));
    }
    if spec.think_ns > 0 {
        option("thinktime", &microseconds(spec.think_ns));
        option("thinktime_blocks", &spec.think_blocks);
    }
    if let Some(rate) = spec.rate_bytes_s {
        option("rate", &rate);
    }
    if let Some(rate) = spec.rate_iops {
        option("rate_iops", &rate);
    }
    match &spec.buffer.fill {
        BufferFill::Random => {}
        BufferFill::Zero => option("zero_buffers", &1),
        BufferFill::Pattern(bytes) => option("buffer_pattern", &format_args!("0x{}", hex::encode(bytes))),
    }
    if spec.buffer.compress_percent > 0 {
        option("buffer_compress_percentage", &spec.buffer.compress_percent);
    }
    if let Some(percent) = spec.buffer.dedupe_percent {
        option("dedupe_percentage", &percent);
    }
    if let Some(verify) = &spec.verify {
        option("verify", verify);
    }
    // What is read or written of each file (of all files together: size) begins behind the offset.
    option("size", &spec.size_bytes);
    option("offset", &spec.offset_bytes);
    match target.mount_point {
        Some(mount_point) => {
            option("directory", &escaped(mount_point));
            option("filename_format", &layout(spec, mount_point).fio_format());
        }
        None => {
            option("filename", &escaped(target.block_device));
            option("allow_file_create", &0);
            option(
                "offset_increment",
                &spec.offset_increment_bytes.unwrap_or(spec.size_bytes),
            );
        }
    }
    for (name, value) in &spec.fio_options {
        option(name, value);
    }
    arguments
}

/// In fio, a colon ends a path.
pub(super) fn escaped(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace(':', "\\:")
}

#[cfg(test)]
mod tests;
