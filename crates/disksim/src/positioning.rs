//! Arm and platters: positioning times, and when each sector passes the head.

use crate::description::{Mechanical, SeekPoint};
use crate::geometry::{Geometry, Place, Spot};
use alloc::vec::Vec;

/// A wait this close to a whole revolution counts as zero: the difference is rounding.
const ANGLE_TOLERANCE_NS: u64 = 64;

/// The arm, the platters and the layout.
pub struct Mechanics {
    pub geometry: Geometry,
    seek: SeekCurve,
    head_switch_ns: u64,
    write_settle_ns: i64,
    revolution_ns: u64,
    /// Rotational phase at time 0.
    phase_ns: u64,
}

impl Mechanics {
    pub fn new(mechanical: &Mechanical, seed: u64) -> Self {
        let revolution_ns = mechanical.revolution_ns.max(1);
        Mechanics {
            geometry: Geometry::new(&mechanical.layout, mechanical.heads, revolution_ns),
            seek: SeekCurve::new(&mechanical.seek),
            head_switch_ns: mechanical.head_switch_ns,
            write_settle_ns: mechanical.write_settle_ns,
            revolution_ns,
            phase_ns: crate::random::mix(seed) % revolution_ns,
        }
    }

    /// Time to get from one track to another. A head switch overlaps with a longer seek.
    pub fn reposition_ns(&self, from: Place, to: Place, write: bool) -> u64 {
        let mut ns = self.seek.seek_ns(from.cylinder.abs_diff(to.cylinder));
        if from.head != to.head {
            ns = ns.max(self.head_switch_ns);
        }
        if write && ns > 0 {
            ns = ns.saturating_add_signed(self.write_settle_ns);
        }
        ns
    }

    /// Distance beyond which every seek takes longer than this, for reads and writes.
    pub fn reach(&self, ns: u64) -> u32 {
        let ns = ns.saturating_add(self.write_settle_ns.min(0).unsigned_abs());
        let beyond = self.seek.points.partition_point(|p| p.least_ns <= ns);
        self.seek.points.get(beyond).map_or(u32::MAX, |p| p.cylinders)
    }

    pub fn revolution_ns(&self) -> u64 {
        self.revolution_ns
    }

    /// Time from `at_ns` until the platters reach an angle.
    pub fn wait_ns(&self, at_ns: u64, angle_ns: u64) -> u64 {
        let now_ns = at_ns.wrapping_add(self.phase_ns) % self.revolution_ns;
        let wait = if angle_ns >= now_ns {
            angle_ns - now_ns
        } else {
            angle_ns + self.revolution_ns - now_ns
        };
        if wait + ANGLE_TOLERANCE_NS >= self.revolution_ns {
            0
        } else {
            wait
        }
    }

    /// Rotation of the platters at a time, in ns since the start of a revolution.
    pub fn turned_ns(&self, at_ns: u64) -> u64 {
        at_ns.wrapping_add(self.phase_ns) % self.revolution_ns
    }

    /// As [`wait_ns`](Self::wait_ns), some time after a moment at which the platters had turned this far. Times are
    /// mostly short, so subtraction is faster than division.
    pub fn wait_after_ns(&self, turned_ns: u64, after_ns: u64, angle_ns: u64) -> u64 {
        let mut turned_ns = turned_ns + after_ns;
        if turned_ns > 4 * self.revolution_ns {
            turned_ns %= self.revolution_ns;
        }
        while turned_ns >= self.revolution_ns {
            turned_ns -= self.revolution_ns;
        }
        let wait = if angle_ns >= turned_ns {
            angle_ns - turned_ns
        } else {
            angle_ns + self.revolution_ns - turned_ns
        };
        if wait + ANGLE_TOLERANCE_NS >= self.revolution_ns {
            0
        } else {
            wait
        }
    }
}

/// Distances are sorted into buckets by their highest five bits.
const SEEK_BUCKETS: usize = 16 + 28 * 16;

/// Seek time by distance.
struct SeekCurve {
    points: Vec<Knot>,
    /// By bucket: the first point that may be the upper neighbour of a distance in it.
    start: Vec<u16>,
}

fn seek_bucket(cylinders: u32) -> usize {
    if cylinders < 16 {
        return cylinders as usize;
    }
    let shift = 27 - cylinders.leading_zeros();
    16 + shift as usize * 16 + ((cylinders >> shift) & 15) as usize
}

/// The shortest distance in a bucket.
fn bucket_start(bucket: usize) -> u64 {
    if bucket < 16 {
        return bucket as u64;
    }
    let shift = (bucket - 16) / 16;
    (16 + (bucket as u64 & 15)) << shift
}

/// A point of the curve and the slope before it, in 2^-16 ns a cylinder.
#[derive(Clone, Copy)]
struct Knot {
    cylinders: u32,
    seek_ns: u64,
    slope_fp: i64,
    /// The shortest seek of at least this distance: measured curves are not always monotonic.
    least_ns: u64,
}

impl SeekCurve {
    fn new(points: &[SeekPoint]) -> Self {
        let start = (0..SEEK_BUCKETS).map(|bucket| {
            let first = points.partition_point(|p| u64::from(p.cylinders) < bucket_start(bucket));
            first.min(points.len().saturating_sub(1)) as u16
        });
        let slope = |low: &SeekPoint, high: &SeekPoint| {
            let rise = high.seek_ns as i64 - low.seek_ns as i64;
            (rise << 16) / (i64::from(high.cylinders) - i64::from(low.cylinders)).max(1)
        };
        let knot = |(index, high): (usize, &SeekPoint)| Knot {
            cylinders: high.cylinders,
            seek_ns: high.seek_ns,
            slope_fp: if index == 0 { 0 } else { slope(&points[index - 1], high) },
            least_ns: high.seek_ns,
        };
        let mut points: Vec<Knot> = points.iter().enumerate().map(knot).collect();
        let start = start.collect();
        let mut least_ns = u64::MAX;
        for point in points.iter_mut().rev() {
            least_ns = least_ns.min(point.seek_ns);
            point.least_ns = least_ns;
        }
        SeekCurve { points, start }
    }

