//! Reads and writes with fio's options, by raidlab's own engine or by fio itself.
//!
//! **Files.** With a filesystem each job has its own file, `MOUNT/io.N`; without one, its own part of the block device.
//! Files that will be read are prepared first, unmeasured; files that are only written are created new, with space
//! reserved if the filesystem supports it (fio's `fallocate=native`).
//!
//! **Before the start** all dirty data is written back, the array is idle and the caches are dropped, so buffered reads
//! are cold. **The end** is when the last job has completed its last request and, with `end_fsync`, its fsync. Buffered
//! writes are complete when they are on the disks: a sync follows (`sync_after`), and throughput, operations a second
//! and duration include it. `throughput_cached` is the figure without it. With `ramp_time` the sync also writes data
//! left in memory by the ramp, so the buffered writes of the ramp count, with its time; fio does not report its writes
//! then, so its figure is a lower bound.
//!
//! **As in fio:** a random pattern touches each block once before any twice; `readwrite` reads and writes at two
//! separate positions; `fsync = N` queues an fsync after every N submitted writes, and at depth > 1 does not wait for
//! them; with `runtime` the job starts over until the time has elapsed; a partial block at the end is left out. Unlike
//! fio: simultaneous completions share one time stamp.
//!
//! With a `rate` blocks do not start before their time; a wait of `thinktime` starts when all requests in flight have
//! completed; requests that end before the end of `ramp_time` are not counted.
//!
//! **Guards.** `cold-cache` and `cache-hits` for pure reads and for direct ones; `holes` for pure reads; `written-out` for all writes;
//! `read-modify-write` for random writes; `steady` with a `runtime`; `contents` (raidlab's engine): a sample of the written or prepared blocks, after
//! a remount; all of them with `verify`.

mod bare_job;
mod block_order;
mod figures;
pub(crate) mod fio;
mod fio_file;
mod fio_log;
mod fio_phases;
mod fio_report;
mod guards;
mod holes;
mod native;
mod pacing;
mod psync;
mod tally;
mod targets;
mod uring_engine;
mod verify;

pub use bare_job::BareJob;
pub(crate) use block_order::Permutation;

use crate::contents::Contents;
use crate::cpu::CpuTime;
use crate::environment::Host;
use crate::reporter::Reporter;
use crate::{Engine, Target, WorkloadError};
use block_order::Cursor;
use figures::WrittenOut;
use native::{Method, Shared};
use std::path::Path;
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

    fn prepared_files(&self) -> Option<String> {
        shared_files(self)
    }

    fn prepare_files(&self, target: &Target<'_>, seed: u64) -> Result<(), WorkloadError> {
        let contents = Contents::of_buffer(seed, self.block_bytes, &self.buffer);
        match target.mount_point.filter(|_| shared_files(self).is_some()) {
            Some(mount_point) => targets::prepare(&fio::layout(self, mount_point), &contents),
            None => Ok(()),
        }
    }
}

/// Files that are read are filled. Blocks without an equal one would take as much memory as the files have bytes.
fn shared_files(spec: &IoSpec) -> Option<String> {
    let layout = fio::layout(spec, Path::new("/"));
    if !layout.filled || spec.buffer.dedupe_percent.is_some() {
        return None;
    }
    let files = (
        layout.jobs,
        layout.files,
        layout.file_bytes,
        layout.offset_bytes,
        layout.reserved,
    );
    Some(format!("{files:?} {} {:?}", spec.block_bytes, spec.buffer))
}

fn run(spec: &IoSpec, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
    check(spec, target)?;
    let contents = Contents::of_buffer(seed, spec.block_bytes, &spec.buffer);
    let is_there = host.has_files() && shared_files(spec).is_some();
    if let Some(mount_point) = target.mount_point.filter(|_| !is_there) {
        host.step("prepare files");
        targets::prepare(&fio::layout(spec, mount_point), &contents)?;
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
        targets::sync(target)?;
    }
    let written = WrittenOut::of(spec, sync_began.elapsed());
    let after = host
        .device_counters()
        .map_err(WorkloadError::host("read the disks' counters"))?;
    figures::report(spec, &outcome, written, host);
    figures::report_around(spec, &outcome, written, cpu, after - before, host);
    verify::verify(spec, target, &contents, &cursors, seed, host)?;
    if let Some(mount_point) = target.mount_point.filter(|_| !spec.pattern.has_writes()) {
        let test = spec.pattern.name();
        holes::report(&[fio::layout(spec, mount_point)], &mut Reporter { host, test })?;
    }
    Ok(())
}

/// All errors of the job that can be detected without running it.
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
        &|| "`offset_increment` is for raw devices, but this stack has a filesystem".to_owned(),
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
    let places = targets::open_places(spec, target)?;
    let phases = host.phases();
    let shared = Shared {
        contents,
        seed,
        phases: phases.as_deref(),
    };
    native::run(spec, method, &places, shared)
}
