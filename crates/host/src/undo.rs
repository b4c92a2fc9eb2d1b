//! How each act of a host trial is undone.
//!
//! *Invariant*: as with [`stack::Undo`], an undo first makes sure that what it takes away is still what was made, and
//! has nothing to do if it is gone; so it can be repeated, by a later process.

use crate::{cgroup, loops};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tools::{Recorder, Tools};

/// What takes back an act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undo {
    /// An act of provisioning.
    Stack(stack::Undo),
    /// A file is detached from its loop device.
    Loop { file: PathBuf },
    /// A file behind a loop device is removed.
    File { path: PathBuf },
    /// An empty folder is removed.
    Folder { path: PathBuf },
    /// A control group without processes is removed.
    Cgroup { path: PathBuf },
}

impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stack(undo) => undo.fmt(f),
            Self::Loop { file } => write!(f, "detach {} from its loop device", file.display()),
            Self::File { path } | Self::Folder { path } => write!(f, "remove {}", path.display()),
            Self::Cgroup { path } => write!(f, "remove the control group {}", path.display()),
        }
    }
}

/// Takes back an act, or as much of it as was done.
pub(crate) fn undo(act: &Undo, tools: &mut Tools, recorder: &mut dyn Recorder) -> Result<(), String> {
    match act {
        Undo::Stack(act) => {
            let mut access = stack::Access {
                executor: &mut stack::System::new(tools),
                recorder,
                check: &mut stack::NoDiskCheck,
            };
            stack::undo(act, &mut access).map_err(|cause| cause.to_string())
        }
        Undo::Loop { file } => loops::detach(file, tools, recorder),
        Undo::File { path } => gone(fs::remove_file(path)),
        Undo::Folder { path } => remove_folder(path),
        Undo::Cgroup { path } => cgroup::remove(path),
    }
}

fn remove_folder(path: &Path) -> Result<(), String> {
    gone(fs::remove_dir(path))
}

fn gone(result: io::Result<()>) -> Result<(), String> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.to_string()),
        _ => Ok(()),
    }
}
