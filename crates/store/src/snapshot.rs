//! Reads a store that another machine may be writing.
//!
//! On a network filesystem, two machines cannot use SQLite's write-ahead log at the same time: a reader of the
//! store itself could damage it. So a store with a log in use is copied, and the copy is read. Nothing is written
//! into the store or its folder.

use crate::open::{check_exists, check_files, has_pending_log, log_path, uri};
use crate::record::RunId;
use crate::{Result, Store, StoreError};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A copy is repeated if SQLite restarted its log meanwhile, which happens every few MiB.
const ATTEMPTS: u32 = 20;

/// Length of a log's header, which has numbers that change whenever the log is restarted.
const LOG_HEADER_BYTES: u64 = 32;

/// A store as it was at one moment. Errors name the original.
#[derive(Debug)]
pub struct Snapshot {
    store: Store,
    original: PathBuf,
    /// The copy, if one was necessary.
    copy: Option<(PathBuf, TempDir)>,
}

impl Snapshot {
    /// Reads a store without changing anything.
    pub fn open(path: &Path) -> Result<Snapshot> {
        check_exists(path)?;
        check_files(path)?;
        if !has_pending_log(path) {
            // An older schema must be migrated, which is done in a copy.
            match Store::open_for_reading(path, "?immutable=1") {
                Err(StoreError::ReadOnly { .. }) => {}
                Ok(store) => {
                    return Ok(Snapshot {
                        store,
                        original: path.to_owned(),
                        copy: None,
                    });
                }
                Err(error) => return Err(error),
            }
        }
        Self::copied(path)
    }

    fn copied(path: &Path) -> Result<Snapshot> {
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::StorageFull => StoreError::Full {
                path: std::env::temp_dir(),
                trials_kept: 0,
            },
            _ => StoreError::Unreadable {
                path: path.to_owned(),
                reason: error.to_string(),
            },
        };
        let folder = tempfile::tempdir().map_err(failed)?;
        let copy = folder.path().join("store.db");
        copy_whole(path, &copy).map_err(failed)?;
        let named = |error| match error {
            StoreError::Empty { .. } => StoreError::Empty { path: path.to_owned() },
            StoreError::NotADatabase { .. } => StoreError::NotADatabase { path: path.to_owned() },
            StoreError::Foreign { .. } => StoreError::Foreign { path: path.to_owned() },
            StoreError::Newer { found, known, .. } => StoreError::Newer {
                path: path.to_owned(),
                found,
                known,
            },
            StoreError::Damaged { reason, .. } => StoreError::Damaged {
                path: path.to_owned(),
                reason,
            },
            other => other,
        };
        let mut store = Store::open_existing(&copy).map_err(named)?;
        path.clone_into(&mut store.path);
        Ok(Snapshot {
            store,
            original: path.to_owned(),
            copy: Some((copy, folder)),
        })
    }

    /// The store, for reading.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Whether a process writes this run of the original now.
    pub fn is_being_written(&self, run: RunId) -> bool {
        crate::lock::is_taken(&self.original, run)
    }

    /// The name under which SQLite can attach it to another database.
    pub(crate) fn uri(&self) -> Result<String> {
        match &self.copy {
            Some((copy, _)) => uri(copy),
            None => Ok(format!("{}?immutable=1", uri(&self.original)?)),
        }
    }
}

/// Copies a database with its log. The log only grows until it is restarted: if that did not happen, the copied log
/// ends with every page that was written to the database meanwhile, and the two are consistent.
fn copy_whole(from: &Path, to: &Path) -> io::Result<()> {
    for _ in 0..ATTEMPTS {
        let before = log_header(from)?;
        fs::copy(from, to)?;
        match fs::copy(log_path(from), log_path(to)) {
            Err(error) if error.kind() == ErrorKind::NotFound => match fs::remove_file(log_path(to)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            },
            copied => drop(copied?),
        }
        if log_header(from)? == before {
            return Ok(());
        }
    }
    Err(io::Error::other("it changes too fast to be copied; try again"))
}

/// Empty if there is no log.
fn log_header(store: &Path) -> io::Result<Vec<u8>> {
    let mut header = Vec::new();
    match File::open(log_path(store)) {
        Ok(file) => file.take(LOG_HEADER_BYTES).read_to_end(&mut header).map(|_| header),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(header),
        Err(error) => Err(error),
    }
}
