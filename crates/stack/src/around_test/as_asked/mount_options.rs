//! Mount options as the kernel shows them in /proc/self/mounts.

use super::{Comparison, Difference};

/// Options of every filesystem that the kernel always shows.
const ALWAYS_SHOWN: [&str; 10] = [
    "ro",
    "noatime",
    "nodiratime",
    "relatime",
    "lazytime",
    "nosuid",
    "nodev",
    "noexec",
    "sync",
    "dirsync",
];

/// Compares the options of a study with those that the kernel shows, each of which is one of a list that commas separate. A
/// filesystem does not show what is its default, and not every option: only another value, or the opposite, is a difference.
pub(super) fn compare(asked: &[String], shown: &str, all: &mut Comparison) {
    let shown: Vec<&str> = shown.split(',').collect();
    let asked: Vec<&str> = asked.iter().flat_map(|entry| entry.split(',')).map(str::trim).collect();
    for (index, option) in asked.iter().enumerate() {
        let later = &asked[index + 1..];
        if is_for_mount_alone(option) || later.iter().any(|later| name(later) == name(option)) {
            continue;
        }
        all.compared += 1;
        let difference = |found: &str| Difference {
            key: "mount option".to_owned(),
            asked: (*option).to_owned(),
            found: found.to_owned(),
        };
        if shown.iter().any(|found| is_same(option, found)) {
            continue;
        }
        let is_other = |found: &&&str| name(found) == name(option);
        match shown.iter().find(is_other) {
            Some(other) => all.differences.push(difference(other)),
            None if ALWAYS_SHOWN.contains(option) => all.differences.push(difference(&shown.join(","))),
            None => all.not_shown.push((*option).to_owned()),
        }
    }
}

/// Options that mount(8) uses itself.
fn is_for_mount_alone(option: &str) -> bool {
    let words = ["", "defaults", "auto", "noauto", "nofail", "_netdev", "loud", "silent"];
    words.contains(&option) || option.starts_with("x-") || option.starts_with("comment=")
}

/// Without `no` and without a value: what an option is about.
fn name(option: &str) -> &str {
    let name = option.split('=').next().unwrap_or(option);
    match name {
        "noatime" | "relatime" | "strictatime" => "atime",
        "rw" | "ro" => "ro",
        "async" => "sync",
        _ => name.strip_prefix("no").filter(|rest| rest.len() > 1).unwrap_or(name),
    }
}

/// Whether the kernel's word says the same as the study's.
fn is_same(asked: &str, found: &str) -> bool {
    if name(asked) != name(found) {
        return false;
    }
    let value = |option: &str| option.split_once('=').map(|(_, value)| value.to_owned());
    match (value(asked), value(found)) {
        // The kernel adds a level (`zstd:3`), and writes sizes in other units.
        (Some(asked), Some(found)) => {
            let same_size = size(&asked).is_some_and(|bytes| size(&found) == Some(bytes));
            found == asked || found.starts_with(&format!("{asked}:")) || same_size
        }
        // `barrier=0` is shown as `nobarrier`.
        (Some(number), None) if number == "0" || number == "1" => (number == "0") == is_negated(found),
        (Some(_), None) => false,
        (None, Some(found)) => (found == "0") == is_negated(asked),
        (None, None) if name(asked) == "atime" => asked == found || (asked == "atime" && found != "noatime"),
        (None, None) => is_negated(asked) == is_negated(found),
    }
}

fn is_negated(option: &str) -> bool {
    match option {
        "noatime" | "relatime" | "strictatime" | "atime" => option == "noatime",
        "ro" | "async" => true,
        _ => option.starts_with("no") && name(option) != option.split('=').next().unwrap_or(option),
    }
}

/// `64k`, `65536`: bytes.
fn size(value: &str) -> Option<u64> {
    let digits = value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    let shift = match &value[digits.len()..].to_ascii_lowercase()[..] {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    Some(number << shift)
}
