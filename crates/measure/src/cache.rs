//! The drive's buffer, as reads show it: hits, interface rate, read-ahead, segments.

use crate::random::Random;
use crate::{Error, Extent, ReadableDisk, SECTOR_BYTES, SMALL, median, small};
use serde::{Deserialize, Serialize};

/// Idle time after which a read-ahead is complete.
const IDLE_MS: u64 = 300;
/// Idle time after which a read-ahead has started.
const BEGUN_MS: u64 = 30;
/// A hit takes less than this fraction of a typical read; few reads that wait for a rotation are as fast.
const HIT_PART: f64 = 0.1;
/// Relative to the first measured hit, later hits take less than this ratio.
const HIT_RATIO: f64 = 1.5;
/// Sectors of the larger hits, which give the interface rate, and the longest time of such a hit as a fraction of a
/// typical read.
const LARGE: u32 = 64;
const LARGE_PART: f64 = 0.25;
const READ_AHEAD_MAX: u64 = 1 << 17;
const SEGMENTS_MAX: usize = 64;
const TRIES: usize = 9;
const MISSES: usize = 64;

/// Results; `None` if a value could not be measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CacheTimes {
    /// Median time of a random small read.
    pub miss_ms: f64,
    /// Time of a small read from the buffer.
    pub hit_ms: Option<f64>,
    /// Rate of the interface, from hits of two sizes, in 10^6 bytes a second.
    pub interface_mb_s: Option<f64>,
    /// Data stays in the buffer after it was sent.
    pub keeps_delivered: bool,
    /// The buffer also holds sectors before the requested ones, which pass the head first.
    pub keeps_before: bool,
    pub ahead: Ahead,
    /// Length of the read-ahead.
    pub read_ahead_sectors: Option<u32>,
    /// Number of reads whose data stays in the buffer at the same time.
    pub segments: Option<u32>,
}

/// When a drive reads ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ahead {
    #[default]
    Never,
    /// After a read that continues an earlier one.
    Sequential,
    Always,
}

impl CacheTimes {
    /// Command overhead without mechanics. A part of a miss that cannot be distinguished from its seek is in the
    /// seek curve.
    pub fn command_ms(&self) -> f64 {
        let wire_ms = self
            .interface_mb_s
            .map_or(0.0, |rate| f64::from(SMALL) * SECTOR_BYTES / rate / 1e3);
        (self.hit_ms.unwrap_or(0.0) - wire_ms).max(0.0)
    }
}

pub fn measure(target: &mut dyn ReadableDisk, random: &mut Random) -> Result<CacheTimes, Error> {
    let mut probe = Probe {
        target,
        random,
        hit_max_ms: 0.0,
        cache: CacheTimes::default(),
    };
    let mut times = Vec::new();
    for _ in 0..MISSES {
        let at = probe.place();
        times.push(probe.read_ms(small(at))?);
    }
    probe.cache.miss_ms = median(times);
    probe.hit_max_ms = probe.cache.miss_ms * HIT_PART;
    probe.policy()?;
    probe.hits()?;
    if probe.cache.ahead != Ahead::Never {
        probe.cache.read_ahead_sectors = probe.read_ahead()?;
    }
    if probe.cache.hit_ms.is_some() {
        probe.cache.segments = probe.segments()?;
    }
    Ok(probe.cache)
}

struct Probe<'a> {
    target: &'a mut dyn ReadableDisk,
    random: &'a mut Random,
    hit_max_ms: f64,
    cache: CacheTimes,
}

