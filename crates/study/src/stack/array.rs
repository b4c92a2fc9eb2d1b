//! Arrays: one device from several disks, by md, LVM, or none.

use super::{GroupDisk, Level, Manager, Members};
use serde::{Deserialize, Serialize};

/// The array over the disks under test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArraySpec {
    pub level: Level,
    /// Its members in this order, spares last; all disks of group `data` if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<GroupDisk>,
    /// Chunk size; absent if the level has none, or for mdadm's default (512 KiB).
    pub chunk_bytes: Option<u64>,
    pub bitmap: Bitmap,
    /// Hot spares, the last of the members.
    pub spares: u32,
    /// Used size of each member (mdadm `--size`); all of it if absent.
    pub member_size_bytes: Option<u64>,
    /// RAID 10 layout (`n2`, `f2`, `o2`), RAID 5/6 parity layout (`left-symmetric`); mdadm's default if absent.
    pub layout: Option<String>,
    /// Superblock format (`1.2`, `1.0`, `0.90`); mdadm's default if absent.
    pub metadata: Option<String>,
    /// The array's members are arrays themselves.
    #[serde(default)]
    pub of: Option<InnerArray>,
    /// RAID 4, 5, 6: writes go first to a journal on the first disk of group `journal`.
    #[serde(default)]
    pub write_journal: bool,
    /// The journal acknowledges writes (`journal_mode` write-back); otherwise the members do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub journal_write_back: bool,
    /// RAID 5: partial parity log (mdadm's consistency policy `ppl`).
    #[serde(default)]
    pub ppl: bool,
    /// RAID 4, 5, 6: md's `stripe_cache_size`, pages per member; the kernel's default (256) if absent.
    #[serde(default)]
    pub stripe_cache_pages: Option<u32>,
    /// Bitmap chunk: the area that one bit covers; mdadm's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bitmap_chunk_bytes: Option<u64>,
    /// RAID 1: number of write-mostly members, from the last one backwards; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_mostly: Option<u32>,
    /// RAID 1: maximum outstanding writes to write-mostly members; no write-behind if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_behind: Option<u32>,
    /// RAID 4, 5, 6: md's `group_thread_cnt`, worker threads per NUMA node; the kernel's default (0) if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_thread_cnt: Option<u32>,
    /// RAID 4, 5, 6: md's `rmw_level`; the kernel's default (1) if absent. 0: partial stripe writes always read the
    /// other data blocks (reconstruct-write); 1: they read the old data and parity instead if that is fewer reads
    /// (read-modify-write); 2: also if it is the same number of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rmw_level: Option<u32>,
    /// RAID 4, 5, 6: md's `skip_copy`; the kernel's default (0) if absent. 1: blocks that are overwritten
    /// completely are not copied to the stripe cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_copy: Option<u32>,
    /// md's `sync_speed_min` and `sync_speed_max`, KiB/s; the kernel's defaults if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_speed_min: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_speed_max: Option<u32>,
    /// When md makes copies and parity consistent after it has created the array; absent for before the tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_resync: Option<InitialResync>,
    /// dm-integrity between each disk and md: a checksum of every sector; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<Integrity>,
    /// LVM: extent size of the volume group; LVM's default (4 MiB) if absent.
    #[serde(default)]
    pub extent_bytes: Option<u64>,
}

impl ArraySpec {
    /// mdadm's default chunk since 3.1.
    pub const MDADM_CHUNK_BYTES: u64 = 512 << 10;
    /// mdadm adds a bitmap to redundant arrays with larger members, since 3.3.
    pub const MEMBER_BYTES_WITHOUT_BITMAP: u64 = 100 << 30;
    /// The kernel's default `stripe_cache_size`, pages per member.
    pub const STRIPE_CACHE_PAGES: u32 = 256;

    /// Whether md resyncs the whole array after a crash, because nothing says where copies or parity may differ.
    pub fn resyncs_after_a_crash(&self) -> bool {
        let level = self.level.facts();
        let has_record = self.bitmap != Bitmap::None || self.write_journal || self.ppl;
        level.manager == Manager::Md && level.is_redundant && !has_record
    }

