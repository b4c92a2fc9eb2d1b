//! A drive with platters: how its processor handles requests, step by step.
//!
//! There is no event per sector. An access is computed run by run (a run lies on one track), and the progress of
//! read-ahead is computed on demand.

mod choose;
mod flush;
mod partial_sectors;
mod read;
mod write;

use crate::buffer::{Buffer, State};
use crate::completion_queue::Finishes;
use crate::counters::Counters;
use crate::description::{self, Overheads};
use crate::extents::{Arrival, Extent};
use crate::faults::Faults;
use crate::geometry::Place;
use crate::link::{Links, span_ns};
use crate::positioning::{Mechanics, Run};
use crate::request::{Op, Request, Status};
use crate::shingled::Shingles;
use crate::write_back::WriteBack;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use choose::Pick;

/// Shared state that a drive may use while it works.
pub struct Surroundings<'a> {
    pub finishes: &'a mut Finishes,
    pub links: &'a mut Links,
    pub faults: &'a mut Faults,
    pub counters: &'a mut Counters,
}

/// State of a drive.
pub struct Drive {
    mechanics: Mechanics,
    overheads: Overheads,
    buffer_rules: description::Buffer,
    cache_rules: description::WriteCache,
    queue_rules: description::Queue,
    interface: description::Interface,
    path: Vec<u32>,
    sectors: u64,
    physical_sectors: u64,

    buffer: Buffer,
    cache: WriteBack,
    shingles: Option<Shingles>,
    /// Requests that wait for the arm.
    queue: Vec<Job>,
    /// Writes that wait for room in the cache.
    stalled: VecDeque<Job>,
    flushes: Vec<PendingFlush>,
    /// Reads with data ready for a shared link.
    transfers: Vec<Transfer>,

    busy: Busy,
    sweep: Option<Sweep>,
    /// Position of the arm when nothing is being read, and when it can leave.
    place: Place,
    free_ns: u64,
    /// End of the last access.
    last_lbn: u64,
    /// Time of the last request of the host that needed the arm.
    active_ns: u64,
    wake_ns: Option<u64>,
    last_was_read: bool,
    /// Interval for which the drive's own wire is reserved.
    wire: (u64, u64),
    order: u64,
    /// The extra disconnect applies to one write at a time.
    extra_disconnect_until_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Job {
    tag: u32,
    lbn: u64,
    sectors: u32,
    /// Sectors of the whole request, of which this may be a part.
    asked: u32,
    kind: Kind,
    order: u64,
    arrive_ns: u64,
    /// When the drive's processor is done with the command and the arm may leave.
    leave_ns: u64,
    place: Place,
    angle_ns: u64,
    /// Arrival of a write's data, if the transfer has begun.
    data: Option<Arrival>,
    extra_disconnect: bool,
    after_read: bool,
    /// It begins where an earlier read ended.
    sequential: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    CachedWrite,
    ThroughWrite,
}

/// What the arm is doing for a waiting request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Busy {
    No,
    /// Busy with a request until this time.
    Until(u64),
    /// Writing from the cache.
    Destage(u64),
    /// Until the end of a transfer on a shared link.
    Link,
}

#[derive(Clone, Copy, Debug)]
struct PendingFlush {
    tag: u32,
    order: u64,
}

/// Read-ahead into a segment.
#[derive(Clone, Copy, Debug)]
struct Sweep {
    segment: usize,
    run: Run,
    /// Until this time the segment's end is unchanged: the run was computed in advance.
    sure_ns: u64,
}

/// Data that waits for a shared link.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    want_ns: u64,
    /// Earliest end, limited by the media.
    end_min_ns: u64,
    tag: u32,
    sectors: u32,
    status: Status,
    holds_arm: bool,
}

impl Drive {
    pub fn new(model: &description::Mechanical, sectors: u64, seed: u64, path: &[u32]) -> Self {
        let rules = model.write_cache;
        Drive {
            mechanics: Mechanics::new(model, seed),
            overheads: model.overheads,
            buffer_rules: model.buffer,
            cache_rules: rules,
            queue_rules: model.queue,
            interface: model.interface,
            path: path.to_vec(),
            sectors,
            physical_sectors: u64::from(model.physical_sectors.max(1)),
            buffer: Buffer::new(&model.buffer, rules.in_segments && rules.own_segment),
            cache: WriteBack::with_capacity(rules.extents_max.min(4096) as usize + 2),
            shingles: model.shingled.map(|rules| Shingles::new(rules, sectors)),
            queue: Vec::with_capacity(model.queue.depth.min(1024) as usize + 1),
            stalled: VecDeque::with_capacity(model.queue.depth.min(1024) as usize + 1),
            flushes: Vec::new(),
            transfers: Vec::new(),
            busy: Busy::No,
            sweep: None,
            place: Place::default(),
            free_ns: 0,
            last_lbn: 0,
            active_ns: 0,
            wake_ns: None,
            last_was_read: true,
            wire: (0, 0),
            order: 0,
            extra_disconnect_until_ns: 0,
        }
    }

