//! Opening a store: checks that it is one, that it can be written, and that its schema is known.

use crate::migrate::{self, Definition, migrate};
use crate::read::CellOfPlan;
use crate::record::RunId;
use crate::{Result, StoreError};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::CellId;

/// Marks a database file as raidlab's: "rdlb".
const APPLICATION_ID: i64 = 0x7264_6c62;

/// Maximum wait for another connection's transaction. Transactions take milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// An open store file.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    /// Device and inode of the file that was opened.
    file: Option<(u64, u64)>,
    /// The cells in the plan of the run that was read last.
    pub(crate) places: RefCell<Option<(RunId, HashMap<CellId, CellOfPlan>)>>,
}

fn device_and_inode(path: &Path) -> Option<(u64, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

impl Store {
    /// Opens a store for writing; creates it if it does not exist, and migrates an older one.
    pub fn open(path: &Path) -> Result<Self> {
        check_place(path)?;
        check_files(path)?;
        check_only_name(path)?;
        Self::open_for_writing(path).map_err(|error| match error {
            // Its folder exists: only write permission is missing.
            StoreError::Unreadable { path, .. } | StoreError::ReadOnly { path } => match read_only_part(&path) {
                Some(part) => StoreError::ReadOnlyPart { path, part },
                None => StoreError::ReadOnly { path },
            },
            other => other,
        })
    }

    /// Opens an existing store for reading; also from read-only media.
    pub fn open_existing(path: &Path) -> Result<Self> {
        check_exists(path)?;
        check_files(path)?;
        match Self::open_for_reading(path, "") {
            // A write-ahead log needs a second file even for reading. If it cannot be created, or has no room, nobody else writes
            // either, and the store can be read as it is.
            Err(StoreError::Unreadable { .. } | StoreError::ReadOnly { .. } | StoreError::Full { .. }) => {
                match has_pending_log(path) {
                    false => Self::open_for_reading(path, "?immutable=1"),
                    true => Err(StoreError::PendingLog {
                        path: path.to_owned(),
                        log: log_path(path),
                    }),
                }
            }
            other => other,
        }
    }

    /// SQLite goes on writing a file that was deleted or moved: what it writes then is lost, or in two places.
    pub(crate) fn check_still_there(&self) -> Result<()> {
        match device_and_inode(&self.path) == self.file {
            true => Ok(()),
            false => Err(StoreError::Gone {
                path: self.path.clone(),
            }),
        }
    }

    fn open_for_writing(path: &Path) -> Result<Self> {
        // As for reading: `:memory:` and `file:` would be orders to SQLite, and a name that is not UTF-8 is refused.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(uri(path)?, flags)
            .map_err(|source| StoreError::from_sqlite(path, source, 0))?;
        let mut store = Self {
            places: RefCell::default(),
            connection,
            path: path.to_owned(),
            file: device_and_inode(path),
        };
        store.check_identity()?;
        store.prepare_for_writing()?;
        Ok(store)
    }

    pub(crate) fn open_for_reading(path: &Path, parameters: &str) -> Result<Self> {
        // With write permission, if available: the last process that closes the store removes the write-ahead log's
        // files, and a read-only reader would leave them behind. Nothing is written anyway (`query_only`).
        let flags =
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(format!("{}{parameters}", uri(path)?), flags)
            .map_err(|source| StoreError::from_sqlite(path, source, 0))?;
        let store = Self {
            places: RefCell::default(),
            connection,
            path: path.to_owned(),
            file: device_and_inode(path),
        };
        store.checked(store.connection.busy_timeout(BUSY_TIMEOUT))?;
        store.checked(store.connection.pragma_update(None, "query_only", true))?;
        let version = store.check_identity()?;
        if version == 0 {
            // An empty file: created by `touch`, or by a run that was killed at its start.
            return Err(StoreError::Empty { path: path.to_owned() });
        }
        if version < migrate::VERSION {
            // Reading requires the newest schema: an older store is migrated first.
            drop(store);
            return Self::open(path);
        }
        Ok(store)
    }

    /// Rejects files that are not raidlab's before anything is written. Returns the schema version.
    fn check_identity(&self) -> Result<i64> {
        let tables: i64 = self.checked(self.connection.query_row(
            "SELECT count(*) FROM sqlite_schema",
            [],
            |row| row.get(0),
        ))?;
        let application_id = self.pragma("application_id")?;
        let version = self.pragma("user_version")?;
        let known = migrate::VERSION;
        let version = match application_id {
            APPLICATION_ID if version > known => Err(StoreError::Newer {
                path: self.path.clone(),
                found: version,
                known,
            }),
            APPLICATION_ID => Ok(version),
            0 if tables == 0 && version == 0 => Ok(0),
            _ => Err(StoreError::Foreign {
                path: self.path.clone(),
            }),
        }?;
        self.check_programs(version)?;
        Ok(version)
    }

    /// Rejects a file with programs that are not raidlab's: triggers, views, generated columns, checks, indexes of expressions and
    /// virtual tables, which SQLite would execute. Other tables of other people do no harm.
    fn check_programs(&self, version: i64) -> Result<()> {
        let own = self.checked(migrate::definitions(version))?;
        let found = self.checked(migrate::definitions_in(&self.connection))?;
        let is_foreign = |definition: &&Definition| {
            let acts = ["trigger", "view"].contains(&definition.kind.as_str());
            let is_of_ours = own
                .iter()
                .any(|other| other.table.eq_ignore_ascii_case(&definition.table));
            (acts || is_of_ours) && !own.contains(definition)
        };
        match found.iter().find(is_foreign) {
            None => Ok(()),
            Some(definition) => Err(StoreError::Damaged {
                path: self.path.clone(),
                reason: format!(
                    "it has a {} {} that no raidlab made",
                    definition.kind,
                    definition.name.escape_debug()
                ),
            }),
        }
    }

    /// All that `write` writes, or nothing of it if it fails or the process is killed. It survives a power cut.
    pub fn all_or_nothing<T, E: From<StoreError>>(
        &mut self,
        write: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.sync_commits(true)?;
        self.checked(self.connection.execute_batch("BEGIN IMMEDIATE"))?;
        let written = write(self);
        let end = if written.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.checked(self.connection.execute_batch(end));
        let written = written?;
        ended?;
        self.sync_commits(false)?;
        Ok(written)
    }

    /// A transaction for several rows; `None` within [`Self::all_or_nothing`], which has one.
    pub(crate) fn own_transaction(&self) -> rusqlite::Result<Option<Transaction<'_>>> {
        match self.connection.is_autocommit() {
            true => self.connection.unchecked_transaction().map(Some),
            false => Ok(None),
        }
    }

    fn prepare_for_writing(&mut self) -> Result<()> {
        self.checked(self.connection.busy_timeout(BUSY_TIMEOUT))?;
        self.checked(self.connection.pragma_update(None, "foreign_keys", true))?;
        if self.checked(self.connection.is_readonly("main"))? {
            return Err(StoreError::ReadOnly {
                path: self.path.clone(),
            });
        }
        // Readers do not wait for the writer, and a commit is one append to the log.
        self.checked(
            self.connection
                .pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())),
        )?;
        self.sync_commits(false)?;
        self.migrate()
    }

    /// Whether a commit is on the disk when it returns, and survives a power cut. Otherwise it survives a crash of
    /// this process, in order, which is sufficient for events.
    pub(crate) fn sync_commits(&self, sync: bool) -> Result<()> {
        if !self.connection.is_autocommit() {
            // The whole transaction decides.
            return Ok(());
        }
        let level = if sync { "FULL" } else { "NORMAL" };
        self.checked(self.connection.pragma_update(None, "synchronous", level))
    }

    fn migrate(&mut self) -> Result<()> {
        self.sync_commits(true)?;
        let path = self.path.clone();
        let named = |source| StoreError::from_sqlite(&path, source, 0);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(named)?;
        // Read inside the transaction: another raidlab may have migrated it.
        let version: i64 = transaction
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(named)?;
        migrate(&transaction, version).map_err(named)?;
        transaction
            .pragma_update(None, "application_id", APPLICATION_ID)
            .map_err(named)?;
        transaction
            .pragma_update(None, "user_version", migrate::VERSION)
            .map_err(named)?;
        transaction.commit().map_err(named)?;
        self.sync_commits(false)
    }

    fn pragma(&self, name: &str) -> Result<i64> {
        self.checked(self.connection.pragma_query_value(None, name, |row| row.get(0)))
    }

    /// Converts SQLite's error.
    pub(crate) fn checked<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|source| {
            let kept = self
                .connection
                .query_row("SELECT count(*) FROM trial WHERE status = 'done'", [], |row| {
                    row.get::<_, i64>(0)
                });
            StoreError::from_sqlite(&self.path, source, kept.unwrap_or(0).max(0) as u64)
        })
    }
}