    fn seek_ns(&self, cylinders: u32) -> u64 {
        if cylinders == 0 || self.points.is_empty() {
            return 0;
        }
        let mut upper = usize::from(self.start[seek_bucket(cylinders)]);
        while upper + 1 < self.points.len() && self.points[upper].cylinders < cylinders {
            upper += 1;
        }
        // Extrapolates with the last slope.
        let high = self.points[upper];
        let short = i64::from(high.cylinders) - i64::from(cylinders);
        (high.seek_ns as i64 - ((high.slope_fp * short) >> 16)).max(0) as u64
    }
}

/// Consecutive sectors that pass under the head.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub lbn: u64,
    pub sectors: u32,
    /// Number of sectors that follow these on the track but passed the head earlier. They complete with the last of
    /// these.
    pub early: u32,
    /// When the head reached the track.
    pub arrive_ns: u64,
    pub start_ns: u64,
    pub sector_fp: u64,
    pub place: Place,
}

impl Run {
    pub fn end_lbn(&self) -> u64 {
        self.lbn + u64::from(self.sectors) + u64::from(self.early)
    }

    pub fn end_ns(&self) -> u64 {
        self.start_ns + ((u64::from(self.sectors) * self.sector_fp) >> 32)
    }

    /// Progress of the run: the first sector not yet passed.
    pub fn front(&self, at_ns: u64) -> u64 {
        if at_ns >= self.end_ns() {
            return self.end_lbn();
        }
        let past_ns = at_ns.saturating_sub(self.start_ns);
        self.lbn
            + (past_ns << 32)
                .checked_div(self.sector_fp)
                .unwrap_or(0)
                .min(u64::from(self.sectors))
    }

    /// When everything before `lbn` has passed; `lbn` is within the run or at its end.
    pub fn time_of(&self, lbn: u64) -> u64 {
        let sectors = lbn.saturating_sub(self.lbn).min(u64::from(self.sectors));
        self.start_ns + ((sectors * self.sector_fp) >> 32)
    }

    /// The end of the current step: seek, rotation or sector.
    pub fn step_end(&self, at_ns: u64) -> u64 {
        if at_ns < self.arrive_ns {
            self.arrive_ns
        } else if at_ns < self.start_ns {
            self.start_ns
        } else if at_ns >= self.end_ns() {
            at_ns
        } else {
            let passed = self.front(at_ns).saturating_sub(self.lbn) + 1;
            (self.start_ns + ((passed * self.sector_fp) >> 32)).max(at_ns)
        }
    }
}

/// Which sectors of a track a read takes as they pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taking {
    /// Sectors before the first requested one, if they pass first.
    pub free: bool,
    /// Requested sectors in the order in which they pass.
    pub on_arrival: bool,
}

impl Taking {
    pub const IN_ORDER: Taking = Taking {
        free: false,
        on_arrival: false,
    };
}

impl Mechanics {
    /// Seeks to `lbn` and passes over the sectors that follow it there. `until` is the end of the reader's interest.
    pub fn run(&self, from: Place, leave_ns: u64, lbn: u64, until: u64, write: bool, taking: Taking) -> Run {
        let spot = self.geometry.locate(lbn);
        let arrive_ns = leave_ns + self.reposition_ns(from, spot.place, write);
        let wait_ns = self.wait_ns(arrive_ns, spot.angle_ns);
        let run = Run {
            lbn,
            sectors: spot.run,
            early: 0,
            arrive_ns,
            start_ns: arrive_ns + wait_ns,
            sector_fp: spot.sector_fp,
            place: spot.place,
        };
        if taking == Taking::IN_ORDER || wait_ns == 0 {
            run
        } else {
            self.take(run, &spot, wait_ns, until, taking)
        }
    }

    /// A read that takes sectors as they pass. The head lands `wait_ns` before the first requested sector.
    fn take(&self, run: Run, spot: &Spot, wait_ns: u64, until: u64, taking: Taking) -> Run {
        let ahead = ((wait_ns << 32) / spot.sector_fp.max(1)) as u32;
        let wanted = until.saturating_sub(run.lbn).min(u64::from(spot.run)) as u32;
        let mut taken = run;
        // Distance behind the first requested sector at which the head lands, if it lands behind it.
        let around = ((u128::from(self.revolution_ns) << 32) / u128::from(spot.sector_fp.max(1))) as u32;
        let landed_past = around.saturating_sub(ahead);
        if taking.free {
            let back = ahead.min(spot.sector);
            let first = self.geometry.lbn_at(spot, run.lbn, spot.sector - back).min(run.lbn);
            if first < run.lbn {
                let at = self.geometry.locate(first);
                let start_ns = run.start_ns.saturating_sub((u64::from(back) * spot.sector_fp) >> 32);
                taken = Run {
                    lbn: first,
                    sectors: at.run,
                    start_ns: start_ns.max(run.arrive_ns),
                    ..run
                };
            }
        }
        if landed_past > 0 && landed_past < wanted {
            let lead = run.lbn - taken.lbn;
            if u64::from(taken.sectors) > lead {
                taken.sectors = lead as u32 + landed_past;
                taken.early = wanted - landed_past;
            }
        }
        taken
    }
}
