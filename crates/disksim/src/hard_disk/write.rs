//! Writes: into the cache, from the cache to the platters, or write-through.

use super::{Busy, Drive, Job, Kind, Surroundings};
use crate::buffer::State;
use crate::description::SeekEarly;
use crate::extents::{Arrival, Extent};
use crate::geometry::Place;
use crate::positioning::{Run, Taking};
use crate::request::{Request, Status};
use crate::shingled::Target;

impl Drive {
    pub(super) fn write_arrives(&mut self, now_ns: u64, request: &Request, around: &mut Surroundings) {
        around.faults.heal(request.sector, request.sectors);
        self.record_progress(now_ns);
        let rules = self.cache_rules;
        let cached = rules.enabled && !request.fua && rules.sectors_max > 0;
        let mut job = self.job(
            now_ns,
            request,
            if cached { Kind::CachedWrite } else { Kind::ThroughWrite },
        );
        job.leave_ns = now_ns + self.write_overhead(cached);
        self.stop_if_overlapped(now_ns, &job);
        if !cached {
            self.through_write_arrives(now_ns, job, around);
        } else if rules.accept_while_busy || self.appends(&job) || (self.arm_free() && self.room(&job) > 0) {
            self.stalled.push_back(job);
            self.accept_stalled(now_ns, around);
            if self.busy == Busy::No {
                self.dispatch(now_ns, around);
            }
        } else {
            self.queue.push(job);
            if self.busy == Busy::No {
                self.dispatch(now_ns, around);
            }
        }
    }

    fn arm_free(&self) -> bool {
        self.busy == Busy::No && self.queue.is_empty()
    }

    fn appends(&self, job: &Job) -> bool {
        self.cache_rules.combine && self.cache.continues(job.lbn).is_some()
    }

    /// Number of a write's sectors that the cache accepts now: all, or as many as are written at once, or none.
    fn room(&self, job: &Job) -> u32 {
        let (extents, held) = self.cache.held();
        if extents >= self.cache_rules.extents_max as usize && !self.appends(job) {
            return 0;
        }
        let free = u64::from(self.cache_rules.sectors_max).saturating_sub(held);
        let enough = self.step().min(job.sectors);
        match u64::from(job.sectors).min(free) as u32 {
            room if room >= enough => room,
            _ => 0,
        }
    }

    /// Sectors that the arm writes at once; the cache is never smaller.
    fn step(&self) -> u32 {
        let rules = &self.cache_rules;
        rules.destage_sectors_max.min(rules.sectors_max / 2).max(1)
    }

    /// Read-ahead data becomes obsolete when it is overwritten.
    fn stop_if_overlapped(&mut self, now_ns: u64, job: &Job) {
        let Some(sweep) = self.sweep else { return };
        let segment = &mut self.buffer.segments[sweep.segment];
        if self.buffer_rules.write_stops_read_ahead
            && self.busy == Busy::No
            && segment.overlaps(job.lbn, job.sectors)
        {
            segment.ahead_max = segment.end;
            segment.ahead_min = segment.end;
            self.stop_sweep(now_ns);
        }
    }

    /// Puts a write, or its next part, into the cache. It is acknowledged with its last sector.
    fn accept(&mut self, job: &Job, last: bool, want_ns: u64, around: &mut Surroundings) {
        let (start_ns, end_ns) = self.wire_in(want_ns, job.sectors, around);
        if last {
            around
                .finishes
                .push(end_ns + self.overheads.write_completion_ns, job.tag, Status::Ok);
            around.counters.cached_writes += 1;
        }
        let segment = self.cache_rules.in_segments.then(|| self.segment_for(job));
        self.buffer.forget(job.lbn, job.sectors, segment.unwrap_or(usize::MAX));
        let data = Arrival {
            start_ns,
            sector_ps: self.interface.write_sector_ps,
            ahead: 0,
        };
        let extent = self.extent(job, data, segment);
        if self.cache_rules.in_segments || !self.cache_rules.combine {
            self.cache.push(extent);
        } else {
            self.cache.arrive(end_ns, extent);
        }
        self.last_was_read = false;
    }

