//! Facts of a trial other than measured values, each kind with its type. [`ProvenanceEntry`] is for a person alone: no
//! stage reads its text.

use crate::finding::Finding;
use crate::record::{ProvenanceEntry, Recorded};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Facts of the trials of a run, by kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub disk_counters: Vec<Recorded<DiskCounters>>,
    /// Versions of the kernels that ran: `6.12.117`.
    pub kernels: Vec<Recorded<String>>,
    /// On hosts only.
    pub loads: Vec<Recorded<Load>>,
    /// After power cuts.
    pub findings: Vec<Recorded<Finding>>,
    /// Where models of disks are drawn.
    pub drawn: Vec<Recorded<DrawnFigure>>,
    /// Facts that are only displayed.
    pub provenance: Vec<Recorded<ProvenanceEntry>>,
}

/// What a trial's disks had in place of a figure of their model.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnFigure {
    /// `wd-wd40efrx.disk.seek`
    pub figure: String,
    /// By which its values are multiplied; of a flag 1 if it is as in the model, and 0 if not.
    pub factor: f64,
}

impl Facts {
    pub fn append(&mut self, mut other: Self) {
        self.disk_counters.append(&mut other.disk_counters);
        self.kernels.append(&mut other.kernels);
        self.loads.append(&mut other.loads);
        self.findings.append(&mut other.findings);
        self.drawn.append(&mut other.drawn);
        self.provenance.append(&mut other.provenance);
    }
}

/// Counters of a simulated disk over a whole trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCounters {
    /// The kernel's name: `vda`.
    pub disk: String,
    /// Without counters that the measuring version did not have.
    pub counts: BTreeMap<DiskCounter, u64>,
    /// Digest of the contents at the end, hexadecimal.
    pub contents: Option<String>,
}

/// A file that a guest of the lab read, or its kernel's image, which has no path there: [`GuestFile::KERNEL`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestFile {
    pub path: String,
    /// SHA-256 of the contents, hexadecimal.
    pub sha256: String,
}

impl GuestFile {
    pub const KERNEL: &str = "linux";
}

/// A disk of a host that is under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestDisk {
    /// Its index among all disks of the trial.
    pub place: usize,
    /// The kernel's name: `sdb`.
    pub node: String,
    /// Model, serial number, firmware, settings, …, for a person.
    pub properties: Vec<ProvenanceEntry>,
}

/// Average load by other programs of a host during a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Processor use of other programs, per cent of all processors.
    pub others_processor_percent: f64,
    /// Throughput of disks that are not under test; unknown if those under test are files on them.
    pub other_disks_mib_per_s: Option<f64>,
    /// Share of the time in which some process waited for a resource, if the kernel reports it.
    pub pressure_cpu_percent: Option<f64>,
    pub pressure_io_percent: Option<f64>,
    pub pressure_memory_percent: Option<f64>,
}

/// Other programs that use more than this share of the processors, per cent, may change what a trial measures.
pub const OTHERS_PROCESSOR_PERCENT_MAX: f64 = 10.0;

/// Other disks that move more than this, MiB/s, may take time of the controllers and links that they share with those
/// under test. What raidlab itself writes, its store, is far less.
pub const OTHER_DISKS_MIB_PER_S_MAX: f64 = 10.0;

/// Processor time that the lab charged during a trial, and the known errors of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessorAccount {
    pub charged_ns: u64,
    /// Charged in interrupts and paid by the task that ran next.
    pub paid_by_another_ns: u64,
    /// Passed for all tasks, because it could not be slept.
    pub passed_for_all_ns: u64,
    pub waited_for_core_ns: u64,
    /// Number of charges by kind, in the model's order; kinds without charges are omitted.
    pub counts: Vec<(String, u64)>,
}

/// A counter of a simulated disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskCounter {
    Reads,
    Writes,
    Flushes,
    SectorsRead,
    SectorsWritten,
    BusyNs,
    SeekNs,
    RotationNs,
    TransferNs,
    Hits,
    CachedWrites,
    Destages,
    QueueMax,
    Discards,
    Errors,
    MovedSectors,
}

impl DiskCounter {
    pub const ALL: [Self; 16] = [
        Self::Reads,
        Self::Writes,
        Self::Flushes,
        Self::SectorsRead,
        Self::SectorsWritten,
        Self::BusyNs,
        Self::SeekNs,
        Self::RotationNs,
        Self::TransferNs,
        Self::Hits,
        Self::CachedWrites,
        Self::Destages,
        Self::QueueMax,
        Self::Discards,
        Self::Errors,
        Self::MovedSectors,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Flushes => "flushes",
            Self::SectorsRead => "sectors_read",
            Self::SectorsWritten => "sectors_written",
            Self::BusyNs => "busy_ns",
            Self::SeekNs => "seek_ns",
            Self::RotationNs => "rotation_ns",
            Self::TransferNs => "transfer_ns",
            Self::Hits => "hits",
            Self::CachedWrites => "cached_writes",
            Self::Destages => "destages",
            Self::QueueMax => "queue_max",
            Self::Discards => "discards",
            Self::Errors => "errors",
            Self::MovedSectors => "moved_sectors",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|counter| counter.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_has_one_name() {
        for counter in DiskCounter::ALL {
            let line = serde_json::to_string(&counter).expect("plain data");
            assert_eq!(line, format!("\"{}\"", counter.name()));
        }
    }
}
