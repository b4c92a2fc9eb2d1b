//! The guards of all reads and writes, by whichever engine and from whichever kind of workload: whether reads came from
//! the disks, and whether writes reached them.

use super::tally::Outcome;
use crate::environment::{DeviceCounters, Host, WriteUnit};
use crate::reporter::{Asked, FIO_CLOCK, Reporter};
use crate::steady_state;
use std::time::Duration;
use study::workload::{BufferFill, IoPattern, IoSpec, SyncMode};

/// fio options that may access blocks repeatedly, by an unknown amount.
const REPEATS: [&str; 5] = [
    "random_distribution",
    "norandommap",
    "percentage_random",
    "loops",
    "io_size",
];

/// A test that writes at least this percentage of its files counts as writing all of them.
const COVERED_PERCENT: u64 = 90;

/// If fewer reads than this percentage of the minimum for read-modify-write reach the disks, a cache did the work.
const READ_PERCENT_MIN: u64 = 10;

/// fio options that read some blocks more often than others.
const FAVOURS: [&str; 2] = ["random_distribution", "percentage_random"];

/// A job of a run, with what it did.
pub(super) struct Judged<'a> {
    /// Name of its test.
    pub(super) test: &'a str,
    pub(super) spec: &'a IoSpec,
    pub(super) outcome: &'a Outcome,
}

