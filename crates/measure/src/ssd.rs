//! A disk without rotation: random reads by depth, reads by size, streams. If its contents may be lost it is filled
//! first, and writes, flushes and caches are measured as well.

mod fill;
pub(crate) mod reads;
pub(crate) mod writes;

pub use fill::Filled;
pub(crate) use fill::fill;
pub use reads::{Dies, Size, Spread, Transfers};
pub use writes::{Buffering, SlcCache, SsdWrites, Steady};

use crate::{Extent, SECTORS_MIN};
use serde::{Deserialize, Serialize};

/// A stream request of 1 MiB.
pub(crate) const STREAM_SECTORS: u32 = 2048;
/// Stream requests in flight: enough that no drive waits for the next one.
pub(crate) const STREAM_DEPTH: u32 = 8;

/// Durations of writes to an SSD. Disks with platters need none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdLimits {
    /// Maximum seconds for filling it sequentially, and again for random writes until a steady state.
    pub condition_s: f64,
    /// Seconds of random writes at each depth.
    pub random_s: f64,
    /// Seconds of the write streams that look for an SLC cache.
    pub stream_s: f64,
}

impl SsdLimits {
    /// Limits for this many seconds of preconditioning.
    pub fn of(condition_s: f64) -> Self {
        SsdLimits {
            condition_s,
            random_s: 60.0,
            stream_s: 180.0,
        }
    }
}

/// Results for an SSD.
#[derive(Clone, Debug, PartialEq)]
pub struct Ssd {
    /// Absent if the disk was only read.
    pub filled: Option<Filled>,
    pub spread: Spread,
    pub transfers: Transfers,
    /// Absent if the disk was only read.
    pub writes: Option<SsdWrites>,
}

/// The sectors to read: those that were filled, unless they are too few. Sectors that were never written are not
/// read from flash.
pub(crate) fn region(sectors: u64, filled: Option<&Filled>) -> u64 {
    let written = filled.map_or(sectors, |filled| filled.sectors);
    if written < SECTORS_MIN { sectors } else { written }
}

/// Requests of a stream starting at a sector; it wraps around at the last sector.
pub(crate) fn stream(sectors: u64, from: u64, count: usize) -> Vec<Extent> {
    let size = u64::from(STREAM_SECTORS);
    let all = sectors / size;
    let extent = |index: u64| Extent {
        sector: (from / size + index) % all * size,
        sectors: STREAM_SECTORS,
    };
    (0..count as u64).map(extent).collect()
}
