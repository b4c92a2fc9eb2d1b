//! Values that name disks.

use super::value::{Value, count, name, type_name};
use super::wrong_value::{WrongValue, wrong};
use crate::schema::key::Key;
use toml::de::DeValue;

/// `1`, `"journal"`, `"source:1"`.
pub(super) fn of_bus(key: &Key, value: &DeValue) -> Result<Value, WrongValue> {
    match value {
        DeValue::Integer(_) => count(key, value, 1, 4096),
        DeValue::String(text) => name(key, text),
        other => wrong(
            format!("`{}` must be a list of disks, not {}", key.name, type_name(other)),
            key.help(),
        ),
    }
}

/// `data:1,ssd`: spaces after commas do not count.
pub(super) fn members(key: &Key, text: &str) -> Result<Value, WrongValue> {
    let parts: Vec<&str> = text.split([',', '+']).map(str::trim).collect();
    let is_disk = |part: &&str| {
        let number = part
            .split_once(':')
            .map_or(Some(1), |(_, number)| number.parse::<u32>().ok());
        !part.is_empty() && !part.starts_with(':') && number.is_some_and(|number| number > 0)
    };
    match parts.iter().all(is_disk) {
        true => Ok(Value::Text(parts.join(","))),
        false => wrong(
            format!("`{}` cannot be `{text}`", key.name),
            "write groups of disks, or single disks of them by number, separated by commas: \"data:1,ssd:1\"",
        ),
    }
}
