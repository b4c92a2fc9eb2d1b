//! This machine as the place where trials run: real disks, or files behind loop devices.
//!
//! Outside, a [`Session`] holds the ledger and the claim on the disks, starts one process for each trial
//! ([`Session::trial`]) and another to roll back what it left ([`Session::roll_back`]), so that a hanging disk does not
//! hang the session. Inside those processes, only [`job::main`] runs. What a killed session left is found by
//! [`State::leftovers`].
//!
//! *Invariant*: only disks that [`choose`] accepted are overwritten; only acts in a ledger are undone, and only while
//! the identity of the object shows that raidlab made it.

mod cgroup;
mod check;
mod choose;
mod content;
mod disk;
mod environment;
mod filesystems;
mod hold;
mod identity;
pub mod job;
mod judge;
mod kernel_log;
mod kernel_support;
mod ledger;
mod left;
mod load;
mod loop_status;
mod loops;
mod mounts;
mod number;
mod obstacle;
mod openers;
mod private;
mod process;
mod relations;
mod roll_back;
mod run_devices;
mod session;
mod signature;
mod state;
mod sysfs;
mod trial_ledger;
mod undo;
mod usage;

pub use check::TrialCheck;
pub use choose::{Chosen, Refused, Wanted, choose};
pub use disk::{Disk, DiskError, disks_of_serial, short_serial};
pub use environment::{free_bytes, identity, ram_bytes};
pub use filesystems::kernel_has;
pub use hold::Held;
pub use identity::{Differs, Identity};
pub use job::{LoopDisks, TestDisks, TrialJob};
pub use judge::JUDGING;
pub use kernel_log::KernelLog;
pub use kernel_support::{kernel_has_integrity, kernel_has_level};
pub use ledger::{ClaimedDisk, Header};
pub use loops::attaching;
pub use number::DeviceNumber;
pub use obstacle::Obstacle;
pub use process::{EndedProcess, HungProcess};
pub use session::{Lock, RolledBack, Session, SessionError};
pub use state::{Leftover, State};
pub use undo::{Inode, Undo};
pub use usage::in_use;