    /// Accepts a queued write whose data the drive could not accept before.
    pub(super) fn accept_at_turn(&mut self, now_ns: u64, job: Job, around: &mut Surroundings) {
        self.stop_sweep(now_ns);
        self.stalled.push_front(self.connected(now_ns, job));
        self.accept_stalled(now_ns, around);
    }

    /// The drive has the bus again for a write that waited.
    fn connected(&self, now_ns: u64, mut job: Job) -> Job {
        let connected_ns = (job.leave_ns + self.overheads.write_disconnect_ns).max(now_ns);
        job.leave_ns = connected_ns + self.overheads.first_reselect_ns;
        job
    }

    /// Chooses the segment of a cached write.
    fn segment_for(&mut self, job: &Job) -> usize {
        let size = self.buffer.segment_sectors();
        let appended = self
            .cache
            .continues(job.lbn)
            .and_then(|e| e.segment)
            .filter(|_| self.cache_rules.combine);
        let appended = appended
            .map(|s| s as usize)
            .filter(|&s| self.buffer.segments[s].state == State::Dirty && self.buffer.segments[s].end == job.lbn);
        let index = appended.unwrap_or_else(|| self.buffer.victim_for_write(job.lbn, job.sectors));
        if self.sweep.is_some_and(|s| s.segment == index) {
            self.stop_sweep(job.arrive_ns);
        }
        let segment = &mut self.buffer.segments[index];
        if appended.is_none() {
            segment.start = job.lbn;
            segment.dirty = 0;
            (segment.ahead_min, segment.ahead_max) = (0, 0);
            (segment.next, segment.delivered) = (0, 0);
        }
        segment.end = job.lbn + u64::from(job.sectors);
        segment.state = State::Dirty;
        segment.written = true;
        segment.dirty += 1;
        segment.wrap(size);
        self.buffer.touch(index);
        index
    }

    /// The oldest queued write that continues the cached data: its data follows without the arm, so that a stream of
    /// queued writes does not wait for the cache to drain.
    fn next_of_stream(&mut self, now_ns: u64) -> Option<Job> {
        if self.cache_rules.accept_while_busy {
            return None;
        }
        let continues = |job: &Job| job.kind == Kind::CachedWrite && self.appends(job) && self.room(job) > 0;
        let queued = self.queue.iter().enumerate();
        let (index, _) = queued
            .filter(|(_, job)| continues(job))
            .min_by_key(|(_, job)| job.order)?;
        let job = self.queue.swap_remove(index);
        Some(self.connected(now_ns, job))
    }

    /// Accepts waiting writes in order, as far as there is room.
    pub(super) fn accept_stalled(&mut self, now_ns: u64, around: &mut Surroundings) {
        while let Some(mut job) = self.stalled.pop_front().or_else(|| self.next_of_stream(now_ns)) {
            let room = match self.room(&job) {
                0 => {
                    self.stalled.push_front(job);
                    return;
                }
                room if room < job.sectors => self.whole(job.lbn, room),
                room => room,
            };
            let part = Job { sectors: room, ..job };
            let want_ns = now_ns.max(job.leave_ns) + self.overheads.data_preparation_ns;
            self.accept(&part, room == job.sectors, want_ns, around);
            if room < job.sectors {
                job.lbn += u64::from(room);
                job.sectors -= room;
                let spot = self.mechanics.geometry.locate(job.lbn);
                (job.place, job.angle_ns) = (spot.place, spot.angle_ns);
                self.stalled.push_front(job);
            }
        }
    }

    pub(super) fn begin_destage(&mut self, now_ns: u64, index: usize, around: &mut Surroundings) {
        self.stop_sweep(now_ns);
        let sectors_max = match self.cache.extents().get(index) {
            Some(extent) if extent.sectors > self.step() => self.whole(extent.lbn, self.step()),
            _ => self.step(),
        };
        let Some(extent) = self.cache.take(index, sectors_max, &self.mechanics.geometry) else {
            return;
        };
        if let Some(segment) = extent.segment.and_then(|s| self.buffer.segments.get_mut(s as usize))
            && self
                .cache
                .extents()
                .iter()
                .any(|e| e.lbn == extent.end() && e.order == extent.order)
        {
            // The remaining part of the extent counts separately.
            segment.dirty += 1;
        }
        let slow_ns = around.faults.slowdown_ns(now_ns);
        let leave_ns = now_ns.max(extent.leave_ns).max(self.free_ns) + slow_ns;
        let done_ns = self.write_placed(leave_ns, &extent, around);
        around.counters.destages += 1;
        self.cache.writing = Some(extent);
        self.busy = Busy::Destage(done_ns);
    }

