//! Contents of the disks.
//!
//! A [`Store`] keeps the contents of all disks of a machine, deduplicated: a 4 KiB block that occurs many times, on one
//! or several disks, is stored once; a block of zeros is not stored. So terabytes of patterned data cost only their
//! distinct blocks, and a disk costs nothing until it is written.
//!
//! Block data is in [`Segments`] that the caller provides; the metadata (about 25 bytes for each distinct block and 4.3
//! for each place where one occurs) comes from the global allocator, never more than [`chunked::CHUNK_BYTES`] at once
//! except for the lists of chunks.
//!
//! This module knows neither time nor requests: a write is complete when [`Store::write`] returns. For disks with
//! [`Cache::Volatile`] it records which writes a power cut may lose. Faults are kept separate from the media.

mod blocks;
mod by_hash;
mod chunked;
mod corruption;
mod index;
mod media;
mod saved;
mod survival;
mod unflushed_versions;

pub use blocks::{BLOCK_BYTES, SEGMENT_BYTES, Segments};
pub use corruption::Corruption;
pub use saved::{DiskPlaces, Places};
pub use survival::{ALL_SURVIVES, NONE_SURVIVES, Survival, Survivors};

use crate::request::SECTOR_BYTES;
use alloc::boxed::Box;
use alloc::vec::Vec;
use blocks::Block;
use core::ops::Range;
use media::{Disk, Media};

/// Sectors of a block.
pub const BLOCK_SECTORS: u64 = BLOCK_BYTES as u64 / SECTOR_BYTES;

/// Out of memory, for data or for metadata. Existing contents are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Errors of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// See [`Full`]. If a write has several blocks, those before the block that found no room are written.
    Full,
    /// No such disk, a range past its end, or a length that is not a multiple of a sector.
    Invalid,
}

impl From<Full> for Error {
    fn from(_: Full) -> Self {
        Error::Full
    }
}

/// When a write is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// At once: a power cut loses nothing.
    Durable,
    /// When it is [persisted](Store::persist) or [flushed](Store::flush).
    Volatile,
}

/// Memory use and contents of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bytes passed to [`Store::write`] since the start.
    pub written_bytes: u64,
    /// Blocks that are not all zero, on all disks, counted with repetitions.
    pub mapped_blocks: u64,
    /// Distinct blocks stored, including those kept for a power cut.
    pub distinct_blocks: u64,
    /// Segments in use, of [`SEGMENT_BYTES`] each.
    pub segments: u64,
    /// Metadata, without the history of volatile caches.
    pub metadata_bytes: u64,
}

/// The contents of all disks of a machine.
pub struct Store {
    media: Media,
    disks: Vec<Disk>,
    /// Buffer in which partially written blocks are assembled.
    scratch: Box<Block>,
    written_bytes: u64,
}

impl Store {
    /// A store without disks.
    pub fn new(segments: Box<dyn Segments>) -> Store {
        Store {
            media: Media::new(segments),
            disks: Vec::new(),
            scratch: blocks::zeroed_block(),
            written_bytes: 0,
        }
    }

    /// Adds a disk of zeros with durable writes and returns its number: 0, 1, 2, …
    pub fn add_disk(&mut self, sectors: u64) -> usize {
        self.disks.push(Disk::new(sectors));
        self.disks.len() - 1
    }

    /// Writes whole sectors starting at `sector`.
    pub fn write(&mut self, disk: usize, sector: u64, data: &[u8]) -> Result<(), Error> {
        let disk = self.disks.get_mut(disk).ok_or(Error::Invalid)?;
        disk.check(sector, data.len())?;
        let (mut block, mut skip) = place(sector);
        let mut rest = data;
        while !rest.is_empty() {
            let piece;
            (piece, rest) = rest.split_at(rest.len().min(BLOCK_BYTES - skip));
            match <&Block>::try_from(piece) {
                Ok(whole) => self.media.put(disk, block, whole, unflushed_versions::WHOLE_BLOCK)?,
                Err(_) => {
                    self.media.copy_out(disk, block, &mut self.scratch);
                    self.scratch[skip..skip + piece.len()].copy_from_slice(piece);
                    let written = unflushed_versions::sector_mask(skip, piece.len());
                    self.media.put(disk, block, &self.scratch, written)?;
                }
            }
            self.written_bytes += piece.len() as u64;
            block += 1;
            skip = 0;
        }
        Ok(())
    }

    /// Reads whole sectors starting at `sector`; unwritten sectors read as zeros.
    pub fn read(&self, disk: usize, sector: u64, out: &mut [u8]) -> Result<(), Error> {
        let disk = self.disks.get(disk).ok_or(Error::Invalid)?;
        disk.check(sector, out.len())?;
        let (mut block, mut skip) = place(sector);
        let mut rest = &mut *out;
        while !rest.is_empty() {
            let length_bytes = rest.len().min(BLOCK_BYTES - skip);
            let piece;
            (piece, rest) = rest.split_at_mut(length_bytes);
            match self.media.get(disk, block) {
                Some(held) => piece.copy_from_slice(&held[skip..skip + length_bytes]),
                None => piece.fill(0),
            }
            block += 1;
            skip = 0;
        }
        for corruption in &disk.corruptions {
            corruption.apply(sector, out);
        }
        Ok(())
    }

