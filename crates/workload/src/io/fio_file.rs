//! A fio job file: all its sections in one fio run, each a test named after the section.
//!
//! raidlab prepares separate files for each section, so that reads are cold, or those that sections share by `filename`.
//! Only fio knows what it wrote: its own `verify` compares contents, if the job file sets it.

use super::figures::{self, WrittenOut};
use super::fio::{COMMON, OUTPUT_BYTES_MAX, TIME_LIMIT, escaped, one_size};
use super::fio_log::BandwidthLog;
use super::fio_phases::{self, Moved};
use super::fio_report::{self, JobReport};
use super::guards::{self, Judged};
use super::holes;
use super::tally::{Outcome, Tally};
use super::targets::{self, Layout};
use crate::contents::Contents;
use crate::cpu::CpuTime;
use crate::environment::{DeviceCounters, Host};
use crate::reporter::{FIO_CLOCK, Reporter};
use crate::{Engine, Target, WorkloadError};
use std::path::Path;
use std::time::{Duration, Instant};
use study::metric::Metric;
use study::workload::{FioFileSpec, FioSection, IoSpec};
use tools::{Invocation, Tool};

/// Engines of which raidlab prepares the files; the other engines of whole files create them, or use folders.
const OF_PREPARED_FILES: [&str; 2] = ["filestat", "filedelete"];

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
    for layout in layouts(spec, mount_point) {
        targets::prepare(&layout, &Contents::for_segments(seed, layout.block_bytes))?;
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
    let phases = host.phases();
    let log = |spec: &IoSpec| BandwidthLog::of(spec, phases.as_deref());
    let logs = specs.iter().map(log).collect::<Result<Vec<_>, _>>()?;
    let invocation = Invocation::new(Tool::Fio)
        .args(arguments(spec, mount_point, seed, &logs))
        .limit(TIME_LIMIT + Duration::from_nanos(running))
        .output_bytes_max(OUTPUT_BYTES_MAX);
    let call = host.run_tool(&invocation)?;
    let cpu = CpuTime::now().since(cpu_before);
    let jobs = fio_report::parse_own(&call.stdout)?.jobs;
    let sync_began = Instant::now();
    targets::sync(target)?;
    let sync = sync_began.elapsed();
    let moved = counters(host)? - before;
    let (mut outcomes, mut by_time) = (Vec::new(), Vec::new());
    for (section, log) in spec.sections.iter().zip(logs) {
        let (outcome, moved) = report_section(section, &jobs, log, sync, host)?;
        outcomes.push(outcome);
        by_time.extend(moved);
    }
    if let Some(phases) = &phases {
        let mut sizes = specs.iter().map(one_size);
        let first = sizes.next().flatten();
        let one = first.filter(|_| sizes.all(|size| size == first));
        let all = fio_phases::by_phase(&by_time, phases, one);
        // Sections with acts have no throughput that is steady.
        outcomes.iter_mut().for_each(|outcome| outcome.phases.clone_from(&all));
        let is_buffered = |section: &FioSection| section.pattern.has_writes() && !section.direct;
        figures::report_phases(&all, spec.sections.iter().any(is_buffered), host);
    }
    report_whole(cpu, moved, host);
    let judged = specs.iter().zip(&spec.sections).zip(&outcomes);
    let judged: Vec<Judged<'_>> = judged
        .filter(|((_, section), _)| !section.is_of_whole_files())
        .map(|((spec, section), outcome)| Judged {
            test: &section.name,
            spec,
            outcome,
        })
        .collect();
    guards::report(&judged, moved, host);
    let reads_only = |section: &&FioSection| !section.pattern.has_writes() && !section.is_of_whole_files();
    for section in spec.sections.iter().filter(reads_only) {
        let test = &section.name;
        holes::report(&layouts_of(spec, section, mount_point), &mut Reporter { host, test })?;
    }
    Ok(())
}

/// All files that are prepared.
fn layouts<'a>(spec: &'a FioFileSpec, mount_point: &'a Path) -> Vec<Layout<'a>> {
    let numbers: Vec<u32> = spec.shared_files().into_keys().collect();
    let is_prepared = |section: &&FioSection| match section.engine() {
        Some(engine) if section.is_of_whole_files() => OF_PREPARED_FILES.contains(&engine),
        _ => true,
    };
    let own = spec
        .sections
        .iter()
        .filter(|section| section.shared.is_empty())
        .filter(is_prepared);
    let own = own.map(|section| own_layout(section, mount_point));
    own.chain(shared_layouts(spec, &numbers, mount_point)).collect()
}

