//! Turns a disk into a model file by timed requests.
//!
//! The disk is a [`ReadableDisk`]: it serves reads and reports when each began and ended. If its contents may be lost, it
//! is also [`Writable`]. [`DiskMeasurement`] works in steps, so that it can be stored between two steps and resumed;
//! [`model::write`] makes a model file from the results ([`DiskFigures`]) and marks every figure that was not
//! measured. Nothing is written to a disk that is only a [`ReadableDisk`]. A disk without rotational latency is measured
//! as an SSD ([`Ssd`]).

mod cache;
mod measurement;
pub mod model;
mod queue_depth;
mod random;
mod rotation;
mod seek;
mod simulated;
mod ssd;
mod tracks;
mod writes;

pub use cache::{Ahead, CacheTimes};
pub use measurement::{DiskAccess, DiskFigures, DiskMeasurement, Platters, Step};
pub use queue_depth::{DEPTHS, Depth};
pub use seek::SeekTime;
pub use simulated::SimulatedDisk;
pub use ssd::{Buffering, Dies, Filled, Size, SlcCache, Spread, Ssd, SsdLimits, SsdWrites, Steady, Transfers};
pub use tracks::{Tracks, Zone};
pub use writes::{Flush, Stream, Writes};

/// Sectors of a small request: 4 KiB, so that drives with 4 KiB sectors read and write whole ones.
pub const SMALL: u32 = 8;
const SECTOR_BYTES: f64 = 512.0;

/// Consecutive sectors, accessed by one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub sector: u64,
    pub sectors: u32,
}

/// When a request was submitted and completed, in nanoseconds of the target's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    pub from_ns: u64,
    pub to_ns: u64,
}

impl Timing {
    fn ms(self) -> f64 {
        self.to_ns.saturating_sub(self.from_ns) as f64 / 1e6
    }
}

/// A disk that can be read.
pub trait ReadableDisk {
    /// Capacity in sectors of 512 bytes.
    fn sectors(&self) -> u64;

    /// Reads in the order of the list, with at most `depth` requests in flight. Timings are in the same order.
    ///
    /// # Errors
    /// The first read that failed.
    fn read(&mut self, reads: &[Extent], depth: u32) -> Result<Vec<Timing>, Error>;

    /// Leaves the disk idle.
    fn pause(&mut self, ms: u64);
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    Read,
    Write,
}

/// A disk whose contents may be lost.
pub trait Writable: ReadableDisk {
    /// Overwrites in the order of the list, with at most `depth` requests in flight. Timings are in the same order.
    ///
    /// # Errors
    /// The first write that failed.
    fn write(&mut self, writes: &[Extent], depth: u32) -> Result<Vec<Timing>, Error>;

    /// Reads and overwrites in the order of the list, with at most `depth` requests in flight. Timings are in the
    /// same order.
    ///
    /// # Errors
    /// The first request that failed.
    fn mix(&mut self, requests: &[(RequestKind, Extent)], depth: u32) -> Result<Vec<Timing>, Error>;

    /// Flushes the drive's write cache.
    ///
    /// # Errors
    /// If the disk refuses it.
    fn flush(&mut self) -> Result<Timing, Error>;
}

/// Why a disk could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(
        "cannot be measured: reading {sectors} sectors from sector {sector} on failed: {why}; a disk that cannot be read \
         should be replaced"
    )]
    Unreadable { sector: u64, sectors: u32, why: String },
    #[error(
        "cannot be measured: writing {sectors} sectors from sector {sector} on failed: {why}; a disk that cannot be \
         written should be replaced"
    )]
    Unwritable { sector: u64, sectors: u32, why: String },
    #[error("cannot be measured: it did not flush its write cache: {0}")]
    NotFlushed(String),
    #[error(
        "is too small to measure: it has {0} sectors of 512 bytes, and at least {SECTORS_MIN} (1 GiB) are needed"
    )]
    Small(u64),
    #[error("cannot be measured: {0}")]
    Stopped(String),
    #[error("was not measured completely")]
    Unfinished,
    #[error("was measured, but the figures do not give a valid model: {0}")]
    Model(String),
}

/// 1 GiB: smaller disks have hardly any seeks.
pub const SECTORS_MIN: u64 = 1 << 21;

fn small(sector: u64) -> Extent {
    Extent { sector, sectors: SMALL }
}

/// The median; 0 if there are no values.
fn median(values: Vec<f64>) -> f64 {
    quantile(values, 0.5)
}

/// The quantile `part`, from 0 to 1; 0 if there are no values.
fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (values.len() as f64 * part) as usize;
    values.get(index).copied().unwrap_or(0.0)
}

/// The arithmetic mean; 0 if there are no values.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
