//! A store's metadata as bytes, so that another store can continue with the same segments: the next guest finds the
//! disks as the previous one left them.
//!
//! Little-endian: [`MAGIC`]; then for each disk its size in sectors (8 bytes) and its runs of consecutive blocks,
//! each as the place of the first block (8 bytes), the number of blocks (4 bytes) and the number of each block's data
//! (4 bytes each); an empty run ends a disk. So a disk costs about 4 bytes for each 4 KiB written.

use super::blocks::Segments;
use super::{BLOCK_SECTORS, Error, Store, seed_of_disk};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Start of saved metadata.
const MAGIC: u64 = u64::from_le_bytes(*b"contents");

/// Maximum blocks per run, so that a run is built in little memory.
const RUN_BLOCKS_MAX: usize = 4096;

impl Store {
    /// Passes the metadata to `out`, piece by piece. Corruption and the volatile state are not included.
    pub fn save(&self, out: &mut dyn FnMut(&[u8])) {
        out(&MAGIC.to_le_bytes());
        for disk in &self.disks {
            out(&disk.sectors.to_le_bytes());
            let mut run = Run::default();
            self.media.for_each(disk, &mut |block, id| run.add(block, id, out));
            run.end(out);
            Run::default().write(out);
        }
    }

    /// Passes the metadata to `out` as it would be [saved](Self::save) after [`power_cut`](Self::power_cut) with this
    /// seed, if each disk held only these sectors in its cache ([`persist_all_but`](Self::persist_all_but)); disks
    /// that are not listed hold none. The store itself is unchanged, and the blocks that the metadata refers to keep
    /// their contents while it exists. Two states with equal metadata are equal.
    ///
    /// # Errors
    /// [`Error::Full`] if there is no room for the blocks that the cut would tear; `out` may have received a part.
    pub fn save_after_power_cut(
        &mut self,
        seed: u64,
        volatile: &[Vec<(u64, u32)>],
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Error> {
        out(&MAGIC.to_le_bytes());
        for (number, disk) in self.disks.iter().enumerate() {
            out(&disk.sectors.to_le_bytes());
            let seed = seed_of_disk(seed, number);
            let volatile = volatile.get(number).map_or(&[][..], Vec::as_slice);
            let mut run = Run::default();
            for (block, id) in self.media.after_power_cut(disk, seed, volatile, &mut self.scratch)? {
                run.add(block, id, out);
            }
            run.end(out);
            Run::default().write(out);
        }
        Ok(())
    }

    /// Restores a saved store. `segments` are those of the saved store, with their contents.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `saved` is not complete metadata, or has places past a disk's end; [`Error::Full`] if
    /// out of memory.
    pub fn restore(segments: Box<dyn Segments>, saved: &[u8]) -> Result<Store, Error> {
        let mut store = Store::new(segments);
        read(saved, &mut |found| match found {
            Found::Disk(sectors) => {
                store.add_disk(sectors);
                Ok(())
            }
            Found::Block(block, id) => {
                let disk = store.disks.last_mut().ok_or(Error::Invalid)?;
                store.media.lay(disk, block, id)
            }
        })?;
        store.media.know_blocks()?;
        Ok(store)
    }

    /// The sectors of each disk.
    pub fn sectors(&self) -> impl Iterator<Item = u64> + '_ {
        self.disks.iter().map(|disk| disk.sectors)
    }
}

/// The places of blocks on the disks in saved metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    pub disks: Vec<DiskPlaces>,
}

/// The places on one disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskPlaces {
    pub sectors: u64,
    /// Block numbers by place, both in units of [`BLOCK_SECTORS`] sectors. The data of number n is the n-th block of
    /// the segments, counted from 1; places without a number are zeros.
    pub blocks: BTreeMap<u64, u32>,
}

impl Places {
    /// # Errors
    /// [`Error::Invalid`], as [`Store::restore`].
    pub fn parse(saved: &[u8]) -> Result<Places, Error> {
        let mut places = Places::default();
        read(saved, &mut |found| {
            match found {
                Found::Disk(sectors) => places.disks.push(DiskPlaces {
                    sectors,
                    blocks: BTreeMap::new(),
                }),
                Found::Block(block, id) => {
                    let disk = places.disks.last_mut().ok_or(Error::Invalid)?;
                    disk.blocks.insert(block, id);
                }
            }
            Ok(())
        })?;
        Ok(places)
    }

    /// The same bytes as from [`Store::save`].
    pub fn bytes(&self) -> Vec<u8> {
        let mut all = MAGIC.to_le_bytes().to_vec();
        for disk in &self.disks {
            let mut out = |piece: &[u8]| all.extend(piece);
            out(&disk.sectors.to_le_bytes());
            let mut run = Run::default();
            for (&block, &id) in disk.blocks.iter().filter(|(_, id)| **id != 0) {
                run.add(block, id, &mut out);
            }
            run.end(&mut out);
            Run::default().write(&mut out);
        }
        all
    }
}

/// A part of saved metadata.
enum Found {
    /// Start of a disk with this many sectors.
    Disk(u64),
    /// A block's place on the disk, and its number.
    Block(u64, u32),
}

fn read(saved: &[u8], found: &mut dyn FnMut(Found) -> Result<(), Error>) -> Result<(), Error> {
    let mut rest = Reader(saved);
    if rest.long()? != MAGIC {
        return Err(Error::Invalid);
    }
    while !rest.0.is_empty() {
        let sectors = rest.long()?;
        found(Found::Disk(sectors))?;
        loop {
            let (first, count) = (rest.long()?, rest.short()?);
            if count == 0 {
                break;
            }
            let end = first.checked_add(count.into()).ok_or(Error::Invalid)?;
            if end > sectors.div_ceil(BLOCK_SECTORS) {
                return Err(Error::Invalid);
            }
            for block in first..end {
                found(Found::Block(block, rest.short()?))?;
            }
        }
    }
    Ok(())
}

/// Consecutive blocks on a disk.
#[derive(Default)]
struct Run {
    first: u64,
    ids: Vec<u32>,
}

impl Run {
    fn add(&mut self, block: u64, id: u32, out: &mut dyn FnMut(&[u8])) {
        if block != self.first + self.ids.len() as u64 || self.ids.len() == RUN_BLOCKS_MAX {
            self.end(out);
            self.first = block;
        }
        self.ids.push(id);
    }

    /// Writes the run, if it has any blocks, and clears it.
    fn end(&mut self, out: &mut dyn FnMut(&[u8])) {
        if !self.ids.is_empty() {
            self.write(out);
            self.ids.clear();
        }
    }

    fn write(&self, out: &mut dyn FnMut(&[u8])) {
        let mut bytes = Vec::with_capacity(12 + 4 * self.ids.len());
        bytes.extend(self.first.to_le_bytes());
        bytes.extend((self.ids.len() as u32).to_le_bytes());
        bytes.extend(self.ids.iter().flat_map(|id| id.to_le_bytes()));
        out(&bytes);
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Error::Invalid)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn long(&mut self) -> Result<u64, Error> {
        self.take().map(u64::from_le_bytes)
    }

    fn short(&mut self) -> Result<u32, Error> {
        self.take().map(u32::from_le_bytes)
    }
}
