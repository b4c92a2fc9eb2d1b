//! A table that grows in chunks, so that growth needs neither copying nor one large allocation.

use super::Full;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// Maximum size of a chunk.
pub const CHUNK_BYTES: usize = 64 * 1024;

/// Entries numbered from 0, which live as long as the table.
pub struct Chunked<T> {
    /// All but the last are full, and none is ever reallocated.
    chunks: Vec<Vec<T>>,
    len: u32,
}

impl<T> Default for Chunked<T> {
    fn default() -> Self {
        Chunked {
            chunks: Vec::new(),
            len: 0,
        }
    }
}

impl<T> Chunked<T> {
    /// A power of two, so that an entry is found with a shift and a mask.
    const CHUNK_ENTRIES: usize = 1 << (CHUNK_BYTES / size_of::<T>()).ilog2();

    pub fn len(&self) -> u32 {
        self.len
    }

    /// Appends an entry and returns its number.
    pub fn push(&mut self, entry: T) -> Result<u32, Full> {
        let number = self.len;
        let chunk = number as usize / Self::CHUNK_ENTRIES;
        let len = number.checked_add(1).ok_or(Full)?;
        if chunk == self.chunks.len() {
            self.add_chunk()?;
        }
        self.chunks[chunk].push(entry);
        self.len = len;
        Ok(number)
    }

    fn add_chunk(&mut self) -> Result<(), Full> {
        let mut entries = Vec::new();
        entries.try_reserve_exact(Self::CHUNK_ENTRIES).map_err(|_| Full)?;
        self.chunks.try_reserve(1).map_err(|_| Full)?;
        self.chunks.push(entries);
        Ok(())
    }

    pub fn metadata_bytes(&self) -> usize {
        self.chunks.len() * Self::CHUNK_ENTRIES * size_of::<T>() + self.chunks.capacity() * size_of::<Vec<T>>()
    }
}

impl<T> Index<u32> for Chunked<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: u32) -> &T {
        &self.chunks[number as usize / Self::CHUNK_ENTRIES][number as usize % Self::CHUNK_ENTRIES]
    }
}

impl<T> IndexMut<u32> for Chunked<T> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.chunks[number as usize / Self::CHUNK_ENTRIES][number as usize % Self::CHUNK_ENTRIES]
    }
}
