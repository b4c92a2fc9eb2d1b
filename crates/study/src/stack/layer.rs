//! Layers between disks, array and filesystem.

use serde::{Deserialize, Serialize};

/// A layer on a device: of each member of an array, or of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    Luks(Luks),
    /// On the array alone.
    Cache(DiskCache),
}

impl Layer {
    /// Its name in sentences and labels.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Luks(_) => "LUKS",
            Self::Cache(cache) => cache.kind.word(),
        }
    }

    /// The kernel's module with its target of device mapper.
    pub const fn module(self) -> &'static str {
        match self {
            Self::Luks(_) => "dm-crypt",
            Self::Cache(cache) => cache.kind.word(),
        }
    }

    /// Bytes of the device that are not its own: a header.
    pub const fn header_bytes(self) -> u64 {
        match self {
            // cryptsetup's default for LUKS2.
            Self::Luks(_) => 16 << 20,
            // The physical volume, and what is left of the last extent.
            Self::Cache(_) => 8 << 20,
        }
    }

    /// With what the study says of it: `LUKS with sectors of 512 B, no read workqueue`.
    pub fn words(self) -> String {
        match self {
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

/// A volume of LVM on the array whose blocks are cached on the first disk of group `cache`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCache {
    pub kind: CacheKind,
    /// dm-cache acknowledges writes when the cache has them; otherwise when the array has them, too. dm-writecache always does.
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
            (CacheKind::DmCache, true) => "dm-cache writeback".to_owned(),
            (CacheKind::DmCache, false) => "dm-cache writethrough".to_owned(),
            (CacheKind::Writecache, _) => self.kind.word().to_owned(),
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
}

impl CacheKind {
    pub const ALL: [Self; 2] = [Self::DmCache, Self::Writecache];

    /// Name in studies.
    pub const fn word(self) -> &'static str {
        match self {
            Self::DmCache => "dm-cache",
            Self::Writecache => "dm-writecache",
        }
    }

    /// Name for `lvconvert --type`.
    pub const fn lvm_type(self) -> &'static str {
        match self {
            Self::DmCache => "cache",
            Self::Writecache => "writecache",
        }
    }
}
