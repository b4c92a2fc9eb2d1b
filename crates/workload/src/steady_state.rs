//! Whether a job was in a steady state when it was measured.
//!
//! SNIA's Solid State Storage Performance Test Specification calls a device steady if, in the measurement window,
//! values stay within 20 % of their average and their line of best fit rises or falls by at most 10 %. Its values
//! are averages over minutes; those of a short job scatter. Therefore only the halves of the measured time are
//! compared, and a difference counts only if it clearly exceeds the scatter.

use crate::throughput_series::{INTERVALS_MAX, ThroughputSeries};
use std::time::Duration;

/// With fewer intervals, a difference between the halves may be scatter.
const INTERVALS_MIN: usize = INTERVALS_MAX / 2;
/// Largest difference between the halves of a steady job, as a fraction of their average.
const DIFFERENCE_MAX: f64 = 0.2;
/// In a pause less than this share of the median rate is reached.
const PAUSE: f64 = 0.1;
/// A difference of fewer standard errors may be chance.
const STANDARD_ERRORS: f64 = 4.0;

/// Whether both halves of the measured time had the same throughput, with its values over time; `None` if there
/// are too few intervals, or none.
pub(crate) fn verdict(series: &ThroughputSeries, measured: Duration) -> Option<(bool, String)> {
    let rates = series.rates(measured);
    if rates.len() < INTERVALS_MIN {
        return None;
    }
    let half = rates.len() / 2;
    let (first, second) = (mean(&rates[..half]), mean(&rates[rates.len() - half..]));
    let difference = (second - first).abs();
    let average = f64::midpoint(first, second);
    let is_large = is_large(first, second);
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
        detail += &pauses(&rates, half);
    }
    let rates: Vec<String> = rates.iter().map(|rate| format!("{rate:.1}")).collect();
    let milliseconds = series.interval_ns() / 1_000_000;
    detail += &format!("; MiB/s every {milliseconds} ms: {}", rates.join(" "));
    Some((passed, detail))
}

fn mean(part: &[f64]) -> f64 {
    part.iter().sum::<f64>() / part.len() as f64
}

fn is_large(first: f64, second: f64) -> bool {
    (second - first).abs() > DIFFERENCE_MAX * f64::midpoint(first, second)
}

/// The advice if the halves differ only by intervals in which almost nothing moved; empty otherwise.
fn pauses(rates: &[f64], half: usize) -> String {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let moves = |rate: &f64| *rate > PAUSE * sorted[sorted.len() / 2];
    let moving = |part: &[f64]| part.iter().copied().filter(moves).collect::<Vec<f64>>();
    let (first, second) = (moving(&rates[..half]), moving(&rates[rates.len() - half..]));
    let paused = rates.iter().filter(|rate| !moves(rate)).count();
    if paused == 0 || first.is_empty() || second.is_empty() || is_large(mean(&first), mean(&second)) {
        return String::new();
    }
    format!(
        "; without the {paused} of {} intervals in which almost nothing moved, the halves would be alike: requests waited, for \
         example for a flush of the disks' write caches, and a longer `runtime`, with several such pauses in each half, may be steady",
        rates.len()
    )
}

/// Standard deviation around the trend, from the differences between neighbours (von Neumann's estimate): unlike
/// the deviation around the mean, it is not increased by a step or a slope.
fn scatter(values: &[f64]) -> f64 {
    let squares = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
    (squares.sum::<f64>() / (2 * (values.len() - 1)) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const BLOCK: u64 = 1 << 20;

    /// A job of 2 s whose requests take `took_ms` (seconds since the start) each.
    fn job(took_ms: impl Fn(f64) -> f64) -> (bool, String) {
        let (mut series, mut at_ms) = (ThroughputSeries::new(), 0.0);
        while at_ms < 2000.0 {
            at_ms += took_ms(at_ms);
            series.add(Duration::from_secs_f64(at_ms / 1e3), BLOCK);
        }
        verdict(&series, Duration::from_secs(2)).expect("31 intervals of 64 ms")
    }

    #[test]
    fn the_same_at_all_times_is_steady() {
        let (passed, detail) = job(|_| 10.0);
        assert!(passed, "{detail}");
        assert!(detail.contains("MiB/s every 64 ms: 93.8 93.8 109.4"), "{detail}");
    }

    /// A cache that absorbs the first writes, however soon it is full; slowly growing times.
    #[test]
    fn a_cache_that_fills_is_not_steady() {
        for full_ms in [50.0, 200.0, 400.0, 1000.0, 1600.0] {
            let (passed, detail) = job(|at_ms| if at_ms < full_ms { 1.0 } else { 10.0 });
            assert!(!passed, "full after {full_ms} ms: {detail}");
        }
        let (passed, detail) = job(|at_ms| 5.0 + at_ms / 200.0);
        assert!(!passed && detail.contains("ramp_time"), "{detail}");
        assert!(job(|at_ms| 5.0 + at_ms / 4000.0).0, "ten per cent slower at the end");
    }

    /// Writes that waited for a flush of the drives' caches in one half were excluded without a word on the cause.
    #[test]
    fn a_pause_in_one_half_is_named() {
        let (passed, detail) = job(|at_ms| if (1500.0..1502.0).contains(&at_ms) { 420.0 } else { 1.0 });
        assert!(!passed, "{detail}");
        assert!(
            detail.contains("in which almost nothing moved, the halves would be alike"),
            "{detail}"
        );
        let (passed, detail) = job(|at_ms| if at_ms < 1000.0 { 1.0 } else { 2.0 });
        assert!(!passed && !detail.contains("almost nothing moved"), "{detail}");
    }

    /// Random seeks and rotation, 4 to 20 ms: none of 200 jobs is flagged.
    #[test]
    fn scatter_is_steady() {
        for seed in 0..200 {
            let random = std::cell::RefCell::new(Random::new(seed, 0));
            let (passed, detail) = job(|_| 4.0 + (random.borrow_mut().next() % 1600) as f64 / 100.0);
            assert!(passed, "seed {seed}: {detail}");
        }
    }

    #[test]
    fn nothing_is_known_of_a_job_without_throughput() {
        assert_eq!(verdict(&ThroughputSeries::new(), Duration::from_millis(15)), None);
    }
}
