//! A fio job file: all its sections in one fio run, each a test named after the section.
//!
//! raidlab prepares separate files for each section, so that reads are cold. Only fio knows what it wrote: its own
//! `verify` compares contents, if the job file sets it.

use super::fio::{COMMON, OUTPUT_BYTES_MAX, TIME_LIMIT, escaped};
use super::fio_log::BandwidthLog;
use super::fio_report::{self, JobReport};
use super::guards::{self, Judged};
use super::holes;
use super::place::{self, Layout};
use super::report::{self, WrittenOut};
use super::tally::{Outcome, Tally};
use crate::contents::Contents;
use crate::cpu::CpuTime;
use crate::host::{DeviceCounters, Host};
use crate::report::{FIO_CLOCK, Reporter};
use crate::{Engine, Target, WorkloadError};
use std::path::Path;
use std::time::{Duration, Instant};
use study::workload::{FioFileSpec, FioSection, IoSpec};
use tools::{Invocation, Tool};

impl Engine for FioFileSpec {
    fn tool(&self) -> Option<Tool> {
        Some(Tool::Fio)
    }

    fn run(&self, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
        run(self, target, seed, host)
    }
}

fn run(spec: &FioFileSpec, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
    let mount_point = target
        .mount_point
        .ok_or_else(|| WorkloadError::Spec("a job file needs a filesystem, and this stack has none".to_owned()))?;
    host.step("prepare files");
    for section in &spec.sections {
        let contents = Contents::for_segments(seed, section.block_bytes);
        place::prepare(&layout(section, mount_point), &contents)?;
    }
    host.quiesce_and_drop_caches()
        .map_err(WorkloadError::host("quiesce and drop caches"))?;
    let counters = |host: &mut dyn Host| {
        host.device_counters()
            .map_err(WorkloadError::host("read the disks' counters"))
    };
    let before = counters(host)?;
    host.step("fio");
    let cpu_before = CpuTime::now();
    let running: u64 = spec.sections.iter().filter_map(|section| section.runtime_ns).sum();
    let specs: Vec<IoSpec> = spec.sections.iter().map(FioSection::as_io).collect();
    let logs = specs.iter().map(BandwidthLog::of).collect::<Result<Vec<_>, _>>()?;
    let invocation = Invocation::new(Tool::Fio)
        .args(arguments(spec, mount_point, seed, &logs))
        .limit(TIME_LIMIT + Duration::from_nanos(running))
        .output_bytes_max(OUTPUT_BYTES_MAX);
    let call = host.run_tool(&invocation)?;
    let cpu = CpuTime::now().since(cpu_before);
    let jobs = fio_report::parse_own(&call.stdout)?.jobs;
    let sync_began = Instant::now();
    place::sync(target)?;
    let sync = sync_began.elapsed();
    let moved = counters(host)? - before;
    let mut outcomes = Vec::new();
    for (section, log) in spec.sections.iter().zip(logs) {
        outcomes.push(report_section(section, &jobs, log, sync, host)?);
    }
    report_whole(cpu, moved, host);
    let judged = specs.iter().zip(&spec.sections).zip(&outcomes);
    let judged: Vec<Judged<'_>> = judged
        .map(|((spec, section), outcome)| Judged {
            test: &section.name,
            spec,
            outcome,
        })
        .collect();
    guards::report(&judged, moved, host);
    for section in spec.sections.iter().filter(|section| !section.pattern.has_writes()) {
        let test = &section.name;
        holes::report(&layout(section, mount_point), &mut Reporter { host, test })?;
    }
    Ok(())
}

fn layout<'a>(section: &'a FioSection, mount_point: &'a Path) -> Layout<'a> {
    Layout {
        mount_point,
        prefix: &section.name,
        jobs: section.jobs,
        files: section.files,
        file_bytes: section.size_bytes / u64::from(section.files),
        block_bytes: section.block_bytes,
        offset_bytes: 0,
        filled: section.pattern.has_reads(),
        reserved: !section
            .options
            .iter()
            .any(|(name, value)| name == "fallocate" && value == "none"),
    }
}

fn arguments(spec: &FioFileSpec, mount_point: &Path, seed: u64, logs: &[Option<BandwidthLog>]) -> Vec<String> {
    let mut arguments: Vec<String> = COMMON.map(str::to_owned).to_vec();
    arguments.insert(0, "--name=global".to_owned());
    arguments.push(format!("--directory={}", escaped(mount_point)));
    for ((number, section), log) in (0..).zip(&spec.sections).zip(logs) {
        arguments.push(format!("--name={}", section.name));
        // fio expects a signed number.
        arguments.push(format!("--randseed={}", (seed >> 1).wrapping_add(number) >> 1));
        let format = layout(section, mount_point).fio_format();
        arguments.push(format!("--filename_format={format}"));
        let said = section.options.iter().filter(|(name, _)| name != "group_reporting");
        arguments.extend(said.map(|(name, value)| format!("--{name}={value}")));
        arguments.extend(log.iter().flat_map(BandwidthLog::arguments));
    }
    arguments
}

/// Dirty data cannot be attributed to a section: the sync counts for every section that writes through the page
/// cache.
fn report_section(
    section: &FioSection,
    jobs: &[JobReport],
    log: Option<BandwidthLog>,
    sync: Duration,
    host: &mut dyn Host,
) -> Result<Outcome, WorkloadError> {
    let own: Vec<&JobReport> = jobs.iter().filter(|job| job.name == section.name).collect();
    if own.is_empty() {
        return Err(WorkloadError::FioOutput {
            what: format!("it has no results of the section [{}]", section.name),
            printed: "results of other jobs".to_owned(),
        });
    }
    let mut tally = Tally::new();
    let mut duration = Duration::ZERO;
    for job in own {
        let verifies = !section.pattern.has_reads();
        tally.merge(&Tally {
            reads: if verifies {
                Tally::new().reads
            } else {
                job.tally.reads.clone()
            },
            ..job.tally.clone()
        });
        duration = duration.max(if verifies { job.write_time } else { job.duration() });
    }
    let written = WrittenOut {
        is_buffered: section.pattern.has_writes() && !section.direct,
        sync,
        ramp: Duration::ZERO,
    };
    if let Some(log) = log {
        tally.course = log.read()?;
    }
    report::report_test(&section.name, section.pattern, &tally, duration, written, host);
    let mut reporter = Reporter {
        host,
        test: &section.name,
    };
    reporter.course(&tally.course, duration);
    reporter.long_enough_guard(duration, FIO_CLOCK);
    Ok(Outcome {
        tally,
        duration,
        jobs: Vec::new(),
        phases: Vec::new(),
    })
}

/// Reports what cannot be attributed to a section.
fn report_whole(cpu: CpuTime, moved: DeviceCounters, host: &mut dyn Host) {
    let mut reporter = Reporter { host, test: "fio" };
    reporter.cpu(cpu);
    reporter.device_work(moved);
    // Sections are not separate.
    reporter.host.judge(None);
}
