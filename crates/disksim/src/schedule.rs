//! Choice of the request that the arm serves next.

use crate::description::{Policy, Queue};
use crate::geometry::Place;
use crate::positioning::Mechanics;

/// Extents of the write cache that are compared by positioning time, on each side of the arm.
const WINDOW: usize = 16;

/// A waiting request, as seen by the scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// It may be chosen.
    pub considered: bool,
    pub lbn: u64,
    pub place: Place,
    pub angle_ns: u64,
    pub write: bool,
    pub order: u64,
    pub arrive_ns: u64,
    /// It needs no positioning: the head is about to pass it, or it is in the buffer.
    pub free: bool,
}

/// Position of the arm and when it can leave.
#[derive(Clone, Copy, Debug)]
pub struct Stand {
    pub place: Place,
    pub leave_ns: u64,
    /// The last sector that was served.
    pub lbn: u64,
}

/// Chooses a candidate; also returns its cost, for comparison with another choice. Lower is better.
pub fn choose(
    queue: &Queue,
    mechanics: &Mechanics,
    stand: Stand,
    candidates: impl Iterator<Item = Candidate>,
) -> Option<(usize, u64)> {
    let chooser = Chooser {
        queue,
        mechanics,
        stand,
        turned_ns: mechanics.turned_ns(stand.leave_ns),
    };
    let mut best: Option<(usize, u64, u64)> = None;
    // Beyond this distance the seek alone costs more than the best candidate so far.
    let mut reach = u32::MAX;
    for (index, candidate) in candidates.enumerate() {
        let Some(cost) = chooser.cost(&candidate, reach) else {
            continue;
        };
        if best.is_none_or(|(_, c, o)| (cost, candidate.order) < (c, o)) {
            best = Some((index, cost, candidate.order));
            if queue.policy == Policy::Sptf {
                reach = mechanics.reach(cost);
            }
        }
    }
    best.map(|(index, cost, _)| (index, cost))
}

struct Chooser<'a> {
    queue: &'a Queue,
    mechanics: &'a Mechanics,
    stand: Stand,
    turned_ns: u64,
}

impl Chooser<'_> {
    /// Cost of a candidate; None if it is out of reach.
    fn cost(&self, candidate: &Candidate, reach: u32) -> Option<u64> {
        if !candidate.considered {
            return None;
        }
        let Stand { place, leave_ns, lbn } = self.stand;
        let overdue = leave_ns.saturating_sub(candidate.arrive_ns) > self.queue.age_max_ns;
        let seek_ns = || self.mechanics.reposition_ns(place, candidate.place, candidate.write);
        Some(match self.queue.policy {
            Policy::Fcfs => candidate.order,
            _ if overdue => 0,
            _ if candidate.free => 1,
            Policy::Sstf => 2 + seek_ns(),
            Policy::Sptf if place.cylinder.abs_diff(candidate.place.cylinder) > reach => return None,
            Policy::Sptf => {
                let seek_ns = seek_ns();
                let wait_ns = self
                    .mechanics
                    .wait_after_ns(self.turned_ns, seek_ns, candidate.angle_ns);
                let missed = wait_ns < self.queue.rotation_margin_ns && seek_ns > 0;
                2 + seek_ns + wait_ns + if missed { self.mechanics.revolution_ns() } else { 0 }
            }
            // Sectors behind the arm come after all sectors before it.
            Policy::Elevator => 2 + (candidate.lbn.wrapping_sub(lbn) >> 1),
        })
    }
}

/// The part of a sorted list of length `len` with the extents nearest to position `at`.
pub fn window(policy: Policy, at: usize, len: usize) -> core::ops::Range<usize> {
    match policy {
        Policy::Fcfs => 0..len,
        Policy::Elevator => {
            let first = if at < len { at } else { 0 };
            first..(first + 1).min(len)
        }
        Policy::Sstf | Policy::Sptf => at.saturating_sub(WINDOW)..(at + WINDOW).min(len),
    }
}
