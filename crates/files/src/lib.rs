//! Files that the user names: read up to a size, written whole or not at all. Text from others is sanitized before a
//! terminal gets it.

pub mod output;
pub mod read_file;
pub mod sanitize;

pub use output::{Output, OutputError};
pub use read_file::{FileError, ReadError};
pub use sanitize::{Colours, escape_json, sanitize};

use std::io;
use std::path::Path;

/// A path in results that others read: of an absolute one its last part, because folders tell about users and their
/// machines.
pub fn published_path(path: &Path) -> String {
    match path.file_name() {
        Some(name) if path.is_absolute() => Path::new(name).display().to_string(),
        _ => path.display().to_string(),
    }
}

/// The system's own words for a failure.
pub fn reason(error: &io::Error) -> String {
    let whole = error.to_string();
    let inner = error.get_ref().and_then(|inner| inner.source());
    match inner.and_then(|inner| inner.downcast_ref::<io::Error>()) {
        Some(inner) => reason(inner),
        None => whole.split(" (os error").next().unwrap_or(&whole).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_are_not_published() {
        let published = |path: &str| published_path(Path::new(path));
        assert_eq!(published("/home/maria/tank/nas.toml"), "nas.toml");
        assert_eq!(published("studies/nas.toml"), "studies/nas.toml");
        assert_eq!(published("-"), "-");
    }
}
