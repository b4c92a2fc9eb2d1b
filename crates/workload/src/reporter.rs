//! Samples and guards, built in the same way by every engine.

use crate::cpu::CpuTime;
use crate::environment::{DeviceCounters, Host};
use crate::latency::{LatencyHistogram, Stopwatch, latency};
use crate::throughput_series::ThroughputSeries;
use std::time::Duration;
use study::event::{Event, Guard, Sample, Throughput};
use study::metric::{MEBIBYTE, Metric};

/// Percentage of a test's bytes that must pass the member disks. It is below 100 because a filesystem may keep some
/// blocks in memory, such as file tails pinned by its journal.
const DEVICE_SHARE_PERCENT: u64 = 90;

/// Resolution of our clock, 10 µs: a test's two time stamps, and the time to its first and from its last operation.
pub(crate) const OWN_CLOCK: Duration = Duration::from_micros(10);
/// fio reports times in whole milliseconds.
pub(crate) const FIO_CLOCK: Duration = Duration::from_millis(1);

/// The amount that a test requested to read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) bytes: u64,
    /// Number of requests of a random pattern, each of which needs at least one request to a disk. Sequential
    /// requests are read ahead in larger ones.
    pub(crate) requests: Option<u64>,
    /// Record size, if a random request makes the filesystem read a whole record.
    pub(crate) record_bytes: Option<u64>,
}

/// The events of one test.
pub(crate) struct Reporter<'a> {
    pub(crate) host: &'a mut dyn Host,
    pub(crate) test: &'a str,
}

/// The percentiles of latencies that are figures of their own, as quantiles.
pub(crate) const PERCENTILES: [(Metric, f64); 3] = [
    (Metric::LatencyP50, 0.5),
    (Metric::LatencyP99, 0.99),
    (Metric::LatencyP999, 0.999),
];

