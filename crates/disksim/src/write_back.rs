//! Acknowledged writes that are not on the media.

use crate::extents::{Arrival, Extent, Extents};
use crate::geometry::Geometry;
use alloc::collections::VecDeque;

/// The write cache.
#[derive(Default)]
pub struct WriteBack {
    /// Ordered by first sector; disjoint, unless writes are not combined.
    extents: Extents,
    /// Writes whose data is still on the wire, with the time of arrival; in that order.
    arriving: VecDeque<(u64, Extent)>,
    /// Sectors that wait or arrive.
    sectors: u64,
    /// The extent that the arm is writing.
    pub writing: Option<Extent>,
}

impl WriteBack {
    pub fn with_capacity(extents: usize) -> Self {
        WriteBack {
            extents: Extents::with_capacity(extents),
            arriving: VecDeque::with_capacity(extents.min(256)),
            ..WriteBack::default()
        }
    }

    pub fn extents(&self) -> &Extents {
        &self.extents
    }

    pub fn is_empty(&self) -> bool {
        self.extents.is_empty() && self.arriving.is_empty() && self.writing.is_none()
    }

    /// Number of extents and sectors that wait or are being written.
    pub fn held(&self) -> (usize, u64) {
        let writing = self.writing.map_or(0, |w| u64::from(w.sectors));
        let extents = self.extents.len() + self.arriving.len() + usize::from(self.writing.is_some());
        (extents, self.sectors + writing)
    }

    /// The oldest data that is not on the media.
    pub fn oldest(&self) -> Option<u64> {
        let arriving = self.arriving.front().map(|(_, e)| e.order);
        self.extents
            .iter()
            .chain(self.writing.iter())
            .map(|e| e.order)
            .chain(arriving)
            .min()
    }

    /// Adds a write to the waiting ones.
    pub fn push(&mut self, extent: Extent) {
        let at = self
            .extents
            .partition_point(|e| (e.lbn, e.order) < (extent.lbn, extent.order));
        self.sectors += u64::from(extent.sectors);
        self.extents.insert(at, extent);
    }

    /// Adds a write whose data arrives at `end_ns`, not before that of earlier writes.
    pub fn arrive(&mut self, end_ns: u64, extent: Extent) {
        self.sectors += u64::from(extent.sectors);
        self.arriving.push_back((end_ns, extent));
    }

    /// Time of the next arrival.
    pub fn next_arrival_ns(&self) -> Option<u64> {
        self.arriving.front().map(|(ns, _)| *ns)
    }

    /// Stores arrived data. Extents up to `order_min` are being flushed and are not extended.
    pub fn take_arrivals(&mut self, now_ns: u64, order_min: u64, geometry: &Geometry) {
        while let Some(&(end_ns, extent)) = self.arriving.front() {
            if end_ns > now_ns {
                return;
            }
            self.arriving.pop_front();
            self.sectors -= u64::from(extent.sectors);
            self.merge(extent, order_min, geometry);
        }
    }

    /// Adds a write and merges it with all extents that it touches.
    fn merge(&mut self, extent: Extent, order_min: u64, geometry: &Geometry) {
        let mut merged = Extent {
            data: Arrival::PAST,
            ..extent
        };
        let from = self.extents.partition_point(|e| e.end() < extent.lbn);
        let mut first = from;
        let mut to = from;
        while let Some(other) = self.extents.get(to) {
            let overlaps = other.lbn < extent.end() && other.end() > extent.lbn;
            if other.lbn > extent.end() {
                break;
            }
            let length = merged.end().max(other.end()) - merged.lbn.min(other.lbn);
            if (!overlaps && other.order <= order_min) || length > u64::from(u32::MAX) {
                // Only neighbours can be excluded: those on the left are skipped, those on the right end the search.
                if other.lbn >= extent.end() {
                    break;
                }
                first = to + 1;
                to += 1;
                continue;
            }
            merged = Extent {
                lbn: merged.lbn.min(other.lbn),
                sectors: length as u32,
                ..merged
            };
            merged.order = merged.order.min(other.order);
            merged.large &= other.large;
            merged.leave_ns = merged.leave_ns.min(other.leave_ns);
            self.sectors -= u64::from(other.sectors);
            to += 1;
        }
        if merged.lbn != extent.lbn {
            let spot = geometry.locate(merged.lbn);
            (merged.place, merged.angle_ns) = (spot.place, spot.angle_ns);
        }
        self.sectors += u64::from(merged.sectors);
        self.extents.drain(first..to);
        self.extents.insert(first, merged);
    }

    /// Takes an extent, or its first part, for the arm.
    pub fn take(&mut self, index: usize, sectors_max: u32, geometry: &Geometry) -> Option<Extent> {
        let extent = self.extents.get_mut(index)?;
        let mut taken = *extent;
        if taken.sectors > sectors_max {
            taken.sectors = sectors_max;
            extent.lbn += u64::from(sectors_max);
            extent.sectors -= sectors_max;
            extent.data.start_ns = extent.data.ready_ns(u64::from(sectors_max).saturating_sub(1));
            let spot = geometry.locate(extent.lbn);
            (extent.place, extent.angle_ns) = (spot.place, spot.angle_ns);
        } else {
            self.extents.remove(index);
        }
        self.sectors -= u64::from(taken.sectors);
        Some(taken)
    }

    /// Drops the data of a range that was trimmed or written through.
    pub fn cut(&mut self, lbn: u64, sectors: u64, geometry: &Geometry) {
        let end = lbn.saturating_add(sectors);
        let mut index = self.extents.partition_point(|e| e.end() <= lbn);
        while let Some(extent) = self.extents.get(index).copied() {
            if extent.lbn >= end {
                break;
            }
            self.extents.remove(index);
            self.sectors -= u64::from(extent.sectors);
            for (from, to) in [(extent.lbn, lbn), (end, extent.end())] {
                if from < to {
                    let spot = geometry.locate(from);
                    let sectors = (to - from) as u32;
                    let part = Extent {
                        lbn: from,
                        sectors,
                        place: spot.place,
                        angle_ns: spot.angle_ns,
                        ..extent
                    };
                    self.extents.insert(index, part);
                    self.sectors += u64::from(sectors);
                    index += 1;
                }
            }
        }
    }

    /// Whether one extent, or the one being written, holds the whole range.
    pub fn holds(&self, lbn: u64, sectors: u32) -> bool {
        let end = lbn + u64::from(sectors);
        let next = self.extents.partition_point(|e| e.end() < end);
        self.extents.get(next).is_some_and(|e| e.lbn <= lbn && e.end() >= end)
            || self.writing.is_some_and(|e| e.lbn <= lbn && e.end() >= end)
    }

    /// Extents that are not on the media: acknowledged, or about to be.
    pub fn volatile(&self) -> impl Iterator<Item = &Extent> {
        self.extents
            .iter()
            .chain(self.writing.iter())
            .chain(self.arriving.iter().map(|(_, e)| e))
    }

    /// The extent that a write would continue, if any.
    pub fn continues(&self, lbn: u64) -> Option<&Extent> {
        let next = self.extents.partition_point(|e| e.end() < lbn);
        let waiting = self.extents.get(next).into_iter();
        waiting
            .chain(self.writing.iter())
            .chain(self.arriving.iter().map(|(_, e)| e))
            .find(|e| e.end() == lbn)
    }
}
