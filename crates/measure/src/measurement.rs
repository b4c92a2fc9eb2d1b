//! The steps of a measurement. Each uses the results of earlier steps and its own random places, so that a resumed
//! measurement gives the same results as an uninterrupted one.

use crate::cache::{self, CacheTimes};
use crate::queue_depth::{self, Depth};
use crate::random::Random;
use crate::seek::{self, SeekTime};
use crate::ssd::{self, Filled, Spread, Ssd, SsdLimits, SsdWrites, Transfers};
use crate::tracks::{self, Tracks};
use crate::writes::{self, Writes};
use crate::{Error, ReadableDisk, SECTORS_MIN, Writable, rotation};
use serde::{Deserialize, Serialize};

/// Permitted access to a disk.
pub enum DiskAccess<'a> {
    Read(&'a mut dyn ReadableDisk),
    /// Its contents may be destroyed.
    Destroy(&'a mut dyn Writable),
}

impl DiskAccess<'_> {
    fn target(&mut self) -> &mut dyn ReadableDisk {
        match self {
            DiskAccess::Read(target) => *target,
            DiskAccess::Destroy(target) => *target,
        }
    }
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Rotation,
    Buffer,
    Zones,
    Seeks,
    Queue,
    Writes,
    /// SSDs that may be overwritten: fill the disk.
    Fill,
    /// SSDs: reads by size, and streams.
    Transfers,
}

impl Step {
    /// Steps for disks with platters, in order.
    const PLATTERS: [Step; 6] = [
        Step::Rotation,
        Step::Buffer,
        Step::Zones,
        Step::Seeks,
        Step::Queue,
        Step::Writes,
    ];
    /// Steps for SSDs.
    const SSD: [Step; 5] = [Step::Rotation, Step::Fill, Step::Queue, Step::Transfers, Step::Writes];

    /// The step's name in messages.
    pub fn word(self) -> &'static str {
        match self {
            Step::Rotation => "rotation",
            Step::Buffer => "buffer",
            Step::Zones => "zones",
            Step::Seeks => "seeks",
            Step::Fill => "filling the SSD",
            Step::Queue => "queue",
            Step::Transfers => "sizes and streams",
            Step::Writes => "writes",
        }
    }
}

/// A disk under measurement, with the results of the completed steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiskMeasurement {
    sectors: u64,
    limits: SsdLimits,
    /// Milliseconds per revolution; the inner `None` if nothing rotates.
    rotation: Option<Option<f64>>,
    cache: Option<CacheTimes>,
    tracks: Option<Tracks>,
    seeks: Option<Vec<SeekTime>>,
    filled: Option<Filled>,
    depths: Option<Vec<Depth>>,
    spread: Option<Spread>,
    transfers: Option<Transfers>,
    writes: Option<Writes>,
    ssd_writes: Option<SsdWrites>,
}

impl DiskMeasurement {
    /// For a disk of this many 512-byte sectors. If it may rotate, the revolution is measured first.
    ///
    /// # Errors
    /// If the disk is too small.
    pub fn new(sectors: u64, may_rotate: bool, limits: SsdLimits) -> Result<Self, Error> {
        if sectors < SECTORS_MIN {
            return Err(Error::Small(sectors));
        }
        Ok(DiskMeasurement {
            sectors,
            limits,
            rotation: if may_rotate { None } else { Some(None) },
            cache: None,
            tracks: None,
            seeks: None,
            filled: None,
            depths: None,
            spread: None,
            transfers: None,
            writes: None,
            ssd_writes: None,
        })
    }

    /// Sectors of the disk.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Changes the limits of a measurement that is resumed.
    pub fn with_limits(self, limits: SsdLimits) -> Self {
        DiskMeasurement { limits, ..self }
    }

    /// Whether the disk is known to be an SSD.
    pub fn is_ssd(&self) -> bool {
        self.rotation == Some(None)
    }

    /// All steps in order, as far as they are known for this disk.
    pub fn steps(&self, access: &DiskAccess<'_>) -> Vec<Step> {
        let all = if self.is_ssd() {
            &Step::SSD[..]
        } else {
            &Step::PLATTERS[..]
        };
        let may_write = matches!(access, DiskAccess::Destroy(_));
        let writes = |step: &&Step| matches!(step, Step::Fill | Step::Writes);
        all.iter().filter(|step| may_write || !writes(step)).copied().collect()
    }