impl Reporter<'_> {
    /// Reports a value in the unit of the metric.
    pub(crate) fn sample(&mut self, metric: Metric, value: f64) {
        self.host.event(Event::Sample(Sample {
            test: self.test.into(),
            metric,
            value,
        }));
    }

    pub(crate) fn throughput(&mut self, bytes: u64, duration: Duration) {
        self.sample(Metric::Throughput, bytes as f64 / MEBIBYTE / duration.as_secs_f64());
    }

    /// A metric in seconds.
    pub(crate) fn seconds(&mut self, metric: Metric, duration: Duration) {
        self.sample(metric, duration.as_secs_f64());
    }

    /// Those of [`PERCENTILES`] that there are enough requests for.
    pub(crate) fn percentiles(&mut self, histogram: &LatencyHistogram) {
        for (metric, quantile) in PERCENTILES {
            if has_percentile(histogram.len(), quantile) {
                self.sample(metric, histogram.value_at_quantile(quantile) as f64 / 1e6);
            }
        }
    }

    pub(crate) fn latencies(&mut self, watch: &Stopwatch) {
        for latency in watch.latencies(self.test) {
            self.host.event(Event::Latency(latency));
        }
    }

    pub(crate) fn latency(&mut self, operation: &str, histogram: &LatencyHistogram) {
        if !histogram.is_empty() {
            self.host
                .event(Event::Latency(latency(self.test, operation, histogram)));
        }
    }

    /// Throughput over the measured time, if known.
    pub(crate) fn throughput_over_time(&mut self, throughput: &ThroughputSeries, measured: Duration) {
        let (interval_ns, bytes) = (throughput.interval_ns(), throughput.within(measured));
        if !bytes.is_empty() {
            self.host.event(Event::Throughput(Throughput {
                test: self.test.into(),
                interval_ns,
                bytes,
            }));
        }
    }

    /// Requests and bytes at the member disks during the test, for explanation.
    pub(crate) fn device_work(&mut self, moved: DeviceCounters) {
        self.sample(Metric::DeviceReads, moved.reads as f64);
        self.sample(Metric::DeviceWrites, moved.writes as f64);
        self.sample(Metric::DeviceRead, moved.read_bytes() as f64 / MEBIBYTE);
        self.sample(Metric::DeviceWritten, moved.written_bytes() as f64 / MEBIBYTE);
        if let Some(busy) = self.host.disks_busy() {
            self.sample(Metric::DeviceBusy, busy.mean);
            self.sample(Metric::DeviceBusiest, busy.busiest);
        }
    }

    /// The guards of the stack during this test. The counters have just been read.
    pub(crate) fn judge_stack(&mut self) {
        self.host.judge(Some(self.test));
    }

    /// CPU time of the test.
    pub(crate) fn cpu(&mut self, used: CpuTime) {
        self.seconds(Metric::CpuUser, used.user);
        self.seconds(Metric::CpuSystem, used.system);
    }

    pub(crate) fn guard(&mut self, name: &str, passed: bool, detail: String) {
        let test = Some(self.test.into());
        self.host.event(Event::Guard(Guard {
            name: name.to_owned(),
            test,
            passed,
            detail,
        }));
    }

    /// Checks that reads came from the disks, not from memory.
    pub(crate) fn cold_cache_guard(&mut self, bytes: u64, moved: DeviceCounters) {
        self.device_guard("cold-cache", "read from", bytes, moved.read_bytes());
    }

    /// Checks that no cache answered requests, whether with data that this test had read or with blocks read along
    /// with others.
    pub(crate) fn cache_hits_guard(&mut self, asked: Asked, moved: DeviceCounters) {
        let (passed, detail) = cache_hits(asked, moved);
        self.guard("cache-hits", passed, detail);
    }

    /// Checks that all written data is on the disks at the end of the test, including copies and parity.
    pub(crate) fn written_out_guard(&mut self, bytes: u64, moved: DeviceCounters) {
        let member_bytes = self.host.member_bytes_min(bytes);
        let needed = member_bytes / 100 * DEVICE_SHARE_PERCENT;
        let written = moved.written_bytes();
        let mut detail = format!(
            "{written} bytes written to the member disks for {bytes} bytes of files; at least {needed} are required"
        );
        if written < needed {
            detail += "; the rest was overwritten in memory before it reached a disk: write with `direct = true`, or \
                       more bytes (`size`) than memory holds, each once (no `runtime`)";
        }
        self.guard("written-out", written >= needed, detail);
        self.compressible_guard("written to", written, member_bytes);
    }

    /// On a compressing filesystem: checks that as many bytes passed the disks as without compression.
    pub(crate) fn compressible_guard(&mut self, verb: &str, at_disks: u64, uncompressed: u64) {
        if !self.host.compresses() || uncompressed == 0 {
            return;
        }
        let needed = uncompressed / 100 * DEVICE_SHARE_PERCENT;
        let mut detail = format!(
            "{at_disks} bytes {verb} the member disks, {uncompressed} without compression; at least {needed} are \
                required"
        );
        if at_disks < needed {
            detail += "; the filesystem compressed the data: use random bytes (no `zero_buffers` or `buffer_pattern`; \
                with \
                       fio also `refill_buffers = true`), or set `compression = \"off\"`";
        }
        self.guard("compressible", at_disks >= needed, detail);
    }

    /// Checks the duration: an error of `resolution` must be at most 1 % of it.
    pub(crate) fn long_enough_guard(&mut self, duration: Duration, resolution: Duration) {
        let needed = resolution * 100;
        let took = duration.as_secs_f64() * 1e3;
        let mut detail = format!(
            "the test took {took:.3} ms; at least {} ms are needed",
            needed.as_millis()
        );
        if duration < needed {
            detail += &format!(
                "; times are accurate to {} ms: use a larger `size`, more `files` or a longer `runtime`",
                resolution.as_secs_f64() * 1e3
            );
        }
        self.guard("long-enough", duration >= needed, detail);
    }

    fn device_guard(&mut self, name: &str, verb: &str, bytes: u64, device_bytes: u64) {
        let needed = bytes / 100 * DEVICE_SHARE_PERCENT;
        let detail = format!(
            "{device_bytes} bytes {verb} the member disks for {bytes} bytes of files; at least {needed} are required"
        );
        self.guard(name, device_bytes >= needed, detail);
    }
}

