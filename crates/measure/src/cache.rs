//! The drive's buffer as far as reads show it: hits, interface rate, read-ahead, segments.

use crate::random::Random;
use crate::{Error, Read, SECTOR_BYTES, SMALL, Target, small};

/// After this idle time a read-ahead is complete.
const SETTLE_MS: u64 = 300;
/// A hit takes less than this part of a typical read.
const HIT_PART: f64 = 0.25;
const LARGE: u32 = 512;
const READ_AHEAD_MAX: u64 = 1 << 17;
const SEGMENTS_MAX: usize = 64;
const TRIES: usize = 3;

/// What was found; absent is what could not be measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cache {
    /// Median time of a random small read.
    pub miss_ms: f64,
    /// Time of a small read from the buffer.
    pub hit_ms: Option<f64>,
    /// Rate of the interface, from hits of two sizes, in 10^6 bytes a second.
    pub interface_mb_s: Option<f64>,
    /// Sectors that are read ahead after a random read.
    pub read_ahead_sectors: Option<u32>,
    /// Reads that stay in the buffer at the same time.
    pub segments: Option<u32>,
}

impl Cache {
    /// Time of a command without mechanics. A part of a miss that cannot be told from its seek is in the seek curve.
    pub fn command_ms(&self) -> f64 {
        let wire_ms = self
            .interface_mb_s
            .map_or(0.0, |rate| f64::from(SMALL) * SECTOR_BYTES / rate / 1e3);
        (self.hit_ms.unwrap_or(0.0) - wire_ms).max(0.0)
    }
}

pub fn measure(target: &mut dyn Target, random: &mut Random) -> Result<Cache, Error> {
    let mut probe = Probe {
        target,
        random,
        hit_max_ms: 0.0,
    };
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..64 {
        let at = probe.place();
        times.push(probe.read_ms(small(at))?);
    }
    let miss_ms = median(&mut times);
    probe.hit_max_ms = miss_ms * HIT_PART;
    let hit_ms = probe.hit_ms(SMALL)?;
    let large_ms = probe.hit_ms(LARGE)?;
    let interface_mb_s = match (hit_ms, large_ms) {
        (Some(hit), Some(large)) if large > hit => {
            Some(f64::from(LARGE - SMALL) * SECTOR_BYTES / (large - hit) / 1e3)
        }
        _ => None,
    };
    Ok(Cache {
        miss_ms,
        hit_ms,
        interface_mb_s,
        read_ahead_sectors: probe.read_ahead()?,
        segments: probe.segments()?,
    })
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

struct Probe<'a> {
    target: &'a mut dyn Target,
    random: &'a mut Random,
    hit_max_ms: f64,
}

impl Probe<'_> {
    /// A place with room for the longest read-ahead.
    fn place(&mut self) -> u64 {
        let room = self.target.sectors() - 2 * READ_AHEAD_MAX;
        self.random.below(room / 8) * 8
    }

    fn read_ms(&mut self, read: Read) -> Result<f64, Error> {
        let timings = self.target.run(&[read], 1)?;
        Ok(timings.first().map_or(0.0, |timing| timing.ms()))
    }

    /// Reads twice; the second time, if it came from the buffer.
    fn hit_ms(&mut self, sectors: u32) -> Result<Option<f64>, Error> {
        let mut hits = Vec::new();
        for _ in 0..TRIES {
            let read = Read {
                sector: self.place(),
                sectors,
            };
            self.read_ms(read)?;
            self.target.pause(SETTLE_MS);
            hits.push(self.read_ms(read)?);
        }
        let hit = median(&mut hits);
        Ok((hit < self.hit_max_ms).then_some(hit))
    }

    /// Whether the sectors so far behind a random read are in the buffer after a while.
    fn is_ahead(&mut self, sectors: u64) -> Result<bool, Error> {
        let mut hits = 0;
        for _ in 0..TRIES {
            let at = self.place();
            self.read_ms(small(at))?;
            self.target.pause(SETTLE_MS);
            hits += usize::from(self.read_ms(small(at + sectors))? < self.hit_max_ms);
        }
        Ok(hits * 2 > TRIES)
    }

    /// By bisection, in steps of a small read.
    fn read_ahead(&mut self) -> Result<Option<u32>, Error> {
        let step = u64::from(SMALL);
        if !self.is_ahead(step)? {
            return Ok(None);
        }
        let (mut hit, mut miss) = (1, READ_AHEAD_MAX / step);
        while hit + 1 < miss {
            let middle = u64::midpoint(hit, miss);
            if self.is_ahead(middle * step)? {
                hit = middle;
            } else {
                miss = middle;
            }
        }
        Ok((miss < READ_AHEAD_MAX / step).then_some((hit * step) as u32))
    }

    /// The most reads of which the first is still in the buffer after the last.
    fn segments(&mut self) -> Result<Option<u32>, Error> {
        let (mut kept, mut lost) = (0, SEGMENTS_MAX + 1);
        while kept + 1 < lost {
            let middle = usize::midpoint(kept, lost);
            let mut hits = 0;
            for _ in 0..TRIES {
                let first = self.place();
                let others: Vec<u64> = (1..middle).map(|_| self.place()).collect();
                for at in std::iter::once(first).chain(others) {
                    self.read_ms(small(at))?;
                }
                self.target.pause(SETTLE_MS);
                hits += usize::from(self.read_ms(small(first))? < self.hit_max_ms);
            }
            if hits * 2 > TRIES {
                kept = middle;
            } else {
                lost = middle;
            }
        }
        Ok((kept > 0 && kept < SEGMENTS_MAX).then_some(kept as u32))
    }
}
