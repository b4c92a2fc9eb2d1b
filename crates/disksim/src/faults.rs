//! Faults of a disk, kept separate from the disk so that they can be switched off.

use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The faults of one disk.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Faults {
    /// From this time on every request fails with [`DeviceGone`](crate::request::Status::DeviceGone).
    pub dies_at_ns: Option<u64>,
    /// Ranges that are unreadable until they are written; ascending and disjoint.
    pub unreadable: Vec<SectorRange>,
    /// Time that the drive retries before it reports an unreadable sector.
    pub recovery_ns: u64,
    pub slow: Option<Slow>,
    /// Ranges that read back corrupted. The contents apply this; service times are unchanged.
    pub corrupt: Vec<SectorRange>,
}

/// A range of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectorRange {
    pub sector: u64,
    pub sectors: u64,
}

/// A degraded disk: retries, vibration, a failing head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slow {
    pub from_ns: u64,
    /// Additional time of every media access.
    pub access_ns: u64,
}

impl Faults {
    pub fn gone(&self, at_ns: u64) -> bool {
        self.dies_at_ns.is_some_and(|dies| at_ns >= dies)
    }

    pub fn slowdown_ns(&self, at_ns: u64) -> u64 {
        self.slow
            .map_or(0, |slow| if at_ns >= slow.from_ns { slow.access_ns } else { 0 })
    }

    /// The first unreadable sector in a request.
    pub fn first_unreadable(&self, sector: u64, sectors: u32) -> Option<u64> {
        let end = sector.saturating_add(u64::from(sectors));
        let next = self
            .unreadable
            .partition_point(|r| r.sector.saturating_add(r.sectors) <= sector);
        let range = self.unreadable.get(next)?;
        (range.sector < end && range.sectors > 0).then_some(range.sector.max(sector))
    }

    /// Makes written sectors readable again.
    pub fn heal(&mut self, sector: u64, sectors: u32) {
        if self.unreadable.is_empty() || self.first_unreadable(sector, sectors).is_none() {
            return;
        }
        let end = sector.saturating_add(u64::from(sectors));
        let mut left = Vec::with_capacity(self.unreadable.len() + 1);
        for range in &self.unreadable {
            let range_end = range.sector.saturating_add(range.sectors);
            let mut keep = |from: u64, to: u64| {
                if to > from {
                    left.push(SectorRange {
                        sector: from,
                        sectors: to - from,
                    });
                }
            };
            keep(range.sector, range_end.min(sector));
            keep(range.sector.max(end), range_end);
        }
        self.unreadable = left;
    }
}
