//! Choice of the arm's next work: a request, an extent of the write cache, or nothing.

use super::{Drive, Job, Kind};
use crate::description::{Destage, Policy};
use crate::schedule::{Candidate, Stand, choose, window};

pub(super) enum Pick {
    Job(usize),
    Extent(usize),
    /// A shingled drive is idle and can merge a band.
    Merge,
    Later(u64),
    Nothing,
}

/// Number of requests that arrived before this one.
fn older(jobs: &[Job], job: &Job) -> usize {
    jobs.iter().filter(|other| other.order < job.order).count()
}

impl Drive {
    pub(super) fn pick(&mut self, now_ns: u64) -> Pick {
        match (self.pick_work(now_ns), &self.shingles) {
            (Pick::Nothing, Some(shingles)) if shingles.oldest().is_some() => {
                let from_ns = self.active_ns.saturating_add(shingles.rules.idle_ns);
                if now_ns >= from_ns {
                    Pick::Merge
                } else {
                    Pick::Later(from_ns)
                }
            }
            (work, _) => work,
        }
    }

    fn pick_work(&mut self, now_ns: u64) -> Pick {
        if self.queue.is_empty() && self.cache.is_empty() {
            return Pick::Nothing;
        }
        let flushing = self.flushes.last().map_or(0, |f| f.order);
        self.cache.take_arrivals(now_ns, flushing, &self.mechanics.geometry);
        self.record_progress(now_ns);
        let stand = self.stand(now_ns);
        let job = self.pick_job(stand);
        match self.cache_rules.destage {
            Destage::InTurn => match (job, self.pick_extent(stand)) {
                (Some((j, cost)), Some((_, other))) if cost <= other => Pick::Job(j),
                (_, Some((e, _))) => Pick::Extent(e),
                (Some((j, _)), None) => Pick::Job(j),
                (None, None) => Pick::Nothing,
            },
            Destage::WhenIdle { after_ns } => {
                let pressed = !self.stalled.is_empty() || !self.flushes.is_empty();
                match job {
                    Some((j, cost)) if pressed => match self.pick_extent(stand) {
                        Some((e, other)) if other < cost => Pick::Extent(e),
                        _ => Pick::Job(j),
                    },
                    Some((j, _)) => Pick::Job(j),
                    None if self.cache.extents().is_empty() => {
                        self.cache.next_arrival_ns().map_or(Pick::Nothing, Pick::Later)
                    }
                    None => {
                        let from_ns = self.active_ns.saturating_add(after_ns);
                        if pressed || now_ns >= from_ns {
                            self.pick_extent(stand).map_or(Pick::Nothing, |(e, _)| Pick::Extent(e))
                        } else {
                            Pick::Later(from_ns)
                        }
                    }
                }
            }
        }
    }

    fn pick_job(&self, stand: Stand) -> Option<(usize, u64)> {
        match self.queue.as_slice() {
            [] => None,
            [only] if self.cache.extents().is_empty() => Some((0, only.order)),
            jobs => {
                let reading = self.sweep.map(|s| self.buffer.segments[s.segment]);
                // The newest are not considered while there are others.
                let newest = self.queue_rules.unsorted_newest as usize;
                let sorted = jobs.len().saturating_sub(newest).max(1);
                let considered = |job: &Job| newest == 0 || older(jobs, job) < sorted;
                let candidates = jobs.iter().map(|job| Candidate {
                    considered: considered(job),
                    lbn: job.lbn,
                    place: job.place,
                    angle_ns: job.angle_ns,
                    write: job.kind != Kind::Read,
                    order: job.order,
                    arrive_ns: job.arrive_ns,
                    free: job.kind == Kind::Read && reading.is_some_and(|s| job.lbn >= s.start && job.lbn <= s.end),
                });
                choose(&self.queue_rules, &self.mechanics, stand, candidates)
            }
        }
    }

    fn pick_extent(&self, stand: Stand) -> Option<(usize, u64)> {
        let extents = self.cache.extents();
        let mut rules = self.queue_rules;
        if rules.policy == Policy::Fcfs && self.cache_rules.destage != Destage::InTurn {
            // A drive without a queue still sorts the contents of its cache.
            rules.policy = Policy::Sptf;
        }
        if self.cache_rules.destage_in_platter_order {
            rules.policy = Policy::Elevator;
        }
        let at = extents.partition_point(|e| e.lbn < stand.lbn);
        let range = window(rules.policy, at, extents.len());
        let first = range.start;
        let candidates = extents.range(range).map(|e| Candidate {
            considered: true,
            lbn: e.lbn,
            place: e.place,
            angle_ns: e.angle_ns,
            write: true,
            order: e.order,
            // No request waits for it.
            arrive_ns: u64::MAX,
            free: false,
        });
        choose(&rules, &self.mechanics, stand, candidates).map(|(index, cost)| (first + index, cost))
    }

    fn stand(&self, now_ns: u64) -> Stand {
        match self.sweep {
            Some(sweep) => Stand {
                place: sweep.run.place,
                leave_ns: now_ns.max(sweep.run.arrive_ns),
                lbn: self.buffer.segments[sweep.segment].end,
            },
            None => Stand {
                place: self.place,
                leave_ns: now_ns.max(self.free_ns),
                lbn: self.last_lbn,
            },
        }
    }
}
