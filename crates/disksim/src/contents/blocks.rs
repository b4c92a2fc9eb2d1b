//! The distinct blocks, each stored once with a reference count.

use super::Full;
use super::by_hash::ByHash;
use super::chunked::Chunked;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ptr::NonNull;
use rapidhash::v3::rapidhash_v3;

/// The unit of deduplication.
pub const BLOCK_BYTES: usize = 4096;

/// Size of the memory returned by [`Segments::map`].
pub const SEGMENT_BYTES: usize = 32 << 20;

const SEGMENT_BLOCKS: u32 = (SEGMENT_BYTES / BLOCK_BYTES) as u32;

/// A block's content.
pub type Block = [u8; BLOCK_BYTES];

/// Source of memory for blocks.
///
/// # Safety
/// The store reads and writes the memory as its owner. An implementor must return each segment once, initialised (for
/// example zeroed), [`SEGMENT_BYTES`] long and aligned to 64 bytes; nobody else may access it while the store exists,
/// even after the implementor was moved.
pub unsafe trait Segments {
    /// The segment with this index, requested in the order 0, 1, 2, …; `None` if out of memory. A refused index may be
    /// requested again.
    fn map(&mut self, index: usize) -> Option<NonNull<u8>>;
}

/// Metadata of a block. Twelve bytes, so the hash is split in halves.
#[derive(Clone, Copy)]
struct Card {
    /// The lower half of the content's hash; of an unused block, the number of the next unused one.
    hash_low: u32,
    hash_high: u32,
    /// Reference count. It saturates: the block is then never freed.
    uses: u32,
}

impl Card {
    fn hash(self) -> u64 {
        u64::from(self.hash_high) << 32 | u64::from(self.hash_low)
    }
}

/// All distinct blocks except the one of zeros. They are numbered from 1; number 0 means zeros.
pub struct Blocks {
    source: Box<dyn Segments>,
    segments: Vec<NonNull<u8>>,
    cards: Chunked<Card>,
    /// The first free block.
    free: u32,
    in_use: u32,
    by_hash: ByHash,
    /// The most recently interned block, because repeated contents often follow each other; 0 if none.
    recent: u32,
}

impl Blocks {
    pub fn new(source: Box<dyn Segments>) -> Blocks {
        Blocks {
            source,
            segments: Vec::new(),
            cards: Chunked::default(),
            free: 0,
            in_use: 0,
            by_hash: ByHash::default(),
            recent: 0,
        }
    }

    /// The content of a used block, which must not be number 0.
    #[inline]
    pub fn data(&self, id: u32) -> &Block {
        // SAFETY: `place` points to a block inside a segment, initialised and exclusively ours as `Segments` promises;
        // it is only written through `&mut self`.
        unsafe { self.place(id).as_ref() }
    }

    #[inline]
    fn data_mut(&mut self, id: u32) -> &mut Block {
        // SAFETY: as for `data`; `&mut self` excludes other references.
        unsafe { self.place(id).as_mut() }
    }

    #[inline]
    fn place(&self, id: u32) -> NonNull<Block> {
        let entry = id - 1;
        let segment = self.segments[(entry / SEGMENT_BLOCKS) as usize];
        // SAFETY: the offset is below `SEGMENT_BYTES`, the length of the segment's allocation.
        unsafe { segment.add((entry % SEGMENT_BLOCKS) as usize * BLOCK_BYTES).cast() }
    }

    pub fn hash(&self, id: u32) -> u64 {
        self.cards[id - 1].hash()
    }

    /// Number of the block with this content, with one reference added for the caller, to replace block `old`.
    ///
    /// If the result is `old`, no reference was added and nothing is to be replaced: either the content is equal, or
    /// this place has the only reference to `old`, `keep_old` is false and the content was replaced in place.
    #[inline]
    pub fn intern(&mut self, content: &Block, old: u32, keep_old: bool) -> Result<u32, Full> {
        if is_zero(content) {
            return Ok(0);
        }
        if old != 0 && same(self.data(old), content) {
            return Ok(old);
        }
        if self.recent != 0 && same(self.data(self.recent), content) {
            self.add_use(self.recent);
            return Ok(self.recent);
        }
        let replace = !keep_old && old != 0 && self.cards[old - 1].uses == 1;
        let target = if replace { Ok(old) } else { self.reserve() };
        if let Ok(target) = target {
            prefetch(self.place(target));
        }
        let hash = rapidhash_v3(content);
        let known = self
            .by_hash
            .find(hash, |id| self.hash(id) == hash && same(self.data(id), content));
        let id = match known {
            Some(id) => {
                self.add_use(id);
                id
            }
            None => {
                let id = target?;
                self.by_hash.insert(hash, id)?;
                if replace {
                    self.by_hash.remove(self.hash(id), id);
                } else {
                    self.take_reserved();
                }
                self.fill(id, hash, content);
                id
            }
        };
        self.recent = id;
        Ok(id)
    }

    /// Sets the content of a block that `by_hash` already has under its hash.
    fn fill(&mut self, id: u32, hash: u64, content: &Block) {
        let card = &mut self.cards[id - 1];
        card.hash_low = hash as u32;
        card.hash_high = (hash >> 32) as u32;
        *self.data_mut(id) = *content;
        let cards = &self.cards;
        self.by_hash.grow(|id| cards[id - 1].hash());
    }

