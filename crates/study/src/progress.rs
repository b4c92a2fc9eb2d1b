//! How much of a trial's work is done: acts may wait for a share of it.

use std::sync::atomic::{AtomicU64, Ordering};

/// The share of the work that is done: written by the workload, read by the thread of the acts. Each of several tests is
/// an equal share of the work, and a test is done by bytes, files or nanoseconds, as suits it.
#[derive(Debug, Default)]
pub struct WorkProgress {
    tests: AtomicU64,
    tests_done: AtomicU64,
    units: AtomicU64,
    units_done: AtomicU64,
}

impl WorkProgress {
    /// The next test begins: the one with this number, from 0, of all, which is done after this many units.
    pub fn begin_test(&self, number: usize, of: usize, units: u64) {
        self.units_done.store(0, Ordering::Relaxed);
        self.units.store(units, Ordering::Relaxed);
        self.tests.store(of as u64, Ordering::Relaxed);
        self.tests_done.store(number as u64, Ordering::Relaxed);
    }

    /// More units of the test are done.
    pub fn add(&self, units: u64) {
        self.units_done.fetch_add(units, Ordering::Relaxed);
    }

    /// The units of the test that are done in all.
    pub fn reach(&self, units: u64) {
        self.units_done.fetch_max(units, Ordering::Relaxed);
    }

    /// All of the work is done.
    pub fn end(&self) {
        self.begin_test(1, 1, 0);
    }

    /// Percentage of the whole work.
    pub fn percent(&self) -> u8 {
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let units = load(&self.units);
        let of_test = match units {
            0 => 0,
            _ => load(&self.units_done).min(units).saturating_mul(100) / units,
        };
        let done = (load(&self.tests_done) * 100 + of_test) / load(&self.tests).max(1);
        u8::try_from(done.min(100)).unwrap_or(100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_is_an_equal_share() {
        let progress = WorkProgress::default();
        assert_eq!(progress.percent(), 0);
        progress.begin_test(0, 4, 1 << 30);
        progress.add(1 << 29);
        assert_eq!(progress.percent(), 12);
        progress.begin_test(3, 4, 10);
        assert_eq!(progress.percent(), 75);
        progress.reach(8);
        progress.reach(6);
        assert_eq!(progress.percent(), 95);
        progress.add(100);
        assert_eq!(progress.percent(), 100, "a test that does more than it said");
        progress.begin_test(1, 2, 0);
        assert_eq!(progress.percent(), 50, "empty files");
        progress.end();
        assert_eq!(progress.percent(), 100);
    }
}
