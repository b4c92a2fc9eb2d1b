//! bcache on a device: how bcache-tools are called, and the kernel's files in /sys.

use crate::machine::access::Access;
use crate::machine::error::Cause;
use crate::machine::executor::Executor;
use crate::machine::request_queue::in_use;
use crate::setup::undo::{Undoing, wipe};
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::stack::DiskCache;
use tools::{Invocation, Tool};

/// The type of its superblock in wipefs.
pub(crate) const SIGNATURE: &str = "bcache";

/// A device that is registered already, by udev, is no error.
pub(crate) const REGISTER: &str = "/sys/fs/bcache/register_quiet";

/// Writes both superblocks.
pub(crate) fn format(backing: &Path, cache: &Path, set: &str) -> Invocation {
    Invocation::new(Tool::MakeBcache)
        .args(["--wipe-bcache", "--cset-uuid", set])
        .arg("--cache")
        .arg(cache)
        .arg("--bdev")
        .arg(backing)
}

/// Has the kernel bring the device up; returns its node.
pub(crate) fn start(
    backing: &Path,
    cache: &Path,
    spec: DiskCache,
    executor: &mut dyn Executor,
) -> Result<PathBuf, Cause> {
    for device in [cache, backing] {
        let text = device.to_string_lossy().into_owned();
        executor.write(Path::new(REGISTER), &text)?;
    }
    let folder = executor.device(backing)?.sysfs.join("bcache");
    let event = folder.join("dev/uevent");
    let mut tries_left = 100;
    while !executor.exists(&event) && tries_left > 0 {
        executor.sleep(Duration::from_millis(100));
        tries_left -= 1;
    }
    let shown = executor.read(&event)?;
    let name = shown.lines().find_map(|line| line.strip_prefix("DEVNAME="));
    let name = name.ok_or_else(|| Cause::State(format!("{} names no device: {shown}", event.display())))?;
    let mode = if spec.writeback { "writeback" } else { "writethrough" };
    executor.write(&folder.join("cache_mode"), mode)?;
    let has = executor.read(&folder.join("cache_mode"))?;
    if in_use(&has) != mode {
        return Err(Cause::Setting {
            what: format!("cache_mode of {name}"),
            wanted: mode.to_owned(),
            got: has,
        });
    }
    Ok(Path::new("/dev").join(name))
}

/// Stops the device on `backing` and its cache set, if they are up: what the cache has not written back stays in it.
pub(crate) fn stop(backing: &Path, set: &str, executor: &mut dyn Executor) -> Result<(), Cause> {
    if !executor.exists(backing) {
        return Ok(());
    }
    let of_device = executor.device(backing)?.sysfs.join("bcache");
    let of_set = Path::new("/sys/fs/bcache").join(set);
    stop_those(executor, |executor| {
        let folders = [&of_device, &of_set].into_iter();
        Ok(folders.filter(|folder| executor.exists(folder)).cloned().collect())
    })
}

/// Stops every bcache device and cache set of the machine.
pub(crate) fn stop_all(executor: &mut dyn Executor) -> Result<(), Cause> {
    stop_those(executor, devices_and_sets)
}

/// Stops the devices and sets with these folders in /sys, and waits until they are gone.
fn stop_those(
    executor: &mut dyn Executor,
    left: impl Fn(&mut dyn Executor) -> Result<Vec<PathBuf>, Cause>,
) -> Result<(), Cause> {
    let mut up = left(executor)?;
    for folder in &up {
        // A set may end with its device.
        if executor.exists(folder) {
            executor.write(&folder.join("stop"), "1")?;
        }
    }
    for _ in 0..600 {
        if up.is_empty() {
            return Ok(());
        }
        executor.sleep(Duration::from_millis(100));
        up = left(executor)?;
    }
    Err(Cause::State(format!("{} does not stop", up[0].display())))
}

/// Folders in /sys, devices first: a set waits for its devices.
fn devices_and_sets(executor: &mut dyn Executor) -> Result<Vec<PathBuf>, Cause> {
    let is_device = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with("bcache")
    };
    let devices = executor.entries(Path::new("/sys/block"))?;
    let devices = devices.into_iter().filter(is_device);
    let sets = executor.entries(Path::new("/sys/fs/bcache"))?;
    let is_set = |path: &PathBuf| path.file_name().is_some_and(|name| name.len() == UUID_LENGTH);
    let folders = devices.map(|device| device.join("bcache"));
    Ok(folders.chain(sets.into_iter().filter(is_set)).collect())
}

/// `3c9d8f3e-…`: the name of a set's folder.
const UUID_LENGTH: usize = 36;

/// Undoes [`start`] and [`format`]: superblocks of another set are left.
pub(crate) fn stop_and_wipe(
    backing: &Path,
    cache: &Path,
    set: &str,
    access: &mut Access<'_>,
) -> Result<Undoing, Cause> {
    stop(backing, set, access.executor)?;
    for device in [backing, cache] {
        if !access.executor.exists(device) {
            continue;
        }
        let shown = access.ask(&Invocation::new(Tool::BcacheSuperShow).arg("-f").arg(device));
        // It fails on a device without a superblock.
        if shown.is_ok_and(|shown| is_of(&shown.stdout, set)) {
            wipe(device, SIGNATURE, access)?;
        }
    }
    Ok(Undoing::Undone)
}

/// Whether a superblock is of this cache set: `cset.uuid\t\t3c9d…`
fn is_of(shown: &str, set: &str) -> bool {
    let uuid = shown.lines().find_map(|line| line.strip_prefix("cset.uuid"));
    uuid.is_some_and(|uuid| uuid.trim().eq_ignore_ascii_case(set))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_superblock_names_its_set() {
        let shown = "sb.magic\t\tok\ndev.uuid\t\taa\ncset.uuid\t\t0D6E-1\n";
        assert!(is_of(shown, "0d6e-1"));
        assert!(!is_of(shown, "aa"));
        assert!(!is_of("", "aa"));
    }
}
