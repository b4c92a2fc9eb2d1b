//! The arguments of `raidlab risk`: figures with units, and ranges of them.

use super::{Format, seed, whole};
use clap::Args;
use risk::Scheme;

#[derive(Args, Debug)]
pub struct RiskArguments {
    /// Disks of the array, without spares
    #[arg(long, value_name = "COUNT", value_parser = |text: &str| whole(text, 1..=100_000), allow_negative_numbers = true)]
    pub disks: u64,
    /// 1, 5, 6, 10, 50, 60, raidz1, raidz2 or raidz3
    #[arg(long, value_parser = RiskLevel::parse)]
    pub level: RiskLevel,
    /// Groups of equal size that the disks form (default: 2 for levels 50 and 60, else 1)
    #[arg(long, value_name = "COUNT", value_parser = |text: &str| whole(text, 1..=1000), allow_negative_numbers = true)]
    pub groups: Option<u64>,
    /// Copies of level 10
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = |text: &str| whole(text, 2..=9), allow_negative_numbers = true)]
    pub copies: u64,
    /// For how long
    #[arg(long, default_value_t = 5, value_parser = |text: &str| whole(text, 1..=50), allow_negative_numbers = true)]
    pub years: u64,
    /// Failures per disk and year, or a range: `0.8%..2%`
    #[arg(long, value_name = "PERCENT", default_value = "1.4%", value_parser = afr, allow_negative_numbers = true)]
    pub afr: Range,
    /// Weibull shape of the lifetimes: 1 is a constant rate, above 1 disks wear out
    #[arg(long, default_value = "1", value_parser = shape, allow_negative_numbers = true)]
    pub shape: f64,
    /// Time of a rebuild, or a range: `10h..2d`
    #[arg(long, value_name = "TIME", default_value = "20h", value_parser = rebuild, allow_negative_numbers = true)]
    pub rebuild: Range,
    /// Weibull part of a rebuild's time in addition, shape 2: 63 % are shorter than it
    #[arg(long, value_name = "TIME", default_value = "0h", value_parser = hours, allow_negative_numbers = true)]
    pub rebuild_extra: f64,
    /// Time until a rebuild begins (0h: a spare is there)
    #[arg(long, value_name = "TIME", default_value = "0h", value_parser = delay, allow_negative_numbers = true)]
    pub replace_after: Range,
    /// New unreadable sectors per disk and year, or a range
    #[arg(long, value_name = "PERCENT", default_value = "3.3%", value_parser = latent, allow_negative_numbers = true)]
    pub latent: Range,
    /// Interval in which all sectors are read once, a range, or `never`
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = scrub, allow_negative_numbers = true)]
    pub scrub: Range,
    /// Arrays from a bad batch and how often their disks fail: `10%x5`, a tenth of the arrays, five times as often
    #[arg(long, value_name = "SHARExFACTOR", value_parser = batch, allow_negative_numbers = true)]
    pub batch: Option<risk::Batch>,
    /// Size of a disk in TB, for the datasheet's bound
    #[arg(long, value_name = "TB", default_value_t = 16, value_parser = |text: &str| whole(text, 1..=1000), allow_negative_numbers = true)]
    pub size_tb: u64,
    /// The datasheet's bits read per unreadable sector, for its bound
    #[arg(long, value_name = "BITS", default_value = "1e15", value_parser = bits, allow_negative_numbers = true)]
    pub bits_per_error: f64,
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// A level as typed, and what it tolerates.
#[derive(Clone, Debug)]
pub struct RiskLevel {
    pub word: String,
    pub scheme: Scheme,
    pub groups: u32,
}

impl RiskLevel {
    fn parse(text: &str) -> Result<Self, String> {
        const WORDS: &str = "write 1, 5, 6, 10, 50, 60, raidz1, raidz2 or raidz3";
        let (scheme, groups) = match text.trim_start_matches("raid") {
            "1" => (Scheme::Mirror, 1),
            "10" => (Scheme::Mirrors, 1),
            "5" => (Scheme::Parity(1), 1),
            "6" => (Scheme::Parity(2), 1),
            "z1" => (Scheme::Raidz(1), 1),
            "z2" => (Scheme::Raidz(2), 1),
            "z3" => (Scheme::Raidz(3), 1),
            "50" => (Scheme::Parity(1), 2),
            "60" => (Scheme::Parity(2), 2),
            "0" => return Err(format!("level 0 loses everything with its first failed disk; {WORDS}")),
            _ => return Err(WORDS.to_owned()),
        };
        let word = match text.starts_with("raid") {
            true => text.to_uppercase().replace("RAIDZ", "raidz").replace("RAID", "RAID "),
            false => format!("RAID {text}"),
        };
        Ok(Self { word, scheme, groups })
    }
}

/// Both ends and the value between them. Without a range all are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub value: f64,
    pub high: f64,
}

impl Range {
    pub fn is_range(self) -> bool {
        self.low < self.high
    }

