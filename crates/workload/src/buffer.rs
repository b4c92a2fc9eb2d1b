//! Memory that begins on a page: O_DIRECT demands it, and the kernel copies faster to and from it.

use std::ops::{Deref, DerefMut};

/// Bytes beginning at a multiple of [`AlignedBuffer::ALIGNMENT`].
pub(crate) struct AlignedBuffer {
    // A vector that is longer than asked, used from its first aligned byte. It never grows, so it never moves.
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl AlignedBuffer {
    pub(crate) const ALIGNMENT: usize = 4096;

    pub(crate) fn zeroed(len: usize) -> Self {
        let bytes = vec![0; len + Self::ALIGNMENT - 1];
        let start = bytes.as_ptr().align_offset(Self::ALIGNMENT);
        assert!(start < Self::ALIGNMENT, "a byte pointer can always be aligned");
        Self { bytes, start, len }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.len]
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}
