//! Shingled tracks behind the drive's own translation (drive-managed SMR).
//!
//! Tracks overlap in bands, so a band can only be written sequentially from its start. Other writes first go to a
//! conventional zone at the outer edge, and are merged into their band when the drive is idle or the zone is full
//! (Aghayev, Shafaei and Desnoyers, "Skylight", FAST '15). The zone is on the platters: a flush need not wait for
//! merging. Reads of data in the zone are assumed to cost the same as in the band.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::ops::Range;
use serde::{Deserialize, Serialize};

/// Maximum number of bands that are written sequentially at the same time.
const OPEN_MAX: usize = 8;

/// Maximum distance from a stream's end at which a large write still belongs to it: 8 MiB. The drive caches it until
/// the sectors in between arrive. This is a guess: md's rebuild sends a third of its writes slightly out of order, up
/// to 1 MiB each, and a WD40EFAX keeps up with it (Ars Technica, June 2020).
const GAP_MAX: u64 = 16_384;

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
    /// Sectors of the zone that are in use before the first request, by bands all over the disk of [`OLD_SECTORS`] each.
    pub used_sectors: u64,
}

/// What the zone holds of a band before the first request: 1 MiB. A guess: merging a band gains so much room.
const OLD_SECTORS: u64 = 2048;

/// State of bands and zone.
pub struct Shingles {
    pub rules: Shingled,
    /// Used sectors of the zone; the next ones follow.
    used: u64,
    next: u64,
    /// Bands with sectors in the zone, and the number of sectors; `order` has the oldest band first.
    dirty: BTreeMap<u64, u64>,
    order: VecDeque<u64>,
    /// The streams into bands; the oldest first.
    open: VecDeque<Stream>,
}

/// Sequential writes into bands.
struct Stream {
    end: u64,
    /// Ranges that were skipped before the end.
    gaps: Vec<Range<u64>>,
}

impl Stream {
    fn takes(&self, lbn: u64, end: u64, large: bool) -> bool {
        let is_ahead = lbn > self.end && lbn <= self.end + GAP_MAX;
        lbn == self.end || (large && is_ahead) || self.gap(lbn, end).is_some()
    }

    /// The gap that contains this write.
    fn gap(&self, lbn: u64, end: u64) -> Option<usize> {
        self.gaps.iter().position(|gap| gap.start <= lbn && end <= gap.end)
    }

