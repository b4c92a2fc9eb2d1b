//! The process that a trial runs in, seen from outside: the kernel of a guest, or a process of this machine.

use std::time::Duration;

/// When the process of a trial is ended.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// It has shown no sign of life for so long. In a guest virtual time stands still; on this machine neither its
    /// processes nor its disks do anything.
    pub stall: Duration,
    /// It has run for so long.
    pub wall: Duration,
    /// Its events have taken so much room, bytes. A trial writes less than a mebibyte.
    pub output_bytes: u64,
}

/// More than any trial writes.
pub const OUTPUT_BYTES_MAX: u64 = 256 << 20;

/// How the process of a trial ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    /// It exited with status 0.
    Exited,
    /// It exited with another status, or by a fault of its own: in words.
    Died(String),
    /// Somebody sent it this signal, which no fault of its own brings.
    Killed(i32),
    /// [`Limits::stall`] was exceeded.
    Stalled,
    /// [`Limits::wall`] was exceeded.
    TimedOut,
    /// [`Limits::output_bytes`] was exceeded.
    OutputLimit,
    /// A simulated disk could not store what was written: memory and the disk of the trial's folder are full.
    NoSpace,
    /// A real disk failed; the kernel's message.
    DiskFailed(String),
    /// It was stopped from outside.
    Stopped,
}
