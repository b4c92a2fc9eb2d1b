//! This machine as the place where trials run: real disks, or files behind loop devices.
//!
//! Outside, a [`Session`] holds the ledger and the claim on the disks, starts one process for each trial
//! ([`Session::trial`]) and another to roll back what it left ([`Session::roll_back`]), so that a hanging disk does not
//! hang the session. Inside those processes, only [`child_process::main`] runs. What a killed session left is found by
//! [`LedgerFolder::leftovers`].
//!
//! *Invariant*: only disks that [`choose`] accepted are overwritten; only acts in a ledger are undone, and only while
//! the identity of the object shows that raidlab made it.

mod device;
mod ledger;
mod observe;
mod process;
mod safety;

pub use device::device_number::DeviceNumber;
pub use device::disk::{Disk, DiskError, disks_of_serial, short_serial};
pub use device::identity::{Differs, Identity};
pub use ledger::ledger_file::{ClaimedDisk, Header};
pub use ledger::ledger_folder::{LedgerFolder, Leftover};
pub use ledger::undo::{HostUndo, Inode};
pub use observe::kernel_filesystems::kernel_has;
pub use observe::kernel_log::KernelLog;
pub use observe::kernel_support::{kernel_has_level, kernel_has_target};
pub use observe::provenance::{free_bytes, identity, ram_bytes};
pub use process::child_process;
pub use process::child_process::{LoopDisks, TestDisks, TrialJob};
pub use process::loop_devices::attaching;
pub use process::session::{Lock, RolledBack, Session, SessionError};
pub use process::watched_process::{EndedProcess, HungProcess};
pub use safety::claim::HeldDisk;
pub use safety::in_use::in_use;
pub use safety::judgement::JUDGING;
pub use safety::obstacle::Obstacle;
pub use safety::select::{Chosen, Refused, WantedDisks, choose};
pub use safety::write_checks::TrialCheck;
