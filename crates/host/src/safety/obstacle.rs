//! Reasons not to overwrite a disk.

use crate::device::disk::binary_size;
use std::fmt;

/// A reason not to overwrite a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    Mounted {
        device: String,
        folder: String,
    },
    Swap {
        device: String,
    },
    /// A running device of the kernel is built on it.
    InUse {
        device: String,
        by: String,
    },
    /// Another device that is or may be in use shares bytes with it.
    Shared {
        with: String,
    },
    /// No known user, but it cannot be opened exclusively.
    Held {
        device: String,
    },
    /// A process has it open.
    Open {
        device: String,
        pid: u32,
        program: String,
    },
    /// Its superblock says that it is a member of an array, pool or similar.
    Member {
        device: String,
        of: String,
        release: String,
    },
    /// It has a known signature.
    Signature {
        device: String,
        what: String,
    },
    /// It is not blank, but has no known signature.
    Content {
        device: String,
        /// Offset of the first non-zero byte that was found.
        at_bytes: u64,
    },
    /// Its contents changed since it was judged.
    Changed {
        device: String,
    },
    /// Its contents are unknown.
    Unknown {
        device: String,
        why: String,
    },
    ReadOnly,
    TooSmall {
        has_bytes: u64,
        needs_bytes: u64,
    },
}

impl Obstacle {
    /// Whether the user may override it by naming the disk's serial number.
    pub fn can_be_lifted(&self) -> bool {
        matches!(self, Self::Signature { .. } | Self::Content { .. })
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { device, folder } => write!(f, "{device} is mounted on {folder}"),
            Self::Swap { device } => write!(f, "{device} is in use as swap"),
            Self::InUse { device, by } => write!(f, "{device} is {by}"),
            Self::Shared { with } => write!(f, "it shares bytes with {with}"),
            Self::Held { device } => write!(f, "{device} is held open exclusively by the kernel or a program"),
            Self::Open { device, pid, program } => write!(f, "{device} is open in process {pid} ({program})"),
            Self::Member { device, of, release } => {
                write!(
                    f,
                    "{device} is a member of {of}; to release it permanently, run: `{release}`"
                )
            }
            Self::Signature { device, what } => write!(f, "{device} carries {what}"),
            Self::Content { device, at_bytes } => write!(
                f,
                "{device} is not blank: it has no known signature, but data at byte {at_bytes}"
            ),
            Self::Changed { device } => write!(f, "the contents of {device} changed since it was checked"),
            Self::Unknown { device, why } => write!(f, "cannot determine what is on {device}: {why}"),
            Self::ReadOnly => write!(f, "it is read-only"),
            Self::TooSmall { has_bytes, needs_bytes } => {
                let (has, needs) = (binary_size(*has_bytes), binary_size(*needs_bytes));
                write!(f, "it is too small: it has {has}, but the study needs {needs}")
            }
        }
    }
}
