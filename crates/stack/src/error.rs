//! Errors: the cause, and what could not be undone after it.

use crate::undo::Undo;
use std::fmt;
use std::io;
use study::event::Failure;
use tools::ToolError;

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The spec is impossible. Nothing was changed.
    #[error("{0}")]
    Impossible(String),
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A system call failed.
    #[error("could not {doing}: {source}")]
    System { doing: String, source: io::Error },
    /// The kernel accepted a setting but reports another value.
    #[error("{what} was set to `{wanted}`, but the kernel shows `{got}`")]
    Setting { what: String, wanted: String, got: String },
    /// The machine is not in the required state, or did not reach it.
    #[error("{0}")]
    State(String),
    /// The check before a write found a reason against it.
    #[error("{0}")]
    Refused(String),
}

impl Cause {
    pub(crate) fn system(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::System { doing, source }
    }

    /// The same for calls that fail with an errno.
    pub(crate) fn errno(doing: impl Into<String>) -> impl FnOnce(rustix::io::Errno) -> Self {
        let doing = doing.into();
        move |errno| Self::System {
            doing,
            source: errno.into(),
        }
    }
}

/// An act whose undo failed, and why. It stays in the ledger.
#[derive(Debug)]
pub struct FailedUndo {
    pub undo: Undo,
    pub cause: Cause,
}

impl fmt::Display for FailedUndo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "could not {}: {}", self.undo, self.cause)
    }
}

/// A stack that could not be built. What had been built was undone, except `failed_undo`.
#[derive(Debug)]
pub struct StackError {
    pub step: String,
    pub cause: Cause,
    pub failed_undo: Vec<FailedUndo>,
}

impl StackError {
    /// As reported in the trial's events.
    pub fn failure(&self) -> Failure {
        let undo: String = self
            .failed_undo
            .iter()
            .map(|failed| format!("; afterwards {failed}"))
            .collect();
        Failure {
            step: self.step.clone(),
            message: format!("{}{undo}", self.cause),
        }
    }
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failure = self.failure();
        write!(f, "{}: {}", failure.step, failure.message)
    }
}

impl std::error::Error for StackError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// A stack that could not be torn down completely.
#[derive(Debug)]
pub struct TeardownError {
    pub failed_undo: Vec<FailedUndo>,
}

impl fmt::Display for TeardownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<_> = self.failed_undo.iter().map(ToString::to_string).collect();
        write!(f, "tear down: {}", all.join("; "))
    }
}

impl std::error::Error for TeardownError {}
