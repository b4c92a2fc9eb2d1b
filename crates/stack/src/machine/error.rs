//! Why a step of a stack fails.

use std::io;
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
    /// The check before a write rejected it.
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
