//! Simulated disks: completion times and contents.
//!
//! `(state, request, now) → completion time`. No threads, no I/O, no clock, no dependency on a kernel or on raidlab:
//! the same code is linked into the lab's kernel, into the `raidlab` binary and into tests.
//!
//! A [`disk_set::World`] holds all disks of a machine and what they share (buses, channels, adapters). The caller
//! submits requests, asks for the time of the next event, and advances to it; completions are returned. The contents
//! of the disks are separate, in [`contents`].
#![no_std]

extern crate alloc;
#[cfg(any(test, feature = "catalogue"))]
extern crate std;

mod buffer;
#[cfg(feature = "catalogue")]
pub mod catalogue;
mod check;
#[cfg(feature = "catalogue")]
pub mod comparison;
mod completion_queue;
pub mod contents;
mod counters;
pub mod description;
mod disk;
pub mod disk_set;
#[cfg(feature = "catalogue")]
pub mod disksim_import;
mod extents;
pub mod faults;
pub mod flash;
pub mod geometry;
mod hard_disk;
mod ide_channel;
pub mod link;
#[cfg(feature = "catalogue")]
mod load_generator;
mod positioning;
pub mod random;
#[cfg(feature = "catalogue")]
pub mod replay;
pub mod request;
mod schedule;
pub mod shingled;
#[cfg(feature = "catalogue")]
pub mod show;
mod write_back;
