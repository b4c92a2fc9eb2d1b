//! Bonnie++: its columns, each with CPU time and maximum latency, and its file tests.
//!
//! Files are in `MOUNT/bonnie`. Bonnie++ runs all its tests in one process, so caches are dropped only before it:
//! its files must be larger than memory, and `cold-cache` shows whether its reads came from the disks. A test that
//! took less than half a second has no figure (`+++++`); the guard `long-enough` fails.
//!
//! Bonnie++'s per-character tests make one system call per character. In a lab guest without a CPU model they are
//! as fast as block tests and say nothing about a real machine, but they cost wall time.

pub(crate) mod csv;
pub(crate) mod table;

use crate::cpu::CpuTime;
use crate::environment::Host;
use crate::error::excerpt;
use crate::reporter::Reporter;
use crate::{Engine, Target, WorkloadError};
use csv::{Column, Line};
use rustix::fs::{Mode, mkdir};
use rustix::io::Errno;
use std::time::Duration;
use study::event::{Event, Guard};
use study::metric::Metric;
use study::workload::BonnieSpec;
use tools::{Invocation, Tool};

const TIME_LIMIT: Duration = Duration::from_secs(24 * 3600);
const MIB: u64 = 1 << 20;

impl Engine for BonnieSpec {
    fn tool(&self) -> Option<Tool> {
        Some(Tool::Bonnie)
    }

    fn run(&self, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
        run(self, target, seed, host)
    }
}

fn run(spec: &BonnieSpec, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
    let mount_point = target
        .mount_point
        .ok_or_else(|| WorkloadError::Spec("Bonnie++ needs a filesystem, and this stack has none".to_owned()))?;
    let folder = mount_point.join("bonnie");
    match mkdir(&folder, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(WorkloadError::at("make the directory", &folder)(error)),
    }
    host.quiesce_and_drop_caches()
        .map_err(WorkloadError::host("quiesce and drop caches"))?;
    let counters = |host: &mut dyn Host| {
        host.device_counters()
            .map_err(WorkloadError::host("read the disks' counters"))
    };
    let before = counters(host)?;
    host.step("bonnie++");
    let cpu_before = CpuTime::now();
    let invocation = Invocation::new(Tool::Bonnie)
        .arg("-d")
        .arg(&folder)
        .args(arguments(spec, seed))
        .limit(TIME_LIMIT)
        .folder(&folder);
    let call = host.run_tool(&invocation)?;
    let cpu = CpuTime::now().since(cpu_before);
    let moved = counters(host)? - before;
    let line = csv::last_line(&call.stdout).map_err(|what| WorkloadError::Output {
        program: "Bonnie++",
        what,
        printed: excerpt(&format!("{}\n{}", call.stdout, call.stderr)),
    })?;
    let wanted = study::workload::Work::Bonnie(spec.clone());
    report(&line, &wanted.tests(), host);
    let mut reporter = Reporter { host, test: "bonnie" };
    reporter.cpu(cpu);
    reporter.device_work(moved);
    // Its tests are not separate.
    reporter.host.judge(None);
    if spec.size_bytes > 0 {
        let all = spec.size_bytes * u64::from(spec.volumes) * u64::from(spec.processes);
        for test in ["rewrite", "read"] {
            // Rewriting reads everything once, as the read test does.
            Reporter {
                host: &mut *reporter.host,
                test,
            }
            .cold_cache_guard(2 * all, moved);
        }
        // It writes everything twice with the same bytes.
        let needed = reporter.host.member_bytes_min(2 * all);
        for test in ["write", "rewrite", "read"] {
            Reporter {
                host: &mut *reporter.host,
                test,
            }
            .compressible_guard("written to", moved.written_bytes(), needed);
        }
    }
    Ok(())
}

fn arguments(spec: &BonnieSpec, seed: u64) -> Vec<String> {
    let all_mib = spec.size_bytes * u64::from(spec.volumes) / MIB;
    let mut arguments = vec![
        "-q".to_owned(),
        "-s".to_owned(),
        match all_mib {
            0 => "0".to_owned(),
            _ => format!("{all_mib}:{}:{}:{}", spec.chunk_bytes, spec.seeks, spec.seekers),
        },
        "-n".to_owned(),
        match spec.files / 1024 {
            0 => "0".to_owned(),
            units => format!(
                "{units}:{}:{}:{}",
                spec.file_max_bytes, spec.file_min_bytes, spec.directories
            ),
        },
        // The guard reports whether the files are larger than memory.
        "-r".to_owned(),
        "0".to_owned(),
        "-u".to_owned(),
        "root".to_owned(),
        "-m".to_owned(),
        "raidlab".to_owned(),
        "-z".to_owned(),
        (seed % (1 << 31)).to_string(),
        "-c".to_owned(),
        spec.processes.to_string(),
    ];
    arguments.push(match spec.per_char {
        true => format!("-f{}", (spec.char_bytes / MIB).max(1)),
        false => "-f".to_owned(),
    });
    if spec.direct {
        arguments.push("-D".to_owned());
    }
    if spec.no_buffering {
        arguments.push("-b".to_owned());
    }
    arguments
}

/// Reports a line's figures for the wanted tests; also used for imported lines.
pub(crate) fn report(line: &Line, wanted: &[&str], host: &mut dyn Host) {
    for &test in wanted {
        match line.column(test) {
            Column::Absent => {}
            Column::TooShort => host.event(Event::Guard(Guard {
                name: "long-enough".to_owned(),
                test: Some(test.into()),
                passed: false,
                detail: "Bonnie++ has no figure for tests shorter than half a second (`+++++`): use more bytes, \
                         seeks or files"
                    .to_owned(),
            })),
            Column::Figure { rate, cpu_percent } => {
                let mut reporter = Reporter { host, test };
                match test {
                    "seeks" => reporter.sample(Metric::Seeks, rate),
                    "putc" | "write" | "rewrite" | "getc" | "read" => {
                        reporter.sample(Metric::Throughput, rate / 1024.0);
                    }
                    _ => reporter.sample(Metric::FilesPerSecond, rate),
                }
                if let Some(cpu_percent) = cpu_percent {
                    reporter.sample(Metric::Cpu, cpu_percent);
                }
            }
        }
        if let Some(longest) = line.longest_wait(test) {
            Reporter { host, test }.sample(Metric::LatencyMax, longest.as_secs_f64() * 1e3);
        }
    }
}
