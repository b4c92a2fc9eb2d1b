//! The disks' media: the map from places to blocks, and the fate of replaced blocks.

use super::blocks::{Block, Blocks, Segments};
use super::index::{Index, Nodes};
use super::survival::Survival;
use super::unflushed_versions::{History, Versions};
use super::{BLOCK_SECTORS, Cache, Corruption, Error, Full, Stats};
use crate::request::SECTOR_BYTES;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;
use rapidhash::v3::rapidhash_v3;

/// The store's data for one disk.
pub struct Disk {
    pub sectors: u64,
    pub corruptions: Vec<Corruption>,
    pub survival: Survival,
    index: Index,
    /// `None` if every write is durable at once.
    history: Option<Box<History>>,
}

impl Disk {
    pub fn new(sectors: u64) -> Disk {
        let index = Index::new(sectors.div_ceil(BLOCK_SECTORS));
        Disk {
            sectors,
            corruptions: Vec::new(),
            survival: Survival::default(),
            index,
            history: None,
        }
    }

    /// Rejects ranges that are not whole sectors within the disk.
    pub fn check(&self, sector: u64, length_bytes: usize) -> Result<(), Error> {
        let sectors = length_bytes as u64 / SECTOR_BYTES;
        let whole = (length_bytes as u64).is_multiple_of(SECTOR_BYTES);
        let fits = sector.checked_add(sectors).is_some_and(|end| end <= self.sectors);
        if whole && fits { Ok(()) } else { Err(Error::Invalid) }
    }

    pub fn check_range(&self, sectors: &Range<u64>) -> Result<(), Error> {
        let valid = sectors.start <= sectors.end && sectors.end <= self.sectors;
        if valid { Ok(()) } else { Err(Error::Invalid) }
    }

    /// Number of the next write of a block; 0 if every write is durable at once.
    pub fn next_write(&self) -> u64 {
        self.history.as_ref().map_or(0, |history| history.next())
    }

    pub fn set_cache(&mut self, cache: Cache) {
        self.history = match cache {
            Cache::Durable => None,
            Cache::Volatile => Some(Box::default()),
        };
    }
}

/// The blocks, and the nodes of all disks' indexes.
pub struct Media {
    blocks: Blocks,
    nodes: Nodes,
}

impl Media {
    pub fn new(segments: Box<dyn Segments>) -> Media {
        Media {
            blocks: Blocks::new(segments),
            nodes: Nodes::default(),
        }
    }

    /// The content of a block; `None` for zeros.
    #[inline]
    pub fn get(&self, disk: &Disk, block: u64) -> Option<&Block> {
        match disk.index.get(&self.nodes, block) {
            0 => None,
            id => Some(self.blocks.data(id)),
        }
    }

    pub fn copy_out(&self, disk: &Disk, block: u64, out: &mut Block) {
        match self.get(disk, block) {
            Some(held) => out.copy_from_slice(held),
            None => out.fill(0),
        }
    }

    /// Sets the content of a block; it differs from the previous content only in the sectors of `written`.
    #[inline]
    pub fn put(&mut self, disk: &mut Disk, block: u64, content: &Block, written: u8) -> Result<(), Full> {
        let old = disk.index.get(&self.nodes, block);
        let keep_old = disk.history.is_some();
        let new = self.blocks.intern(content, old, keep_old)?;
        if new == old {
            return Ok(());
        }
        if let Err(full) = disk.index.set(&mut self.nodes, block, new) {
            self.blocks.release(new);
            return Err(full);
        }
        match &mut disk.history {
            Some(history) => history.remember(&mut self.blocks, block, old, written),
            None => self.blocks.release(old),
        }
        Ok(())
    }

    /// Makes whole blocks zero.
    pub fn discard(&mut self, disk: &mut Disk, blocks: Range<u64>) {
        let Media { blocks: held, nodes } = self;
        match &mut disk.history {
            Some(history) => disk.index.clear(nodes, blocks, &mut |block, id| {
                history.remember(held, block, id, super::unflushed_versions::WHOLE_BLOCK);
            }),
            None => disk.index.clear(nodes, blocks, &mut |_, id| held.release(id)),
        }
    }

    pub fn persist(&mut self, disk: &mut Disk, sectors: Range<u64>) {
        // Nothing is stored past the end of a partial last block.
        let end = match sectors.end == disk.sectors {
            true => sectors.end.next_multiple_of(BLOCK_SECTORS),
            false => sectors.end,
        };
        if let Some(history) = &mut disk.history {
            history.persist(&mut self.blocks, sectors.start..end);
        }
    }

