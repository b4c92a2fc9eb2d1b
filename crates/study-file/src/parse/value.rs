//! Parses one value of the study file according to its key.

use super::disks;
use super::wrong_value::{WrongValue, wrong};
use crate::schema::fio_options::wrong_value;
use crate::schema::key::{Axis, Key, Takes};
use crate::schema::pattern::Pattern;
use crate::syntax::diagnostic::{Span, enumerate, suggest, suggest_and_show};
use crate::syntax::unit::{describe_size, format_size, format_time, parse_percent, parse_size, parse_time};
use crate::{INFINITE, Known};
use toml::de::DeValue;

/// A value with its position.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub value: Value,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Left to mdadm, mkfs or the kernel.
    Default,
    /// Invalid; already reported. Nothing may be concluded from it.
    Broken,
    Text(String),
    Word(&'static str),
    Bytes(u64),
    Count(u64),
    Percent(u64),
    Nanos(u64),
    Share(f64),
    Number(f64),
    Flag(bool),
    Spread {
        min: u64,
        median: u64,
        max: u64,
    },
}

impl Value {
    /// The canonical form of the value: in axes, labels and claims.
    pub fn word(&self) -> String {
        match self {
            Self::Default => "default".to_owned(),
            Self::Broken => "?".to_owned(),
            Self::Text(text) => text.clone(),
            Self::Word(word) => (*word).to_owned(),
            Self::Bytes(bytes) => format_size(*bytes),
            Self::Count(count) => count.to_string(),
            Self::Percent(percent) => format!("{percent}%"),
            Self::Nanos(nanos) => format_time(*nanos),
            Self::Share(number) | Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Spread { min, max, .. } if min == max => format_size(*min),
            Self::Spread { min, median, max } => {
                format!("{}..{}..{}", format_size(*min), format_size(*median), format_size(*max))
            }
        }
    }

    /// The value of a size, a count, a time or a share in per cent.
    pub fn count(&self) -> Option<u64> {
        match self {
            Self::Bytes(n) | Self::Count(n) | Self::Percent(n) | Self::Nanos(n) => Some(*n),
            _ => None,
        }
    }
}

