//! Builds the stack under test on given devices, and tears it down: disks → md → filesystem → mount.
//!
//! [`up`] takes a [`StackSpec`](study::stack::StackSpec) and devices; [`down`] rolls back what `up` returned. Each act
//! that changes the machine is written to a [`Ledger`] together with its [`Undo`] *before* it is done, so that a killed
//! run can be cleaned up. Only what was created is undone, and only while its identity shows that raidlab made it.
//!
//! Between the tests of a trial: [`quiesce`], [`drop_caches`], [`counters`]. Nothing here measures, knows a workload,
//! or knows whether the machine is a lab guest, a host, or a dry run: the [`Setting`] says whether the devices
//! are zero and whether teardown may be skipped, and an [`Executor`] does every act.

mod access;
mod array;
mod context;
mod counters;
mod device;
mod disk_check;
mod disks;
mod dry_run;
mod error;
mod executor;
mod failure;
mod filesystem;
mod integrity;
mod judge;
mod ledger;
mod lvm;
mod memory;
mod mount;
mod options;
mod queue;
mod quiesce;
mod recover;
mod start_up;
mod stripes;
mod sysfs;
mod timeline;
mod undo;
mod up;
mod uuid;
mod zfs;

pub use access::Access;
pub use array::Array;
pub use context::{Context, Setting, Teardown};
pub use counters::DiskCounters;
pub use device::BlockDevice;
pub use disk_check::{DiskCheck, NoDiskCheck};
pub use disks::Disks;
pub use dry_run::{DryRun, dry_run};
pub use error::Cause;
pub use executor::{Command, DryRunOn, Executor, FailAt, Listed, Moment, Mount, Mounted, Simulated, System};
pub use failure::{FailedUndo, StackError, TeardownError};
pub use filesystem::tools_needed;
pub use judge::{Tested, judge};
pub use ledger::{Act, Ledger, MemoryLedger};
pub use memory::{cached_bytes, dirty_bytes};
pub use quiesce::{Quiesce, array_mismatches, counters, drop_caches, ignore_flushes, quiesce};
pub use recover::{Recovered, Restart, put_away, recover, tools_of_recovery};
pub use timeline::{Timeline, write_known_file};
pub use undo::{Undo, undo};
pub use up::{Stack, down, remount, up};
