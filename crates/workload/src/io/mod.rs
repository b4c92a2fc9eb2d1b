//! Reads and writes in fio's words, by raidlab's own engine or by fio itself.
//!
//! **Where.** With a filesystem each job has a file of its own, `MOUNT/io.N`; without one, a part of its own of the
//! block device. Files that will be read are laid out before, unmeasured; files that will only be written are made
//! anew, with their space reserved where the filesystem can do that (fio's `fallocate=native`).
//!
//! **Before the clock starts** all that is dirty is written, the array is idle and the caches are dropped, so
//! buffered reads are cold. **It stops** when the last job has done its last request and, with `end_fsync`, its
//! fsync. What was still in memory then shows in `sync_after`: the time of a sync right after.
//!
//! **As fio does it:** a random pattern touches each block once before any twice; `readwrite` reads and writes at
//! two positions of their own; `fsync = N` queues an fsync after every N writes were begun, and at depth > 1 does
//! not wait for them; with `runtime` the job goes round until time is over; a block that does not fit in whole is
//! left out. Not as fio: latencies of one engine's completions that came together share one time stamp.
//!
//! **Honesty.** `cold-cache` for pure reads and for direct ones; `written-out` where direct or `end_fsync`;
//! `contents` (raidlab's engine): a sample of the blocks that were written or laid out, after a remount.

pub(crate) mod fio;
mod native;
mod order;
mod pass;
mod place;
mod plain;
mod ring;
mod tally;

pub use pass::Pass;

use crate::buffer::AlignedBuffer;
use crate::contents::Contents;
use crate::host::{DeviceCounters, Host};
use crate::random::Random;
use crate::report::Reporter;
use crate::{Target, WorkloadError};
use native::Method;
use order::{Cursor, has_reads, has_writes, is_mixed};
use place::Place;
use std::time::{Duration, Instant};
use study::event::{Better, Event};
use study::workload::{IoEngine, IoSpec};
use tally::{Outcome, Stream};

/// Of blocks that are compared at the end.
const CHECKED_BLOCKS_MAX: usize = 128;
const CHECKED_BYTES_MAX: u64 = 32 << 20;

pub(crate) fn run(spec: &IoSpec, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
    check(spec, target)?;
    let contents = Contents::for_segments(seed, spec.block_bytes);
    if let Some(mount_point) = target.mount_point {
        host.step("lay out files");
        place::lay_out(spec, mount_point, &contents)?;
    }
    host.settle_and_drop_caches()
        .map_err(WorkloadError::host("settle and drop caches"))?;
    let before = host
        .device_counters()
        .map_err(WorkloadError::host("read the disks' counters"))?;
    host.step(spec.pattern.name());
    let (outcome, cursors) = match spec.engine {
        IoEngine::Native => run_native(spec, target, &contents, seed, host)?,
        IoEngine::Fio => (fio::run(spec, target, seed, host)?, Vec::new()),
    };
    let sync_began = Instant::now();
    if has_writes(spec.pattern) {
        place::sync(target)?;
    }
    let sync_after = sync_began.elapsed();
    let after = host
        .device_counters()
        .map_err(WorkloadError::host("read the disks' counters"))?;
    report(spec, &outcome, sync_after, after - before, host);
    verify(spec, target, &contents, &cursors, seed, host)
}

/// All that is wrong with the job, so far as it can be known without trying.
fn check(spec: &IoSpec, target: &Target<'_>) -> Result<(), WorkloadError> {
    let mut wrong: Vec<String> = Vec::new();
    let mut demand = |holds: bool, what: &dyn Fn() -> String| {
        if !holds {
            wrong.push(what());
        }
    };
    demand(spec.block_bytes > 0, &|| "the block size must not be 0".to_owned());
    demand(u32::try_from(spec.block_bytes).is_ok(), &|| {
        "a block must be smaller than 4 GiB".to_owned()
    });
    demand(spec.size_bytes >= spec.block_bytes, &|| {
        format!(
            "{} bytes of size hold no block of {} bytes",
            spec.size_bytes, spec.block_bytes
        )
    });
    demand(spec.jobs > 0, &|| "there must be at least one job".to_owned());
    demand(spec.queue_depth > 0, &|| {
        "the queue depth must be at least 1".to_owned()
    });
    demand(spec.read_percent <= 100, &|| {
        format!("{} % of reads is more than all", spec.read_percent)
    });
    demand(!spec.direct || spec.block_bytes.is_multiple_of(512), &|| {
        format!(
            "direct I/O needs blocks of whole sectors of 512 bytes, and they have {}",
            spec.block_bytes
        )
    });
    demand(spec.offset_bytes == 0 || target.mount_point.is_none(), &|| {
        "an offset is for work on a raw device, and this stack has a filesystem".to_owned()
    });
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(WorkloadError::Spec(wrong.join("; ")))
    }
}

fn run_native(
    spec: &IoSpec,
    target: &Target<'_>,
    contents: &Contents,
    seed: u64,
    host: &mut dyn Host,
) -> Result<(Outcome, Vec<Cursor>), WorkloadError> {
    let method = Method::choose(spec);
    host.event(Event::Provenance {
        key: "io_method".to_owned(),
        value: method.name().to_owned(),
    });
    let places = place::open_places(spec, target)?;
    native::run(spec, method, &places, contents, seed)
}

