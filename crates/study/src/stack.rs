//! The stack under test: disks, the array, the filesystem on it, and how it is mounted.

mod array;
mod bus;
mod discards;
mod group_disk;
mod image;
mod layer;
mod level;
mod own_model;
mod redundancy;
mod silent_corruption;

pub use array::{ArraySpec, Bitmap, InitialResync, InnerArray, Integrity, IntegrityMode};
pub use bus::{Bus, BusKind, Holds};
pub use filesystems::{Align, FilesystemKind, FilesystemSpec, JournalMode, Pool, Profile, ZfsSpec, ZfsSync};
pub use group_disk::GroupDisk;
pub use image::Image;
pub use layer::{CacheKind, DiskCache, GptPartition, Layer, Luks, Volume, VolumeKind};
pub use level::{Level, LevelFacts, MEMBER_WORDS, Manager, Members};
pub use own_model::OwnModel;
pub use redundancy::Keeper;
pub use silent_corruption::SilentCorruption;

use serde::{Deserialize, Serialize};

/// The machine that a cell runs on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineSpec {
    /// Lab guest or the host itself.
    pub kind: MachineKind,
    /// RAM size of the machine (lab: of the guest).
    pub ram_bytes: u64,
    /// Kernel version ("6.12"), or the name of a kernel built from a developer's tree.
    pub kernel: String,
    /// Disk groups by name; the first, `data`, carries the array.
    pub disks: Vec<DiskGroup>,
    /// Shared buses of the lab's disks, in addition to their own interfaces.
    #[serde(default)]
    pub buses: Vec<Bus>,
    /// In the lab: each stack is created once for each seed, and its trials start from copies of its disks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub create_once: bool,
    /// In the lab: the models of disks are drawn from what is not known of them, for each seed anew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub draws_models: bool,
    /// In the lab: one figure of a model of a disk is at an end of its range ([`MovedFigure`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<MovedFigure>,
    /// The processor of a lab guest; absent if it is infinitely fast, and on a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<ProcessorSpec>,
}

/// A figure of a disk model that is multiplied by a factor, to see what depends on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovedFigure {
    /// Name of the model, and of the figure in it: `disk.seek`.
    pub model: String,
    pub figure: String,
    /// 0 turns a flag over.
    pub factor: f64,
    /// The figure for a person: `seek times`.
    pub words: String,
}

impl MovedFigure {
    /// The label of a stack with it: `RAID 5 ext4, seek times × 1.20`.
    pub fn of_stack(&self, label: &str) -> String {
        format!("{label}, {}", self.end())
    }

    /// `seek times × 1.20`.
    pub fn end(&self) -> String {
        match self.factor > 0.0 {
            true => format!("{} × {:.2}", self.words, self.factor),
            false => format!("{} the other way", self.words),
        }
    }
}

impl MachineSpec {
    /// Whether its disks have other models than the catalogue or the study's files, for each seed or for this cell.
    pub const fn changes_models(&self) -> bool {
        self.draws_models || self.moved.is_some()
    }

    /// The disks of a group, or none.
    pub fn group(&self, name: &str) -> Option<&DiskGroup> {
        self.disks.iter().find(|group| group.name == name)
    }
}

/// A processor model that charges time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessorSpec {
    /// Name of the processor model.
    pub model: String,
    /// Identifies the [`OwnModel`] of the plan's processors; absent if the model is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_sha256: Option<String>,
    /// Number of cores.
    pub cores: u32,
}

/// Where trials run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MachineKind {
    /// A User-Mode Linux guest in virtual time on simulated disks.
    Lab,
    /// This machine's own kernel and real disks.
    Host,
    /// Elsewhere, by another program: imported results. Never in a study.
    Foreign,
}

/// Disks of one model that serve one purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskGroup {
    /// `data` for the disks under test; others are `journal`, `bitmap`, `special`, `source` or any other name.
    pub name: String,
    /// Name of the disk model.
    pub model: String,
    /// Identifies the [`OwnModel`] of the plan; absent if the model is built in, and on a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_sha256: Option<String>,
    pub count: u32,
    /// In the lab: what they hold before the stack is created; absent if that is as their model has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<DiskState>,
}

/// What a disk holds before the stack is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiskState {
    /// A solid-state drive.
    Flash {
        /// Share of the drive that holds data, in per cent. The rest was never written, or trimmed.
        filled_percent: u32,
        /// Written once and in the order of addresses; otherwise over and over, at random.
        in_order: bool,
    },
    /// A disk with shingled tracks: share of its zone for incoming writes that is in use, in per cent.
    Shingled { zone_percent: u32 },
}

impl DiskState {
    /// `75 % full, written at random`.
    pub fn words(self) -> String {
        match self {
            Self::Flash { filled_percent: 0, .. } => "new".to_owned(),
            Self::Flash {
                filled_percent,
                in_order,
            } => {
                let how = if in_order { "in order" } else { "at random" };
                format!("{filled_percent} % full, written {how}")
            }
            Self::Shingled { zone_percent } => format!("{zone_percent} % of the zone for incoming writes in use"),
        }
    }
}

