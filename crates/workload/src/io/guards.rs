//! The guards of a job: whether what it read came from the disks, and what it wrote went there.

use super::tally::Outcome;
use crate::host::DeviceCounters;
use crate::report::{Asked, FIO_CLOCK, Reporter};
use std::time::Duration;
use study::workload::{BufferFill, IoPattern, IoSpec, SyncMode};

/// fio options with which it is not known how much is accessed twice.
const REPEATS: [&str; 5] = [
    "random_distribution",
    "norandommap",
    "percentage_random",
    "loops",
    "io_size",
];

/// fio options that ask for blocks which are read more often than others.
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
        reporter.cache_hits_guard(asked(spec, outcome, percent), moved);
    }
    if pattern.has_writes() {
        // All of it, including overwritten data: a block that was overwritten in memory is on no disk.
        reporter.written_out_guard(writes * percent / 100, moved);
    }
    if percent == 0 && spec.buffer.fill != BufferFill::Random {
        // All the same, what btrfs has reserved space for it writes as it is.
        if pattern.has_writes() {
            let needed = reporter.host.member_bytes_min(writes);
            reporter.compressible_guard("written to", moved.written_bytes(), needed);
        } else {
            reporter.compressible_guard("read from", moved.read_bytes(), reads.min(once));
        }
    }
    if let Some((passed, detail)) = aligned(spec, reporter.host.physical_block_bytes()) {
        reporter.guard("aligned", passed, detail);
    }
    if let Some((passed, detail)) = steady(spec, outcome) {
        reporter.guard("steady", passed, detail);
    }
}

/// Whether a job that ran for a given time had one throughput. Not while acts change the array, and not for buffered
/// writes, which end in memory.
fn steady(spec: &IoSpec, outcome: &Outcome) -> Option<(bool, String)> {
    let runtime = Duration::from_nanos(spec.runtime_ns?);
    let is_on_disk = !spec.pattern.has_writes() || spec.direct || spec.sync != SyncMode::None;
    // A job may have ended before, with all of its blocks. fio's clock has whole milliseconds.
    let had_its_time = outcome.duration + FIO_CLOCK >= runtime;
    if !is_on_disk || !had_its_time || !outcome.phases.is_empty() {
        return None;
    }
    outcome.tally.course.verdict(runtime)
}

/// Whether direct writes cover whole physical sectors: others make the disk read first, and turn once more. Buffered ones
/// are of whole pages.
fn aligned(spec: &IoSpec, physical_block_bytes: Option<u64>) -> Option<(bool, String)> {
    let sector = physical_block_bytes.filter(|_| spec.direct && spec.pattern.has_writes())?;
    let apart = [spec.offset_increment_bytes.unwrap_or(0), spec.skip_bytes.unsigned_abs()];
    let lengths = [spec.block_bytes, spec.offset_bytes].into_iter().chain(apart);
    let wrong = lengths.filter(|bytes| !bytes.is_multiple_of(sector)).max();
    let detail = match wrong {
        None => format!("writes cover whole physical sectors of {sector} bytes"),
        Some(bytes) => format!(
            "writes are at multiples of {bytes} bytes, and a physical sector has {sector}: the disk reads the rest of it \
             before each; use a `bs` and an `offset` that are multiples of {sector}"
        ),
    };
    Some((wrong.is_none(), detail))
}

/// Whether no option of fio asks for blocks that are read more often than others, or for reads through a mapping, which
/// are larger than a block.
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

/// All reads of a job, with those of its ramp.
fn asked(spec: &IoSpec, outcome: &Outcome, percent: u64) -> Asked {
    let (reads, ramp) = (&outcome.tally.reads, outcome.tally.ramp);
    let jumps = matches!(spec.pattern, IoPattern::RandRead | IoPattern::RandRw);
    Asked {
        bytes: (reads.bytes + ramp.read_bytes) * percent / 100,
        // Blocks of zeros may be none.
        requests: (jumps && percent > 0).then(|| reads.operations() + ramp.reads),
    }
}
