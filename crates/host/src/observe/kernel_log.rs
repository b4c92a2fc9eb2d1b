//! Reads the kernel's log from a point in time.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

/// The kernel's error level; smaller is worse.
const ERROR: u32 = 3;

/// md's message when a member fails, by itself or by `mdadm --fail`.
const MEMBER_FAILED: &str = "Disk failure";

/// Messages by which drivers report a failed disk.
const FAILURES: [&str; 9] = [
    "I/O error",
    MEMBER_FAILED,
    "rejecting I/O",
    "Medium Error",
    "medium error",
    "target error",
    "space allocation error",
    "timed out",
    "failed command",
];

/// Reads from the position at which it was opened. Empty without permission.
#[derive(Debug)]
pub struct KernelLog {
    file: Option<File>,
    /// The first lines of the error level, in order, because they show the cause.
    errors: Vec<String>,
    /// Failures that acts will cause: the disks, by their indices among the watched disks.
    failed_on_purpose: Vec<usize>,
}

impl KernelLog {
    const ERRORS_MAX: usize = 5;

    pub fn from_now() -> KernelLog {
        let file = File::options()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/kmsg");
        let at_its_end = file.and_then(|mut file| file.seek(SeekFrom::End(0)).map(|_| file));
        KernelLog {
            file: at_its_end.ok(),
            errors: Vec::new(),
            failed_on_purpose: Vec::new(),
        }
    }

    /// The study's acts fail these disks: md's messages about that are not failures of the disks.
    pub fn expecting(self, failed_on_purpose: Vec<usize>) -> KernelLog {
        KernelLog {
            failed_on_purpose,
            ..self
        }
    }

    /// Reads new lines; returns the first one that reports a failure of one of these disks.
    pub fn failure_of(&mut self, disks: &[String]) -> Option<String> {
        let mut failure = None;
        // One record per read; records that do not fit or were overwritten are skipped.
        let mut record = [0; 8192];
        loop {
            let text = match self.file.as_mut().map(|file| file.read(&mut record)) {
                Some(Ok(count @ 1..)) => String::from_utf8_lossy(&record[..count]).into_owned(),
                Some(Err(error)) if matches!(error.raw_os_error(), Some(libc::EPIPE | libc::EINVAL)) => continue,
                _ => return failure,
            };
            let Some((level, message)) = parse(&text) else { continue };
            if let Some(expected) = expected(message, disks, &self.failed_on_purpose) {
                // A further failure of the disk was not caused by an act.
                self.failed_on_purpose.swap_remove(expected);
            } else if failure.is_none() && tells_of_failure(message, disks) {
                failure = Some(message.to_owned());
            }
            if level <= ERROR && self.errors.len() < Self::ERRORS_MAX {
                self.errors.push(message.to_owned());
            }
        }
    }

    /// The errors logged so far, the first of them.
    pub fn errors(&self) -> &[String] {
        &self.errors
    }
}

/// `3,1234,5678,-;message` and lines of details below it.
fn parse(record: &str) -> Option<(u32, &str)> {
    let (head, rest) = record.split_once(';')?;
    let priority: u32 = head.split(',').next()?.parse().ok()?;
    // The lower three bits are the level, the others the facility.
    Some((priority & 7, rest.lines().next().unwrap_or_default().trim()))
}

/// Requests that a disk may reject; the kernel then works without them.
const OPTIONAL: [&str; 2] = ["DISCARD", "WRITE_ZEROES"];

fn tells_of_failure(message: &str, disks: &[String]) -> bool {
    if OPTIONAL.iter().any(|request| message.contains(request)) {
        return false;
    }
    FAILURES.iter().any(|words| message.contains(words)) && disks.iter().any(|disk| names(message, disk))
}

/// The intentional failure that a message of md reports.
fn expected(message: &str, disks: &[String], on_purpose: &[usize]) -> Option<usize> {
    let is_of = |place: &usize| disks.get(*place).is_some_and(|disk| names(message, disk));
    on_purpose
        .iter()
        .position(is_of)
        .filter(|_| message.contains(MEMBER_FAILED))
}

/// Whether a message contains a disk's name as a word: `sda` is not in `sdab`; a partition counts as its disk.
fn names(message: &str, disk: &str) -> bool {
    let is_part_of_word = |c: char| c.is_ascii_alphabetic() || c == '_';
    message.match_indices(disk).any(|(at, _)| {
        let before = message[..at].chars().next_back();
        let after = message[at + disk.len()..].chars().next();
        let ends_in_digit = disk.ends_with(|c: char| c.is_ascii_digit());
        let goes_on = |c: char| is_part_of_word(c) && c != 'p' || (ends_in_digit && c.is_ascii_digit());
        !before.is_some_and(|c| is_part_of_word(c) || c.is_ascii_digit()) && !after.is_some_and(goes_on)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_a_level_and_a_message() {
        let record = "6,339,5140900,-;NET: Registered protocol family 10\n SUBSYSTEM=net\n";
        assert_eq!(parse(record), Some((6, "NET: Registered protocol family 10")));
        // Logged by a program (facility 1), level 3.
        assert_eq!(parse("11,1,2,-;x"), Some((3, "x")));
        assert_eq!(parse("nonsense"), None);
    }

    #[test]
    fn a_failure_names_the_disk() {
        let disks = ["loop1".to_owned(), "sda".to_owned()];
        for message in [
            "I/O error, dev loop1, sector 8 op 0x0:(READ) flags 0x0",
            "md/raid1:md100: Disk failure on sda, disabling device.",
            "Buffer I/O error on dev sda1, logical block 0, async page read",
        ] {
            assert!(tells_of_failure(message, &disks), "{message}");
        }
        for message in [
            "I/O error, dev loop10, sector 8",
            "I/O error, dev sdab, sector 8",
            "I/O error, dev sdb, sector 8",
            "sda: sda1 sda2",
            "critical target error, dev sda, sector 2048 op 0x3:(DISCARD) flags 0x800",
        ] {
            assert!(!tells_of_failure(message, &disks), "{message}");
        }
    }

    #[test]
    fn a_member_that_an_act_fails_is_expected_and_its_io_errors_are_not() {
        let disks = ["sda".to_owned(), "sdb".to_owned()];
        let by_md = "md/raid:md100: Disk failure on sdb, disabling device.";
        assert_eq!(expected(by_md, &disks, &[0, 1]), Some(1));
        assert_eq!(expected(by_md, &disks, &[0]), None);
        let io = "I/O error, dev sdb, sector 8 op 0x0:(READ) flags 0x0";
        assert_eq!(expected(io, &disks, &[1]), None);
        assert!(tells_of_failure(io, &disks));
    }
}
