//! Filesystems by name.

use crate::{Filesystem, FilesystemKind};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Deref;

impl Deref for FilesystemKind {
    type Target = Filesystem;

    fn deref(&self) -> &Filesystem {
        self.get()
    }
}

/// The filesystem of a study that names none.
impl Default for FilesystemKind {
    fn default() -> Self {
        Self::Ext4
    }
}

impl FilesystemKind {
    /// The filesystem whose first word this is. There is no default.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }

    /// Whether blocks are overwritten in place, so that random writes stay random at the disks.
    pub fn overwrites(self) -> bool {
        matches!(
            self,
            Self::Raw | Self::Ext2 | Self::Ext3 | Self::Ext4 | Self::Jfs | Self::Reiserfs | Self::Xfs
        )
    }

    /// The type for mount(2), as in /proc/mounts.
    pub fn mount_type(self) -> &'static str {
        match self.kernel.mount_type {
            "" => self.word(),
            other => other,
        }
    }
}

impl Serialize for FilesystemKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for FilesystemKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Self::named(&word).ok_or_else(|| D::Error::custom(format!("there is no filesystem `{word}`")))
    }
}

/// `ext3, ext4 and ReiserFS`: names of the filesystems that match.
pub fn names(which: impl Fn(&Filesystem) -> bool) -> String {
    list(
        FilesystemKind::ALL
            .iter()
            .filter(|kind| which(kind))
            .map(|kind| kind.name),
    )
}

/// `ext3, ext4 and reiserfs`: words of the filesystems that match.
pub fn words(which: impl Fn(&Filesystem) -> bool) -> String {
    list(
        FilesystemKind::ALL
            .iter()
            .filter(|kind| which(kind))
            .map(|kind| kind.word()),
    )
}

fn list(all: impl Iterator<Item = &'static str>) -> String {
    let mut each: Vec<&str> = Vec::new();
    for word in all {
        if !each.contains(&word) {
            each.push(word);
        }
    }
    match each.as_slice() {
        [] => "none".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
