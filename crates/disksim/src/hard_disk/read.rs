//! Reads: from the buffer, from the read-ahead in progress, or from anywhere on the platters.

use super::{Busy, Drive, Job, Kind, Surroundings, Sweep, Transfer};
use crate::buffer::{Hit, State};
use crate::description::{ReadAhead, SeekEarly};
use crate::link::span_ns;
use crate::positioning::{Run, Taking};
use crate::request::{Request, Status};

/// When the drive's wire can start, and the earliest time at which the last sector can have passed it.
struct Flow {
    want_ns: u64,
    end_min_ns: u64,
}

impl Drive {
    pub(super) fn read_arrives(&mut self, now_ns: u64, request: &Request, around: &mut Surroundings) {
        let mut job = self.job(now_ns, request, Kind::Read);
        job.leave_ns = now_ns + self.read_overhead(false, job.after_read);
        self.record_progress(now_ns);
        let (segment, hit) = self.find(&job);
        match hit {
            Hit::Whole => around.counters.hits += 1,
            Hit::Partial => around.counters.partial_hits += 1,
            Hit::No => {}
        }
        let arm_free = self.busy == Busy::No && self.queue.is_empty();
        let at_once = match hit {
            Hit::Whole => arm_free || self.buffer_rules.hits_while_busy,
            Hit::Partial => arm_free && self.enough(&job, segment) && !self.just_missed(&job, segment),
            Hit::No => false,
        };
        if at_once {
            let overhead_ns = self.read_overhead(true, job.after_read) + self.overheads.data_preparation_ns;
            self.serve(now_ns, job, segment, hit, now_ns + overhead_ns, around);
            if self.busy == Busy::No {
                self.dispatch(now_ns, around);
            }
        } else if arm_free && self.cache.is_empty() {
            // Only one candidate.
            let want_ns = self.reconnected_ns(now_ns, &job);
            self.serve(now_ns, job, segment, hit, want_ns, around);
        } else {
            self.queue.push(job);
            if self.busy == Busy::No {
                self.dispatch(now_ns, around);
            }
        }
    }

    /// The arm is free for a read that waited for it, or that has just arrived.
    pub(super) fn begin_read(&mut self, now_ns: u64, job: Job, around: &mut Surroundings) {
        self.record_progress(now_ns);
        let (segment, hit) = self.find(&job);
        let want_ns = self.reconnected_ns(now_ns, &job);
        self.serve(now_ns, job, segment, hit, want_ns, around);
    }

    /// When the drive could get the bus again after a disconnect.
    fn reconnected_ns(&self, now_ns: u64, job: &Job) -> u64 {
        let disconnect_ns = if job.after_read {
            self.overheads.read_disconnect_after_read_ns
        } else {
            self.overheads.read_disconnect_after_write_ns
        };
        let connected_ns = (job.leave_ns + disconnect_ns).max(now_ns);
        connected_ns + self.overheads.first_reselect_ns + self.overheads.data_preparation_ns
    }

    /// The buffer's segment for a read, or the write cache's extent.
    fn find(&self, job: &Job) -> (usize, Hit) {
        let found = self.buffer.find(job.lbn, job.sectors);
        let written = found.1 != Hit::Whole
            && !self.cache_rules.in_segments
            && self.buffer_rules.hits_on_written
            && self.cache.holds(job.lbn, job.sectors);
        if written {
            return (usize::MAX, Hit::Whole);
        }
        match self.sweep {
            Some(sweep) if found.1 == Hit::No && self.comes_to(&sweep, job.lbn) => (sweep.segment, Hit::Partial),
            _ => found,
        }
    }

    /// Whether the read-ahead will reach a sector on its track, and the drive lets it continue.
    fn comes_to(&self, sweep: &Sweep, lbn: u64) -> bool {
        let reached = self.buffer.segments[sweep.segment].end;
        self.buffer_rules.keeps_gaps
            && lbn >= reached
            && lbn < reached + self.buffer.segment_sectors()
            && self.mechanics.geometry.locate(lbn).place == sweep.run.place
    }

