//! Workloads and their measurement: file trees that are written, read, copied and deleted; reads and writes with
//! fio's options; Bonnie++'s and IOzone's tests.
//!
//! The same code runs on real disks and in the lab's guest, where time is virtual, CPU time is free without a CPU
//! model, and each system call costs microseconds of wall time. It therefore makes few system calls, and takes one
//! time stamp between consecutive operations rather than two around each.
//!
//! *Invariant*: one seed determines every name, size, byte and offset, on any machine and with any version of any
//! library; no floating point is used. *Invariant*: this crate does not depend on md, mkfs or the lab; its
//! environment is the trait [`Host`].

mod age;
mod bonnie;
mod buffer;
mod contents;
mod cpu;
mod environment;
mod error;
pub mod foreign;
mod io;
mod iozone;
mod latency;
pub mod power_cut;
mod random;
mod reporter;
mod server;
mod steady_state;
mod thread_stack;
mod throughput_series;
pub mod tree;

pub use contents::Contents;
pub use environment::{DeviceCounters, DisksBusy, Host, WriteUnit};
pub use error::{HostError, WorkloadError};
pub use io::BareJob;
use std::path::Path;
use study::workload::{Work, WorkloadSpec};
use tools::Tool;

/// Where a workload runs.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The filesystem under test; `None` on a raw device.
    pub mount_point: Option<&'a Path>,
    /// The array or single disk below it.
    pub block_device: &'a Path,
}

/// Runs the workload once and reports everything to `host`. Samples are valid once this returns `Ok`; those of a
/// test with a failed guard are reported as well.
pub fn run(spec: &WorkloadSpec, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
    if let Some(spec) = &spec.age {
        if !host.is_aged() {
            let replicate = host.replicate();
            age::age(spec, target, replicate, host)?;
        }
        age::judge(spec, target, host)?;
    }
    engine(&spec.work).run(target, seed, host)
}

/// Identifies the files that a workload finds filled, and their contents, besides the seed: workloads with the same can start from
/// copies of one filesystem. `None` if it makes all of its files itself, as on an aged filesystem.
pub fn prepared_files(spec: &WorkloadSpec) -> Option<String> {
    match spec.age {
        Some(_) => None,
        None => engine(&spec.work).prepared_files(),
    }
}

/// Ages the filesystem, or fills the files of [`prepared_files`]; where [`Host::is_aged`] and [`Host::has_files`] say so, [`run`] does
/// not.
pub fn prepare_files(
    spec: &WorkloadSpec,
    target: &Target<'_>,
    seed: u64,
    host: &mut dyn Host,
) -> Result<(), WorkloadError> {
    match &spec.age {
        Some(spec) => {
            let replicate = host.replicate();
            age::age(spec, target, replicate, host)
        }
        None => engine(&spec.work).prepare_files(target, seed),
    }
}

/// The external program of a workload; `None` if raidlab does the work itself.
pub fn tool(work: &Work) -> Option<Tool> {
    engine(work).tool()
}

/// Engine for one kind of work.
trait Engine {
    /// The external program; `None` if raidlab does the work itself.
    fn tool(&self) -> Option<Tool>;

    fn run(&self, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError>;

    fn prepared_files(&self) -> Option<String> {
        None
    }

    fn prepare_files(&self, _target: &Target<'_>, _seed: u64) -> Result<(), WorkloadError> {
        Ok(())
    }
}

fn engine(work: &Work) -> &dyn Engine {
    match work {
        Work::Tree(spec) => spec,
        Work::Io(spec) => spec,
        Work::FioFile(spec) => spec,
        Work::Bonnie(spec) => spec,
        Work::Iozone(spec) => spec,
        Work::Server(spec) => spec,
        Work::PowerCut(spec) => spec,
        Work::Imported(spec) => spec,
    }
}
