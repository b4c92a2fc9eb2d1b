//! A simulated SSD with candidate parameters, on which the steps of the measurement are repeated.

use super::sources::Source;
use super::{Params, text};
use crate::model::KnownFacts;
use crate::queue_depth::Depth;
use crate::random::Random;
use crate::ssd::reads;
use crate::ssd::writes::Probe;
use crate::{Error, SimulatedDisk, Size};
use disksim::catalogue::Model;

/// Reads of each size and at each depth.
const READS_OF_SIZE: usize = 24;
const READS: usize = 2400;
/// Fraction of the disk that is written, at random: the tables of a simulated SSD grow with the places written. Few
/// places are written twice.
const PART: u64 = 16;
const PART_SECTORS_MIN: u64 = 1 << 24;

pub(super) struct Twin<'a> {
    pub(super) known: &'a KnownFacts<'a>,
    pub(super) sectors: u64,
}

impl Twin<'_> {
    fn disk(&self, params: &Params) -> Result<SimulatedDisk, Error> {
        let text = text(self.known, self.sectors, params, &Source::none());
        let model = Model::parse(self.known.name, &text).map_err(|error| Error::Model(error.to_string()))?;
        let used = (self.sectors / PART).max(PART_SECTORS_MIN).min(self.sectors);
        Ok(SimulatedDisk::new(model.description(7))?.within(used))
    }

    pub(super) fn sizes(&self, params: &Params) -> Result<Vec<Size>, Error> {
        let mut disk = self.disk(params)?;
        reads::sizes(&mut disk, self.sectors, &mut Random::new(3), READS_OF_SIZE)
    }

    /// Random reads at these depths.
    pub(super) fn reads(&self, params: &Params, depths: &[u32]) -> Result<Vec<Depth>, Error> {
        let mut disk = self.disk(params)?;
        let mut random = Random::new(5);
        let at = |&depth: &u32| {
            let timings = reads::at_depth(&mut disk, self.sectors, &mut random, depth, READS)?;
            Ok(Depth::of(depth, &timings))
        };
        depths.iter().map(at).collect()
    }

    /// Random writes at these depths with a full SLC cache, each as many as a superblock holds, which is one cycle
    /// of garbage collection; then a stream, in 10^6 bytes a second.
    pub(super) fn writes(&self, params: &Params, depths: &[u32]) -> Result<(Vec<Depth>, f64), Error> {
        let cycle = params.superblock_units();
        self.written(params, |probe| {
            probe.warm(cycle)?;
            let mut found = Vec::new();
            for &depth in depths {
                found.push(Depth::of(depth, &probe.random_writes(depth, f64::INFINITY, cycle)?));
            }
            Ok((found, probe.stream_mb_s(2 * cycle)?))
        })
    }

    /// Mean time of reads mixed with writes, over one cycle of garbage collection.
    pub(super) fn mixed_read_ms(&self, params: &Params) -> Result<f64, Error> {
        let cycle = params.superblock_units();
        self.written(params, |probe| {
            probe.warm(cycle)?;
            probe.mixed_read_ms(f64::INFINITY, cycle / 7 * 8)
        })
    }

    fn written<T>(
        &self,
        params: &Params,
        done: impl FnOnce(&mut Probe<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let sustained = Params { slc: None, ..*params };
        let mut disk = self.disk(&sustained)?;
        let mut random = Random::new(7);
        done(&mut Probe {
            target: &mut disk,
            random: &mut random,
        })
    }
}
