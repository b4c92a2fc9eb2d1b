//! A volume of LVM on the array that is cached on another disk (lvmcache(7)): how LVM is called.

use super::lvm;
use crate::machine::executor::Executor;
use std::path::{Path, PathBuf};
use study::stack::{CacheKind, DiskCache};
use tools::Invocation;

/// Names of the volume and of its cache in their group.
const VOLUME: &str = "data";
const FAST: &str = "fast";

/// A cached volume.
#[derive(Debug)]
pub(crate) struct CachedVolume {
    pub(crate) cache: DiskCache,
    pub(crate) group: String,
    /// The array, and the disk of the cache.
    pub(crate) devices: [PathBuf; 2],
    /// udev creates the device nodes.
    pub(crate) udev: bool,
}

/// Name of a stack's volume group.
pub(crate) fn group_of(stack: &str) -> String {
    format!("{}-cache", lvm::group_of(stack))
}

impl CachedVolume {
    /// That of a stack, on an array and the disk of the cache.
    pub(crate) fn of(cache: DiskCache, stack: &str, on: [&Path; 2], executor: &mut dyn Executor) -> Self {
        Self {
            cache,
            group: group_of(stack),
            devices: on.map(Path::to_owned),
            udev: lvm::udev_runs(executor),
        }
    }

    pub(crate) fn node(&self) -> PathBuf {
        Path::new("/dev").join(&self.group).join(VOLUME)
    }

    /// The group, its volumes, and the cache on the volume.
    pub(crate) fn creation(&self) -> [Invocation; 4] {
        let [array, disk] = &self.devices;
        let group = self.call("vgcreate").arg("--yes").arg(&self.group).args(&self.devices);
        let volume = |name: &str, device: &Path| {
            let call = self
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
                .arg(&self.group)
                .arg(device)
        };
        let kind = self.cache.kind.lvm_type().unwrap_or_default();
        let convert = self
            .call("lvconvert")
            .args(["--yes", "--type", kind, "--cachevol", FAST]);
        let convert = match self.cache.kind {
            CacheKind::DmCache if self.cache.writeback => convert.args(["--cachemode", "writeback"]),
            CacheKind::DmCache => convert.args(["--cachemode", "writethrough"]),
            _ => convert,
        };
        let convert = convert.arg(format!("{}/{VOLUME}", self.group));
        [group, volume(FAST, disk), volume(VOLUME, array), convert]
    }

    /// Makes the volume available.
    pub(crate) fn activation(&self) -> Invocation {
        self.call("vgchange")
            .args(["--yes", "--activate", "y"])
            .arg(&self.group)
    }

    fn call(&self, command: &str) -> Invocation {
        lvm::call_with(command, &self.devices, self.udev, lvm::ON_ANY_DEVICE)
    }
}
