//! Simulated disks: completion times and contents.
//!
//! `(state, request, now) → completion time`. No threads, no I/O, no clock, no dependency on a kernel or on raidlab:
//! the same code is linked into the lab's kernel, into the `raidlab` binary and into tests.
//!
//! A [`world::World`] holds all disks of a machine and what they share (buses, channels, adapters). The caller submits
//! requests, asks for the time of the next event, and advances to it; completions are returned. The contents of the
//! disks are separate, in [`contents`].
#![no_std]

extern crate alloc;
#[cfg(any(test, feature = "catalogue"))]
extern crate std;

mod buffer;
#[cfg(feature = "catalogue")]
pub mod catalogue;
mod channel;
mod check;
#[cfg(feature = "catalogue")]
pub mod comparison;
pub mod contents;
mod counters;
pub mod description;
mod disk;
#[cfg(feature = "catalogue")]
pub mod disksim_import;
mod extents;
pub mod faults;
mod finish;
pub mod flash;
pub mod geometry;
pub mod link;
mod mechanical;
mod mechanics;
pub mod random;
#[cfg(feature = "catalogue")]
pub mod replay;
pub mod request;
mod schedule;
pub mod shingled;
#[cfg(feature = "catalogue")]
pub mod show;
#[cfg(feature = "catalogue")]
mod user;
pub mod world;
mod write_back;
