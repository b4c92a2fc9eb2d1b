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
    #[error(
        "the run cannot go on: {0}\nwhat was measured is kept; once that is put right, the same command goes on"
    )]
    Refused(String),
    #[error("cannot run a trial: {0}")]
    Process(#[source] io::Error),
    /// A defect of ours.
    #[error("a worker of raidlab's ended in the middle of a trial, which is a defect: {0}")]
    Panic(String),
    /// What the last trial left behind cannot be ended.
    #[error(
        "{} cannot be ended{}. What was measured is kept. Once {}, or after a restart of the machine, `raidlab clean` \
         undoes what is left, and the same command goes on",
        .0.join(", "), if waits_for_disk(.0) { ": it waits in the kernel, most likely for a disk that does not answer" }
        else { "" }, if waits_for_disk(.0) { "the disk answers again" } else { "it has ended" }
    )]
    Hung(Vec<String>),
}

/// A process in state D cannot be ended: it waits for a device.
fn waits_for_disk(hung: &[String]) -> bool {
    hung.iter().any(|process| process.contains("state D"))
}
