//! Turns a disk into a model file by timed reads.
//!
//! The disk is a [`Target`]: it serves reads and says when each began and ended. [`measure`] finds what the times show
//! ([`Measured`]), and [`model::write`] makes a model file of it, in which every figure that was not measured says so.
//! Nothing here writes to the disk.

mod cache;
pub mod model;
mod queue;
mod random;
mod rotation;
mod seek;
mod tracks;

pub use cache::{Ahead, Cache};
pub use queue::{DEPTHS, Depth};
pub use seek::SeekTime;
pub use tracks::{Tracks, Zone};

use random::Random;

/// Sectors of a small read: 4 KiB, so that drives with 4 KiB sectors read whole ones.
pub const SMALL: u32 = 8;
const SECTOR_BYTES: f64 = 512.0;

/// A read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    pub sector: u64,
    pub sectors: u32,
}

/// When a read was submitted and completed, in nanoseconds of the target's clock.
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
pub trait Target {
    /// Capacity in sectors of 512 bytes.
    fn sectors(&self) -> u64;

    /// Serves the reads, with at most `depth` of them under way, in the order of the list. The timings are in the same
    /// order.
    ///
    /// # Errors
    /// The first read that failed.
    fn run(&mut self, reads: &[Read], depth: u32) -> Result<Vec<Timing>, Error>;

    /// Leaves the disk idle.
    fn pause(&mut self, ms: u64);
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
        "is too small to measure: it has {0} sectors of 512 bytes, and at least {SECTORS_MIN} (1 GiB) are needed"
    )]
    Small(u64),
    #[error("cannot be measured: {0}")]
    Stopped(String),
    #[error(
        "cannot be measured: its reads follow no rotation, so it is an SSD, a RAID or a file, and no single disk with \
         platters"
    )]
    NoRotation,
    #[error("was measured, but the figures make no sound model: {0}")]
    Model(String),
}

/// 1 GiB: less has hardly any seeks.
pub const SECTORS_MIN: u64 = 1 << 21;

/// What was found of a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub sectors: u64,
    /// Absent if reads do not follow a rotation, as those of an SSD.
    pub platters: Option<Platters>,
    pub cache: Cache,
    pub depths: Vec<Depth>,
}

/// What rotates.
#[derive(Clone, Debug, PartialEq)]
pub struct Platters {
    pub revolution_ms: f64,
    pub tracks: Tracks,
    pub seeks: Vec<SeekTime>,
}

impl Platters {
    pub fn rpm(&self) -> f64 {
        60e3 / self.revolution_ms
    }
}

/// Steps of a measurement, for a progress bar.
pub const STEPS: [&str; 5] = ["rotation", "buffer", "zones", "seeks", "queue"];

/// Measures a disk; `step` is given the index of each of [`STEPS`] as it begins.
///
/// # Errors
/// If the disk is too small or a read fails.
pub fn measure(target: &mut dyn Target, step: &mut dyn FnMut(usize)) -> Result<Measured, Error> {
    let sectors = target.sectors();
    if sectors < SECTORS_MIN {
        return Err(Error::Small(sectors));
    }
    let mut random = Random::new(1);
    step(0);
    let revolution_ms = rotation::revolution_ms(target, &mut random)?;
    step(1);
    let cache = cache::measure(target, &mut random)?;
    let platters = match revolution_ms {
        None => None,
        Some(revolution_ms) => {
            step(2);
            let tracks = tracks::measure(target, revolution_ms, &cache, &mut random)?;
            step(3);
            let seeks = seek::measure(target, revolution_ms, &tracks, &cache, &mut random)?;
            Some(Platters {
                revolution_ms,
                tracks,
                seeks,
            })
        }
    };
    step(4);
    let depths = queue::measure(target, &mut random)?;
    Ok(Measured {
        sectors,
        platters,
        cache,
        depths,
    })
}

fn small(sector: u64) -> Read {
    Read { sector, sectors: SMALL }
}

/// The value in the middle; 0 of none.
fn median(values: Vec<f64>) -> f64 {
    quantile(values, 0.5)
}

/// The value below which this part of the values lies; 0 of none.
fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (values.len() as f64 * part) as usize;
    values.get(index).copied().unwrap_or(0.0)
}
