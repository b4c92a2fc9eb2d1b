//! Runs a plan's trials: in which order, how many in parallel, and until when.
//!
//! Input is a plan, a store and [`Place`]s; every event is stored as soon as it occurs, and [`Progress`] is reported to
//! an observer. One thread owns the store and decides what is next; each worker thread runs one trial at a time on its
//! place.
//!
//! *Invariant*: this crate reads no command line and writes to no terminal.

mod cost;
mod error;
mod outlook;
mod partition;
mod place;
mod precision;
mod progress;
mod runner;
mod schedule;
mod stop_request;
mod trial_outcome;

pub use cost::{ageing_us, expected_us, expected_us_on};
pub use error::{PlaceError, RunError};
pub use outlook::{Outlook, Pace};
pub use partition::{Partition, is_fixed, part_of};
pub use place::host::{DiskSource, HostPlace, disks_of};
pub use place::lab::{Kernels, LabPlace};
pub use place::{Admission, CreatedStacks, Place, Seen, TrialReport};
pub use progress::Progress;
pub use runner::{RunOutcome, Runner};
pub use stop_request::Interrupt;
