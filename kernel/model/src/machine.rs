//! All disks of the guest: their model and their contents.

use crate::host;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ptr::NonNull;
use disksim::contents::{SEGMENT_BYTES, Segments, Store};
use disksim::description::{Description, Device};
use disksim::request::{Completion, Status};
use disksim::world::World;

/// `RL_COUNTERS` of `driver/raidlab.h`.
pub const COUNTERS: usize = 16;
/// `RL_DIGEST_BYTES` of `driver/raidlab.h`.
pub const DIGEST_BYTES: usize = 16;

/// Larger disks have physical sectors of 4 KiB (Advanced Format, from 2011 on, which is when disks passed 2 TB).
const SMALL_SECTORS: u64 = 2_000_000_000_000 / 512;

/// `struct rl_disk_info`.
#[repr(C)]
pub struct DiskInfo {
    sectors: u64,
    queue_depth: u32,
    physical_block_bytes: u32,
    rotational: u8,
    write_cache: u8,
    fua: u8,
    discard: u8,
    name: [u8; 28],
}

/// `struct rl_completion`.
#[repr(C)]
pub struct Done {
    disk: u32,
    tag: u32,
    status: u32,
}

/// Everything that the driver's calls act on.
pub struct Machine {
    pub world: World,
    pub contents: Store,
    description: Description,
    /// Completions that were not asked for yet, from `next` on.
    done: Vec<Completion>,
    next: usize,
}

struct HostSegments;

// SAFETY: each index is a new shared mapping of SEGMENT_BYTES that is never unmapped.
unsafe impl Segments for HostSegments {
    fn map(&mut self, index: usize) -> Option<NonNull<u8>> {
        host::segment(index, SEGMENT_BYTES)
    }
}

struct Shared(UnsafeCell<Option<Machine>>);

// SAFETY: the driver calls from one thread, with interrupts off.
unsafe impl Sync for Shared {}

static MACHINE: Shared = Shared(UnsafeCell::new(None));

/// The machine that [`open`] made.
pub fn machine() -> &'static mut Machine {
    // SAFETY: the driver's calls follow one another, so there is one reference at a time.
    match unsafe { &mut *MACHINE.0.get() } {
        Some(machine) => machine,
        None => panic!("the disks are used before they are opened"),
    }
}

/// Makes the disks that a description names; their number.
pub fn open(bytes: &[u8]) -> Result<usize, String> {
    let description: Description =
        postcard::from_bytes(bytes).map_err(|error| format!("raidlab: description of the disks: {error}"))?;
    let world = World::new(&description).map_err(|error| format!("raidlab: description of the disks: {error}"))?;
    let mut contents = Store::new(Box::new(HostSegments));
    for disk in &description.disks {
        contents.add_disk(disk.sectors);
    }
    let disks = description.disks.len();
    let machine = Machine { world, contents, description, done: Vec::with_capacity(256), next: 0 };
    // SAFETY: called once, before any other call.
    unsafe { *MACHINE.0.get() = Some(machine) };
    Ok(disks)
}

impl Machine {
    pub fn info(&self, disk: usize) -> DiskInfo {
        let disk = &self.description.disks[disk];
        let (queue_depth, rotational, write_cache) = match &disk.device {
            Device::Mechanical(device) => (device.queue.depth, true, device.write_cache.enabled),
            Device::Flash(device) => (device.queue_depth, false, true),
        };
        DiskInfo {
            sectors: disk.sectors,
            queue_depth,
            physical_block_bytes: if rotational && disk.sectors <= SMALL_SECTORS { 512 } else { 4096 },
            rotational: rotational.into(),
            write_cache: write_cache.into(),
            fua: 0,
            discard: (!rotational).into(),
            name: [0; 28],
        }
    }

    pub fn next_event_ns(&self) -> u64 {
        self.world.next_event_ns().unwrap_or(u64::MAX)
    }

    /// Fills `room` with what completed until now; less than full when that was all.
    pub fn advance(&mut self, now_ns: u64, room: &mut [Done]) -> u32 {
        if self.next == self.done.len() {
            self.done.clear();
            self.next = 0;
            self.world.advance(now_ns, &mut self.done);
        }
        let waiting = &self.done[self.next..];
        let count = waiting.len().min(room.len());
        for (place, completion) in room.iter_mut().zip(waiting) {
            *place = Done { disk: completion.disk, tag: completion.tag, status: number(completion.status) };
        }
        self.next += count;
        count as u32
    }

    pub fn counters(&self, disk: usize, counters: &mut [u64]) {
        let c = self.world.counters(disk);
        let values = [
            c.reads,
            c.writes,
            c.flushes,
            c.sectors_read,
            c.sectors_written,
            c.busy_ns,
            c.seek_ns,
            c.rotation_ns,
            c.transfer_ns,
            c.hits,
            c.cached_writes,
            c.destages,
            u64::from(c.queue_max),
        ];
        for (place, value) in counters.iter_mut().zip(values) {
            *place = value;
        }
    }

    pub fn digest(&self, disk: usize, digest: &mut [u8]) {
        if let Ok(value) = self.contents.digest(disk) {
            digest.copy_from_slice(&value.to_le_bytes());
        }
    }
}

fn number(status: Status) -> u32 {
    match status {
        Status::Ok => 0,
        Status::MediumError { .. } => 1,
        Status::DeviceGone => 2,
        Status::Invalid => 3,
    }
}
