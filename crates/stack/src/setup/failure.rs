//! A stack that could not be built or torn down: why, and what could not be undone.

use crate::machine::error::Cause;
use crate::machine::undo::Undo;
use std::fmt;
use study::event::Failure;

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
