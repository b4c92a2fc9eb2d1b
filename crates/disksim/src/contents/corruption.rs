//! Silent corruption: sectors that read back changed without an error.

use crate::contents::survival::scramble;
use crate::request::SECTOR_BYTES;
use core::ops::Range;

/// Sectors that return wrong data, the same each time, even after they were written again. The media are unchanged:
/// written data is stored correctly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corruption {
    pub sectors: Range<u64>,
    pub seed: u64,
}

impl Corruption {
    /// Changes the data read from `sector` on: in each sector of the range eight bytes, at least one bit of them.
    pub(super) fn apply(&self, sector: u64, read: &mut [u8]) {
        let end = sector + read.len() as u64 / SECTOR_BYTES;
        let hit = self.sectors.start.max(sector)..self.sectors.end.min(end);
        for bad in hit {
            let noise = scramble(self.seed ^ scramble(bad));
            let word = (noise % (SECTOR_BYTES / 8) * 8) as usize;
            let at = ((bad - sector) * SECTOR_BYTES) as usize + word;
            for (byte, flip) in read[at..at + 8].iter_mut().zip((scramble(noise) | 1).to_le_bytes()) {
                *byte ^= flip;
            }
        }
    }
}
