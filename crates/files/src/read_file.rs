//! Files that the user names, up to a size.

use crate::reason;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The problem with a file, to be printed after its name.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
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

/// A file that the user named; `advice` follows the reason.
#[derive(Debug, thiserror::Error)]
#[error("`{}` {source}{advice}", path.display())]
pub struct FileError {
    pub path: PathBuf,
    pub source: ReadError,
    pub advice: &'static str,
}

impl ReadError {
    /// The error with the name of its file.
    pub fn of(self, path: &Path, advice: &'static str) -> FileError {
        let (path, source) = (path.to_owned(), self);
        FileError { path, source, advice }
    }
}

/// The text of a file.
pub fn read(path: &Path, bytes_max: u64) -> Result<String, ReadError> {
    text_of(at_most(path, bytes_max)?, bytes_max)
}

/// The same for a regular file only; does not wait for a pipe or a device.
pub fn read_regular(path: &Path, bytes_max: u64) -> Result<String, ReadError> {
    if path.is_dir() {
        return Err(ReadError::Folder);
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map(File::from);
    let file = file.map_err(|error| of_io(error.into()))?;
    if !file.metadata().map_err(of_io)?.is_file() {
        return Err(ReadError::Special);
    }
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(of_io)?;
    text_of(bytes, bytes_max)
}

fn text_of(bytes: Vec<u8>, bytes_max: u64) -> Result<String, ReadError> {
    if bytes.len() as u64 > bytes_max {
        return Err(ReadError::TooLarge { bytes_max });
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        ReadError::NotText { line }
    })
}

/// All of a file, which need not be text.
pub fn bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    at_most(path, u64::MAX - 1)
}

/// Reads at most one byte more than the limit.
fn at_most(path: &Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    if path.is_dir() {
        return Err(ReadError::Folder);
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes))
        .map_err(of_io)?;
    Ok(bytes)
}

fn of_io(error: io::Error) -> ReadError {
    match error.kind() {
        ErrorKind::NotFound => ReadError::Missing,
        _ => ReadError::Unreadable(error),
    }
}
