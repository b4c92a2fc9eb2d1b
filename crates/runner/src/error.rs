//! Why a run cannot go on.

use lab::disks::DisksError;
use lab::guest::StartError;
use lab::kernel::KernelError;
use std::io;
use store::StoreError;
use tools::MissingTools;

/// Why a run ended before its last trial. What was measured is kept.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Place(#[from] PlaceError),
}

/// Why a place cannot run a trial, or none after this one.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error("cannot make a folder for the trial: {0}")]
    Folder(#[source] io::Error),
    #[error("cannot write the trace: {0}")]
    Trace(#[source] io::Error),
    #[error(transparent)]
    Disks(#[from] DisksError),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(transparent)]
    Guest(#[from] StartError),
    #[error(transparent)]
    Tools(#[from] MissingTools),
    /// A disk is no longer as it was when the run began.
    #[error("the run cannot go on: {0}\nwhat was measured is kept; mend it, and the same command goes on")]
    Refused(#[source] host::Refused),
    #[error("cannot run a trial: {0}")]
    Process(#[source] io::Error),
    /// What the last trial left behind cannot be ended.
    #[error(
        "{} cannot be ended: it waits in the kernel, most likely for a disk that does not answer. What was measured is \
         kept. Once the disk answers again, or after a restart of the machine, `raidlab clean` undoes what is left, and \
         the same command goes on",
        .0.join(", ")
    )]
    Hung(Vec<String>),
}