    /// Makes sectors read as zeros and frees their blocks. The cost depends on the data there, not on the length.
    pub fn discard(&mut self, disk: usize, sectors: Range<u64>) -> Result<(), Error> {
        let number = disk;
        let disk = self.disks.get_mut(disk).ok_or(Error::Invalid)?;
        disk.check_range(&sectors)?;
        let first_whole = sectors.start.next_multiple_of(BLOCK_SECTORS);
        // Nothing is stored past the disk's end, so a partial last block counts as whole.
        let end = if sectors.end == disk.sectors {
            sectors.end.next_multiple_of(BLOCK_SECTORS)
        } else {
            sectors.end
        };
        let last_whole = end / BLOCK_SECTORS * BLOCK_SECTORS;
        if first_whole > last_whole {
            return self.zero_part(number, sectors);
        }
        self.media
            .discard(disk, first_whole / BLOCK_SECTORS..last_whole / BLOCK_SECTORS);
        self.zero_part(number, sectors.start..first_whole)?;
        self.zero_part(number, last_whole..end)
    }

    /// Zeros some sectors of one block.
    fn zero_part(&mut self, disk: usize, sectors: Range<u64>) -> Result<(), Error> {
        let disk = &mut self.disks[disk];
        let (block, skip) = place(sectors.start);
        if sectors.is_empty() || self.media.get(disk, block).is_none() {
            return Ok(());
        }
        let length_bytes = ((sectors.end - sectors.start) * SECTOR_BYTES) as usize;
        self.media.copy_out(disk, block, &mut self.scratch);
        self.scratch[skip..skip + length_bytes].fill(0);
        self.media.put(
            disk,
            block,
            &self.scratch,
            unflushed_versions::sector_mask(skip, length_bytes),
        )?;
        Ok(())
    }

    /// Sets when a disk's writes become durable. All volatile data becomes durable now.
    pub fn set_cache(&mut self, disk: usize, cache: Cache) -> Result<(), Error> {
        self.flush(disk)?;
        self.disks[disk].set_cache(cache);
        Ok(())
    }

    /// Sets which cached writes of a disk survive a power cut.
    pub fn set_survival(&mut self, disk: usize, survival: Survival) -> Result<(), Error> {
        self.disks.get_mut(disk).ok_or(Error::Invalid)?.survival = survival;
        Ok(())
    }

    /// The disk still holds only these sectors in its cache: the current contents of all others survive a power cut.
    /// The ranges are first sector and length, in any order; they may overlap.
    pub fn persist_all_but(&mut self, disk: usize, volatile: &mut [(u64, u32)]) -> Result<(), Error> {
        volatile.sort_unstable();
        let end = self.disks.get(disk).ok_or(Error::Invalid)?.sectors;
        let mut from = 0;
        for &(sector, sectors) in &*volatile {
            self.persist(disk, from..sector.clamp(from, end))?;
            from = from.max(sector.saturating_add(sectors.into())).min(end);
        }
        self.persist(disk, from..end)
    }

    /// The disk moved these sectors from its cache to the media: their current contents survive a power cut.
    pub fn persist(&mut self, disk: usize, sectors: Range<u64>) -> Result<(), Error> {
        let disk = self.disks.get_mut(disk).ok_or(Error::Invalid)?;
        disk.check_range(&sectors)?;
        self.media.persist(disk, sectors);
        Ok(())
    }

    /// Number of the next write to this disk, for [`persist_until`](Self::persist_until).
    pub fn next_write(&self, disk: usize) -> Result<u64, Error> {
        Ok(self.disks.get(disk).ok_or(Error::Invalid)?.next_write())
    }

    /// Writes before the one with this number survive a power cut, even if their sectors were written again since:
    /// the later write may be lost, but not the earlier one.
    pub fn persist_until(&mut self, disk: usize, next_write: u64) -> Result<(), Error> {
        let disk = self.disks.get_mut(disk).ok_or(Error::Invalid)?;
        self.media.persist_until(disk, next_write);
        Ok(())
    }

    /// All contents of the disk become durable.
    pub fn flush(&mut self, disk: usize) -> Result<(), Error> {
        let disk = self.disks.get_mut(disk).ok_or(Error::Invalid)?;
        self.media.flush(disk);
        Ok(())
    }

    /// Loses some of the volatile writes on all disks, sector by sector: afterwards each sector has one of the
    /// versions that it had since it was last durable. The same seed loses the same writes; [`ALL_SURVIVES`] loses
    /// none, and [`NONE_SURVIVES`] all.
    pub fn power_cut(&mut self, seed: u64) {
        for (number, disk) in self.disks.iter_mut().enumerate() {
            self.media
                .power_cut(disk, seed_of_disk(seed, number), &mut self.scratch);
        }
    }

    /// Adds silent corruption to reads from a disk; the media, and what is [saved](Self::save), are unchanged.
    pub fn corrupt(&mut self, disk: usize, corruption: Corruption) -> Result<(), Error> {
        let disk = self.disks.get_mut(disk).ok_or(Error::Invalid)?;
        disk.corruptions.push(corruption);
        Ok(())
    }

    /// A digest of the disk's contents, independent of the order of writes. Corruption is ignored, and volatile data
    /// counts like any other.
    pub fn digest(&self, disk: usize) -> Result<u128, Error> {
        let disk = self.disks.get(disk).ok_or(Error::Invalid)?;
        Ok(self.media.digest(disk))
    }

    pub fn stats(&self) -> Stats {
        let disk_bytes = self.disks.capacity() * size_of::<Disk>();
        let mut stats = self.media.stats();
        stats.written_bytes = self.written_bytes;
        stats.metadata_bytes += disk_bytes as u64;
        stats
    }
}

/// The seed of a power cut for one disk.
fn seed_of_disk(seed: u64, number: usize) -> u64 {
    match seed {
        ALL_SURVIVES | NONE_SURVIVES => seed,
        _ => seed ^ (number as u64).rotate_left(32),
    }
}

/// The block that contains a sector, and the sector's offset in the block in bytes.
fn place(sector: u64) -> (u64, usize) {
    (sector / BLOCK_SECTORS, (sector % BLOCK_SECTORS * SECTOR_BYTES) as usize)
}
