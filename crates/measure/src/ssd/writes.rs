//! Writes to an SSD: buffer hits, random writes in a steady state, flushes, and streams long enough to fill an SLC
//! cache.

use super::{Filled, STREAM_DEPTH, STREAM_SECTORS, Size, SsdLimits, stream};
use crate::queue_depth::{Depth, span_s};
use crate::random::Random;
use crate::writes::Flush;
use crate::{Error, Extent, RequestKind, SECTOR_BYTES, SMALL, Timing, Writable, mean, median};
use serde::{Deserialize, Serialize};

/// Idle time before each write that is timed individually.
const IDLE_MS: u64 = 100;
/// Long enough for the drive to empty an SLC cache.
const LONG_IDLE_MS: u64 = 60_000;
const TRIES: usize = 25;
/// Sizes of writes into the buffer of an idle drive, in sectors.
const HITS: [u32; 3] = [8, 32, 128];
/// Writes of a burst into the buffer, and its queue depth.
const BURST: usize = 64;
const BURST_DEPTH: u32 = 32;
/// Depths of random writes, deepest first, so that the buffer stays full.
pub(crate) const DEPTHS: [u32; 3] = [32, 4, 1];
/// Random writes per call.
const CHUNK: usize = 4096;
/// Steady state: the number of rounds, and the largest range and slope of their rates relative to the mean (SNIA
/// PTS).
const ROUNDS: usize = 5;
const RANGE_PART: f64 = 0.2;
const SLOPE_PART: f64 = 0.1;
const ROUND_S_MAX: f64 = 60.0;
/// One in this many requests is a read, and the queue depth.
const READ_EVERY: usize = 8;
const MIXED_DEPTH: u32 = 8;
const SYNCS: usize = 512;
/// Scattered writes before a flush.
const BEFORE_FLUSH: [u32; 2] = [32, 1024];
const FLUSHES: usize = 16;
/// A stream of 1 MiB reads, and 4 KiB writes after each of them.
const SHARED_READS: usize = 64;
const SHARED_WRITES: usize = 32;
const SHARED_DEPTH: u32 = 16;
const SHARED_TRIES: usize = 9;
/// Bursts that fill the buffer: up to 256 MiB in requests of 64 KiB, after an idle time.
const FILL_SECTORS: u32 = 128;
const FILL: usize = 4096;
const FILLS: usize = 9;
const FILL_IDLE_MS: u64 = 2000;
/// Requests over which the rate is averaged: while the buffer fills and where it is full (`FAST`), and afterwards
/// (`AFTER`).
const FAST: usize = 16;
const AFTER: usize = 128;
/// The buffer is full where writes are slower by this ratio.
const SLOWER: f64 = 1.7;
/// Stream requests per data point: 128 MiB.
const WINDOW: usize = 128;
/// Streams, each after an idle time: their mean evens out garbage collection.
const STREAMS: usize = 4;
/// Windows at the start that the buffer may have absorbed.
const BUFFERED: usize = 2;
/// A drop in the rate: the smallest ratio, the smallest number of standard errors, and the smallest number of
/// windows on either side.
const DROP: f64 = 1.06;
const DROP_ERRORS: f64 = 3.0;
const SIDE_MIN: usize = 8;

/// Results of writes to an SSD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdWrites {
    /// Times of writes into the buffer of an idle drive.
    pub hits: Vec<Size>,
    /// Additional time per write in a burst into the buffer at depth 32.
    pub burst_each_ms: f64,
    /// Times of a flush with nothing to write, and after a single 4 KiB write.
    pub flush_idle_ms: f64,
    pub flush_one_ms: f64,
    pub steady: Steady,
    /// Random 4 KiB writes in the steady state.
    pub random: Vec<Depth>,
    /// Mean time of random 4 KiB reads mixed with seven times as many writes.
    pub mixed_read_ms: f64,
    /// Time of a random 4 KiB write and a flush together.
    pub sync_ms: f64,
    pub flushes: Vec<Flush>,
    /// Writes slow down a stream of reads by their transfer time (half duplex).
    pub shares_wire: bool,
    /// Absent if no buffer was detected.
    pub buffer: Option<Buffering>,
    /// Rate at the end of a stream of writes, in 10^6 bytes a second.
    pub stream_mb_s: f64,
    /// Absent if the rate of this stream did not drop.
    pub slc: Option<SlcCache>,
}

