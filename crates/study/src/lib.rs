//! A study: what is to be measured, and the plain types in which all stages speak of it, from the plan to the events of
//! a trial.
//!
//! Nothing here knows TOML or what a study file looks like (`study-file` reads it), how a stack is built, how work is
//! done, or where a sample is kept: those stages use these types and are not used by them.

mod cell_id;
pub mod claim;
pub mod event;
mod measurement;
pub mod metric;
mod order;
pub mod plan;
pub mod stack;
mod summary;
pub mod table;
pub mod wording;
pub mod workload;

pub use cell_id::{CellId, NotACellId};
pub use measurement::{Measured, Measurement, ProvenanceEntry, Recorded, StepEntry, TrialKey};
pub use order::trial_seed;
pub use summary::Summary;
