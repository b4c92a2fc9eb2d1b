//! Errors of a store, with messages for the user.

use std::path::{Path, PathBuf};
use study::Shard;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("no folder `{}` for the store: create it, or name another file with --store", folder.display())]
    MissingFolder { folder: PathBuf },
    #[error("no store at `{}`: `raidlab run STUDY --store FILE` creates one", path.display())]
    Missing { path: PathBuf },
    #[error("`{}` is empty: it holds no run; name another file", path.display())]
    Empty { path: PathBuf },
    #[error("`{}` is a folder: a store is a file", path.display())]
    Folder { path: PathBuf },
    #[error("`{}` is not a database: name another file (the file was not changed)", path.display())]
    NotADatabase { path: PathBuf },
    #[error(
        "`{}` is an SQLite database, but not one of raidlab's: name another file (the file was not changed)",
        path.display()
    )]
    Foreign { path: PathBuf },
    #[error(
        "`{}` was written by a newer raidlab (its schema is {found}, this raidlab supports up to {known}): \
         update raidlab, or name another file",
        path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error(
        "run {run} in `{}` is being written by another raidlab (process {pid}): wait for it or stop it, \
         or name another file with --store",
        path.display()
    )]
    Taken { path: PathBuf, run: i64, pid: i64 },
    #[error(
        "`{}` holds {} (run {run}), and the command asks for {}: a store is for one shard of a run, or for all of it; \
         name another file with --store (the store was not changed)",
        path.display(), shard_words(*.found), shard_words(*.wanted)
    )]
    OtherShard {
        path: PathBuf,
        run: i64,
        found: Option<Shard>,
        wanted: Option<Shard>,
    },
    #[error(
        "`{}` was deleted, moved or replaced during the run, which ends here: its trials are where the file is now, or lost; \
         run the same command with the store in its place",
        path.display()
    )]
    Gone { path: PathBuf },
    #[error("`{}` is locked by another program: close it and try again", path.display())]
    Busy { path: PathBuf },
    #[error("no space left for the store `{}`: {}", path.display(), kept(*.trials_kept))]
    Full { path: PathBuf, trials_kept: u64 },
    #[error("cannot write `{}`: it or its folder is read-only for this user", path.display())]
    ReadOnly { path: PathBuf },
    #[error(
        "cannot write `{}`, which belongs to the store `{}`: it is read-only for this user; its owner can change that",
        part.display(), path.display()
    )]
    ReadOnlyPart { path: PathBuf, part: PathBuf },
    #[error(
        "cannot write `{}`: it has {names} names (hard links), and SQLite keeps its log by name, so that two of them would spoil it; \
         remove the other names, or copy the file: `cp` makes a file of its own",
        path.display()
    )]
    SeveralNames { path: PathBuf, names: u64 },
    #[error(
        "cannot read `{}`: its latest results are in `{}`, and reading them needs to write next to it, which this user cannot; \
         copy both files to a folder that can be written",
        path.display(), log.display()
    )]
    PendingLog { path: PathBuf, log: PathBuf },
    #[error("`{}` cannot be opened: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("`{}` is damaged ({reason}): restore it from a copy, or name another file", path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error("no run {run} in `{}`: {}", path.display(), runs(*.last))]
    NoSuchRun { path: PathBuf, run: i64, last: i64 },
    #[error("no run named `{name}` in `{}`: `raidlab runs` lists its runs", path.display())]
    NoRunOfName { path: PathBuf, name: String },
    #[error("`{name}` is the name of run {run} in `{}`: choose another one", path.display())]
    NameTaken { path: PathBuf, name: String, run: i64 },
    #[error("trial {index} of `{cell_key}` is already done or running")]
    TrialTaken { cell_key: String, index: u32 },
    #[error("`{}`: {source}", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}

fn kept(trials: u64) -> String {
    match trials {
        0 => "free some space, or name another file with --store".to_owned(),
        _ => format!("finished trials ({trials}) are kept; free some space and run the same command to continue"),
    }
}

fn shard_words(shard: Option<Shard>) -> String {
    shard.map_or_else(
        || "all trials of this run".to_owned(),
        |shard| format!("shard {shard} of this run"),
    )
}

/// Describes the existing runs, 1 to `last`.
fn runs(last: i64) -> String {
    match last {
        0 => "it has none yet".to_owned(),
        1 => "it has only run 1".to_owned(),
        _ => format!("its runs are 1 to {last}"),
    }
}

impl StoreError {
    /// Translates SQLite's error. `trials_kept` is included if the disk is full.
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error, trials_kept: u64) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        let Some(failure) = source.sqlite_error() else {
            return Self::Damaged {
                path,
                reason: source.to_string(),
            };
        };
        match failure.code {
            ErrorCode::NotADatabase => Self::NotADatabase { path },
            ErrorCode::DiskFull => Self::Full { path, trials_kept },
            // SQLite cannot extend the index of its write-ahead log: the same cause with another error code.
            ErrorCode::SystemIoFailure if failure.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE => {
                Self::Full { path, trials_kept }
            }
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Self::ReadOnly { path },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy { path },
            ErrorCode::DatabaseCorrupt => Self::Damaged {
                path,
                reason: source.to_string(),
            },
            ErrorCode::CannotOpen => Self::Unreadable {
                path,
                reason: source.to_string(),
            },
            _ => Self::Sqlite { path, source },
        }
    }
}
