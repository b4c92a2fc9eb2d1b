//! What fio moved in each phase of the array, from its bandwidth log.
//!
//! raidlab's engine knows the phase in which each request ended. fio says how many bytes it moved in each interval of its
//! log: those of an interval in which the array changed are divided by time. Latencies by phase are not known.

use super::fio_log::Direction;
use super::tally::{InPhase, Stream, Transfers};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use study::phase::{Phase, Phases};

/// The same moment by the wall clock, which fio logs, and by the monotonic one, which phases have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    wall_ms: u64,
    instant: Instant,
}

impl Clock {
    pub(super) fn now() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
            instant: Instant::now(),
        }
    }

    pub(super) fn instant(self, wall_ms: u64) -> Instant {
        self.instant + Duration::from_millis(wall_ms.saturating_sub(self.wall_ms))
    }
}

/// Bytes that a job moved from one time to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    pub(super) began: Instant,
    pub(super) ended: Instant,
    pub(super) direction: Direction,
    pub(super) bytes: u64,
}

/// What was moved in each phase, in the order of [`Phase::ALL`], from the first byte to the last. `block_bytes` is the size of
/// every request, if all have one.
pub(super) fn by_phase(moved: &[Moved], phases: &Phases, block_bytes: Option<u64>) -> Vec<InPhase> {
    let (Some(began), Some(ended)) = (
        moved.iter().map(|moved| moved.began).min(),
        moved.iter().map(|moved| moved.ended).max(),
    ) else {
        return Vec::new();
    };
    let of_phase = |phase: Phase| {
        let sum = |wanted: Direction| {
            let all = moved.iter().filter(|moved| moved.direction == wanted);
            let bytes = all
                .map(|moved| moved.bytes as f64 * moved.share_in(phase, phases))
                .sum::<f64>() as u64;
            Stream {
                bytes,
                uncounted: block_bytes.map_or(0, |block_bytes| bytes / block_bytes.max(1)),
                ..Stream::new()
            }
        };
        InPhase {
            phase,
            lasted: phases.lasted(phase, began, ended),
            transfers: Transfers {
                reads: sum(Direction::Read),
                writes: sum(Direction::Write),
            },
        }
    };
    let all = Phase::ALL.into_iter().map(of_phase);
    all.filter(|of_phase| !of_phase.lasted.is_zero()).collect()
}

impl Moved {
    /// The share of its time that was in a phase.
    fn share_in(&self, phase: Phase, phases: &Phases) -> f64 {
        // A request counts for the phase in which it ended.
        let shortest = Duration::from_nanos(1);
        let began = self.began.min(self.ended - shortest);
        let lasted = phases.lasted(phase, began, self.ended);
        lasted.as_secs_f64() / (self.ended - began).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 MiB/s while healthy; an interval in which the array changed is divided.
    #[test]
    fn bytes_are_divided_by_phase() {
        let phases = Phases::begin();
        let clock = Clock::now();
        let at = |ms: u64| clock.instant(clock.wall_ms + ms);
        phases.enter(Phase::Degraded, at(1500));
        let moved = |began, ended, direction, bytes| Moved {
            began: at(began),
            ended: at(ended),
            direction,
            bytes,
        };
        let all = [
            moved(1, 1000, Direction::Read, 1 << 20),
            moved(1000, 2000, Direction::Read, 1 << 20),
            moved(2000, 3000, Direction::Write, 1 << 20),
            moved(2500, 2500, Direction::Write, 4096),
        ];
        let found = by_phase(&all, &phases, Some(4096));
        let names: Vec<&str> = found.iter().map(|of_phase| of_phase.phase.name()).collect();
        assert_eq!(names, ["healthy", "degraded"]);
        assert_eq!(found[0].transfers.reads.bytes, 3 << 19);
        assert_eq!(found[1].transfers.reads.bytes, 1 << 19);
        assert_eq!(found[1].transfers.writes.bytes, (1 << 20) + 4096);
        assert_eq!(found[1].transfers.writes.operations(), 257);
        assert_eq!(found[1].lasted, Duration::from_millis(1500));
        assert_eq!(by_phase(&all, &phases, None)[1].transfers.writes.operations(), 0);
        assert!(by_phase(&[], &phases, None).is_empty());
    }
}
