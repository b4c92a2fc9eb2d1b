//! Confidence intervals of a centre from few values.
//!
//! **Order statistics**, with enough values. For n independent values, the number below the median is binomial (n,
//! ½) for any distribution, so the k-th smallest and the k-th largest enclose the median with probability 1 − 2·P(B
//! < k). Le Boudec, *Performance Evaluation of Computer and Communication Systems* (2010), theorem 2.1 and table
//! A.7; David and Nagaraja, *Order Statistics* (2003), 7.1. At 95 % it needs n ≥ 6.
//!
//! **Log-normal**, for fewer values but at least 3, all positive: Student's t interval of the mean of their
//! logarithms, transformed back. This is the usual choice for throughputs and times, whose errors are
//! multiplicative and which cannot be negative (Limpert, Stahel and Abbt, *BioScience* 51, 2001), but it *depends
//! on that assumption*, which three values cannot test; hence the mark. It always contains the sample median as
//! well: |median − mean| ≤ s in the logarithms, and t/√n > 1 for n ≤ 5.
//!
//! **Identical**: simulated disks can give the same value for every seed. The interval is that point; its zero
//! width means that the seed makes no difference, not that the precision is infinite.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

/// With fewer blocks, or fewer values if there are no common blocks, there is no interval.
pub const TRIALS_MIN: usize = 3;

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    pub basis: Basis,
}

/// Assumptions of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Independent values only.
    OrderStatistics,
    /// Logarithms of the values are normally distributed.
    LogNormal,
    /// Differences within blocks, with the variance of all cells with the same workload: see [`crate::compare`].
    Blocks,
    /// One more value is within it, if logarithms of the values are normally distributed: each is of another drawn disk.
    Drawn,
    /// All values were equal.
    Identical,
}

impl Interval {
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// The interval at confidence 1 − `alpha`. `None` with too few values, or with non-positive values where a log-normal
/// interval would be needed. `sorted` must be sorted.
pub(crate) fn of_centre(sorted: &[f64], alpha: f64) -> Option<Interval> {
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    if sorted.len() < TRIALS_MIN {
        return None;
    }
    if first == last {
        return Some(Interval {
            low: first,
            high: last,
            basis: Basis::Identical,
        });
    }
    if let Some(k) = order_statistic(sorted.len(), alpha) {
        let (low, high) = (sorted[k - 1], sorted[sorted.len() - k]);
        return Some(Interval {
            low,
            high,
            basis: Basis::OrderStatistics,
        });
    }
    (first > 0.0).then(|| log_normal(sorted, alpha))
}

/// The interval of one more value at confidence 1 − `alpha`; as [`of_centre`].
pub(crate) fn of_one_more(values: &[f64], alpha: f64) -> Option<Interval> {
    let is_positive = values.iter().all(|value| *value > 0.0);
    if values.len() < TRIALS_MIN || !is_positive {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let (mean, variance) = mean_and_variance(&logs);
    let n = logs.len() as f64;
    let half = student_t(alpha, n - 1.0) * (variance * (1.0 + 1.0 / n)).sqrt();
    Some(Interval {
        low: (mean - half).exp(),
        high: (mean + half).exp(),
        basis: Basis::Drawn,
    })
}

/// The largest k for which the k-th smallest and k-th largest of n values enclose the median with probability 1 −
/// `alpha`; `None` if even the extremes do not.
fn order_statistic(n: usize, alpha: f64) -> Option<usize> {
    let below = Binomial::new(0.5, n as u64).expect("½ is a probability");
    (1..=n / 2)
        .take_while(|&k| 2.0 * below.cdf(k as u64 - 1) <= alpha)
        .last()
}

fn log_normal(values: &[f64], alpha: f64) -> Interval {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let (mean, variance) = mean_and_variance(&logs);
    let n = logs.len() as f64;
    let half = student_t(alpha, n - 1.0) * (variance / n).sqrt();
    Interval {
        low: (mean - half).exp(),
        high: (mean + half).exp(),
        basis: Basis::LogNormal,
    }
}

/// The value that |t| exceeds with probability `alpha`.
pub(crate) fn student_t(alpha: f64, degrees_of_freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees_of_freedom)
        .expect("degrees of freedom are positive")
        .inverse_cdf(1.0 - alpha / 2.0)
}

/// Needs at least two values.
pub(crate) fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Le Boudec, table A.7, the rows at which k grows.
    #[test]
    fn order_statistics_as_published() {
        let published = [
            (5, None),
            (6, Some(1)),
            (8, Some(1)),
            (9, Some(2)),
            (11, Some(2)),
            (12, Some(3)),
            (14, Some(3)),
            (15, Some(4)),
            (17, Some(5)),
            (20, Some(6)),
        ];
        for (n, k) in published {
            assert_eq!(order_statistic(n, 0.05), k, "n = {n}");
        }
    }