    /// The arm has written an extent of the cache.
    pub(super) fn destage_done(&mut self, now_ns: u64, around: &mut Surroundings) {
        if let Some(extent) = self.cache.writing.take()
            && let Some(segment) = extent.segment.and_then(|s| self.buffer.segments.get_mut(s as usize))
            && segment.state == State::Dirty
        {
            segment.dirty = segment.dirty.saturating_sub(1);
            if segment.dirty == 0 {
                let keeps = self.buffer_rules.caching && self.buffer_rules.hits_on_written;
                segment.state = if keeps { State::Clean } else { State::Empty };
            }
        }
        self.finish_flushes(now_ns, around);
        self.accept_stalled(now_ns, around);
    }

    /// Writes an extent to its place, or, on a shingled drive, to its target.
    fn write_placed(&mut self, leave_ns: u64, extent: &Extent, around: &mut Surroundings) -> u64 {
        let leave_ns = self.read_partial(leave_ns, extent, around);
        let Some(mut shingles) = self.shingles.take() else {
            return self.write_media(leave_ns, extent, around);
        };
        let mut leave_ns = leave_ns;
        if !shingles.is_direct(extent.lbn, extent.sectors, extent.large) {
            while !shingles.has_room(extent.sectors)
                && let Some(band) = shingles.oldest()
            {
                leave_ns = self.merge(leave_ns, band, shingles.rules.band_sectors, around);
                shingles.merged();
            }
        }
        let target = shingles.write(extent.lbn, extent.sectors, extent.large);
        self.shingles = Some(shingles);
        let done_ns = match target {
            Target::Band => self.write_media(leave_ns, extent, around),
            Target::Zone(lbn) => self.write_media(leave_ns, &Extent { lbn, ..*extent }, around),
        };
        // The idle time before merging is counted from here.
        self.active_ns = done_ns;
        done_ns
    }

    /// Merges a band's sectors from the zone; returns the end. The zone's sectors are read, then the band is read and
    /// rewritten from its start.
    fn merge(&mut self, leave_ns: u64, band: u64, band_sectors: u64, around: &mut Surroundings) -> u64 {
        let first = (band * band_sectors).min(self.sectors.saturating_sub(1));
        let sectors = band_sectors.min(self.sectors - first);
        let passes_ns = self.mechanics.geometry.pass_ns(first, sectors);
        let zone = self.mechanics.geometry.locate(0).place;
        let there = self.mechanics.geometry.locate(first).place;
        let there_and_back_ns = self.mechanics.reposition_ns(self.place, zone, false)
            + self.mechanics.reposition_ns(zone, there, false)
            + self.mechanics.reposition_ns(there, there, true);
        let turns_ns = 2 * self.mechanics.revolution_ns();
        around.counters.seek_ns += there_and_back_ns;
        around.counters.rotation_ns += turns_ns;
        around.counters.transfer_ns += 2 * passes_ns;
        let spot = self.mechanics.geometry.locate(first + sectors - 1);
        self.place = spot.place;
        self.last_lbn = first + sectors;
        self.free_ns = leave_ns + there_and_back_ns + turns_ns + 2 * passes_ns;
        self.free_ns
    }

    /// Merges a band because the drive is idle.
    pub(super) fn begin_merge(&mut self, now_ns: u64, around: &mut Surroundings) {
        self.stop_sweep(now_ns);
        let oldest = self
            .shingles
            .as_ref()
            .and_then(|s| Some((s.oldest()?, s.rules.band_sectors)));
        if let Some((band, band_sectors)) = oldest {
            let done_ns = self.merge(now_ns.max(self.free_ns), band, band_sectors, around);
            if let Some(shingles) = &mut self.shingles {
                shingles.merged();
            }
            self.busy = Busy::Destage(done_ns);
        }
    }

