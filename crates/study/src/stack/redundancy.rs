//! The layer of a stack that keeps copies or parity, and how many disks can be missing.

use super::{Level, Manager, Members, Pool, Profile, StackSpec};
use filesystems::Several;

/// The layer that keeps copies or parity on a stack's disks, and rebuilds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    Md,
    Lvm,
    Btrfs,
    Zfs,
    Bcachefs,
}

impl Keeper {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Md => "md",
            Self::Lvm => "LVM",
            Self::Btrfs => "btrfs",
            Self::Zfs => "ZFS",
            Self::Bcachefs => "bcachefs",
        }
    }
}

impl StackSpec {
    /// `None` without redundancy, and for nested arrays.
    pub fn keeper(&self, disks: u32) -> Option<Keeper> {
        if self.array.of.is_some() || self.may_be_missing(disks) == 0 {
            return None;
        }
        match self.array.level.facts().manager {
            Manager::Md => Some(Keeper::Md),
            Manager::Lvm => Some(Keeper::Lvm),
            Manager::Disks if self.lowest_filesystem().kind.is_pool() => Some(Keeper::Zfs),
            Manager::Disks if self.lowest_filesystem().kind.makes(Several::Replicas) => Some(Keeper::Bcachefs),
            Manager::Disks => Some(Keeper::Btrfs),
        }
    }

    /// Number of the group's disks that can always be missing without data loss. Not for nested arrays.
    pub fn may_be_missing(&self, disks: u32) -> u32 {
        if self.array.level != Level::None {
            return self.array.may_be_missing(disks);
        }
        let (filesystem, disks) = (self.lowest_filesystem(), disks.saturating_sub(self.array.spares));
        if filesystem.kind.is_pool() {
            let width = filesystem.zfs.vdev_disks.unwrap_or(disks);
            return of_pool(filesystem.zfs.pool.unwrap_or(Pool::Stripe), width);
        }
        if filesystem.kind.makes(Several::Replicas) {
            return filesystem.replicas.unwrap_or(1).saturating_sub(1);
        }
        if !filesystem.kind.makes(Several::Profiles) {
            return 0;
        }
        let data = filesystem.data_profile.unwrap_or(Profile::Single);
        let metadata = filesystem.metadata_profile.unwrap_or(Profile::Raid1);
        of_profile(data).min(of_profile(metadata))
    }
}

impl StackSpec {
    /// The usable space of a group of `disks`, in disks: without spares, copies and parity. `None` for nested arrays.
    pub fn usable_disks(&self, disks: u32) -> Option<f64> {
        let members = f64::from(disks.saturating_sub(self.array.spares));
        let (array, filesystem) = (&self.array, self.lowest_filesystem());
        if array.of.is_some() {
            return None;
        }
        if array.level != Level::None {
            return Some(match array.level.facts().data {
                Members::One => 1.0,
                Members::All => members,
                Members::AllBut(parity) => members - f64::from(parity),
                Members::Copies => members / f64::from(array.may_be_missing(disks) + 1),
                Members::Halves => members / 2.0,
            });
        }
        if filesystem.kind.is_pool() {
            let width = filesystem.zfs.vdev_disks.map_or(members, f64::from);
            return match filesystem.zfs.pool.unwrap_or(Pool::Stripe) {
                Pool::Mirror => Some(members / width),
                // Its spare space is distributed.
                Pool::Draid1 | Pool::Draid2 => None,
                Pool::Stripe | Pool::Raidz1 | Pool::Raidz2 | Pool::Raidz3 => {
                    let parity = f64::from(self.may_be_missing(disks));
                    Some(members * (width - parity) / width)
                }
            };
        }
        if filesystem.kind.makes(Several::Replicas) {
            return Some(members / f64::from(filesystem.replicas.unwrap_or(1).max(1)));
        }
        if !filesystem.kind.makes(Several::Profiles) {
            return Some(members);
        }
        Some(match filesystem.data_profile.unwrap_or(Profile::Single) {
            Profile::Single | Profile::Raid0 => members,
            Profile::Dup | Profile::Raid1 | Profile::Raid10 => members / 2.0,
            Profile::Raid1c3 => members / 3.0,
            Profile::Raid1c4 => members / 4.0,
            Profile::Raid5 => members - 1.0,
            Profile::Raid6 => members - 2.0,
        })
    }
}

const fn of_pool(pool: Pool, width: u32) -> u32 {
    match pool {
        Pool::Stripe => 0,
        Pool::Mirror => width.saturating_sub(1),
        Pool::Raidz1 | Pool::Draid1 => 1,
        Pool::Raidz2 | Pool::Draid2 => 2,
        Pool::Raidz3 => 3,
    }
}

