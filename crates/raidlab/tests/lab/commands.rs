//! Lists of commands from different runs, made comparable.

use std::collections::BTreeMap;

/// Replaces UUIDs by their order of occurrence, and shortens devices' folders in /sys.
pub fn comparable(lines: &str) -> Vec<String> {
    let mut names = BTreeMap::new();
    // A set of bcache may end with its device, before it is asked to.
    let is_certain = |line: &&str| !(line.contains("/sys/fs/bcache/") && line.ends_with("/stop"));
    let lines = lines.lines().filter(is_certain);
    let lines = lines.map(|line| without_end(&short(line)));
    lines.map(|line| with_names(&line, &mut names)).collect()
}

/// The end of a dm-integrity device, and the sizes of thin pools and images, depend on sizes that the dry run does not know.
fn without_end(line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    let offset = words.iter().position(|word| *word == "--offset");
    if let Some(offset) = offset
        .and_then(|at| words.get_mut(at + 1))
        .filter(|offset| **offset != "0")
    {
        *offset = "END";
    }
    let is_truncate = words[0].ends_with("truncate");
    let is_size =
        |word: &&str| matches!(*word, "--virtualsize" | "--length" | "-V") || (is_truncate && *word == "-s");
    let size = words.iter().position(is_size);
    if let Some(size) = size.and_then(|at| words.get_mut(at + 1)) {
        *size = "SIZE";
    }
    words.join(" ")
}

/// `/sys/devices/…/block/vda` is `/sys/block/vda`.
fn short(line: &str) -> String {
    match line.split_once("/sys/devices/") {
        Some((before, rest)) => match rest.split_once("/block/") {
            Some((_, device)) => format!("{before}/sys/block/{device}"),
            None => line.to_owned(),
        },
        None => line.to_owned(),
    }
}

fn with_names(line: &str, names: &mut BTreeMap<String, usize>) -> String {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == ':' || c == '-';
    let mut text = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, others) = rest.split_at(end);
        let digits = word.chars().filter(char::is_ascii_hexdigit).count();
        if digits == 32 && (word.len() == 35 || word.len() == 36) {
            let next = names.len() + 1;
            let number = *names.entry(word.to_owned()).or_insert(next);
            text.push_str(&format!("UUID{number}"));
        } else {
            text.push_str(word);
        }
        let mut others = others.chars();
        text.extend(others.next());
        rest = others.as_str();
    }
    text
}

#[test]
fn uuids_are_named_in_their_order() {
    let lines = "mdadm --uuid=01234567:89abcdef:01234567:89abcdef /dev/vda\n\
        mke2fs -U 01234567-89ab-4def-a123-456789abcdef\n\
        echo none > /sys/devices/virtual/block/vda/queue/scheduler\n\
        mdadm --uuid=01234567:89abcdef:01234567:89abcdef /dev/vdb\n";
    let expected = [
        "mdadm --uuid=UUID1 /dev/vda",
        "mke2fs -U UUID2",
        "echo none > /sys/block/vda/queue/scheduler",
        "mdadm --uuid=UUID1 /dev/vdb",
    ];
    assert_eq!(comparable(lines), expected);
}
