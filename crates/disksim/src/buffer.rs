//! The drive's buffer: segments of sectors that follow each other, and which one serves a request.
//!
//! The order of preference is the one that DiskSim 4 found in real SCSI drives: data that waits to be written before
//! data being read before data at rest; a new request takes an empty segment, else the one unused for longest.

use crate::description::Buffer as BufferDescription;
use alloc::vec::Vec;

/// With more segments than this, the longest unused is taken even if another one is empty.
const MANY: usize = 16;

/// What a segment is used for.
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
    /// First sector past the data. Behind the head while `state` is `Reading`.
    pub end: u64,
    /// How far must, and may, be read ahead.
    pub ahead_min: u64,
    pub ahead_max: u64,
    /// How far reads from it have come: one that begins there, or before, goes on with a stream.
    pub next: u64,
    /// What lies before this went to the host, or was skipped by it, and is not served again.
    pub delivered: u64,
    /// Its last use was a write.
    pub written: bool,
    /// Extents in it that are not on the media.
    pub dirty: u32,
}

/// How much of a read is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    No,
    /// From its first sector on, but not all.
    Partial,
    Whole,
}

/// All segments.
pub struct Buffer {
    pub segments: Vec<Segment>,
    size: u64,
    caching: bool,
    hits_on_written: bool,
    /// Segment 0 is for writes alone.
    own_write_segment: bool,
    /// Segments by their last use, the most recent one last.
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

    /// The segment that holds the start of a read best. Ends must be up to date.
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
            // Most segments are out of the question; this is the quickest way to say so.
            if lbn < segment.start || lbn > segment.end || lbn < segment.delivered {
                continue;
            }
            let rank = match segment.state {
                State::Empty => 0,
                // Where the head is, or will be next: what reads on in order never has to go back for it.
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

    /// A read begins where others ended, or among what they left: of several under way, some overtake others.
    pub fn goes_on(&self, lbn: u64) -> bool {
        let mut known = self.segments.iter().filter(|s| s.state != State::Empty);
        known.any(|s| s.start <= lbn && lbn <= s.next)
    }

    /// The segment that a read which found nothing takes.
    pub fn victim_for_read(&self) -> usize {
        self.victim(|_| false)
    }

    /// The segment that a write takes which does not continue another one.
    pub fn victim_for_write(&self, lbn: u64, sectors: u32) -> usize {
        if self.own_write_segment {
            return 0;
        }
        self.victim(|s| s.state == State::Clean && s.overlaps(lbn, sectors))
    }

    /// One that is `old` anyway, else an empty one, else the one at rest that was not used for longest.
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

    /// A request used the segment.
    pub fn touch(&mut self, index: usize) {
        if let Some(at) = self.order.iter().rposition(|&i| usize::from(i) == index) {
            self.order[at..].rotate_left(1);
        }
    }

    pub fn last_used(&self, index: usize) -> bool {
        self.order.last().is_some_and(|&i| usize::from(i) == index)
    }

    /// Data at rest that a write makes old.
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

    /// Old sectors make room for the newest.
    pub fn wrap(&mut self, size: u64) {
        self.start = self.start.max(self.end.saturating_sub(size)).min(self.end);
    }
}
