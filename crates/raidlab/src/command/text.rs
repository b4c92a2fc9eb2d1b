//! Text files that the user names.

use super::reason;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// What is wrong with a file, to be said after its name.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    #[error("is a folder")]
    Folder,
    #[error("is not a file")]
    Special,
    #[error("does not exist")]
    Missing,
    #[error("cannot be read: {}", reason(.0))]
    Unreadable(#[source] io::Error),
    #[error("is larger than {} MiB", bytes_max >> 20)]
    TooLarge { bytes_max: u64 },
    #[error("is not a text file: line {line} has bytes that are not UTF-8")]
    NotText { line: usize },
}

/// The text of a file.
pub fn read(path: &Path, bytes_max: u64) -> Result<String, TextError> {
    text_of(at_most(path, bytes_max)?, bytes_max)
}

/// The same of a regular file; a pipe or a device is not waited for.
pub fn read_regular(path: &Path, bytes_max: u64) -> Result<String, TextError> {
    if path.is_dir() {
        return Err(TextError::Folder);
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map(File::from);
    let file = file.map_err(|error| of_io(error.into()))?;
    if !file.metadata().map_err(of_io)?.is_file() {
        return Err(TextError::Special);
    }
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(of_io)?;
    text_of(bytes, bytes_max)
}

fn text_of(bytes: Vec<u8>, bytes_max: u64) -> Result<String, TextError> {
    if bytes.len() as u64 > bytes_max {
        return Err(TextError::TooLarge { bytes_max });
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        TextError::NotText { line }
    })
}

/// All of a file that need not be text.
pub fn bytes(path: &Path) -> Result<Vec<u8>, TextError> {
    at_most(path, u64::MAX - 1)
}

/// One byte more, if there are more.
fn at_most(path: &Path, bytes_max: u64) -> Result<Vec<u8>, TextError> {
    if path.is_dir() {
        return Err(TextError::Folder);
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes))
        .map_err(of_io)?;
    Ok(bytes)
}

fn of_io(error: io::Error) -> TextError {
    match error.kind() {
        ErrorKind::NotFound => TextError::Missing,
        _ => TextError::Unreadable(error),
    }
}
