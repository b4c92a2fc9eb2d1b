//! What is compiled into a kernel beside what every study needs: what few studies ask for has a kernel of its own, so
//! that the others need not wait for it.

use serde::{Deserialize, Serialize};
use std::fmt;
use study::stack::{FilesystemKind, Level, MachineSpec, StackSpec};

/// How much a kernel has, each with all of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// md and the filesystems of most studies (`kernel/config/base.config`).
    #[default]
    Base,
    /// Device mapper, and filesystems that few studies ask for (`more.config`).
    More,
    /// OpenZFS, which is no part of Linux and comes from a package of its own.
    Zfs,
}

impl Flavour {
    pub const ALL: [Flavour; 3] = [Flavour::Base, Flavour::More, Flavour::Zfs];

    /// What it adds to a kernel's name.
    const fn suffix(self) -> &'static str {
        match self {
            Flavour::Base => "",
            Flavour::More => "+more",
            Flavour::Zfs => "+zfs",
        }
    }

    pub const fn has_zfs(self) -> bool {
        matches!(self, Flavour::Zfs)
    }

    /// What it is for, in a few words.
    pub const fn purpose(self) -> &'static str {
        match self {
            Flavour::Base => "md; ext2, ext3, ext4, XFS, JFS, btrfs; up to 6.12 ReiserFS",
            Flavour::More => "LVM; F2FS, NILFS2, vfat, exFAT, NTFS; up to 6.17 bcachefs",
            Flavour::Zfs => "OpenZFS",
        }
    }

    /// The smallest that has what the stack asks for.
    pub fn needed_by(stack: &StackSpec) -> Flavour {
        let beside = stack
            .beside
            .iter()
            .flat_map(|other| [of_level(other.array.level), of_filesystem(other.filesystem.kind)]);
        let own = of_level(stack.array.level).max(of_filesystem(stack.filesystem.kind));
        beside.fold(own, Flavour::max)
    }
}

fn of_level(level: Level) -> Flavour {
    match level {
        Level::Single
        | Level::None
        | Level::Linear
        | Level::Raid0
        | Level::Raid1
        | Level::Raid4
        | Level::Raid5
        | Level::Raid6
        | Level::Raid10 => Flavour::Base,
        Level::LvmLinear
        | Level::LvmRaid0
        | Level::LvmRaid1
        | Level::LvmRaid5
        | Level::LvmRaid6
        | Level::LvmRaid10 => Flavour::More,
    }
}

fn of_filesystem(kind: FilesystemKind) -> Flavour {
    match kind {
        FilesystemKind::Raw
        | FilesystemKind::Ext2
        | FilesystemKind::Ext3
        | FilesystemKind::Ext4
        | FilesystemKind::Xfs
        | FilesystemKind::Jfs
        | FilesystemKind::Reiserfs
        | FilesystemKind::Btrfs => Flavour::Base,
        FilesystemKind::Zfs => Flavour::Zfs,
        FilesystemKind::Bcachefs
        | FilesystemKind::F2fs
        | FilesystemKind::Nilfs2
        | FilesystemKind::Vfat
        | FilesystemKind::Exfat
        | FilesystemKind::Ntfs3
        | FilesystemKind::Ntfs3g => Flavour::More,
    }
}

/// What a kernel is called: `6.12`, `6.12+more`, `mine`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelName {
    /// What a study calls it: Debian's version, or the name of a developer's tree.
    pub source: String,
    pub flavour: Flavour,
}

impl KernelName {
    /// The kernel that a stack gets on a machine.
    pub fn of(machine: &MachineSpec, stack: &StackSpec) -> KernelName {
        KernelName {
            source: machine.kernel.clone(),
            flavour: Flavour::needed_by(stack),
        }
    }

    /// Reads a name; what ends in no flavour's suffix is the name of a source.
    pub fn parse(name: &str) -> KernelName {
        let named = |flavour: Flavour| Some((name.strip_suffix(flavour.suffix())?, flavour));
        // The first, the base, has no suffix and fits everything.
        let (source, flavour) = Flavour::ALL.into_iter().rev().find_map(named).unwrap_or_default();
        KernelName {
            source: source.to_owned(),
            flavour,
        }
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}{}", self.source, self.flavour.suffix()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::stack::{ArraySpec, FilesystemSpec, GroupStack};

    #[test]
    fn names_read_back() {
        for (name, source, flavour) in [
            ("6.12", "6.12", Flavour::Base),
            ("6.12+more", "6.12", Flavour::More),
            ("mine+more", "mine", Flavour::More),
            ("6.12+zfs", "6.12", Flavour::Zfs),
            ("6.12+less", "6.12+less", Flavour::Base),
        ] {
            let read = KernelName::parse(name);
            assert_eq!((read.source.as_str(), read.flavour), (source, flavour));
            assert_eq!(read.to_string(), name);
        }
    }

    #[test]
    fn a_stack_gets_the_smallest_that_has_all_of_it() {
        let mut stack = StackSpec::default();
        assert_eq!(Flavour::needed_by(&stack), Flavour::Base);
        stack.array.level = Level::LvmRaid5;
        assert_eq!(Flavour::needed_by(&stack), Flavour::More);
        let source = GroupStack {
            group: "source".to_owned(),
            array: ArraySpec::default(),
            filesystem: FilesystemSpec {
                kind: FilesystemKind::F2fs,
                ..FilesystemSpec::default()
            },
            mount_options: Vec::new(),
        };
        stack = StackSpec {
            beside: vec![source],
            ..StackSpec::default()
        };
        assert_eq!(
            Flavour::needed_by(&stack),
            Flavour::More,
            "what is copied from counts too"
        );
    }
}
