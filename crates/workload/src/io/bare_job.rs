//! One job of raidlab's own engine without its environment: for benchmarks of the engine, not of a stack.

use super::native::{self, Method, Shared};
use super::targets::{self, Place};
use crate::contents::Contents;
use crate::{Target, WorkloadError};
use study::workload::IoSpec;

/// Runs a prepared job. Does not prepare files, quiesce, drop caches, count or compare.
pub struct BareJob<'a> {
    spec: &'a IoSpec,
    places: Vec<Place>,
    contents: Contents,
    seed: u64,
}

impl<'a> BareJob<'a> {
    /// Opens the job's file or device and generates the bytes that it writes.
    pub fn prepare(spec: &'a IoSpec, target: &Target<'_>, seed: u64) -> Result<Self, WorkloadError> {
        super::check(spec, target)?;
        let places = targets::open_places(spec, target)?;
        let contents = Contents::of_buffer(seed, spec.block_bytes, &spec.buffer);
        Ok(Self {
            spec,
            places,
            contents,
            seed,
        })
    }

    /// Runs the whole job; returns the number of reads and writes.
    pub fn run(&self) -> Result<u64, WorkloadError> {
        let method = Method::choose(self.spec);
        let shared = Shared {
            contents: &self.contents,
            seed: self.seed,
            phases: None,
        };
        let (outcome, _) = native::run(self.spec, method, &self.places, shared)?;
        Ok(outcome.tally.reads.operations() + outcome.tally.writes.operations())
    }
}
