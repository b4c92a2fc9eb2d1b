//! Files that the user names: read up to a size, written whole or not at all. Text from others is sanitized before a
//! terminal gets it.

pub mod output;
pub mod read_file;
pub mod sanitize;

pub use output::{Output, OutputError};
pub use read_file::{FileError, ReadError};
pub use sanitize::{Colours, sanitize};

use std::io;

/// The system's own words for a failure.
pub fn reason(error: &io::Error) -> String {
    let whole = error.to_string();
    let inner = error.get_ref().and_then(|inner| inner.source());
    match inner.and_then(|inner| inner.downcast_ref::<io::Error>()) {
        Some(inner) => reason(inner),
        None => whole.split(" (os error").next().unwrap_or(&whole).to_owned(),
    }
}
