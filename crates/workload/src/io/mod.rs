//! Reads and writes in fio's words, by raidlab's own engine or by fio itself.
//!
//! **Where.** With a filesystem each job has a file of its own, `MOUNT/io.N`; without one, a part of its own of the
//! block device. Files that will be read are prepared first, unmeasured; files that are only written are created
//! new, with their space reserved where the filesystem can do that (fio's `fallocate=native`).
//!
//! **Before the clock starts** all that is dirty is written, the array is idle and the caches are dropped, so
//! buffered reads are cold. **It stops** when the last job has done its last request and, with `end_fsync`, its
//! fsync. Buffered writes are complete when they are on the disks: a sync follows (`sync_after`), and throughput,
//! operations a second and duration include it. `throughput_cached` is the figure without it. With `ramp_time` the sync
//! writes what the ramp left in memory too, so the buffered writes of the ramp count, with its time; fio does not say
//! what it wrote then, so its figure is a lower bound there.
//!
//! **As fio does it:** a random pattern touches each block once before any twice; `readwrite` reads and writes at
//! two positions of their own; `fsync = N` queues an fsync after every N writes were begun, and at depth > 1 does
//! not wait for them; with `runtime` the job goes round until time is over; a block that does not fit in whole is
//! left out. Not as fio: latencies of one engine's completions that came together share one time stamp.
//!
//! With a `rate` blocks have moments before which they do not begin; a wait of `thinktime` comes once what is under way
//! has ended; what ends before `ramp_time` is over is not counted.
//!
//! **Honesty.** `cold-cache` for pure reads and for direct ones; `written-out` for all writes;
//! `contents` (raidlab's engine): a sample of the blocks that were written or prepared, after a remount; all of them
//! with `verify`.

mod feed;
pub(crate) mod fio;
mod fio_file;
mod fio_report;
mod native;
mod order;
mod pass;
mod place;
mod plain;
mod report;
mod ring;
mod tally;
mod verify;

pub(crate) use fio_report::{FioResult, fio_results};
pub(crate) use order::Permutation;
pub use pass::Pass;

use crate::contents::Contents;
use crate::cpu::CpuTime;
use crate::host::Host;
use crate::{Engine, Target, WorkloadError};
use native::Method;
use order::Cursor;
use report::WrittenOut;
use std::time::Instant;
use study::event::Event;
use study::workload::{IoEngine, IoSpec};
use tally::Outcome;
use tools::Tool;

impl Engine for IoSpec {
    fn tool(&self) -> Option<Tool> {
        (self.engine == IoEngine::Fio).then_some(Tool::Fio)
    }

    fn run(&self, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
        run(self, target, seed, host)
    }
}

fn run(spec: &IoSpec, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
    check(spec, target)?;
    let contents = Contents::of_buffer(seed, spec.block_bytes, &spec.buffer);
    if let Some(mount_point) = target.mount_point {
        host.step("prepare files");
        place::prepare(&fio::layout(spec, mount_point), &contents)?;
    }
    host.quiesce_and_drop_caches()
        .map_err(WorkloadError::host("quiesce and drop caches"))?;
    let before = host
        .device_counters()
        .map_err(WorkloadError::host("read the disks' counters"))?;
    host.step(spec.pattern.name());
    let cpu_before = CpuTime::now();
    let (outcome, cursors) = match spec.engine {
        IoEngine::Native => run_native(spec, target, &contents, seed, host)?,
        IoEngine::Fio => (fio::run(spec, target, seed, host)?, Vec::new()),
    };
    let cpu = CpuTime::now().since(cpu_before);
    let sync_began = Instant::now();
    if spec.pattern.has_writes() {
        place::sync(target)?;
    }
    let written = WrittenOut::of(spec, sync_began.elapsed());
    let after = host
        .device_counters()
        .map_err(WorkloadError::host("read the disks' counters"))?;
    report::report(spec, &outcome, written, host);
    report::report_around(spec, &outcome, written, cpu, after - before, host);
    verify::verify(spec, target, &contents, &cursors, seed, host)
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
            "a size of {} bytes is smaller than a block of {} bytes",
            spec.size_bytes, spec.block_bytes
        )
    });
    demand(spec.jobs > 0, &|| "there must be at least one job".to_owned());
    demand(spec.queue_depth > 0, &|| {
        "the queue depth must be at least 1".to_owned()
    });
    demand(spec.read_percent <= 100, &|| {
        format!("{} % of reads is more than 100 %", spec.read_percent)
    });
    demand(!spec.direct || spec.block_bytes.is_multiple_of(512), &|| {
        format!(
            "direct I/O needs blocks of whole sectors of 512 bytes, and the block size is {}",
            spec.block_bytes
        )
    });
    demand(
        spec.offset_increment_bytes.is_none() || target.mount_point.is_none(),
        &|| "jobs of different offsets are for a raw device, and this stack has a filesystem".to_owned(),
    );
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
