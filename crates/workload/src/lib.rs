//! The work that is measured on a stack, and the measuring of it: trees of files written, read, copied and deleted;
//! reads and writes in fio's words; Bonnie++'s and IOzone's tests.
//!
//! The same code runs on real disks and in the lab's guest, where time is virtual, processor time is free and each
//! system call costs microseconds of wall time: so it makes few of them, and takes one time stamp between
//! consecutive operations rather than two around each.
//!
//! *Invariant*: one seed decides every name, size, byte and offset, on any machine and with any version of any
//! library; floating point takes no part in it.
//! *Invariant*: nothing here knows of md, of mkfs or of the lab; what is needed from around is the trait [`Host`].

mod bonnie;
mod buffer;
mod contents;
mod cpu;
mod error;
pub mod foreign;
mod host;
mod io;
mod iozone;
mod latency;
mod random;
mod report;
mod server;
mod thread_stack;
pub mod tree;

pub use contents::Contents;
pub use error::{HostError, WorkloadError};
pub use host::{DeviceCounters, Host};
pub use io::Pass;
use std::path::Path;
use study::workload::{Work, WorkloadSpec};
use tools::Tool;

/// Where the work is done.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The filesystem under test; none where the study wants the device as it is.
    pub mount_point: Option<&'a Path>,
    /// The array (or single disk) that carries it.
    pub block_device: &'a Path,
}

/// Does the work once and reports all that was seen to `host`. Samples stand once this returns `Ok`; those of a
/// test whose guard failed are reported too.
pub fn run(spec: &WorkloadSpec, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
    engine(&spec.work).run(target, seed, host)
}

/// The program that does the work; none if raidlab does it itself.
pub fn tool(work: &Work) -> Option<Tool> {
    engine(work).tool()
}

/// What does work of one kind.
trait Engine {
    /// The program that does it; none if raidlab does it itself.
    fn tool(&self) -> Option<Tool>;

    fn run(&self, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError>;
}

fn engine(work: &Work) -> &dyn Engine {
    match work {
        Work::Tree(spec) => spec,
        Work::Io(spec) => spec,
        Work::FioFile(spec) => spec,
        Work::Bonnie(spec) => spec,
        Work::Iozone(spec) => spec,
        Work::Server(spec) => spec,
        Work::Imported(spec) => spec,
    }
}
