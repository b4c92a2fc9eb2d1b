//! File contents: bytes that no filesystem can compress, that are cheap to generate, and that can be recomputed from
//! the seed.
//!
//! A pool of random bytes is generated once. Each mebibyte of a file is a slice of the pool, so that a write needs no
//! copying and no work per byte; its start is drawn from (seed, file, number of the mebibyte). It begins on a 4 KiB
//! boundary, so the lab's disks, which deduplicate blocks, hold gigabytes in little memory. The first bytes of a file
//! are a unique stamp.
//!
//! A misplaced block is detected unless it happens to equal the correct one: 1 in 769.

use crate::buffer::AlignedBuffer;
use crate::random::{Random, hash, scale};
use std::ops::Deref;
use study::workload::{BufferFill, BufferSpec};

/// Contents of all files under one seed.
pub struct Contents {
    seed: u64,
    pool: AlignedBuffer,
    /// Number of 4 KiB boundaries at which a slice may begin.
    starts: u64,
    /// Percentage of blocks that are equal to an earlier one; all others are then unique.
    dedupe_percent: Option<u8>,
}

impl Contents {
    /// Length of a slice of the pool; also the size of one write to a large file.
    pub const SEGMENT_BYTES: u64 = 1 << 20;
    const GRAIN_BYTES: u64 = 4096;
    const STARTS: u64 = 769;
    const STAMP_BYTES: usize = 16;

    pub fn new(seed: u64) -> Self {
        Self::for_segments(seed, Self::SEGMENT_BYTES)
    }

    /// A pool for slices of up to `segment_bytes`.
    pub(crate) fn for_segments(seed: u64, segment_bytes: u64) -> Self {
        let len = (Self::STARTS - 1) * Self::GRAIN_BYTES + segment_bytes;
        let mut pool = AlignedBuffer::zeroed(len as usize);
        let mut random = Random::new(seed, u64::from_le_bytes(*b"contents"));
        for word in pool.chunks_mut(8) {
            let bytes = random.next().to_le_bytes();
            word.copy_from_slice(&bytes[..word.len()]);
        }
        Self {
            seed,
            pool,
            starts: Self::STARTS,
            dedupe_percent: None,
        }
    }

    /// A pool with the buffer contents that a job specifies, for blocks of `block_bytes`.
    pub(crate) fn of_buffer(seed: u64, block_bytes: u64, buffer: &BufferSpec) -> Self {
        let mut contents = Self::for_segments(seed, block_bytes);
        match &buffer.fill {
            BufferFill::Random => {}
            BufferFill::Zero => contents.pool.fill(0),
            BufferFill::Pattern(pattern) => {
                contents.starts = 1;
                for (byte, value) in contents.pool.iter_mut().zip(pattern.iter().cycle()) {
                    *byte = *value;
                }
            }
        }
        let piece_bytes = block_bytes.min(Self::GRAIN_BYTES) as usize;
        let zeros = piece_bytes * usize::from(buffer.compress_percent.min(100)) / 100;
        if zeros > 0 {
            for piece in contents.pool.chunks_mut(piece_bytes) {
                let keep = piece.len().saturating_sub(zeros);
                piece[keep..].fill(0);
            }
        }
        contents.dedupe_percent = buffer.dedupe_percent;
        contents
    }

    /// The bytes of block `index` of `stream`: a slice of the pool or, if blocks must be unique, a copy of it in
    /// `scratch` with a unique stamp in every 4 KiB.
    pub(crate) fn block<'a>(&'a self, stream: u64, index: u64, scratch: &'a mut [u8]) -> &'a [u8] {
        let Some(percent) = self.dedupe_percent else {
            return self.stretch(stream, index, scratch.len());
        };
        let len = scratch.len();
        let draw = hash(self.seed ^ u64::from_le_bytes(*b"deduping"), stream, index);
        if scale(draw, 100) < u64::from(percent) {
            return &self.pool[..len];
        }
        scratch.copy_from_slice(self.stretch(stream, index, len));
        for (number, piece) in (1..).zip(scratch.chunks_mut(Self::GRAIN_BYTES as usize)) {
            let mark = hash(self.seed ^ number, stream, index).to_le_bytes();
            let marked = piece.len().min(mark.len());
            piece[..marked].copy_from_slice(&mark[..marked]);
        }
        scratch
    }

    /// The slice for the place (`stream`, `index`), without a stamp.
    pub(crate) fn stretch(&self, stream: u64, index: u64, len: usize) -> &[u8] {
        let start = self.start(stream, index);
        &self.pool[start..start + len]
    }

    fn start(&self, stream: u64, index: u64) -> usize {
        (scale(hash(self.seed, stream, index), self.starts) * Self::GRAIN_BYTES) as usize
    }

