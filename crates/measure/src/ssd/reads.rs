//! Reads of an SSD: random ones by depth and by size, and streams.

use super::{STREAM_SECTORS, stream};
use crate::queue_depth::{Depth, span_s};
use crate::random::Random;
use crate::{Error, Extent, ReadableDisk, SECTOR_BYTES, Timing, median, quantile, small};
use serde::{Deserialize, Serialize};

pub(crate) const DEPTHS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Reads at each depth, and at least this many per request in flight.
const READS: usize = 8000;
const READS_EACH: usize = 128;
/// Sizes in sectors: 4 KiB to 1 MiB.
pub(crate) const SIZES: [u32; 9] = [8, 16, 32, 64, 128, 256, 512, 1024, 2048];
const READS_OF_SIZE: usize = 200;
/// Smallest and largest size, in sectors, from which the channel rate is computed: within a page on every drive.
const WITHIN_PAGE: (u32, u32) = (8, 32);
/// Pairs of reads: the largest distance in programs, and the number of pairs at each distance.
const STRIDES: usize = 512;
const PAIRS: usize = 12;
/// The fastest fifth counts, which contains no slow pages.
const PAIRS_PART: f64 = 0.2;
/// Two reads from the same die take longer than from two dies by this ratio.
const CONFLICT: f64 = 1.2;
/// Required fraction of the multiples of a distance at which reads conflict.
const CONFLICTS_PART: f64 = 0.8;
/// Stream requests in flight.
const STREAM_DEPTHS: [u32; 2] = [2, 8];
const STREAM_REQUESTS: usize = 800;

/// Times of random 4 KiB reads at depth 1, in milliseconds. With TLC flash, a third of the pages may be slower.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The lower third.
    pub low_ms: f64,
    /// The upper sixth.
    pub high_ms: f64,
}

/// Median time of random requests of one size at depth 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Size {
    pub sectors: u32,
    pub ms: f64,
}

/// Reads by size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfers {
    pub sizes: Vec<Size>,
    /// The fastest stream of reads, in 10^6 bytes a second.
    pub stream_mb_s: f64,
    /// Absent if reads conflict at no distance.
    pub dies: Option<Dies>,
}

/// Number of dies that the drive writes to in turn: reads at a distance of this many programs use the same die.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dies {
    pub count: u32,
    /// Additional time of two simultaneous reads from the same die.
    pub wait_ms: f64,
}

/// Results of reads by size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Program {
    /// Transfer time of a sector between die and controller, in microseconds.
    pub(crate) sector_us: f64,
    /// Data that is programmed at once on one die.
    pub(crate) sectors: u32,
}

impl Program {
    /// Within a program, a larger read takes longer on the channel and the link; beyond it only on the link,
    /// because its parts come from several dies.
    pub(crate) fn of(sizes: &[Size], wire_mb_s: f64) -> Option<Self> {
        let us = |sectors: u32| {
            let size = sizes.iter().find(|size| size.sectors == sectors);
            size.map(|size| size.ms * 1e3 - f64::from(sectors) * SECTOR_BYTES / wire_mb_s)
        };
        let (small, large) = us(WITHIN_PAGE.0).zip(us(WITHIN_PAGE.1))?;
        let sector_us = (large - small) / f64::from(WITHIN_PAGE.1 - WITHIN_PAGE.0);
        let mut sectors = WITHIN_PAGE.1;
        while let (Some(one), Some(two)) = (us(sectors), us(2 * sectors)) {
            if two - one < 0.5 * sector_us * f64::from(sectors) {
                break;
            }
            sectors *= 2;
        }
        (sector_us > 0.0).then_some(Program { sector_us, sectors })
    }
}