impl DiskGroup {
    /// `4 × samsung-870-evo-4tb (75 % full, written at random)`.
    pub fn words(&self) -> String {
        let state = self
            .state
            .map(|state| format!(" ({})", state.words()))
            .unwrap_or_default();
        format!("{} × {}{state}", self.count, self.model)
    }

    const LOOP_FILE: &str = "on a loop device";

    /// Replaces the model if the disk is a file behind a loop device.
    pub fn loop_file_model(bytes: u64) -> String {
        format!("file of {} MiB {}", bytes >> 20, Self::LOOP_FILE)
    }

    /// Whether its disks are files behind loop devices.
    pub fn is_loop_files(&self) -> bool {
        self.model.ends_with(Self::LOOP_FILE)
    }
}

/// The group that carries the array.
pub const DATA: &str = "data";
/// The group whose first disk is a journal: md's write journal, a filesystem's external journal, ZFS's log.
pub const JOURNAL: &str = "journal";
/// The group whose first disk holds the small filesystem with md's bitmap file.
pub const BITMAP: &str = "bitmap";
/// The group whose first disk is a cache of the array.
pub const CACHE: &str = "cache";
/// The group whose first disk is ZFS's special device.
pub const SPECIAL: &str = "special";

/// Disks → array → filesystem → mount.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StackSpec {
    pub array: ArraySpec,
    /// Layers on each member of the array, from the disk up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub member_layers: Vec<Layer>,
    /// Layers on the array, from the array up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// What the filesystem is on instead of the array and its layers: a file or a zvol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// Snapshots of the filesystem or of its volume that exist when the tests begin.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub snapshots: u32,
    pub filesystem: FilesystemSpec,
    /// Mount options as for `mount -o`, one per entry; empty for the defaults.
    pub mount_options: Vec<String>,
    /// I/O scheduler of the member disks (`none`, `mq-deadline`, `bfq`, `kyber`); the kernel's default if absent.
    pub scheduler: Option<String>,
    /// Read-ahead of the array in 512-byte sectors, as for `blockdev --setra`; the kernel's default if absent.
    pub read_ahead_sectors: Option<u64>,
    /// Queue depth of a disk (NCQ, TCQ); the disk's own if absent.
    #[serde(default)]
    pub queue_depth: Option<u32>,
    /// Whether the disks' volatile write cache is on; unchanged if absent.
    #[serde(default)]
    pub write_cache: Option<bool>,
    /// Stacks on other groups of disks than `data`. The stored name is part of a cell's identity.
    #[serde(default, rename = "beside")]
    pub group_stacks: Vec<GroupStack>,
}

impl StackSpec {
    /// Every layer, from the disks up.
    pub fn all_layers(&self) -> impl Iterator<Item = Layer> + Clone + '_ {
        self.member_layers.iter().chain(&self.layers).copied()
    }

    /// The cache on the array, if any.
    pub fn cache(&self) -> Option<DiskCache> {
        self.layers.iter().find_map(|layer| match layer {
            Layer::Cache(cache) => Some(*cache),
            _ => None,
        })
    }

    /// Whether a disk other than its members may answer requests.
    pub fn has_cache(&self) -> bool {
        self.cache().is_some()
    }

    /// The volume on the array, if any.
    pub fn volume(&self) -> Option<Volume> {
        self.layers.iter().find_map(|layer| match layer {
            Layer::Volume(volume) => Some(*volume),
            _ => None,
        })
    }

    /// What takes its snapshots: the filesystem if it can, otherwise the volume; `None` if neither can.
    pub fn snapshot_maker(&self) -> Option<SnapshotMaker> {
        match self.filesystem.kind {
            FilesystemKind::Btrfs => Some(SnapshotMaker::Btrfs),
            FilesystemKind::Zfs => Some(SnapshotMaker::Zfs),
            _ => self.volume().map(SnapshotMaker::Lvm),
        }
    }

    /// The stack of another group. Disk settings are those of the machine.
    pub fn stack_of_group(&self, group: &GroupStack) -> StackSpec {
        StackSpec {
            array: group.array.clone(),
            filesystem: group.filesystem.clone(),
            mount_options: group.mount_options.clone(),
            scheduler: self.scheduler.clone(),
            queue_depth: self.queue_depth,
            write_cache: self.write_cache,
            ..StackSpec::default()
        }
    }
}

/// What takes snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotMaker {
    /// It takes them of the mounted subvolume.
    Btrfs,
    /// It takes them of the dataset.
    Zfs,
    Lvm(Volume),
}

/// A stack on another group of disks than `data`, for example the source of copied files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupStack {
    pub group: String,
    pub array: ArraySpec,
    pub filesystem: FilesystemSpec,
    pub mount_options: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
