//! The process of a trial, seen from outside: the kernel of a guest, or a process on this machine.

use std::time::Duration;

/// Limits after which the process of a trial is killed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time without progress. In a guest virtual time does not advance; on this machine its processes and disks are
    /// idle.
    pub stall: Duration,
    /// Wall time.
    pub wall: Duration,
    /// Bytes of its events. A trial writes less than a mebibyte.
    pub output_bytes: u64,
}

/// More than any trial writes.
pub const OUTPUT_BYTES_MAX: u64 = 256 << 20;

/// How the process of a trial ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    /// It exited with status 0.
    Exited,
    /// It exited with another status or crashed, with a description.
    Died(String),
    /// It was killed by this signal from outside.
    Killed(i32),
    /// [`Limits::stall`] was exceeded.
    Stalled,
    /// [`Limits::wall`] was exceeded.
    TimedOut,
    /// [`Limits::output_bytes`] was exceeded.
    OutputLimit,
    /// A simulated disk could not store data: memory and the disk of the trial's folder are full.
    NoSpace,
    /// A real disk failed; the kernel's message.
    DiskFailed(String),
    /// It was stopped from outside.
    Stopped,
}
