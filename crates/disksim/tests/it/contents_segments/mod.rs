//! Segments from the heap, as many as a test allows.

use disksim::contents::{SEGMENT_BYTES, Segments};
use std::cell::Cell;
use std::ptr::NonNull;
use std::rc::Rc;

const ALIGNMENT_BYTES: usize = 64;

pub struct Heap {
    segments: Vec<Vec<u8>>,
    allowed: Rc<Cell<usize>>,
}

impl Heap {
    pub fn unlimited() -> Heap {
        Heap::limited(Rc::new(Cell::new(usize::MAX)))
    }

    /// The limit can be changed while a store uses the heap.
    pub fn limited(allowed: Rc<Cell<usize>>) -> Heap {
        Heap {
            segments: Vec::new(),
            allowed,
        }
    }
}

// SAFETY: each segment is a separate vector, zeroed and large enough, never resized or accessed otherwise, and freed
// only with the heap, which the store owns.
unsafe impl Segments for Heap {
    fn map(&mut self, index: usize) -> Option<NonNull<u8>> {
        assert_eq!(index, self.segments.len(), "asked for in order, and once");
        if index >= self.allowed.get() {
            return None;
        }
        // An aligned allocation would touch every page to zero it.
        let mut segment = vec![0; SEGMENT_BYTES + ALIGNMENT_BYTES];
        let skip = segment.as_ptr().align_offset(ALIGNMENT_BYTES);
        let start = NonNull::new(segment[skip..].as_mut_ptr());
        self.segments.push(segment);
        start
    }
}
