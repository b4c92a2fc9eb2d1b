//! Running a plan's trials: in which order, how many at a time, until when.
//!
//! One thread owns the store and decides what comes next; each worker runs one trial at a time and says what it sees.

mod disks;
mod folder;
mod heard;
mod host;
mod machine;
mod precision;
mod programs;
mod schedule;
mod session;
mod stop;
mod worker;

pub use disks::known;
pub use folder::TrialFolder;
pub use host::{Ground, HostMachine, disks_of, left_words};
pub use machine::Machine;
pub use programs::{GuestPrograms, fetched_bcachefs, has_bcachefs};
pub use session::{Outcome, Session};
pub use stop::Stop;
pub use worker::{Kernels, Laboratory, guest_config_parts};
