//! Converts a job's result to samples, latencies and guards.

use super::guards::{self, Judged};
use super::tally::{InPhase, Outcome, Tally};
use crate::cpu::CpuTime;
use crate::environment::{DeviceCounters, Host};
use crate::reporter::{FIO_CLOCK, OWN_CLOCK, Reporter};
use std::time::Duration;
use study::TestId;
use study::metric::{MEBIBYTE, Metric};
use study::workload::{IoEngine, IoPattern, IoSpec};

/// How written data reached the disks.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenOut {
    /// Writes return while their data is in memory, so the test ends with the sync after them.
    pub(super) is_buffered: bool,
    /// Duration of the sync after the test.
    pub(super) sync: Duration,
    /// Duration of the ramp, if the engine reports its writes.
    pub(super) ramp: Duration,
}

impl WrittenOut {
    pub(super) fn of(spec: &IoSpec, sync: Duration) -> Self {
        Self {
            is_buffered: spec.pattern.has_writes() && !spec.direct,
            sync,
            ramp: match spec.engine {
                IoEngine::Native => Duration::from_nanos(spec.ramp_ns),
                IoEngine::Fio => Duration::ZERO,
            },
        }
    }

    /// Time to add to that of the requests.
    fn wait(self) -> Duration {
        if self.is_buffered { self.sync } else { Duration::ZERO }
    }

    /// Rate of bytes or writes. The sync also writes data left in memory by the ramp, so buffered writes of the
    /// ramp count, together with its time.
    fn per_second(self, written: u64, of_ramp: u64, duration: Duration) -> f64 {
        if self.is_buffered {
            (written + of_ramp) as f64 / (self.ramp + duration + self.sync).as_secs_f64()
        } else {
            written as f64 / duration.as_secs_f64()
        }
    }
}

/// Reports the figures of the whole run and, if the study wants them, of each job.
pub(super) fn report(spec: &IoSpec, outcome: &Outcome, written: WrittenOut, host: &mut dyn Host) {
    let (pattern, duration) = (spec.pattern, outcome.duration);
    report_test(pattern.name(), pattern, &outcome.tally, duration, written, host);
    let throughput = &outcome.tally.throughput;
    let mut reporter = Reporter {
        host: &mut *host,
        test: pattern.name(),
    };
    reporter.throughput_over_time(throughput, duration);
    if pattern.is_mixed() {
        report_directions(["read", "write"], &outcome.tally, duration, written, host);
    }
    report_phases(&outcome.phases, written.is_buffered, host);
    if !spec.group_reporting {
        for (number, (tally, duration)) in outcome.jobs.iter().enumerate() {
            let test = TestId::job(pattern.name(), u32::try_from(number).unwrap_or(u32::MAX));
            report_test(&test, pattern, tally, *duration, written, host);
        }
    }
}

/// Reports the reads and the writes of a mixed test as tests with these names.
pub(super) fn report_directions(
    [of_reads, of_writes]: [&str; 2],
    tally: &Tally,
    duration: Duration,
    written: WrittenOut,
    host: &mut dyn Host,
) {
    let no_writes = WrittenOut {
        is_buffered: false,
        ..written
    };
    report_test(of_reads, IoPattern::Read, &reads(tally), duration, no_writes, host);
    report_test(of_writes, IoPattern::Write, &writes(tally), duration, written, host);
}

/// Reports what was moved in each phase of the array.
pub(super) fn report_phases(phases: &[InPhase], is_buffered: bool, host: &mut dyn Host) {
    for of_phase in phases {
        report_phase(of_phase, is_buffered, host);
    }
}

