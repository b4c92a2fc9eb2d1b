//! Running a plan's trials: in which order, how many at a time, until when.
//!
//! A plan, a store and [`Place`]s go in; every event goes into the store the moment it happens, and [`Progress`] goes
//! out to whoever shows it. One thread owns the store and decides what comes next; each worker thread runs one trial
//! at a time on its place.
//!
//! *Invariant*: nothing here reads a command line or writes to a terminal.

mod error;
mod interrupt;
mod place;
mod precision;
mod progress;
mod runner;
mod schedule;
mod transcript;

pub use error::{PlaceError, RunError};
pub use interrupt::Interrupt;
pub use place::host::{DiskSource, HostPlace, disks_of};
pub use place::lab::{Kernels, LabPlace};
pub use place::{Place, Seen, TrialReport};
pub use progress::Progress;
pub use runner::{Outcome, Runner};
