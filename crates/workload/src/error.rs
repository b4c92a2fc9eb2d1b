//! Errors of workloads: message fragments in lower case, with the path concerned.

use std::io;
use std::path::{Path, PathBuf};

/// A host's error.
pub type HostError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The specification requests something impossible.
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
    /// fio ran, but its output could not be parsed.
    #[error("cannot parse fio's output: {what}; it printed: {printed}")]
    FioOutput { what: String, printed: String },
    /// Another program ran, but its output could not be parsed.
    #[error("cannot parse {program}'s output: {what}; it printed: {printed}")]
    Output {
        program: &'static str,
        what: String,
        printed: String,
    },
    /// An operation of the host failed.
    #[error("{doing}: {source}")]
    Host { doing: &'static str, source: HostError },
}

impl WorkloadError {
    /// For `map_err` on a system call: the action and its path.
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

    /// Prepends a directory to the path: a walk knows its path only while it unwinds.
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

/// The start and the end of a program's output.
pub(crate) fn excerpt(printed: &str) -> String {
    const LINES: usize = 4;
    let lines: Vec<&str> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return "nothing".to_owned();
    }
    if lines.len() <= 2 * LINES {
        return shortened(&lines.join(" "));
    }
    format!(
        "{} … {}",
        shortened(&lines[..LINES].join(" ")),
        shortened(&lines[lines.len() - LINES..].join(" "))
    )
}

fn shortened(text: &str) -> String {
    const CHARACTERS: usize = 200;
    match text.char_indices().nth(CHARACTERS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