    /// Minimum number of bytes written to `disks` members for `bytes` of data: each copy of a mirror, and the
    /// parity of full stripes. Partial stripe writes cost more.
    pub fn member_bytes_min(&self, disks: u32, bytes: u64) -> u64 {
        let members = disks.saturating_sub(self.spares);
        let Some(inner) = self.of else {
            return self.level.member_bytes_min(members, self.layout.as_deref(), bytes);
        };
        let outer = members / inner.disks.max(1);
        let written = self.level.member_bytes_min(outer, self.layout.as_deref(), bytes);
        inner.level.member_bytes_min(inner.disks, None, written)
    }

    /// Requests to `disks` members for one write of a part of a chunk at a random place: reads, and writes. With parity, md reads
    /// the old data and parity, or the other data of the stripe, whichever is less (`handle_stripe_dirtying` in
    /// drivers/md/raid5.c). `None` for nested arrays.
    pub fn requests_of_small_write(&self, disks: u32) -> Option<[u32; 2]> {
        let members = disks.saturating_sub(self.spares);
        match (self.of, self.level.facts().data) {
            (Some(_), _) => None,
            (None, Members::AllBut(parity)) => {
                let others = members.saturating_sub(parity).saturating_sub(1);
                let reads = match self.rmw_level {
                    Some(0) => others,
                    _ => others.min(1 + parity),
                };
                Some([reads, 1 + parity])
            }
            (None, Members::One) if self.level != Level::Single => Some([0, members]),
            (None, Members::Copies) => Some([0, copies(self.layout.as_deref())]),
            (None, Members::Halves) => Some([0, 2]),
            (None, Members::All | Members::One) => Some([0, 1]),
        }
    }

    /// Whether a partial stripe write must read first, because parity is computed from the stripe.
    pub fn has_parity(&self) -> bool {
        self.level.has_parity() || self.of.is_some_and(|of| of.level.has_parity())
    }

    /// Number of members, out of `disks`, that can always be missing without data loss. Not for nested arrays.
    pub fn may_be_missing(&self, disks: u32) -> u32 {
        match self.level.facts().data {
            Members::One if self.level == Level::Single => 0,
            Members::One => disks.saturating_sub(self.spares).saturating_sub(1),
            Members::AllBut(parity) => parity,
            Members::Copies => copies(self.layout.as_deref()).saturating_sub(1),
            Members::Halves => 1,
            Members::All => 0,
        }
    }
}

/// Number of copies in a RAID 10 layout: the digit of `n2`, `f2`, `o2`; mdadm's default is 2.
fn copies(layout: Option<&str>) -> u32 {
    let digits = layout.and_then(|layout| layout.get(1..)).unwrap_or_default();
    digits.parse().unwrap_or(2)
}

impl Level {
    fn member_bytes_min(self, members: u32, layout: Option<&str>, bytes: u64) -> u64 {
        let members = u64::from(members.max(1));
        match self.facts().data {
            Members::All => bytes,
            Members::One if self == Self::Single => bytes,
            Members::One => bytes * members,
            Members::AllBut(parity) => {
                let data = members.saturating_sub(u64::from(parity)).max(1);
                (u128::from(bytes) * u128::from(members) / u128::from(data)) as u64
            }
            Members::Copies => bytes * u64::from(copies(layout)),
            Members::Halves => bytes * 2,
        }
    }
}

/// The inner arrays of a nested array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InnerArray {
    /// An md level.
    pub level: Level,
    /// Disks of each inner array.
    pub disks: u32,
    pub chunk_bytes: Option<u64>,
}

/// dm-integrity as set up by integritysetup: crc32c for each 512-byte sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Integrity {
    pub mode: IntegrityMode,
}

