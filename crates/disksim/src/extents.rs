//! A sorted list of extents in which an insertion moves four bytes per extent, not the extents themselves.

use crate::write_back::Extent;
use alloc::vec::Vec;

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