    /// `LOW..HIGH` or one value. The value between is the geometric mean: what is known of such figures is a factor.
    fn parse(text: &str, one: impl Fn(&str) -> Result<f64, String>) -> Result<Self, String> {
        let Some((low, high)) = text.split_once("..") else {
            let value = one(text)?;
            return Ok(Self {
                low: value,
                value,
                high: value,
            });
        };
        // `0.8..2%`: the unit of the upper end is that of both.
        let unit = high.trim_start_matches(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        let has_unit = !low.is_empty() && low.ends_with(|c: char| c.is_ascii_alphabetic() || c == '%');
        let low_text = if has_unit {
            low.to_owned()
        } else {
            format!("{low}{unit}")
        };
        let (low, high) = (one(&low_text)?, one(high)?);
        if low > high {
            return Err(format!(
                "the range is reversed: write `{}..{low_text}`",
                text.rsplit("..").next().unwrap_or("")
            ));
        }
        let value = match low > 0.0 && high.is_finite() {
            true => (low * high).sqrt(),
            false if high.is_finite() => f64::midpoint(low, high),
            false => return Err("`never` is no end of a range: write it alone".to_owned()),
        };
        Ok(Self { low, value, high })
    }
}

fn percent(text: &str, is_zero_valid: bool, max: f64, what: &str) -> Result<f64, String> {
    let zero = if is_zero_valid { "0" } else { "above 0" };
    let wanted = || format!("write {what} from {zero} to {max} %, with its unit: `1.4%`");
    let number = text.strip_suffix('%').ok_or_else(wanted)?;
    let percent: f64 = number.trim().parse().map_err(|_| wanted())?;
    let is_valid = (0.0..=max).contains(&percent) && (is_zero_valid || percent > 0.0);
    is_valid.then_some(percent / 100.0).ok_or_else(wanted)
}

fn afr(text: &str) -> Result<Range, String> {
    Range::parse(text, |text| percent(text, false, 100.0, "an annualised failure rate"))
}

fn latent(text: &str) -> Result<Range, String> {
    Range::parse(text, |text| {
        percent(text, true, 100_000.0, "new unreadable sectors per disk and year")
    })
}

fn hours(text: &str) -> Result<f64, String> {
    /// Ten years.
    const HOURS_MAX: f64 = 87_660.0;
    let wanted = "write a time of at most 10 years with its unit: `90m`, `20h`, `30d`";
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "m" | "min" => 1.0 / 60.0,
        "h" => 1.0,
        "d" => 24.0,
        "w" => 168.0,
        _ => return Err(wanted.to_owned()),
    };
    let hours = digits.parse::<f64>().map(|number| number * unit);
    let hours = hours.ok().filter(|hours| (0.0..=HOURS_MAX).contains(hours));
    hours.ok_or_else(|| wanted.to_owned())
}

fn above_zero(hours: f64) -> Result<f64, String> {
    match hours > 0.0 {
        true => Ok(hours),
        false => Err("write a time above 0".to_owned()),
    }
}

fn rebuild(text: &str) -> Result<Range, String> {
    Range::parse(text, |text| hours(text).and_then(above_zero))
}

fn delay(text: &str) -> Result<Range, String> {
    Range::parse(text, hours)
}

fn scrub(text: &str) -> Result<Range, String> {
    Range::parse(text, |text| match text {
        "never" => Ok(f64::INFINITY),
        _ => hours(text)
            .and_then(above_zero)
            .map_err(|error| format!("{error}, or `never`")),
    })
}

fn shape(text: &str) -> Result<f64, String> {
    let shape = text.parse().ok().filter(|shape| (0.1..=20.0).contains(shape));
    shape.ok_or_else(|| "write a shape from 0.1 to 20 (1: a constant rate)".to_owned())
}

fn batch(text: &str) -> Result<risk::Batch, String> {
    let wanted = "write the share of the arrays and a factor from 1 to 1000: `10%x5`";
    let parts = text.split_once('x');
    let (share, factor) = parts.ok_or_else(|| wanted.to_owned())?;
    let share = percent(share, false, 100.0, "a share").map_err(|_| wanted.to_owned())?;
    let factor = factor.parse().ok().filter(|factor| (1.0..=1000.0).contains(factor));
    factor
        .map(|factor| risk::Batch { share, factor })
        .ok_or_else(|| wanted.to_owned())
}

fn bits(text: &str) -> Result<f64, String> {
    let bits = text.parse().ok().filter(|bits| (1e10..=1e20).contains(bits));
    bits.ok_or_else(|| "write the bits per error as in the datasheet, from 1e10 to 1e20: `1e15`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_a_unit_and_an_order() {
        let range = afr("0.5..2%").expect("a range");
        assert_eq!((range.low, range.value, range.high), (0.005, 0.01, 0.02));
        assert_eq!(rebuild("10h..2d").map(|range| range.high), Ok(48.0));
        assert_eq!(
            afr("2%..0.5%"),
            Err("the range is reversed: write `0.5%..2%`".to_owned())
        );
        assert_eq!(scrub("never").map(|range| range.value), Ok(f64::INFINITY));
        for text in ["", "1.4", "0%", "101%", "-1%", "NaN%", "1%..", "..1%", "x..1%"] {
            assert!(afr(text).is_err(), "{text}");
        }
        for text in ["", "20", "0h", "h", "1e9h", "20x", "-1h", "never", "é"] {
            assert!(rebuild(text).is_err(), "{text}");
        }
        assert!(scrub("1d..never").is_err());
    }

    #[test]
    fn levels_and_batches() {
        let word = |text| RiskLevel::parse(text).map(|level| level.word);
        assert_eq!(
            (word("6"), word("raid6")),
            (Ok("RAID 6".to_owned()), Ok("RAID 6".to_owned()))
        );
        assert_eq!(word("raidz3"), Ok("raidz3".to_owned()));
        for text in ["0", "", "7", "raidz4"] {
            assert!(word(text).is_err(), "{text}");
        }
        let factor = 5.0;
        assert_eq!(batch("10%x5"), Ok(risk::Batch { share: 0.1, factor }));
        for text in ["10x5", "10%", "10%x0", "0%x5"] {
            assert!(batch(text).is_err(), "{text}");
        }
    }
}