fn report(spec: &IoSpec, outcome: &Outcome, sync_after: Duration, moved: DeviceCounters, host: &mut dyn Host) {
    let Outcome { tally, duration } = outcome;
    let mut reporter = Reporter {
        host,
        test: spec.pattern.name(),
    };
    let bytes = tally.reads.bytes + tally.writes.bytes;
    let operations = tally.reads.operations() + tally.writes.operations();
    reporter.throughput("throughput", bytes, *duration);
    reporter.sample(
        "iops",
        operations as f64 / duration.as_secs_f64(),
        "IOPS",
        Better::Higher,
    );
    reporter.seconds("duration", *duration);
    if is_mixed(spec.pattern) {
        report_stream(&mut reporter, "read_", &tally.reads, *duration);
        report_stream(&mut reporter, "write_", &tally.writes, *duration);
    } else {
        report_percentiles(
            &mut reporter,
            "",
            if has_reads(spec.pattern) {
                &tally.reads
            } else {
                &tally.writes
            },
        );
    }
    for (operation, stream) in [
        ("read", &tally.reads),
        ("write", &tally.writes),
        ("fsync", &tally.fsyncs),
    ] {
        reporter.latency(operation, &stream.histogram);
    }
    if has_writes(spec.pattern) {
        reporter.seconds("sync_after", sync_after);
    }
    reporter.device_work(moved);
    report_guards(&mut reporter, spec, outcome, moved);
}

fn report_stream(reporter: &mut Reporter<'_>, prefix: &str, stream: &Stream, duration: Duration) {
    reporter.throughput(&format!("{prefix}throughput"), stream.bytes, duration);
    let iops = stream.operations() as f64 / duration.as_secs_f64();
    reporter.sample(&format!("{prefix}iops"), iops, "IOPS", Better::Higher);
    report_percentiles(reporter, prefix, stream);
}

fn report_percentiles(reporter: &mut Reporter<'_>, prefix: &str, stream: &Stream) {
    if stream.operations() == 0 {
        return;
    }
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p999", 0.999)] {
        let milliseconds = stream.histogram.value_at_quantile(quantile) as f64 / 1e6;
        reporter.sample(&format!("{prefix}latency_{name}"), milliseconds, "ms", Better::Lower);
    }
}

fn report_guards(reporter: &mut Reporter<'_>, spec: &IoSpec, outcome: &Outcome, moved: DeviceCounters) {
    // What is gone through a second time may come from memory, or be overwritten there.
    let once = u64::from(spec.jobs) * spec.size_bytes;
    let through = |bytes: u64| if spec.direct { bytes } else { bytes.min(once) };
    let (reads, writes) = (outcome.tally.reads.bytes, outcome.tally.writes.bytes);
    if has_reads(spec.pattern) && (spec.direct || !is_mixed(spec.pattern)) {
        reporter.cold_cache_guard(through(reads), moved);
    }
    if has_writes(spec.pattern) && (spec.direct || spec.end_fsync) {
        reporter.written_out_guard(through(writes), moved);
    }
}

/// Compares a sample of what must be there by now: of what the jobs wrote, and on a filesystem of what was laid out.
fn verify(
    spec: &IoSpec,
    target: &Target<'_>,
    contents: &Contents,
    cursors: &[Cursor],
    seed: u64,
    host: &mut dyn Host,
) -> Result<(), WorkloadError> {
    let on_files = target.mount_point.is_some();
    if cursors.is_empty() || (has_reads(spec.pattern) && !on_files) {
        return Ok(());
    }
    host.step("verify contents");
    if on_files {
        host.remount().map_err(WorkloadError::host("remount"))?;
    } else {
        host.settle_and_drop_caches()
            .map_err(WorkloadError::host("settle and drop caches"))?;
    }
    let read_only = IoSpec {
        pattern: study::workload::IoPattern::Read,
        direct: false,
        ..spec.clone()
    };
    let places = place::open_places(&read_only, target)?;
    let (checked, wrong) = compare(spec, &places, contents, cursors, seed)?;
    let detail = format!(
        "{checked} blocks read back with cold caches, {}",
        match &wrong {
            None => "all as written".to_owned(),
            Some(what) => format!("not as written: {what}"),
        }
    );
    let passed = wrong.is_none() && checked > 0;
    Reporter {
        host,
        test: spec.pattern.name(),
    }
    .guard("contents", passed, detail);
    Ok(())
}

/// The number of blocks looked at, and the first that is wrong.
fn compare(
    spec: &IoSpec,
    places: &[Place],
    contents: &Contents,
    cursors: &[Cursor],
    seed: u64,
) -> Result<(usize, Option<String>), WorkloadError> {
    let mut random = Random::new(seed, u64::from_le_bytes(*b"checking"));
    let mut buffer = AlignedBuffer::zeroed(spec.block_bytes as usize);
    let blocks_max = (CHECKED_BYTES_MAX / spec.block_bytes).clamp(1, CHECKED_BLOCKS_MAX as u64);
    let mut checked = 0;
    for _ in 0..blocks_max {
        let job = random.below(places.len() as u64) as usize;
        let place = &places[job];
        let Some(block) = cursors[job].a_block_with_known_contents(&mut random) else {
            continue;
        };
        plain::read(place, block, &mut buffer)?;
        checked += 1;
        if *buffer != *contents.stretch(u64::from(place.job), block, buffer.len()) {
            return Ok((checked, Some(format!("block {block} of {}", place.path.display()))));
        }
    }
    Ok((checked, None))
}