const fn of_profile(profile: Profile) -> u32 {
    match profile {
        Profile::Single | Profile::Dup | Profile::Raid0 => 0,
        Profile::Raid1 | Profile::Raid10 | Profile::Raid5 => 1,
        Profile::Raid1c3 | Profile::Raid6 => 2,
        Profile::Raid1c4 => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::{ArraySpec, FilesystemKind, FilesystemSpec, ZfsSpec};

    fn of(level: Level, filesystem: FilesystemSpec) -> (Option<Keeper>, u32) {
        let stack = StackSpec {
            array: ArraySpec {
                level,
                spares: 1,
                ..ArraySpec::default()
            },
            filesystem,
            ..StackSpec::default()
        };
        (stack.keeper(5), stack.may_be_missing(5))
    }

    #[test]
    fn usable_space_is_without_spares_copies_and_parity() {
        let of = |level, layout: Option<&str>, spares| {
            let stack = StackSpec {
                array: ArraySpec {
                    level,
                    spares,
                    layout: layout.map(str::to_owned),
                    ..ArraySpec::default()
                },
                ..StackSpec::default()
            };
            stack.usable_disks(6)
        };
        assert_eq!(of(Level::Raid0, None, 0), Some(6.0));
        assert_eq!(of(Level::Raid1, None, 0), Some(1.0));
        assert_eq!(of(Level::Raid5, None, 1), Some(4.0));
        assert_eq!(of(Level::Raid6, None, 0), Some(4.0));
        assert_eq!(of(Level::Raid10, None, 0), Some(3.0));
        assert_eq!(of(Level::Raid10, Some("n3"), 0), Some(2.0));
        let pool = |pool, vdev_disks| StackSpec {
            array: ArraySpec {
                level: Level::None,
                ..ArraySpec::default()
            },
            filesystem: FilesystemSpec {
                kind: FilesystemKind::Zfs,
                zfs: ZfsSpec {
                    pool: Some(pool),
                    vdev_disks,
                    ..ZfsSpec::default()
                },
                ..FilesystemSpec::default()
            },
            ..StackSpec::default()
        };
        assert_eq!(pool(Pool::Mirror, Some(2)).usable_disks(6), Some(3.0));
        assert_eq!(pool(Pool::Raidz2, None).usable_disks(6), Some(4.0));
        assert_eq!(pool(Pool::Raidz1, Some(3)).usable_disks(6), Some(4.0));
    }

    #[test]
    fn each_manager_survives_what_its_copies_and_parity_allow() {
        let btrfs = |data, metadata| FilesystemSpec {
            kind: FilesystemKind::Btrfs,
            data_profile: Some(data),
            metadata_profile: metadata,
            ..FilesystemSpec::default()
        };
        let zfs = |pool, vdev_disks| FilesystemSpec {
            kind: FilesystemKind::Zfs,
            zfs: ZfsSpec {
                pool: Some(pool),
                vdev_disks,
                ..ZfsSpec::default()
            },
            ..FilesystemSpec::default()
        };
        let bcachefs = |replicas| FilesystemSpec {
            kind: FilesystemKind::Bcachefs,
            replicas,
            ..FilesystemSpec::default()
        };
        let plain = FilesystemSpec::default;
        assert_eq!(of(Level::Raid6, plain()), (Some(Keeper::Md), 2));
        assert_eq!(of(Level::LvmRaid5, plain()), (Some(Keeper::Lvm), 1));
        assert_eq!(of(Level::LvmRaid0, plain()), (None, 0));
        assert_eq!(of(Level::Single, plain()), (None, 0));
        assert_eq!(of(Level::None, btrfs(Profile::Raid1, None)), (Some(Keeper::Btrfs), 1));
        // The metadata is on two disks only.
        assert_eq!(of(Level::None, btrfs(Profile::Raid1c3, None)).1, 1);
        assert_eq!(of(Level::None, btrfs(Profile::Raid1c3, Some(Profile::Raid1c3))).1, 2);
        assert_eq!(of(Level::None, btrfs(Profile::Single, None)), (None, 0));
        assert_eq!(of(Level::None, zfs(Pool::Raidz2, None)), (Some(Keeper::Zfs), 2));
        assert_eq!(of(Level::None, zfs(Pool::Mirror, Some(2))).1, 1);
        assert_eq!(of(Level::None, zfs(Pool::Mirror, None)).1, 3);
        assert_eq!(of(Level::None, zfs(Pool::Stripe, None)), (None, 0));
        assert_eq!(of(Level::None, bcachefs(Some(3))), (Some(Keeper::Bcachefs), 2));
        assert_eq!(of(Level::None, bcachefs(Some(1))), (None, 0));
        assert_eq!(of(Level::None, bcachefs(None)), (None, 0));
        // Here the array keeps the copies.
        assert_eq!(of(Level::Raid5, bcachefs(Some(1))), (Some(Keeper::Md), 1));
    }
}