impl Probe<'_> {
    /// A place with room for the longest read-ahead after it, and as much before it.
    fn place(&mut self) -> u64 {
        let room = self.target.sectors() - 3 * READ_AHEAD_MAX;
        READ_AHEAD_MAX + self.random.below(room / 8) * 8
    }

    fn read_ms(&mut self, read: Extent) -> Result<f64, Error> {
        let timings = self.target.read(&[read], 1)?;
        Ok(timings.first().map_or(0.0, |timing| timing.ms()))
    }

    /// Median time of the read `then` after the reads `before` and a pause, all relative to a random place.
    fn times_after(&mut self, before: &[Extent], then: Extent) -> Result<f64, Error> {
        let mut times = Vec::new();
        for _ in 0..TRIES {
            let at = self.place();
            let moved = |read: &Extent| Extent {
                sector: at + read.sector,
                ..*read
            };
            for read in before {
                self.read_ms(moved(read))?;
            }
            self.target.pause(IDLE_MS);
            times.push(self.read_ms(moved(&then))?);
        }
        Ok(median(times))
    }

    fn is_hit_after(&mut self, before: &[Extent], then: Extent) -> Result<bool, Error> {
        Ok(self.times_after(before, then)? < self.hit_max_ms)
    }

    fn policy(&mut self) -> Result<(), Error> {
        let first = small(SMALL.into());
        self.cache.keeps_delivered = self.is_hit_after(&[first], first)?;
        self.cache.keeps_before = self.is_hit_after(&[first], small(0))?;
        let in_order = in_order();
        let next = small(4 * u64::from(SMALL));
        self.cache.ahead = if self.is_hit_after(&in_order[3..], next)? {
            Ahead::Always
        } else if self.is_hit_after(&in_order, next)? {
            Ahead::Sequential
        } else {
            Ahead::Never
        };
        Ok(())
    }

    /// Times hits of two sizes, from data that was read before or read ahead.
    fn hits(&mut self) -> Result<(), Error> {
        let mut hit_ms = |sectors: u32| -> Result<Option<f64>, Error> {
            let (before, sector) = match (self.cache.keeps_delivered, self.cache.ahead) {
                (true, _) => (vec![Extent { sector: 0, sectors }], 0),
                (false, Ahead::Never) => return Ok(None),
                (false, _) => (in_order(), 4 * u64::from(SMALL)),
            };
            let hit = self.times_after(&before, Extent { sector, sectors })?;
            let part = if sectors == SMALL { HIT_PART } else { LARGE_PART };
            Ok((hit < self.cache.miss_ms * part).then_some(hit))
        };
        let (hit, large) = (hit_ms(SMALL)?, hit_ms(LARGE)?);
        self.hit_max_ms = hit.map_or(self.hit_max_ms, |hit| hit * HIT_RATIO);
        self.cache.hit_ms = hit;
        self.cache.interface_mb_s = match (hit, large) {
            (Some(hit), Some(large)) if large > hit => {
                Some(f64::from(LARGE - SMALL) * SECTOR_BYTES / (large - hit) / 1e3)
            }
            _ => None,
        };
        Ok(())
    }

    /// Bisects in steps of a small read.
    fn read_ahead(&mut self) -> Result<Option<u32>, Error> {
        let before = in_order();
        let end = 4 * u64::from(SMALL);
        let step = u64::from(SMALL);
        let (mut hit, mut miss) = (0, READ_AHEAD_MAX / step);
        while hit + 1 < miss {
            let middle = u64::midpoint(hit, miss);
            if self.is_hit_after(&before, small(end + middle * step))? {
                hit = middle;
            } else {
                miss = middle;
            }
        }
        Ok((miss < READ_AHEAD_MAX / step).then_some(((hit + 1) * step) as u32))
    }

    /// The largest number of reads after which the data of the first one is still in the buffer.
    fn segments(&mut self) -> Result<Option<u32>, Error> {
        let (mut kept, mut lost) = (0, SEGMENTS_MAX + 1);
        while kept + 1 < lost {
            let middle = usize::midpoint(kept, lost);
            let mut hits = 0;
            for _ in 0..TRIES {
                hits += usize::from(self.keeps_first_of(middle)?);
            }
            if hits * 2 > TRIES {
                kept = middle;
            } else {
                lost = middle;
            }
        }
        Ok((kept > 0 && kept < SEGMENTS_MAX).then_some(kept as u32))
    }

    fn keeps_first_of(&mut self, places: usize) -> Result<bool, Error> {
        let (before, again) = if self.cache.keeps_delivered {
            (vec![small(0)], 0)
        } else {
            (in_order(), 4 * u64::from(SMALL))
        };
        let first = self.place();
        for place in 0..places {
            let at = if place == 0 { first } else { self.place() };
            for read in &before {
                self.read_ms(small(at + read.sector))?;
            }
            self.target.pause(BEGUN_MS);
        }
        Ok(self.read_ms(small(first + again))? < self.hit_max_ms)
    }
}

/// Four small reads, one after the other.
fn in_order() -> Vec<Extent> {
    (0..4).map(|i| small(i * u64::from(SMALL))).collect()
}