    fn enough(&self, job: &Job, segment: usize) -> bool {
        let there = self.buffer.segments[segment].end.saturating_sub(job.lbn);
        self.buffer_rules.partial_hit_at_once || there >= u64::from(self.watermark(job))
    }

    /// Nothing of it is in the buffer yet: the head is just reaching it, which not every drive counts as a hit.
    fn just_missed(&self, job: &Job, segment: usize) -> bool {
        !self.buffer_rules.almost_hits && job.lbn >= self.buffer.segments[segment].end
    }

    fn serve(&mut self, now_ns: u64, job: Job, segment: usize, hit: Hit, want_ns: u64, around: &mut Surroundings) {
        let mut job = job;
        let reach = match self.buffer_rules.read_ahead {
            ReadAhead::Sectors(sectors) => u64::from(sectors),
            _ => 0,
        };
        job.sequential = self.buffer.goes_on(job.lbn, reach);
        match hit {
            Hit::Whole => self.serve_whole(now_ns, job, segment, want_ns, around),
            Hit::Partial | Hit::No => self.serve_from_media(now_ns, job, segment, hit, want_ns, around),
        }
    }

    fn serve_whole(&mut self, now_ns: u64, job: Job, segment: usize, want_ns: u64, around: &mut Surroundings) {
        let flow = Flow { want_ns, end_min_ns: 0 };
        if segment == usize::MAX {
            self.deliver(&job, flow, None, around);
            return;
        }
        self.buffer.touch(segment);
        let arm_free = self.busy == Busy::No;
        if arm_free && !self.buffer_rules.hits_while_busy && self.sweep.is_some_and(|s| s.segment != segment) {
            self.stop_sweep(now_ns);
        }
        let found = self.buffer.segments[segment];
        if found.state != State::Dirty {
            self.raise_limits(&job, segment);
            let more = found.end < self.buffer.segments[segment].ahead_max;
            if arm_free && self.sweep.is_none() && self.buffer_rules.read_ahead_on_hit && more {
                let leave_ns = job.leave_ns.max(self.free_ns);
                self.start_sweep(leave_ns, segment, found.end, Taking::IN_ORDER);
            }
        }
        self.active_ns = self.active_ns.max(now_ns);
        let holds_arm = self.queue_rules.seek_early == SeekEarly::No && arm_free;
        self.deliver(&job, flow, holds_arm.then_some(0), around);
    }

    fn serve_from_media(
        &mut self,
        now_ns: u64,
        job: Job,
        segment: usize,
        hit: Hit,
        want_ns: u64,
        around: &mut Surroundings,
    ) {
        let end = job.lbn + u64::from(job.sectors);
        let goes_on = hit == Hit::Partial && self.sweep.is_some_and(|s| s.segment == segment);
        let (segment, leave_ns) = if goes_on {
            (segment, now_ns)
        } else {
            self.stop_sweep(now_ns);
            let slow_ns = around.faults.slowdown_ns(now_ns);
            (
                self.aim(&job, segment, hit),
                job.leave_ns.max(now_ns).max(self.free_ns) + slow_ns,
            )
        };
        self.buffer.touch(segment);
        self.raise_limits(&job, segment);
        if !goes_on {
            let from = self.buffer.segments[segment].end;
            let rules = &self.buffer_rules;
            let taking = Taking {
                free: rules.read_free_sectors && hit == Hit::No,
                on_arrival: rules.read_on_arrival,
            };
            let until = if rules.read_on_arrival || rules.read_free_sectors {
                end
            } else {
                from
            };
            self.start_sweep_until(leave_ns, segment, from, until, taking);
            self.buffer.segments[segment].state = State::Reading;
        }
        let Some(mut sweep) = self.sweep else { return };
        if !goes_on {
            Self::count_access(around, leave_ns, &sweep.run, sweep.run.start_ns);
        }
        let (flow, media_ns) = self.pass(&mut sweep, &job, hit, want_ns);
        around.counters.transfer_ns += media_ns.saturating_sub(sweep.run.start_ns.max(now_ns));
        sweep.sure_ns = media_ns;
        let size = self.buffer.segment_sectors();
        let read = &mut self.buffer.segments[segment];
        read.start = read.start.min(job.lbn);
        self.sweep = Some(sweep);
        // The end is recorded when the head has passed it.
        read.wrap(size);
        self.active_ns = media_ns;
        self.deliver(&job, flow, Some(media_ns), around);
    }