/// Whether the requests of a test reached the disks, with the counts.
fn cache_hits(asked: Asked, moved: DeviceCounters) -> (bool, String) {
    let records = asked.requests.zip(asked.record_bytes);
    let records = records.filter(|(requests, bytes)| requests * bytes > asked.bytes);
    let bytes_asked = records.map_or(asked.bytes, |(requests, bytes)| requests * bytes);
    let bytes_needed = bytes_asked / 100 * DEVICE_SHARE_PERCENT;
    let requests = moved.reads + moved.reads_merged;
    let requests_needed = asked.requests.unwrap_or_default() * DEVICE_SHARE_PERCENT / 100;
    let passed = moved.read_bytes() >= bytes_needed && requests >= requests_needed;
    let mut detail = format!(
        "{} bytes read from the member disks for {} bytes",
        moved.read_bytes(),
        asked.bytes
    );
    if let Some(asked) = asked.requests {
        detail = format!("{requests} requests at the member disks for {asked} reads, {detail}");
    }
    if let Some((requests, bytes)) = records {
        detail += &format!(" and {requests} records of {bytes} bytes, of which each is read as a whole");
    }
    detail += &format!("; at least {DEVICE_SHARE_PERCENT} % are required");
    if !passed {
        detail += "; a cache served the rest from earlier reads: read with `direct = true`; or set no `runtime`, so that \
            nothing is read twice; or use a `size` that is larger than memory, or a `bs` that is not smaller than the \
            filesystem's records";
    }
    (passed, detail)
}

/// Whether at least one of the requests is beyond the quantile. With fewer than 100, p99 would be the slowest of them.
fn has_percentile(requests: u64, quantile: f64) -> bool {
    requests as f64 * (1.0 - quantile) >= 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The p99 of seven reads was their largest, and decided a recommendation.
    #[test]
    fn issue_39_a4_a_percentile_takes_enough_requests() {
        let of = |requests| PERCENTILES.map(|(_, quantile)| has_percentile(requests, quantile));
        assert_eq!(of(0), [false, false, false]);
        assert_eq!(of(7), [true, false, false]);
        assert_eq!(of(99), [true, false, false]);
        assert_eq!(of(100), [true, true, false]);
        assert_eq!(of(1000), [true, true, true]);
    }

    fn moved(reads: u64, reads_merged: u64, bytes: u64) -> DeviceCounters {
        DeviceCounters {
            reads,
            reads_merged,
            read_sectors: bytes / 512,
            ..DeviceCounters::default()
        }
    }

    /// 4 GiB in 4 KiB blocks from 1 MiB records: each record was read once from the disks, in eight requests.
    #[test]
    fn records_that_are_larger_than_blocks_are_read_once() {
        let asked = Asked {
            bytes: 4 << 30,
            requests: Some(1 << 20),
            record_bytes: None,
        };
        let (passed, detail) = cache_hits(asked, moved(32_744, 0, 4 << 30));
        assert!(!passed);
        assert!(
            detail.starts_with("32744 requests at the member disks for 1048576 reads, 4294967296 bytes read"),
            "{detail}"
        );
        assert!(cache_hits(asked, moved(1 << 20, 0, 4 << 30)).0);
        assert!(
            cache_hits(asked, moved(1 << 19, 1 << 19, 4 << 30)).0,
            "merged ones count"
        );
    }

    /// S5: RAIDZ2 of eight disks makes six requests for a 1 MiB record, so requests do not show what a cache
    /// answered.
    #[test]
    fn records_on_several_disks_are_counted_by_their_bytes() {
        let asked = Asked {
            bytes: 10_000 << 12,
            requests: Some(10_000),
            record_bytes: Some(1 << 20),
        };
        let (passed, detail) = cache_hits(asked, moved(6 * 8_900, 0, 8_900 << 20));
        assert!(!passed, "11 % hits");
        assert!(detail.contains("10000 records of 1048576 bytes"), "{detail}");
        assert!(cache_hits(asked, moved(6 * 9_100, 0, 9_100 << 20)).0, "9 % hits");
    }

    #[test]
    fn sequential_reads_are_merged_and_still_need_their_bytes() {
        let asked = Asked {
            bytes: 4 << 30,
            requests: None,
            record_bytes: Some(128 << 10),
        };
        assert!(cache_hits(asked, moved(4096, 0, 4 << 30)).0);
        assert!(!cache_hits(asked, moved(1024, 0, 1 << 30)).0, "read four times");
    }
}
