//! Studies: the plain types shared by all stages, from the plan to the events of a trial.
//!
//! This crate does not depend on TOML or the syntax of study files (`study-file` parses them), nor on how stacks are
//! built, workloads run or samples stored: those stages depend on these types.

pub mod aa_control;
pub mod act;
mod cell;
mod cell_id;
pub mod claim;
pub mod event;
mod fact;
mod finding;
mod median;
pub mod metric;
pub mod phase;
pub mod plan;
pub mod progress;
mod record;
mod shard;
pub mod splitmix64;
pub mod stack;
mod summary;
pub mod table;
mod test_id;
mod trial_order;
mod trial_seed;
pub mod wording;
pub mod workload;

pub use cell_id::{CellId, NotACellId};
pub use event::Measurement;
pub use fact::{
    DiskCounter, DiskCounters, DrawnFigure, Facts, GuestFile, Load, OTHER_DISKS_MIB_PER_S_MAX,
    OTHERS_PROCESSOR_PERCENT_MAX, ProcessorAccount, TestDisk,
};
pub use finding::{Finding, FindingKind, NotAFinding};
pub use median::median;
pub use record::{Measured, ProvenanceEntry, Recorded, StepEntry, TrialKey};
pub use shard::Shard;
pub use summary::PlanSummary;
pub use test_id::{Scope, TestId};
pub use trial_seed::trial_seed;
