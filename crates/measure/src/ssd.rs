//! A disk without rotation. What is found of it: random reads by depth, reads by size, streams; if its contents may be
//! lost it is filled first, and writes, flushes and its caches are measured, too.

mod fill;
pub(crate) mod reads;
pub(crate) mod writes;

pub use fill::Filled;
pub(crate) use fill::fill;
pub use reads::{Dies, Size, Spread, Transfers};
pub use writes::{Buffering, SlcCache, SsdWrites, Steady};

use crate::{Extent, SECTORS_MIN};
use serde::{Deserialize, Serialize};

/// 1 MiB, a request of streams.
pub(crate) const STREAM_SECTORS: u32 = 2048;
/// Requests of a stream that are under way: enough that no drive waits for the next one.
pub(crate) const STREAM_DEPTH: u32 = 8;

/// How long an SSD is written. None of it is needed for the platters of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Seconds for filling it in order, and as many for random writes until it is in a steady state.
    pub condition_s: f64,
    /// Seconds of random writes at each depth.
    pub random_s: f64,
    /// Seconds of the streams of writes by which an SLC cache is looked for.
    pub stream_s: f64,
}

impl Limits {
    /// With so many seconds for bringing it to a known state.
    pub fn of(condition_s: f64) -> Self {
        Limits {
            condition_s,
            random_s: 60.0,
            stream_s: 180.0,
        }
    }
}

/// What was found of an SSD.
#[derive(Clone, Debug, PartialEq)]
pub struct Ssd {
    /// Absent if the disk was only read.
    pub filled: Option<Filled>,
    pub spread: Spread,
    pub transfers: Transfers,
    /// Absent if the disk was only read.
    pub writes: Option<SsdWrites>,
}

/// The sectors that are read: those that were filled, unless they are too few. What was never written is not read from
/// flash.
pub(crate) fn region(sectors: u64, filled: Option<&Filled>) -> u64 {
    let written = filled.map_or(sectors, |filled| filled.sectors);
    if written < SECTORS_MIN { sectors } else { written }
}

/// Requests of a stream from a sector on; it goes on at the first sector when it reaches the last.
pub(crate) fn stream(sectors: u64, from: u64, count: usize) -> Vec<Extent> {
    let size = u64::from(STREAM_SECTORS);
    let all = sectors / size;
    let extent = |index: u64| Extent {
        sector: (from / size + index) % all * size,
        sectors: STREAM_SECTORS,
    };
    (0..count as u64).map(extent).collect()
}
