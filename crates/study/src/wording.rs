//! Formatting of numbers, quantities and lists.

/// The power of ten of a positive number; 0 if undefined.
pub fn magnitude(value: f64) -> i32 {
    if value.is_finite() && value > 0.0 {
        value.log10().floor() as i32
    } else {
        0
    }
}

/// `1,234.5`, with thousands separators, for tables.
pub fn number(value: f64, decimals: usize) -> String {
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

/// A duration in a suitable unit: `4.21 ms`, `42.7 min`.
pub fn nanoseconds(ns: u64) -> String {
    /// Unit, its length, and the smallest value shown in it.
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

/// A size in powers of 1024: `200 GiB`, `4 KiB`, `1,000 B`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (0..UNITS.len())
        .rev()
        .find(|&power| bytes >= 1 << (10 * power))
        .unwrap_or(0);
    let value = bytes as f64 / (1_u64 << (10 * power)) as f64;
    let decimals = if value.fract() == 0.0 { 0 } else { 1 };
    format!("{} {}", number(value, decimals), UNITS[power])
}

/// `1 trial`, `3 trials`, `10,000 trials`.
pub fn count(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", number(count as f64, 0))
}

/// `FIRST, PART, PART`: only the parts that are present.
pub fn joined<const N: usize>(first: &str, parts: [Option<String>; N]) -> String {
    let rest: String = parts.into_iter().flatten().map(|part| format!(", {part}")).collect();
    format!("{first}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(count(1, "trial"), "1 trial");
    }

    #[test]
    fn what_does_not_apply_is_not_in_a_list() {
        let parts = [None, Some("two".to_owned()), None, Some("four".to_owned())];
        assert_eq!(joined("one", parts), "one, two, four");
    }
}
