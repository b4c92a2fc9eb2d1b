//! Formatting of figures.

use stats::Summary;
use study::metric::{Metric, Unit};
use study::wording::magnitude;
pub use study::wording::{bytes, count, nanoseconds, number};

/// Decimals shared by all figures of a measure, so that they can be compared at a glance: three digits of the
/// middle median, two of the smallest, one of the middle half interval; at most six in total.
pub(crate) fn decimals<'a>(summaries: impl Iterator<Item = &'a Summary>) -> usize {
    let mut medians = Vec::new();
    let mut halves = Vec::new();
    for summary in summaries {
        medians.push(summary.median.abs());
        halves.extend(summary.interval.map(|interval| interval.half_width()));
    }
    let positive = |mut values: Vec<f64>| {
        values.retain(|&value| value > 0.0);
        values.sort_by(f64::total_cmp);
        values
    };
    let (medians, halves) = (positive(medians), positive(halves));
    let at = |values: &[f64], place: usize| magnitude(values.get(place).copied().unwrap_or(1.0));
    let wanted = [
        2 - at(&medians, medians.len() / 2),
        1 - at(&medians, 0),
        -at(&halves, halves.len() / 2),
    ];
    let room = 5 - at(&medians, medians.len().saturating_sub(1));
    wanted.into_iter().max().unwrap_or(0).min(room).clamp(0, 4) as usize
}

/// The unit of throughputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateUnit {
    #[default]
    MiB,
    /// 10^6 bytes a second, as disks are sold.
    MB,
}

impl RateUnit {
    /// The name of a metric's unit, with the percentile of a latency, and the factor of its values.
    pub(crate) const fn of(self, metric: Metric) -> (&'static str, f64) {
        match (self, metric.unit(), metric) {
            (Self::MB, Unit::MebibytesPerSecond, _) => ("MB/s", 1.048_576),
            (_, _, Metric::LatencyP50) => ("p50 ms", 1.0),
            (_, _, Metric::LatencyP99) => ("p99 ms", 1.0),
            (_, _, Metric::LatencyP999) => ("p99.9 ms", 1.0),
            (Self::MiB | Self::MB, unit, _) => (unit.name(), 1.0),
        }
    }
}

/// A figure that stands alone: three digits.
pub(crate) fn number_of(value: f64) -> String {
    number(value, (2 - magnitude(value.abs())).clamp(0, 4) as usize)
}

/// More digits would look surer than it is: 28.9 is 29, 126 is 130.
pub(crate) fn two_digits(value: f64) -> String {
    if value < 10.0 {
        return number(value, 1);
    }
    let unit = 10_f64.powi(value.log10().floor() as i32 - 1);
    number((value / unit).round() * unit, 0)
}

/// A median and what stands after it. Hours of a whole disk have two digits and no interval: that of the trials says nothing of a
/// larger member, and little of a disk whose model is a guess.
pub(crate) fn shown(metric: Metric, summary: &Summary, decimals: usize) -> (String, String) {
    match metric {
        Metric::TimeToRebuildDisk => (two_digits(summary.median), String::new()),
        _ => (number(summary.median, decimals), uncertainty(summary, decimals)),
    }
}

/// Shown after a median of values that are all the same. The interval has no width, but the value is not certain:
/// it does not depend on the seed, but may differ on other machines.
pub(crate) const SAME: &str = "(same)";

/// If half the interval's width exceeds this fraction of the median, both ends are shown. Intervals of few trials
/// are asymmetric: up to this width by a tenth at most, while `19 ± 3,827` would suggest that the value may be
/// negative.
const WIDE: f64 = 0.25;