    pub fn persist_until(&mut self, disk: &mut Disk, next: u64) {
        if let Some(history) = &mut disk.history {
            history.persist_until(&mut self.blocks, next);
        }
    }

    pub fn flush(&mut self, disk: &mut Disk) {
        if let Some(history) = &mut disk.history {
            history.forget(&mut self.blocks);
        }
    }

    /// Loses some of the volatile writes; `scratch` is a buffer for assembling blocks from several versions.
    pub fn power_cut(&mut self, disk: &mut Disk, seed: u64, scratch: &mut Block) {
        let Some(mut history) = disk.history.take() else { return };
        let mut choice = History::choice(seed, disk.survival, history.iter());
        for (block, versions) in history.iter() {
            self.copy_out(disk, block, scratch);
            versions.compose(&self.blocks, &mut choice, scratch);
            // If there is no memory for the new block, the old one stays as last written, which is also a valid
            // outcome.
            let _ = self.put(disk, block, scratch, super::unflushed_versions::WHOLE_BLOCK);
        }
        history.forget(&mut self.blocks);
        disk.history = Some(history);
    }

    /// The blocks as [`power_cut`](Self::power_cut) would leave them if only these sectors were volatile, in the
    /// order of places: place and number. The disk is unchanged. Each block gets a reference that is never dropped,
    /// so it keeps its data while the store exists.
    pub fn after_power_cut(
        &mut self,
        disk: &Disk,
        seed: u64,
        volatile: &[(u64, u32)],
        scratch: &mut Block,
    ) -> Result<Vec<(u64, u32)>, Full> {
        let mut torn = Vec::new();
        if let Some(history) = &disk.history {
            let left = history.only(volatile);
            let blocks = left
                .iter()
                .map(|(block, versions): &(u64, Versions)| (*block, versions));
            let mut choice = History::choice(seed, disk.survival, blocks);
            for (block, versions) in left {
                self.copy_out(disk, block, scratch);
                versions.compose(&self.blocks, &mut choice, scratch);
                // With a reference.
                torn.push((block, self.blocks.intern(scratch, 0, true)?));
            }
        }
        let mut kept = Vec::new();
        disk.index.for_each(&self.nodes, &mut |block, id| {
            if torn.binary_search_by_key(&block, |&(block, _)| block).is_err() {
                kept.push((block, id));
            }
        });
        kept.iter().for_each(|&(_, id)| self.blocks.keep(id));
        kept.extend(torn.into_iter().filter(|&(_, id)| id != 0));
        kept.sort_unstable();
        Ok(kept)
    }

    pub fn digest(&self, disk: &Disk) -> u128 {
        // A sum, so that the result depends neither on the order of the walk nor on the shape of the index.
        let mut low = 0u64;
        let mut high = 0u64;
        disk.index.for_each(&self.nodes, &mut |block, id| {
            let mut pair = [0; 17];
            pair[..8].copy_from_slice(&block.to_le_bytes());
            pair[8..16].copy_from_slice(&self.blocks.hash(id).to_le_bytes());
            low = low.wrapping_add(rapidhash_v3(&pair));
            pair[16] = 1;
            high = high.wrapping_add(rapidhash_v3(&pair));
        });
        u128::from(high) << 64 | u128::from(low)
    }

    /// Calls `show` with every place of a disk that is not zero and its block number, in the order of places.
    pub fn for_each(&self, disk: &Disk, show: &mut dyn FnMut(u64, u32)) {
        disk.index.for_each(&self.nodes, show);
    }

    /// Maps a block of a saved store to an empty place. [`know_blocks`](Self::know_blocks) must follow once all are
    /// mapped.
    pub fn lay(&mut self, disk: &mut Disk, block: u64, id: u32) -> Result<(), Error> {
        if id == 0 || disk.index.get(&self.nodes, block) != 0 {
            return Err(Error::Invalid);
        }
        self.blocks.use_saved(id)?;
        disk.index.set(&mut self.nodes, block, id)?;
        Ok(())
    }

    /// Reads every mapped block, so that equal ones will be found.
    pub fn know_blocks(&mut self) -> Result<(), Full> {
        self.blocks.know_all()
    }

    pub fn stats(&self) -> Stats {
        Stats {
            written_bytes: 0,
            mapped_blocks: self.nodes.mapped(),
            distinct_blocks: self.blocks.distinct(),
            segments: self.blocks.segments(),
            metadata_bytes: (self.blocks.metadata_bytes() + self.nodes.metadata_bytes()) as u64,
        }
    }
}
