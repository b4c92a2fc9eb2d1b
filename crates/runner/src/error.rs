//! Reasons why a run cannot continue.

use crate::place::TraceFileError;
use host::HungProcess;
use lab::disks::DisksError;
use lab::guest::StartError;
use lab::kernel::KernelError;
use lab::programs::RootError;
use std::io;
use store::StoreError;
use tools::MissingTools;

/// Why a run ended before its last trial. All measurements are kept.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Place(#[from] PlaceError),
}

/// Why a place cannot run a trial, or no further ones.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error("cannot create a folder for the trial: {0}")]
    Folder(#[source] io::Error),
    #[error(transparent)]
    Trace(#[from] TraceFileError),
    #[error(transparent)]
    Disks(#[from] DisksError),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(transparent)]
    Root(#[from] RootError),
    #[error(transparent)]
    Guest(#[from] StartError),
    #[error(transparent)]
    Tools(#[from] MissingTools),
    /// A disk changed since the start of the run.
    #[error(
        "the run cannot continue: {0}\nall measurements are kept; fix this and run the same command to continue"
    )]
    Refused(String),
    #[error("cannot run a trial: {0}")]
    Process(#[source] io::Error),
    /// A bug in raidlab.
    #[error("a worker thread ended during a trial, which is a bug in raidlab: {0}")]
    Panic(String),
    /// Processes of the last trial that cannot be killed.
    #[error(
        "cannot kill {}{}. All measurements are kept. Once {}, or after a reboot, run `raidlab clean`, then the same \
         command to continue",
        listed(.0), if waits_for_disk(.0) { ": it waits in the kernel, probably for a disk that does not respond" }
        else { "" }, if waits_for_disk(.0) { "the disk responds again" } else { "it has exited" }
    )]
    Hung(Vec<HungProcess>),
}

fn listed(hung: &[HungProcess]) -> String {
    let words: Vec<&str> = hung.iter().map(|process| process.description.as_str()).collect();
    words.join(", ")
}

fn waits_for_disk(hung: &[HungProcess]) -> bool {
    hung.iter().any(|process| process.waits_for_disk)
}