/// Shown after a median: `± 1.2`; `± <0.1` if the width is too small to be shown; `(9.8–66.6)`, both ends, if the
/// interval is wide; empty without an interval.
pub(crate) fn uncertainty(summary: &Summary, decimals: usize) -> String {
    let Some(interval) = summary.interval else {
        return String::new();
    };
    let half = interval.half_width();
    let step = 10_f64.powi(-(decimals as i32));
    if half == 0.0 {
        SAME.to_owned()
    } else if is_wide(summary) {
        let ends = [interval.low, interval.high].map(|end| number(end, decimals));
        format!("({}–{})", ends[0], ends[1])
    } else if half < step / 2.0 {
        format!("± <{}", number(step, decimals))
    } else {
        format!("± {}", number(half, decimals))
    }
}

/// Whether [`uncertainty`] shows both ends.
pub(crate) fn is_wide(summary: &Summary) -> bool {
    summary.relative_half_width().is_some_and(|half| half > WIDE)
}

/// `2026-11-21 07:44 UTC`.
pub fn time(unix_s: u64) -> String {
    let seconds = i64::try_from(unix_s).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => format!("{unix_s} s after 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(values: &[f64]) -> Summary {
        Summary::of(values, 0.05).unwrap()
    }

    /// "Very roughly 28.9 h (28.5 to 29.2)" stood there, and 30.8 (18.5–43.2) in the table, of what another member made 13 h.
    #[test]
    fn issue_39_a4_a_rough_figure_has_two_digits() {
        let all = [9.58, 28.9, 126.4, 0.37].map(two_digits);
        assert_eq!(all, ["9.6", "29", "130", "0.4"]);
        let hours = summary(&[18.0, 30.8, 43.0]);
        assert_eq!(
            shown(Metric::TimeToRebuildDisk, &hours, 1),
            ("31".to_owned(), String::new())
        );
        assert_ne!(shown(Metric::TimeToRebuild, &hours, 1).1, "");
    }

    #[test]
    fn a_column_has_digits_for_its_smallest_figure() {
        let decimals_of = |medians: &[f64]| {
            let summaries: Vec<Summary> = medians.iter().map(|&median| summary(&[median])).collect();
            decimals(summaries.iter())
        };
        assert_eq!(decimals_of(&[123.0, 88.0]), 0);
        assert_eq!(decimals_of(&[0.84, 8.8, 11.2]), 2);
        assert_eq!(decimals_of(&[12_345.0, 4_500.0]), 0);
        assert_eq!(decimals_of(&[0.0123, 5.0]), 3);
        assert_eq!(decimals_of(&[0.0]), 2);
        assert_eq!(decimals_of(&[0.01, 25_000.0]), 1);
        assert_eq!(decimals([summary(&[100.0, 100.001, 100.002])].iter()), 3);
    }

    #[test]
    fn uncertainty_says_when_they_cannot_be_seen() {
        assert_eq!(uncertainty(&summary(&[5.0; 3]), 1), "(same)");
        assert_eq!(uncertainty(&summary(&[5.0, 5.001, 5.002]), 1), "± <0.1");
        assert_eq!(uncertainty(&summary(&[5.0, 5.1, 5.2]), 1), "± 0.2");
        assert_eq!(uncertainty(&summary(&[5.0]), 1), "");
    }

    /// Three trials, one of them an outlier, were shown as `19 ± 3,827`.
    #[test]
    fn wide_intervals_have_two_ends() {
        assert_eq!(uncertainty(&summary(&[18.0, 19.0, 95.0]), 0), "(3–334)");
        assert_eq!(uncertainty(&summary(&[19.0, 20.0, 21.0]), 1), "± 2.5");
    }

    /// Values that do not depend on the seed were shown as `± 0`, as if they were certain.
    #[test]
    fn issue_12_6_equal_values_are_not_plus_or_minus_nothing() {
        for decimals in 0..4 {
            let shown = uncertainty(&summary(&[5.0; 6]), decimals);
            assert!(!shown.contains('0') && !shown.contains('±'), "{shown}");
        }
    }

    #[test]
    fn times_are_utc() {
        assert_eq!(time(1_795_246_494), "2026-11-21 07:34 UTC");
    }
}