    /// Passes the head over the request; returns the flow of its data and the time when the head is done.
    fn pass(&self, sweep: &mut Sweep, job: &Job, hit: Hit, want_ns: u64) -> (Flow, u64) {
        let end = job.lbn + u64::from(job.sectors);
        let sector_ps = self.interface.read_sector_ps;
        let watermark = job.lbn + u64::from(self.watermark(job));
        let found = self.buffer.segments[sweep.segment].end;
        let mut flow = Flow { want_ns, end_min_ns: 0 };
        let mut gap_ns = None;
        loop {
            let run = sweep.run;
            let first = run.lbn.max(job.lbn).max(found);
            let past = run.end_lbn().min(end);
            if first < past {
                let in_order = past.min(run.lbn + u64::from(run.sectors));
                // If the wire is slower, the first sector decides; if the media is slower, the last one does.
                for (lbn, rest) in [
                    (first, end - first),
                    (in_order.max(first + 1) - 1, end + 1 - in_order.max(first + 1)),
                ] {
                    let there_ns = run.time_of(lbn + 1);
                    flow.end_min_ns = flow.end_min_ns.max(there_ns + span_ns(rest as u32, sector_ps));
                }
                if past > in_order {
                    flow.end_min_ns = flow
                        .end_min_ns
                        .max(run.end_ns() + span_ns((end - in_order) as u32, sector_ps));
                }
                if hit == Hit::No && gap_ns.is_none() && watermark <= run.end_lbn() && watermark > run.lbn {
                    gap_ns = Some(run.time_of(watermark));
                }
            }
            if run.end_lbn() >= end {
                let reselect_ns = self.overheads.first_reselect_ns + self.overheads.data_preparation_ns;
                if let Some(ready_ns) = gap_ns {
                    flow.want_ns = flow.want_ns.max(ready_ns + reselect_ns);
                }
                return (flow, run.time_of(end));
            }
            sweep.run = self.next_run(&run, end);
        }
    }

    /// The run after this one.
    pub(super) fn next_run(&self, run: &Run, until: u64) -> Run {
        let lbn = run.end_lbn();
        let on_arrival = self.buffer_rules.read_on_arrival
            // After a slip on the same track all sectors are in order.
            && self.mechanics.geometry.locate(lbn).place != run.place;
        let taking = Taking {
            free: false,
            on_arrival,
        };
        self.mechanics.run(run.place, run.end_ns(), lbn, until, false, taking)
    }

    /// Prepares a segment for the data of a read.
    fn aim(&mut self, job: &Job, segment: usize, hit: Hit) -> usize {
        if hit == Hit::Partial {
            return segment;
        }
        let segment = self.buffer.victim_for_read();
        let aimed = &mut self.buffer.segments[segment];
        (aimed.start, aimed.end) = (job.lbn, job.lbn);
        (aimed.ahead_min, aimed.ahead_max) = (0, 0);
        (aimed.next, aimed.delivered) = (0, 0);
        (aimed.written, aimed.dirty) = (false, 0);
        aimed.state = State::Clean;
        segment
    }

    fn start_sweep(&mut self, leave_ns: u64, segment: usize, from: u64, taking: Taking) {
        self.start_sweep_until(leave_ns, segment, from, from, taking);
        self.buffer.segments[segment].state = State::Reading;
    }

    fn start_sweep_until(&mut self, leave_ns: u64, segment: usize, from: u64, until: u64, taking: Taking) {
        let run = self.mechanics.run(self.place, leave_ns, from, until, false, taking);
        let target = &mut self.buffer.segments[segment];
        target.written = false;
        if run.lbn < from {
            (target.start, target.end) = (run.lbn, run.lbn);
        }
        self.sweep = Some(Sweep {
            segment,
            run,
            sure_ns: 0,
        });
    }

