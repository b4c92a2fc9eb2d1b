//! All disks of the guest: their model and their contents.

use crate::host;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ptr::NonNull;
use disksim::contents::{Cache, Corruption, Error, SEGMENT_BYTES, Segments, Store};
use disksim::description::{Description, Device};
use disksim::disk_set::{Counters, World};
use disksim::request::{Completion, Op, Request, Status};

/// `RL_COUNTERS` of `driver/raidlab.h`.
pub const COUNTERS: usize = Counters::NAMES.len();
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
    /// With a power cut ahead: data in the disks' caches is distinguished from data on their media.
    caches: Option<Caches>,
}

/// State of the caches until a power cut.
#[derive(Default)]
struct Caches {
    /// Flushes under way.
    flushes: Vec<Flush>,
    /// Flushes that ended, and what was in the disk's cache then: first sector and length. What completed before or
    /// with the flush comes into the contents only when the driver has taken the completions.
    flushed: Vec<(Flush, Vec<(u64, u32)>)>,
    /// Writes since the caches were looked at last.
    writes: u32,
}

struct Flush {
    disk: usize,
    tag: u32,
    /// What was written before is on the media when the flush has ended, also where a write that came meanwhile is still in
    /// the cache.
    next_write: u64,
}

/// After so many writes the caches are looked at, so that few versions of blocks are remembered for a power cut that are
/// on the media long since.
const WRITES_MAX: u32 = 1024;

struct HostSegments;

// SAFETY: each index is a fresh shared mapping of SEGMENT_BYTES that is never unmapped. An earlier guest may have written
// there, which no longer runs.
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
    set_up(&mut contents, &description);
    let disks = description.disks.len();
    let machine = Machine { world, contents, description, done: Vec::with_capacity(256), next: 0, caches: None };
    // SAFETY: called once, before any other call.
    unsafe { *MACHINE.0.get() = Some(machine) };
    Ok(disks)
}

/// Adds the silent corruption of each disk, and what a power cut leaves of its cache.
fn set_up(contents: &mut Store, description: &Description) {
    for (number, disk) in description.disks.iter().enumerate() {
        // There is such a disk, here and below.
        let _ = contents.set_survival(number, disk.survival);
        for range in &disk.faults.corrupt {
            let sectors = range.sector..range.sector.saturating_add(range.sectors);
            // Another seed for each disk: copies of one sector must not go wrong in the same way.
            let seed = disk.seed ^ number as u64;
            let _ = contents.corrupt(number, Corruption { sectors, seed });
        }
    }
}

