//! Keeps what a run finds, in one SQLite file: every event of a trial the moment it happens.
//!
//! SQL is known here and nowhere else; the rest of raidlab sees the plain structs of [`record`]. Nothing here
//! judges a sample or draws it, and nothing here reads a clock: times are given by the caller.
//!
//! What is lost when: a killed process loses nothing that was appended, because every event is a transaction of
//! its own, and the trial that was under way is repeated. After a power cut the trials that had ended are there
//! (their end is synced to the disk), and at most the trial under way is lost.

mod digest;
mod error;
mod export;
mod lock;
mod migrate;
mod open;
mod read;
pub mod record;
mod run;
mod words;
mod write;

pub use error::StoreError;
pub use open::Store;
pub use record::{Ending, RunChoice, RunId, RunSpec, RunSummary, TrialId, TrialRecord, TrialStatus};
pub use run::{Found, OpenRun};

/// What every fallible call of this crate returns.
pub type Result<T> = std::result::Result<T, StoreError>;