    /// Sets how far the drive must, and may, read on after a request.
    fn raise_limits(&mut self, job: &Job, segment: usize) {
        let end = job.lbn + u64::from(job.sectors);
        let minimum = end
            .saturating_add(u64::from(self.buffer_rules.read_ahead_min_sectors))
            .min(self.sectors);
        let wanted = if self.buffer_rules.adaptive_read_ahead && !job.sequential {
            end
        } else {
            self.read_ahead_limit(job.lbn, end, segment)
        };
        let maximum = wanted.min(self.sectors).max(end);
        let drops = self.buffer_rules.drops_delivered;
        let segment = &mut self.buffer.segments[segment];
        segment.next = segment.next.max(end);
        if drops {
            segment.delivered = segment.delivered.max(end);
        }
        segment.ahead_min = segment.ahead_min.max(minimum);
        segment.ahead_max = segment.ahead_max.max(maximum);
    }

    fn read_ahead_limit(&self, lbn: u64, end: u64, segment: usize) -> u64 {
        let geometry = &self.mechanics.geometry;
        let size = self.buffer.segment_sectors();
        match self.buffer_rules.read_ahead {
            ReadAhead::None => end,
            ReadAhead::Sectors(sectors) => end.saturating_add(u64::from(sectors)),
            ReadAhead::FillSegment => end.max(lbn.saturating_add(size)),
            ReadAhead::ToEndOfTrack => geometry.track_bounds(end - 1).1,
            ReadAhead::ToEndOfCylinder => geometry.cylinder_end(end - 1),
            ReadAhead::TrackAhead => {
                let (first, past) = geometry.track_bounds(end.min(self.sectors.saturating_sub(1)));
                let streaming = self.buffer.segments[segment].start < first;
                if streaming { past + (past - first) } else { past }
            }
        }
    }

    /// Sectors that must be in the buffer before the wire is requested.
    fn watermark(&self, job: &Job) -> u32 {
        let size = self.buffer.segment_sectors().min(u64::from(u32::MAX)) as u32;
        let percent = u64::from(self.buffer_rules.read_watermark_percent);
        let part = if self.buffer_rules.watermark_of_request {
            u64::from(size.min(job.sectors)) * percent / 100
        } else {
            (u64::from(size) * percent).div_ceil(100)
        };
        (part as u32).clamp(1, job.sectors.max(1))
    }

    fn read_overhead(&self, hit: bool, after_read: bool) -> u64 {
        let o = &self.overheads;
        match (hit, after_read) {
            (true, true) => o.read_hit_after_read_ns,
            (true, false) => o.read_hit_after_write_ns,
            (false, true) => o.read_miss_after_read_ns,
            (false, false) => o.read_miss_after_write_ns,
        }
    }

    /// Sends a read's data to the host. `media_ns` is set if the request has the arm: when the head is done with it.
    fn deliver(&mut self, job: &Job, flow: Flow, media_ns: Option<u64>, around: &mut Surroundings) {
        let mut status = Status::Ok;
        let mut end_min_ns = flow.end_min_ns;
        if let Some(sector) = around.faults.first_unreadable(job.lbn, job.sectors) {
            status = Status::MediumError { sector };
            end_min_ns = end_min_ns.max(flow.want_ns) + around.faults.recovery_ns;
        }
        self.last_was_read = true;
        let end_ns = self.own_wire(flow.want_ns, end_min_ns, job.sectors, self.interface.read_sector_ps);
        let waits_for_host = media_ns.is_some() && self.queue_rules.seek_early == SeekEarly::No;
        if self.path.is_empty() {
            let done_ns = end_ns + self.overheads.read_completion_ns;
            around.finishes.push(done_ns, job.tag, status);
            if let Some(media_ns) = media_ns {
                self.busy = Busy::Until(if waits_for_host { done_ns } else { media_ns });
            }
            return;
        }
        let takes_ns = span_ns(job.sectors, self.interface.read_sector_ps);
        self.transfers.push(Transfer {
            want_ns: end_ns - takes_ns,
            end_min_ns: end_ns,
            tag: job.tag,
            sectors: job.sectors,
            status,
            holds_arm: waits_for_host,
        });
        if let Some(media_ns) = media_ns {
            self.busy = if waits_for_host {
                Busy::Link
            } else {
                Busy::Until(media_ns)
            };
        }
    }
}
