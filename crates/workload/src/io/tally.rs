//! Operations and their latencies, in the same form for raidlab's engine and for fio.

use crate::io::order::Step;
use crate::latency::{LatencyHistogram, histogram};
use std::time::Duration;

/// Operations of one kind.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) bytes: u64,
    pub(super) histogram: LatencyHistogram,
    /// Number of operations without known latencies.
    pub(super) uncounted: u64,
}

impl Stream {
    pub(super) fn new() -> Self {
        Self {
            bytes: 0,
            histogram: histogram(),
            uncounted: 0,
        }
    }

    pub(super) fn operations(&self) -> u64 {
        self.histogram.len() + self.uncounted
    }

    pub(super) fn add(&mut self, bytes: u64, duration: Duration) {
        self.bytes += bytes;
        self.histogram
            .saturating_record(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.uncounted += other.uncounted;
        self.histogram
            .add(&other.histogram)
            .expect("all histograms have the same bounds");
    }
}

#[derive(Clone, Debug)]
pub(super) struct Tally {
    pub(super) reads: Stream,
    pub(super) writes: Stream,
    pub(super) fsyncs: Stream,
    /// Writes before counting began (`ramp_time`). fio does not report them.
    pub(super) ramp: RampWrites,
}

/// Writes that ended before counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RampWrites {
    pub(super) bytes: u64,
    pub(super) operations: u64,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            reads: Stream::new(),
            writes: Stream::new(),
            fsyncs: Stream::new(),
            ramp: RampWrites::default(),
        }
    }

    /// Counts a completed step.
    pub(super) fn add(&mut self, step: Step, block_bytes: u64, duration: Duration) {
        match step {
            Step::Read { .. } => self.reads.add(block_bytes, duration),
            Step::Write { .. } => self.writes.add(block_bytes, duration),
            Step::Fsync | Step::Fdatasync => self.fsyncs.add(0, duration),
        }
    }

    /// Counts a step that ended before counting began.
    pub(super) fn add_to_ramp(&mut self, step: Step, block_bytes: u64) {
        if matches!(step, Step::Write { .. }) {
            self.ramp.bytes += block_bytes;
            self.ramp.operations += 1;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.ramp.bytes += other.ramp.bytes;
        self.ramp.operations += other.ramp.operations;
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
        self.fsyncs.merge(&other.fsyncs);
    }
}

/// Result of a run.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) tally: Tally,
    /// From the common start to the end of the last job, including its final fsync, if any.
    pub(super) duration: Duration,
    /// Result of each job, in order.
    pub(super) jobs: Vec<(Tally, Duration)>,
}