    /// Overhead of the drive's processor for a command.
    pub fn command_ns(&self) -> u64 {
        self.overheads.request_ns
    }

    /// Accepts a request that the front end admitted.
    pub fn arrive(&mut self, now_ns: u64, request: &Request, around: &mut Surroundings) {
        let now_ns = now_ns + self.overheads.request_ns;
        match request.op {
            Op::Read => self.read_arrives(now_ns, request, around),
            Op::Write => self.write_arrives(now_ns, request, around),
            Op::Flush => self.flush_arrives(now_ns, request.tag, around),
            Op::Discard => {
                self.cache
                    .cut(request.sector, u64::from(request.sectors), &self.mechanics.geometry);
                around
                    .finishes
                    .push(now_ns + self.write_overhead(true), request.tag, Status::Ok);
            }
        }
    }

    /// Time of the next call of [`process`](Self::process).
    pub fn next_ns(&self) -> Option<u64> {
        let arm_ns = match self.busy {
            Busy::Until(ns) | Busy::Destage(ns) => Some(ns),
            Busy::No => self.wake_ns,
            Busy::Link => None,
        };
        let transfer_ns = self.transfers.iter().map(|t| t.want_ns).min();
        [arm_ns, transfer_ns].into_iter().flatten().min()
    }

    /// Processes what is due at `now_ns`, the time returned by [`next_ns`](Self::next_ns).
    pub fn process(&mut self, now_ns: u64, around: &mut Surroundings) {
        self.start_transfers(now_ns, around);
        match self.busy {
            Busy::Until(ns) if ns <= now_ns => {
                self.busy = Busy::No;
                self.dispatch(now_ns, around);
            }
            Busy::Destage(ns) if ns <= now_ns => {
                self.busy = Busy::No;
                self.destage_done(now_ns, around);
                self.dispatch(now_ns, around);
            }
            Busy::No => self.dispatch(now_ns, around),
            _ => {}
        }
    }

    /// Ranges that were acknowledged and would be lost in a power cut.
    pub fn volatile(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.cache.volatile().map(|e| (e.lbn, e.sectors))
    }

    /// Drops all requests, for a disk that dies; `dropped` is called with their tags.
    pub fn drop_all(&mut self, mut dropped: impl FnMut(u32)) {
        self.queue.drain(..).for_each(|j| dropped(j.tag));
        self.stalled.drain(..).for_each(|j| dropped(j.tag));
        self.flushes.drain(..).for_each(|f| dropped(f.tag));
        self.transfers.drain(..).for_each(|t| dropped(t.tag));
        self.busy = Busy::No;
        self.wake_ns = None;
    }

    fn job(&mut self, now_ns: u64, request: &Request, kind: Kind) -> Job {
        self.order += 1;
        let spot = self.mechanics.geometry.locate(request.sector);
        Job {
            tag: request.tag,
            lbn: request.sector,
            sectors: request.sectors,
            asked: request.sectors,
            kind,
            order: self.order,
            arrive_ns: now_ns,
            leave_ns: now_ns,
            place: spot.place,
            angle_ns: spot.angle_ns,
            data: None,
            extra_disconnect: false,
            after_read: self.last_was_read,
            sequential: false,
        }
    }

    /// Gives the arm work until it is busy or there is none left.
    fn dispatch(&mut self, now_ns: u64, around: &mut Surroundings) {
        self.wake_ns = None;
        while self.busy == Busy::No {
            match self.pick(now_ns) {
                Pick::Job(index) => {
                    let job = self.queue.swap_remove(index);
                    match job.kind {
                        Kind::Read => self.begin_read(now_ns, job, around),
                        Kind::ThroughWrite => self.begin_through_write(now_ns, job, around),
                        Kind::CachedWrite => self.accept_at_turn(now_ns, job, around),
                    }
                }
                Pick::Extent(index) => self.begin_destage(now_ns, index, around),
                Pick::Merge => self.begin_merge(now_ns, around),
                Pick::Later(at_ns) => {
                    self.wake_ns = Some(at_ns);
                    return;
                }
                Pick::Nothing => return,
            }
        }
    }

    fn write_overhead(&self, cached: bool) -> u64 {
        let o = &self.overheads;
        match (cached, self.last_was_read) {
            (true, true) => o.write_hit_after_read_ns,
            (true, false) => o.write_hit_after_write_ns,
            (false, true) => o.write_miss_after_read_ns,
            (false, false) => o.write_miss_after_write_ns,
        }
    }

