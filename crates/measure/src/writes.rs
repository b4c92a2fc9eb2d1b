//! Results of writes: whether the drive has a write cache, its capacity, and the duration of a flush.

use crate::cache::CacheTimes;
use crate::queue_depth::{Depth, span_s};
use crate::random::Random;
use crate::{Error, Extent, SECTOR_BYTES, SMALL, Timing, Writable, mean, median};
use serde::{Deserialize, Serialize};

/// A cached write takes less than this fraction of a typical read.
const CACHED_PART: f64 = 0.25;
/// Sectors of the larger cached writes, which give the interface rate.
const LARGE: u32 = 128;
/// If scattered writes take less than this fraction of a read on average, they are not written to their final
/// places: an arm that sorts them needs a fifth.
const ELSEWHERE_PART: f64 = 0.05;
const TRIES: usize = 15;
/// Idle time after a flush.
const IDLE_MS: u64 = 50;
/// Maximum number of scattered writes in a burst: current drives cache fewer.
const BURST_MAX: usize = 8192;
/// Number of bursts; the median counts.
const BURSTS: usize = 5;
/// Sizes of scattered writes for measuring the cache's capacity, in sectors, smallest first.
const SIZES: [u32; 4] = [64, 256, 1024, 2048];
/// If the cache takes fewer writes than this fraction of small ones, it is full by size and not by number.
const FULL_BY_SIZE: f64 = 0.8;
/// Random writes per call at one depth, starting from an empty cache, and their minimum duration, which is that of
/// the runs that models are compared with.
const RANDOM: usize = 2000;
const RANDOM_S: f64 = 60.0;
const DEPTHS: [u32; 2] = [1, 32];
/// Scattered writes before a flush.
const BEFORE_FLUSH: [u32; 2] = [8, 32];
const FLUSHES: usize = 25;
const SYNCS: usize = 500;
/// Sectors per stream request, requests until the cache is full, and requests that are timed.
const STREAM_SECTORS: u32 = 2048;
const STREAM_WARM: usize = 400;
const STREAM_COUNTED: usize = 400;
/// Where on the disk streams are written: 0 is the first sector, 1 the last.
const PLACES: [f64; 3] = [0.0, 0.5, 1.0];

/// Results of writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Writes {
    /// Writes are acknowledged before they are on the media.
    pub is_cached: bool,
    /// Median time of a random small write with an idle drive.
    pub small_ms: f64,
    /// Rate of the interface, from cached writes of two sizes, in 10^6 bytes a second.
    pub interface_mb_s: Option<f64>,
    /// Scattered small writes that the cache holds.
    pub extents: Option<u32>,
    /// Sectors that the cache holds.
    pub sectors: Option<u32>,
    /// Random small writes for a minute, starting with an empty cache.
    pub random: Vec<Depth>,
    /// Time of a random small write and a flush together.
    pub sync_ms: f64,
    pub flushes: Vec<Flush>,
    pub streams: Vec<Stream>,
}

/// Mean time of a flush.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flush {
    /// Scattered small writes before it.
    pub writes: u32,
    pub ms: f64,
}

/// A stream of writes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// 0 is the first sector, 1 the last.
    pub place: f64,
    /// 10^6 bytes a second.
    pub mb_s: f64,
}

pub fn measure(target: &mut dyn Writable, cache: &CacheTimes, random: &mut Random) -> Result<Writes, Error> {
    let mut probe = Probe {
        cached_max_ms: cache.miss_ms * CACHED_PART,
        target,
        random,
    };
    let small_ms = probe.idle_write_ms(SMALL)?;
    let is_cached = small_ms < probe.cached_max_ms;
    let mut found = Writes {
        is_cached,
        small_ms,
        interface_mb_s: None,
        extents: None,
        sectors: None,
        random: probe.random_writes()?,
        sync_ms: probe.sync_ms()?,
        flushes: Vec::new(),
        streams: probe.streams()?,
    };
    if is_cached {
        found.interface_mb_s = probe.interface_mb_s(small_ms)?;
        found.extents = probe.capacity(SMALL)?;
        found.sectors = probe.sectors(found.extents)?;
        found.flushes = probe.flushes(found.extents)?;
    }
    Ok(found)
}

