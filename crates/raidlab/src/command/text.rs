//! Text files that the user names.

use super::reason;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The text of a file; or what is wrong with the file, to be said after its name.
pub fn read(path: &Path, bytes_max: u64) -> Result<String, String> {
    if path.is_dir() {
        return Err("is a folder".to_owned());
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes))
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => "does not exist".to_owned(),
            _ => format!("cannot be read: {}", reason(&error)),
        })?;
    if bytes.len() as u64 > bytes_max {
        return Err(format!("is larger than {} MiB", bytes_max >> 20));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("is no text: line {line} holds bytes that are not UTF-8")
    })
}
