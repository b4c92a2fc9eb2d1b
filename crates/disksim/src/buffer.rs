//! The drive's buffer: segments of consecutive sectors, and the choice of the segment for a request.
//!
//! The order of preference is that of DiskSim 4 for real SCSI drives: data that waits to be written, then data being
//! read, then data at rest; a new request uses an empty segment, else the least recently used one.

use crate::description::Buffer as BufferDescription;
use alloc::vec::Vec;

/// With more segments than this, the least recently used is taken even if another one is empty.
const MANY: usize = 16;

/// Use of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Empty,
    Clean,
    /// Holds sectors that are not on the media.
    Dirty,
    /// The head reads into it.
    Reading,
}

/// One segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub state: State,
    pub start: u64,
    /// First sector past the data. It lags behind the head while `state` is `Reading`.
    pub end: u64,
    /// Sectors that must, and may, be read ahead.
    pub ahead_min: u64,
    pub ahead_max: u64,
    /// End of the reads from it so far: a read that begins at or before it continues a stream.
    pub next: u64,
    /// Sectors before this were sent to the host or skipped by it, and are not served again.
    pub delivered: u64,
    /// Its last use was a write.
    pub written: bool,
    /// Number of its extents that are not on the media.
    pub dirty: u32,
}

/// How much of a read is in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    No,
    /// The first sectors, but not all.
    Partial,
    Whole,
}

/// All segments.
pub struct Buffer {
    pub segments: Vec<Segment>,
    size: u64,
    caching: bool,
    hits_on_written: bool,
    /// Segment 0 is reserved for writes.
    own_write_segment: bool,
    /// Segments by last use, the most recent last.
    order: Vec<u16>,
}

impl Buffer {
    pub fn new(buffer: &BufferDescription, own_write_segment: bool) -> Self {
        let empty = Segment {
            state: State::Empty,
            start: 0,
            end: 0,
            ahead_min: 0,
            ahead_max: 0,
            next: 0,
            delivered: 0,
            written: false,
            dirty: 0,
        };
        Buffer {
            segments: alloc::vec![empty; buffer.segments.max(1) as usize],
            size: u64::from(buffer.segment_sectors.max(1)),
            caching: buffer.caching,
            hits_on_written: buffer.hits_on_written,
            own_write_segment: own_write_segment && buffer.segments > 1,
            order: (0..buffer.segments.max(1) as u16).collect(),
        }
    }

    pub fn segment_sectors(&self) -> u64 {
        self.size
    }

    /// The segment that best holds the start of a read. Ends must be up to date.
    pub fn find(&self, lbn: u64, sectors: u32) -> (usize, Hit) {
        let mut best = (0, Hit::No);
        let mut best_rank = 0;
        if !self.caching {
            return best;
        }
        let end = lbn + u64::from(sectors);
        for (index, segment) in self
            .segments
            .iter()
            .enumerate()
            .skip(usize::from(self.own_write_segment))
        {
            // Most segments are excluded; this is the fastest test.
            if lbn < segment.start || lbn > segment.end || lbn < segment.delivered {
                continue;
            }
            let rank = match segment.state {
                State::Empty => 0,
                // The head is there or will be next: a sequential reader never has to seek back for it.
                State::Reading => 9,
                _ if lbn == segment.end => 0,
                State::Dirty if self.hits_on_written => 10,
                State::Clean if self.hits_on_written || !segment.written => 8,
                State::Dirty | State::Clean => 0,
            };
            if rank == 0 {
                continue;
            }
            let (rank, hit) = if segment.end >= end {
                (rank, Hit::Whole)
            } else {
                (rank - 4, Hit::Partial)
            };
            if rank > best_rank {
                (best_rank, best) = (rank, (index, hit));
            }
        }
        best
    }

    /// Whether the read begins in data that earlier ones left, for concurrent reads may overtake each other, or at most
    /// `reach` sectors past their end: a read-ahead of that length would have been of use, as with the chunks of an array that
    /// another disk has.
    pub fn goes_on(&self, lbn: u64, reach: u64) -> bool {
        let mut known = self.segments.iter().filter(|s| s.state != State::Empty);
        // What was only written has no end of a read.
        known.any(|s| s.start <= lbn && lbn <= s.next.saturating_add(if s.next > 0 { reach } else { 0 }))
    }

    /// The segment for a read that missed.
    pub fn victim_for_read(&self) -> usize {
        self.victim(|_| false)
    }

    /// The segment for a write that does not continue another one.
    pub fn victim_for_write(&self, lbn: u64, sectors: u32) -> usize {
        if self.own_write_segment {
            return 0;
        }
        self.victim(|s| s.state == State::Clean && s.overlaps(lbn, sectors))
    }

    /// One that is `old`, else an empty one, else the least recently used one at rest.
    fn victim(&self, old: impl Fn(&Segment) -> bool) -> usize {
        let mut best = usize::from(self.own_write_segment);
        let mut best_rank = 0;
        for &index in &self.order {
            let segment = &self.segments[usize::from(index)];
            let rank = match segment.state {
                _ if index == 0 && self.own_write_segment => 0,
                _ if old(segment) => 5,
                State::Empty => 4,
                State::Clean => 3,
                State::Reading => 2,
                State::Dirty => 1,
            };
            if rank > best_rank {
                (best, best_rank) = (usize::from(index), rank);
            }
            if best_rank >= 4 || (best_rank == 3 && self.segments.len() > MANY) {
                break;
            }
        }
        best
    }

    /// Marks the segment as the most recently used.
    pub fn touch(&mut self, index: usize) {
        if let Some(at) = self.order.iter().rposition(|&i| usize::from(i) == index) {
            self.order[at..].rotate_left(1);
        }
    }

    pub fn last_used(&self, index: usize) -> bool {
        self.order.last().is_some_and(|&i| usize::from(i) == index)
    }

    /// Drops data at rest that a write makes obsolete.
    pub fn forget(&mut self, lbn: u64, sectors: u32, except: usize) {
        for (index, segment) in self.segments.iter_mut().enumerate() {
            if index != except && segment.state == State::Clean && segment.overlaps(lbn, sectors) {
                segment.state = State::Empty;
            }
        }
    }
}

impl Segment {
    pub fn overlaps(&self, lbn: u64, sectors: u32) -> bool {
        self.state != State::Empty && lbn < self.end && lbn + u64::from(sectors) > self.start
    }

    /// Drops the oldest sectors if the segment is full.
    pub fn wrap(&mut self, size: u64) {
        self.start = self.start.max(self.end.saturating_sub(size)).min(self.end);
    }
}
