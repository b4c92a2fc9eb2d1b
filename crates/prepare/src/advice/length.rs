//! Whether a test is long enough to count, and to measure disks rather than their caches.

use super::OnStack;
use super::disks::Disks;
use std::time::Duration;
use study::workload::Work;

/// As in reports (`report::scoreboard`).
const SHORT_S: f64 = 1.0;
/// Commits a second that SSDs reach, in order of magnitude: with power-loss protection nothing is flushed. Simulated, RAID 1 of two
/// `samsung-pm9a3-1920gb`, four clients: 12,000 to 36,000.
const SYNCS_S_PROTECTED: u64 = 40_000;
const SYNCS_S_FLUSHED: u64 = 1000;
/// Enough records last this long; each client writes its own.
const SECONDS_OF_RECORDS: u64 = 3;
/// Maximum percentage of a run during which the write caches may still fill.
const CACHED_PERCENT_MAX: f64 = 5.0;
/// Maximum part of a run during which they may still fill if it is to decide what is recommended.
const CACHED_PART_MAX: f64 = 1.0 / 3.0;

impl OnStack<'_> {
    /// Records of a database that SSDs have on the media in less than a second.
    pub(super) fn few_records(&self, disks: &Disks) -> Option<String> {
        let io = self.io();
        let is_log = matches!(self.cell.workload.work, Work::Server(_)) && self.job.grows_by == "records";
        if !is_log || disks.has_heads() {
            return None;
        }
        let syncs_s = if disks.need_no_flush() {
            SYNCS_S_PROTECTED
        } else {
            SYNCS_S_FLUSHED
        };
        let clients = u64::from(io.jobs.max(1));
        let records = io.size_bytes / io.block_bytes.max(1) * clients;
        (records < syncs_s).then(|| {
            format!(
                "commits {} records for each client, which these SSDs may do in less than a second, too short to choose a stack by; \
                 write `records = {}` or more",
                records / clients,
                (SECONDS_OF_RECORDS * syncs_s).div_ceil(clients)
            )
        })
    }

    pub(super) fn below_a_second(&self) -> Option<String> {
        let runtime = Duration::from_nanos(self.io().runtime_ns?).as_secs_f64();
        (runtime < SHORT_S).then(|| {
            format!(
                "runs for {runtime} s: a test of less than a second does not count in what a report recommends, unless its \
                 workload has a `weight`; write {}",
                self.setting("runtime", "10s")
            )
        })
    }

    /// A job file's ramp that may be longer than its job, which `io` refuses.
    pub(super) fn ramp_alone(&self) -> Option<String> {
        let io = self.io();
        (io.ramp_ns > 0 && io.runtime_ns.is_none()).then(|| {
            format!(
                "has `ramp_time` without `runtime`: nothing is measured of a job that ends within its ramp; write {}",
                self.setting("runtime", "60s")
            )
        })
    }

    /// The write caches take a large part of what is timed.
    pub(super) fn is_mostly_cached(&self, disks: &Disks) -> bool {
        let runtime = self.io().runtime_ns.map(|ns| Duration::from_nanos(ns).as_secs_f64());
        let drain = disks.drain_ms().map(|ms| ms / 1e3);
        let is_large = runtime
            .zip(drain)
            .is_some_and(|(runtime, drain)| drain > runtime * CACHED_PART_MAX);
        is_large && self.too_short(disks).is_some()
    }

    /// Random writes that are timed before the write caches are full.
    pub(super) fn too_short(&self, disks: &Disks) -> Option<String> {
        let io = self.io();
        let runtime = Duration::from_nanos(io.runtime_ns?).as_secs_f64();
        if !io.direct || !io.pattern.has_writes() || !io.pattern.is_random() || disks.cache_bytes() == 0 {
            return None;
        }
        let drain = disks.drain_ms()? / 1e3;
        let ramp = Duration::from_nanos(io.ramp_ns).as_secs_f64();
        (ramp < drain && drain > runtime * CACHED_PERCENT_MAX / 100.0).then(|| {
            let ramp_time = self.setting("ramp_time", &format!("{:.0}s", drain.ceil()));
            let settings = match drain > runtime * CACHED_PART_MAX {
                true => {
                    let enough = (drain / CACHED_PART_MAX / 10.0).ceil() * 10.0;
                    format!("{ramp_time} and {}", self.setting("runtime", &format!("{enough:.0}s")))
                }
                false => ramp_time,
            };
            format!(
                "runs for {runtime} s, but each disk needs {drain:.1} s to empty its full write cache: data that is \
                 only in the caches counts as written; write {settings}"
            )
        })
    }
}