/// The files of a section.
fn layouts_of<'a>(spec: &'a FioFileSpec, section: &'a FioSection, mount_point: &'a Path) -> Vec<Layout<'a>> {
    match section.shared.is_empty() {
        true => vec![own_layout(section, mount_point)],
        false => shared_layouts(spec, &section.shared, mount_point),
    }
}

fn own_layout<'a>(section: &'a FioSection, mount_point: &'a Path) -> Layout<'a> {
    Layout {
        mount_point,
        prefix: section.name.as_str().into(),
        jobs: section.jobs,
        files: section.files,
        file_bytes: section.each_file_bytes(),
        block_bytes: section.block_bytes,
        offset_bytes: 0,
        filled: section.pattern.has_reads() && !section.is_of_whole_files(),
        reserved: reserves(section),
    }
}

fn reserves(section: &FioSection) -> bool {
    let no_space = |(name, value): &(String, String)| name == "fallocate" && value == "none";
    !section.is_of_whole_files() && !section.options.iter().any(no_space)
}

/// As fio does it: a file that some job reads is written before all jobs.
fn shared_layouts<'a>(spec: &'a FioFileSpec, numbers: &[u32], mount_point: &'a Path) -> Vec<Layout<'a>> {
    let files = spec.shared_files();
    let layout = |number: &u32| {
        let file = files[number];
        let mut users = spec.sections.iter().filter(|section| section.shared.contains(number));
        Layout {
            mount_point,
            prefix: shared_name(*number).into(),
            jobs: 1,
            files: 1,
            file_bytes: file.bytes,
            block_bytes: file.block_bytes,
            offset_bytes: 0,
            filled: file.is_read,
            reserved: users.all(reserves),
        }
    };
    numbers.iter().map(layout).collect()
}

/// No section can have this name.
fn shared_name(number: u32) -> String {
    format!("shared+{number}")
}

fn arguments(spec: &FioFileSpec, mount_point: &Path, seed: u64, logs: &[Option<BandwidthLog>]) -> Vec<String> {
    let mut arguments: Vec<String> = COMMON.map(str::to_owned).to_vec();
    arguments.insert(0, "--name=global".to_owned());
    arguments.push(format!("--directory={}", escaped(mount_point)));
    for ((number, section), log) in (0..).zip(&spec.sections).zip(logs) {
        arguments.push(format!("--name={}", section.name));
        // fio expects a signed number.
        arguments.push(format!("--randseed={}", (seed >> 1).wrapping_add(number) >> 1));
        arguments.push(match section.shared.is_empty() {
            true => format!("--filename_format={}", own_layout(section, mount_point).fio_format()),
            false => {
                let names = shared_layouts(spec, &section.shared, mount_point).into_iter();
                format!(
                    "--filename={}",
                    names.map(|layout| layout.name(0, 0)).collect::<Vec<_>>().join(":")
                )
            }
        });
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
) -> Result<(Outcome, Vec<Moved>), WorkloadError> {
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
    let mut by_time = Vec::new();
    if let Some(log) = log {
        let read = log.read()?;
        (tally.throughput, by_time) = (read.throughput, read.moved);
    }
    let test = &section.name;
    if section.is_of_whole_files() {
        // fio counts the bytes that the files would have.
        let files = (tally.reads.bytes + tally.writes.bytes) / section.each_file_bytes().max(1);
        let mut reporter = Reporter { host, test };
        reporter.sample(Metric::FilesPerSecond, files as f64 / duration.as_secs_f64());
    } else {
        figures::report_test(test, section.pattern, &tally, duration, written, host);
        if let Some([reads, writes]) = &section.directions {
            figures::report_directions([reads, writes], &tally, duration, written, host);
        }
        Reporter { host, test }.throughput_over_time(&tally.throughput, duration);
    }
    let mut reporter = Reporter { host, test };
    reporter.long_enough_guard(duration, FIO_CLOCK);
    let outcome = Outcome {
        tally,
        duration,
        jobs: Vec::new(),
        phases: Vec::new(),
    };
    Ok((outcome, by_time))
}

/// Reports what cannot be attributed to a section.
fn report_whole(cpu: CpuTime, moved: DeviceCounters, host: &mut dyn Host) {
    let mut reporter = Reporter { host, test: "fio" };
    reporter.cpu(cpu);
    reporter.device_work(moved);
    // Sections are not separate.
    reporter.host.judge(None);
}
