//! What the work needs from around it.

use crate::HostError;
use std::ops::Sub;
use std::path::PathBuf;
use study::event::{Event, ToolCall};
use tools::{Invocation, ToolError};

/// The machine and the stack, as far as a workload has to ask them for something.
pub trait Host {
    /// Takes what was seen: samples, latencies, guards. Keep it cheap: it is called between tests.
    fn event(&mut self, event: Event);

    /// Says what is done now. The host knows when the trial began, so it makes the event.
    fn step(&mut self, name: &str);

    /// Writes out all that is dirty, waits until the array does nothing of its own, and drops the caches. Called
    /// before each measurement, outside its clock. No file of the stack is open then.
    fn quiesce_and_drop_caches(&mut self) -> Result<(), HostError>;

    /// What the member disks did so far, summed over them.
    fn device_counters(&mut self) -> Result<DeviceCounters, HostError>;

    /// Unmounts the filesystem under test and mounts it again, in the same place, with the same options.
    fn remount(&mut self) -> Result<(), HostError>;

    /// Whether the filesystem under test keeps what can be compressed in less room.
    fn compresses(&self) -> bool {
        false
    }

    /// The fewest bytes that the member disks are written for `bytes` of data: copies and parity of the array counted.
    fn member_bytes_min(&self, bytes: u64) -> u64 {
        bytes
    }

    /// Where the filesystem on the disks of another group is mounted, if that group has one.
    fn group_mount(&self, _group: &str) -> Option<PathBuf> {
        None
    }

    /// Runs an external program and keeps the call with the trial's events.
    fn run_tool(&mut self, invocation: &Invocation) -> Result<ToolCall, ToolError>;
}

/// Requests and bytes at the member disks since they came up, as `/proc/diskstats` counts them (sector = 512 bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    pub reads: u64,
    pub read_sectors: u64,
    pub writes: u64,
    pub written_sectors: u64,
}

impl DeviceCounters {
    const SECTOR_BYTES: u64 = 512;

    pub const fn read_bytes(&self) -> u64 {
        self.read_sectors * Self::SECTOR_BYTES
    }

    pub const fn written_bytes(&self) -> u64 {
        self.written_sectors * Self::SECTOR_BYTES
    }
}

impl Sub for DeviceCounters {
    type Output = Self;

    /// What was done since `before`. Saturates: a member that was taken away takes its counts with it.
    fn sub(self, before: Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(before.reads),
            read_sectors: self.read_sectors.saturating_sub(before.read_sectors),
            writes: self.writes.saturating_sub(before.writes),
            written_sectors: self.written_sectors.saturating_sub(before.written_sectors),
        }
    }
}
