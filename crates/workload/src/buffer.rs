//! Page-aligned memory: required by O_DIRECT, and faster for the kernel to copy to and from.

use std::ops::{Deref, DerefMut};

/// Bytes beginning at a multiple of [`AlignedBuffer::ALIGNMENT`].
pub(crate) struct AlignedBuffer {
    // A vector larger than needed, used from its first aligned byte. It never grows, so it never moves.
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
