//! Where dm-integrity stores the sectors of its device on the disk.
//!
//! Source: drivers/md/dm-integrity.c (`struct superblock`, `calculate_journal_section_size`,
//! `calculate_device_limits`, `get_data_sector`): superblock, journal, then alternating areas of checksums and
//! data.

use super::direct_io::{self, SECTOR_BYTES};
use crate::machine::error::Cause;
use std::path::Path;

const MAGIC: &[u8; 8] = b"integrt\0";
const SUPERBLOCK_SECTORS: u64 = 8;
const JOURNAL_BLOCK_SECTORS: u64 = 8;
/// Bytes of a journal sector for entries: the rest is the commit number.
const JOURNAL_SECTOR_BYTES: u64 = SECTOR_BYTES as u64 - 8;
/// Bytes of an entry without the data words of each sector and the checksum.
const ENTRY_BYTES: u64 = 8;
const HAS_FIXED_PADDING: u32 = 8;
/// A journal with its own checksums, or checksums next to the sectors: raidlab makes neither.
const UNKNOWN_FLAGS: u32 = 1 | 0x20;

/// The sizes in the superblock, in 512-byte sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// Superblock and journal.
    initial: u64,
    /// Data per area.
    interleave: u64,
    /// Checksums per area.
    checksums: u64,
}

impl Places {
    pub(super) fn of(disk: &Path) -> Result<Self, Cause> {
        let superblock = direct_io::read(disk, 0, SECTOR_BYTES)?;
        let unknown = || {
            let shown = disk.display();
            Cause::State(format!("{shown} has no dm-integrity superblock that raidlab can read"))
        };
        Self::read(&superblock).ok_or_else(unknown)
    }

    fn read(superblock: &[u8]) -> Option<Self> {
        let number = |at: usize, bytes: usize| {
            let bytes = superblock.get(at..at + bytes)?;
            Some(
                bytes
                    .iter()
                    .rev()
                    .fold(0, |number, byte| number << 8 | u64::from(*byte)),
            )
        };
        let flags = u32::try_from(number(24, 4)?).ok()?;
        if !superblock.starts_with(MAGIC) || flags & UNKNOWN_FLAGS != 0 {
            return None;
        }
        let (log2_interleave, log2_block) = (number(9, 1)?, number(28, 1)?);
        let (tag_bytes, sections) = (number(10, 2)?, number(12, 4)?);
        if log2_block > 3 || !(log2_block..=31).contains(&log2_interleave) {
            return None;
        }
        let entry = (ENTRY_BYTES + 8 * (1 << log2_block) + tag_bytes).next_multiple_of(8);
        let entries = JOURNAL_SECTOR_BYTES / entry * JOURNAL_BLOCK_SECTORS;
        let section = (entries << log2_block) + JOURNAL_BLOCK_SECTORS;
        let padding = match flags & HAS_FIXED_PADDING {
            0 => 512 << 8,
            _ => 512 * 8,
        };
        let checksums = (tag_bytes << (log2_interleave - log2_block)).next_multiple_of(padding);
        Some(Self {
            initial: SUPERBLOCK_SECTORS + section * sections,
            interleave: 1 << log2_interleave,
            checksums: checksums / SECTOR_BYTES as u64,
        })
    }

    /// The places on the disk for a range of the device, as offset and length.
    pub(super) fn at(self, offset: u64, bytes: usize) -> Vec<(u64, usize)> {
        let sector_bytes = SECTOR_BYTES as u64;
        let area_bytes = self.interleave * sector_bytes;
        let (mut offset, mut rest) = (offset, bytes);
        let mut pieces = Vec::new();
        while rest > 0 {
            let (area, within) = (offset / area_bytes, offset % area_bytes);
            let piece = usize::try_from(area_bytes - within).map_or(rest, |left| left.min(rest));
            let before = self.initial + area * self.interleave + (area + 1) * self.checksums;
            pieces.push((before * sector_bytes + within, piece));
            (offset, rest) = (offset + piece as u64, rest - piece);
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As integritysetup 2.6 makes it on a disk of 500 GB: crc32c, 16 MiB of data with 128 KiB of checksums each.
    fn superblock() -> Vec<u8> {
        let mut superblock = vec![0; SECTOR_BYTES];
        superblock[..8].copy_from_slice(MAGIC);
        superblock[8] = 4;
        superblock[9] = 15;
        superblock[10] = 4;
        superblock[12..16].copy_from_slice(&744_u32.to_le_bytes());
        superblock[24] = 8;
        superblock
    }

    #[test]
    fn areas_of_data_follow_their_checksums() {
        let places = Places::read(&superblock()).expect("it is one");
        let initial = 8 + 744 * 176;
        assert_eq!((places.initial, places.checksums), (initial, 256));
        let first = (initial + 256) * 512;
        assert_eq!(places.at(0, 512), [(first, 512)]);
        let area = 16 << 20;
        assert_eq!(
            places.at(area - 512, 1536),
            [(first + area - 512, 512), (first + area + 256 * 512, 1024)]
        );
    }

    #[test]
    fn what_raidlab_does_not_make_is_not_read() {
        assert_eq!(Places::read(&[0; SECTOR_BYTES]), None);
        assert_eq!(Places::read(&superblock()[..20]), None);
        let mut inline = superblock();
        inline[24] |= 0x20;
        assert_eq!(Places::read(&inline), None);
    }
}
