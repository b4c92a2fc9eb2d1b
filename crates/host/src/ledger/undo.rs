//! The undo of each act of a host trial: plain data for the ledger.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// The undo of an act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostUndo {
    /// An act of provisioning.
    Stack(stack::Undo),
    /// A file is detached from its loop device.
    Loop { file: PathBuf },
    /// A file behind a loop device is removed, if it is still the one that was made.
    File { path: PathBuf, made: Option<Inode> },
    /// An empty folder is removed.
    Folder { path: PathBuf },
    /// Processes in a control group are killed and the group is removed.
    Cgroup { path: PathBuf },
}

/// A file, by device and inode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inode {
    pub device: u64,
    pub number: u64,
}

impl fmt::Display for HostUndo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stack(undo) => undo.fmt(f),
            Self::Loop { file } => write!(f, "detach {} from its loop device", file.display()),
            Self::File { path, .. } | Self::Folder { path } => write!(f, "remove {}", path.display()),
            Self::Cgroup { path } => write!(f, "remove the control group {}", path.display()),
        }
    }
}
