//! The environment of a workload.

use crate::HostError;
use std::ops::Sub;
use std::path::PathBuf;
use std::sync::Arc;
use study::event::{Event, ToolCall};
use study::phase::Phases;
use study::progress::WorkProgress;
use tools::{Invocation, ToolError};

/// The machine and the stack, as far as a workload needs them.
pub trait Host {
    /// Receives samples, latencies and guards. Must be fast: it is called between tests.
    fn event(&mut self, event: Event);

    /// Reports the start of a step. The host knows when the trial began, so it creates the event.
    fn step(&mut self, name: &str);

    /// Writes back all dirty data, waits until the array is idle, and drops the caches. Called before each
    /// measurement, outside the measured time. No file on the stack is open then.
    fn quiesce_and_drop_caches(&mut self) -> Result<(), HostError>;

    /// Counters of the member disks, summed.
    fn device_counters(&mut self) -> Result<DeviceCounters, HostError>;

    /// Utilisation of the member disks between the last two reads of the counters, if known.
    fn disks_busy(&self) -> Option<DisksBusy> {
        None
    }

    /// Records the stack's guards for the time between the last two reads of the counters, for one test or for the
    /// whole trial. Called after the samples of the test.
    fn judge(&mut self, _test: Option<&str>) {}

    /// Smallest write that the disks complete without a read, if known and if the stack passes smaller writes on.
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

    /// The unit below which a random write makes the disks read first, if any.
    fn write_unit(&self) -> Option<WriteUnit> {
        None
    }

    /// RAM size of the machine, if known.
    fn ram_bytes(&self) -> Option<u64> {
        None
    }

    /// Mount point of the filesystem on the disks of another group, if any.
    fn group_mount(&self, _group: &str) -> Option<PathBuf> {
        None
    }

    /// Whether files that the workload finds filled are there already ([`prepare_files`](crate::prepare_files)).
    fn has_files(&self) -> bool {
        false
    }

    /// Whether the filesystem has been aged already ([`prepare_files`](crate::prepare_files)).
    fn is_aged(&self) -> bool {
        false
    }

    /// The number of the cell among those that differ in nothing else: each has an aged filesystem of its own.
    fn replicate(&self) -> u32 {
        0
    }

    /// Frees the space of deleted files, where syncfs(2) does not.
    fn free_deleted(&mut self) -> Result<(), HostError> {
        Ok(())
    }

    /// What the filesystem itself says of the fragmentation of its free space, if anything.
    fn fragmentation(&mut self) -> Result<Option<String>, HostError> {
        Ok(None)
    }

    /// Starts the acts on the array, if there are any and they have not started. Called by workloads that do not
    /// call [`quiesce_and_drop_caches`](Self::quiesce_and_drop_caches), which starts them as well.
    fn begin_acts(&mut self) -> Result<(), HostError> {
        Ok(())
    }

    /// From now on the simulated disks complete each flush at once without writing anything.
    fn ignore_flushes(&mut self) -> Result<(), HostError> {
        Err("only simulated disks can ignore flushes".into())
    }

    /// The workload has several tests, and this one is next: the one with this number, from 0. Acts that are under way go
    /// on from test to test. Called before [`quiesce_and_drop_caches`](Self::quiesce_and_drop_caches); what the test does, in
    /// units of its choice, is reported to [`progress`](Self::progress).
    fn next_test(&mut self, _number: usize, _of: usize, _units: u64) {}

    /// The last of several tests is over: acts come to their end before the next remount.
    fn tests_are_over(&mut self) {}

    /// Where progress is reported, if acts may wait for it.
    fn progress(&self) -> Option<Arc<WorkProgress>> {
        None
    }

    /// The phases of the array, if acts are done on it: requests are then counted by phase.
    fn phases(&self) -> Option<Arc<Phases>> {
        None
    }

    /// Runs an external program and records the call in the trial's events.
    fn run_tool(&mut self, invocation: &Invocation) -> Result<ToolCall, ToolError>;
}

/// Percentages of time in which disks had requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisksBusy {
    pub mean: f64,
    pub busiest: f64,
}

/// The unit of writes: a partial write makes the disks read the rest, or old data and parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteUnit {
    /// A full stripe of an array with parity: its data in bytes.
    Stripe(u64),
    /// A record of the filesystem, which is read as a whole after it was first written.
    Record(u64),
}

/// Requests and bytes at the member disks since they were attached, as in `/proc/diskstats` (sector = 512 bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    pub reads: u64,
    /// Reads that the I/O scheduler merged into others; they are not in `reads`.
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

    /// Difference from `before`. Saturating, because the counters of a removed member are lost.
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
