//! What the program outside tells the guest's init to do.

use crate::carried::{self, Programs};
use crate::kernel::{Kernel, KernelError};
use crate::shell::Shell;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use study::plan::Trial;
use study::stack::{DiskGroup, StackSpec};
use study::workload::IoSpec;

/// Handed to the guest as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum GuestJob {
    /// Run one trial and say its events.
    Trial(Box<Trial>),
    /// The same, and then have md compare copies and parity all over the array: for tests, as it reads every disk.
    CheckedTrial(Box<Trial>),
    /// Bring a trial's stack up and run a shell on it.
    Shell(Box<Shell>),
    /// Run a program, as on a machine whose disks are real; what it prints goes to the console.
    Program(Program),
    /// Prove what is said of provisioning, stack by stack: for tests.
    Provisioning(Provisioning),
    /// Go through the work that a processor is measured by, and say how many basic blocks each is.
    Operations,
    /// Do pieces of work while somebody outside looks at the clock.
    Bench(Bench),
}

/// A job as a guest reads it, with what its kernel carries and the programs that it gets besides.
///
/// # Errors
/// When the cache, where these are, cannot be read.
pub fn encoded(job: &GuestJob, kernel: &Kernel, programs: Option<&Programs>) -> Result<Vec<u8>, KernelError> {
    let mut files = kernel.carried()?;
    files.extend(programs.into_iter().flat_map(|programs| programs.files.iter().cloned()));
    Ok(carried::encode(job, &files))
}

/// A program of the guest's root, with its arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    pub path: PathBuf,
    pub arguments: Vec<String>,
}

/// Stacks, brought up and taken down one after the other, as on a machine that goes on afterwards:
/// [`trial::compare_and_fail`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Provisioning {
    pub stacks: Vec<ProvisionedStack>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProvisionedStack {
    pub disks: Vec<DiskGroup>,
    pub spec: StackSpec,
    /// The start of each disk is zeroed first, and provisioning assumes that the whole disk is.
    pub zeroed: bool,
    /// Each act fails once before it is done, and once after.
    pub failures: bool,
}

/// Stacks, all up at the same time, and work on them in its order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bench {
    pub stacks: Vec<BenchStack>,
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchStack {
    pub devices: Vec<PathBuf>,
    pub spec: StackSpec,
}

/// Work on one of the stacks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Piece {
    /// Index of the stack.
    pub stack: usize,
    pub work: PieceWork,
    pub seed: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum PieceWork {
    /// A job of the native engine.
    Io(Box<IoSpec>),
    /// So many bytes written in direct requests of 1 MiB, no two blocks alike: the engine's own writes repeat, which
    /// the lab's disks make use of.
    Distinct { bytes: u64 },
}
