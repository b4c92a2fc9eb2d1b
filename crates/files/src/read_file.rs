//! Files that the user names, up to a size.

use crate::reason;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
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
    text_of(regular_bytes(path, bytes_max)?, bytes_max)
}

/// At most one byte more than the limit of a regular file; does not wait for a pipe or a device.
pub fn regular_bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let read = open_regular(path)?.take(bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(of_io)?;
    Ok(bytes)
}

/// A regular file, open for reading; does not wait for a pipe or a device.
pub fn open_regular(path: &Path) -> Result<File, ReadError> {
    if path.is_dir() {
        return Err(ReadError::Folder);
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map(File::from);
    let file = file.map_err(|error| of_io(error.into()))?;
    match file.metadata().map_err(of_io)?.is_file() {
        true => Ok(file),
        false => Err(ReadError::Special),
    }
}

fn text_of(bytes: Vec<u8>, bytes_max: u64) -> Result<String, ReadError> {
    if bytes.len() as u64 > bytes_max {
        return Err(ReadError::TooLarge { bytes_max });
    }
    if let [0xff, 0xfe, ..] | [0xfe, 0xff, ..] = bytes[..] {
        return of_utf16(&bytes);
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        ReadError::NotText { line }
    })
}

/// UTF-16 with its byte order mark, as PowerShell redirects output.
fn of_utf16(bytes: &[u8]) -> Result<String, ReadError> {
    let unit = match bytes[0] {
        0xff => u16::from_le_bytes,
        _ => u16::from_be_bytes,
    };
    let (units, rest) = bytes[2..].as_chunks::<2>();
    let mut text = String::with_capacity(units.len());
    let mut line = 1;
    for decoded in char::decode_utf16(units.iter().map(|pair| unit(*pair))) {
        let decoded = decoded.map_err(|_| ReadError::NotText { line })?;
        line += usize::from(decoded == '\n');
        text.push(decoded);
    }
    match rest {
        [] => Ok(text),
        _ => Err(ReadError::NotText { line }),
    }
}

/// All of a file or a pipe, which need not be text. Devices may have no end.
pub fn bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    let kind = std::fs::metadata(path).map_err(of_io)?.file_type();
    match kind.is_char_device() || kind.is_block_device() {
        true => Err(ReadError::Special),
        false => at_most(path, u64::MAX - 1),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_an_end_are_not_read() {
        let zero = Path::new("/dev/zero");
        assert!(matches!(bytes(zero), Err(ReadError::Special)));
        assert!(matches!(regular_bytes(zero, 10), Err(ReadError::Special)));
        assert!(matches!(read(zero, 10), Err(ReadError::TooLarge { bytes_max: 10 })));
    }

    #[test]
    fn text_of_powershell_is_read() {
        let text = "a: 1\n\u{1f600}\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (mark, bytes) in [([0xff, 0xfe], &little), ([0xfe, 0xff], &big)] {
            let bytes = [&mark[..], bytes].concat();
            assert_eq!(text_of(bytes.clone(), 100).expect("text"), text);
            let cut = text_of(bytes[..bytes.len() - 1].to_vec(), 100);
            assert!(matches!(cut, Err(ReadError::NotText { line: 2 })), "{cut:?}");
        }
        assert!(matches!(
            text_of(vec![b'\n', 0xc3, 0x28], 100),
            Err(ReadError::NotText { line: 2 })
        ));
    }
}