fn check_place(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(StoreError::Folder { path: path.to_owned() });
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if folder.is_dir() {
        Ok(())
    } else {
        Err(StoreError::MissingFolder {
            folder: folder.to_owned(),
        })
    }
}

/// The error names what keeps a path from being read, for example a loop of links.
pub(crate) fn check_exists(path: &Path) -> Result<()> {
    let own = || path.to_owned();
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(StoreError::Folder { path: own() }),
        Ok(_) => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Err(StoreError::Missing { path: own() })
        }
        Err(error) => Err(StoreError::Unreadable {
            path: own(),
            reason: error.to_string(),
        }),
    }
}

/// SQLite would wait for a pipe, and follow a link to somebody else's file.
pub(crate) fn check_files(path: &Path) -> Result<()> {
    let unreadable = |reason: String| StoreError::Unreadable {
        path: path.to_owned(),
        reason,
    };
    // A store itself may be a link to where there is space.
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Err(unreadable("it is not a regular file".to_owned()));
    }
    for suffix in ["-wal", "-shm", "-journal", "-lock"] {
        let part = part(path, suffix);
        if fs::symlink_metadata(&part).is_ok_and(|there| !there.is_file()) {
            let part = part.display();
            return Err(unreadable(format!(
                "`{part}`, which belongs to it, is not a regular file"
            )));
        }
    }
    Ok(())
}

