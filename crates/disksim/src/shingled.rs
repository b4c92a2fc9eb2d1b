//! Shingled tracks behind the drive's own translation (drive-managed SMR).
//!
//! Tracks overlap in bands, so a band can only be written sequentially from its start. Other writes first go to a
//! conventional zone at the outer edge, and are merged into their band when the drive is idle or the zone is full
//! (Aghayev, Shafaei and Desnoyers, "Skylight", FAST '15). The zone is on the platters: a flush need not wait for
//! merging. Reads of data in the zone are assumed to cost the same as in the band.

use alloc::collections::{BTreeMap, VecDeque};
use serde::{Deserialize, Serialize};

/// Maximum number of bands that are written sequentially at the same time.
const OPEN_MAX: usize = 8;

/// The layout of a drive with shingled tracks.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Shingled {
    /// The conventional zone, at the outer edge.
    pub zone_sectors: u64,
    pub band_sectors: u64,
    /// Requests of at least this size begin a stream that is written to its bands directly, at the first start of a band.
    pub direct_sectors: u32,
    /// Idle time after which the drive begins to merge.
    pub idle_ns: u64,
}

/// State of bands and zone.
pub struct Shingles {
    pub rules: Shingled,
    /// Used sectors of the zone; the next ones go there.
    used: u64,
    next: u64,
    /// Bands with sectors in the zone, and their number; `order` has the oldest first.
    dirty: BTreeMap<u64, u64>,
    order: VecDeque<u64>,
    /// Ends of the streams into bands.
    open: VecDeque<u64>,
}

/// Target of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// To its own place.
    Band,
    /// To the zone, at this sector.
    Zone(u64),
}

impl Shingles {
    pub fn new(rules: Shingled) -> Self {
        Shingles {
            rules,
            used: 0,
            next: 0,
            dirty: BTreeMap::new(),
            order: VecDeque::new(),
            open: VecDeque::new(),
        }
    }

    /// The dirty band that was first written to the zone, if any.
    pub fn oldest(&self) -> Option<u64> {
        self.order.front().copied()
    }

    pub fn has_room(&self, sectors: u32) -> bool {
        self.used + u64::from(sectors) <= self.rules.zone_sectors
    }

    /// Marks the oldest band as merged.
    pub fn merged(&mut self) {
        if let Some(band) = self.order.pop_front() {
            self.used -= self.dirty.remove(&band).unwrap_or(0);
        }
    }

    /// Frees what the zone holds of a band that was written whole.
    fn forget(&mut self, band: u64) {
        if let Some(held) = self.dirty.remove(&band) {
            self.used -= held;
            self.order.retain(|other| *other != band);
        }
    }

    /// Whether a write goes to its band directly: one that continues such a write, or a large one that reaches the start
    /// of a band. What such a write has before that start is taken as part of the stream.
    ///
    /// A WD40EFAX keeps up with md's rebuild, whose requests have many sizes and begin anywhere, and collapses under
    /// sequential requests of 32 KiB (Ars Technica, June 2020).
    pub fn is_direct(&self, lbn: u64, sectors: u32, large: bool) -> bool {
        let reaches_start = lbn.next_multiple_of(self.rules.band_sectors) < lbn + u64::from(sectors);
        self.open.contains(&lbn) || (large && reaches_start)
    }

    /// Records a write; there must be room for it.
    pub fn write(&mut self, lbn: u64, sectors: u32, large: bool) -> Target {
        let end = lbn + u64::from(sectors);
        if self.is_direct(lbn, sectors, large) {
            let begins = match self.open.iter_mut().find(|next| **next == lbn) {
                Some(next) => {
                    *next = end;
                    lbn
                }
                None => {
                    self.open.push_back(end);
                    lbn.next_multiple_of(self.rules.band_sectors)
                }
            };
            if self.open.len() > OPEN_MAX {
                self.open.pop_front();
            }
            for band in begins / self.rules.band_sectors..end / self.rules.band_sectors {
                self.forget(band);
            }
            return Target::Band;
        }
        if self.next + u64::from(sectors) > self.rules.zone_sectors {
            self.next = 0;
        }
        let at = self.next;
        self.next += u64::from(sectors);
        self.used += u64::from(sectors);
        let band = lbn / self.rules.band_sectors;
        match self.dirty.get_mut(&band) {
            Some(held) => *held += u64::from(sectors),
            None => {
                self.dirty.insert(band, u64::from(sectors));
                self.order.push_back(band);
            }
        }
        Target::Zone(at)
    }
}