    /// Number of segments of a file of `size` bytes; at least one, so that an empty file is written too.
    pub(crate) const fn segments(size: u64) -> u64 {
        if size == 0 {
            1
        } else {
            size.div_ceil(Self::SEGMENT_BYTES)
        }
    }

    /// The bytes of one segment of a file, for writing. The stamp is in the pool itself while the result is in use.
    pub fn segment(&mut self, file: u64, size: u64, index: u64) -> Segment<'_> {
        let len = (size - index * Self::SEGMENT_BYTES).min(Self::SEGMENT_BYTES) as usize;
        let start = self.start(file, index);
        let bytes = &mut self.pool[start..start + len];
        let mut covered = [0; Self::STAMP_BYTES];
        let covered_len = if index == 0 { len.min(Self::STAMP_BYTES) } else { 0 };
        covered[..covered_len].copy_from_slice(&bytes[..covered_len]);
        bytes[..covered_len].copy_from_slice(&stamp(self.seed, file)[..covered_len]);
        Segment {
            bytes,
            covered,
            covered_len,
        }
    }

    /// Compares `found`, read at `offset` of a file, with what was written; returns the first offset that differs.
    pub fn mismatch(&self, file: u64, offset: u64, found: &[u8]) -> Option<u64> {
        let stamp = stamp(self.seed, file);
        let mut at = offset;
        let mut rest = found;
        while !rest.is_empty() {
            let (index, within) = (at / Self::SEGMENT_BYTES, at % Self::SEGMENT_BYTES);
            let stamped = index == 0 && within < Self::STAMP_BYTES as u64;
            let source = if stamped {
                &stamp[within as usize..]
            } else {
                let start = self.start(file, index);
                &self.pool[start + within as usize..start + Self::SEGMENT_BYTES as usize]
            };
            let len = rest.len().min(source.len());
            if rest[..len] != source[..len] {
                let equal = rest.iter().zip(source).take_while(|(a, b)| a == b).count();
                return Some(at + equal as u64);
            }
            rest = &rest[len..];
            at += len as u64;
        }
        None
    }
}

fn stamp(seed: u64, file: u64) -> [u8; Contents::STAMP_BYTES] {
    let mut random = Random::new(hash(seed, file, u64::from_le_bytes(*b"stamped.")), 0);
    let mut stamp = [0; Contents::STAMP_BYTES];
    stamp[..8].copy_from_slice(&random.next().to_le_bytes());
    stamp[8..].copy_from_slice(&random.next().to_le_bytes());
    stamp
}

/// A segment to be written; the pool is restored on drop.
pub struct Segment<'a> {
    bytes: &'a mut [u8],
    covered: [u8; Contents::STAMP_BYTES],
    covered_len: usize,
}

impl Deref for Segment<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl Drop for Segment<'_> {
    fn drop(&mut self) {
        self.bytes[..self.covered_len].copy_from_slice(&self.covered[..self.covered_len]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(contents: &mut Contents, file: u64, size: u64) -> Vec<u8> {
        (0..Contents::segments(size))
            .flat_map(|index| contents.segment(file, size, index).to_vec())
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn any_part_matches_and_any_change_is_found(
            size in 1..3u64 << 20, file in 0..1000u64, from in 0.0..1.0f64, change in 0.0..1.0f64,
        ) {
            let mut contents = Contents::new(7);
            let mut bytes = whole(&mut contents, file, size);
            prop_assert_eq!(bytes.len() as u64, size);
            let offset = (from * size as f64) as usize;
            prop_assert_eq!(contents.mismatch(file, offset as u64, &bytes[offset..]), None);
            let at = offset + (change * (bytes.len() - offset) as f64) as usize;
            bytes[at] ^= 0x10;
            prop_assert_eq!(contents.mismatch(file, offset as u64, &bytes[offset..]), Some(at as u64));
        }
    }

    #[test]
    fn files_differ_from_each_other_and_the_pool_is_left_as_it_was() {
        let mut contents = Contents::new(7);
        let pool = contents.pool.to_vec();
        let files: Vec<Vec<u8>> = (0..2000).map(|file| whole(&mut contents, file, 16)).collect();
        let distinct: std::collections::HashSet<&Vec<u8>> = files.iter().collect();
        assert_eq!(distinct.len(), files.len());
        assert!(pool == *contents.pool);
    }

    #[test]
    fn a_segment_cannot_stand_for_another() {
        let mut contents = Contents::new(7);
        let size = 4 << 20;
        let bytes = whole(&mut contents, 3, size);
        let second = &bytes[1 << 20..2 << 20];
        assert_eq!(contents.mismatch(3, 1 << 20, second), None);
        assert_eq!(contents.mismatch(3, 2 << 20, second), Some(2 << 20));
        assert_eq!(contents.mismatch(4, 1 << 20, second), Some(1 << 20));
    }
}