impl Writes {
    /// Whether scattered writes are first written sequentially elsewhere: to the cache zone of an SMR drive, or to
    /// flash. No arm could write this many per second to their places.
    pub fn go_elsewhere(&self, cache: &CacheTimes) -> bool {
        let each_ms = self.random.first().map_or(f64::INFINITY, |depth| 1e3 / depth.per_s);
        self.is_cached && each_ms < cache.miss_ms * ELSEWHERE_PART
    }

    /// Command overhead of a write.
    pub fn command_ms(&self) -> f64 {
        let rate = self.interface_mb_s.unwrap_or(f64::INFINITY);
        (self.small_ms - f64::from(SMALL) * SECTOR_BYTES / rate / 1e3).max(0.0)
    }
}

struct Probe<'a> {
    target: &'a mut dyn Writable,
    random: &'a mut Random,
    cached_max_ms: f64,
}

impl Probe<'_> {
    /// A random place, aligned to 4 KiB.
    fn place(&mut self, sectors: u32) -> Extent {
        let room = (self.target.sectors() - u64::from(sectors)) / 8;
        Extent {
            sector: self.random.below(room) * 8,
            sectors,
        }
    }

    fn places(&mut self, sectors: u32, count: usize) -> Vec<Extent> {
        (0..count).map(|_| self.place(sectors)).collect()
    }

    fn write(&mut self, extent: Extent) -> Result<Timing, Error> {
        let timings = self.target.write(&[extent], 1)?;
        timings
            .first()
            .copied()
            .ok_or_else(|| Error::Stopped("a write ended without a time".to_owned()))
    }

    /// Empties the cache.
    fn idle(&mut self) -> Result<(), Error> {
        self.target.flush()?;
        self.target.pause(IDLE_MS);
        Ok(())
    }

    fn idle_write_ms(&mut self, sectors: u32) -> Result<f64, Error> {
        let mut times = Vec::new();
        for _ in 0..TRIES {
            self.idle()?;
            let place = self.place(sectors);
            times.push(self.write(place)?.ms());
        }
        Ok(median(times))
    }

    fn interface_mb_s(&mut self, small_ms: f64) -> Result<Option<f64>, Error> {
        let large_ms = self.idle_write_ms(LARGE)?;
        let is_cached = large_ms < self.cached_max_ms && large_ms > small_ms;
        Ok(is_cached.then(|| f64::from(LARGE - SMALL) * SECTOR_BYTES / (large_ms - small_ms) / 1e3))
    }

    /// Number of scattered writes of this size that the cache holds: those before the first one that had to wait,
    /// less those written to the media meanwhile. `None` if the drive takes more than were tried.
    fn capacity(&mut self, sectors: u32) -> Result<Option<u32>, Error> {
        // Transfer time is not waiting time.
        let wire_ms = self.idle_write_ms(sectors)?;
        let mut taken = Vec::new();
        for _ in 0..BURSTS {
            match self.burst(sectors, wire_ms + self.cached_max_ms)? {
                Some(writes) => taken.push(writes),
                None => return Ok(None),
            }
        }
        Ok(Some(median(taken).round() as u32))
    }

    /// One burst: the number of cached writes when one had to wait.
    fn burst(&mut self, sectors: u32, taken_max_ms: f64) -> Result<Option<f64>, Error> {
        self.idle()?;
        let first = self.place(sectors);
        let from_ns = self.write(first)?.from_ns;
        let mut taken = 1_usize;
        while taken < BURST_MAX {
            let place = self.place(sectors);
            let timing = self.write(place)?;
            if timing.ms() > taken_max_ms {
                // The drain rate, measured by further writes.
                let more = (taken / 2).clamp(8, 64);
                let places = self.places(sectors, more);
                let slow = self.target.write(&places, 1)?;
                let end_ns = slow.last().map_or(timing.to_ns, |last| last.to_ns);
                let each_ms = (end_ns - timing.to_ns) as f64 / 1e6 / more as f64;
                let took_ms = timing.from_ns.saturating_sub(from_ns) as f64 / 1e6;
                return Ok(Some((taken as f64 - took_ms / each_ms.max(1e-3)).max(1.0)));
            }
            taken += 1;
        }
        Ok(None)
    }

    /// The capacity in sectors, from the smallest writes that fill the cache by size and not by number.
    fn sectors(&mut self, extents: Option<u32>) -> Result<Option<u32>, Error> {
        let number = extents.map_or(f64::INFINITY, f64::from);
        for size in SIZES {
            if let Some(taken) = self.capacity(size)?
                && f64::from(taken) < number * FULL_BY_SIZE
            {
                return Ok(Some(taken * size));
            }
        }
        Ok(None)
    }

    fn random_writes(&mut self) -> Result<Vec<Depth>, Error> {
        let mut found = Vec::new();
        for depth in DEPTHS {
            self.idle()?;
            let (mut timings, mut took_s) = (Vec::new(), 0.0);
            while took_s < RANDOM_S {
                let places = self.places(SMALL, RANDOM);
                let more = self.target.write(&places, depth)?;
                took_s += span_s(&more);
                timings.extend(more);
            }
            found.push(Depth::of(depth, &timings));
        }
        Ok(found)
    }

    fn sync_ms(&mut self) -> Result<f64, Error> {
        self.idle()?;
        let mut times = Vec::new();
        for _ in 0..SYNCS {
            let place = self.place(SMALL);
            times.push(self.write(place)?.ms() + self.target.flush()?.ms());
        }
        Ok(mean(&times))
    }

    fn flushes(&mut self, extents: Option<u32>) -> Result<Vec<Flush>, Error> {
        let most = extents.unwrap_or(u32::MAX);
        let mut found = Vec::new();
        for writes in BEFORE_FLUSH.into_iter().filter(|writes| *writes <= most) {
            let mut times = Vec::new();
            for _ in 0..FLUSHES {
                let places = self.places(SMALL, writes as usize);
                self.target.write(&places, 1)?;
                times.push(self.target.flush()?.ms());
            }
            let ms = mean(&times);
            found.push(Flush { writes, ms });
        }
        Ok(found)
    }

    /// Two requests in flight, as for the streams in the catalogue.
    fn streams(&mut self) -> Result<Vec<Stream>, Error> {
        let all = self.target.sectors() / u64::from(STREAM_SECTORS);
        let wanted = (STREAM_WARM + STREAM_COUNTED) as u64;
        let count = wanted.min(all);
        let warm = (count / 2) as usize;
        let mut found = Vec::new();
        for place in PLACES {
            self.idle()?;
            let first = ((all - count) as f64 * place) as u64 * u64::from(STREAM_SECTORS);
            let extent = |i: u64| Extent {
                sector: first + i * u64::from(STREAM_SECTORS),
                sectors: STREAM_SECTORS,
            };
            let stream: Vec<Extent> = (0..count).map(extent).collect();
            let timings = self.target.write(&stream, 2)?;
            let from_ns = timings.get(warm).map_or(0, |timing| timing.to_ns);
            let to_ns = timings.last().map_or(0, |timing| timing.to_ns);
            let sectors = count.saturating_sub(warm as u64 + 1) * u64::from(STREAM_SECTORS);
            let mb_s = sectors as f64 * SECTOR_BYTES / to_ns.saturating_sub(from_ns).max(1) as f64 * 1e3;
            found.push(Stream { place, mb_s });
        }
        Ok(found)
    }
}
