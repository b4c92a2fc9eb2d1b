//! Numbers as people read them.

use stats::Summary;

/// Decimals that all figures of one measure share, so that they can be compared at a glance: three digits of the
/// middle median, two of the smallest, one of the middle half interval; at most six in all.
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

/// The power of ten of a positive number; 0 for what has none.
fn magnitude(value: f64) -> i32 {
    if value.is_finite() && value > 0.0 {
        value.log10().floor() as i32
    } else {
        0
    }
}

/// `1,234.5`, a comma for every three digits: such numbers stand in tables.
pub(crate) fn number(value: f64, decimals: usize) -> String {
    let plain = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = plain
        .split_once('.')
        .map_or((plain.as_str(), None), |(whole, fraction)| (whole, Some(fraction)));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let is_zero = plain.chars().all(|character| matches!(character, '0' | '.'));
    let sign = if value < 0.0 && !is_zero { "-" } else { "" };
    match fraction {
        Some(fraction) => format!("{sign}{grouped}.{fraction}"),
        None => format!("{sign}{grouped}"),
    }
}

/// What follows a median of values that are all the same. It has no width to show, and is not certain for it: the
/// seeds vary nothing that matters to the value, other machines may.
pub(crate) const SAME: &str = "(same)";

/// What follows a median: `± 1.2`; `± <0.1` where there is a width, but too small to be seen; empty without an
/// interval.
pub(crate) fn half_interval(summary: &Summary, decimals: usize) -> String {
    let Some(interval) = summary.interval else {
        return String::new();
    };
    let half = interval.half_width();
    let step = 10_f64.powi(-(decimals as i32));
    if half == 0.0 {
        SAME.to_owned()
    } else if half < step / 2.0 {
        format!("± <{}", number(step, decimals))
    } else {
        format!("± {}", number(half, decimals))
    }
}

/// A latency or a duration with the unit that suits it: `4.21 ms`, `42.7 min`.
pub(crate) fn nanoseconds(ns: u64) -> String {
    /// Unit, its length, and from where on it is used.
    const UNITS: [(&str, f64, f64); 6] = [
        ("h", 3600e9, 2.0 * 3600e9),
        ("min", 60e9, 2.0 * 60e9),
        ("s", 1e9, 1e9),
        ("ms", 1e6, 1e6),
        ("µs", 1e3, 1e3),
        ("ns", 1.0, 0.0),
    ];
    let value_ns = ns as f64;
    let (unit, scale, _) = UNITS
        .into_iter()
        .find(|&(.., from)| value_ns >= from)
        .unwrap_or(("ns", 1.0, 0.0));
    let value = value_ns / scale;
    let decimals = if unit == "ns" {
        0
    } else {
        (2 - magnitude(value)).clamp(0, 2) as usize
    };
    format!("{} {unit}", number(value, decimals))
}

/// A size as its owner would say it, in powers of 1024: `200 GiB`, `4 KiB`, `1000 B`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (0..UNITS.len())
        .rev()
        .find(|&power| bytes >= 1 << (10 * power))
        .unwrap_or(0);
    let value = bytes as f64 / (1_u64 << (10 * power)) as f64;
    let decimals = if value.fract() == 0.0 { 0 } else { 1 };
    format!("{} {}", number(value, decimals), UNITS[power])
}

/// `2026-11-21 07:44 UTC`.
pub fn time(unix_s: u64) -> String {
    let seconds = i64::try_from(unix_s).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => format!("{unix_s} s after 1970"),
    }
}

/// `1 trial`, `3 trials`, `10,000 trials`.
pub fn count(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", number(count as f64, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(values: &[f64]) -> Summary {
        Summary::of(values, 0.05).unwrap()
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
    fn half_intervals_say_when_they_cannot_be_seen() {
        assert_eq!(half_interval(&summary(&[5.0; 3]), 1), "(same)");
        assert_eq!(half_interval(&summary(&[5.0, 5.001, 5.002]), 1), "± <0.1");
        assert_eq!(half_interval(&summary(&[5.0, 5.1, 5.2]), 1), "± 0.2");
        assert_eq!(half_interval(&summary(&[5.0]), 1), "");
    }

    #[test]
    fn numbers_and_units() {
        assert_eq!(number(1_234_567.891, 2), "1,234,567.89");
        assert_eq!(number(-0.001, 1), "0.0");
        assert_eq!(number(-1234.0, 0), "-1,234");
        assert_eq!(nanoseconds(999), "999 ns");
        assert_eq!(nanoseconds(4_210_000), "4.21 ms");
        assert_eq!(nanoseconds(42_100_000_000), "42.1 s");
        assert_eq!(nanoseconds(2_562_000_000_000), "42.7 min");
        assert_eq!(nanoseconds(0), "0 ns");
        assert_eq!(bytes(4096), "4 KiB");
        assert_eq!(bytes(200 << 30), "200 GiB");
        assert_eq!(bytes(1000), "1,000 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(time(1_795_246_494), "2026-11-21 07:34 UTC");
        assert_eq!(count(1, "trial"), "1 trial");
    }
}
