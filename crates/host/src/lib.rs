//! This machine itself as the place where trials run: real disks, or files behind loop devices.
//!
//! Outside, a [`Session`] holds the ledger and the claim on the disks, starts one process for each trial
//! ([`Session::trial`]) and has what it left taken back by another ([`Session::take_back`]), so that a disk that hangs
//! hangs neither. Inside those processes, [`job::main`] is all that runs. What a killed session left is found by
//! [`State::leftovers`].
//!
//! *Invariant*: nothing is overwritten but disks that [`choose`] let through; nothing is undone but what is in a
//! ledger, and that only while it can be told to be ours.

mod cgroup;
mod choose;
mod disk;
mod environment;
mod filesystems;
pub mod job;
mod kernel_log;
mod ledger;
mod load;
mod loops;
mod obstacle;
mod process;
mod session;
mod state;
mod sysfs;
mod undo;

pub use choose::{Chosen, Refused, Wanted, choose};
pub use disk::{Disk, DiskError, short_serial};
pub use environment::identity;
pub use filesystems::kernel_has;
pub use job::{LoopDisks, TestDisks, TrialJob};
pub use kernel_log::KernelLog;
pub use ledger::{ClaimedDisk, Header};
pub use loops::attaching;
pub use obstacle::{Obstacle, obstacles};
pub use process::EndedProcess;
pub use session::{Session, SessionError, TakenBack};
pub use state::{Leftover, State};
pub use undo::Undo;