    #[test]
    fn student_t_as_in_tables() {
        for (degrees, expected) in [
            (1.0, 12.7062),
            (2.0, 4.3027),
            (3.0, 3.1824),
            (4.0, 2.7764),
            (30.0, 2.0423),
        ] {
            assert!(
                (student_t(0.05, degrees) - expected).abs() < 1e-4,
                "{degrees}: {}",
                student_t(0.05, degrees)
            );
        }
    }

    #[test]
    fn three_values_rest_on_an_assumption() {
        // ln: 0, ln 2, ln 4: mean ln 2, s = ln 2; half = 4.3027 · ln 2 / √3.
        let interval = of_centre(&[1.0, 2.0, 4.0], 0.05).unwrap();
        assert_eq!(interval.basis, Basis::LogNormal);
        assert!((interval.high / 2.0 - 5.5952).abs() < 1e-3, "{interval:?}");
        assert!((interval.low * interval.high - 4.0).abs() < 1e-9);
    }

    #[test]
    fn six_values_rest_on_none() {
        let interval = of_centre(&[-3.0, 0.0, 1.0, 2.0, 3.0, 900.0], 0.05).unwrap();
        assert_eq!(
            interval,
            Interval {
                low: -3.0,
                high: 900.0,
                basis: Basis::OrderStatistics
            }
        );
    }

    #[test]
    fn a_stricter_confidence_needs_more_values() {
        let values = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5];
        assert_eq!(of_centre(&values, 0.01).unwrap().basis, Basis::LogNormal);
    }

    #[test]
    fn too_few_or_unfit_values_have_none() {
        assert_eq!(of_centre(&[], 0.05), None);
        assert_eq!(of_centre(&[1.0, 2.0], 0.05), None);
        assert_eq!(of_centre(&[2.0, 2.0], 0.05), None);
        assert_eq!(of_centre(&[0.0, 1.0, 2.0], 0.05), None);
    }

    #[test]
    fn identical_values_are_a_point() {
        let interval = of_centre(&[7.0; 3], 0.05).unwrap();
        assert_eq!(
            interval,
            Interval {
                low: 7.0,
                high: 7.0,
                basis: Basis::Identical
            }
        );
    }

    /// On a skewed distribution, at least 95 % of 2000 intervals contain the true median.
    #[test]
    fn intervals_hold_the_median_as_often_as_they_say() {
        let mut state = 1_u64;
        let mut uniform = || {
            // Knuth's MMIX generator, sufficient for this test.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        };
        for n in [6, 9, 12] {
            let held = (0..2000)
                .filter(|_| {
                    let mut values: Vec<f64> = (0..n).map(|_| -uniform().ln()).collect();
                    values.sort_by(f64::total_cmp);
                    of_centre(&values, 0.05).unwrap().contains(2_f64.ln())
                })
                .count();
            assert!(held >= 1880, "n = {n}: {held} of 2000");
        }
    }
}