pub(crate) fn has_pending_log(path: &Path) -> bool {
    fs::metadata(log_path(path)).is_ok_and(|log| log.len() > 0)
}

/// SQLite's write-ahead log, which holds changes that are not in the database yet.
pub(crate) fn log_path(path: &Path) -> PathBuf {
    part(path, "-wal")
}

/// A file of a store, next to the one that a link to a store leads to: a store has one of each, whatever it is called.
pub(crate) fn part(store: &Path, suffix: &str) -> PathBuf {
    let store = store.canonicalize().unwrap_or_else(|_| store.to_owned());
    let mut name = store.into_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// With a second hard link, another process could write the same file with another log and another lock.
fn check_only_name(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.nlink() > 1 => Err(StoreError::SeveralNames {
            path: path.to_owned(),
            names: there.nlink(),
        }),
        _ => Ok(()),
    }
}

/// A file that SQLite keeps next to a store, if it is read-only and the store is not: another user's process left it.
fn read_only_part(path: &Path) -> Option<PathBuf> {
    let is_read_only = |path: &Path| {
        let opened = fs::File::options().write(true).open(path).map_err(|error| error.kind());
        matches!(opened, Err(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem))
    };
    let mut parts = ["-wal", "-shm"].into_iter().map(|suffix| part(path, suffix));
    parts.find(|part| is_read_only(part)).filter(|_| !is_read_only(path))
}

/// SQLite's name for a file: a URI in which `%`, `?` and `#` are escaped.
pub(crate) fn uri(path: &Path) -> Result<String> {
    let unreadable = |reason: String| StoreError::Unreadable {
        path: path.to_owned(),
        reason,
    };
    let absolute = std::path::absolute(path).map_err(|error| unreadable(error.to_string()))?;
    let text = absolute
        .to_str()
        .ok_or_else(|| unreadable("its name is not UTF-8".to_owned()))?;
    Ok(format!(
        "file:{}",
        text.replace('%', "%25").replace('?', "%3f").replace('#', "%23")
    ))
}
