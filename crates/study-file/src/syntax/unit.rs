//! Parsing and formatting of sizes, times and shares.

/// Binary units: `K` and `KiB` are the same, as in mdadm and fio.
const SIZE_UNITS: &[(&str, u32)] = &[("P", 50), ("T", 40), ("G", 30), ("M", 20), ("K", 10), ("B", 0)];

const TIME_UNITS: &[(&str, &[&str], u64)] = &[
    ("h", &["h", "hour", "hours"], 3_600_000_000_000),
    ("min", &["min", "m", "minute", "minutes"], 60_000_000_000),
    ("s", &["s", "sec", "second", "seconds"], 1_000_000_000),
    ("ms", &["ms"], 1_000_000),
    ("us", &["us", "µs"], 1_000),
    ("ns", &["ns"], 1),
];

/// An error in a size or a time, with a suggestion.
#[derive(Debug, PartialEq, Eq)]
pub struct WrongUnit {
    pub message: String,
    pub help: String,
}

fn wrong(message: String, help: impl Into<String>) -> WrongUnit {
    WrongUnit {
        message,
        help: help.into(),
    }
}

/// Parses `50 %` of a key's value, from 0 % to `max`.
pub fn parse_percent(name: &str, text: &str, max: u64) -> Result<u64, WrongUnit> {
    let number = text.trim().strip_suffix('%').map(str::trim_end);
    match number.and_then(|number| number.parse::<u64>().ok()) {
        Some(percent) if percent <= max => Ok(percent),
        Some(_) => Err(wrong(
            match max {
                // At the end of the work nothing is left to do.
                99 => format!("`{text}` is after the end of the work"),
                _ => format!("`{name}` cannot be {text}"),
            },
            format!("use at most {max} %"),
        )),
        None => Err(wrong(
            format!("`{name}` must be a whole number of per cent, not `{text}`"),
            "write it as \"50 %\"",
        )),
    }
}

/// Parses `512K`, `4MiB`, `1.5 GiB`, `4096 B` to bytes.
pub fn parse_size(text: &str) -> Result<u64, WrongUnit> {
    const HOW: &str = "write sizes as 512K, 4MiB, 200 GiB";
    let (number, unit) = split(text);
    let Some(number) = Decimal::parse(number) else {
        return Err(wrong(format!("`{text}` is not a size"), HOW));
    };
    let lower = unit.to_ascii_lowercase();
    let letter = match lower.as_str() {
        "" => {
            return Err(wrong(
                format!("the size `{text}` has no unit"),
                format!("write {}", with_units(&number)),
            ));
        }
        "b" | "byte" | "bytes" => "B",
        _ => {
            let stem = lower.strip_suffix("ib").unwrap_or(&lower).to_ascii_uppercase();
            match SIZE_UNITS.iter().find(|(letter, _)| *letter == stem) {
                Some((letter, _)) => letter,
                None => return Err(wrong_size_unit(text, unit, &number)),
            }
        }
    };
    let shift = SIZE_UNITS
        .iter()
        .find(|(known, _)| *known == letter)
        .map_or(0, |(_, shift)| *shift);
    number
        .times(1 << shift)
        .ok_or_else(|| wrong(format!("`{text}` is not a whole number of bytes below 16 EiB"), HOW))
}

/// `KB`, `MB` and `GB` are ambiguous: 1000 or, for example in fio and mdadm, 1024.
fn wrong_size_unit(text: &str, unit: &str, number: &Decimal) -> WrongUnit {
    let stem = unit.to_ascii_uppercase();
    let stem = stem.strip_suffix('B').unwrap_or("");
    match SIZE_UNITS
        .iter()
        .position(|(letter, _)| *letter == stem && *letter != "B")
    {
        Some(at) => {
            let thousands = 1000_u64.pow((SIZE_UNITS.len() - 1 - at) as u32);
            let bytes = number
                .times(thousands)
                .map(|bytes| format!(", or {bytes}B if powers of 1000 are meant"));
            wrong(
                format!("the unit of `{text}` is ambiguous"),
                format!("write {}{stem}iB{}", number.text, bytes.unwrap_or_default()),
            )
        }
        None => wrong(
            format!("`{unit}` is not a unit of size"),
            "write sizes as 512K, 4MiB, 200 GiB",
        ),
    }
}

fn with_units(number: &Decimal) -> String {
    match number.times(1) {
        Some(bytes) if bytes >= 1024 && bytes.is_multiple_of(1024) => {
            format!(
                "\"{}\" if bytes are meant, \"{}K\" if KiB are",
                format_size(bytes),
                number.text
            )
        }
        _ => format!("\"{0}K\", \"{0}M\", or \"{0}B\" for bytes", number.text),
    }
}

