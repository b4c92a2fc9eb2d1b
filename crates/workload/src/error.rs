//! What can go wrong: fragments for people, lower-case, with the path that was meant.

use std::io;
use std::path::{Path, PathBuf};

/// What a host gives when it cannot do what is asked of it.
pub type HostError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The specification asks for what cannot be done.
    #[error("{0}")]
    Spec(String),
    /// A system call failed.
    #[error("{doing} {}: {source}", path.display())]
    System {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// An external program could not be run, or failed.
    #[error(transparent)]
    Tool(#[from] tools::ToolError),
    /// fio ran, and what it printed is not what fio prints.
    #[error("fio's output cannot be understood: {what}; it printed: {printed}")]
    FioOutput { what: String, printed: String },
    /// The host could not do its part.
    #[error("{doing}: {source}")]
    Host { doing: &'static str, source: HostError },
}

impl WorkloadError {
    /// For `map_err` on a system call: what was being done, and to what.
    pub(crate) fn at<E: Into<io::Error>>(doing: &'static str, path: impl AsRef<Path>) -> impl FnOnce(E) -> Self {
        move |source| Self::System {
            doing,
            path: path.as_ref().to_owned(),
            source: source.into(),
        }
    }

    /// For `map_err` on a call of the host.
    pub(crate) fn host(doing: &'static str) -> impl FnOnce(HostError) -> Self {
        move |source| Self::Host { doing, source }
    }

    /// Puts a directory before the path: a walk knows where it is only while it unwinds.
    pub(crate) fn inside(self, directory: impl AsRef<Path>) -> Self {
        match self {
            Self::System { doing, path, source } => Self::System {
                doing,
                path: directory.as_ref().join(path),
                source,
            },
            other => other,
        }
    }
}
