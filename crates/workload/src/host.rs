//! The environment of a workload.

use crate::HostError;
use std::ops::Sub;
use std::path::PathBuf;
use std::sync::Arc;
use study::event::{Event, ToolCall};
use study::phase::Phases;
use tools::{Invocation, ToolError};

/// The machine and the stack, as far as a workload needs them.
pub trait Host {
    /// Receives samples, latencies and guards. Must be fast: it is called between tests.
    fn event(&mut self, event: Event);

    /// Reports the start of a step. The host knows when the trial began, so it creates the event.
    fn step(&mut self, name: &str);

    /// Writes back all dirty data, waits until the array is idle, and drops the caches. Called before each measurement,
    /// outside the measured time. No file of the stack is open then.
    fn quiesce_and_drop_caches(&mut self) -> Result<(), HostError>;

    /// Counters of the member disks so far, summed.
    fn device_counters(&mut self) -> Result<DeviceCounters, HostError>;

    /// How busy the member disks were between the last two readings of the counters, if that is known.
    fn disks_busy(&self) -> Option<DisksBusy> {
        None
    }

    /// Records guards on the stack during the time between the last two readings of the counters: of this test, or of all
    /// tests of the trial. Called after the samples of the test.
    fn judge(&mut self, _test: Option<&str>) {}

    /// Smallest write that the disks need not complete by reading, if it is known and the stack passes on what is smaller.
    fn physical_block_bytes(&self) -> Option<u64> {
        None
    }

    /// Unmounts the filesystem under test and mounts it again at the same place, with the same options.
    fn remount(&mut self) -> Result<(), HostError>;

    /// Whether the filesystem under test compresses data.
    fn compresses(&self) -> bool {
        false
    }

    /// Minimum number of bytes written to the member disks for `bytes` of data, with copies and parity of the array.
    fn member_bytes_min(&self, bytes: u64) -> u64 {
        bytes
    }

    /// What a smaller random write makes the disks read before, if anything.
    fn write_unit(&self) -> Option<WriteUnit> {
        None
    }

    /// Memory of the machine, if it is known.
    fn ram_bytes(&self) -> Option<u64> {
        None
    }

    /// Mount point of the filesystem on the disks of another group, if any.
    fn group_mount(&self, _group: &str) -> Option<PathBuf> {
        None
    }

    /// Begins the acts on the array, if there are some and they have not begun. Called by work that does not call
    /// [`quiesce_and_drop_caches`](Self::quiesce_and_drop_caches), which begins them as well.
    fn begin_acts(&mut self) -> Result<(), HostError> {
        Ok(())
    }

    /// From now on the simulated disks end each flush at once and write nothing for it.
    fn ignore_flushes(&mut self) -> Result<(), HostError> {
        Err("only simulated disks ignore flushes".into())
    }

    /// So many per cent of the work are done: acts may wait for it. Must be fast.
    fn work_is_done(&mut self, _percent: u8) {}

    /// The phases of the array, if acts are being done on it: requests are then counted by phase.
    fn phases(&self) -> Option<Arc<Phases>> {
        None
    }

    /// Runs an external program and records the call in the trial's events.
    fn run_tool(&mut self, invocation: &Invocation) -> Result<ToolCall, ToolError>;
}

/// Percentages of a time in which disks had requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisksBusy {
    pub mean: f64,
    pub busiest: f64,
}

/// What is written as a whole: a write of a part of it makes the disks read the rest, or old data and parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteUnit {
    /// A stripe of an array with parity: data in bytes.
    Stripe(u64),
    /// A record of the filesystem, which is read as a whole once it has been written.
    Record(u64),
}

/// Requests and bytes at the member disks since they came up, as `/proc/diskstats` counts them (sector = 512 bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    pub reads: u64,
    /// Reads that the scheduler merged with others: each was a request before, and is none of `reads`.
    pub reads_merged: u64,
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

    /// Difference to `before`. Saturates: the counters of a removed member are lost.
    fn sub(self, before: Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(before.reads),
            reads_merged: self.reads_merged.saturating_sub(before.reads_merged),
            read_sectors: self.read_sectors.saturating_sub(before.read_sectors),
            writes: self.writes.saturating_sub(before.writes),
            written_sectors: self.written_sectors.saturating_sub(before.written_sectors),
        }
    }
}
