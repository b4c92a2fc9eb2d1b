//! Removes what logs put around the output of a program: colours, carriage returns of terminals, and a time or a name
//! before each line.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;

/// The text as the program printed it, as far as that can be known.
pub(super) fn strip(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    if text.contains('\u{1b}') {
        text = Cow::Owned(anstream::adapter::strip_str(&text).to_string());
    }
    // A terminal's line of progress ends with a carriage return alone.
    if text.contains('\r') {
        text = Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"));
    }
    if text.lines().any(|line| prefix(line, &|_| true) > 0) {
        let containers = containers(&text);
        let is_container = |name: &str| containers.contains(name);
        let lines = text.lines().map(|line| &line[prefix(line, &is_container)..]);
        text = Cow::Owned(lines.collect::<Vec<_>>().join("\n"));
    }
    text
}

/// The names of containers before lines. A name before nothing but the first lines of fio's jobs is a part of their
/// names: `seq | x: (groupid=0`.
fn containers(text: &str) -> HashSet<String> {
    let mut names = HashSet::new();
    for line in text.lines() {
        let of_line = RefCell::new(Vec::new());
        let length = prefix(line, &|name| {
            of_line.borrow_mut().push(name.to_owned());
            true
        });
        let is_of_a_job = [": (groupid=", ": (g="]
            .iter()
            .any(|sign| line[length..].contains(sign));
        if !is_of_a_job {
            names.extend(of_line.into_inner());
        }
    }
    names
}

/// Bytes of the line that a log put before it, with the names of containers that are some.
fn prefix(line: &str, is_container: &dyn Fn(&str) -> bool) -> usize {
    let mut rest = line;
    // The log of a CI has the time of the log of a container.
    for _ in 0..3 {
        let before = rest;
        rest = github(rest).unwrap_or(rest);
        if let Some((name, of_container)) = compose(rest)
            && is_container(name)
        {
            rest = of_container;
        }
        for cut in [journal, bracket, time, container] {
            rest = cut(rest).unwrap_or(rest);
        }
        if rest.len() == before.len() {
            break;
        }
    }
    line.len() - rest.len()
}

/// `2024-05-14T09:12:10.1234567Z `, `2024-05-14 09:12:10 `, `00:14:33.770  `. One space belongs to the time; two, if the
/// clock is that of Jenkins, which has no date.
fn time(line: &str) -> Option<&str> {
    let (at, has_date) = match line.split_at_checked(11) {
        Some((date, _)) if fits(date, "0000-00-00T") || fits(date, "0000-00-00 ") => (11, true),
        _ => (0, false),
    };
    let clock = line.get(at..at + 8).filter(|clock| fits(clock, "00:00:00"))?;
    let rest = &line[at + clock.len()..];
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
    let zone = rest.trim_start_matches(|c: char| c.is_ascii_digit() || ['Z', '+', '-', ':'].contains(&c));
    if !has_date && zone.len() < rest.len() {
        return None;
    }
    if zone.is_empty() {
        return Some(zone);
    }
    let zone = zone.strip_prefix([' ', '\t'])?;
    Some(if has_date {
        zone
    } else {
        zone.strip_prefix(' ').unwrap_or(zone)
    })
}

/// `stdout F ` of a container's log, after its time.
fn container(line: &str) -> Option<&str> {
    ["stdout F ", "stderr F ", "stdout P ", "stderr P "]
        .into_iter()
        .find_map(|stream| line.strip_prefix(stream))
}

/// `[pod/fio-tkx9r/fio] ` of `kubectl logs --prefix`, `[2024-05-14 09:12:10] `.
fn bracket(line: &str) -> Option<&str> {
    let (inside, rest) = line.strip_prefix('[')?.split_once(']')?;
    if inside.starts_with("pod/") || time(inside) == Some("") {
        return Some(rest.strip_prefix(' ').unwrap_or(rest));
    }
    None
}

/// The name and the line of `fio-client-1  | ` of `docker compose logs`.
fn compose(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line
        .split_once(" | ")
        .or(line.split_once(" |").filter(|(_, rest)| rest.is_empty()))?;
    let name = name.trim_end();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    is_name.then_some((name, rest))
}

/// `May 14 09:12:10 rig fio[2211]: ` of a system's journal.
fn journal(line: &str) -> Option<&str> {
    let (date, rest) = line.split_at_checked(7)?;
    // A letter of another alphabet may be longer than a byte.
    let day = date.get(3..)?;
    if !date.starts_with(|c: char| c.is_ascii_uppercase()) || !fits(day, " 00 ") && !fits(day, "  0 ") {
        return None;
    }
    let clock = rest.get(..8).filter(|clock| fits(clock, "00:00:00"))?;
    let (host_and_program, rest) = rest[clock.len()..].split_once("]:")?;
    let is_header = host_and_program.split_whitespace().count() == 2 && host_and_program.contains('[');
    is_header.then(|| rest.strip_prefix(' ').unwrap_or(rest))
}

/// `build\tRun fio\t2024-05-14T09:12:10.1234567Z ` of `gh run view --log`.
fn github(line: &str) -> Option<&str> {
    let mut parts = line.splitn(3, '\t');
    let (_, _, rest) = (parts.next()?, parts.next()?, parts.next()?);
    time(rest).filter(|_| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether the text has digits where the pattern has `0`, and the pattern's characters elsewhere.
fn fits(text: &str, pattern: &str) -> bool {
    text.len() == pattern.len()
        && text.bytes().zip(pattern.bytes()).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            _ => byte == wanted,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_logs_put_before_a_line_is_removed_and_its_indentation_is_kept() {
        for line in [
            "2024-05-14T09:12:10.1234567Z   read: IOPS=1",
            "2024-05-14 09:12:10,123   read: IOPS=1",
            "2024-05-14T09:12:10+02:00   read: IOPS=1",
            "00:14:33.770    read: IOPS=1",
            "[2024-05-14T09:12:10Z]   read: IOPS=1",
            "[pod/fio-tkx9r/fio]   read: IOPS=1",
            "fio-client-1  |   read: IOPS=1",
            "May 14 09:12:10 rig fio[2211]:   read: IOPS=1",
            "May  4 09:12:10 rig fio[2211]:   read: IOPS=1",
            "build\tRun fio\t2024-05-14T09:12:10.1234567Z   read: IOPS=1",
            "2024-05-14T09:12:10Z fio-1  |   read: IOPS=1",
            "2024-05-14T09:12:10.123456789Z stdout F   read: IOPS=1",
            "\u{1b}[36m  read: IOPS=1\u{1b}[0m",
            "  read: IOPS=1\r",
        ] {
            assert_eq!(strip(line).trim_end(), "  read: IOPS=1", "{line}");
        }
    }

    #[test]
    fn output_of_a_program_is_left_as_it_is() {
        for text in [
            "     | 30.00th=[    2], 40.00th=[    2]",
            "{ \"a\" : [1, 2], \"time\" : \"Wed Jul  8 09:13:49 2026\" }",
            "[1, 2]",
            "              kB  reclen    write",
            "nas1            64G   184  99\t711234",
            "a: (groupid=0, jobs=1): err= 0: pid=1: Mon Feb 17 14:59:11 2020",
            "| a | b |",
            "",
        ] {
            assert_eq!(strip(text), text);
        }
    }
}