/// Reports the requests that ended in a phase of the array as a test with the phase's name, unless the phase was
/// too short for a rate. Buffered writes complete in memory.
fn report_phase(of_phase: &InPhase, is_buffered: bool, host: &mut dyn Host) {
    if of_phase.lasted < OWN_CLOCK * 100 {
        return;
    }
    let seconds = of_phase.lasted.as_secs_f64();
    let mut reporter = Reporter {
        host,
        test: of_phase.phase.name(),
    };
    let (reads, writes) = (&of_phase.transfers.reads, &of_phase.transfers.writes);
    let throughput = (reads.bytes + writes.bytes) as f64 / MEBIBYTE / seconds;
    if is_buffered {
        reporter.sample(Metric::ThroughputCached, throughput);
    } else {
        reporter.sample(Metric::Throughput, throughput);
        let operations = reads.operations() + writes.operations();
        // fio's requests of several sizes are not counted by time.
        if operations > 0 || throughput == 0.0 {
            reporter.sample(Metric::Iops, operations as f64 / seconds);
        }
    }
    match (reads.histogram.is_empty(), writes.histogram.is_empty()) {
        (false, true) => reporter.percentiles(&reads.histogram),
        (true, false) => reporter.percentiles(&writes.histogram),
        _ => {}
    }
    reporter.latency("read", &reads.histogram);
    reporter.latency("write", &writes.histogram);
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
        ramp: tally.ramp,
        ..Tally::new()
    }
}

/// Reports the figures of one test. Reads end with the last of them, buffered writes when they are on the disks:
/// the throughput of a mixed test is the sum of both directions.
pub(super) fn report_test(
    test: &str,
    pattern: IoPattern,
    tally: &Tally,
    duration: Duration,
    written: WrittenOut,
    host: &mut dyn Host,
) {
    if duration.is_zero() && written.wait().is_zero() {
        return;
    }
    let mut reporter = Reporter { host, test };
    // Some jobs do not read: 0 in no time is 0.
    let of_reads = |count: u64| {
        if count == 0 {
            0.0
        } else {
            count as f64 / duration.as_secs_f64()
        }
    };
    let bytes =
        of_reads(tally.reads.bytes) + written.per_second(tally.writes.bytes, tally.ramp.written_bytes, duration);
    let operations = of_reads(tally.reads.operations())
        + written.per_second(tally.writes.operations(), tally.ramp.writes, duration);
    reporter.sample(Metric::Throughput, bytes / MEBIBYTE);
    reporter.sample(Metric::Iops, operations);
    reporter.seconds(Metric::Duration, duration + written.wait());
    if written.is_buffered && !duration.is_zero() {
        let seconds = duration.as_secs_f64();
        let cached = (tally.reads.bytes + tally.writes.bytes) as f64 / MEBIBYTE / seconds;
        reporter.sample(Metric::ThroughputCached, cached);
    }
    if !pattern.is_mixed() {
        let stream = if pattern.has_reads() {
            &tally.reads
        } else {
            &tally.writes
        };
        reporter.percentiles(&stream.histogram);
    }
    for (operation, stream) in [
        ("read", &tally.reads),
        ("write", &tally.writes),
        ("fsync", &tally.fsyncs),
    ] {
        reporter.latency(operation, &stream.histogram);
    }
}

/// [`Metric::RampMoved`] in bytes.
fn ramp_bytes(spec: &IoSpec, outcome: &Outcome) -> f64 {
    let tally = &outcome.tally;
    match spec.engine {
        IoEngine::Native => (tally.ramp.read_bytes + tally.ramp.written_bytes) as f64,
        IoEngine::Fio if outcome.duration.is_zero() => 0.0,
        IoEngine::Fio => {
            let rate = (tally.reads.bytes + tally.writes.bytes) as f64 / outcome.duration.as_secs_f64();
            rate * Duration::from_nanos(spec.ramp_ns).as_secs_f64()
        }
    }
}

/// Reports the remaining figures: sync, CPU, disks.
pub(super) fn report_around(
    spec: &IoSpec,
    outcome: &Outcome,
    written: WrittenOut,
    cpu: CpuTime,
    moved: DeviceCounters,
    host: &mut dyn Host,
) {
    let mut reporter = Reporter {
        host,
        test: spec.pattern.name(),
    };
    if spec.pattern.has_writes() {
        reporter.seconds(Metric::SyncAfter, written.sync);
    }
    reporter.cpu(cpu);
    reporter.device_work(moved);
    if spec.ramp_ns > 0 {
        reporter.sample(Metric::RampMoved, ramp_bytes(spec, outcome) / MEBIBYTE);
    }
    // Its directions and jobs are tests as well.
    reporter.host.judge(None);
    let clock = match spec.engine {
        IoEngine::Native => OWN_CLOCK,
        IoEngine::Fio => FIO_CLOCK,
    };
    reporter.long_enough_guard(outcome.duration + written.wait(), clock);
    let test = spec.pattern.name();
    guards::report(&[Judged { test, spec, outcome }], moved, host);
}
