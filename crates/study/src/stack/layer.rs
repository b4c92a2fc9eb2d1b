//! Layers between disks, array and filesystem.

use serde::{Deserialize, Serialize};

/// A layer on a device: of each member of an array, or of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    Partition(GptPartition),
    Luks(Luks),
    /// On the array alone.
    Cache(DiskCache),
    /// On the array alone.
    Volume(Volume),
}

impl Layer {
    /// Its name in sentences and labels.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Partition(_) => "a partition",
            Self::Luks(_) => "LUKS",
            Self::Cache(cache) => cache.kind.word(),
            Self::Volume(volume) => volume.kind.name(),
        }
    }

    /// The kernel's module that a host may lack.
    pub const fn module(self) -> Option<&'static str> {
        match self {
            Self::Partition(_) => None,
            Self::Luks(_) => Some("dm-crypt"),
            Self::Cache(cache) => Some(cache.kind.word()),
            Self::Volume(volume) => Some(volume.kind.module()),
        }
    }

    /// Bytes of a device of this size that are not the layer's own: headers and metadata.
    pub fn header_bytes(self, device_bytes: u64) -> u64 {
        match self {
            // The second table and what is left of the last MiB are at the end.
            Self::Partition(partition) => partition.start_sector * 512 + (2 << 20),
            // cryptsetup's default for LUKS2.
            Self::Luks(_) => 16 << 20,
            Self::Cache(_) => EXTENTS_BYTES,
            Self::Volume(volume) => EXTENTS_BYTES + volume.metadata_bytes(device_bytes),
        }
    }

    /// With what the study says of it: `LUKS with sectors of 512 B, no read workqueue`.
    pub fn words(self) -> String {
        match self {
            Self::Partition(partition) => format!("a partition from sector {}", partition.start_sector),
            Self::Volume(volume) => volume.words(),
            Self::Cache(cache) => match cache.size_bytes {
                Some(bytes) => format!("{} of {} MiB", cache.words(), bytes >> 20),
                None => cache.words(),
            },
            Self::Luks(luks) => {
                let sectors = luks.sector_bytes.map(|bytes| format!("sectors of {bytes} B"));
                let reads = luks.no_read_workqueue.then(|| "no read workqueue".to_owned());
                let writes = luks.no_write_workqueue.then(|| "no write workqueue".to_owned());
                let parts: Vec<String> = [sectors, reads, writes].into_iter().flatten().collect();
                match parts.is_empty() {
                    true => self.name().to_owned(),
                    false => format!("{} with {}", self.name(), parts.join(", ")),
                }
            }
        }
    }
}

/// LUKS2: dm-crypt with aes-xts-plain64 and a key of 512 bits, the default of cryptsetup for XTS but for its length (256).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Luks {
    /// Bytes that are encrypted together; what cryptsetup chooses for the device if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sector_bytes: Option<u32>,
    /// Reads are decrypted, and writes encrypted, where they are completed and submitted, not by a workqueue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_read_workqueue: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_write_workqueue: bool,
}

/// What LVM keeps of a physical volume, and what is left of the last extent.
const EXTENTS_BYTES: u64 = 8 << 20;

/// The only partition of a GPT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GptPartition {
    /// In sectors of 512 bytes.
    pub start_sector: u64,
}

impl GptPartition {
    /// That of sfdisk and other programs since about 2010: 1 MiB.
    pub const DEFAULT_START: u64 = 2048;
    /// The first sector behind a GPT.
    pub const FIRST_USABLE: u64 = 34;
}

/// A logical volume with all of a volume group on the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    pub kind: VolumeKind,
    /// What is allocated, and copied for a snapshot, at a time; LVM's if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u64>,
    /// Space that is left for the copies of each snapshot of a linear LV.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_bytes: Option<u64>,
}

impl Volume {
    /// LVM's default chunk of thin pools below 8 GiB of metadata.
    const THIN_CHUNK_BYTES: u64 = 64 << 10;
    /// LVM reckons with this much metadata for each chunk.
    const METADATA_OF_CHUNK_BYTES: u64 = 64;

    /// Metadata of a thin pool on a device of this size, in whole extents.
    fn metadata_bytes(self, device_bytes: u64) -> u64 {
        const EXTENT_BYTES: u64 = 4 << 20;
        if self.kind == VolumeKind::Linear {
            return 0;
        }
        let chunks = device_bytes / self.chunk_bytes.unwrap_or(Self::THIN_CHUNK_BYTES);
        (chunks * Self::METADATA_OF_CHUNK_BYTES).next_multiple_of(EXTENT_BYTES) + EXTENT_BYTES
    }

    /// `a thin LV with chunks of 256 KiB`
    fn words(self) -> String {
        let chunk = self.chunk_bytes.map(|bytes| format!("chunks of {} KiB", bytes >> 10));
        let space = self
            .snapshot_bytes
            .map(|bytes| format!("{} MiB for each snapshot", bytes >> 20));
        let parts: Vec<String> = [chunk, space].into_iter().flatten().collect();
        match parts.is_empty() {
            true => self.kind.name().to_owned(),
            false => format!("{} with {}", self.kind.name(), parts.join(", ")),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VolumeKind {
    Linear,
    /// A thin LV, with a pool of its own.
    Thin,
}

impl VolumeKind {
    pub const ALL: [Self; 2] = [Self::Linear, Self::Thin];

    /// Name in studies.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Thin => "thin",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Linear => "a linear LV",
            Self::Thin => "a thin LV",
        }
    }

    /// That with snapshots, or with the volume.
    const fn module(self) -> &'static str {
        match self {
            Self::Linear => "dm-snapshot",
            Self::Thin => "dm-thin-pool",
        }
    }
}

/// A device whose blocks are cached on the first disk of group `cache`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCache {
    pub kind: CacheKind,
    /// dm-cache and bcache acknowledge writes when the cache has them; otherwise when the array has them, too. dm-writecache always
    /// does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writeback: bool,
    /// Size of the cache; the whole disk if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

impl DiskCache {
    /// `dm-cache writeback`
    pub fn words(self) -> String {
        match (self.kind, self.writeback) {
            (CacheKind::Writecache, _) => self.kind.word().to_owned(),
            (kind, true) => format!("{} writeback", kind.word()),
            (kind, false) => format!("{} writethrough", kind.word()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheKind {
    /// `lvmcache`: reads and writes, promoted by the policy smq.
    DmCache,
    /// Writes alone.
    Writecache,
    /// Reads and writes, all but long sequential ones.
    Bcache,
}

impl CacheKind {
    pub const ALL: [Self; 3] = [Self::DmCache, Self::Writecache, Self::Bcache];

    /// Name in studies.
    pub const fn word(self) -> &'static str {
        match self {
            Self::DmCache => "dm-cache",
            Self::Writecache => "dm-writecache",
            Self::Bcache => "bcache",
        }
    }

    /// Name for `lvconvert --type`; `None` if LVM does not make it.
    pub const fn lvm_type(self) -> Option<&'static str> {
        match self {
            Self::DmCache => Some("cache"),
            Self::Writecache => Some("writecache"),
            Self::Bcache => None,
        }
    }
}
