//! Filling: reads of sectors without data do not reach the flash, and a drive with free flash writes faster than one in
//! use. The first part of preconditioning as SNIA's Solid State Storage Performance Test Specification (PTS) has it, once
//! instead of twice.

use super::{STREAM_DEPTH, STREAM_SECTORS, stream};
use crate::queue::span_s;
use crate::{Error, SECTOR_BYTES, Writable};
use serde::{Deserialize, Serialize};

/// Requests at once: 256 MiB.
const CHUNK: usize = 256;
/// The drive is idle for so long afterwards.
const IDLE_MS: u64 = 2000;

/// What was written in order, from the first sector on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Filled {
    pub sectors: u64,
    /// Of the disk.
    pub part: f64,
    pub seconds: f64,
}

impl Filled {
    /// 10^6 bytes a second.
    pub fn mb_s(&self) -> f64 {
        self.sectors as f64 * SECTOR_BYTES / 1e6 / self.seconds.max(1e-9)
    }
}

/// Writes the disk once, or as much of it as takes so many seconds.
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
