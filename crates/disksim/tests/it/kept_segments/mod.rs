//! Segments that are handed from one store to the next.

use disksim::contents::{SEGMENT_BYTES, Segments};
use std::cell::RefCell;
use std::ptr::NonNull;
use std::rc::Rc;

const ALIGNMENT_BYTES: usize = 64;

/// Segments that outlive the store: the next one finds them as the previous one left them.
#[derive(Clone, Default)]
pub struct Kept {
    segments: Rc<RefCell<Vec<Vec<u8>>>>,
}

impl Kept {
    /// Segments for one store; the previous one must not be used any more.
    pub fn segments(&self) -> Box<dyn Segments> {
        Box::new(self.clone())
    }
}

// SAFETY: each segment is a separate vector, zeroed when it is made and large enough, never resized; the tests drop
// the previous store or stop using it.
unsafe impl Segments for Kept {
    fn map(&mut self, index: usize) -> Option<NonNull<u8>> {
        let mut segments = self.segments.borrow_mut();
        if index == segments.len() {
            segments.push(vec![0; SEGMENT_BYTES + ALIGNMENT_BYTES]);
        }
        let segment = &mut segments[index];
        let skip = segment.as_ptr().align_offset(ALIGNMENT_BYTES);
        NonNull::new(segment[skip..].as_mut_ptr())
    }
}
