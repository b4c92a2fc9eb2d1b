//! Stores the results of a run in one SQLite file: every event of a trial as soon as it occurs.
//!
//! SQL is used only in this crate; others see the plain structs of [`record`]. This crate neither evaluates nor
//! displays samples, and reads no clock: times are passed by the caller.
//!
//! Durability: a killed process loses no appended event, because every event is a separate transaction; the running
//! trial is repeated. After a power cut, completed trials are kept (their end is synced to the disk), and at most
//! the running trial is lost.

mod digest;
mod error;
mod export;
mod facts;
mod lock;
mod merge;
mod migrate;
mod open;
mod read;
pub mod record;
mod run;
mod seal;
mod snapshot;
mod sql_types;
mod wall_time;
mod write;

pub use digest::digest_of_export;
pub use error::StoreError;
pub use export::{ClaimCase, ClaimOutcome, FORMAT_VERSION, Judged, machine_mark};
pub use facts::TrialFacts;
pub use merge::{MergeError, MergedRun, Part};
pub use open::Store;
pub use read::Selection;
pub use record::{Ending, RunChoice, RunId, RunSpec, RunSummary, TrialId, TrialRecord, TrialStatus};
pub use run::{OpenRun, RunState};
pub use seal::Changed;
pub use snapshot::Snapshot;
pub use wall_time::WallOfStep;

/// Result type of this crate.
pub type Result<T> = std::result::Result<T, StoreError>;
