//! Throughput over time, and whether a job was in a steady state when it was measured.
//!
//! SNIA's Solid State Storage Performance Test Specification calls a device steady if, in the measurement window,
//! values stay within 20 % of their average and their line of best fit rises or falls by at most 10 %. Its values
//! are averages over minutes; those of a short job scatter. Therefore only the halves of the measured time are
//! compared, and a difference counts only if it clearly exceeds the scatter.

use std::time::Duration;
use study::metric::MEBIBYTE;

/// Maximum number of intervals; when they are used up, pairs are merged.
const INTERVALS_MAX: usize = 32;
/// With fewer intervals, a difference between the halves may be scatter.
const INTERVALS_MIN: usize = INTERVALS_MAX / 2;
/// Initial length of an interval.
const INTERVAL_NS: u64 = 1_000_000;

/// Largest difference between the halves of a steady job, as a fraction of their average.
const DIFFERENCE_MAX: f64 = 0.2;
/// A difference of fewer standard errors may be chance.
const STANDARD_ERRORS: f64 = 4.0;

/// Bytes in equal intervals from the start of the measured time. It allocates nothing: in the lab, the heap of this
/// process is part of the memory that is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Course {
    interval_ns: u64,
    /// Number of intervals that have begun.
    len: usize,
    bytes: [u64; INTERVALS_MAX],
}

impl Course {
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
    fn rates(&self, measured: Duration) -> Vec<f64> {
        let seconds = self.interval_ns as f64 / 1e9;
        let bytes = self.within(measured).into_iter();
        bytes.map(|bytes| bytes as f64 / MEBIBYTE / seconds).collect()
    }

    /// Whether both halves of the measured time had the same throughput, with its values over time; `None` if there
    /// are too few intervals, or none.
    pub(crate) fn verdict(&self, measured: Duration) -> Option<(bool, String)> {
        let rates = self.rates(measured);
        if rates.len() < INTERVALS_MIN {
            return None;
        }
        let half = rates.len() / 2;
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let (first, second) = (mean(&rates[..half]), mean(&rates[rates.len() - half..]));
        let difference = (second - first).abs();
        let average = f64::midpoint(first, second);
        let is_large = difference > DIFFERENCE_MAX * average;
        // A cache that fills at the start is not scatter.
        let scatter = scatter(&rates[rates.len() / 10..]);
        let passed = !is_large || difference <= STANDARD_ERRORS * scatter * (2.0 / half as f64).sqrt();
        let mut detail = format!("{first:.1} MiB/s in the first half of the time, {second:.1} in the second");
        if !passed {
            detail += &format!(
                ", a difference of {:.0} % of their average, but at most {:.0} % counts as steady; measure later \
                    (`ramp_time`) \
                 and for longer (`runtime`)",
                100.0 * difference / average,
                100.0 * DIFFERENCE_MAX
            );
        }
        let rates: Vec<String> = rates.iter().map(|rate| format!("{rate:.1}")).collect();
        let milliseconds = self.interval_ns / 1_000_000;
        detail += &format!("; MiB/s every {milliseconds} ms: {}", rates.join(" "));
        Some((passed, detail))
    }
}

/// Standard deviation around the trend, from the differences between neighbours (von Neumann's estimate): unlike
/// the deviation around the mean, it is not increased by a step or a slope.
fn scatter(values: &[f64]) -> f64 {
    let squares = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
    (squares.sum::<f64>() / (2 * (values.len() - 1)) as f64).sqrt()
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const BLOCK: u64 = 1 << 20;

    /// A job of 2 s whose requests take `took_ms` (seconds since the start) each.
    fn course(took_ms: impl Fn(f64) -> f64) -> (bool, String) {
        let (mut course, mut at_ms) = (Course::new(), 0.0);
        while at_ms < 2000.0 {
            at_ms += took_ms(at_ms);
            course.add(Duration::from_secs_f64(at_ms / 1e3), BLOCK);
        }
        course.verdict(Duration::from_secs(2)).expect("31 intervals of 64 ms")
    }

    #[test]
    fn the_same_at_all_times_is_steady() {
        let (passed, detail) = course(|_| 10.0);
        assert!(passed, "{detail}");
        assert!(detail.contains("MiB/s every 64 ms: 93.8 93.8 109.4"), "{detail}");
    }

    /// A cache that absorbs the first writes, however soon it is full; slowly growing times.
    #[test]
    fn a_cache_that_fills_is_not_steady() {
        for full_ms in [50.0, 200.0, 400.0, 1000.0, 1600.0] {
            let (passed, detail) = course(|at_ms| if at_ms < full_ms { 1.0 } else { 10.0 });
            assert!(!passed, "full after {full_ms} ms: {detail}");
        }
        let (passed, detail) = course(|at_ms| 5.0 + at_ms / 200.0);
        assert!(!passed && detail.contains("ramp_time"), "{detail}");
        assert!(course(|at_ms| 5.0 + at_ms / 4000.0).0, "ten per cent slower at the end");
    }

    /// Random seeks and rotation, 4 to 20 ms: none of 200 jobs is flagged.
    #[test]
    fn scatter_is_steady() {
        for seed in 0..200 {
            let random = std::cell::RefCell::new(Random::new(seed, 0));
            let (passed, detail) = course(|_| 4.0 + (random.borrow_mut().next() % 1600) as f64 / 100.0);
            assert!(passed, "seed {seed}: {detail}");
        }
    }

    #[test]
    fn intervals_grow_and_merge_without_losing_bytes() {
        let (mut short, mut long) = (Course::new(), Course::new());
        (0..32).for_each(|ms| short.add(Duration::from_millis(ms), 1));
        (0..1000).for_each(|ms| long.add(Duration::from_millis(ms), 1));
        assert_eq!((short.interval_ns, long.interval_ns), (1_000_000, 32_000_000));
        short.merge(&long);
        assert_eq!(short.interval_ns, 32_000_000);
        assert_eq!(short.bytes.iter().sum::<u64>(), 1032);
        assert_eq!(&short.bytes[..3], &[64, 32, 32]);
        assert_eq!(Course::new().verdict(Duration::from_millis(15)), None);
    }
}