    /// Passes the head over an extent; returns when it is on the media. Late data costs a revolution.
    fn write_media(&mut self, leave_ns: u64, extent: &Extent, around: &mut Surroundings) -> u64 {
        let mut from = self.place;
        let mut leave_ns = leave_ns;
        let mut done = 0;
        let total = u64::from(extent.sectors);
        while done < total {
            let lbn = extent.lbn + done;
            let mut run = self.approach(from, leave_ns, lbn, done == 0);
            run.sectors = u64::from(run.sectors).min(total - done) as u32;
            if done == 0 && self.buffer_rules.write_on_arrival {
                run = self.write_on_arrival(run, extent);
            }
            let written = self.written_in_time(&mut run, done, &extent.data);
            let passed = Run {
                sectors: written,
                ..run
            };
            Self::count_access(around, leave_ns, &passed, passed.end_ns());
            done += u64::from(written) + u64::from(run.early);
            (from, leave_ns) = (run.place, passed.end_ns());
        }
        self.place = from;
        self.free_ns = leave_ns;
        self.last_lbn = extent.end();
        leave_ns
    }

    /// Positions the head over the first sector of a run to write.
    fn approach(&self, from: Place, leave_ns: u64, lbn: u64, first: bool) -> Run {
        let minimum_ns = self.overheads.write_positioning_min_ns;
        let run = self.mechanics.run(from, leave_ns, lbn, lbn, true, Taking::IN_ORDER);
        let sought_ns = run.arrive_ns - leave_ns;
        let streaming = lbn == self.last_lbn && leave_ns <= self.free_ns;
        if first && !streaming && sought_ns < minimum_ns {
            return self.mechanics.run(
                from,
                leave_ns + minimum_ns - sought_ns,
                lbn,
                lbn,
                true,
                Taking::IN_ORDER,
            );
        }
        run
    }

    /// A drive that writes sectors as they pass does so if all data has arrived when the head lands among them.
    fn write_on_arrival(&self, run: Run, extent: &Extent) -> Run {
        let taking = Taking {
            free: false,
            on_arrival: true,
        };
        let until = run.lbn + u64::from(run.sectors);
        let taken = self
            .mechanics
            .run(run.place, run.arrive_ns, run.lbn, until, false, taking);
        let all_there = extent.data.ready_ns(u64::from(extent.sectors) - 1) <= run.arrive_ns;
        if taken.early > 0 && all_there { taken } else { run }
    }

