//! Metrics of samples, with unit and direction.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Direction of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    Higher,
    Lower,
    /// Neither: a count for explanation, such as requests at a disk.
    Neither,
}

impl Better {
    pub const ALL: [Self; 3] = [Self::Higher, Self::Lower, Self::Neither];

    /// `higher`, `lower`, `neither`: in stores and exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Neither => "neither",
        }
    }
}

/// Bytes of a MiB, as in [`Unit::Mebibytes`].
pub const MEBIBYTE: f64 = (1 << 20) as f64;

/// Unit of a sample's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    MebibytesPerSecond,
    FilesPerSecond,
    /// Operations per second.
    Iops,
    /// Bonnie++'s seeks per second: each is a read, some followed by a write.
    SeeksPerSecond,
    Hours,
    Seconds,
    Milliseconds,
    Nanoseconds,
    Percent,
    Requests,
    /// Number of 512-byte sectors.
    Sectors,
    Mebibytes,
    /// Contents of all disks after a power cut.
    States,
}

impl Unit {
    pub const ALL: [Self; 13] = [
        Self::MebibytesPerSecond,
        Self::FilesPerSecond,
        Self::Iops,
        Self::SeeksPerSecond,
        Self::Hours,
        Self::Seconds,
        Self::Milliseconds,
        Self::Nanoseconds,
        Self::Percent,
        Self::Requests,
        Self::Sectors,
        Self::Mebibytes,
        Self::States,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::MebibytesPerSecond => "MiB/s",
            Self::FilesPerSecond => "files/s",
            Self::Iops => "IOPS",
            Self::SeeksPerSecond => "seeks/s",
            Self::Hours => "h",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Nanoseconds => "ns",
            Self::Percent => "%",
            Self::Requests => "requests",
            Self::Sectors => "sectors",
            Self::Mebibytes => "MiB",
            Self::States => "states",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! metrics {
    ($($(#[$doc:meta])* $metric:ident = $name:literal, $unit:ident, $better:ident;)*) => {
        /// A metric. Name, unit and direction are one row of the table in this module.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Metric {
            $($(#[$doc])* $metric,)*
        }

        impl Metric {
            pub const ALL: &'static [Self] = &[$(Self::$metric,)*];

            /// Name in studies, stores and exports. `iops` has two units, all others one.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$metric => $name,)*
                }
            }

            pub const fn unit(self) -> Unit {
                match self {
                    $(Self::$metric => Unit::$unit,)*
                }
            }

            pub const fn better(self) -> Better {
                match self {
                    $(Self::$metric => Better::$better,)*
                }
            }
        }
    };
}

metrics! {
    /// Bytes of the test divided by its duration. Written data counts once it is on the disks.
    Throughput = "throughput", MebibytesPerSecond, Higher;
    /// Bytes divided by the time until the last write returned, when data may still be in memory: fio's figure for
    /// buffered writes without `end_fsync`.
    ThroughputCached = "throughput_cached", MebibytesPerSecond, Higher;
    FilesPerSecond = "files_per_second", FilesPerSecond, Higher;
    Iops = "iops", Iops, Higher;
    /// Bonnie++'s random seeks.
    Seeks = "iops", SeeksPerSecond, Higher;
    Duration = "duration", Seconds, Lower;
    /// Time from the start until the last file was closed; data may still be in memory.
    TimeToLastClose = "time_to_last_close", Seconds, Lower;
    TimeToLastUnlink = "time_to_last_unlink", Seconds, Lower;
    /// Time after the test to write the remaining data to the disks.
    SyncAfter = "sync_after", Seconds, Lower;
    /// Percentage of one processor.
    Cpu = "cpu", Percent, Lower;
    CpuUser = "cpu_user", Seconds, Lower;
    CpuSystem = "cpu_system", Seconds, Lower;
    /// For a lab machine with a CPU model: time charged to all tasks during the test.
    ProcessorUser = "processor_user", Seconds, Neither;
    ProcessorSystem = "processor_system", Seconds, Neither;
    /// Percentage of all cores' time that was charged.
    ProcessorBusy = "processor_busy", Percent, Neither;
    /// Percentage of the test's time charged to the task with the highest charge: near 100, that task limits the
    /// test, whatever the number of cores.
    ProcessorBusiestTask = "processor_busiest_task", Percent, Neither;
    LatencyP50 = "latency_p50", Milliseconds, Lower;
    LatencyP90 = "latency_p90", Milliseconds, Lower;
    LatencyP99 = "latency_p99", Milliseconds, Lower;
    LatencyP999 = "latency_p999", Milliseconds, Lower;
    LatencyMax = "latency_max", Milliseconds, Lower;
    /// Requests at all member disks together during the test.
    DeviceReads = "device_reads", Requests, Neither;
    DeviceWrites = "device_writes", Requests, Neither;
    DeviceRead = "device_read", Mebibytes, Neither;
    DeviceWritten = "device_written", Mebibytes, Neither;
    /// What the test moved in its `ramp_time`, which is in the counters of the disks and not in throughput. With fio,
    /// which does not report it, at the rate of the time that is measured.
    RampMoved = "ramp_moved", Mebibytes, Neither;
    /// Percentage of the test's time in which a member disk had requests, as iostat's `%util`: the mean of all
    /// members, and the maximum.
    DeviceBusy = "device_busy", Percent, Neither;
    DeviceBusiest = "device_busiest", Percent, Neither;
    /// Requests at one member disk during the whole workload; the test's name identifies the disk.
    MemberReads = "reads", Requests, Neither;
    MemberWrites = "writes", Requests, Neither;
    MemberSectorsRead = "sectors_read", Sectors, Neither;
    MemberSectorsWritten = "sectors_written", Sectors, Neither;
    MemberFlushes = "flushes", Requests, Neither;
    /// Power cuts whose resulting state was checked.
    StatesTried = "states_tried", States, Neither;
    /// States in which acknowledged data, names or removals were lost.
    AcknowledgedLost = "acknowledged_lost", States, Lower;
    /// States with data or names that were never written there.
    WrongData = "wrong_data", States, Lower;
    /// States whose array could not be started or whose filesystem could not be mounted.
    NotMountable = "not_mountable", States, Lower;
    /// States in which the filesystem's own checker reported errors.
    CheckerComplaints = "checker_complaints", States, Lower;
    /// States whose copies or parity disagreed after md's resync.
    StaleParity = "stale_parity", States, Lower;
    /// From the act that started it (adding or replacing a disk, or a failure with a spare) until md finished.
    TimeToRebuild = "time_to_rebuild", Seconds, Lower;
    /// The same for the whole disk, from the rate of the rebuild and the rates of the disk's zones.
    TimeToRebuildDisk = "time_to_rebuild_disk", Hours, Lower;
    /// Used size of a member divided by the time in which md rebuilt it.
    RebuildRate = "rebuild_rate", MebibytesPerSecond, Higher;
    /// From a member's failure until no member was missing.
    TimeExposed = "time_exposed", Seconds, Lower;
    /// Duration of a phase of the array; the phase is the test's name.
    PhaseDuration = "phase_duration", Seconds, Neither;
    /// Result of a check or repair: md's `mismatch_cnt`, wrong blocks of a scrub.
    Mismatches = "mismatches", Sectors, Lower;
    /// Requests of a check or repair that failed on a member with checksums (dm-integrity).
    ChecksumErrors = "checksum_errors", Requests, Lower;
    /// Sectors that md rewrote in a check or repair because they could not be read (`errors` of its members).
    CorrectedReads = "corrected_reads", Sectors, Lower;
    /// What fstrim says that it trimmed, and what of it reached the member disks as discards, with all copies.
    Trimmed = "trimmed", Mebibytes, Neither;
    Discarded = "discarded", Mebibytes, Neither;
    /// Sectors changed by a `corrupt` act.
    Corrupted = "corrupted", Sectors, Neither;
    /// Corrupted sectors for which a check or repair counted mismatches.
    Found = "found", Sectors, Higher;
    /// Corrupted sectors for which a check or repair counted no mismatches.
    NotFound = "not_found", Sectors, Lower;
    /// Corrupted sectors that have their original contents again, in all copies.
    Repaired = "repaired", Sectors, Higher;
    /// Corrupted sectors with a wrong copy after a repair that reported no error.
    RepairedWrongly = "repaired_wrongly", Sectors, Lower;
    /// Corrupted sectors that were returned by a read as good data, right after the act or at the end.
    ServedAsGood = "served_as_good", Sectors, Lower;
    /// Corrupted sectors for which a read returned an error, right after the act or at the end.
    Unreadable = "unreadable", Sectors, Lower;
    /// Requests of a job of `raidlab bench`.
    Requests = "requests", Requests, Neither;
}

impl Metric {
    /// Metrics for the speed of a test, the most important first. They are views of one measurement, so only one of
    /// them is ranked.
    pub const HEADLINES: [Self; 6] = [
        Self::Throughput,
        Self::Iops,
        Self::Seeks,
        Self::FilesPerSecond,
        Self::TimeToRebuildDisk,
        Self::Duration,
    ];

    /// Metrics that a study's claims and tables may name.
    pub fn of_studies() -> impl Iterator<Item = Self> {
        let is_named = |metric: &Self| metric.better() != Better::Neither && *metric != Self::Seeks;
        Self::ALL.iter().copied().filter(is_named)
    }

    /// The metric with this stored name and unit.
    pub fn of_words(name: &str, unit: &str, better: &str) -> Result<Self, UnknownMetric> {
        Self::ALL
            .iter()
            .copied()
            .find(|metric| {
                metric.name() == name && metric.unit().name() == unit && metric.better().name() == better
            })
            .ok_or_else(|| UnknownMetric {
                name: name.to_owned(),
                unit: unit.to_owned(),
                better: better.to_owned(),
            })
    }
}

/// An unknown or inconsistent combination of metric, unit and direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMetric {
    pub name: String,
    pub unit: String,
    pub better: String,
}

impl fmt::Display for UnknownMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, unit, better } = self;
        write!(
            f,
            "there is no metric `{name}` in `{unit}` with `{better}` as the better direction"
        )
    }
}

impl std::error::Error for UnknownMetric {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_found_by_its_words() {
        for &metric in Metric::ALL {
            let found = Metric::of_words(metric.name(), metric.unit().name(), metric.better().name());
            assert_eq!(found, Ok(metric), "{metric:?}");
        }
    }

    #[test]
    fn unknown_words_are_errors() {
        let error = Metric::of_words("throughput", "furlongs", "higher").unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no metric `throughput` in `furlongs` with `higher` as the better direction"
        );
        assert!(Metric::of_words("throughput", "MiB/s", "lower").is_err());
    }

    #[test]
    fn a_study_names_what_can_be_better() {
        let names: Vec<&str> = Metric::of_studies().map(Metric::name).collect();
        assert!(names.contains(&"throughput") && names.contains(&"latency_p999"));
        assert!(!names.contains(&"device_reads"));
        assert_eq!(names.iter().filter(|name| **name == "iops").count(), 1);
    }
}