    /// The next step; `None` if all are done.
    pub fn next(&self, access: &DiskAccess<'_>) -> Option<Step> {
        let is_left = |step: &Step| match step {
            Step::Rotation => self.rotation.is_none(),
            Step::Buffer => self.cache.is_none(),
            Step::Zones => self.tracks.is_none(),
            Step::Seeks => self.seeks.is_none(),
            Step::Fill => self.filled.is_none(),
            Step::Queue => self.depths.is_none(),
            Step::Transfers => self.transfers.is_none(),
            Step::Writes => self.writes.is_none() && self.ssd_writes.is_none(),
        };
        self.steps(access).into_iter().find(is_left)
    }

    /// Runs the next step.
    ///
    /// # Errors
    /// If a request fails. Earlier results are kept.
    pub fn advance(&mut self, access: &mut DiskAccess<'_>) -> Result<(), Error> {
        let Some(step) = self.next(access) else {
            return Ok(());
        };
        let mut random = Random::new(1 + step as u64);
        if self.is_ssd() {
            return self.advance_ssd(step, access, &mut random);
        }
        let target = access.target();
        match (step, &self.cache, &self.tracks) {
            (Step::Rotation, ..) => self.rotation = Some(rotation::revolution_ms(target, &mut random)?),
            (Step::Queue, ..) => self.depths = Some(queue_depth::measure(target, &mut random)?),
            (Step::Zones, Some(cache), _) => {
                self.tracks = Some(tracks::measure(target, self.revolution_ms(), cache, &mut random)?);
            }
            (Step::Seeks, Some(cache), Some(tracks)) => {
                self.seeks = Some(seek::measure(target, self.revolution_ms(), tracks, cache, &mut random)?);
            }
            (Step::Writes, Some(cache), _) => {
                if let DiskAccess::Destroy(target) = access {
                    self.writes = Some(writes::measure(*target, cache, &mut random)?);
                }
            }
            _ => self.cache = Some(cache::measure(target, &mut random)?),
        }
        Ok(())
    }

    fn advance_ssd(&mut self, step: Step, access: &mut DiskAccess<'_>, random: &mut Random) -> Result<(), Error> {
        let region = ssd::region(self.sectors, self.filled.as_ref());
        match (step, access, &self.filled) {
            (Step::Fill, DiskAccess::Destroy(target), _) => {
                self.filled = Some(ssd::fill(*target, self.limits.condition_s)?);
            }
            (Step::Writes, DiskAccess::Destroy(target), Some(filled)) => {
                self.ssd_writes = Some(ssd::writes::measure(*target, filled, &self.limits, random)?);
            }
            (Step::Transfers, access, _) => {
                self.transfers = Some(ssd::reads::transfers(access.target(), region, random)?);
            }
            (_, access, _) => {
                let (depths, spread) = ssd::reads::ladder(access.target(), region, random)?;
                (self.depths, self.spread) = (Some(depths), Some(spread));
            }
        }
        Ok(())
    }

    fn revolution_ms(&self) -> f64 {
        self.rotation.flatten().unwrap_or_default()
    }

    /// The results of the completed steps.
    pub fn measured(&self) -> DiskFigures {
        let platters = match (self.rotation.flatten(), &self.tracks, &self.seeks) {
            (Some(revolution_ms), Some(tracks), Some(seeks)) => Some(Platters {
                revolution_ms,
                tracks: tracks.clone(),
                seeks: seeks.clone(),
            }),
            _ => None,
        };
        let ssd = match (self.spread, &self.transfers) {
            (Some(spread), Some(transfers)) => Some(Ssd {
                filled: self.filled,
                spread,
                transfers: transfers.clone(),
                writes: self.ssd_writes.clone(),
            }),
            _ => None,
        };
        DiskFigures {
            sectors: self.sectors,
            platters,
            cache: self.cache.unwrap_or_default(),
            depths: self.depths.clone().unwrap_or_default(),
            writes: self.writes.clone(),
            ssd,
        }
    }
}

/// Results of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskFigures {
    pub sectors: u64,
    /// Absent if reads follow no rotation, as on an SSD.
    pub platters: Option<Platters>,
    pub cache: CacheTimes,
    pub depths: Vec<Depth>,
    /// For a disk with platters; absent if the disk was only read.
    pub writes: Option<Writes>,
    /// For a disk without platters.
    pub ssd: Option<Ssd>,
}

/// Results for platters.
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
