//! Throughput of a job over time.

use std::time::Duration;
use study::metric::MEBIBYTE;

/// Maximum number of intervals; when they are used up, pairs are merged.
pub(crate) const INTERVALS_MAX: usize = 32;
/// Initial length of an interval.
const INTERVAL_NS: u64 = 1_000_000;

/// Bytes in equal intervals from the start of the measured time. It allocates nothing: in the lab, the heap of this
/// process is part of the memory that is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThroughputSeries {
    interval_ns: u64,
    /// Number of intervals that have begun.
    len: usize,
    bytes: [u64; INTERVALS_MAX],
}

impl ThroughputSeries {
    pub(crate) const fn new() -> Self {
        Self {
            interval_ns: INTERVAL_NS,
            len: 0,
            bytes: [0; INTERVALS_MAX],
        }
    }

    /// Adds bytes that were completed at this time after the start.
    pub(crate) fn add(&mut self, at: Duration, bytes: u64) {
        let at_ns = nanoseconds(at);
        while at_ns / self.interval_ns >= INTERVALS_MAX as u64 {
            self.double();
        }
        let index = (at_ns / self.interval_ns) as usize;
        self.len = self.len.max(index + 1);
        self.bytes[index] += bytes;
    }

    fn double(&mut self) {
        self.interval_ns *= 2;
        for index in 0..INTERVALS_MAX {
            let pair = self.bytes.get(2 * index..2 * index + 2);
            self.bytes[index] = pair.map_or(0, |pair| pair[0] + pair[1]);
        }
        self.len = self.len.div_ceil(2);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        while self.interval_ns < other.interval_ns {
            self.double();
        }
        while other.interval_ns < self.interval_ns {
            other.double();
        }
        self.len = self.len.max(other.len);
        for (ours, theirs) in self.bytes.iter_mut().zip(&other.bytes) {
            *ours += theirs;
        }
    }

    /// Bytes in each interval within the measured time; empty if unknown.
    pub(crate) fn within(&self, measured: Duration) -> Vec<u64> {
        if self.len == 0 {
            return Vec::new();
        }
        let whole = nanoseconds(measured) / self.interval_ns;
        self.bytes[..(whole as usize).min(INTERVALS_MAX)].to_vec()
    }

    pub(crate) const fn interval_ns(&self) -> u64 {
        self.interval_ns
    }

    /// Throughput of each interval in MiB/s.
    pub(crate) fn rates(&self, measured: Duration) -> Vec<f64> {
        let seconds = self.interval_ns as f64 / 1e9;
        let bytes = self.within(measured).into_iter();
        bytes.map(|bytes| bytes as f64 / MEBIBYTE / seconds).collect()
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_grow_and_merge_without_losing_bytes() {
        let (mut short, mut long) = (ThroughputSeries::new(), ThroughputSeries::new());
        (0..32).for_each(|ms| short.add(Duration::from_millis(ms), 1));
        (0..1000).for_each(|ms| long.add(Duration::from_millis(ms), 1));
        assert_eq!((short.interval_ns, long.interval_ns), (1_000_000, 32_000_000));
        short.merge(&long);
        assert_eq!(short.interval_ns, 32_000_000);
        assert_eq!(short.bytes.iter().sum::<u64>(), 1032);
        assert_eq!(&short.bytes[..3], &[64, 32, 32]);
    }
}
