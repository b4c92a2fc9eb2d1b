//! Extents that wait to be written, and a sorted list of them in which an insertion moves four bytes per extent, not the
//! extents themselves.

use crate::geometry::Place;
use alloc::vec::Vec;

/// Arrival of a write's sectors over the wire.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub start_ns: u64,
    pub sector_ps: u64,
    /// Sectors that must have arrived before the first one is written.
    pub ahead: u32,
}

impl Arrival {
    pub const PAST: Arrival = Arrival {
        start_ns: 0,
        sector_ps: 0,
        ahead: 0,
    };

    /// When the `index`-th sector can be written.
    pub fn ready_ns(&self, index: u64) -> u64 {
        let needed = (index + 1).max(u64::from(self.ahead));
        self.start_ns + needed.saturating_mul(self.sector_ps) / 1000
    }
}

/// Consecutive sectors that wait to be written.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub lbn: u64,
    pub sectors: u32,
    /// Sequence number of the request; that of the oldest data.
    pub order: u64,
    /// Earliest time at which the arm may leave for them.
    pub leave_ns: u64,
    pub data: Arrival,
    pub place: Place,
    pub angle_ns: u64,
    /// The segment of the buffer that holds them.
    pub segment: Option<u32>,
    /// Written in requests large enough that a shingled drive writes them to their band.
    pub large: bool,
}

impl Extent {
    pub fn end(&self) -> u64 {
        self.lbn + u64::from(self.sectors)
    }
}

/// Extents ordered by first sector; the caller keeps the order when inserting.
#[derive(Default)]
pub struct Extents {
    sorted: Vec<u32>,
    slots: Vec<Extent>,
    free: Vec<u32>,
}

impl Extents {
    pub fn with_capacity(capacity: usize) -> Self {
        Extents {
            sorted: Vec::with_capacity(capacity),
            slots: Vec::with_capacity(capacity),
            free: Vec::with_capacity(capacity),
        }
    }

    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    pub fn get(&self, index: usize) -> Option<&Extent> {
        self.slots.get(*self.sorted.get(index)? as usize)
    }

    pub fn get_mut(&mut self, index: usize) -> Option<&mut Extent> {
        self.slots.get_mut(*self.sorted.get(index)? as usize)
    }

    pub fn insert(&mut self, index: usize, extent: Extent) {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = extent;
                slot
            }
            None => {
                self.slots.push(extent);
                self.slots.len() as u32 - 1
            }
        };
        self.sorted.insert(index.min(self.sorted.len()), slot);
    }

    pub fn remove(&mut self, index: usize) {
        if index < self.sorted.len() {
            self.free.push(self.sorted.remove(index));
        }
    }

    /// Removes consecutive extents.
    pub fn drain(&mut self, range: core::ops::Range<usize>) {
        self.free.extend(self.sorted.drain(range));
    }

    /// Index of the first extent for which `before` is false; it must be true for all extents before that one.
    pub fn partition_point(&self, before: impl Fn(&Extent) -> bool) -> usize {
        self.sorted.partition_point(|&slot| before(&self.slots[slot as usize]))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Extent> {
        self.range(0..self.len())
    }

    pub fn range(&self, range: core::ops::Range<usize>) -> impl Iterator<Item = &Extent> {
        self.sorted[range].iter().map(|&slot| &self.slots[slot as usize])
    }
}