/// Judges all jobs that ran between two readings of the disks' counters. Requests at the disks are not attributed to
/// jobs: with several jobs, each of them is judged by the sum.
pub(super) fn report(jobs: &[Judged<'_>], moved: DeviceCounters, host: &mut dyn Host) {
    let compresses = host.compresses();
    for job in jobs {
        alone(job, host);
    }
    let reads: Vec<&Judged<'_>> = jobs.iter().filter(|job| job.reads_are_judged()).collect();
    if !reads.is_empty() && reads.iter().all(|job| job.spec.direct || !job.names_any(&REPEATS)) {
        let bytes = reads
            .iter()
            .map(|job| job.through(job.outcome.tally.reads.bytes, compresses));
        let bytes = bytes.sum();
        each(&reads, host, |reporter| reporter.cold_cache_guard(bytes, moved));
    }
    let favours_none = |job: &&Judged<'_>| job.spec.direct || favours_no_block(&job.spec.fio_options);
    if !reads.is_empty() && reads.iter().all(favours_none) {
        let asked = asked(&reads, host);
        each(&reads, host, |reporter| reporter.cache_hits_guard(asked, moved));
    }
    let writes: Vec<&Judged<'_>> = jobs.iter().filter(|job| job.spec.pattern.has_writes()).collect();
    if !writes.is_empty() {
        // All of it, including overwritten data: a block that was overwritten in memory is on no disk.
        let bytes = writes
            .iter()
            .map(|job| job.written_bytes() * job.percent(compresses) / 100);
        let bytes = bytes.sum();
        each(&writes, host, |reporter| reporter.written_out_guard(bytes, moved));
    }
    compressible(jobs, moved, host);
    // Reads of other jobs hide what stripes and records need.
    if !jobs.iter().any(|job| job.spec.pattern.has_reads()) {
        for job in writes {
            job.read_modify_write(moved, host);
        }
    }
}

fn each(jobs: &[&Judged<'_>], host: &mut dyn Host, guard: impl Fn(&mut Reporter<'_>)) {
    for job in jobs {
        guard(&mut job.reporter(host));
    }
}

/// The guards that need no counters of the disks.
fn alone(job: &Judged<'_>, host: &mut dyn Host) {
    let mut reporter = job.reporter(host);
    if let Some((passed, detail)) = aligned(job.spec, reporter.host.physical_block_bytes()) {
        reporter.guard("aligned", passed, detail);
    }
    if let Some((passed, detail)) = steady(job.spec, job.outcome) {
        reporter.guard("steady", passed, detail);
    }
}

/// Whether all jobs use bytes that a filesystem could store as nothing.
fn compressible(jobs: &[Judged<'_>], moved: DeviceCounters, host: &mut dyn Host) {
    let compresses = host.compresses();
    let is_small = |job: &Judged<'_>| job.percent(compresses) == 0 && job.spec.buffer.fill != BufferFill::Random;
    if !jobs.iter().all(is_small) {
        return;
    }
    // btrfs writes data uncompressed where it has reserved space.
    let writes = jobs.iter().any(|job| job.spec.pattern.has_writes());
    let bytes: u64 = match writes {
        true => jobs.iter().map(Judged::written_bytes).sum(),
        false => jobs
            .iter()
            .map(|job| job.outcome.tally.reads.bytes.min(job.once()))
            .sum(),
    };
    for job in jobs.iter().filter(|job| job.spec.pattern.has_writes() == writes) {
        let mut reporter = job.reporter(host);
        if writes {
            let needed = reporter.host.member_bytes_min(bytes);
            reporter.compressible_guard("written to", moved.written_bytes(), needed);
        } else {
            reporter.compressible_guard("read from", moved.read_bytes(), bytes);
        }
    }
}

impl Judged<'_> {
    fn reporter<'a>(&'a self, host: &'a mut dyn Host) -> Reporter<'a> {
        Reporter { host, test: self.test }
    }

    /// Reads of what the same job writes may come from memory.
    fn reads_are_judged(&self) -> bool {
        let pattern = self.spec.pattern;
        pattern.has_reads() && (self.spec.direct || !pattern.is_mixed())
    }

    fn names_any(&self, options: &[&str]) -> bool {
        let named = |(name, _): &(String, String)| options.contains(&name.as_str());
        self.spec.fio_options.iter().any(named)
    }

    /// The percentage of its bytes that must pass the disks.
    fn percent(&self, compresses: bool) -> u64 {
        incompressible_percent(self.spec, compresses)
    }

    /// Bytes of one pass over its files. Data accessed a second time may come from memory, or be overwritten there.
    fn once(&self) -> u64 {
        let stride = 1 + self.spec.skip_bytes.max(0).unsigned_abs() / self.spec.block_bytes;
        u64::from(self.spec.jobs) * self.spec.size_bytes / stride
    }

    /// Size of each of its files: fio's `nrfiles` divides them.
    fn file_bytes(&self) -> u64 {
        let said = self.spec.fio_options.iter().find(|(name, _)| name == "nrfiles");
        let files = said.and_then(|(_, files)| files.parse::<u64>().ok()).unwrap_or(1);
        self.spec.size_bytes / files.max(1)
    }

    fn through(&self, bytes: u64, compresses: bool) -> u64 {
        let bytes = if self.spec.direct {
            bytes
        } else {
            bytes.min(self.once())
        };
        bytes * self.percent(compresses) / 100
    }

    /// Including its ramp.
    fn written_bytes(&self) -> u64 {
        self.outcome.tally.writes.bytes + self.outcome.tally.ramp.written_bytes
    }

    fn read_modify_write(&self, moved: DeviceCounters, host: &mut dyn Host) {
        let Some(unit) = host.write_unit().filter(|_| !self.spec.fits_memory) else {
            return;
        };
        let written = Written::of(self.spec, self.outcome, host.ram_bytes());
        if let Some((passed, detail)) = read_modify_write(self.spec, unit, written, moved) {
            self.reporter(host).guard("read-modify-write", passed, detail);
        }
    }
}

/// Whether a job with a runtime had constant throughput. Not checked while acts change the array, nor for buffered
/// writes, which complete in memory.
fn steady(spec: &IoSpec, outcome: &Outcome) -> Option<(bool, String)> {
    let runtime = Duration::from_nanos(spec.runtime_ns?);
    let is_on_disk = !spec.pattern.has_writes() || spec.direct || spec.sync != SyncMode::None;
    // A job may have completed all its blocks earlier. fio's clock has whole milliseconds.
    let had_its_time = outcome.duration + FIO_CLOCK >= runtime;
    if !is_on_disk || !had_its_time || !outcome.phases.is_empty() {
        return None;
    }
    steady_state::verdict(&outcome.tally.throughput, runtime)
}

/// Random writes of a job, including its ramp.
#[derive(Clone, Copy, Debug)]
struct Written {
    writes: u64,
    /// Total size of its files.
    area_bytes: u64,
    fits_memory: bool,
}

impl Written {
    fn of(spec: &IoSpec, outcome: &Outcome, ram_bytes: Option<u64>) -> Self {
        let area_bytes = u64::from(spec.jobs) * spec.size_bytes;
        Self {
            writes: outcome.tally.writes.operations() + outcome.tally.ramp.writes,
            area_bytes,
            fits_memory: ram_bytes.is_some_and(|ram| area_bytes <= ram),
        }
    }
}

/// Whether the disks read what random writes to parts of stripes or records require; a large enough cache would
/// combine them into whole ones. The minimum is one block read per write to a stripe (the other data, or old data
/// and parity), and one per write to a record that was written before.
fn read_modify_write(
    spec: &IoSpec,
    unit: WriteUnit,
    written: Written,
    moved: DeviceCounters,
) -> Option<(bool, String)> {
    let covers = written.writes * spec.block_bytes >= written.area_bytes / 100 * COVERED_PERCENT;
    let (what, unit_bytes, done, needed) = match unit {
        WriteUnit::Stripe(bytes) => ("stripe", bytes, moved.read_bytes() / spec.block_bytes, written.writes),
        WriteUnit::Record(bytes) => {
            // The files are new: the first write to a record reads nothing.
            let records = written.area_bytes.div_ceil(bytes);
            let requests = moved.reads + moved.reads_merged;
            ("record", bytes, requests, written.writes.saturating_sub(records))
        }
    };
    let run_bytes = spec.block_bytes * u64::from(spec.run_blocks);
    if spec.pattern != IoPattern::RandWrite || run_bytes >= unit_bytes || needed == 0 {
        return None;
    }
    let passed = !(written.fits_memory || covers) || done >= needed * READ_PERCENT_MIN / 100;
    let mut detail = format!(
        "{done} blocks read from the member disks for {} random writes of {} bytes, {needed} of which write only part \
            of a {what} of {unit_bytes} bytes, so that the rest must be read",
        written.writes, spec.block_bytes
    );
    if !passed {
        let why = match written.fits_memory {
            true => "memory holds all files",
            false => "the test writes all blocks of its files",
        };
        detail += &format!(
            "; at least {READ_PERCENT_MIN} % are required: {why}, and a cache assembled whole {what}s; make `size` \
                larger than memory and than what is written within `runtime`, or write with `direct = true`; if this \
                is intended, set `fits_memory = true`"
        );
    }
    Some((passed, detail))
}

/// Whether direct writes cover whole physical sectors: otherwise the disk reads first and waits for another
/// revolution. Buffered writes are whole pages.
fn aligned(spec: &IoSpec, physical_block_bytes: Option<u64>) -> Option<(bool, String)> {
    let sector = physical_block_bytes.filter(|_| spec.direct && spec.pattern.has_writes())?;
    let apart = [spec.offset_increment_bytes.unwrap_or(0), spec.skip_bytes.unsigned_abs()];
    let lengths = [spec.block_bytes, spec.offset_bytes].into_iter().chain(apart);
    let wrong = lengths.filter(|bytes| !bytes.is_multiple_of(sector)).max();
    let detail = match wrong {
        None => format!("writes cover whole physical sectors of {sector} bytes"),
        Some(bytes) => format!(
            "writes are at multiples of {bytes} bytes, but a physical sector has {sector}: the disk reads the rest of \
                the sector before each write; use a `bs` and an `offset` that are multiples of {sector}"
        ),
    };
    Some((wrong.is_none(), detail))
}

/// Whether no fio option reads some blocks more often than others, or through a memory mapping, which reads more
/// than a block.
fn favours_no_block(options: &[(String, String)]) -> bool {
    !options
        .iter()
        .any(|(name, value)| FAVOURS.contains(&name.as_str()) || (name == "ioengine" && value == "mmap"))
}

/// Zeros and compressible data need not reach a disk.
fn incompressible_percent(spec: &IoSpec, compresses: bool) -> u64 {
    match (compresses, &spec.buffer.fill) {
        (false, _) => 100,
        (true, BufferFill::Random) => 100 - u64::from(spec.buffer.compress_percent.min(100)),
        (true, BufferFill::Zero | BufferFill::Pattern(_)) => 0,
    }
}

/// Bytes that the filesystem reads for a small random read in files of `file_bytes`, if it reads whole records.
fn record_bytes(host: &dyn Host, file_bytes: u64) -> Option<u64> {
    match host.write_unit()? {
        WriteUnit::Record(bytes) => Some(bytes.min(file_bytes)),
        WriteUnit::Stripe(_) => None,
    }
}

/// All reads of the jobs, including their ramps.
fn asked(jobs: &[&Judged<'_>], host: &dyn Host) -> Asked {
    let compresses = host.compresses();
    let bytes = jobs.iter().map(|job| {
        let read = job.outcome.tally.reads.bytes + job.outcome.tally.ramp.read_bytes;
        read * job.percent(compresses) / 100
    });
    // Blocks of zeros may not be stored, and sequential reads are merged.
    let requests = jobs.iter().map(|job| {
        let jumps = matches!(job.spec.pattern, IoPattern::RandRead | IoPattern::RandRw);
        let all = job.outcome.tally.reads.operations() + job.outcome.tally.ramp.reads;
        (jumps && job.percent(compresses) > 0).then_some(all)
    });
    // Data that was compressed away is not read.
    let records = jobs.iter().filter_map(|job| {
        let bytes = record_bytes(host, job.file_bytes())?;
        Some(bytes * job.percent(compresses) / 100)
    });
    Asked {
        bytes: bytes.sum(),
        requests: requests.sum(),
        record_bytes: records.min(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(block_bytes: u64) -> IoSpec {
        IoSpec {
            pattern: IoPattern::RandWrite,
            block_bytes,
            ..IoSpec::default()
        }
    }

    /// 512 MiB in more memory than that, with as many writes as blocks.
    const BURST: Written = Written {
        writes: 1 << 17,
        area_bytes: 512 << 20,
        fits_memory: true,
    };

    fn judged(unit: WriteUnit, written: Written, reads: u64, read_bytes: u64) -> Option<bool> {
        let moved = DeviceCounters {
            reads,
            read_sectors: read_bytes / 512,
            ..DeviceCounters::default()
        };
        read_modify_write(&job(4096), unit, written, moved).map(|(passed, _)| passed)
    }

    /// S5 of October 2026: files of 512 MiB in 3 GiB of memory, and 831 reads of 40 MiB.
    #[test]
    fn stripes_that_memory_completed_are_seen() {
        let stripe = WriteUnit::Stripe(3 << 20);
        assert_eq!(judged(stripe, BURST, 831, 40 << 20), Some(false));
        assert_eq!(judged(stripe, BURST, 4903, 290 << 20), Some(true));
        let large = Written {
            area_bytes: 16 << 30,
            fits_memory: false,
            ..BURST
        };
        assert_eq!(
            judged(stripe, large, 831, 40 << 20),
            Some(true),
            "most blocks were not written"
        );
        let covered = Written {
            writes: 4 << 20,
            ..large
        };
        assert_eq!(judged(stripe, covered, 831, 40 << 20), Some(false));
        assert_eq!(judged(WriteUnit::Stripe(4096), BURST, 0, 0), None, "whole stripes");
    }

    /// Each record is new at the first of 32 writes.
    #[test]
    fn records_that_memory_holds_are_seen() {
        let record = WriteUnit::Record(128 << 10);
        assert_eq!(judged(record, BURST, 1, 4096), Some(false));
        assert_eq!(judged(record, BURST, 20_000, 20_000 << 17), Some(true));
        let few = Written { writes: 4000, ..BURST };
        assert_eq!(judged(record, few, 0, 0), None, "most records are new");
    }
}
