//! The guards of a job: whether reads came from the disks, and whether writes reached them.

use super::tally::Outcome;
use crate::host::{DeviceCounters, Host, WriteUnit};
use crate::report::{Asked, FIO_CLOCK, Reporter};
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

pub(super) fn report(reporter: &mut Reporter<'_>, spec: &IoSpec, outcome: &Outcome, moved: DeviceCounters) {
    // Data accessed a second time may come from memory, or be overwritten there.
    let stride = 1 + spec.skip_bytes.max(0).unsigned_abs() / spec.block_bytes;
    let once = u64::from(spec.jobs) * spec.size_bytes / stride;
    let percent = incompressible_percent(spec, reporter.host.compresses());
    let through = |bytes: u64| if spec.direct { bytes } else { bytes.min(once) } * percent / 100;
    let names_any = |options: &[&str]| {
        spec.fio_options
            .iter()
            .any(|(name, _)| options.contains(&name.as_str()))
    };
    let reads_may_hit = !spec.direct && names_any(&REPEATS);
    let reads = outcome.tally.reads.bytes;
    let writes = outcome.tally.writes.bytes + outcome.tally.ramp.written_bytes;
    let pattern = spec.pattern;
    let is_judged = pattern.has_reads() && (spec.direct || !pattern.is_mixed());
    if is_judged && !reads_may_hit {
        reporter.cold_cache_guard(through(reads), moved);
    }
    if is_judged && (spec.direct || favours_no_block(&spec.fio_options)) {
        let record_bytes = record_bytes(&*reporter.host, spec.size_bytes);
        // Data that was compressed away is not read.
        let record_bytes = record_bytes.map(|bytes| bytes * percent / 100);
        reporter.cache_hits_guard(asked(spec, outcome, percent, record_bytes), moved);
    }
    if pattern.has_writes() {
        // All of it, including overwritten data: a block that was overwritten in memory is on no disk.
        reporter.written_out_guard(writes * percent / 100, moved);
    }
    if percent == 0 && spec.buffer.fill != BufferFill::Random {
        // btrfs writes data uncompressed where it has reserved space.
        if pattern.has_writes() {
            let needed = reporter.host.member_bytes_min(writes);
            reporter.compressible_guard("written to", moved.written_bytes(), needed);
        } else {
            reporter.compressible_guard("read from", moved.read_bytes(), reads.min(once));
        }
    }
    let unit = reporter.host.write_unit().filter(|_| !spec.fits_memory);
    if let Some((passed, detail)) = unit.and_then(|unit| {
        let written = Written::of(spec, outcome, reporter.host.ram_bytes());
        read_modify_write(spec, unit, written, moved)
    }) {
        reporter.guard("read-modify-write", passed, detail);
    }
    if let Some((passed, detail)) = aligned(spec, reporter.host.physical_block_bytes()) {
        reporter.guard("aligned", passed, detail);
    }
    if let Some((passed, detail)) = steady(spec, outcome) {
        reporter.guard("steady", passed, detail);
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
    outcome.tally.course.verdict(runtime)
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
pub(super) fn favours_no_block(options: &[(String, String)]) -> bool {
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
pub(super) fn record_bytes(host: &dyn Host, file_bytes: u64) -> Option<u64> {
    match host.write_unit()? {
        WriteUnit::Record(bytes) => Some(bytes.min(file_bytes)),
        WriteUnit::Stripe(_) => None,
    }
}

/// All reads of a job, including its ramp.
fn asked(spec: &IoSpec, outcome: &Outcome, percent: u64, record_bytes: Option<u64>) -> Asked {
    let (reads, ramp) = (&outcome.tally.reads, outcome.tally.ramp);
    let jumps = matches!(spec.pattern, IoPattern::RandRead | IoPattern::RandRw);
    Asked {
        bytes: (reads.bytes + ramp.read_bytes) * percent / 100,
        // Blocks of zeros may not be stored.
        requests: (jumps && percent > 0).then(|| reads.operations() + ramp.reads),
        record_bytes,
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