/// Random 4 KiB writes over the whole disk at depth 32, until their rate is steady.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Writes per second.
    pub rounds: Vec<f64>,
    pub is_steady: bool,
    pub seconds: f64,
}

/// The drive's write buffer, which is faster than the flash.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Buffering {
    pub sectors: u32,
}

/// An SLC cache: the rate of a stream drops when it is full.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlcCache {
    /// Data written until then, in 10^9 bytes.
    pub gb: f64,
    pub before_mb_s: f64,
    pub after_mb_s: f64,
}

impl SsdWrites {
    /// A flush does not wait for the flash (power-loss protection).
    pub fn is_protected(&self) -> bool {
        self.flush_one_ms < self.flush_idle_ms + 0.1
    }
}

pub(crate) fn measure(
    target: &mut dyn Writable,
    filled: &Filled,
    limits: &SsdLimits,
    random: &mut Random,
) -> Result<SsdWrites, Error> {
    let mut probe = Probe { target, random };
    let hits = probe.hits()?;
    let burst_each_ms = probe.burst_each_ms(hits.first().map_or(0.0, |hit| hit.ms))?;
    let (flush_idle_ms, flush_one_ms) = probe.single_flushes()?;
    let steady = probe.steady(limits.condition_s)?;
    let random = probe.random(limits.random_s)?;
    let mixed_read_ms = probe.mixed_read_ms(limits.random_s, usize::MAX)?;
    let sync_ms = probe.sync_ms()?;
    let flushes = probe.flushes()?;
    let shares_wire = probe.shares_wire(wire_us(&hits))?;
    let buffer = probe.buffer()?;
    let (stream_mb_s, slc) = probe.stream(filled.sectors, limits.stream_s)?;
    Ok(SsdWrites {
        hits,
        burst_each_ms,
        flush_idle_ms,
        flush_one_ms,
        steady,
        random,
        mixed_read_ms,
        sync_ms,
        flushes,
        shares_wire,
        buffer,
        stream_mb_s,
        slc,
    })
}

pub(crate) struct Probe<'a> {
    pub(crate) target: &'a mut dyn Writable,
    pub(crate) random: &'a mut Random,
}

