//! Fills the disk: reads of unwritten sectors do not reach the flash, and a drive with free flash writes faster
//! than one in use. This is the first part of preconditioning in SNIA's Solid State Storage Performance Test
//! Specification (PTS), once instead of twice.

use super::{STREAM_DEPTH, STREAM_SECTORS, stream};
use crate::queue_depth::span_s;
use crate::{Error, SECTOR_BYTES, Writable};
use serde::{Deserialize, Serialize};

/// Requests per call: 256 MiB.
const CHUNK: usize = 256;
/// Idle time afterwards.
const IDLE_MS: u64 = 2000;

/// The part that was written sequentially from the first sector.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Filled {
    pub sectors: u64,
    /// Fraction of the disk.
    pub part: f64,
    pub seconds: f64,
}

impl Filled {
    /// 10^6 bytes a second.
    pub fn mb_s(&self) -> f64 {
        self.sectors as f64 * SECTOR_BYTES / 1e6 / self.seconds.max(1e-9)
    }
}

/// Writes the whole disk once, or as much of it as the time limit allows.
pub(crate) fn fill(target: &mut dyn Writable, limit_s: f64) -> Result<Filled, Error> {
    let all = target.sectors() / u64::from(STREAM_SECTORS);
    let mut filled = Filled {
        sectors: 0,
        part: 0.0,
        seconds: 0.0,
    };
    while filled.seconds < limit_s {
        let done = filled.sectors / u64::from(STREAM_SECTORS);
        let count = (all - done).min(CHUNK as u64) as usize;
        if count == 0 {
            break;
        }
        let timings = target.write(&stream(target.sectors(), filled.sectors, count), STREAM_DEPTH)?;
        filled.seconds += span_s(&timings);
        filled.sectors += count as u64 * u64::from(STREAM_SECTORS);
    }
    filled.part = filled.sectors as f64 / target.sectors().max(1) as f64;
    target.flush()?;
    target.pause(IDLE_MS);
    Ok(filled)
}