    /// Reserves the drive's own wire for a transfer that could run from `want_ns` on and cannot end before
    /// `end_min_ns`; returns its end. A short transfer may pass before a longer one that has not started.
    fn own_wire(&mut self, want_ns: u64, end_min_ns: u64, sectors: u32, sector_ps: u64) -> u64 {
        let takes_ns = span_ns(sectors, sector_ps);
        let (from_ns, until_ns) = self.wire;
        let mut end_ns = end_min_ns.max(want_ns + takes_ns);
        let start_ns = end_ns - takes_ns;
        if start_ns < until_ns && end_ns > from_ns {
            end_ns = until_ns + takes_ns;
            self.wire.1 = end_ns;
        } else if start_ns >= until_ns {
            self.wire = if start_ns == until_ns {
                (from_ns, end_ns)
            } else {
                (start_ns, end_ns)
            };
        }
        end_ns
    }

    /// Transfers the data of a write: over the drive's wire and the shared links, if any.
    fn wire_in(&mut self, want_ns: u64, sectors: u32, around: &mut Surroundings) -> (u64, u64) {
        let sector_ps = self.interface.write_sector_ps;
        let mut end_ns = self.own_wire(want_ns, 0, sectors, sector_ps);
        if !self.path.is_empty() {
            let takes_ns = span_ns(sectors, sector_ps);
            end_ns = end_ns.max(around.links.transfer(&self.path, end_ns - takes_ns, sectors));
        }
        (end_ns - span_ns(sectors, sector_ps), end_ns)
    }

    fn start_transfers(&mut self, now_ns: u64, around: &mut Surroundings) {
        while let Some(index) = self.transfers.iter().position(|t| t.want_ns <= now_ns) {
            let transfer = self.transfers.swap_remove(index);
            let end_ns = around
                .links
                .transfer(&self.path, now_ns, transfer.sectors)
                .max(transfer.end_min_ns);
            let done_ns = end_ns + self.overheads.read_completion_ns;
            around.finishes.push(done_ns, transfer.tag, transfer.status);
            if transfer.holds_arm {
                self.busy = Busy::Until(done_ns);
            }
        }
    }

    /// Records the head's progress in its segment. A completed read-ahead ends.
    fn record_progress(&mut self, now_ns: u64) {
        let Some(mut sweep) = self.sweep else { return };
        if now_ns < sweep.sure_ns {
            return;
        }
        let limit = self.buffer.segments[sweep.segment].ahead_max;
        self.extend(&mut sweep, now_ns, limit);
        let front = sweep.run.front(now_ns).min(limit);
        let size = self.buffer.segment_sectors();
        let segment = &mut self.buffer.segments[sweep.segment];
        segment.end = segment.end.max(front);
        segment.wrap(size);
        if segment.end >= limit {
            segment.state = State::Clean;
            self.place = sweep.run.place;
            self.free_ns = sweep.run.time_of(limit).min(now_ns);
            self.last_lbn = segment.end;
            self.sweep = None;
        } else {
            self.sweep = Some(sweep);
        }
    }

    /// Continues until the given time or sector.
    fn extend(&self, sweep: &mut Sweep, until_ns: u64, limit: u64) {
        while sweep.run.end_ns() <= until_ns && sweep.run.end_lbn() < limit {
            sweep.run = self.next_run(&sweep.run, limit);
        }
    }

    /// The arm is needed elsewhere: ends the read-ahead, at the latest after the current step.
    fn stop_sweep(&mut self, now_ns: u64) {
        self.record_progress(now_ns);
        let Some(mut sweep) = self.sweep.take() else { return };
        let minimum = self.buffer.segments[sweep.segment].ahead_min;
        let mut stop_ns = now_ns.max(sweep.sure_ns);
        while sweep.run.end_lbn() < minimum {
            sweep.run = self.next_run(&sweep.run, minimum);
        }
        if sweep.run.front(stop_ns) < minimum {
            stop_ns = stop_ns.max(sweep.run.time_of(minimum));
        }
        let size = self.buffer.segment_sectors();
        let segment = &mut self.buffer.segments[sweep.segment];
        segment.end = segment.end.max(sweep.run.front(stop_ns).min(segment.ahead_max));
        segment.wrap(size);
        segment.state = State::Clean;
        self.last_lbn = segment.end;
        self.place = sweep.run.place;
        let at_once = self.buffer_rules.stop_in_sector && stop_ns >= sweep.run.arrive_ns;
        self.free_ns = if at_once { stop_ns } else { sweep.run.step_end(stop_ns) };
    }

    fn count_access(around: &mut Surroundings, leave_ns: u64, run: &Run, end_ns: u64) {
        around.counters.seek_ns += run.arrive_ns.saturating_sub(leave_ns);
        around.counters.rotation_ns += run.start_ns.saturating_sub(run.arrive_ns);
        around.counters.transfer_ns += end_ns.saturating_sub(run.start_ns);
    }

    fn extent(&self, job: &Job, data: Arrival, segment: Option<usize>) -> Extent {
        Extent {
            lbn: job.lbn,
            sectors: job.sectors,
            order: job.order,
            leave_ns: job.leave_ns,
            data,
            place: job.place,
            angle_ns: job.angle_ns,
            segment: segment.map(|s| s as u32),
            large: self
                .shingles
                .as_ref()
                .is_some_and(|s| job.asked >= s.rules.direct_sectors),
        }
    }
}
