//! Summary of the values of one cell.

use crate::interval::{self, Interval};

/// One cell's figure for one metric of one test.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub n: usize,
    pub median: f64,
    pub mean: f64,
    pub min: f64,
    pub max: f64,
    /// Standard deviation with n − 1; `None` for a single value.
    pub deviation: Option<f64>,
    pub interval: Option<Interval>,
}

impl Summary {
    /// `None` without values. The interval is at confidence 1 − `alpha`.
    pub fn of(values: &[f64], alpha: f64) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        Some(Self {
            n: sorted.len(),
            median: study::median(sorted.iter().copied())?,
            mean,
            min,
            max,
            deviation: deviation(&sorted, mean),
            interval: interval::of_centre(&sorted, alpha),
        })
    }

    /// Each value is of another drawn disk: the interval is that of one more.
    pub fn of_drawn(values: &[f64], alpha: f64) -> Option<Self> {
        let interval = interval::of_one_more(values, alpha);
        Some(Self {
            interval,
            ..Self::of(values, alpha)?
        })
    }

    /// In another unit.
    pub fn scaled(&self, factor: f64) -> Self {
        let interval = self.interval.map(|interval| Interval {
            low: interval.low * factor,
            high: interval.high * factor,
            ..interval
        });
        Self {
            n: self.n,
            median: self.median * factor,
            mean: self.mean * factor,
            min: self.min * factor,
            max: self.max * factor,
            deviation: self.deviation.map(|deviation| deviation * factor),
            interval,
        }
    }

    /// Half the interval's width as a fraction of the median.
    pub fn relative_half_width(&self) -> Option<f64> {
        let interval = self.interval?;
        let half = interval.half_width();
        if half == 0.0 {
            return Some(0.0);
        }
        (self.median != 0.0).then(|| half / self.median.abs())
    }
}

fn deviation(values: &[f64], mean: f64) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_values_in_any_order() {
        let summary = Summary::of(&[4.0, 1.0, 10.0], 0.05).unwrap();
        assert_eq!(
            (summary.n, summary.median, summary.mean, summary.min, summary.max),
            (3, 4.0, 5.0, 1.0, 10.0)
        );
        assert_eq!(Summary::of(&[4.0, 1.0, 10.0, 6.0], 0.05).unwrap().median, 5.0);
        assert_eq!(Summary::of(&[], 0.05), None);
        assert_eq!(summary.deviation.map(|deviation| deviation.powi(2).round()), Some(21.0));
        assert_eq!(Summary::of(&[4.0], 0.05).unwrap().deviation, None);
    }

    #[test]
    fn width_is_relative_to_the_median() {
        let values = [90.0, 95.0, 100.0, 100.0, 105.0, 110.0];
        assert_eq!(Summary::of(&values, 0.05).unwrap().relative_half_width(), Some(0.1));
        assert_eq!(Summary::of(&[0.0; 3], 0.05).unwrap().relative_half_width(), Some(0.0));
        assert_eq!(Summary::of(&[1.0], 0.05).unwrap().relative_half_width(), None);
    }
}