impl Probe<'_> {
    /// A random place, aligned to the request's size.
    fn place(&mut self, sectors: u32) -> Extent {
        let size = u64::from(sectors);
        Extent {
            sector: self.random.below(self.target.sectors() / size) * size,
            sectors,
        }
    }

    fn places(&mut self, sectors: u32, count: usize) -> Vec<Extent> {
        (0..count).map(|_| self.place(sectors)).collect()
    }

    /// Empties the buffer.
    fn idle(&mut self) -> Result<(), Error> {
        self.target.flush()?;
        self.target.pause(IDLE_MS);
        Ok(())
    }

    fn hits(&mut self) -> Result<Vec<Size>, Error> {
        let mut found = Vec::new();
        for sectors in HITS {
            let mut times = Vec::new();
            for _ in 0..TRIES {
                self.idle()?;
                let places = self.places(sectors, 1);
                times.extend(self.target.write(&places, 1)?.iter().map(|timing| timing.ms()));
            }
            let ms = median(times);
            found.push(Size { sectors, ms });
        }
        Ok(found)
    }

    fn burst_each_ms(&mut self, hit_ms: f64) -> Result<f64, Error> {
        let mut times = Vec::new();
        for _ in 0..TRIES {
            self.idle()?;
            let places = self.places(SMALL, BURST);
            let took_ms = span_s(&self.target.write(&places, BURST_DEPTH)?) * 1e3;
            times.push((took_ms - hit_ms) / (BURST - 1) as f64);
        }
        Ok(median(times).max(0.0))
    }

    /// Flushes with nothing to write, and after a single write.
    fn single_flushes(&mut self) -> Result<(f64, f64), Error> {
        let (mut idle, mut one) = (Vec::new(), Vec::new());
        for _ in 0..TRIES {
            self.idle()?;
            idle.push(self.target.flush()?.ms());
            let places = self.places(SMALL, 1);
            self.target.write(&places, 1)?;
            one.push(self.target.flush()?.ms());
        }
        Ok((median(idle), median(one)))
    }

    fn steady(&mut self, limit_s: f64) -> Result<Steady, Error> {
        let round_s = (limit_s / (4 * ROUNDS) as f64).min(ROUND_S_MAX);
        let mut found = Steady {
            rounds: Vec::new(),
            is_steady: false,
            seconds: 0.0,
        };
        while !found.is_steady && found.seconds < limit_s {
            let timings = self.random_writes(DEPTHS[0], round_s, usize::MAX)?;
            let took_s = span_s(&timings);
            found.seconds += took_s;
            found.rounds.push(timings.len() as f64 / took_s);
            found.is_steady =
                found.rounds.len() >= ROUNDS && is_steady(&found.rounds[found.rounds.len() - ROUNDS..]);
        }
        Ok(found)
    }

    /// Runs for this many seconds or this many writes, whichever is first.
    pub(crate) fn random_writes(&mut self, depth: u32, seconds: f64, count: usize) -> Result<Vec<Timing>, Error> {
        let (mut timings, mut took_s) = (Vec::new(), 0.0);
        while took_s < seconds && timings.len() < count {
            let places = self.places(SMALL, CHUNK.min(count - timings.len()));
            let more = self.target.write(&places, depth)?;
            took_s += span_s(&more);
            timings.extend(more);
        }
        Ok(timings)
    }

    /// Writes `count` requests at the deepest queue.
    pub(crate) fn warm(&mut self, count: usize) -> Result<(), Error> {
        self.random_writes(DEPTHS[0], f64::INFINITY, count)?;
        Ok(())
    }

    /// Only the second half of the writes at each depth counts.
    fn random(&mut self, seconds: f64) -> Result<Vec<Depth>, Error> {
        let mut found = Vec::new();
        for depth in DEPTHS {
            let timings = self.random_writes(depth, seconds, usize::MAX)?;
            found.push(Depth::of(depth, timings.get(timings.len() / 2..).unwrap_or_default()));
        }
        Ok(found)
    }

    /// Runs for this many seconds or this many requests, whichever is first.
    pub(crate) fn mixed_read_ms(&mut self, seconds: f64, count: usize) -> Result<f64, Error> {
        let op = |index: usize| match index.is_multiple_of(READ_EVERY) {
            true => RequestKind::Read,
            false => RequestKind::Write,
        };
        let (mut reads, mut took_s, mut done) = (Vec::new(), 0.0, 0);
        while took_s < seconds && done < count {
            let requests: Vec<(RequestKind, Extent)> =
                (0..CHUNK).map(|index| (op(index), self.place(SMALL))).collect();
            let timings = self.target.mix(&requests, MIXED_DEPTH)?;
            took_s += span_s(&timings);
            done += timings.len();
            reads.extend(timings.iter().step_by(READ_EVERY).map(|timing| timing.ms()));
        }
        Ok(mean(&reads))
    }

    fn sync_ms(&mut self) -> Result<f64, Error> {
        self.idle()?;
        let mut times = Vec::new();
        for _ in 0..SYNCS {
            let places = self.places(SMALL, 1);
            let writes = self.target.write(&places, 1)?;
            let write_ms: f64 = writes.iter().map(|timing| timing.ms()).sum();
            times.push(write_ms + self.target.flush()?.ms());
        }
        Ok(mean(&times))
    }

    fn flushes(&mut self) -> Result<Vec<Flush>, Error> {
        let mut found = Vec::new();
        for writes in BEFORE_FLUSH {
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

    /// Whether writes slow down a stream of reads by their transfer time. `write_us`: transfer time of a write's
    /// data.
    fn shares_wire(&mut self, write_us: f64) -> Result<bool, Error> {
        let mut longer = Vec::new();
        for _ in 0..SHARED_TRIES {
            let mut took_us = [0.0, 0.0];
            for (writes, took_us) in [0, SHARED_WRITES].into_iter().zip(&mut took_us) {
                self.idle()?;
                let mut requests = Vec::new();
                for read in stream(self.target.sectors(), 0, SHARED_READS) {
                    requests.push((RequestKind::Read, read));
                    requests.extend((0..writes).map(|_| (RequestKind::Write, self.place(SMALL))));
                }
                *took_us = span_s(&self.target.mix(&requests, SHARED_DEPTH)?) * 1e6;
            }
            let [alone, mixed] = took_us;
            longer.push(mixed - alone);
        }
        Ok(median(longer) > 0.5 * write_us * (SHARED_READS * SHARED_WRITES) as f64)
    }

    /// Detects a write buffer.
    fn buffer(&mut self) -> Result<Option<Buffering>, Error> {
        let mut found = Vec::new();
        for _ in 0..FILLS {
            self.target.flush()?;
            self.target.pause(FILL_IDLE_MS);
            let places = self.places(FILL_SECTORS, FILL);
            let timings = self.target.write(&places, STREAM_DEPTH)?;
            let mut ends_ns: Vec<u64> = timings.iter().map(|timing| timing.to_ns).collect();
            ends_ns.sort_unstable();
            found.extend(buffered(&ends_ns));
        }
        let is_seen = 2 * found.len() > FILLS;
        Ok(is_seen.then(|| Buffering {
            sectors: (median(found) * f64::from(FILL_SECTORS)).round() as u32,
        }))
    }

    /// Rate of a stream of `units` × 4 KiB from the first sector, in 10^6 bytes a second.
    pub(crate) fn stream_mb_s(&mut self, units: usize) -> Result<f64, Error> {
        let per = (STREAM_SECTORS / SMALL) as usize;
        let requests = stream(self.target.sectors(), 0, units.div_ceil(per));
        let took_s = span_s(&self.target.write(&requests, STREAM_DEPTH)?);
        Ok(requests.len() as f64 * f64::from(STREAM_SECTORS) * SECTOR_BYTES / 1e6 / took_s)
    }

    /// The rate at the end of the streams, and its drop.
    fn stream(&mut self, from: u64, limit_s: f64) -> Result<(f64, Option<SlcCache>), Error> {
        let (mut streams, mut next) = (Vec::new(), from);
        for _ in 0..STREAMS {
            self.target.flush()?;
            self.target.pause(LONG_IDLE_MS);
            let mut took_s = Vec::new();
            while took_s.iter().sum::<f64>() < limit_s / STREAMS as f64 {
                let window = stream(self.target.sectors(), next, WINDOW);
                took_s.push(span_s(&self.target.write(&window, STREAM_DEPTH)?));
                next = (next + WINDOW as u64 * u64::from(STREAM_SECTORS)) % self.target.sectors();
            }
            streams.push(took_s);
        }
        if let Some(slc) = drop_of(&streams) {
            return Ok((slc.after_mb_s, Some(slc)));
        }
        let later = |took_s: &Vec<f64>| mean(took_s.get(took_s.len() / 2..).unwrap_or_default());
        let window_s = mean(&streams.iter().map(later).collect::<Vec<f64>>());
        Ok((mb_s(window_s), None))
    }
}

/// Capacity of the buffer in requests, from all completion times: those until writes become slower, less those
/// written out meanwhile.
fn buffered(ends_ns: &[u64]) -> Option<f64> {
    // Nanoseconds per request, starting at request `from`.
    let each = |from: usize, count: usize| {
        let (first, last) = ends_ns.get(from).zip(ends_ns.get(from + count))?;
        Some((last - first) as f64 / count as f64)
    };
    let fast = each(FAST, FAST)?;
    let full = (FAST..ends_ns.len()).find(|&from| each(from, FAST).is_some_and(|slow| slow > SLOWER * fast))?;
    let slow = each(full, AFTER)?;
    (slow > SLOWER * fast).then(|| full as f64 * (1.0 - fast / slow))
}

/// Rate in 10^6 bytes a second, from the duration of a window.
fn mb_s(window_s: f64) -> f64 {
    window_gb() * 1e3 / window_s.max(1e-9)
}

/// Transfer time of a 4 KiB write's data, in microseconds, from the difference between sizes.
pub(crate) fn wire_us(hits: &[Size]) -> f64 {
    let Some((small, large)) = hits.first().zip(hits.last()) else {
        return 0.0;
    };
    let sectors = f64::from(large.sectors.saturating_sub(small.sectors).max(1));
    ((large.ms - small.ms) * 1e3 / sectors).max(0.0) * f64::from(SMALL)
}

fn window_gb() -> f64 {
    WINDOW as f64 * f64::from(STREAM_SECTORS) * SECTOR_BYTES / 1e9
}

/// SNIA PTS: the rates of five rounds are within 20 % of their mean, and their line of best fit rises or falls by
/// at most 10 % of it.
fn is_steady(rounds: &[f64]) -> bool {
    let (count, middle) = (rounds.len() as f64, (rounds.len() as f64 - 1.0) / 2.0);
    let average = mean(rounds);
    let (least, most) = rounds.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &rate| {
        (least.min(rate), most.max(rate))
    });
    let places = || (0..rounds.len()).map(|index| index as f64 - middle);
    let covariance: f64 = places().zip(rounds).map(|(x, rate)| x * rate).sum();
    let slope = covariance / places().map(|x| x * x).sum::<f64>().max(1e-9);
    most - least <= RANGE_PART * average && (slope * (count - 1.0)).abs() <= SLOPE_PART * average
}