/// Validation of the parameters.
pub(crate) fn sound(rules: &Shingled, sectors: u64) -> Result<(), &'static str> {
    let sizes = (1..=sectors).contains(&rules.band_sectors) && (2048..=sectors).contains(&rules.zone_sectors);
    if sizes && rules.idle_ns <= 60_000_000_000 {
        Ok(())
    } else {
        Err(
            "its shingled bands or their zone are larger than the disk or smaller than 1 MiB, or it waits over a minute",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Shingled = Shingled {
        zone_sectors: 4096,
        band_sectors: 65_536,
        direct_sectors: 1024,
        idle_ns: 1_000_000,
    };

    #[test]
    fn a_stream_of_large_writes_goes_to_its_band_and_all_else_to_the_zone() {
        let mut shingles = Shingles::new(RULES);
        assert_eq!(
            shingles.write(65_536, 2048, true),
            Target::Band,
            "from the start of a band"
        );
        assert_eq!(shingles.write(65_536 + 2048, 2048, true), Target::Band, "and on");
        assert_eq!(
            shingles.write(65_536 + 10_000, 2048, true),
            Target::Zone(0),
            "not where it ended"
        );
        assert_eq!(shingles.write(131_072, 64, false), Target::Zone(2048), "a small one");
        assert_eq!(shingles.oldest(), Some(1));
    }

    #[test]
    fn a_stream_that_begins_amid_a_band_goes_to_the_next_one() {
        let mut shingles = Shingles::new(RULES);
        let begins = 2 * 65_536 - 1500;
        assert_eq!(shingles.write(begins, 1024, true), Target::Zone(0));
        assert_eq!(
            shingles.write(begins + 1024, 1024, true),
            Target::Band,
            "it reaches the band's start"
        );
        assert_eq!(shingles.write(begins + 2048, 8, false), Target::Band, "a small one that continues it");
        assert_eq!(shingles.write(begins + 2056, 1024, true), Target::Band);
        assert_eq!(shingles.oldest(), Some(1));
        shingles.write(begins + 3080, 65_536, true);
        assert_eq!(shingles.oldest(), Some(1), "that band was not written");
        for i in 0..4 {
            let small = shingles.write(4 * 65_536 - 64 + i * 64, 64, false);
            assert_eq!(small, Target::Zone(1024 + i * 64), "small ones begin none");
        }
    }

    #[test]
    fn what_the_zone_holds_of_a_band_that_is_written_whole_needs_no_merging() {
        let mut shingles = Shingles::new(RULES);
        shingles.write(65_536 + 800, 64, false);
        shingles.write(65_536, 65_535, true);
        assert_eq!(shingles.oldest(), Some(1), "a sector is missing");
        shingles.write(2 * 65_536 - 1, 1, false);
        assert_eq!(shingles.oldest(), None);
        assert!(shingles.has_room(4096));
    }

    #[test]
    fn a_full_zone_has_room_when_a_band_is_merged() {
        let mut shingles = Shingles::new(RULES);
        for i in 0..4 {
            assert!(shingles.has_room(1024));
            shingles.write(65_536 * (i / 2) + i * 1024 + 8, 1024, false);
        }
        assert!(!shingles.has_room(1));
        shingles.merged();
        assert!(
            shingles.has_room(2048) && !shingles.has_room(2049),
            "half of it was of the first band"
        );
        assert_eq!(shingles.oldest(), Some(1));
    }
}