/// Random 4 KiB reads in the first `region` sectors.
pub(crate) fn ladder(
    target: &mut dyn ReadableDisk,
    region: u64,
    random: &mut Random,
) -> Result<(Vec<Depth>, Spread), Error> {
    let mut found = Vec::new();
    let mut spread = Spread {
        low_ms: 0.0,
        high_ms: 0.0,
    };
    for depth in DEPTHS {
        let count = READS.max(depth as usize * READS_EACH);
        let timings = at_depth(target, region, random, depth, count)?;
        if depth == 1 {
            let times = || timings.iter().map(|timing| timing.ms()).collect();
            spread = Spread {
                low_ms: quantile(times(), 1.0 / 3.0),
                high_ms: quantile(times(), 5.0 / 6.0),
            };
        }
        found.push(Depth::of(depth, &timings));
    }
    Ok((found, spread))
}

pub(crate) fn at_depth(
    target: &mut dyn ReadableDisk,
    region: u64,
    random: &mut Random,
    depth: u32,
    count: usize,
) -> Result<Vec<Timing>, Error> {
    let reads: Vec<Extent> = (0..count).map(|_| small(random.below(region / 8) * 8)).collect();
    target.read(&reads, depth)
}

pub(crate) fn transfers(
    target: &mut dyn ReadableDisk,
    region: u64,
    random: &mut Random,
) -> Result<Transfers, Error> {
    let sizes = sizes(target, region, random, READS_OF_SIZE)?;
    let mut stream_mb_s: f64 = 0.0;
    for depth in STREAM_DEPTHS {
        stream_mb_s = stream_mb_s.max(streamed(target, region, depth)?);
    }
    let dies = match Program::of(&sizes, stream_mb_s) {
        Some(program) => dies(target, region, random, program)?,
        None => None,
    };
    Ok(Transfers {
        sizes,
        stream_mb_s,
        dies,
    })
}

/// Pairs of simultaneous reads at all distances.
fn dies(
    target: &mut dyn ReadableDisk,
    region: u64,
    random: &mut Random,
    program: Program,
) -> Result<Option<Dies>, Error> {
    let size = u64::from(program.sectors);
    let mut times = Vec::new();
    for stride in 1..=STRIDES as u64 {
        let mut of_stride = Vec::new();
        for _ in 0..PAIRS {
            let at = random.below(region / size - stride) * size;
            let pair = [small(at), small(at + stride * size)];
            of_stride.push(span_s(&target.read(&pair, 2)?) * 1e3);
        }
        times.push(quantile(of_stride, PAIRS_PART));
    }
    let usual_ms = median(times.clone());
    let of_multiples =
        |count: usize| -> Vec<f64> { times.iter().skip(count - 1).step_by(count).copied().collect() };
    let waits = |count: &usize| {
        let multiples = of_multiples(*count);
        let waiting = multiples.iter().filter(|ms| **ms > CONFLICT * usual_ms).count();
        waiting as f64 >= CONFLICTS_PART * multiples.len() as f64
    };
    Ok((2..=STRIDES / 2).find(waits).map(|count| Dies {
        count: count as u32,
        wait_ms: median(of_multiples(count)) - usual_ms,
    }))
}

/// Random reads of each size, aligned to their size.
pub(crate) fn sizes(
    target: &mut dyn ReadableDisk,
    region: u64,
    random: &mut Random,
    count: usize,
) -> Result<Vec<Size>, Error> {
    let mut found = Vec::new();
    for sectors in SIZES {
        let size = u64::from(sectors);
        let extent = |random: &mut Random| Extent {
            sector: random.below(region / size) * size,
            sectors,
        };
        let reads: Vec<Extent> = (0..count).map(|_| extent(random)).collect();
        let timings = target.read(&reads, 1)?;
        let ms = median(timings.iter().map(|timing| timing.ms()).collect());
        found.push(Size { sectors, ms });
    }
    Ok(found)
}

/// Rate of a stream from the first sector, in 10^6 bytes a second.
fn streamed(target: &mut dyn ReadableDisk, region: u64, depth: u32) -> Result<f64, Error> {
    let timings = target.read(&stream(region, 0, STREAM_REQUESTS), depth)?;
    let bytes = timings.len() as f64 * f64::from(STREAM_SECTORS) * SECTOR_BYTES;
    Ok(bytes / 1e6 / span_s(&timings))
}
