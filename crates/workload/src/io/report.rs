//! What a job did → samples, latencies, guards.

use super::tally::{Outcome, Stream, Tally};
use crate::cpu::CpuTime;
use crate::host::{DeviceCounters, Host};
use crate::report::Reporter;
use std::time::Duration;
use study::metric::Metric;
use study::workload::{BufferFill, IoPattern, IoSpec};

/// The figures of the job itself; of each job besides, if the study wants them.
pub(super) fn report(spec: &IoSpec, outcome: &Outcome, host: &mut dyn Host) {
    report_test(
        spec.pattern.name(),
        spec.pattern,
        &outcome.tally,
        outcome.duration,
        host,
    );
    if spec.pattern.is_mixed() {
        // The halves by themselves.
        report_test("read", IoPattern::Read, &reads(&outcome.tally), outcome.duration, host);
        report_test(
            "write",
            IoPattern::Write,
            &writes(&outcome.tally),
            outcome.duration,
            host,
        );
    }
    if !spec.group_reporting {
        for (number, (tally, duration)) in outcome.jobs.iter().enumerate() {
            let test = format!("{} job {number}", spec.pattern.name());
            report_test(&test, spec.pattern, tally, *duration, host);
        }
    }
}

fn reads(tally: &Tally) -> Tally {
    Tally {
        reads: tally.reads.clone(),
        ..Tally::new()
    }
}

fn writes(tally: &Tally) -> Tally {
    Tally {
        writes: tally.writes.clone(),
        ..Tally::new()
    }
}

/// The figures of one test.
pub(super) fn report_test(test: &str, pattern: IoPattern, tally: &Tally, duration: Duration, host: &mut dyn Host) {
    if duration.is_zero() {
        return;
    }
    let mut reporter = Reporter { host, test };
    let bytes = tally.reads.bytes + tally.writes.bytes;
    let operations = tally.reads.operations() + tally.writes.operations();
    reporter.throughput(bytes, duration);
    reporter.sample(Metric::Iops, operations as f64 / duration.as_secs_f64());
    reporter.seconds(Metric::Duration, duration);
    if !pattern.is_mixed() {
        let stream = if pattern.has_reads() {
            &tally.reads
        } else {
            &tally.writes
        };
        report_percentiles(&mut reporter, stream);
    }
    for (operation, stream) in [
        ("read", &tally.reads),
        ("write", &tally.writes),
        ("fsync", &tally.fsyncs),
    ] {
        reporter.latency(operation, &stream.histogram);
    }
}

fn report_percentiles(reporter: &mut Reporter<'_>, stream: &Stream) {
    if stream.histogram.is_empty() {
        return;
    }
    for (metric, quantile) in [
        (Metric::LatencyP50, 0.5),
        (Metric::LatencyP99, 0.99),
        (Metric::LatencyP999, 0.999),
    ] {
        let milliseconds = stream.histogram.value_at_quantile(quantile) as f64 / 1e6;
        reporter.sample(metric, milliseconds);
    }
}

/// What was seen around the job: what was left to write out, the processor, the disks.
pub(super) fn report_around(
    spec: &IoSpec,
    outcome: &Outcome,
    sync_after: Duration,
    cpu: CpuTime,
    moved: DeviceCounters,
    host: &mut dyn Host,
) {
    let mut reporter = Reporter {
        host,
        test: spec.pattern.name(),
    };
    if spec.pattern.has_writes() {
        reporter.seconds(Metric::SyncAfter, sync_after);
    }
    reporter.cpu(cpu);
    reporter.device_work(moved);
    report_guards(&mut reporter, spec, outcome, moved);
}

fn report_guards(reporter: &mut Reporter<'_>, spec: &IoSpec, outcome: &Outcome, moved: DeviceCounters) {
    // What is gone through a second time may come from memory, or be overwritten there.
    let stride = 1 + spec.skip_bytes.max(0).unsigned_abs() / spec.block_bytes;
    let once = u64::from(spec.jobs) * spec.size_bytes / stride;
    // What compresses to nothing need not be on any disk.
    let percent = match (reporter.host.compresses(), &spec.buffer.fill) {
        (false, _) => 100,
        (true, BufferFill::Random) => 100 - u64::from(spec.buffer.compress_percent.min(100)),
        (true, BufferFill::Zero | BufferFill::Pattern(_)) => 0,
    };
    let through = |bytes: u64| if spec.direct { bytes } else { bytes.min(once) } * percent / 100;
    // Nor can anyone tell how much is gone through twice.
    let repeats = [
        "random_distribution",
        "norandommap",
        "percentage_random",
        "loops",
        "io_size",
    ];
    if !spec.direct
        && spec
            .fio_options
            .iter()
            .any(|(name, _)| repeats.contains(&name.as_str()))
    {
        return;
    }
    let (reads, writes) = (outcome.tally.reads.bytes, outcome.tally.writes.bytes);
    let pattern = spec.pattern;
    if pattern.has_reads() && (spec.direct || !pattern.is_mixed()) {
        reporter.cold_cache_guard(through(reads), moved);
    }
    if pattern.has_writes() && (spec.direct || spec.end_fsync) {
        reporter.written_out_guard(through(writes), moved);
    }
}