/// Name of a TOML type in messages.
pub(crate) fn type_name(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a floating-point number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// The default on the axis of a missing key, from its default text. In backticks or as a number it is a value of
/// the study file; otherwise the choice is left to mdadm, mkfs or the kernel.
pub(crate) fn default_value(key: &Key, known: &Known) -> Value {
    let quoted = key.default.strip_prefix('`').and_then(|rest| rest.split_once('`'));
    let literal = quoted.map_or(key.default, |(literal, _)| literal);
    let bytes = || parse_size(literal).ok().or((literal == "0").then_some(0));
    let value = match key.takes {
        Takes::Kernel => Some(Value::Text(known.kernels.first().cloned().unwrap_or_default())),
        Takes::Model => {
            let first = known.models.first().map(|model| model.name.clone());
            Some(Value::Text(first.unwrap_or_default()))
        }
        _ if key.axis == Axis::ListedOrDefault => None,
        Takes::Count { .. } => literal.parse().ok().map(Value::Count),
        Takes::Size { .. } => bytes().map(Value::Bytes),
        Takes::Spread => bytes().map(|size| Value::Spread {
            min: size,
            median: size,
            max: size,
        }),
        Takes::Flag => literal.parse().ok().map(Value::Flag),
        Takes::Percent { max } => parse_percent(key.name, literal, max).ok().map(Value::Percent),
        Takes::Pattern | Takes::Processor => Some(Value::Text(literal.to_owned())),
        Takes::Word(words) if quoted.is_some() => {
            let mut words = words.iter().map(|spellings| spellings[0]);
            words.find(|word| *word == literal).map(Value::Word)
        }
        _ => None,
    };
    value.unwrap_or(Value::Default)
}

/// Parses one value of `key`. Lists and tables are handled by the caller.
pub(crate) fn read_value(key: &Key, value: &DeValue, known: &Known) -> Result<Value, WrongValue> {
    if key.axis == Axis::ListedOrDefault && value.as_str() == Some("default") {
        return Ok(Value::Default);
    }
    match key.takes {
        Takes::Flag => match value {
            DeValue::Boolean(flag) => Ok(Value::Flag(*flag)),
            _ => wrong(
                format!("`{}` must be true or false", key.name),
                "write true or false, without quotes",
            ),
        },
        Takes::Count { min, max } => count(key, value, min, max),
        Takes::BusDisks => disks::of_bus(key, value),
        Takes::Share { above, below } => share(key, value, above, below),
        Takes::Word(words) | Takes::Words(words) => word(key, value, words),
        Takes::Figures => figure(key, value),
        Takes::Scalars => scalar(key, value),
        Takes::FioOption | Takes::Variables => fio_option(key, value),
        _ => text(key, value, known),
    }
}

fn text(key: &Key, value: &DeValue, known: &Known) -> Result<Value, WrongValue> {
    let Some(text) = value.as_str() else {
        return no_text(key, value);
    };
    match key.takes {
        Takes::Text => Ok(Value::Text(text.to_owned())),
        Takes::Size { min, max } => sized(key, text, min, max),
        Takes::Spread => sized(key, text, 0, 16 << 40)
            .map(|value| value.count().unwrap_or(0))
            .map(|size| Value::Spread {
                min: size,
                median: size,
                max: size,
            }),
        Takes::Time => Ok(Value::Nanos(parse_time(text)?)),
        Takes::Percent { max } => Ok(Value::Percent(parse_percent(key.name, text, max)?)),
        Takes::Kernel => kernel(key, text, known),
        Takes::Processor => processor(key, text, known),
        Takes::Mount => mount(text),
        Takes::Members => disks::members(key, text),
        Takes::Pattern => match Pattern::parse(text) {
            Ok(pattern) => Ok(Value::Text(pattern.word())),
            Err((message, help)) => wrong(message, help),
        },
        Takes::Hex => hex(key, text),
        _ => name(key, text),
    }
}

fn no_text<T>(key: &Key, value: &DeValue) -> Result<T, WrongValue> {
    let as_written = match value {
        DeValue::Integer(number) => number.as_str(),
        DeValue::Float(number) => number.as_str(),
        _ => {
            let message = format!("`{}` must be a string, not {}", key.name, type_name(value));
            return wrong(message, "write it in quotes");
        }
    };
    match key.takes {
        Takes::Size { .. } | Takes::Spread => match parse_size(as_written) {
            Err(unit) => Err(unit.into()),
            Ok(_) => wrong(
                format!("`{}` must be a size", key.name),
                "write sizes as \"512K\", \"4MiB\", \"200 GiB\"",
            ),
        },
        Takes::Time => wrong(
            format!("the time `{as_written}` has no unit"),
            format!("write \"{as_written}s\""),
        ),
        Takes::Percent { .. } => wrong(
            format!("`{}` must be a share in per cent", key.name),
            format!("write \"{as_written} %\""),
        ),
        // 6.10 without quotes is the number 6.1.
        _ => wrong(
            format!("`{}` must be a string, not a number", key.name),
            format!("write \"{as_written}\""),
        ),
    }
}

pub(super) fn name(key: &Key, text: &str) -> Result<Value, WrongValue> {
    if text.trim().is_empty() {
        return wrong(format!("`{}` is empty", key.name), format!("it is {}", key.help()));
    }
    if text.chars().any(char::is_control) {
        return wrong(
            format!("`{}` has control characters or several lines", key.name),
            "write it on one line",
        );
    }
    if ["name", "title"].contains(&key.name) && text.starts_with(['=', '+', '-', '@']) {
        return wrong(
            format!(
                "`{}` begins with `{}`: a spreadsheet that opens an export takes it for a formula",
                key.name,
                &text[..1]
            ),
            "begin it with a letter or a digit",
        );
    }
    if key.name == "model" && text.starts_with("~/") {
        return wrong(
            format!("`{text}`: `~` is not expanded"),
            "name a model file by its path from the study's folder",
        );
    }
    // These characters separate the parts of keys, filters and claims.
    if matches!(key.name, "name" | "model" | "kernel")
        && let Some(sign) = text.chars().find(|c| "|,=<>~".contains(*c))
    {
        return wrong(
            format!("`{}` contains `{sign}`", key.name),
            "it must not contain any of | , = < > ~",
        );
    }
    Ok(Value::Text(text.trim().to_owned()))
}

fn sized(key: &Key, text: &str, min: u64, max: u64) -> Result<Value, WrongValue> {
    let bytes = match parse_size(text) {
        Ok(bytes) => bytes,
        // A plain 0 is the same in all units.
        Err(_) if min == 0 && text.trim() == "0" => 0,
        Err(unit) => return Err(unit.into()),
    };
    if bytes < min || bytes > max {
        let bounds = format!("it must be from {} to {}", format_size(min), format_size(max));
        return wrong(format!("`{}` cannot be {}", key.name, describe_size(bytes)), bounds);
    }
    if matches!(
        key.name,
        "chunk" | "bitmap_chunk" | "block_size" | "chunk_size" | "extent" | "recordsize" | "log_buffer_size"
    ) && !bytes.is_power_of_two()
    {
        let below = 1 << bytes.ilog2();
        let help = format!("{} or {}", format_size(below), format_size((below * 2).min(max)));
        return wrong(
            format!("the {} must be a power of two", key.name.replace('_', " ")),
            help,
        );
    }
    Ok(Value::Bytes(bytes))
}

pub(super) fn count(key: &Key, value: &DeValue, min: u64, max: u64) -> Result<Value, WrongValue> {
    let number = match value {
        DeValue::Integer(number) => number,
        DeValue::String(text) if text.trim().parse::<u64>().is_ok() => {
            return wrong(
                format!("`{}` must be a number, not a string", key.name),
                format!("write {}", text.trim()),
            );
        }
        // Read-ahead may also be given as a size.
        DeValue::String(text) if key.name == "read_ahead" => {
            let help = parse_size(text).map(|bytes| format!("{text} is {} sectors", bytes / 512));
            return wrong(
                "`read_ahead` counts sectors of 512 bytes".to_owned(),
                help.unwrap_or(key.help()),
            );
        }
        other => {
            let message = format!("`{}` must be a whole number, not {}", key.name, type_name(other));
            return wrong(message, format!("write a number from {min} to {max}, without quotes"));
        }
    };
    match i128::from_str_radix(number.as_str(), number.radix()) {
        Ok(n) if n >= i128::from(min) && n <= i128::from(max) => Ok(Value::Count(n as u64)),
        _ => wrong(
            format!("`{}` cannot be {}", key.name, number.as_str()),
            format!("it must be from {min} to {max}"),
        ),
    }
}

fn share(key: &Key, value: &DeValue, above: f64, below: f64) -> Result<Value, WrongValue> {
    let number = match value {
        DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
        DeValue::Integer(number) => number.as_str().parse::<f64>().ok(),
        _ => None,
    };
    match number {
        Some(share) if share > above && share < below => Ok(Value::Share(share)),
        Some(percent) if (1.0..100.0).contains(&percent) => {
            let message = format!("`{}` cannot be {percent}: it is a share, not a percentage", key.name);
            wrong(message, format!("write {} for {percent} %", percent / 100.0))
        }
        _ => wrong(
            format!("`{}` must be a share above {above} and below {below}", key.name),
            "write 0.02 for 2 %",
        ),
    }
}

/// A published figure.
fn figure(key: &Key, value: &DeValue) -> Result<Value, WrongValue> {
    let number = match value {
        DeValue::Float(number) => number.as_str().replace('_', "").parse::<f64>().ok(),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .map(|n| n as f64),
        DeValue::String(text) if text.trim() == "-" => return Ok(Value::Default),
        _ => None,
    };
    match number.filter(|number| number.is_finite()) {
        Some(number) => Ok(Value::Number(number)),
        None => wrong(
            format!("`{}` takes numbers, not {}", key.name, type_name(value)),
            "write numbers without quotes and units, \"-\" where none was published",
        ),
    }
}

/// A value of an axis that the caller knows.
fn scalar(key: &Key, value: &DeValue) -> Result<Value, WrongValue> {
    match value {
        DeValue::String(text) => Ok(Value::Text(text.trim().to_owned())),
        DeValue::Integer(number) => Ok(Value::Text(number.as_str().to_owned())),
        DeValue::Float(number) => Ok(Value::Text(number.as_str().to_owned())),
        DeValue::Boolean(flag) => Ok(Value::Text(flag.to_string())),
        _ => wrong(
            format!("`{}` takes values of axes, not {}", key.name, type_name(value)),
            "write row = [5, \"32K\"]",
        ),
    }
}

fn word(key: &Key, value: &DeValue, words: &'static [&'static [&'static str]]) -> Result<Value, WrongValue> {
    let firsts: Vec<&str> = words.iter().map(|spellings| spellings[0]).collect();
    let text = match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) if key.name == "metadata" => {
            return wrong(
                "`metadata` must be a string, not a number".to_owned(),
                format!("write \"{}\"", number.as_str()),
            );
        }
        other => {
            let message = format!("`{}` cannot be {}", key.name, type_name(other));
            return wrong(message, enumerate(&firsts));
        }
    };
    let lower = text.trim().to_lowercase();
    let is_it = |spelling: &&str| spelling.eq_ignore_ascii_case(&lower);
    if let Some(spellings) = words.iter().find(|spellings| spellings.iter().any(is_it)) {
        return Ok(Value::Word(spellings[0]));
    }
    let help = match (key.name, lower.as_str()) {
        ("unit", "kb/s" | "mb/s" | "gb/s" | "k/s") => {
            "KB, MB, GB are ambiguous (1000 or 1024): write KiB/s, MiB/s, GiB/s, as Bonnie and IOzone mean them"
                .to_owned()
        }
        ("scheduler", "deadline") => "its name is now `mq-deadline`".to_owned(),
        ("scheduler", "noop") => "its name is now `none`".to_owned(),
        ("scheduler", "cfq") => "CFQ was removed in Linux 5.0; use `bfq`".to_owned(),
        ("type", "ext") => enumerate(&["ext2", "ext3", "ext4"]),
        ("type", word) if word.starts_with("ext") && word.len() == 4 => enumerate(&["ext2", "ext3", "ext4"]),
        ("type", "ntfs") => "`ntfs3` is the kernel's driver, `ntfs-3g` the FUSE driver".to_owned(),
        ("level", "z" | "raidz" | "raidz1" | "raidz2" | "raidz3") => {
            "for ZFS: level = \"none\" and fs = { type = \"zfs\", pool = \"raidz1\" }".to_owned()
        }
        ("pool", "raid10" | "10" | "mirrors") => {
            "for striped mirrors: pool = \"mirror\", vdev_disks = 2".to_owned()
        }
        _ => suggest(&text, &firsts),
    };
    wrong(format!("`{}` cannot be `{text}`", key.name), help)
}