/// Parses `30s`, `5min`, `500ms` to nanoseconds.
pub fn parse_time(text: &str) -> Result<u64, WrongUnit> {
    const HOW: &str = "write times as 500ms, 30s, 5min, 1h";
    let (number, unit) = split(text);
    let Some(number) = Decimal::parse(number) else {
        return Err(wrong(format!("`{text}` is not a time"), HOW));
    };
    if unit.is_empty() {
        return Err(wrong(
            format!("the time `{text}` has no unit"),
            format!("write \"{}s\" for seconds", number.text),
        ));
    }
    let Some((_, _, scale)) = TIME_UNITS.iter().find(|(_, spellings, _)| spellings.contains(&unit)) else {
        return Err(wrong(format!("`{unit}` is not a unit of time"), HOW));
    };
    number
        .times(*scale)
        .filter(|nanos| *nanos > 0)
        .ok_or_else(|| wrong(format!("`{text}` is not a time between 1 ns and 500 years"), HOW))
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(text.len());
    (text[..end].trim(), text[end..].trim())
}

/// An exact decimal number: digits before and after the point.
struct Decimal<'a> {
    text: &'a str,
    digits: u128,
    places: u32,
}

impl<'a> Decimal<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let sound = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if !sound(whole) || !sound(part) || part.len() > 9 {
            return None;
        }
        let digits = format!("{whole}{part}").parse().ok()?;
        Some(Self {
            text,
            digits,
            places: part.len() as u32,
        })
    }

    /// The product, if it is an integer and fits.
    fn times(&self, scale: u64) -> Option<u64> {
        let product = self.digits.checked_mul(u128::from(scale))?;
        let divisor = 10_u128.pow(self.places);
        if product % divisor != 0 {
            return None;
        }
        u64::try_from(product / divisor).ok()
    }
}

/// The canonical short form of a size, `512K`, for axes and labels.
pub fn format_size(bytes: u64) -> String {
    SIZE_UNITS
        .iter()
        .find(|(_, shift)| bytes > 0 && bytes.is_multiple_of(1 << shift))
        .map_or_else(
            || format!("{bytes}B"),
            |(letter, shift)| format!("{}{letter}", bytes >> shift),
        )
}

/// A rounded size for text: `465.8 GiB`.
pub fn describe_size(bytes: u64) -> String {
    let Some((letter, shift)) = SIZE_UNITS.iter().find(|(_, shift)| bytes >> shift > 0 && *shift > 0) else {
        return format!("{bytes} B");
    };
    let value = bytes as f64 / (1_u64 << shift) as f64;
    if value.fract() == 0.0 {
        format!("{value} {letter}iB")
    } else {
        format!("{value:.1} {letter}iB")
    }
}

/// The canonical short form of a time, `30s`.
pub fn format_time(nanos: u64) -> String {
    TIME_UNITS
        .iter()
        .find(|(_, _, scale)| nanos > 0 && nanos.is_multiple_of(*scale))
        .map_or_else(
            || format!("{nanos}ns"),
            |(letter, _, scale)| format!("{}{letter}", nanos / scale),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_binary_however_they_are_spelt() {
        for text in ["512K", "512k", "512KiB", "512 kib", "0.5M", "524288B", "524288 bytes"] {
            assert_eq!(parse_size(text), Ok(524_288), "{text}");
        }
        assert_eq!(parse_size("200 GiB"), Ok(200 << 30));
        assert_eq!(parse_size("1.5T"), Ok(3 << 39));
    }

    #[test]
    fn a_wrong_size_says_what_would_be_right() {
        let help = |text| parse_size(text).unwrap_err().help;
        assert_eq!(
            help("500GB"),
            "write 500GiB, or 500000000000B if powers of 1000 are meant"
        );
        assert_eq!(help("4096"), "write \"4K\" if bytes are meant, \"4096K\" if KiB are");
        assert_eq!(help("512"), "write \"512K\", \"512M\", or \"512B\" for bytes");
        assert_eq!(help("12 parsecs"), "write sizes as 512K, 4MiB, 200 GiB");
        assert_eq!(help("0.3K"), "write sizes as 512K, 4MiB, 200 GiB");
        assert_eq!(help("99999999P"), "write sizes as 512K, 4MiB, 200 GiB");
    }

    #[test]
    fn times_need_their_unit() {
        assert_eq!(parse_time("1.5s"), Ok(1_500_000_000));
        assert_eq!(parse_time("5 min"), Ok(300_000_000_000));
        assert_eq!(parse_time("30").unwrap_err().help, "write \"30s\" for seconds");
        assert!(parse_time("0s").is_err());
        assert!(parse_time("3 days").is_err());
    }

    proptest! {
        #[test]
        fn a_formatted_size_reads_back(bytes in any::<u64>()) {
            prop_assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
        }

        #[test]
        fn a_formatted_time_reads_back(nanos in 1..u64::MAX) {
            prop_assert_eq!(parse_time(&format_time(nanos)), Ok(nanos));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = (parse_size(&text), parse_time(&text));
        }
    }
}
