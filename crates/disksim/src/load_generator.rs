//! A host that uses a simulated disk, with one or several requests in flight.

use crate::catalogue::{Model, build::Wrong};
use crate::disk_set::{Description, World};
use crate::request::{Completion, Op, Request};
use std::vec::Vec;

const SECTOR_BYTES: f64 = 512.0;

/// A disk of the model and the state of its load.
pub(crate) struct LoadGenerator {
    world: World,
    pub(crate) now_ns: u64,
    done: Vec<Completion>,
    random: u64,
}

impl LoadGenerator {
    pub(crate) fn new(model: &Model) -> Result<Self, Wrong> {
        let disks = std::vec![model.description(1)];
        let world = World::new(&Description {
            links: Vec::new(),
            disks,
        })
        .map_err(|e| Wrong {
            offset: 0,
            message: e.reason.into(),
        })?;
        Ok(LoadGenerator {
            world,
            now_ns: 0,
            done: Vec::new(),
            random: 1,
        })
    }

    pub(crate) fn random(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_add(1);
        crate::random::mix(self.random) % below.max(1)
    }

    pub(crate) fn submit(&mut self, tag: u32, op: Op, sector: u64, sectors: u32) {
        self.world.submit(
            0,
            self.now_ns,
            Request {
                tag,
                op,
                sector,
                sectors,
                fua: false,
            },
        );
    }

    /// Waits for the next completion; returns its tag.
    pub(crate) fn next(&mut self) -> u32 {
        while self.done.is_empty() {
            let Some(at_ns) = self.world.next_event_ns() else {
                return 0;
            };
            self.now_ns = at_ns;
            self.world.advance(at_ns, &mut self.done);
        }
        self.done.remove(0).tag
    }

    /// Flushes; returns the duration.
    pub(crate) fn flush_ns(&mut self) -> u64 {
        let from_ns = self.now_ns;
        self.submit(0, Op::Flush, 0, 0);
        self.next();
        self.now_ns - from_ns
    }

    /// Keeps two sequential requests of `sectors` in flight; returns the rate after a warm-up.
    pub(crate) fn stream_mb_s(&mut self, op: Op, from: u64, sectors: u32, warm: u64, counted: u64) -> f64 {
        let at = |i: u64| from + i * u64::from(sectors);
        self.submit(0, op, at(0), sectors);
        self.submit(1, op, at(1), sectors);
        let mut start_ns = 0;
        for i in 2..warm + counted {
            let tag = self.next();
            if i == warm {
                start_ns = self.now_ns;
            }
            self.submit(tag, op, at(i), sectors);
        }
        counted as f64 * f64::from(sectors) * SECTOR_BYTES / self.now_ns.saturating_sub(start_ns).max(1) as f64
            * 1e3
    }
}
