//! Completions that are decided but not yet due.

use crate::request::Status;
use alloc::collections::BinaryHeap;
use core::cmp::{Ordering, Reverse};

/// A future completion.
#[derive(Clone, Copy, Debug)]
pub struct Finish {
    pub at_ns: u64,
    pub tag: u32,
    pub status: Status,
    order: u64,
}

impl Finish {
    fn key(&self) -> (u64, u64) {
        (self.at_ns, self.order)
    }
}

impl PartialEq for Finish {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Finish {}

impl PartialOrd for Finish {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Finish {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Completions by time; those at the same time in the order in which they were decided.
#[derive(Default)]
pub struct Finishes {
    heap: BinaryHeap<Reverse<Finish>>,
    order: u64,
}

impl Finishes {
    pub fn push(&mut self, at_ns: u64, tag: u32, status: Status) {
        self.order += 1;
        self.heap.push(Reverse(Finish {
            at_ns,
            tag,
            status,
            order: self.order,
        }));
    }

    pub fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(|f| f.0.at_ns)
    }

    pub fn pop(&mut self) -> Option<Finish> {
        self.heap.pop().map(|f| f.0)
    }

    /// Removes all completions after a point in time, for a disk that dies.
    pub fn cut(&mut self, at_ns: u64, mut taken: impl FnMut(u32)) {
        self.heap.retain(|f| {
            let keep = f.0.at_ns < at_ns;
            if !keep {
                taken(f.0.tag);
            }
            keep
        });
    }
}
