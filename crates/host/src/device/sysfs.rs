//! Attributes of devices in /sys.

use crate::device::device_number::DeviceNumber;
use std::fs;
use std::path::{Path, PathBuf};

/// The value of an attribute without surrounding white space; none if it is missing, unreadable or empty.
pub(crate) fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

pub(crate) fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

/// The number of the device whose folder this is.
pub(crate) fn device_number(folder: &Path) -> Option<DeviceNumber> {
    DeviceNumber::parse(&text(&folder.join("dev"))?)
}

/// The entries of a folder, sorted; none if it does not exist.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    all.sort();
    all
}

/// The last part of a path.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The word in brackets, as in `none [mq-deadline] kyber`; the whole line if there are none.
pub(crate) fn in_use(line: &str) -> &str {
    let bracketed = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(line, |(word, _)| word)
}
