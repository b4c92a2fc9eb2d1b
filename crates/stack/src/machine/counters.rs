//! The kernel's I/O statistics of a disk.

use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::sysfs;
use std::ops::Sub;

/// A disk's counters since it appeared, or between two readings. Times are multiples of the kernel's tick: 10 ms in
/// the lab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskStats {
    pub device: String,
    pub reads: u64,
    pub reads_merged: u64,
    pub sectors_read: u64,
    pub reading_ms: u64,
    pub writes: u64,
    pub writes_merged: u64,
    pub sectors_written: u64,
    pub writing_ms: u64,
    /// Requests in flight.
    pub in_flight: u64,
    pub busy_ms: u64,
    /// Requests in flight, weighted by time.
    pub weighted_ms: u64,
    pub discards: u64,
    pub sectors_discarded: u64,
    pub discarding_ms: u64,
    pub flushes: u64,
}

impl DiskStats {
    pub fn of(device: &BlockDevice) -> Result<Self, Cause> {
        let path = device.sysfs.join("stat");
        let line = sysfs::read(&path)?;
        Self::parse(&device.kernel_name, &line)
            .ok_or_else(|| Cause::State(format!("{} has no valid I/O statistics: `{line}`", path.display())))
    }

    /// Reads the fields of /sys/block/*/stat, which are those of /proc/diskstats after the name. Discards were
    /// added in Linux 4.18 and flushes in 5.5.
    fn parse(device: &str, line: &str) -> Option<Self> {
        let fields: Option<Vec<u64>> = line.split_whitespace().map(|field| field.parse().ok()).collect();
        let fields = fields.filter(|fields| fields.len() >= 11)?;
        let later = |index: usize| fields.get(index).copied().unwrap_or_default();
        Some(Self {
            device: device.to_owned(),
            reads: fields[0],
            reads_merged: fields[1],
            sectors_read: fields[2],
            reading_ms: fields[3],
            writes: fields[4],
            writes_merged: fields[5],
            sectors_written: fields[6],
            writing_ms: fields[7],
            in_flight: fields[8],
            busy_ms: fields[9],
            weighted_ms: fields[10],
            discards: later(11),
            sectors_discarded: later(13),
            discarding_ms: later(14),
            flushes: later(15),
        })
    }
}

impl DiskStats {
    /// Upper bound of the time with requests in flight since an earlier reading. The kernel counts it in ticks, and
    /// one tick for each request to an idle disk, so few short requests seem to take longer; the sum of all
    /// requests' times is exact for those, but too large if requests overlap.
    pub fn busy_ms_since(&self, earlier: &Self) -> u64 {
        let requests_ms = |disk: &Self| disk.reading_ms + disk.writing_ms + disk.discarding_ms;
        let ticks_ms = self.busy_ms.saturating_sub(earlier.busy_ms);
        ticks_ms.min(requests_ms(self).saturating_sub(requests_ms(earlier)))
    }
}

/// The difference from an earlier reading; requests in flight are those of the later one.
impl Sub<&DiskStats> for DiskStats {
    type Output = Self;

    fn sub(self, earlier: &DiskStats) -> Self {
        Self {
            reads: self.reads - earlier.reads,
            reads_merged: self.reads_merged - earlier.reads_merged,
            sectors_read: self.sectors_read - earlier.sectors_read,
            reading_ms: self.reading_ms - earlier.reading_ms,
            writes: self.writes - earlier.writes,
            writes_merged: self.writes_merged - earlier.writes_merged,
            sectors_written: self.sectors_written - earlier.sectors_written,
            writing_ms: self.writing_ms - earlier.writing_ms,
            busy_ms: self.busy_ms - earlier.busy_ms,
            weighted_ms: self.weighted_ms - earlier.weighted_ms,
            discards: self.discards - earlier.discards,
            sectors_discarded: self.sectors_discarded - earlier.sectors_discarded,
            discarding_ms: self.discarding_ms - earlier.discarding_ms,
            flushes: self.flushes - earlier.flushes,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17";

    #[test]
    fn reads_every_field() {
        let counters = DiskStats::parse("vda", NEW).expect("whole");
        let reads = (
            counters.reads,
            counters.reads_merged,
            counters.sectors_read,
            counters.reading_ms,
        );
        let writes = (
            counters.writes,
            counters.writes_merged,
            counters.sectors_written,
            counters.writing_ms,
        );
        let busy = (counters.in_flight, counters.busy_ms, counters.weighted_ms);
        let others = (
            counters.discards,
            counters.sectors_discarded,
            counters.discarding_ms,
            counters.flushes,
        );
        assert_eq!(
            (reads, writes, busy, others),
            ((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11), (12, 14, 15, 16))
        );
    }

    #[test]
    fn old_kernels_have_fewer_fields_and_garbage_has_none() {
        let old = DiskStats::parse("vda", "1 2 3 4 5 6 7 8 9 10 11").expect("whole");
        assert_eq!((old.weighted_ms, old.flushes), (11, 0));
        assert_eq!(DiskStats::parse("vda", "1 2 3"), None);
        assert_eq!(DiskStats::parse("vda", "1 2 3 4 5 6 7 8 9 ten 11"), None);
    }

    #[test]
    fn subtracts_what_was_before() {
        let before = DiskStats::parse("vda", "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1").expect("whole");
        let since = DiskStats::parse("vda", NEW).expect("whole") - &before;
        assert_eq!(
            (since.reads, since.sectors_written, since.in_flight, since.flushes),
            (0, 6, 9, 15)
        );
        assert_eq!(since.device, "vda");
    }
}
