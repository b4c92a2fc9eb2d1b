//! The distinct blocks: each content once, counted by how often it is used.

use super::Full;
use super::chunked::Chunked;
use super::lookup::Lookup;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ptr::NonNull;
use rapidhash::v3::rapidhash_v3;

/// The unit in which equal contents are found.
pub const BLOCK_BYTES: usize = 4096;

/// What [`Segments::map`] gives at a time.
pub const SEGMENT_BYTES: usize = 32 << 20;

const SEGMENT_BLOCKS: u32 = (SEGMENT_BYTES / BLOCK_BYTES) as u32;

/// A block's content.
pub type Block = [u8; BLOCK_BYTES];

/// Where the memory for blocks comes from.
///
/// # Safety
/// The store reads and writes what it is given as if it owned it. An implementor must give out each segment once,
/// initialised (zeroed, say), [`SEGMENT_BYTES`] long and aligned to 64 bytes; nobody else may touch it while the
/// store exists, even after the implementor was moved.
pub unsafe trait Segments {
    /// The segment of this index, asked for in the order 0, 1, 2, …; `None` if no memory can be had. An index that
    /// was refused may be asked for again.
    fn map(&mut self, index: usize) -> Option<NonNull<u8>>;
}

/// What is known of a block besides its content. Twelve bytes, so the hash lies in halves.
#[derive(Clone, Copy)]
struct Card {
    /// The lower half of the content's hash; of an unused block, the number of the next unused one.
    hash_low: u32,
    hash_high: u32,
    /// How often the block is used. At the maximum it stays: the block is never freed, rather than too early.
    uses: u32,
}

impl Card {
    fn hash(self) -> u64 {
        u64::from(self.hash_high) << 32 | u64::from(self.hash_low)
    }
}

/// All distinct blocks but the one of zeros. They are numbered from 1; number 0 stands for zeros.
pub struct Blocks {
    source: Box<dyn Segments>,
    segments: Vec<NonNull<u8>>,
    cards: Chunked<Card>,
    /// The first of the unused blocks.
    free: u32,
    in_use: u32,
    lookup: Lookup,
    /// The block interned last, as what repeats often repeats at once; 0 for none.
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
            lookup: Lookup::default(),
            recent: 0,
        }
    }

    /// The content of a block in use, which must not be number 0.
    #[inline]
    pub fn data(&self, id: u32) -> &Block {
        // SAFETY: `place` points to a block inside a segment, initialised and ours alone as `Segments` promises;
        // it is only written through `&mut self`.
        unsafe { self.place(id).as_ref() }
    }

    #[inline]
    fn data_mut(&mut self, id: u32) -> &mut Block {
        // SAFETY: as for `data`, and `&mut self` keeps other references away.
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

    /// The number of the block with this content, used once more by the caller, to be laid where block `old` lies.
    ///
    /// If the answer is `old`, nothing is to be laid and no use was added. That is so for equal content, and also if
    /// nothing but this place uses `old` and `keep_old` is false: then its content was replaced.
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
            .lookup
            .find(hash, |id| self.hash(id) == hash && same(self.data(id), content));
        let id = match known {
            Some(id) => {
                self.add_use(id);
                id
            }
            None => {
                let id = target?;
                self.lookup.insert(hash, id)?;
                if replace {
                    self.lookup.remove(self.hash(id), id);
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

    /// Gives a block the content that the lookup already knows it by.
    fn fill(&mut self, id: u32, hash: u64, content: &Block) {
        let card = &mut self.cards[id - 1];
        card.hash_low = hash as u32;
        card.hash_high = (hash >> 32) as u32;
        *self.data_mut(id) = *content;
        let cards = &self.cards;
        self.lookup.grow(|id| cards[id - 1].hash());
    }

    fn add_use(&mut self, id: u32) {
        let card = &mut self.cards[id - 1];
        card.uses = card.uses.saturating_add(1);
    }

    /// Gives one use of a block back.
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
        self.lookup.remove(hash, id);
        self.cards[id - 1].hash_low = self.free;
        self.free = id;
        self.in_use -= 1;
        if self.recent == id {
            self.recent = 0;
        }
    }

    /// The unused block to take next; it stays in the list of the unused.
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

    /// Puts the reserved block to its first use.
    fn take_reserved(&mut self) {
        let card = &mut self.cards[self.free - 1];
        self.free = card.hash_low;
        card.uses = 1;
        self.in_use += 1;
    }

    pub fn distinct(&self) -> u64 {
        self.in_use.into()
    }

    pub fn segments(&self) -> u64 {
        self.segments.len() as u64
    }

    pub fn metadata_bytes(&self) -> usize {
        let segments_bytes = self.segments.capacity() * size_of::<NonNull<u8>>();
        self.cards.metadata_bytes() + self.lookup.metadata_bytes() + segments_bytes
    }
}

/// Bytes fetched of a block about to be written; the processor sees by then where it goes on.
const PREFETCH_BYTES: usize = 512;

/// Fetches the beginning of a block into the cache while other work is done: worth a tenth of a streaming write.
#[inline]
fn prefetch(block: NonNull<Block>) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..PREFETCH_BYTES).step_by(64) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address lies in the block, and prefetching neither reads nor writes it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(block.as_ptr().cast::<i8>().add(line)) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (block, PREFETCH_BYTES);
}

/// A block on the heap that was never on the stack, which is small in a kernel.
pub fn zeroed_block() -> Box<Block> {
    match vec![0; BLOCK_BYTES].into_boxed_slice().try_into() {
        Ok(block) => block,
        Err(_) => unreachable!("the length is a block's"),
    }
}

/// Bytes looked at before deciding whether to look on.
const STRIDE_BYTES: usize = 256;

/// Written out since a kernel's `memcmp` goes byte by byte; the compiler makes vectors of it.
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