    /// Records a write to the stream; returns gaps that are too far behind to be filled.
    fn write(&mut self, lbn: u64, end: u64) -> Vec<Range<u64>> {
        if let Some(index) = self.gap(lbn, end) {
            let gap = self.gaps.swap_remove(index);
            let left = [gap.start..lbn, end..gap.end];
            self.gaps.extend(left.into_iter().filter(|rest| !rest.is_empty()));
            return Vec::new();
        }
        if lbn > self.end {
            self.gaps.push(self.end..lbn);
        }
        self.end = end;
        let is_near = |gap: &Range<u64>| gap.end + GAP_MAX >= end;
        let (near, far) = core::mem::take(&mut self.gaps).into_iter().partition(is_near);
        self.gaps = near;
        far
    }
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
    /// The state of a disk of `sectors`.
    pub fn new(rules: Shingled, sectors: u64) -> Self {
        let bands = (sectors / rules.band_sectors).max(1);
        let old = (rules.used_sectors / OLD_SECTORS).min(bands);
        let order: VecDeque<u64> = (0..old)
            .map(|i| (u128::from(i) * u128::from(bands) / u128::from(old)) as u64)
            .collect();
        Shingles {
            rules,
            used: old * OLD_SECTORS,
            next: old * OLD_SECTORS,
            dirty: order.iter().map(|&band| (band, OLD_SECTORS)).collect(),
            order,
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

    /// Abandons gaps of a stream. Their old contents have to be merged into their bands.
    fn give_up(&mut self, gaps: Vec<Range<u64>>) {
        for gap in gaps {
            self.note(gap.start / self.rules.band_sectors, 0);
        }
    }

    /// Records that the zone, or the media under a gap, holds this many sectors of a band.
    fn note(&mut self, band: u64, sectors: u64) {
        match self.dirty.get_mut(&band) {
            Some(held) => *held += sectors,
            None => {
                self.dirty.insert(band, sectors);
                self.order.push_back(band);
            }
        }
    }

    /// Frees the zone's sectors of a band that was written completely.
    fn forget(&mut self, band: u64) {
        if let Some(held) = self.dirty.remove(&band) {
            self.used -= held;
            self.order.retain(|other| *other != band);
        }
    }

    /// Whether a write goes to its band directly: one that continues such a write or fills a gap, a large one a
    /// little ahead of it, or a large one that reaches the start of a band. The part of such a write before that
    /// start belongs to the stream as well.
    ///
    /// A WD40EFAX keeps up with md's rebuild, whose requests have many sizes and begin anywhere, and collapses under
    /// sequential requests of 32 KiB (Ars Technica, June 2020).
    pub fn is_direct(&self, lbn: u64, sectors: u32, large: bool) -> bool {
        let end = lbn + u64::from(sectors);
        let reaches_start = lbn.next_multiple_of(self.rules.band_sectors) < end;
        self.open.iter().any(|stream| stream.takes(lbn, end, large)) || (large && reaches_start)
    }

    /// Records a write; there must be room for it.
    pub fn write(&mut self, lbn: u64, sectors: u32, large: bool) -> Target {
        let end = lbn + u64::from(sectors);
        if self.is_direct(lbn, sectors, large) {
            let mut begins = lbn;
            let given_up = match self.open.iter_mut().find(|stream| stream.takes(lbn, end, large)) {
                Some(stream) => stream.write(lbn, end),
                None => {
                    begins = lbn.next_multiple_of(self.rules.band_sectors);
                    self.open.push_back(Stream { end, gaps: Vec::new() });
                    match self.open.len() > OPEN_MAX {
                        true => self.open.pop_front().map_or_else(Vec::new, |oldest| oldest.gaps),
                        false => Vec::new(),
                    }
                }
            };
            self.give_up(given_up);
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
        self.note(lbn / self.rules.band_sectors, u64::from(sectors));
        Target::Zone(at)
    }
}

/// Validation of the parameters.
pub(crate) fn sound(rules: &Shingled, sectors: u64) -> Result<(), &'static str> {
    let sizes = (1..=sectors).contains(&rules.band_sectors) && (2048..=sectors).contains(&rules.zone_sectors);
    if sizes && rules.idle_ns <= 60_000_000_000 && rules.used_sectors <= rules.zone_sectors {
        Ok(())
    } else {
        Err(
            "its shingled bands or their zone are larger than the disk or smaller than 1 MiB, it waits over a minute, or the zone \
             holds more than fits",
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
        used_sectors: 0,
    };
    const SECTORS: u64 = 8 * 65_536;

    #[test]
    fn a_stream_of_large_writes_goes_to_its_band_and_all_else_to_the_zone() {
        let mut shingles = Shingles::new(RULES, SECTORS);
        assert_eq!(
            shingles.write(65_536, 2048, true),
            Target::Band,
            "from the start of a band"
        );
        assert_eq!(shingles.write(65_536 + 2048, 2048, true), Target::Band, "and on");
        assert_eq!(
            shingles.write(65_536 + 4096 + 16_385, 2048, true),
            Target::Zone(0),
            "too far ahead"
        );
        assert_eq!(shingles.write(131_072, 64, false), Target::Zone(2048), "a small one");
        assert_eq!(shingles.oldest(), Some(1));
    }

    #[test]
    fn a_stream_that_begins_amid_a_band_goes_to_the_next_one() {
        let mut shingles = Shingles::new(RULES, SECTORS);
        let begins = 2 * 65_536 - 1500;
        assert_eq!(shingles.write(begins, 1024, true), Target::Zone(0));
        assert_eq!(
            shingles.write(begins + 1024, 1024, true),
            Target::Band,
            "it reaches the band's start"
        );
        assert_eq!(
            shingles.write(begins + 2048, 8, false),
            Target::Band,
            "a small one that continues it"
        );
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
    fn a_stream_takes_large_writes_that_are_a_little_out_of_order() {
        let mut shingles = Shingles::new(RULES, SECTORS);
        shingles.write(65_536, 2048, true);
        assert_eq!(shingles.write(65_536 + 4096, 1024, true), Target::Band, "ahead");
        assert_eq!(shingles.write(65_536 + 2048, 8, false), Target::Band, "into the gap");
        assert_eq!(
            shingles.write(65_536 + 2056, 2040, true),
            Target::Band,
            "the rest of it"
        );
        assert_eq!(shingles.write(65_536 + 2048, 2048, true), Target::Zone(0), "once more");
        assert_eq!(
            shingles.write(65_536 + 8192, 64, false),
            Target::Zone(2048),
            "a small one ahead"
        );
        assert_eq!(
            shingles.write(65_536 + 5120, 1024, true),
            Target::Band,
            "where the furthest ended"
        );
    }

    #[test]
    fn a_gap_that_stays_costs_a_merge() {
        let mut shingles = Shingles::new(RULES, SECTORS);
        shingles.write(2 * 65_536, 2048, true);
        shingles.write(2 * 65_536 + 4096, 1024, true);
        assert_eq!(shingles.oldest(), None, "it may be filled yet");
        shingles.write(2 * 65_536 + 5120, 16_384, true);
        assert_eq!(shingles.oldest(), Some(2));
        assert_eq!(
            shingles.write(2 * 65_536 + 2048, 2048, true),
            Target::Zone(0),
            "too late"
        );
    }

    #[test]
    fn what_the_zone_holds_of_a_band_that_is_written_whole_needs_no_merging() {
        let mut shingles = Shingles::new(RULES, SECTORS);
        shingles.write(65_536 + 800, 64, false);
        shingles.write(65_536, 65_535, true);
        assert_eq!(shingles.oldest(), Some(1), "a sector is missing");
        shingles.write(2 * 65_536 - 1, 1, false);
        assert_eq!(shingles.oldest(), None);
        assert!(shingles.has_room(4096));
    }

    #[test]
    fn a_zone_that_was_in_use_has_room_when_its_bands_are_merged() {
        let rules = Shingled {
            used_sectors: 4096,
            ..RULES
        };
        let mut shingles = Shingles::new(rules, SECTORS);
        assert!(!shingles.has_room(1));
        assert_eq!(shingles.oldest(), Some(0));
        shingles.merged();
        assert!(shingles.has_room(2048) && !shingles.has_room(2049));
        assert_eq!(shingles.oldest(), Some(4), "bands all over the disk");
        assert_eq!(
            shingles.write(8, 64, false),
            Target::Zone(0),
            "the zone is used in turn"
        );
        shingles.merged();
        assert_eq!(shingles.oldest(), Some(0), "what was written last");
    }

    #[test]
    fn a_full_zone_has_room_when_a_band_is_merged() {
        let mut shingles = Shingles::new(RULES, SECTORS);
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
