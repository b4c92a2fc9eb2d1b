//! The undo of each act: plain data for the ledger.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use study::stack::FilesystemKind;

/// The undo of an act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "undo", rename_all = "kebab-case")]
pub enum Undo {
    /// Restores the former value of an attribute in /sys.
    Attribute { path: PathBuf, value: String },
    /// Stops the array and erases superblocks with its UUID from the members.
    Array {
        node: PathBuf,
        uuid: String,
        members: Vec<PathBuf>,
    },
    /// Erases the signature of a filesystem from its device.
    Filesystem {
        device: PathBuf,
        kind: FilesystemKind,
        array_uuid: Option<String>,
        /// The filesystem's UUID, if it was set: a filesystem with another UUID was made by another program since.
        #[serde(default)]
        uuid: Option<String>,
    },
    /// Erases signatures of these types (as wipefs names them) from a device of the run.
    Signatures { device: PathBuf, types: String },
    /// Closes the dm-integrity device with this name if it is on this disk, and the temporary devices of
    /// integritysetup on the disk.
    Integrity { disk: PathBuf, name: String },
    /// Closes the LUKS volume with this name if it is on this device, and erases the header with this UUID.
    Luks {
        device: PathBuf,
        name: String,
        uuid: String,
    },
    /// Stops the bcache device on `backing` and its cache set with this UUID, and erases both superblocks.
    Bcache {
        backing: PathBuf,
        cache: PathBuf,
        set: String,
    },
    /// Removes the volume group if it is only on these devices, and their physical volumes.
    VolumeGroup { name: String, devices: Vec<PathBuf> },
    /// Destroys the pool if it is only on these partitions.
    Pool { name: String, partitions: Vec<PathBuf> },
    /// Detaches the loop devices of a file.
    LoopDevice { file: PathBuf },
    /// Erases the partition table if it has this UUID, and the signature of its first partition.
    PartitionTable { device: PathBuf, uuid: String },
    /// Removes an empty folder.
    Folder { path: PathBuf },
    /// Unmounts a device from a folder.
    Mount { folder: PathBuf, device: PathBuf },
    /// Unmounts a filesystem from a folder that is on several devices, any of which the kernel may show.
    MountOfSeveral { folder: PathBuf, devices: Vec<PathBuf> },
}

/// As an imperative, for messages and `--dry-run`.
impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attribute { path, value } => write!(f, "set {} back to `{value}`", path.display()),
            Self::Array { node, uuid, .. } => {
                write!(f, "stop {} ({uuid}) and clear its members", node.display())
            }
            Self::Filesystem { device, kind, .. } => {
                write!(f, "wipe {} off {}", kind.mount_type(), device.display())
            }
            Self::Signatures { device, types } => write!(f, "wipe {types} off {}", device.display()),
            Self::Integrity { disk, name } => write!(f, "close {name} on {}", disk.display()),
            Self::Luks { device, name, .. } => {
                write!(f, "close {name} on {} and wipe its header", device.display())
            }
            Self::Bcache { backing, cache, .. } => write!(
                f,
                "stop bcache on {} and {} and wipe its superblocks",
                backing.display(),
                cache.display()
            ),
            Self::VolumeGroup { name, .. } => write!(f, "remove the volume group {name}"),
            Self::Pool { name, .. } => write!(f, "destroy the pool {name}"),
            Self::LoopDevice { file } => write!(f, "detach {} from its loop device", file.display()),
            Self::PartitionTable { device, .. } => write!(f, "wipe the partition table off {}", device.display()),
            Self::Folder { path } => write!(f, "remove {}", path.display()),
            Self::Mount { folder, .. } | Self::MountOfSeveral { folder, .. } => {
                write!(f, "unmount {}", folder.display())
            }
        }
    }
}
