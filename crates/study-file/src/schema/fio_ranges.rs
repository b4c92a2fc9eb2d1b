//! Ranges of fio's numeric options. fio itself would refuse a value outside them only in a trial, or never end: it takes
//! `bs=1e400` for 0.

use crate::syntax::unit::format_size;
use study::workload::fio_prefix_shift;

const GIB: u64 = 1 << 30;
const PIB: u64 = 1 << 50;
const MANY: u64 = 1 << 31;
/// Ten years.
const SECONDS_MAX: u64 = 3660 * 24 * 3600;

#[derive(Clone, Copy)]
enum Range {
    Count { min: u64, max: u64 },
    Bytes { min: u64, max: u64 },
    Time,
}

use Range::{Bytes, Count, Time};

const RANGES: &[(&[&str], Range)] = &[
    (&["bs", "bsrange", "bssplit", "blockalign"], Bytes { min: 1, max: GIB }),
    (
        &[
            "rate",
            "rate_min",
            "zonesize",
            "zonerange",
            "zoneskip",
            "buffer_compress_chunk",
        ],
        Bytes { min: 0, max: PIB },
    ),
    (&["iodepth", "iodepth_batch"], Count { min: 1, max: 32768 }),
    (
        &[
            "iodepth_low",
            "iodepth_batch_complete_min",
            "iodepth_batch_complete_max",
        ],
        Count { min: 0, max: 65536 },
    ),
    (
        &[
            "rwmixread",
            "rwmixwrite",
            "percentage_random",
            "buffer_compress_percentage",
            "dedupe_percentage",
            "dedupe_working_set_percentage",
        ],
        Count { min: 0, max: 100 },
    ),
    (
        &[
            "fsync",
            "fdatasync",
            "rate_iops",
            "rate_iops_min",
            "number_ios",
            "loops",
            "thinktime_blocks",
            "openfiles",
            "verify_async",
            "verify_backlog",
            "verify_backlog_batch",
            "write_barrier",
        ],
        Count { min: 0, max: MANY },
    ),
    (&["direct", "buffered", "end_fsync"], Count { min: 0, max: 1 }),
    (&["prio"], Count { min: 0, max: 7 }),
    (&["prioclass"], Count { min: 0, max: 3 }),
    (
        &["runtime", "ramp_time", "startdelay", "thinktime", "thinktime_iotime"],
        Time,
    ),
];

impl Range {
    fn has(self, text: &str) -> bool {
        match self {
            Self::Count { min, max } | Self::Bytes { min, max } => {
                bytes(text).is_some_and(|number| (min as f64..=max as f64).contains(&number))
            }
            Self::Time => seconds(text).is_some_and(|number| number <= SECONDS_MAX as f64),
        }
    }

    fn words(self) -> String {
        match self {
            Self::Count { min, max } => format!("write a number from {min} to {max}"),
            Self::Bytes { min: 0, max } => format!("write a size up to {}", format_size(max)),
            Self::Bytes { min, max } => format!("write a size from {} to {}", format_size(min), format_size(max)),
            Self::Time => "write a time up to ten years, such as 30s".to_owned(),
        }
    }
}

/// What is wrong with the number of an option, and its range.
pub(super) fn wrong_number(name: &str, value: &str) -> Option<(String, String)> {
    let (_, range) = RANGES.iter().find(|(names, _)| names.contains(&name))?;
    // A part that is left out has fio's default, as in `bs=4k,,8k`.
    let mut parts = numbers(name, value).into_iter().filter(|part| !part.is_empty());
    let is_wrong = value.is_empty() || parts.any(|part| !range.has(part));
    is_wrong.then(|| (format!("`{name}` cannot be `{value}`"), range.words()))
}

/// The numbers of `4k,8k`, `4k-8k,1k-2k` and `4k/60:8k/40`.
fn numbers<'a>(name: &str, value: &'a str) -> Vec<&'a str> {
    let parts = value.split(|c: char| match c {
        ',' => true,
        '-' => name == "bsrange" || name == "startdelay",
        ':' => matches!(name, "bssplit" | "bsrange"),
        _ => false,
    });
    let size = |part: &'a str| match name {
        "bssplit" => part.split('/').next().unwrap_or_default(),
        _ => part,
    };
    parts.map(|part| size(part.trim())).collect()
}

/// `4096`, `0x1000`, `4k`, `4.5kib`. An exponent is none: fio computes it modulo 2^64.
fn bytes(text: &str) -> Option<f64> {
    let lower = text.to_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(|number| number as f64);
    }
    let (number, unit) = split(&lower)?;
    let shift = fio_prefix_shift(unit.trim_end_matches('b').trim_end_matches('i'))?;
    Some(number * (1_u64 << shift) as f64)
}

/// `30`, `1.5m`, `1:30:00`. A number alone is at most seconds.
fn seconds(text: &str) -> Option<f64> {
    let lower = text.to_lowercase();
    if lower.contains(':') {
        let parts: Option<Vec<u32>> = lower.split(':').map(|part| part.parse().ok()).collect();
        return Some(parts?.into_iter().fold(0.0, |sum, part| sum * 60.0 + f64::from(part)));
    }
    let (number, unit) = split(&lower)?;
    let unit_s = match unit {
        "" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "ns" | "nsec" | "us" | "usec" | "ms" | "msec" => 1e-3,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86400.0,
        _ => return None,
    };
    Some(number * unit_s)
}

fn split(text: &str) -> Option<(f64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fio_reads_is_in_range() {
        for (name, value) in [
            ("bs", "4k,,8KiB"),
            ("bs", "0x1000"),
            ("bs", "4.5k"),
            ("bsrange", "4k-8k,1k-2k"),
            ("bssplit", "4k/60:8k/"),
            ("rate", ",500k"),
            ("rate", "0"),
            ("rwmixread", "100"),
            ("runtime", "1500ms"),
            ("runtime", "0"),
            ("runtime", "1:30:00"),
            ("startdelay", "1-5"),
            ("ioengine", "x"),
        ] {
            assert_eq!(wrong_number(name, value), None, "{name}={value}");
        }
    }
}
