//! CPU time of raidlab and the programs that it ran.
//!
//! In a lab guest without a CPU model, CPU time is free and these figures are near zero; the trial's provenance
//! says so.

use std::time::Duration;

/// By getrusage(2), including programs that have exited. In ticks of 10 ms, as /proc/self/stat has it: that file also has
/// addresses and sizes of memory, and so takes longer to make and to copy the more digits these have. Where a processor is
/// modelled, two builds of raidlab had figures that differed for that reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTime {
    pub(crate) user: Duration,
    pub(crate) system: Duration,
}

/// `USER_HZ`, which is 100 on every current architecture.
const TICK_US: u64 = 10_000;

impl CpuTime {
    /// CPU time so far.
    pub(crate) fn now() -> Self {
        let (own, of_children) = (usage(libc::RUSAGE_SELF), usage(libc::RUSAGE_CHILDREN));
        let sum = |of: fn(&libc::rusage) -> libc::timeval| ticks(of(&own)) + ticks(of(&of_children));
        Self {
            user: sum(|usage| usage.ru_utime),
            system: sum(|usage| usage.ru_stime),
        }
    }

    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
        }
    }
}

fn usage(whose: libc::c_int) -> libc::rusage {
    // SAFETY: plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes into what is passed. It fails for no process but those that do not exist.
    unsafe { libc::getrusage(whose, &raw mut usage) };
    usage
}

/// Whole ticks.
fn ticks(time: libc::timeval) -> Duration {
    let us = u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_micros(us / TICK_US * TICK_US)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_ticks_are_none() {
        let time = |tv_usec| libc::timeval { tv_sec: 2, tv_usec };
        assert_eq!(ticks(time(19_999)), Duration::from_millis(2010));
        assert_eq!(ticks(time(20_000)), Duration::from_millis(2020));
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
