//! Throughput over time of an fio job, from fio's bandwidth log.

use crate::WorkloadError;
use crate::throughput_series::ThroughputSeries;
use std::fs;
use std::time::Duration;
use study::workload::IoSpec;

/// Lines per job and direction: much finer than the intervals that are judged.
const LINES_OF_RATES: u128 = 1024;
/// fio's shortest interval.
const SHORTEST_MS: u128 = 10;
/// fio's name for the log, to which it adds `_bw.N.log` for job N.
const NAME: &str = "raidlab";
/// fio's unit of bandwidth, KiB/s.
const KIBIBYTE: u64 = 1024;

/// A limited job with at most this number of requests logs each of them: fio writes no line for an interval without a
/// request, so that the length of an interval is not known. A line takes some 40 bytes of memory.
const REQUESTS_MAX: u64 = 50_000;

/// What a line of a log stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    /// A request.
    Requests,
    /// The rate since the line before, in intervals of this many milliseconds.
    Intervals(u128),
}

/// A temporary folder for fio's logs.
pub(super) struct BandwidthLog {
    folder: tempfile::TempDir,
    lines: Lines,
}

impl BandwidthLog {
    /// For a job with a `runtime`; `None` if the study makes fio write such a log itself.
    pub(super) fn of(spec: &IoSpec) -> Result<Option<Self>, WorkloadError> {
        let is_taken = |(name, _): &(String, String)| name == "write_bw_log" || name == "log_avg_msec";
        let Some(runtime_ns) = spec.runtime_ns.filter(|_| !spec.fio_options.iter().any(is_taken)) else {
            return Ok(None);
        };
        let parent = std::env::temp_dir();
        let folder = tempfile::Builder::new().prefix("raidlab-fio-").tempdir_in(&parent);
        Ok(Some(Self {
            folder: folder.map_err(WorkloadError::at("create a folder in", parent))?,
            lines: match is_slow(spec, runtime_ns) {
                true => Lines::Requests,
                false => Lines::Intervals(
                    (Duration::from_nanos(runtime_ns).as_millis() / LINES_OF_RATES).max(SHORTEST_MS),
                ),
            },
        }))
    }

    /// fio's options.
    pub(super) fn arguments(&self) -> Vec<String> {
        let name = self.folder.path().join(NAME);
        let mut arguments = vec![format!("--write_bw_log={}", name.display())];
        if let Lines::Intervals(interval_ms) = self.lines {
            arguments.push(format!("--log_avg_msec={interval_ms}"));
        }
        arguments
    }

    /// The sum over all jobs, starting after the ramp.
    pub(super) fn read(&self) -> Result<ThroughputSeries, WorkloadError> {
        let folder = self.folder.path();
        let mut throughput = ThroughputSeries::new();
        let entries = fs::read_dir(folder).map_err(WorkloadError::at("read", folder))?;
        for entry in entries {
            let path = entry.map_err(WorkloadError::at("read", folder))?.path();
            let log = fs::read_to_string(&path).map_err(WorkloadError::at("read", &path))?;
            add(&mut throughput, &log, self.lines).map_err(|line| WorkloadError::FioOutput {
                what: "a line of its bandwidth log is not `ms, KiB/s, direction, …`".to_owned(),
                printed: line.to_owned(),
            })?;
        }
        Ok(throughput)
    }
}

/// Whether the limit of a job leaves few requests. Those of the ramp are not logged.
fn is_slow(spec: &IoSpec, runtime_ns: u64) -> bool {
    let a_second = spec.limit_iops().map(|rate| rate.saturating_mul(u64::from(spec.jobs)));
    let seconds = Duration::from_nanos(runtime_ns).as_secs() + 1;
    a_second.is_some_and(|rate| rate.saturating_mul(seconds) <= REQUESTS_MAX)
}

/// Adds the log of a job: `ms, KiB/s, direction, bytes of the request, …`. A line of an average ends the interval that began
/// with the previous line of the same direction. The error is the invalid line.
fn add<'a>(throughput: &mut ThroughputSeries, log: &'a str, lines: Lines) -> Result<(), &'a str> {
    // Reads, writes, trims.
    let mut begins_ms = [0_u64; 3];
    for line in log.lines() {
        let mut fields = line.split(',').map(|field| field.trim().parse::<u64>().ok());
        let mut next = || fields.next().flatten().ok_or(line);
        let (at_ms, rate, direction) = (next()?, next()?, next()?);
        let begin_ms = begins_ms.get_mut(direction as usize).ok_or(line)?;
        match lines {
            Lines::Requests => throughput.add(Duration::from_millis(at_ms), next()?),
            Lines::Intervals(_) => {
                let middle = Duration::from_millis(u64::midpoint(*begin_ms, at_ms));
                throughput.add(middle, rate * KIBIBYTE * at_ms.saturating_sub(*begin_ms) / 1000);
            }
        }
        *begin_ms = at_ms;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steady_state;

    /// Reads and writes of 1000 KiB/s each, and of 2000 after 448 ms.
    #[test]
    fn a_log_is_added_by_direction() {
        let lines = |direction: u32| -> String {
            let rate = |index: u32| if index <= 14 { 1000 } else { 2000 };
            (1..=62)
                .map(|index| format!("{}, {}, {direction}, 0, 0\n", index * 32, rate(index)))
                .collect()
        };
        let mut throughput = ThroughputSeries::new();
        add(&mut throughput, &lines(0), Lines::Intervals(32)).expect("a log of reads");
        add(&mut throughput, &lines(1), Lines::Intervals(32)).expect("a log of writes");
        let (passed, detail) = steady_state::verdict(&throughput, Duration::from_secs(2)).expect("31 intervals");
        assert!(!passed, "{detail}");
        assert!(
            detail.contains("MiB/s every 64 ms: 2.0 2.0 2.0 2.0 2.0 2.0 2.0 3.9 3.9"),
            "{detail}"
        );
        assert!(
            detail.starts_with("3.0 MiB/s in the first half of the time, 3.9"),
            "{detail}"
        );
    }

    #[test]
    fn what_is_no_log_is_shown() {
        for line in ["", "100", "100, x, 0", "100, 5, 7, 0, 0", "-1, 5, 0, 0, 0"] {
            let log = format!("50, 5, 0, 4096, 0\n{line}\n60, 5, 0, 0, 0\n");
            assert_eq!(add(&mut ThroughputSeries::new(), &log, Lines::Intervals(10)), Err(line));
        }
    }
}
