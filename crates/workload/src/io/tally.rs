//! Operations and their latencies, in the same form for raidlab's engine and for fio.

use crate::io::block_order::Step;
use crate::latency::{LatencyHistogram, histogram};
use crate::throughput_series::ThroughputSeries;
use std::time::{Duration, Instant};
use study::phase::{Phase, Phases};

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
    /// Operations that ended before counting began (`ramp_time`). Unknown for fio.
    pub(super) ramp: Ramp,
    /// The same reads and writes by the phase in which they ended, if the array has phases.
    pub(super) by_phase: Vec<(Phase, Transfers)>,
    /// The same reads and writes over time. Empty for fio.
    pub(super) throughput: ThroughputSeries,
}

/// A step that was completed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completed {
    pub(super) step: Step,
    pub(super) bytes: u64,
    pub(super) took: Duration,
    /// Completion time since the start of the measured time.
    pub(super) at: Duration,
    /// The phase of the array in which it ended, if the array has phases.
    pub(super) phase: Option<Phase>,
}

/// Reads and writes.
#[derive(Clone, Debug)]
pub(super) struct Transfers {
    pub(super) reads: Stream,
    pub(super) writes: Stream,
}

impl Transfers {
    fn none() -> Self {
        Self {
            reads: Stream::new(),
            writes: Stream::new(),
        }
    }
}

/// Reads and writes that ended before counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ramp {
    pub(super) read_bytes: u64,
    pub(super) reads: u64,
    pub(super) written_bytes: u64,
    pub(super) writes: u64,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            reads: Stream::new(),
            writes: Stream::new(),
            fsyncs: Stream::new(),
            ramp: Ramp::default(),
            by_phase: Vec::new(),
            throughput: ThroughputSeries::new(),
        }
    }

    pub(super) fn add(&mut self, completed: Completed) {
        let Completed { step, bytes, took, .. } = completed;
        if let Some(phase) = completed.phase {
            let transfers = self.in_phase(phase);
            match step {
                Step::Read { .. } => transfers.reads.add(bytes, took),
                Step::Write { .. } => transfers.writes.add(bytes, took),
                Step::Fsync | Step::Fdatasync => {}
            }
        }
        match step {
            Step::Read { .. } => self.reads.add(bytes, took),
            Step::Write { .. } => self.writes.add(bytes, took),
            Step::Fsync | Step::Fdatasync => {
                self.fsyncs.add(0, took);
                return;
            }
        }
        self.throughput.add(completed.at, bytes);
    }

    /// Counts a step that ended before counting began.
    pub(super) fn add_to_ramp(&mut self, step: Step, block_bytes: u64) {
        match step {
            Step::Read { .. } => {
                self.ramp.read_bytes += block_bytes;
                self.ramp.reads += 1;
            }
            Step::Write { .. } => {
                self.ramp.written_bytes += block_bytes;
                self.ramp.writes += 1;
            }
            Step::Fsync | Step::Fdatasync => {}
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.ramp.read_bytes += other.ramp.read_bytes;
        self.ramp.reads += other.ramp.reads;
        self.ramp.written_bytes += other.ramp.written_bytes;
        self.ramp.writes += other.ramp.writes;
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
        self.fsyncs.merge(&other.fsyncs);
        self.throughput.merge(&other.throughput);
        for (phase, theirs) in &other.by_phase {
            let ours = self.in_phase(*phase);
            ours.reads.merge(&theirs.reads);
            ours.writes.merge(&theirs.writes);
        }
    }

    fn in_phase(&mut self, phase: Phase) -> &mut Transfers {
        let place = self.by_phase.iter().position(|(known, _)| *known == phase);
        let place = place.unwrap_or_else(|| {
            self.by_phase.push((phase, Transfers::none()));
            self.by_phase.len() - 1
        });
        &mut self.by_phase[place].1
    }

    /// Duration of each phase within the measured time, in the order of `Phase::ALL`, with the operations that
    /// ended in it.
    pub(super) fn phases(&self, phases: &Phases, began: Instant, ended: Instant) -> Vec<InPhase> {
        let of_phase = |phase: Phase| {
            let ended_in_it = self.by_phase.iter().find(|(known, _)| *known == phase);
            InPhase {
                phase,
                lasted: phases.lasted(phase, began, ended),
                transfers: ended_in_it.map_or_else(Transfers::none, |(_, transfers)| transfers.clone()),
            }
        };
        let all = Phase::ALL.into_iter().map(of_phase);
        all.filter(|of_phase| !of_phase.lasted.is_zero()).collect()
    }
}

/// Operations that ended in a phase of the array.
#[derive(Clone, Debug)]
pub(super) struct InPhase {
    pub(super) phase: Phase,
    /// Its duration within the measured time.
    pub(super) lasted: Duration,
    pub(super) transfers: Transfers,
}

/// Result of a run.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) tally: Tally,
    /// From the common start to the end of the last job, including its final fsync, if any.
    pub(super) duration: Duration,
    /// Result of each job, in order.
    pub(super) jobs: Vec<(Tally, Duration)>,
    /// By phase of the array; empty if it has none.
    pub(super) phases: Vec<InPhase>,
}
