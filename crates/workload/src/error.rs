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
    #[error("cannot parse fio's output: {what}; it printed: {printed}")]
    FioOutput { what: String, printed: String },
    /// Another program ran, and what it printed is not what it prints.
    #[error("cannot parse {program}'s output: {what}; it printed: {printed}")]
    Output {
        program: &'static str,
        what: String,
        printed: String,
    },
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

/// The beginning and the end of what a program printed.
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
