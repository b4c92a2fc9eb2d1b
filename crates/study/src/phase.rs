//! The phases that an array passes through while acts are done.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// State of an array, as far as it affects the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// As it was created.
    Healthy,
    /// A member is missing, and nothing is being rebuilt.
    Degraded,
    /// md writes the missing data to a member (`recover`).
    Rebuilding,
    /// Complete again after a rebuild.
    Rebuilt,
    /// md compares copies or parity (`check`, `repair`).
    Checking,
    /// md distributes the data over more members (`reshape`).
    Reshaping,
    /// A disk is slow or hangs because of an act.
    Limping,
    /// The filesystem discards its free space because of an act.
    Trimming,
}

impl Phase {
    pub const ALL: [Self; 8] = [
        Self::Healthy,
        Self::Degraded,
        Self::Rebuilding,
        Self::Rebuilt,
        Self::Checking,
        Self::Reshaping,
        Self::Limping,
        Self::Trimming,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Rebuilding => "rebuilding",
            Self::Rebuilt => "rebuilt",
            Self::Checking => "checking",
            Self::Reshaping => "reshaping",
            Self::Limping => "limping",
            Self::Trimming => "trimming",
        }
    }
}

/// The phases of an array in order of time: written by the observer, read by the code that counts requests.
#[derive(Debug)]
pub struct Phases(Mutex<Vec<(Instant, Phase)>>);

impl Phases {
    /// Starts with a healthy array.
    pub fn begin() -> Self {
        Self(Mutex::new(vec![(Instant::now(), Phase::Healthy)]))
    }

    pub fn enter(&self, phase: Phase, at: Instant) {
        self.with(|changes| changes.push((at, phase)));
    }

    pub fn now(&self) -> Phase {
        self.with(|changes| changes.last().map_or(Phase::Healthy, |(_, phase)| *phase))
    }

    /// Total duration of a phase between two instants.
    pub fn lasted(&self, phase: Phase, from: Instant, until: Instant) -> Duration {
        self.with(|changes| {
            let ends = changes.iter().skip(1).map(|(at, _)| *at).chain([until]);
            let of_phase = changes.iter().zip(ends).filter(|((_, entered), _)| *entered == phase);
            of_phase
                .map(|((began, _), ended)| ended.min(until).saturating_duration_since(from.max(*began)))
                .sum()
        })
    }

    fn with<T>(&self, read: impl FnOnce(&mut Vec<(Instant, Phase)>) -> T) -> T {
        // The list of changes is consistent after each push, even if another thread panicked.
        let mut changes = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        read(&mut changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_lasts_as_long_as_it_is_in_the_window() {
        let phases = Phases::begin();
        let began = phases.with(|changes| changes[0].0);
        let at = |seconds: u64| began + Duration::from_secs(seconds);
        phases.enter(Phase::Degraded, at(10));
        phases.enter(Phase::Rebuilding, at(15));
        phases.enter(Phase::Degraded, at(18));
        assert_eq!(phases.now(), Phase::Degraded);
        let lasted = |phase: Phase, from: u64, until: u64| phases.lasted(phase, at(from), at(until)).as_secs();
        assert_eq!(lasted(Phase::Healthy, 0, 30), 10);
        assert_eq!(lasted(Phase::Healthy, 4, 6), 2);
        assert_eq!(lasted(Phase::Degraded, 0, 30), 5 + 12);
        assert_eq!(lasted(Phase::Degraded, 12, 16), 3);
        assert_eq!(lasted(Phase::Rebuilding, 0, 16), 1);
        assert_eq!(lasted(Phase::Rebuilt, 0, 30), 0);
        assert_eq!(lasted(Phase::Healthy, 20, 30), 0);
    }
}
