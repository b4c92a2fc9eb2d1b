//! Load of other programs on this machine during a trial.

use crate::device::disk::Disk;
use crate::device::sysfs;
use crate::observe::provenance::other_disks;
use rustix::param::clock_ticks_per_second;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The counters at the start of a trial.
pub(crate) struct Load {
    began: Instant,
    ours: BTreeSet<String>,
    counted: Counted,
}

struct Counted {
    /// User time of all processes, s.
    user_s: f64,
    /// User time of this process and its children, s.
    own_user_s: f64,
    /// Sectors moved by disks that are not under test.
    other_sectors: u64,
    /// Time in which some process waited for a resource, µs.
    pressure_cpu_us: Option<u64>,
    pressure_io_us: Option<u64>,
    pressure_memory_us: Option<u64>,
}

impl Load {
    pub(crate) fn begin(nodes: &[PathBuf]) -> Load {
        let ours: BTreeSet<String> = nodes
            .iter()
            .filter_map(|node| Disk::at(node).ok())
            .map(|disk| disk.kernel_name)
            .collect();
        Load {
            began: Instant::now(),
            counted: Counted::now(&ours),
            ours,
        }
    }

    /// Average load of others since the start.
    pub(crate) fn since(&self) -> study::Load {
        let now = Counted::now(&self.ours);
        let wall_s = self.began.elapsed().as_secs_f64().max(1e-3);
        let before = &self.counted;
        let others_s = (now.user_s - before.user_s) - (now.own_user_s - before.own_user_s);
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64;
        let pressure = |resource: fn(&Counted) -> Option<u64>| {
            let waited_us = resource(&now)?.saturating_sub(resource(before)?);
            Some(rounded(100.0 * waited_us as f64 / 1e6 / wall_s, 10.0))
        };
        // The disks below a loop device move sectors on its behalf.
        let are_real = !self.ours.iter().any(|disk| disk.starts_with("loop"));
        let mib = now.other_sectors.saturating_sub(before.other_sectors) as f64 / 2048.0;
        study::Load {
            others_processor_percent: rounded(100.0 * others_s.max(0.0) / wall_s / processors, 10.0),
            other_disks_mib_per_s: are_real.then(|| rounded(mib / wall_s, 100.0)),
            pressure_cpu_percent: pressure(|counted| counted.pressure_cpu_us),
            pressure_io_percent: pressure(|counted| counted.pressure_io_us),
            pressure_memory_percent: pressure(|counted| counted.pressure_memory_us),
        }
    }
}

/// With as many digits as are shown and kept.
fn rounded(value: f64, per_one: f64) -> f64 {
    (value * per_one).round() / per_one
}

impl Counted {
    fn now(ours: &BTreeSet<String>) -> Counted {
        let others = other_disks(ours);
        let sectors = |disk: &String| {
            let line = sysfs::text(&Path::new("/sys/block").join(disk).join("stat"))?;
            let fields: Vec<u64> = line.split_whitespace().filter_map(|field| field.parse().ok()).collect();
            Some(fields.get(2)? + fields.get(6)?)
        };
        Counted {
            user_s: user_seconds(&fs::read_to_string("/proc/stat").unwrap_or_default()).unwrap_or(0.0),
            own_user_s: own_user_seconds(),
            other_sectors: others.iter().filter_map(sectors).sum(),
            pressure_cpu_us: pressure("cpu"),
            pressure_io_us: pressure("io"),
            pressure_memory_us: pressure("memory"),
        }
    }
}

/// User and nice time of all processors. The time of kernel threads, which also work for the stack, is system time.
fn user_seconds(table: &str) -> Option<f64> {
    let line = table.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<f64> = line.split_whitespace().filter_map(|field| field.parse().ok()).collect();
    Some((ticks.first()? + ticks.get(1)?) / clock_ticks_per_second() as f64)
}

fn own_user_seconds() -> f64 {
    let of = |who| {
        // SAFETY: all fields are integers, for which zero is valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel fills the structure.
        unsafe { libc::getrusage(who, &raw mut usage) };
        usage.ru_utime.tv_sec as f64 + usage.ru_utime.tv_usec as f64 / 1e6
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

/// Pressure stall information, if the kernel provides it.
fn pressure(resource: &str) -> Option<u64> {
    let table = fs::read_to_string(Path::new("/proc/pressure").join(resource)).ok()?;
    let some = table.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split(' ')
        .find_map(|field| field.strip_prefix("total="))?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_nice_time_count() {
        let hz = clock_ticks_per_second() as f64;
        assert_eq!(user_seconds("cpu  100 20 3 4\ncpu0 1 2 3 4\n"), Some(120.0 / hz));
        assert_eq!(user_seconds(""), None);
    }

    #[test]
    fn own_work_is_not_that_of_others() {
        let load = Load::begin(&[]);
        let until = Instant::now() + std::time::Duration::from_millis(50);
        let mut spins = 0_u64;
        while Instant::now() < until {
            spins += 1;
        }
        assert!(spins > 0 && own_user_seconds() > load.counted.own_user_s);
        assert!(load.since().others_processor_percent >= 0.0);
    }
}
