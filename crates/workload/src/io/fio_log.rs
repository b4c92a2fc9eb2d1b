//! Throughput over time of an fio job, from fio's bandwidth log.

use crate::WorkloadError;
use crate::io::fio_phases::{Clock, Moved};
use crate::throughput_series::ThroughputSeries;
use std::fs;
use std::time::Duration;
use study::phase::Phases;
use study::workload::IoSpec;

/// While acts are done, an interval of a log has at most this length, and of a job without a `runtime` this one.
const ACTS_MS: u128 = 100;
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
    /// Relates the log to the phases of the array: times in it are then those of the wall clock.
    clock: Option<Clock>,
}

/// What a log says.
pub(super) struct LogRead {
    pub(super) throughput: ThroughputSeries,
    /// By time, if acts are done.
    pub(super) moved: Vec<Moved>,
}

impl BandwidthLog {
    /// For a job with a `runtime`, and for every job while acts are done; `None` if the study makes fio write such a log
    /// itself.
    pub(super) fn of(spec: &IoSpec, phases: Option<&Phases>) -> Result<Option<Self>, WorkloadError> {
        let is_taken = |(name, _): &(String, String)| name == "write_bw_log" || name == "log_avg_msec";
        if spec.fio_options.iter().any(is_taken) || (spec.runtime_ns.is_none() && phases.is_none()) {
            return Ok(None);
        }
        let longest_ms = phases.map_or(u128::MAX, |_| ACTS_MS);
        let parent = std::env::temp_dir();
        let folder = tempfile::Builder::new().prefix("raidlab-fio-").tempdir_in(&parent);
        Ok(Some(Self {
            folder: folder.map_err(WorkloadError::at("create a folder in", parent))?,
            lines: match spec.runtime_ns {
                Some(runtime_ns) if is_slow(spec, runtime_ns) => Lines::Requests,
                Some(runtime_ns) => {
                    let interval_ms = Duration::from_nanos(runtime_ns).as_millis() / LINES_OF_RATES;
                    Lines::Intervals(interval_ms.max(SHORTEST_MS).min(longest_ms))
                }
                None => Lines::Intervals(ACTS_MS),
            },
            clock: phases.map(|_| Clock::now()),
        }))
    }

    /// fio's options.
    pub(super) fn arguments(&self) -> Vec<String> {
        let name = self.folder.path().join(NAME);
        let mut arguments = vec![format!("--write_bw_log={}", name.display())];
        if let Lines::Intervals(interval_ms) = self.lines {
            arguments.push(format!("--log_avg_msec={interval_ms}"));
        }
        if self.clock.is_some() {
            arguments.push("--log_unix_epoch=1".to_owned());
        }
        arguments
    }

    /// The sum over all jobs, starting after the ramp.
    pub(super) fn read(&self) -> Result<LogRead, WorkloadError> {
        let folder = self.folder.path();
        let mut intervals = Vec::new();
        let entries = fs::read_dir(folder).map_err(WorkloadError::at("read", folder))?;
        for entry in entries {
            let path = entry.map_err(WorkloadError::at("read", folder))?.path();
            let log = fs::read_to_string(&path).map_err(WorkloadError::at("read", &path))?;
            parse(&mut intervals, &log, self.lines, self.clock.is_some()).map_err(|line| {
                WorkloadError::FioOutput {
                    what: "a line of its bandwidth log is not `ms, KiB/s, direction, …`".to_owned(),
                    printed: line.to_owned(),
                }
            })?;
        }
        let mut throughput = ThroughputSeries::new();
        // Only with the wall clock is the beginning not zero.
        let begin_ms = match self.clock {
            Some(_) => intervals.iter().map(|interval| interval.begin_ms).min().unwrap_or(0),
            None => 0,
        };
        add(&mut throughput, &intervals, begin_ms);
        let moved = self.clock.map(|clock| {
            let at_times = intervals.iter().map(|interval| Moved {
                began: clock.instant(interval.begin_ms),
                ended: clock.instant(interval.end_ms),
                direction: interval.direction,
                bytes: interval.bytes,
            });
            at_times.collect()
        });
        Ok(LogRead {
            throughput,
            moved: moved.unwrap_or_default(),
        })
    }
}

/// A line of a log: bytes that were moved from one time to another, or at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    begin_ms: u64,
    end_ms: u64,
    direction: Direction,
    bytes: u64,
}

/// The directions by fio's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
    Trim,
}

/// Whether the limit of a job leaves few requests. Those of the ramp are not logged.
fn is_slow(spec: &IoSpec, runtime_ns: u64) -> bool {
    let a_second = spec.limit_iops().map(|rate| rate.saturating_mul(u64::from(spec.jobs)));
    let seconds = Duration::from_nanos(runtime_ns).as_secs() + 1;
    a_second.is_some_and(|rate| rate.saturating_mul(seconds) <= REQUESTS_MAX)
}

/// Reads the log of a job: `ms, KiB/s, direction, bytes of the request, …`. A line of an average ends the interval that began
/// with the previous line of the same direction; the first one has the length of an interval if times are of the wall clock. The
/// error is the invalid line.
fn parse<'a>(
    intervals: &mut Vec<Interval>,
    log: &'a str,
    lines: Lines,
    is_wall_clock: bool,
) -> Result<(), &'a str> {
    let mut begins_ms = [None; 3];
    for line in log.lines() {
        let mut fields = line.split(',').map(|field| field.trim().parse::<u64>().ok());
        let mut next = || fields.next().flatten().ok_or(line);
        let (end_ms, rate, number) = (next()?, next()?, next()? as usize);
        let direction = [Direction::Read, Direction::Write, Direction::Trim];
        let direction = *direction.get(number).ok_or(line)?;
        let (begin_ms, bytes) = match lines {
            Lines::Requests => (end_ms, next()?),
            Lines::Intervals(length_ms) => {
                let first_ms = match is_wall_clock {
                    true => end_ms.saturating_sub(u64::try_from(length_ms).unwrap_or(0)),
                    false => 0,
                };
                let begin_ms = begins_ms[number].unwrap_or(first_ms).min(end_ms);
                (begin_ms, rate * KIBIBYTE * (end_ms - begin_ms) / 1000)
            }
        };
        begins_ms[number] = Some(end_ms);
        intervals.push(Interval {
            begin_ms,
            end_ms,
            direction,
            bytes,
        });
    }
    Ok(())
}

/// Adds what was moved; the series begins at `begin_ms`.
fn add(throughput: &mut ThroughputSeries, intervals: &[Interval], begin_ms: u64) {
    for interval in intervals {
        let middle_ms = u64::midpoint(interval.begin_ms, interval.end_ms);
        throughput.add(
            Duration::from_millis(middle_ms.saturating_sub(begin_ms)),
            interval.bytes,
        );
    }
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
        let mut intervals = Vec::new();
        parse(&mut intervals, &lines(0), Lines::Intervals(32), false).expect("a log of reads");
        parse(&mut intervals, &lines(1), Lines::Intervals(32), false).expect("a log of writes");
        add(&mut throughput, &intervals, 0);
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
            assert_eq!(parse(&mut Vec::new(), &log, Lines::Intervals(10), false), Err(line));
        }
    }
}
