//! The steps of a measurement. Each uses what the steps before it found, and random places of its own, so that a
//! measurement that is continued finds the same as one that was never ended.

use crate::cache::{self, Cache};
use crate::queue::{self, Depth};
use crate::random::Random;
use crate::seek::{self, SeekTime};
use crate::tracks::{self, Tracks};
use crate::writes::{self, Writes};
use crate::{Error, SECTORS_MIN, Target, Writable, rotation};
use serde::{Deserialize, Serialize};

/// What may be done to a disk.
pub enum Access<'a> {
    Read(&'a mut dyn Target),
    /// Its contents are given up.
    Destroy(&'a mut dyn Writable),
}

impl Access<'_> {
    fn target(&mut self) -> &mut dyn Target {
        match self {
            Access::Read(target) => *target,
            Access::Destroy(target) => *target,
        }
    }
}

/// A step, in the order in which they are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Rotation,
    Buffer,
    Zones,
    Seeks,
    Queue,
    Writes,
}

impl Step {
    pub const ALL: [Step; 6] = [
        Step::Rotation,
        Step::Buffer,
        Step::Zones,
        Step::Seeks,
        Step::Queue,
        Step::Writes,
    ];

    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Step::Rotation => "rotation",
            Step::Buffer => "buffer",
            Step::Zones => "zones",
            Step::Seeks => "seeks",
            Step::Queue => "queue",
            Step::Writes => "writes",
        }
    }
}

/// A disk that is being measured: what its steps found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    sectors: u64,
    /// Milliseconds of a revolution; inside absent if nothing rotates.
    rotation: Option<Option<f64>>,
    cache: Option<Cache>,
    tracks: Option<Tracks>,
    seeks: Option<Vec<SeekTime>>,
    depths: Option<Vec<Depth>>,
    writes: Option<Writes>,
}

impl Measurement {
    /// Of a disk with so many sectors of 512 bytes.
    ///
    /// # Errors
    /// If the disk is too small.
    pub fn new(sectors: u64) -> Result<Self, Error> {
        if sectors < SECTORS_MIN {
            return Err(Error::Small(sectors));
        }
        Ok(Measurement {
            sectors,
            rotation: None,
            cache: None,
            tracks: None,
            seeks: None,
            depths: None,
            writes: None,
        })
    }

    /// Of the disk that is measured.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// The next step; none if all are done.
    pub fn next(&self, access: &Access<'_>) -> Option<Step> {
        let rotates = self.rotation != Some(None);
        let may_write = matches!(access, Access::Destroy(_));
        let is_left = |step: &Step| match step {
            Step::Rotation => self.rotation.is_none(),
            Step::Buffer => self.cache.is_none(),
            Step::Zones => rotates && self.tracks.is_none(),
            Step::Seeks => rotates && self.seeks.is_none(),
            Step::Queue => self.depths.is_none(),
            // Of a disk without rotation there is no model.
            Step::Writes => rotates && may_write && self.writes.is_none(),
        };
        Step::ALL.into_iter().find(is_left)
    }

    /// Does the next step.
    ///
    /// # Errors
    /// If a request fails. What was found before is kept.
    pub fn advance(&mut self, access: &mut Access<'_>) -> Result<(), Error> {
        let Some(step) = self.next(access) else {
            return Ok(());
        };
        let mut random = Random::new(1 + step as u64);
        let target = access.target();
        match (step, &self.cache, &self.tracks) {
            (Step::Rotation, ..) => self.rotation = Some(rotation::revolution_ms(target, &mut random)?),
            (Step::Queue, ..) => self.depths = Some(queue::measure(target, &mut random)?),
            (Step::Zones, Some(cache), _) => {
                self.tracks = Some(tracks::measure(target, self.revolution_ms(), cache, &mut random)?);
            }
            (Step::Seeks, Some(cache), Some(tracks)) => {
                self.seeks = Some(seek::measure(target, self.revolution_ms(), tracks, cache, &mut random)?);
            }
            (Step::Writes, Some(cache), _) => {
                if let Access::Destroy(target) = access {
                    self.writes = Some(writes::measure(*target, cache, &mut random)?);
                }
            }
            _ => self.cache = Some(cache::measure(target, &mut random)?),
        }
        Ok(())
    }

    fn revolution_ms(&self) -> f64 {
        self.rotation.flatten().unwrap_or_default()
    }

    /// What was found by the steps that are done.
    pub fn measured(&self) -> Measured {
        let platters = match (self.rotation.flatten(), &self.tracks, &self.seeks) {
            (Some(revolution_ms), Some(tracks), Some(seeks)) => Some(Platters {
                revolution_ms,
                tracks: tracks.clone(),
                seeks: seeks.clone(),
            }),
            _ => None,
        };
        Measured {
            sectors: self.sectors,
            platters,
            cache: self.cache.unwrap_or_default(),
            depths: self.depths.clone().unwrap_or_default(),
            writes: self.writes.clone(),
        }
    }
}

/// What was found of a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub sectors: u64,
    /// Absent if reads do not follow a rotation, as those of an SSD.
    pub platters: Option<Platters>,
    pub cache: Cache,
    pub depths: Vec<Depth>,
    /// Absent if the disk was only read.
    pub writes: Option<Writes>,
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
