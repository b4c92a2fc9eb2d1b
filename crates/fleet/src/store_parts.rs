//! Stores that are parts of one run, for `merge` and `status`.

use std::io;
use std::path::{Path, PathBuf};
use store::{MergeError, Part, StoreError};

/// Why stores cannot be merged or shown together.
#[derive(Debug, thiserror::Error)]
pub enum PartsError {
    #[error("{0}; nothing was written")]
    NotOne(MergeError),
    #[error("`{}` exists: choose another file for the merged store, or move this one (it was not changed)", target.display())]
    TargetExists { target: PathBuf },
    #[error("no folder `{}` for the merged store: create it, or choose another place", folder.display())]
    NoFolder { folder: PathBuf },
    #[error("no space left for the merged store `{}`: free some space, or choose another place; nothing was written", target.display())]
    Full { target: PathBuf },
    #[error("cannot write `{}`: {}; nothing was written", target.display(), files::reason(source))]
    Target { target: PathBuf, source: io::Error },
    /// `status` only reads.
    #[error("{0}")]
    NotShown(MergeError),
    #[error("`{}` holds no run: its task has not started the first trial", path.display())]
    NoRun { path: PathBuf },
    #[error(
        "parts of the run are missing: {missing}. `raidlab run STUDY --shard …` runs a shard or continues it; --partial \
         merges what there is; nothing was written"
    )]
    Missing { missing: String },
    #[error("`{}` has no stores (*.db) yet: no task has started", folder.display())]
    NoStores { folder: PathBuf },
    #[error("cannot read the folder `{}`: {}", folder.display(), files::reason(source))]
    Folder { folder: PathBuf, source: io::Error },
}

/// All runs of a store. A store that was just created has none yet.
pub fn read(path: &Path) -> Result<Vec<Part>, StoreError> {
    match Part::all_of(path) {
        Err(StoreError::Empty { .. }) => Ok(Vec::new()),
        other => other,
    }
}
