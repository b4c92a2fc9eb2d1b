//! History for power cuts: the contents that volatile writes replaced.

use super::BLOCK_SECTORS;
use super::blocks::{Block, Blocks};
use super::survival::{Choice, Survival};
use crate::request::SECTOR_BYTES;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

/// Every sector of a block, one bit each.
pub const WHOLE_BLOCK: u8 = u8::MAX;

/// Maximum number of versions of a block; beyond it, the oldest one that is not needed is dropped. A cache that holds
/// a block for that long would have merged those writes.
const VERSIONS_MAX: usize = 32;

/// A block's content before a write, with a reference, and the sectors that the write changed.
#[derive(Clone, Copy)]
pub struct Version {
    pub id: u32,
    pub written: u8,
    /// Number of the write, in the order in which the disk's blocks were written.
    pub order: u64,
}

/// Versions of a block since it was last durable, oldest first; never empty.
#[derive(Default)]
pub struct Versions(Vec<Version>);

/// All blocks of a disk with volatile data.
#[derive(Default)]
pub struct History {
    blocks: BTreeMap<u64, Versions>,
    /// Number of the next write.
    next: u64,
}

impl History {
    /// Records an acknowledged write; takes over the reference to the replaced block.
    pub fn remember(&mut self, held: &mut Blocks, block: u64, before: u32, written: u8) {
        let versions = self.blocks.entry(block).or_default();
        versions.0.push(Version {
            id: before,
            written,
            order: self.next,
        });
        self.next += 1;
        if versions.0.len() > VERSIONS_MAX {
            versions.thin(held);
        }
    }

    /// Number of the next write.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Writes before the one with this number become durable.
    pub fn persist_until(&mut self, held: &mut Blocks, next: u64) {
        self.blocks.retain(|_, versions| {
            versions.0.retain(|version| {
                let is_volatile = version.order >= next;
                if !is_volatile {
                    held.release(version.id);
                }
                is_volatile
            });
            !versions.0.is_empty()
        });
    }

    /// The current contents of these sectors become durable.
    pub fn persist(&mut self, held: &mut Blocks, sectors: Range<u64>) {
        let mut from = sectors.start / BLOCK_SECTORS;
        let blocks_end = sectors.end.div_ceil(BLOCK_SECTORS);
        while from < blocks_end {
            let Some((&block, _)) = self.blocks.range(from..blocks_end).next() else {
                return;
            };
            let start = sectors.start.saturating_sub(block * BLOCK_SECTORS);
            let end = (sectors.end - block * BLOCK_SECTORS).min(BLOCK_SECTORS);
            self.retain_volatile(held, block, !mask(start..end));
            from = block + 1;
        }
    }

    /// Keeps only these sectors of a recorded block volatile.
    fn retain_volatile(&mut self, held: &mut Blocks, block: u64, volatile: u8) {
        let Some(versions) = self.blocks.get_mut(&block) else {
            return;
        };
        versions.0.retain_mut(|version| {
            version.written &= volatile;
            if version.written == 0 {
                held.release(version.id);
            }
            version.written != 0
        });
        if versions.0.is_empty() {
            self.blocks.remove(&block);
        }
    }

    /// The remaining history if only these sectors are still volatile; the history itself is unchanged. The ranges
    /// are first sector and length, in any order; they may overlap.
    pub fn only(&self, volatile: &[(u64, u32)]) -> Vec<(u64, Versions)> {
        let mut masks: BTreeMap<u64, u8> = BTreeMap::new();
        for &(sector, sectors) in volatile {
            let end = sector.saturating_add(sectors.into());
            let blocks = sector / BLOCK_SECTORS..end.div_ceil(BLOCK_SECTORS);
            for (&block, _) in self.blocks.range(blocks) {
                let from = sector.max(block * BLOCK_SECTORS) - block * BLOCK_SECTORS;
                let to = (end - block * BLOCK_SECTORS).min(BLOCK_SECTORS);
                *masks.entry(block).or_default() |= mask(from..to);
            }
        }
        let left = masks.into_iter().map(|(block, volatile)| {
            let versions = self.blocks.get(&block).map_or(&[][..], |versions| &versions.0);
            let masked = versions.iter().map(|version| Version {
                written: version.written & volatile,
                ..*version
            });
            (block, Versions(masked.filter(|version| version.written != 0).collect()))
        });
        left.filter(|(_, versions)| !versions.0.is_empty()).collect()
    }

    /// All current contents become durable.
    pub fn forget(&mut self, held: &mut Blocks) {
        for versions in core::mem::take(&mut self.blocks).into_values() {
            versions.0.iter().for_each(|version| held.release(version.id));
        }
    }

    /// In the order of places, so that a power cut's choices are deterministic.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Versions)> {
        self.blocks.iter().map(|(&block, versions)| (block, versions))
    }

    /// The random choices of one power cut, for these blocks.
    pub fn choice<'a>(seed: u64, survival: Survival, blocks: impl Iterator<Item = (u64, &'a Versions)>) -> Choice {
        let orders = blocks.flat_map(|(_, versions)| versions.0.iter().map(|version| version.order));
        let (first, end) = orders.fold((u64::MAX, 0), |(first, end), order| {
            (first.min(order), end.max(order + 1))
        });
        Choice::new(seed, survival, first.min(end)..end)
    }
}

impl Versions {
    /// Drops the oldest version that is not the durable one of any sector.
    fn thin(&mut self, held: &mut Blocks) {
        let mut durable = 0;
        let spare = self.0.iter().position(|version| {
            let newer = version.written & !durable == 0;
            durable |= version.written;
            newer
        });
        // There is one: at most eight versions are the first for one of eight sectors.
        if let Some(spare) = spare {
            held.release(self.0.remove(spare).id);
        }
    }

    /// Turns a block's last content into its content after a power cut.
    pub fn compose(&self, held: &Blocks, choice: &mut Choice, content: &mut Block) {
        let moments = choice.moments(&self.0);
        for sector in 0..BLOCK_SECTORS {
            let bytes = (sector * SECTOR_BYTES) as usize..((sector + 1) * SECTOR_BYTES) as usize;
            let lost = self.0.get(moments[sector as usize]..).unwrap_or(&[]);
            let next = lost
                .iter()
                .find(|version| version.written & mask(sector..sector + 1) != 0);
            match next {
                None => {}
                Some(&Version { id: 0, .. }) => content[bytes].fill(0),
                Some(version) => content[bytes.clone()].copy_from_slice(&held.data(version.id)[bytes]),
            }
        }
    }
}

/// The sectors of a block that contain these bytes.
pub fn sector_mask(skip_bytes: usize, length_bytes: usize) -> u8 {
    let first = skip_bytes as u64 / SECTOR_BYTES;
    mask(first..first + length_bytes as u64 / SECTOR_BYTES)
}

fn mask(sectors: Range<u64>) -> u8 {
    ((1u32 << sectors.end) - (1u32 << sectors.start)) as u8
}
