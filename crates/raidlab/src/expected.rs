//! Mistakes of the user's and of the world's, apart from bugs: each has its words and its exit code.

use crate::plain::Colours;
use crate::progress::{say, say_with};
use runner::{PlaceError, RunError};
use std::process::ExitCode;
use store::StoreError;

/// The run came to its end, but a trial failed.
pub const EXIT_TRIAL_FAILED: u8 = 1;
/// The user's input is wrong; nothing was touched.
pub const EXIT_INPUT: u8 = 2;
/// The machine lacks something.
pub const EXIT_MACHINE: u8 = 3;
/// Stopped by the user; what was measured is kept.
pub const EXIT_INTERRUPTED: u8 = 130;

/// What the user is told instead of a result.
#[derive(Debug, thiserror::Error)]
pub enum ExpectedError {
    /// Mistakes in a study: rendered with place and mend.
    #[error("{0}")]
    Study(String),
    /// Any other input that makes no sense.
    #[error("{0}")]
    Input(String),
    /// Something is missing on this machine; the words say what mends it.
    #[error("{0}")]
    Machine(String),
    /// Work that was begun could not be brought to its end.
    #[error("{0}")]
    Failed(String),
}

impl ExpectedError {
    /// Says it on standard error and gives the exit code.
    pub fn report(&self) -> ExitCode {
        match self {
            // Has a form of its own.
            Self::Study(text) => say_with(text, Colours::Kept),
            other => say(&format!("raidlab: {other}")),
        }
        ExitCode::from(self.exit())
    }

    const fn exit(&self) -> u8 {
        match self {
            Self::Study(_) | Self::Input(_) => EXIT_INPUT,
            Self::Machine(_) => EXIT_MACHINE,
            Self::Failed(_) => EXIT_TRIAL_FAILED,
        }
    }
}

/// A store that is opened or read, before anything was done.
impl From<StoreError> for ExpectedError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full { .. } => Self::Machine(error.to_string()),
            StoreError::Damaged { .. } | StoreError::Sqlite { .. } | StoreError::TrialTaken { .. } => {
                Self::Failed(error.to_string())
            }
            StoreError::MissingFolder { .. }
            | StoreError::Missing { .. }
            | StoreError::Empty { .. }
            | StoreError::Folder { .. }
            | StoreError::NotADatabase { .. }
            | StoreError::Foreign { .. }
            | StoreError::Newer { .. }
            | StoreError::Taken { .. }
            | StoreError::Busy { .. }
            | StoreError::ReadOnly { .. }
            | StoreError::Unreadable { .. }
            | StoreError::NoSuchRun { .. } => Self::Input(error.to_string()),
        }
    }
}

impl ExpectedError {
    /// A store that fails in the middle of the work.
    pub fn store_under_way(error: &StoreError) -> Self {
        match error {
            StoreError::Full { .. } => Self::Machine(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<lab::kernel::KernelError> for ExpectedError {
    fn from(error: lab::kernel::KernelError) -> Self {
        if error.is_users_mistake() {
            Self::Input(error.to_string())
        } else {
            Self::Machine(error.to_string())
        }
    }
}

impl From<lab::disks::DisksError> for ExpectedError {
    fn from(error: lab::disks::DisksError) -> Self {
        Self::Input(error.to_string())
    }
}

/// A run that had begun.
impl From<RunError> for ExpectedError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => Self::store_under_way(&error),
            RunError::Place(PlaceError::Kernel(error)) => error.into(),
            RunError::Place(PlaceError::Disks(error)) => error.into(),
            RunError::Place(error @ (PlaceError::Guest(_) | PlaceError::Tools(_))) => {
                Self::Machine(error.to_string())
            }
            RunError::Place(error) => Self::Failed(error.to_string()),
        }
    }
}
