//! Why results are not shown, compared or stored.

use files::FileError;
use std::path::PathBuf;
use store::StoreError;

/// Bad input, or a store that fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("`{}` {reason}; nothing was stored", path.display())]
    ForeignResults { path: PathBuf, reason: String },
    #[error("{option} {reason}; nothing was stored")]
    ForeignName { option: &'static str, reason: String },
    /// Several files of one import.
    #[error("{} of {all} files are refused:\n{}", refused.len(), lines(refused))]
    SeveralRefused { all: usize, refused: Vec<Error> },
    #[error("`{}`: {reason}", path.display())]
    NoExport { path: PathBuf, reason: String },
    #[error("`{}` has no runs yet: `raidlab run STUDY` creates one", store.display())]
    NoRun { store: PathBuf },
    #[error(
        "--with {run}: choose a run of imported results other than the run shown; `raidlab compare` \
         compares two other runs"
    )]
    NotImported { run: i64 },
    #[error(
        "runs {} and {} both have results of `{stack}` with the workload `{workload}`: import their files with one \
         `raidlab import`, or with other names (--stack)", runs[0], runs[1]
    )]
    ImportedTwice {
        runs: [i64; 2],
        stack: String,
        workload: String,
    },
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Prepare(#[from] prepare::Error),
    #[error("--only: {0}")]
    Only(#[from] study_file::OnlyError),
    /// The part of a run that `compare` was asked for.
    #[error("`{text}`: {source}")]
    Part {
        text: String,
        source: study_file::OnlyError,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A store that fails in the middle of the work.
    #[error(transparent)]
    StoreUnderWay(StoreError),
}

fn lines(errors: &[Error]) -> String {
    let lines: Vec<String> = errors.iter().map(Error::to_string).collect();
    lines.join("\n")
}
