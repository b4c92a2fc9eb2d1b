//! Attributes in /sys: read, write, read back, wait for changes.

use crate::machine::error::Cause;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The value of an attribute without the newline.
pub(crate) fn read(path: &Path) -> Result<String, Cause> {
    let text = fs::read_to_string(path).map_err(Cause::system(format!("read {}", path.display())))?;
    Ok(text.trim_end().to_owned())
}

/// An attribute as a number.
pub(crate) fn number(path: &Path, text: &str) -> Result<u64, Cause> {
    text.parse()
        .map_err(|_| Cause::State(format!("{} does not contain a number, but `{text}`", path.display())))
}

/// The entries of a folder.
pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>, Cause> {
    let doing = || Cause::system(format!("list {}", folder.display()));
    let entries = fs::read_dir(folder).map_err(doing())?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    paths.map_err(doing())
}

pub(crate) fn write(path: &Path, value: &str) -> Result<(), Cause> {
    let doing = || Cause::system(format!("write `{value}` to {}", path.display()));
    let mut file = fs::OpenOptions::new().write(true).open(path).map_err(doing())?;
    file.write_all(value.as_bytes()).map_err(doing())
}

/// Reads an attribute and, if its value is not `until`, sleeps until the kernel reports a change or the time is
/// over. Returns the value that was read; callers read again.
pub(crate) fn read_or_sleep(path: &Path, until: &str, at_most: Duration) -> Result<String, Cause> {
    let doing = || Cause::system(format!("read {}", path.display()));
    let mut file = fs::File::open(path).map_err(doing())?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(doing())?;
    let value = text.trim_end().to_owned();
    if value != until {
        let timeout = Timespec::try_from(at_most).ok();
        // The caller reads again, whether this was a change, the timeout or a signal.
        let _ = poll(&mut [PollFd::new(&file, PollFlags::PRI)], timeout.as_ref());
    }
    Ok(value)
}

/// Sleeps until the kernel reports a change of an attribute or the time is over; returns at once if its value
/// already differs.
pub(crate) fn sleep_while(path: &Path, value: &str, at_most: Duration) -> Result<(), Cause> {
    let doing = || Cause::system(format!("read {}", path.display()));
    let mut file = fs::File::open(path).map_err(doing())?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(doing())?;
    if text.trim_end() == value {
        let timeout = Timespec::try_from(at_most).ok();
        // The caller checks again, whether this was a change, the timeout or a signal.
        let _ = poll(&mut [PollFd::new(&file, PollFlags::PRI)], timeout.as_ref());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_shown() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        write(file.path(), "max\n").expect("written");
        let error = read(file.path())
            .and_then(|text| number(file.path(), &text))
            .expect_err("no number");
        assert!(
            error.to_string().ends_with("does not contain a number, but `max`"),
            "{error}"
        );
        write(file.path(), "128\n").expect("written");
        assert_eq!(
            read(file.path())
                .and_then(|text| number(file.path(), &text))
                .expect("a number"),
            128
        );
    }

    #[test]
    fn an_attribute_that_is_not_there_is_not_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("scheduler");
        let error = write(&path, "none").expect_err("is not there");
        assert!(error.to_string().starts_with("could not write `none` to "), "{error}");
        assert!(!path.exists());
    }
}