    fn add_use(&mut self, id: u32) {
        let card = &mut self.cards[id - 1];
        card.uses = card.uses.saturating_add(1);
    }

    /// Adds a reference that is never dropped.
    pub fn keep(&mut self, id: u32) {
        self.add_use(id);
    }

    /// Drops one reference to a block.
    #[inline]
    pub fn release(&mut self, id: u32) {
        if id == 0 {
            return;
        }
        let card = &mut self.cards[id - 1];
        if card.uses == u32::MAX {
            return;
        }
        card.uses -= 1;
        if card.uses == 0 {
            self.retire(id);
        }
    }

    fn retire(&mut self, id: u32) {
        let hash = self.hash(id);
        self.by_hash.remove(hash, id);
        self.cards[id - 1].hash_low = self.free;
        self.free = id;
        self.in_use -= 1;
        if self.recent == id {
            self.recent = 0;
        }
    }

    /// The free block to use next; it stays in the free list.
    fn reserve(&mut self) -> Result<u32, Full> {
        if self.free != 0 {
            return Ok(self.free);
        }
        let entry = self.cards.len();
        let segment = (entry / SEGMENT_BLOCKS) as usize;
        if segment == self.segments.len() {
            self.segments.try_reserve(1).map_err(|_| Full)?;
            self.segments.push(self.source.map(segment).ok_or(Full)?);
        }
        self.cards.push(Card {
            hash_low: 0,
            hash_high: 0,
            uses: 0,
        })?;
        self.free = entry + 1;
        Ok(self.free)
    }

    /// Marks the reserved block as used.
    fn take_reserved(&mut self) {
        let card = &mut self.cards[self.free - 1];
        self.free = card.hash_low;
        card.uses = 1;
        self.in_use += 1;
    }

    /// Adds a use of a block that an earlier store filled. [`know_all`](Self::know_all) must follow.
    pub fn use_saved(&mut self, id: u32) -> Result<(), Full> {
        while self.cards.len() < id {
            if self.cards.len() / SEGMENT_BLOCKS == self.segments.len() as u32 {
                self.segments.try_reserve(1).map_err(|_| Full)?;
                self.segments.push(self.source.map(self.segments.len()).ok_or(Full)?);
            }
            self.cards.push(Card {
                hash_low: 0,
                hash_high: 0,
                uses: 0,
            })?;
        }
        self.add_use(id);
        Ok(())
    }

    /// After the last [`use_saved`](Self::use_saved): reads the blocks in use, so that equal contents will be found,
    /// and frees the others.
    pub fn know_all(&mut self) -> Result<(), Full> {
        for id in (1..=self.cards.len()).rev() {
            if self.cards[id - 1].uses == 0 {
                self.cards[id - 1].hash_low = self.free;
                self.free = id;
                continue;
            }
            let hash = rapidhash_v3(self.data(id));
            let card = &mut self.cards[id - 1];
            card.hash_low = hash as u32;
            card.hash_high = (hash >> 32) as u32;
            self.in_use += 1;
            self.by_hash.insert(hash, id)?;
            let cards = &self.cards;
            self.by_hash.grow(|id| cards[id - 1].hash());
        }
        Ok(())
    }

    pub fn distinct(&self) -> u64 {
        self.in_use.into()
    }

    pub fn segments(&self) -> u64 {
        self.segments.len() as u64
    }

    pub fn metadata_bytes(&self) -> usize {
        let segments_bytes = self.segments.capacity() * size_of::<NonNull<u8>>();
        self.cards.metadata_bytes() + self.by_hash.metadata_bytes() + segments_bytes
    }
}

/// Bytes prefetched of a block about to be written; the CPU's prefetcher continues from there.
const PREFETCH_BYTES: usize = 512;

/// Prefetches the start of a block during other work: saves a tenth of the time of a streaming write.
#[inline]
fn prefetch(block: NonNull<Block>) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..PREFETCH_BYTES).step_by(64) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is in the block, and prefetching neither reads nor writes it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(block.as_ptr().cast::<i8>().add(line)) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (block, PREFETCH_BYTES);
}

/// A block allocated directly on the heap, because a kernel's stack is small.
pub fn zeroed_block() -> Box<Block> {
    match vec![0; BLOCK_BYTES].into_boxed_slice().try_into() {
        Ok(block) => block,
        Err(_) => unreachable!("the length is a block's"),
    }
}

/// Bytes compared before each early exit.
const STRIDE_BYTES: usize = 256;

/// A loop, because a kernel's `memcmp` compares single bytes; the compiler vectorises this.
#[inline]
fn is_zero(block: &Block) -> bool {
    block
        .chunks_exact(STRIDE_BYTES)
        .all(|stride| stride.iter().fold(0, |any, &byte| any | byte) == 0)
}

#[inline]
fn same(left: &Block, right: &Block) -> bool {
    let mut pairs = left.chunks_exact(STRIDE_BYTES).zip(right.chunks_exact(STRIDE_BYTES));
    pairs.all(|(left, right)| left.iter().zip(right).fold(0, |any, (&l, &r)| any | (l ^ r)) == 0)
}