/// How sector and checksum are kept consistent in a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntegrityMode {
    /// Both are written to a journal first.
    #[default]
    Journal,
    /// A bitmap marks regions whose checksums are recomputed after a power cut.
    Bitmap,
    /// They are not.
    Direct,
}

impl IntegrityMode {
    pub const ALL: [Self; 3] = [Self::Journal, Self::Bitmap, Self::Direct];

    /// Name in studies.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Journal => "journal",
            Self::Bitmap => "bitmap",
            Self::Direct => "direct",
        }
    }
}

/// What becomes of the resync of a new array, other than that the tests wait for it. In the lab disks are zeros, so that copies and
/// parity are consistent without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialResync {
    /// It runs during the tests.
    During,
    /// There is none (`mdadm --assume-clean`), whatever the disks hold.
    AssumeClean,
}

impl InitialResync {
    pub const ALL: [Self; 2] = [Self::During, Self::AssumeClean];

    /// Name in studies.
    pub const fn word(self) -> &'static str {
        match self {
            Self::During => "during",
            Self::AssumeClean => "assume-clean",
        }
    }
}

/// Location of md's write-intent bitmap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bitmap {
    Internal,
    #[default]
    None,
    /// A file on a small filesystem on the first disk of group `bitmap`.
    External,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_parity_count() {
        let of = |level, disks, layout: Option<&str>| {
            let array = ArraySpec {
                level,
                layout: layout.map(str::to_owned),
                ..ArraySpec::default()
            };
            array.member_bytes_min(disks, 1200)
        };
        assert_eq!(of(Level::Single, 1, None), 1200);
        assert_eq!(of(Level::Raid0, 4, None), 1200);
        assert_eq!(of(Level::Raid1, 3, None), 3600);
        assert_eq!(of(Level::Raid5, 4, None), 1600);
        assert_eq!(of(Level::Raid6, 8, None), 1600);
        assert_eq!(of(Level::Raid10, 4, None), 2400);
        assert_eq!(of(Level::Raid10, 6, Some("n3")), 3600);
        let survives = |level, disks, layout: Option<&str>| {
            let array = ArraySpec {
                level,
                layout: layout.map(str::to_owned),
                spares: 1,
                ..ArraySpec::default()
            };
            array.may_be_missing(disks)
        };
        assert_eq!(survives(Level::Single, 4, None), 0);
        assert_eq!(survives(Level::Raid0, 4, None), 0);
        assert_eq!(survives(Level::Raid1, 4, None), 2);
        assert_eq!(survives(Level::Raid5, 5, None), 1);
        assert_eq!(survives(Level::Raid6, 5, None), 2);
        assert_eq!(survives(Level::Raid10, 5, None), 1);
        assert_eq!(survives(Level::Raid10, 7, Some("n3")), 2);
        let nested = ArraySpec {
            level: Level::Raid0,
            of: Some(InnerArray {
                level: Level::Raid1,
                disks: 2,
                chunk_bytes: None,
            }),
            ..ArraySpec::default()
        };
        assert_eq!(nested.member_bytes_min(4, 1200), 2400);
    }

    #[test]
    fn a_small_write_reads_what_is_less_of_old_parity_and_the_rest_of_the_stripe() {
        let of = |level, disks, rmw_level: Option<u32>| {
            let array = ArraySpec {
                level,
                rmw_level,
                ..ArraySpec::default()
            };
            array.requests_of_small_write(disks).expect("not nested")
        };
        assert_eq!(of(Level::Raid5, 3, None), [1, 2]);
        assert_eq!(of(Level::Raid5, 8, None), [2, 2]);
        assert_eq!(of(Level::Raid6, 4, None), [1, 3]);
        assert_eq!(of(Level::Raid6, 8, None), [3, 3]);
        assert_eq!(of(Level::Raid6, 8, Some(0)), [5, 3]);
        assert_eq!(of(Level::Raid10, 8, None), [0, 2]);
        assert_eq!(of(Level::Raid1, 3, None), [0, 3]);
        assert_eq!(of(Level::Raid0, 4, None), [0, 1]);
    }
}