/// A value of an fio option in fio's format.
fn fio_option(key: &Key, value: &DeValue) -> Result<Value, WrongValue> {
    let text = match value {
        DeValue::String(text) => text.trim().to_owned(),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(flag) => u8::from(*flag).to_string(),
        other => {
            let message = format!("`{}` cannot be {}", key.name, type_name(other));
            return wrong(message, format!("it is {}", key.help()));
        }
    };
    match wrong_value(key.name, &text) {
        None if text.is_empty() => wrong(format!("`{}` is empty", key.name), format!("it is {}", key.help())),
        None => Ok(Value::Text(text)),
        Some((message, help)) => wrong(message, help),
    }
}

fn hex(key: &Key, text: &str) -> Result<Value, WrongValue> {
    let digits = text.trim().to_lowercase();
    let sound = digits.strip_prefix("0x").is_some_and(|digits| {
        (2..=1024).contains(&digits.len())
            && digits.len().is_multiple_of(2)
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    if sound {
        return Ok(Value::Text(digits));
    }
    wrong(
        format!("`{}` takes up to 512 bytes in hexadecimal, not `{text}`", key.name),
        "write \"0xdeadbeef\", two digits for each byte",
    )
}

fn kernel(key: &Key, text: &str, known: &Known) -> Result<Value, WrongValue> {
    if known.kernels.is_empty() || known.kernels.iter().any(|kernel| kernel == text) {
        return name(key, text);
    }
    let kernels: Vec<&str> = known.kernels.iter().map(String::as_str).collect();
    let help = suggest_and_show(text, &kernels, "`raidlab kernel build` builds others");
    wrong(format!("unknown kernel `{text}`"), help)
}

fn processor(key: &Key, text: &str, known: &Known) -> Result<Value, WrongValue> {
    if known.accepts_processor(text) {
        return name(key, text);
    }
    let mut names = vec![INFINITE];
    names.extend(known.processors.iter().map(|known| known.name.as_str()));
    let help = suggest_and_show(text, &names, "`raidlab cpu list` shows them; a file is \"./here.toml\"");
    wrong(format!("unknown processor `{text}`"), help)
}

fn mount(text: &str) -> Result<Value, WrongValue> {
    let sound =
        |option: &str| !option.is_empty() && !option.contains(|c: char| c.is_whitespace() || c.is_control());
    if text.is_empty() {
        return wrong("`mount` is empty".to_owned(), "write \"defaults\" for no options");
    }
    if !text.split(',').all(sound) || text.starts_with('-') {
        return wrong(
            format!("`{text}` are not valid mount options"),
            "write \"noatime,data=journal\", without spaces",
        );
    }
    Ok(Value::Text(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_that_the_reference_shows_as_a_value_is_read_as_one() {
        let shown = |key: &&Key| key.axis == Axis::Listed && key.default.starts_with(['`', '0', '1', '5', '8']);
        let mut seen = 0;
        for key in crate::schema::keys::all().filter(shown) {
            let value = default_value(key, &Known::default());
            assert_ne!(value, Value::Default, "{:?} {}: {}", key.table, key.name, key.default);
            seen += 1;
        }
        assert!(seen > 40, "{seen}");
        let of = |axis: &str| {
            let key = crate::schema::keys::all()
                .find(|key| key.axis_name == axis)
                .expect(axis);
            default_value(key, &Known::default())
        };
        assert_eq!(of("io_size"), Value::Bytes(1 << 30));
        assert_eq!(of("stride"), Value::Count(17));
        assert_eq!(of("level"), Value::Word("single"));
        assert_eq!(of("time_based"), Value::Flag(true));
        assert_eq!(of("directories"), Value::Default);
        assert_eq!(of("chunk"), Value::Default);
    }
}
