//! Latency of each single operation.

use crate::throughput_series::ThroughputSeries;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use std::sync::Arc;
use std::time::{Duration, Instant};
use study::event::Latency;
use study::progress::WorkProgress;

/// Operations whose latency is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Open,
    Read,
    Write,
    Close,
    Unlink,
    Rename,
    Mkdir,
    OpenDir,
    Getdents,
    Rmdir,
    Fsync,
    Syncfs,
}

impl Operation {
    const ALL: [Self; 13] = [
        Self::Create,
        Self::Open,
        Self::Read,
        Self::Write,
        Self::Close,
        Self::Unlink,
        Self::Rename,
        Self::Mkdir,
        Self::OpenDir,
        Self::Getdents,
        Self::Rmdir,
        Self::Fsync,
        Self::Syncfs,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Open => "open",
            Self::Read => "read",
            Self::Write => "write",
            Self::Close => "close",
            Self::Unlink => "unlink",
            Self::Rename => "rename",
            Self::Mkdir => "mkdir",
            Self::OpenDir => "opendir",
            Self::Getdents => "getdents",
            Self::Rmdir => "rmdir",
            Self::Fsync => "fsync",
            Self::Syncfs => "syncfs",
        }
    }
}

/// What counts as a unit of a test's progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DoneBy {
    /// A byte that was moved.
    Byte,
    /// An operation of this kind.
    Each(Operation),
}

pub(crate) type LatencyHistogram = Histogram<u64>;

/// An empty histogram: 1 ns to an hour, three significant digits. All have the same bounds, so any two can be merged.
pub(crate) fn histogram() -> LatencyHistogram {
    Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("bounds and digits are valid")
}

/// A clock that is read once between consecutive operations, with a histogram for each operation and the bytes
/// moved over time.
pub(crate) struct Stopwatch {
    started: Instant,
    last: Instant,
    histograms: [Option<LatencyHistogram>; Operation::ALL.len()],
    throughput: ThroughputSeries,
    /// Where progress is reported while acts may wait for it.
    progress: Option<(Arc<WorkProgress>, DoneBy)>,
}

impl Stopwatch {
    /// Starts now.
    pub(crate) fn start() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            last: now,
            histograms: Default::default(),
            throughput: ThroughputSeries::new(),
            progress: None,
        }
    }

    /// The same, which also reports progress if acts may wait for it.
    pub(crate) fn reporting(progress: Option<Arc<WorkProgress>>, by: DoneBy) -> Self {
        Self {
            progress: progress.map(|progress| (progress, by)),
            ..Self::start()
        }
    }

    /// The time counts from now on.
    pub(crate) fn restart(&mut self) {
        self.started = Instant::now();
        self.last = self.started;
    }

    fn report(&self, by: DoneBy, units: u64) {
        if let Some((progress, wanted)) = &self.progress
            && *wanted == by
        {
            progress.add(units);
        }
    }

    /// An operation ended now; it began when the previous one ended.
    pub(crate) fn lap(&mut self, operation: Operation) -> Instant {
        let before = self.last;
        self.last = Instant::now();
        self.record(operation, self.last - before);
        self.report(DoneBy::Each(operation), 1);
        self.last
    }

    /// Records that the latest operation transferred this many bytes.
    pub(crate) fn moved(&mut self, bytes: u64) {
        self.moved_at(self.last, bytes);
    }

    /// The same for an operation that was timed elsewhere.
    pub(crate) fn moved_at(&mut self, ended: Instant, bytes: u64) {
        self.throughput
            .add(ended.saturating_duration_since(self.started), bytes);
        self.report(DoneBy::Byte, bytes);
    }

    pub(crate) const fn throughput(&self) -> &ThroughputSeries {
        &self.throughput
    }

    /// Records an operation that was timed elsewhere.
    pub(crate) fn record(&mut self, operation: Operation, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.histograms[operation as usize]
            .get_or_insert_with(histogram)
            .saturating_record(nanoseconds);
    }

    /// Adds another stopwatch's operations.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (own, others) in self.histograms.iter_mut().zip(&other.histograms) {
            if let Some(others) = others {
                own.get_or_insert_with(histogram)
                    .add(others)
                    .expect("all histograms have the same bounds");
            }
        }
        self.throughput.merge(&other.throughput);
    }

    /// From the start to the end of the latest operation.
    pub(crate) fn elapsed(&self) -> Duration {
        self.last - self.started
    }

    /// The recorded latencies of each operation, as events.
    pub(crate) fn latencies(&self, test: &str) -> Vec<Latency> {
        Operation::ALL
            .iter()
            .filter_map(|&operation| {
                let histogram = self.histograms[operation as usize].as_ref()?;
                Some(latency(test, operation.name(), histogram))
            })
            .collect()
    }
}

/// A histogram as an event.
pub(crate) fn latency(test: &str, operation: &str, histogram: &LatencyHistogram) -> Latency {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .expect("a vector takes any number of bytes");
    Latency {
        test: test.into(),
        operation: operation.to_owned(),
        count: histogram.len(),
        min_ns: histogram.min(),
        p50_ns: histogram.value_at_quantile(0.5),
        p90_ns: histogram.value_at_quantile(0.9),
        p99_ns: histogram.value_at_quantile(0.99),
        p999_ns: histogram.value_at_quantile(0.999),
        max_ns: histogram.max(),
        histogram_base64: STANDARD.encode(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

    #[test]
    fn a_histogram_comes_back_from_its_base64() {
        let mut watch = Stopwatch::start();
        for microseconds in 1..=1000 {
            watch.record(Operation::Read, Duration::from_micros(microseconds));
        }
        let [latency] = &watch.latencies("read")[..] else {
            panic!("one operation was recorded")
        };
        assert_eq!((latency.operation.as_str(), latency.count), ("read", 1000));
        assert!(latency.p50_ns.abs_diff(500_000) < 1000 && latency.p99_ns.abs_diff(990_000) < 1000);
        let bytes = STANDARD.decode(&latency.histogram_base64).expect("base64");
        let back: LatencyHistogram = Deserializer::new()
            .deserialize(&mut &bytes[..])
            .expect("a V2 histogram");
        assert_eq!((back.len(), back.max()), (latency.count, latency.max_ns));
        let mut sum = histogram();
        sum.add(&back).expect("bounds are equal");
        assert_eq!(sum.len(), 1000);
    }
}