impl Machine {
    /// Continues with the contents saved by an earlier guest, on disks that do nothing and whose caches are empty. No
    /// request may be under way.
    pub fn restore(&mut self, saved: &[u8]) -> Result<(), &'static str> {
        let mut contents = Store::restore(Box::new(HostSegments), saved)
            .map_err(|_| "raidlab: the saved contents of the disks are invalid")?;
        if !contents.sectors().eq(self.description.disks.iter().map(|disk| disk.sectors)) {
            return Err("raidlab: the contents are those of other disks");
        }
        set_up(&mut contents, &self.description);
        self.contents = contents;
        self.world = World::new(&self.description).map_err(|_| "raidlab: the description of the disks is invalid")?;
        self.done.clear();
        self.next = 0;
        Ok(())
    }

    /// From now on a power cut can undo writes that a disk's cache holds.
    pub fn expect_power_cut(&mut self) {
        self.caches = Some(Caches::default());
        for disk in 0..self.description.disks.len() {
            // There is such a disk.
            let _ = self.contents.set_cache(disk, Cache::Volatile);
        }
    }

    /// Cuts the power: the seed decides for each sector in the caches which version survives. Requests that are not
    /// complete are not on the disks.
    pub fn power_cut(&mut self, seed: u64, now_ns: u64) {
        self.keep_flushed();
        self.world.advance(now_ns, &mut self.done);
        self.look_at_caches();
        self.contents.power_cut(seed);
    }

    /// Keeps the contents that the disks would have after a power cut now; the disks go on. Whether there was room.
    pub fn keep_state(&mut self, seed: u64, now_ns: u64) -> bool {
        self.collect(now_ns);
        // Not by look_at_caches(): versions that it forgets would no longer be there for later states, but for a power
        // cut that ends a guest.
        let disks = 0..self.description.disks.len();
        let volatile: Vec<Vec<(u64, u32)>> = disks.map(|disk| self.world.volatile(disk).collect()).collect();
        let mut bytes = Vec::new();
        let keep = &mut |piece: &[u8]| bytes.extend_from_slice(piece);
        let saved = self.contents.save_after_power_cut(seed, &volatile, keep);
        saved.is_ok() && host::keep_state(&bytes)
    }

    pub fn submit(&mut self, disk: usize, now_ns: u64, request: Request) {
        if let (Some(caches), Op::Flush) = (&mut self.caches, request.op) {
            let next_write = match self.world.ignores_flushes(disk) {
                true => 0,
                false => self.contents.next_write(disk).unwrap_or(0),
            };
            caches.flushes.push(Flush { disk, tag: request.tag, next_write });
        }
        self.world.submit(disk, now_ns, request);
    }

    pub fn write(&mut self, disk: usize, sector: u64, data: &[u8]) -> Result<(), Error> {
        self.contents.write(disk, sector, data)?;
        if let Some(caches) = &mut self.caches {
            caches.writes += 1;
            if caches.writes >= WRITES_MAX {
                caches.writes = 0;
                self.look_at_caches();
            }
        }
        Ok(())
    }

    /// Data that has left a disk's cache survives a power cut.
    fn look_at_caches(&mut self) {
        for disk in 0..self.description.disks.len() {
            let mut volatile: Vec<(u64, u32)> = self.world.volatile(disk).collect();
            // There is such a disk.
            let _ = self.contents.persist_all_but(disk, &mut volatile);
        }
    }

    /// A completed flush has emptied the cache, except for what was written meanwhile.
    fn end_flushes(&mut self) {
        let Some(caches) = &mut self.caches else { return };
        for completion in &self.done {
            let disk = completion.disk as usize;
            let is_it = |flush: &Flush| (flush.disk, flush.tag) == (disk, completion.tag);
            if let Some(place) = caches.flushes.iter().position(is_it) {
                let mut flush = caches.flushes.swap_remove(place);
                if completion.status != Status::Ok {
                    flush.next_write = 0;
                }
                caches.flushed.push((flush, self.world.volatile(disk).collect()));
            }
        }
    }

    /// The driver has taken all completions: the data of completed flushes is on the media.
    fn keep_flushed(&mut self) {
        let Some(caches) = &mut self.caches else { return };
        for (flush, mut volatile) in caches.flushed.drain(..) {
            // There is such a disk.
            let _ = self.contents.persist_all_but(flush.disk, &mut volatile);
            let _ = self.contents.persist_until(flush.disk, flush.next_write);
        }
    }

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
        }
    }

    pub fn next_event_ns(&self) -> u64 {
        if self.next < self.done.len() {
            return 0;
        }
        self.world.next_event_ns().unwrap_or(u64::MAX)
    }

    /// Fills `room` with what completed until now; less than full when that was all.
    pub fn advance(&mut self, now_ns: u64, room: &mut [Done]) -> u32 {
        self.collect(now_ns);
        let waiting = &self.done[self.next..];
        let count = waiting.len().min(room.len());
        for (place, completion) in room.iter_mut().zip(waiting) {
            *place = Done { disk: completion.disk, tag: completion.tag, status: number(completion.status) };
        }
        self.next += count;
        count as u32
    }

    /// Has the disks work until now, unless the driver has yet to take what completed before.
    fn collect(&mut self, now_ns: u64) {
        if self.next == self.done.len() {
            self.done.clear();
            self.next = 0;
            self.keep_flushed();
            self.world.advance(now_ns, &mut self.done);
            self.end_flushes();
        }
    }

    pub fn counters(&self, disk: usize, counters: &mut [u64]) {
        for (place, value) in counters.iter_mut().zip(self.world.counters(disk).values()) {
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
