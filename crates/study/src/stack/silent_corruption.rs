//! What a stack does about data that a disk returns changed, without an error.

use super::{Level, Profile, StackSpec};
use filesystems::Several;

/// What becomes of data that a disk has silently changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SilentCorruption {
    /// A checksum finds it, and a copy or parity replaces it.
    Repaired,
    /// A checksum finds it: reads fail. Nothing else has the data.
    Detected,
    /// Programs read it as if it were right. md's `check` counts blocks that contradict each other, but cannot say which of
    /// them is right (md(4), "Scrubbing and mismatches").
    Undetected,
}

impl StackSpec {
    /// What becomes of data that a disk has silently changed; `None` for raw devices and nested arrays.
    pub fn silent_corruption(&self, disks: u32) -> Option<SilentCorruption> {
        if let Some(under) = self.under_image().filter(Self::has_data_checksums) {
            return under.silent_corruption(disks);
        }
        if self.filesystem.kind.is_raw() || self.array.of.is_some() {
            return None;
        }
        let is_array = !matches!(self.array.level, Level::None | Level::Single);
        if self.array.integrity.is_some() {
            // A sector with a wrong checksum is a read error for md, which corrects it as any other.
            return Some(by_copies(is_array && self.array.may_be_missing(disks) > 0));
        }
        Some(match self.has_data_checksums() {
            false => SilentCorruption::Undetected,
            true => by_copies(self.filesystem_has_copies_of_data(disks)),
        })
    }

    fn has_data_checksums(&self) -> bool {
        let kind = self.filesystem.kind;
        let is_off = |option: &String| kind.without_data_checksums.contains(&option.as_str());
        kind.has_data_checksums && !self.mount_options.iter().any(is_off)
    }

    /// Copies or parity that the filesystem itself keeps: it does not know those of an array below it.
    fn filesystem_has_copies_of_data(&self, disks: u32) -> bool {
        let filesystem = &self.filesystem;
        if filesystem.kind.is_pool() {
            return self.array.level == Level::None && self.may_be_missing(disks) > 0;
        }
        if filesystem.kind.makes(Several::Replicas) {
            return filesystem.replicas.unwrap_or(1) > 1;
        }
        let data = filesystem.data_profile.unwrap_or(Profile::Single);
        !matches!(data, Profile::Single | Profile::Raid0)
    }
}

const fn by_copies(has_copies: bool) -> SilentCorruption {
    match has_copies {
        true => SilentCorruption::Repaired,
        false => SilentCorruption::Detected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::{ArraySpec, FilesystemKind, FilesystemSpec, Integrity, IntegrityMode, Pool, ZfsSpec};

    fn stack(level: Level, kind: FilesystemKind) -> StackSpec {
        StackSpec {
            array: ArraySpec {
                level,
                ..ArraySpec::default()
            },
            filesystem: FilesystemSpec {
                kind,
                ..FilesystemSpec::default()
            },
            ..StackSpec::default()
        }
    }

    /// A report recommended btrfs on md as if it could repair what it finds.
    #[test]
    fn issue_39_a1_checksums_repair_only_with_copies_of_their_own() {
        let on_md = stack(Level::Raid5, FilesystemKind::Btrfs);
        assert_eq!(on_md.silent_corruption(4), Some(SilentCorruption::Detected));
        let mut own = stack(Level::None, FilesystemKind::Btrfs);
        assert_eq!(own.silent_corruption(4), Some(SilentCorruption::Detected));
        own.filesystem.data_profile = Some(Profile::Raid1);
        assert_eq!(own.silent_corruption(4), Some(SilentCorruption::Repaired));
        own.mount_options = vec!["nodatasum".to_owned()];
        assert_eq!(own.silent_corruption(4), Some(SilentCorruption::Undetected));
        let mut pool = stack(Level::None, FilesystemKind::Zfs);
        assert_eq!(pool.silent_corruption(4), Some(SilentCorruption::Detected));
        pool.filesystem.zfs = ZfsSpec {
            pool: Some(Pool::Raidz1),
            ..ZfsSpec::default()
        };
        assert_eq!(pool.silent_corruption(4), Some(SilentCorruption::Repaired));
        let mut replicas = stack(Level::None, FilesystemKind::Bcachefs);
        replicas.filesystem.replicas = Some(2);
        assert_eq!(replicas.silent_corruption(4), Some(SilentCorruption::Repaired));
    }

    #[test]
    fn md_repairs_what_a_layer_below_it_detects() {
        let mut stack = stack(Level::Raid6, FilesystemKind::Ext4);
        assert_eq!(stack.silent_corruption(4), Some(SilentCorruption::Undetected));
        stack.array.integrity = Some(Integrity {
            mode: IntegrityMode::Journal,
        });
        assert_eq!(stack.silent_corruption(4), Some(SilentCorruption::Repaired));
        stack.array.level = Level::Raid0;
        assert_eq!(stack.silent_corruption(4), Some(SilentCorruption::Detected));
        stack.filesystem.kind = FilesystemKind::Raw;
        assert_eq!(stack.silent_corruption(4), None);
    }
}
