//! IOzone's 13 tests, by IOzone 3 itself or by raidlab's own engine with the same patterns.
//!
//! **Files.** One for each process, `MOUNT/iozone.N`. Tests run in IOzone's groups and order; a file is written,
//! unmeasured, if a group needs it and writing is not among the tests. **Before each group** all dirty data is written
//! back and the caches are dropped, so *read* is cold and *reread* is warm, as in IOzone.
//!
//! **Figures.** raidlab's engine: all bytes divided by the time from the common start to the end of the last process.
//! IOzone with several processes: the sum over its children, which it prints first; three of its tests (record rewrite,
//! frewrite, freread) run with one process only.

mod native;
pub(crate) mod output;

use crate::cpu::CpuTime;
use crate::environment::{DeviceCounters, Host};
use crate::error::excerpt;
use crate::reporter::Reporter;
use crate::{Engine, Target, WorkloadError};
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::metric::Metric;
use study::workload::{IozoneEngine, IozoneSpec, IozoneTest};
use tools::{Invocation, Tool};

const TIME_LIMIT: Duration = Duration::from_secs(24 * 3600);

impl Engine for IozoneSpec {
    fn tool(&self) -> Option<Tool> {
        (self.engine == IozoneEngine::Iozone).then_some(Tool::Iozone)
    }

    fn run(&self, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
        run(self, target, seed, host)
    }
}

fn run(spec: &IozoneSpec, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
    let mount_point = target
        .mount_point
        .ok_or_else(|| WorkloadError::Spec("IOzone needs a filesystem, and this stack has none".to_owned()))?;
    if spec.record_bytes == 0 || spec.file_bytes < spec.record_bytes || spec.processes == 0 {
        let what = "IOzone needs a process, and a file of at least one record";
        return Err(WorkloadError::Spec(what.to_owned()));
    }
    match spec.engine {
        IozoneEngine::Native => native::run(spec, mount_point, seed, host),
        IozoneEngine::Iozone => run_iozone(spec, mount_point, host),
    }
}

fn file(mount_point: &Path, process: u32) -> PathBuf {
    mount_point.join(format!("iozone.{process}"))
}

/// The groups with wanted tests, each with its tests.
fn groups(spec: &IozoneSpec) -> impl Iterator<Item = (u8, Vec<IozoneTest>)> {
    (0..8).filter_map(|group| {
        let tests: Vec<IozoneTest> = spec
            .tests
            .iter()
            .copied()
            .filter(|test| test.group() == group)
            .collect();
        (!tests.is_empty()).then_some((group, tests))
    })
}

fn quiesce(host: &mut dyn Host) -> Result<(), WorkloadError> {
    host.quiesce_and_drop_caches()
        .map_err(WorkloadError::host("quiesce and drop caches"))
}

fn counters(host: &mut dyn Host) -> Result<DeviceCounters, WorkloadError> {
    host.device_counters()
        .map_err(WorkloadError::host("read the disks' counters"))
}

fn run_iozone(spec: &IozoneSpec, mount_point: &Path, host: &mut dyn Host) -> Result<(), WorkloadError> {
    let writes_first = spec.tests.iter().any(|test| test.group() == 0);
    if !writes_first {
        host.step("prepare files");
        call(spec, mount_point, 0, host)?;
    }
    let mut done = 0;
    for (group, tests) in groups(spec) {
        if spec.processes > 1 && tests == [IozoneTest::RecordRewrite] {
            continue;
        }
        // IOzone does not report how far it is within a group.
        host.next_test(done, spec.tests.len(), 0);
        done += tests.len();
        quiesce(host)?;
        let before = counters(host)?;
        host.step(tests[0].name());
        let cpu_before = CpuTime::now();
        let found = call(spec, mount_point, group, host)?;
        let cpu = CpuTime::now().since(cpu_before);
        let moved = counters(host)? - before;
        for test in &tests {
            if let Some((_, kib_per_second)) = found.iter().find(|(found, _)| found == test) {
                report(*test, *kib_per_second, host);
            }
        }
        let mut reporter = Reporter {
            host,
            test: tests[0].name(),
        };
        reporter.cpu(cpu);
        reporter.device_work(moved);
        reporter.judge_stack();
        let all = spec.file_bytes * u64::from(spec.processes);
        if tests[0].reads() {
            reporter.cold_cache_guard(all, moved);
        } else if spec.include_flush && group != 4 {
            reporter.written_out_guard(all, moved);
        }
    }
    host.tests_are_over();
    Ok(())
}

/// Reports a figure printed by IOzone, also for imported results.
pub(crate) fn report(test: IozoneTest, kib_per_second: f64, host: &mut dyn Host) {
    Reporter {
        host,
        test: test.name(),
    }
    .sample(Metric::Throughput, kib_per_second / 1024.0);
}

fn call(
    spec: &IozoneSpec,
    mount_point: &Path,
    group: u8,
    host: &mut dyn Host,
) -> Result<Vec<(IozoneTest, f64)>, WorkloadError> {
    let mut invocation = Invocation::new(Tool::Iozone)
        .args(["-s", &(spec.file_bytes >> 10).to_string()])
        .args(["-r", &(spec.record_bytes >> 10).to_string()])
        .args(["-i", &group.to_string()])
        .args(["-j", &spec.stride_records.to_string()])
        // Keep the files for the next group.
        .arg("-w")
        .limit(TIME_LIMIT)
        .folder(mount_point);
    let flags = [("-e", spec.include_flush), ("-I", spec.direct), ("-o", spec.sync)];
    for (flag, _) in flags.into_iter().filter(|(_, wanted)| *wanted) {
        invocation = invocation.arg(flag);
    }
    invocation = if spec.processes > 1 {
        let files = (0..spec.processes).map(|process| file(mount_point, process));
        invocation
            .args(["-t", &spec.processes.to_string()])
            .arg("-F")
            .args(files)
    } else {
        invocation.arg("-f").arg(file(mount_point, 0))
    };
    let call = host.run_tool(&invocation)?;
    output::parse(&call.stdout).map_err(|what| WorkloadError::Output {
        program: "IOzone",
        what,
        printed: excerpt(&format!("{}\n{}", call.stdout, call.stderr)),
    })
}