    /// Number of sectors of a run before the first one with late data. A run that cannot start waits.
    fn written_in_time(&self, run: &mut Run, index: u64, data: &Arrival) -> u32 {
        let last = index + u64::from(run.sectors.max(1)) - 1;
        if data.ready_ns(last) <= run.start_ns {
            return run.sectors;
        }
        let late_ns = data.ready_ns(index).saturating_sub(run.start_ns);
        let revolution_ns = self.mechanics.revolution_ns();
        run.start_ns += late_ns.div_ceil(revolution_ns) * revolution_ns;
        let in_time = |n: u32| data.ready_ns(index + u64::from(n)) <= run.time_of(run.lbn + u64::from(n));
        // Data that arrives faster than sectors pass is late at the start or never; slower data, from some sector on.
        if in_time(run.sectors - 1) {
            return run.sectors;
        }
        let (mut good, mut bad) = (0, run.sectors - 1);
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if in_time(middle) { good = middle } else { bad = middle }
        }
        good + 1
    }

    fn through_write_arrives(&mut self, now_ns: u64, mut job: Job, around: &mut Surroundings) {
        self.cache
            .cut(job.lbn, u64::from(job.sectors), &self.mechanics.geometry);
        if self.arm_free() || self.cache_rules.accept_while_busy {
            let extra = self
                .overheads
                .extra_write_disconnect
                .filter(|_| self.suffers_extra_disconnect(now_ns, &job));
            let want_ns = if let Some(extra) = extra {
                job.extra_disconnect = true;
                job.leave_ns = now_ns + extra.command_ns + extra.seek_delay_ns;
                let command_ns = extra.command_ns + extra.disconnect_ns + extra.pause_ns;
                now_ns + command_ns + self.overheads.first_reselect_ns
            } else {
                job.leave_ns
            };
            job.data = Some(self.data_arrival(want_ns + self.overheads.data_preparation_ns, &job, around));
        }
        self.queue.push(job);
        if self.busy == Busy::No {
            self.dispatch(now_ns, around);
        }
    }

    fn data_arrival(&mut self, want_ns: u64, job: &Job, around: &mut Surroundings) -> Arrival {
        let (start_ns, _) = self.wire_in(want_ns, job.sectors, around);
        let ahead = match self.overheads.extra_write_disconnect {
            // Drives with the extra disconnect were observed to collect this much before they start to write.
            Some(_) if job.sectors < 45 => job.sectors.min(10),
            Some(_) => 15,
            None => 0,
        };
        Arrival {
            start_ns,
            sector_ps: self.interface.write_sector_ps,
            ahead,
        }
    }

    /// A write that follows a write elsewhere, on drives with this property.
    fn suffers_extra_disconnect(&self, now_ns: u64, job: &Job) -> bool {
        let segment = self.buffer.victim_for_write(job.lbn, job.sectors);
        let target = &self.buffer.segments[segment];
        now_ns >= self.extra_disconnect_until_ns
            && target.written
            && self.buffer.last_used(segment)
            && target.end != job.lbn
    }

    pub(super) fn begin_through_write(&mut self, now_ns: u64, job: Job, around: &mut Surroundings) {
        self.stop_sweep(now_ns);
        self.cache
            .cut(job.lbn, u64::from(job.sectors), &self.mechanics.geometry);
        let reselect_ns = self.overheads.first_reselect_ns + self.overheads.data_preparation_ns;
        let data = match job.data {
            Some(data) => data,
            None => {
                let connected_ns = now_ns.max(job.leave_ns + self.overheads.write_disconnect_ns);
                self.data_arrival(connected_ns + reselect_ns, &job, around)
            }
        };
        let extent = self.extent(&job, data, None);
        let leave_ns = now_ns.max(job.leave_ns).max(self.free_ns) + around.faults.slowdown_ns(now_ns);
        let media_ns = self.write_placed(leave_ns, &extent, around);
        self.remember_written(&job);
        let data_end_ns = data.start_ns + crate::link::span_ns(job.sectors, data.sector_ps);
        let done_ns = self.through_write_done(&job, media_ns, data_end_ns);
        around.finishes.push(done_ns, job.tag, Status::Ok);
        self.last_was_read = false;
        self.active_ns = media_ns;
        let waits_for_host = self.queue_rules.seek_early == SeekEarly::No;
        self.busy = Busy::Until(if waits_for_host { done_ns } else { media_ns });
    }

    /// The drive disconnected when it had the data, and reconnects when the media has it.
    fn through_write_done(&mut self, job: &Job, media_ns: u64, data_end_ns: u64) -> u64 {
        let o = &self.overheads;
        let (disconnect_ns, reselect_ns) = match o.extra_write_disconnect {
            Some(extra) if job.extra_disconnect => (extra.second_disconnect_ns, o.other_reselect_ns),
            _ => (o.write_disconnect_ns, o.first_reselect_ns),
        };
        let done_ns = media_ns.max(data_end_ns + disconnect_ns) + reselect_ns + o.write_completion_ns;
        if job.extra_disconnect {
            self.extra_disconnect_until_ns = data_end_ns;
        }
        done_ns
    }

    /// Written-through data can be read from the buffer afterwards.
    fn remember_written(&mut self, job: &Job) {
        let rules = &self.buffer_rules;
        let keeps = rules.caching && self.cache_rules.in_segments;
        let segment = if keeps {
            self.buffer.victim_for_write(job.lbn, job.sectors)
        } else {
            usize::MAX
        };
        self.buffer.forget(job.lbn, job.sectors, segment);
        if keeps {
            let size = self.buffer.segment_sectors();
            self.buffer.touch(segment);
            let written = &mut self.buffer.segments[segment];
            if !(written.state == State::Clean && written.written && written.end == job.lbn) {
                written.start = job.lbn;
                (written.ahead_min, written.ahead_max) = (0, 0);
            }
            written.end = job.lbn + u64::from(job.sectors);
            written.state = if self.buffer_rules.hits_on_written {
                State::Clean
            } else {
                State::Empty
            };
            (written.written, written.dirty) = (true, 0);
            written.wrap(size);
        }
    }
}
