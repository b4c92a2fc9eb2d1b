//! A volume of LVM on the array that is cached on another disk (lvmcache(7)): how LVM is called.

use super::lvm::{self, LayerGroup, VOLUME};
use crate::machine::executor::Executor;
use std::path::Path;
use study::stack::{CacheKind, DiskCache};
use tools::Invocation;

/// Name of the volume's cache in its group.
const FAST: &str = "fast";

/// A cached volume.
#[derive(Debug)]
pub(crate) struct CachedVolume {
    pub(crate) cache: DiskCache,
    /// On the array, and the disk of the cache.
    pub(crate) group: LayerGroup,
}

/// Name of a stack's volume group.
pub(crate) fn group_of(stack: &str) -> String {
    format!("{}-cache", lvm::group_of(stack))
}

/// Its name in device mapper.
pub(crate) fn mapper_name(stack: &str) -> String {
    format!("{}{VOLUME}", lvm::mapper_prefix(&group_of(stack)))
}

impl CachedVolume {
    /// That of a stack, on an array and the disk of the cache.
    pub(crate) fn of(cache: DiskCache, stack: &str, on: [&Path; 2], executor: &mut dyn Executor) -> Self {
        Self {
            cache,
            group: LayerGroup::of(group_of(stack), &on, executor),
        }
    }

    /// The group, its volumes, and the cache on the volume.
    pub(crate) fn creation(&self) -> [Invocation; 4] {
        let [array, disk] = [0, 1].map(|at| &self.group.devices[at]);
        let group = self.group.creation();
        let volume = |name: &str, device: &Path| {
            let call = self
                .group
                .call("lvcreate")
                .args(["--yes", "--wipesignatures", "n", "--zero", "n"]);
            let size = match self.cache.size_bytes.filter(|_| name == FAST) {
                Some(bytes) => ["--size".to_owned(), format!("{bytes}b")],
                None => ["--extents".to_owned(), "100%PVS".to_owned()],
            };
            // dm-writecache takes only a volume that is not active.
            let inactive = (name == FAST).then_some(["--activate", "n"]).into_iter().flatten();
            call.args(inactive)
                .args(["--name", name])
                .args(size)
                .arg(&self.group.name)
                .arg(device)
        };
        let kind = self.cache.kind.lvm_type().unwrap_or_default();
        let convert = self
            .group
            .call("lvconvert")
            .args(["--yes", "--type", kind, "--cachevol", FAST]);
        let convert = match self.cache.kind {
            CacheKind::DmCache if self.cache.writeback => convert.args(["--cachemode", "writeback"]),
            CacheKind::DmCache => convert.args(["--cachemode", "writethrough"]),
            _ => convert,
        };
        let convert = convert.arg(format!("{}/{VOLUME}", self.group.name));
        [group, volume(FAST, disk), volume(VOLUME, array), convert]
    }
}
