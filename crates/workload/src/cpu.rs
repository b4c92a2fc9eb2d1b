//! CPU time of raidlab and the programs that it ran.
//!
//! In a lab guest without a CPU model, CPU time is free and these figures are near zero; the trial's provenance
//! says so.

use std::time::Duration;

/// From `/proc/self/stat`, including programs that have exited. Ticks of 10 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTime {
    pub(crate) user: Duration,
    pub(crate) system: Duration,
}

/// `USER_HZ`, which is 100 on every current architecture.
const TICK: Duration = Duration::from_millis(10);

impl CpuTime {
    /// CPU time so far; zero without /proc.
    pub(crate) fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        Self::parse(&stat).unwrap_or_default()
    }

    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
        }
    }

    /// `utime`, `stime`, `cutime`, `cstime`: fields 14 to 17 of proc(5). The second may have spaces in it.
    fn parse(stat: &str) -> Option<Self> {
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<u32> = rest
            .split_whitespace()
            .skip(11)
            .take(4)
            .map_while(|field| field.parse().ok())
            .collect();
        let [utime, stime, cutime, cstime] = fields[..] else {
            return None;
        };
        Some(Self {
            user: TICK * (utime + cutime),
            system: TICK * (stime + cstime),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_fields_are_found_behind_any_name() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194304 1 2 3 4 100 20 3 4 20 0 1 0 5 6 7";
        let time = CpuTime::parse(stat).expect("whole");
        assert_eq!((time.user.as_millis(), time.system.as_millis()), (1030, 240));
        assert_eq!(CpuTime::parse("7 (a) S 1"), None);
    }

    #[test]
    fn work_is_seen() {
        let before = CpuTime::now();
        let until = std::time::Instant::now() + Duration::from_millis(200);
        while std::time::Instant::now() < until {
            std::hint::spin_loop();
        }
        assert!(CpuTime::now().since(before).user > Duration::ZERO);
    }
}
