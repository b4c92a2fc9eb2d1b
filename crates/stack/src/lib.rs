//! Builds the stack under test on given devices, and tears it down: disks → md → filesystem → mount.
//!
//! [`up`] takes a [`StackSpec`](study::stack::StackSpec) and devices; [`down`] rolls back what `up` returned. Each act
//! that changes the machine is written to a [`Ledger`] together with its [`Undo`] *before* it is done, so that a killed
//! run can be cleaned up. Only what was created is undone, and only while its identity shows that raidlab made it.
//!
//! Between the tests of a trial: [`quiesce`], [`drop_caches`], [`counters`]. Nothing here measures, knows a workload,
//! or knows whether the machine is a lab guest, a host, or a dry run: the [`StackSetting`] says whether the devices
//! are zero and whether teardown may be skipped, and an [`Executor`] does every act.

mod around_test;
mod array;
mod filesystem;
mod machine;
mod recover;
mod setup;
mod simulated;
mod timeline;

pub use around_test::as_asked::as_asked;
pub use around_test::guards::{Tested, judge};
pub use around_test::pool_space::{end_transaction, pool_fragmentation};
pub use around_test::quiesce::{
    Quiesce, array_mismatches, counters, drop_caches, ignore_flushes, quiesce, release_resync,
};
pub use around_test::snapshots::{judge_snapshots, take_snapshots};
pub use array::md::Array;
pub use filesystem::tools_needed;
pub use machine::access::Access;
pub use machine::context::{Context, DiskKind, StackSetting, Teardown};
pub use machine::counters::DiskStats;
pub use machine::device::BlockDevice;
pub use machine::disk_check::{DiskCheck, NoDiskCheck};
pub use machine::disks::Disks;
pub use machine::error::Cause;
pub use machine::executor::{Command, Executor, FailAt, Listed, Moment, Mount, Mounted, System};
pub use machine::ledger::{Ledger, LedgerEntry, MemoryLedger};
pub use machine::page_cache::{cached_bytes, dirty_bytes};
pub use machine::undo::Undo;
pub use recover::{Recovered, Restart, put_away, recover, tools_of_recovery};
pub use setup::dry_run::{DryRun, dry_run};
pub use setup::failure::{FailedUndo, StackError, TeardownError};
pub use setup::stack::Stack;
pub use setup::undo::{Undoing, undo};
pub use setup::up::{down, put_down, remount, up};
pub use simulated::{DryRunOn, SimulatedMachine};
pub use timeline::{ActsAndTests, Timeline, tools_of_acts, write_known_file};
