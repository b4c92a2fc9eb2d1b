//! Files behind loop devices.

use super::{Contents, devices};
use std::path::PathBuf;

impl Contents {
    /// Disks that are files have the first loop devices.
    pub(in crate::simulated) fn with_loop_devices(loop_disks: usize) -> Self {
        Self {
            loop_disks,
            ..Self::default()
        }
    }

    /// The node of the loop device that it attaches.
    pub(super) fn losetup(&mut self, words: &[String]) -> String {
        let node = devices(words).pop();
        if words.iter().any(|word| word == "--detach") {
            self.images.retain(|attached, _| Some(attached) != node.as_ref());
            return String::new();
        }
        let node = node.unwrap_or_else(|| PathBuf::from(format!("/dev/loop{}", self.loop_disks)));
        let file = words.last().map(PathBuf::from).unwrap_or_default();
        self.images.insert(node.clone(), file);
        format!("{}\n", node.display())
    }

    /// `/dev/loop0 /mnt/image`
    pub(super) fn listed_by_losetup(&self) -> String {
        let line = |(node, file): (&PathBuf, &PathBuf)| format!("{} {}\n", node.display(), file.display());
        self.images.iter().map(line).collect()
    }
}
