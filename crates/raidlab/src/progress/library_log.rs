//! Log messages of the libraries: warnings, and progress, which is not printed with `--quiet`.

use super::{note, say};
use log::{Level, LevelFilter, Log, Metadata, Record};

/// From now on it is printed on standard error.
pub fn show_library_log() {
    if log::set_logger(&LibraryLog).is_ok() {
        log::set_max_level(LevelFilter::Info);
    }
}

struct LibraryLog;

impl Log for LibraryLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Info
    }

    fn log(&self, record: &Record<'_>) {
        let line = format!("raidlab: {}", record.args());
        match record.level() {
            Level::Error | Level::Warn => say(&line),
            _ => note(&line),
        }
    }

    fn flush(&self) {}
}
