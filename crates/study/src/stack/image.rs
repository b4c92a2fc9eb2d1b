//! Files and zvols that carry the stack's filesystem, as the disks of virtual machines do.

use super::{ArraySpec, FilesystemKind, FilesystemSpec, Level, StackSpec};
use serde::{Deserialize, Serialize};

/// A file or a zvol on a filesystem, which carries the stack's own filesystem: the disk of a virtual machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// The filesystem that the file is on, or the pool of the zvol.
    pub filesystem: FilesystemSpec,
    /// Mount options of that filesystem.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mount_options: Vec<String>,
    /// Whether space is allocated before the image is used; otherwise when it is written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preallocated: bool,
    /// `volblocksize` of a zvol; ZFS's (16 KiB) if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// Size of the image; three quarters of what is free if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

impl Image {
    pub fn is_zvol(&self) -> bool {
        self.filesystem.kind.is_pool()
    }

    /// `a zvol`
    pub fn name(&self) -> &'static str {
        if self.is_zvol() { "a zvol" } else { "an image" }
    }

    /// The size without `size_bytes`, on a filesystem with this much free space. The rest is for the filesystem's own metadata and, of
    /// a pool with parity, for padding.
    pub const fn default_bytes(free_bytes: u64) -> u64 {
        const MIB: u64 = 1 << 20;
        free_bytes / 4 * 3 / MIB * MIB
    }

    /// `a file on XFS`, `a preallocated file on btrfs (nodatacow)`, `a zvol of blocks of 16 KiB`.
    pub fn words(&self) -> String {
        let on = self.filesystem.kind.title;
        let mut words = match (self.is_zvol(), self.preallocated) {
            (true, _) => self.name().to_owned(),
            (false, true) => format!("a preallocated file on {on}"),
            (false, false) => format!("a file on {on}"),
        };
        if let Some(bytes) = self.block_bytes {
            words += &format!(" with blocks of {} KiB", bytes >> 10);
        }
        if !self.mount_options.is_empty() {
            words += &format!(" ({})", self.mount_options.join(","));
        }
        words
    }
}

impl StackSpec {
    /// The filesystem that is on the array or the disks: that of the image, if there is one.
    pub fn lowest_filesystem(&self) -> &FilesystemSpec {
        self.image.as_ref().map_or(&self.filesystem, |image| &image.filesystem)
    }

    /// The stack's filesystem, and that of its image.
    pub fn filesystems(&self) -> impl Iterator<Item = &FilesystemSpec> {
        let of_image = self.image.iter().map(|image| &image.filesystem);
        std::iter::once(&self.filesystem).chain(of_image)
    }

    /// Kinds of the filesystems of the stack and of those on other groups of disks.
    pub fn filesystem_kinds(&self) -> impl Iterator<Item = FilesystemKind> + '_ {
        let of_groups = self.group_stacks.iter().map(|group| group.filesystem.kind);
        self.filesystems().map(|filesystem| filesystem.kind).chain(of_groups)
    }

    /// Whether any of its filesystems writes something else than what it was given.
    pub fn compresses(&self) -> bool {
        let by_mount = |option: &String| option.starts_with("compress");
        let of_image = self.image.iter().flat_map(|image| &image.mount_options);
        let mut options = self.mount_options.iter().chain(of_image);
        self.filesystems().any(FilesystemSpec::compresses) || options.any(by_mount)
    }

    /// Whether every filesystem writes changed data where it was.
    pub fn overwrites(&self) -> bool {
        let is_off = |image: &Image| image.mount_options.iter().any(|option| option == "nodatacow");
        let of_image = self.image.as_ref().filter(|image| !is_off(image));
        self.filesystem.kind.overwrites() && of_image.is_none_or(|image| image.filesystem.kind.overwrites())
    }

    /// What a guest has in the image: a filesystem on one device, which knows nothing of the array below.
    pub fn inside_image(&self) -> StackSpec {
        StackSpec {
            array: ArraySpec {
                level: Level::Single,
                ..ArraySpec::default()
            },
            filesystem: self.filesystem.clone(),
            mount_options: self.mount_options.clone(),
            ..StackSpec::default()
        }
    }

    /// The stack that the image is on; `None` without one.
    pub fn under_image(&self) -> Option<StackSpec> {
        let image = self.image.as_ref()?;
        Some(StackSpec {
            filesystem: image.filesystem.clone(),
            mount_options: image.mount_options.clone(),
            image: None,
            snapshots: 0,
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_said_as_people_say_it() {
        let on = |kind| Image {
            filesystem: FilesystemSpec {
                kind,
                ..FilesystemSpec::default()
            },
            ..Image::default()
        };
        assert_eq!(on(FilesystemKind::Xfs).words(), "a file on XFS");
        let file = Image {
            preallocated: true,
            mount_options: vec!["nodatacow".to_owned()],
            ..on(FilesystemKind::Btrfs)
        };
        assert_eq!(file.words(), "a preallocated file on btrfs (nodatacow)");
        let zvol = Image {
            block_bytes: Some(16 << 10),
            ..on(FilesystemKind::Zfs)
        };
        assert_eq!(zvol.words(), "a zvol with blocks of 16 KiB");
    }

    #[test]
    fn the_lowest_filesystem_is_that_of_the_image() {
        let mut stack = StackSpec::default();
        assert_eq!(stack.lowest_filesystem().kind, FilesystemKind::Ext4);
        stack.image = Some(Image {
            filesystem: FilesystemSpec {
                kind: FilesystemKind::Zfs,
                ..FilesystemSpec::default()
            },
            ..Image::default()
        });
        assert_eq!(stack.lowest_filesystem().kind, FilesystemKind::Zfs);
        let kinds: Vec<_> = stack.filesystem_kinds().collect();
        assert_eq!(kinds, [FilesystemKind::Ext4, FilesystemKind::Zfs]);
        let under = stack.under_image().expect("has an image");
        assert_eq!((under.filesystem.kind, under.image), (FilesystemKind::Zfs, None));
    }
}
