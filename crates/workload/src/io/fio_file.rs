//! A fio job file: all its sections in one fio run, each a test named after the section.
//!
//! raidlab prepares separate files for each section, so that reads are cold. Only fio knows what it wrote: its own
//! `verify` compares contents, if the job file sets it.

use super::fio::{COMMON, OUTPUT_BYTES_MAX, TIME_LIMIT, escaped};
use super::fio_report::{self, JobReport};
use super::guards;
use super::holes;
use super::place::{self, Layout};
use super::report::{self, WrittenOut};
use super::tally::{Stream, Tally};
use crate::contents::Contents;
use crate::cpu::CpuTime;
use crate::host::{DeviceCounters, Host};
use crate::report::{Asked, FIO_CLOCK, Reporter};
use crate::{Engine, Target, WorkloadError};
use std::path::Path;
use std::time::{Duration, Instant};
use study::workload::{FioFileSpec, FioSection};
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
    let invocation = Invocation::new(Tool::Fio)
        .args(arguments(spec, mount_point, seed))
        .limit(TIME_LIMIT + Duration::from_nanos(running))
        .output_bytes_max(OUTPUT_BYTES_MAX);
    let call = host.run_tool(&invocation)?;
    let cpu = CpuTime::now().since(cpu_before);
    let jobs = fio_report::parse_own(&call.stdout)?.jobs;
    let sync_began = Instant::now();
    place::sync(target)?;
    let sync = sync_began.elapsed();
    let moved = counters(host)? - before;
    let mut asked = Asked {
        bytes: 0,
        requests: Some(0),
        record_bytes: None,
    };
    for section in &spec.sections {
        let reads = report_section(section, &jobs, sync, host)?;
        asked.bytes += reads.bytes;
        asked.requests = asked.requests.map(|requests| requests + reads.operations());
    }
    if !spec.sections.iter().all(|section| section.pattern.is_random()) {
        asked.requests = None;
    }
    let file_bytes = spec
        .sections
        .iter()
        .map(|section| layout(section, mount_point).file_bytes);
    asked.record_bytes = file_bytes.min().and_then(|bytes| guards::record_bytes(host, bytes));
    report_whole(spec, cpu, moved, asked, host);
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

fn arguments(spec: &FioFileSpec, mount_point: &Path, seed: u64) -> Vec<String> {
    let mut arguments: Vec<String> = COMMON.map(str::to_owned).to_vec();
    arguments.insert(0, "--name=global".to_owned());
    arguments.push(format!("--directory={}", escaped(mount_point)));
    for (number, section) in (0..).zip(&spec.sections) {
        arguments.push(format!("--name={}", section.name));
        // fio expects a signed number.
        arguments.push(format!("--randseed={}", (seed >> 1).wrapping_add(number) >> 1));
        let format = layout(section, mount_point).fio_format();
        arguments.push(format!("--filename_format={format}"));
        let said = section.options.iter().filter(|(name, _)| name != "group_reporting");
        arguments.extend(said.map(|(name, value)| format!("--{name}={value}")));
    }
    arguments
}

/// Returns the bytes read. Dirty data cannot be attributed to a section: the sync counts for every section that
/// writes through the page cache.
fn report_section(
    section: &FioSection,
    jobs: &[JobReport],
    sync: Duration,
    host: &mut dyn Host,
) -> Result<Stream, WorkloadError> {
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
    report::report_test(&section.name, section.pattern, &tally, duration, written, host);
    Reporter {
        host,
        test: &section.name,
    }
    .long_enough_guard(duration, FIO_CLOCK);
    Ok(tally.reads)
}

/// Reports what cannot be attributed to a section.
fn report_whole(spec: &FioFileSpec, cpu: CpuTime, moved: DeviceCounters, asked: Asked, host: &mut dyn Host) {
    let mut reporter = Reporter { host, test: "fio" };
    reporter.cpu(cpu);
    reporter.device_work(moved);
    // Sections are not separate.
    reporter.host.judge(None);
    if spec.sections.iter().all(|section| !section.pattern.has_writes()) {
        let once = spec.sections.iter().map(|section| {
            let all = section.size_bytes * u64::from(section.jobs);
            if section.runtime_ns.is_some() || section.options.iter().any(|(name, _)| name == "io_size") {
                0
            } else {
                all
            }
        });
        let bytes = once.sum();
        let favours_none = |section: &FioSection| section.direct || guards::favours_no_block(&section.options);
        let is_judged = spec.sections.iter().all(favours_none);
        for section in &spec.sections {
            let mut of_section = Reporter {
                host: &mut *reporter.host,
                test: &section.name,
            };
            of_section.cold_cache_guard(bytes, moved);
            if is_judged {
                of_section.cache_hits_guard(asked, moved);
            }
        }
    }
}
