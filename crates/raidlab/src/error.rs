//! Expected errors, as opposed to bugs: bad input or a bad environment. Each has a message, a cause and an exit code.

use crate::output_preferences;
use crate::progress::{say, say_with};
use disksim::{catalogue, disksim_import};
use files::{Colours, FileError, OutputError};
use fleet::PartsError;
use host::SessionError;
use lab::disks::DisksError;
use lab::guest::StartError;
use lab::kernel::KernelError;
use lab::power_cut;
use lab::processor::ProcessorError;
use runner::{PlaceError, RunError};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use store::{MergeError, StoreError};

/// The run finished, but a trial failed; or work in progress could not be completed.
pub const EXIT_TRIAL_FAILED: u8 = 1;
/// The user's input is wrong; nothing was touched.
pub const EXIT_INPUT: u8 = 2;
/// The machine lacks something.
pub const EXIT_MACHINE: u8 = 3;
/// Stopped by the user; all measurements are kept.
pub const EXIT_INTERRUPTED: u8 = 130;

/// The error that the user gets instead of a result.
#[derive(Debug, thiserror::Error)]
pub enum ExpectedError {
    // The input is wrong.
    #[error(transparent)]
    DiskFile(#[from] disksim_import::Diagnostics),
    #[error(transparent)]
    DiskTrace(#[from] disksim_import::Diagnostic),
    #[error("`{}` {source}", path.display())]
    Trace {
        path: PathBuf,
        source: lab::trace::TraceError,
    },
    #[error("--disk {disk}: `{}` has requests of disks 0 to {}", path.display(), disks.saturating_sub(1))]
    NoSuchDisk { path: PathBuf, disk: u8, disks: u32 },
    #[error("{model}: {message}")]
    Check { model: String, message: String },
    #[error("`{}` has {requests} requests: at most {requests_max} can be shown; record a shorter trial", path.display())]
    LongTrace {
        path: PathBuf,
        requests: u64,
        requests_max: u64,
    },
    #[error("no figure of `raidlab bench` has `{only}` in its name: {}", names.join(", "))]
    NoFigure { only: String, names: Vec<String> },
    #[error("the script on standard input is longer than {mib_max} MiB")]
    LongScript { mib_max: u64 },
    #[error(transparent)]
    Risk(#[from] risk::RedundantLayoutError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("there is no folder `{path}`: give a kernel tree or a version")]
    NoKernelTree { path: String },
    #[error("--name {name} is only for kernel trees: a version such as {version} already is a name")]
    NameOfVersion { name: String, version: String },
    #[error("the cache has no `{name}`: `raidlab cache list` names what it has; nothing was dropped")]
    NotCached { name: String },

    // Its kind decides.
    #[error(transparent)]
    Prepare(#[from] prepare::Error),
    #[error(transparent)]
    Results(#[from] results::Error),
    #[error(transparent)]
    Fleet(#[from] fleet::Error),
    #[error(transparent)]
    CrashTest(#[from] crash_test::Error),
    #[error(transparent)]
    Bench(#[from] lab_bench::Error),
    #[error(transparent)]
    RealDisk(#[from] real_disk::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Run(#[from] RunError),
    /// A store that fails in the middle of the work.
    #[error(transparent)]
    StoreUnderWay(StoreError),

    // The machine lacks something.
    #[error("the ledger in `{}` cannot be read: {source}{advice}", folder.display())]
    LedgerFolder {
        folder: PathBuf,
        source: io::Error,
        advice: &'static str,
    },
    #[error("cannot install a handler for Ctrl-C: {0}")]
    Signals(#[from] ctrlc::Error),
    #[error("{0}")]
    Machine(#[source] io::Error),

    #[error("`{0}` is ambiguous: {1}")]
    AmbiguousModel(String, String),

    // Work in progress could not be completed.
    #[error("{0}")]
    Simulation(String),
    #[error("no shell in the guest: {why}")]
    NoShell { why: String },
}

/// Errors of the libraries of earlier stages are converted by [`prepare::Error`].
macro_rules! from_stages {
    ($($error:ty),*) => {
        $(impl From<$error> for ExpectedError {
            fn from(error: $error) -> Self {
                Self::Prepare(error.into())
            }
        })*
    };
}

from_stages!(
    catalogue::Error,
    study_file::Diagnostics,
    DisksError,
    KernelError,
    ProcessorError,
    StartError
);

impl ExpectedError {
    /// Prints it to standard error and returns the exit code.
    pub fn report(&self) -> ExitCode {
        match self {
            // These have their own format.
            Self::Prepare(prepare::Error::Study(diagnostics)) if output_preferences::is_coloured(&io::stderr()) => {
                say_with(&diagnostics.to_string_in_colour(), Colours::Kept);
            }
            Self::Prepare(prepare::Error::Study(_)) | Self::DiskFile(_) | Self::DiskTrace(_) => {
                say(&self.to_string());
            }
            other => say(&format!("raidlab: {other}")),
        }
        ExitCode::from(self.exit())
    }

    fn exit(&self) -> u8 {
        match self {
            Self::DiskFile(_)
            | Self::DiskTrace(_)
            | Self::Trace { .. }
            | Self::NoSuchDisk { .. }
            | Self::Check { .. }
            | Self::LongScript { .. }
            | Self::LongTrace { .. }
            | Self::NoFigure { .. }
            | Self::Risk(_)
            | Self::File(_)
            | Self::NoKernelTree { .. }
            | Self::NameOfVersion { .. }
            | Self::NotCached { .. }
            | Self::AmbiguousModel(..) => EXIT_INPUT,
            Self::Output(error) => output_exit(error),
            Self::Prepare(error) => prepare_exit(error),
            Self::Results(error) => match error {
                results::Error::Prepare(error) => prepare_exit(error),
                results::Error::Store(error) => store_exit(error),
                results::Error::StoreUnderWay(error) => store_exit_under_way(error),
                _ => EXIT_INPUT,
            },
            Self::Fleet(error) => fleet_exit(error),
            Self::CrashTest(error) => match error {
                crash_test::Error::Prepare(error) => prepare_exit(error),
                crash_test::Error::NoPowerCuts { .. }
                | crash_test::Error::NoSuchOperation { .. }
                | crash_test::Error::NoSuchDisk { .. }
                | crash_test::Error::NoSuchSectors { .. }
                | crash_test::Error::PowerCut(power_cut::Error::Outside { .. }) => EXIT_INPUT,
                crash_test::Error::PowerCut(power_cut::Error::Start(_) | power_cut::Error::States(_)) => {
                    EXIT_MACHINE
                }
                crash_test::Error::PowerCut(_) => EXIT_TRIAL_FAILED,
            },
            Self::Bench(error) => match error {
                lab_bench::Error::Prepare(error) => prepare_exit(error),
                lab_bench::Error::Output(error) => output_exit(error),
                _ => EXIT_TRIAL_FAILED,
            },
            Self::RealDisk(error) => match error {
                real_disk::Error::Output(error) => output_exit(error),
                real_disk::Error::Tools(_) => EXIT_MACHINE,
                real_disk::Error::NotMeasured { .. } | real_disk::Error::Simulation(_) => EXIT_TRIAL_FAILED,
                real_disk::Error::Refused(_) | real_disk::Error::Claimed(_) | real_disk::Error::Model(_) => {
                    EXIT_INPUT
                }
            },
            Self::Store(error) => store_exit(error),
            Self::Run(RunError::Store(error)) | Self::StoreUnderWay(error) => store_exit_under_way(error),
            Self::Run(RunError::Place(error)) => place_exit(error),
            Self::LedgerFolder { .. } | Self::Signals(_) | Self::Machine(_) => EXIT_MACHINE,
            Self::Simulation(_) | Self::NoShell { .. } => EXIT_TRIAL_FAILED,
        }
    }
}

/// The user can fix most reasons why a run cannot start.
fn prepare_exit(error: &prepare::Error) -> u8 {
    use prepare::Error as E;
    match error {
        E::Kernel(error) => kernel_exit(error),
        E::Session(SessionError::NotCleared(_)) => EXIT_TRIAL_FAILED,
        E::Tools(_)
        | E::Root(_)
        | E::Guest(_)
        | E::NeedsRoot
        | E::KernelLacks { .. }
        | E::Session(SessionError::State { .. })
        | E::Ledger(_)
        | E::OwnFile { .. }
        | E::Install { .. }
        | E::Machine(_) => EXIT_MACHINE,
        _ => EXIT_INPUT,
    }
}

fn fleet_exit(error: &fleet::Error) -> u8 {
    match error {
        fleet::Error::Prepare(error) => prepare_exit(error),
        fleet::Error::Store(error) => store_exit(error),
        fleet::Error::Parts(PartsError::Full { .. }) => EXIT_MACHINE,
        fleet::Error::Parts(PartsError::NotOne(MergeError::Copy { .. })) => EXIT_TRIAL_FAILED,
        fleet::Error::Submit(error) if error.is_of_machine() => EXIT_MACHINE,
        fleet::Error::Parts(_) | fleet::Error::Submit(_) => EXIT_INPUT,
    }
}

fn output_exit(error: &OutputError) -> u8 {
    match error {
        OutputError::Standard(_) => EXIT_TRIAL_FAILED,
        OutputError::Io { source, .. } if is_full(source) => EXIT_MACHINE,
        _ => EXIT_INPUT,
    }
}

/// As for a store, no space left is the machine's, whoever's limit it is.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | FileTooLarge | QuotaExceeded)
}

/// A store that could not be opened or read, before anything was done.
const fn store_exit(error: &StoreError) -> u8 {
    match error {
        StoreError::Gone { .. } | StoreError::Full { .. } => EXIT_MACHINE,
        StoreError::Damaged { .. } | StoreError::Sqlite { .. } | StoreError::TrialTaken { .. } => EXIT_TRIAL_FAILED,
        StoreError::MissingFolder { .. }
        | StoreError::Missing { .. }
        | StoreError::Empty { .. }
        | StoreError::Folder { .. }
        | StoreError::NotADatabase { .. }
        | StoreError::Foreign { .. }
        | StoreError::Newer { .. }
        | StoreError::Taken { .. }
        | StoreError::OtherShard { .. }
        | StoreError::Busy { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::ReadOnlyPart { .. }
        | StoreError::SeveralNames { .. }
        | StoreError::PendingLog { .. }
        | StoreError::Unreadable { .. }
        | StoreError::NoSuchRun { .. }
        | StoreError::NoRunOfName { .. }
        | StoreError::NameTaken { .. } => EXIT_INPUT,
    }
}

const fn store_exit_under_way(error: &StoreError) -> u8 {
    match error {
        StoreError::Gone { .. } | StoreError::Full { .. } => EXIT_MACHINE,
        _ => EXIT_TRIAL_FAILED,
    }
}

fn kernel_exit(error: &KernelError) -> u8 {
    if error.is_users_error() {
        EXIT_INPUT
    } else {
        EXIT_MACHINE
    }
}

fn place_exit(error: &PlaceError) -> u8 {
    match error {
        PlaceError::Kernel(error) => kernel_exit(error),
        PlaceError::Disks(_) => EXIT_INPUT,
        PlaceError::Root(_) | PlaceError::Guest(_) | PlaceError::Tools(_) => EXIT_MACHINE,
        PlaceError::Folder(_)
        | PlaceError::Trace(_)
        | PlaceError::Refused(_)
        | PlaceError::Process(_)
        | PlaceError::Panic(_)
        | PlaceError::Hung(_) => EXIT_TRIAL_FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use files::ReadError;

    #[test]
    fn each_kind_has_its_exit_code_and_its_source() {
        let file = ExpectedError::from(ReadError::Folder.of("x.toml".as_ref(), "; name a study"));
        assert_eq!(
            (file.exit(), file.to_string().as_str()),
            (2, "`x.toml` is a folder; name a study")
        );
        assert_eq!(ExpectedError::from(prepare::Error::NeedsRoot).exit(), 3);
        let full = || StoreError::Full {
            path: "x.db".into(),
            trials_kept: 1,
        };
        assert_eq!(ExpectedError::from(full()).exit(), 3);
        for (kind, exit) in [
            (io::ErrorKind::StorageFull, 3),
            (io::ErrorKind::FileTooLarge, 3),
            (io::ErrorKind::QuotaExceeded, 3),
            (io::ErrorKind::PermissionDenied, 2),
        ] {
            let (path, source) = ("x.html".into(), io::Error::from(kind));
            assert_eq!(
                ExpectedError::from(OutputError::Io { path, source }).exit(),
                exit,
                "{kind}"
            );
        }
        let missing = StoreError::Missing { path: "x.db".into() };
        assert_eq!(ExpectedError::from(missing).exit(), 2);
        assert_eq!(
            ExpectedError::from(RunError::Place(PlaceError::Hung(Vec::new()))).exit(),
            1
        );
        assert_eq!(ExpectedError::from(RunError::Store(full())).exit(), 3);
    }
}