/// Finds where the rate of the streams drops once, from the durations of their windows.
fn drop_of(streams: &[Vec<f64>]) -> Option<SlcCache> {
    let windows = streams.iter().map(Vec::len).min()?;
    let streams: Vec<&[f64]> = streams
        .iter()
        .filter_map(|took_s| took_s.get(BUFFERED..windows))
        .collect();
    let count = windows.saturating_sub(BUFFERED);
    let even: Vec<f64> = (0..count)
        .map(|window| mean(&streams.iter().map(|took_s| took_s[window]).collect::<Vec<f64>>()))
        .collect();
    // Fits two lines to the amount written over time; garbage collection only oscillates around them.
    let mut best: Option<(f64, usize)> = None;
    for split in SIDE_MIN..count.saturating_sub(SIDE_MIN) {
        let (before, after) = even.split_at(split);
        let off = swing(before) + swing(after);
        if best.is_none_or(|(least, _)| off < least) {
            best = Some((off, split));
        }
    }
    let (_, split) = best?;
    let halves = |took_s: &[f64]| (mean(&took_s[..split]), mean(&took_s[split..]));
    let longer: Vec<f64> = streams
        .iter()
        .map(|took_s| {
            let (before, after) = halves(took_s);
            after - before
        })
        .collect();
    let average = mean(&longer);
    let variance = longer.iter().map(|one| (one - average).powi(2)).sum::<f64>() / (longer.len().max(2) - 1) as f64;
    let error = (variance / longer.len() as f64).sqrt();
    let (before, after) = halves(&even);
    let is_drop = after > DROP * before && average > DROP_ERRORS * error;
    is_drop.then(|| SlcCache {
        gb: (split + BUFFERED) as f64 * window_gb(),
        before_mb_s: mb_s(before),
        after_mb_s: mb_s(after),
    })
}

/// Sum of squared deviations of the cumulative time from a straight line between its ends.
fn swing(took_s: &[f64]) -> f64 {
    let average = mean(took_s);
    let mut ahead = 0.0;
    let squares = took_s.iter().map(|took_s| {
        ahead += took_s - average;
        ahead * ahead
    });
    squares.sum()
}

#[cfg(test)]
mod tests;
