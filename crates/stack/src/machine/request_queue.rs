//! The request queues of members and array: I/O scheduler and read-ahead.

use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::executor::{Executor, read_number};
use std::path::{Path, PathBuf};

/// The kernel's unit of read-ahead is the page.
const SECTORS_OF_A_PAGE: u64 = 8;

const NO_SCHEDULER: &str = "none";

pub(crate) fn scheduler_attribute(device: &BlockDevice) -> PathBuf {
    device.queue().join("scheduler")
}

pub(crate) fn read_ahead_attribute(device: &BlockDevice) -> PathBuf {
    device.queue().join("read_ahead_kb")
}

/// The scheduler in use, out of `none [mq-deadline] kyber`. Devices without requests (zram, pmem, brd) have no such
/// attribute in newer kernels, and no scheduler.
pub(crate) fn scheduler(device: &BlockDevice, executor: &mut dyn Executor) -> Result<String, Cause> {
    let attribute = scheduler_attribute(device);
    if !executor.exists(&attribute) {
        return Ok(NO_SCHEDULER.to_owned());
    }
    let line = executor.read(&attribute)?;
    Ok(in_use(&line).to_owned())
}

/// A queue without a choice shows one word without brackets.
pub(crate) fn in_use(line: &str) -> &str {
    let bracketed = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(line, |(name, _)| name)
}

/// An error for a device whose kernel offers no choice.
pub(crate) fn check_choice(device: &BlockDevice, name: &str, executor: &mut dyn Executor) -> Result<(), Cause> {
    match executor.exists(&scheduler_attribute(device)) {
        true => Ok(()),
        false => Err(Cause::Impossible(format!(
            "{} has no I/O scheduler `{name}`; it has none at all",
            device.kernel_name
        ))),
    }
}

/// Sets the scheduler. The kernel may load its module, so the list of schedulers is only complete after an error.
pub(crate) fn set_scheduler(device: &BlockDevice, name: &str, executor: &mut dyn Executor) -> Result<(), Cause> {
    let attribute = scheduler_attribute(device);
    if executor.write(&attribute, name).is_err() {
        let offered = executor.read(&attribute)?.replace(['[', ']'], "").replace(' ', ", ");
        let device = &device.kernel_name;
        return Err(Cause::Impossible(format!(
            "{device} has no I/O scheduler `{name}`; it has {offered}"
        )));
    }
    let got = scheduler(device, executor)?;
    if got == name {
        return Ok(());
    }
    Err(Cause::Setting {
        what: format!("the I/O scheduler of {}", device.kernel_name),
        wanted: name.into(),
        got,
    })
}

/// The attribute with the queue depth of a SCSI disk, or of an ATA disk behind libata.
pub(crate) fn depth_attribute(device: &BlockDevice, executor: &mut dyn Executor) -> Option<PathBuf> {
    let attribute = device.queue().join("../device/queue_depth");
    executor.exists(&attribute).then_some(attribute)
}

/// The attribute for the disk's own write cache (SCSI's caching mode page; libata translates it to the ATA command).
pub(crate) fn cache_type_attribute(device: &BlockDevice, executor: &mut dyn Executor) -> Option<PathBuf> {
    let disks = executor.entries(&device.queue().join("../device/scsi_disk")).ok()?;
    let mut attributes = disks.iter().map(|disk| disk.join("cache_type"));
    attributes.find(|path| executor.exists(path))
}

/// Whether the kernel treats the disk's write cache as volatile and enabled.
pub(crate) fn write_cache(device: &BlockDevice, executor: &mut dyn Executor) -> Result<bool, Cause> {
    Ok(executor.read(&device.queue().join("write_cache"))? == "write back")
}

/// Read-ahead in the unit of its attribute.
pub(crate) fn kibibytes_of(sectors: u64) -> Result<u64, Cause> {
    if !sectors.is_multiple_of(SECTORS_OF_A_PAGE) {
        let reason =
            format!("a read-ahead of {sectors} sectors is not a multiple of a page ({SECTORS_OF_A_PAGE} sectors)");
        return Err(Cause::Impossible(reason));
    }
    Ok(sectors / 2)
}

pub(crate) fn set_read_ahead(attribute: &Path, sectors: u64, executor: &mut dyn Executor) -> Result<(), Cause> {
    let wanted = kibibytes_of(sectors)?;
    executor.write(attribute, &wanted.to_string())?;
    let got = read_number(executor, attribute)?;
    if got == wanted {
        return Ok(());
    }
    let what = format!("the read-ahead in {}", attribute.display());
    Err(Cause::Setting {
        what,
        wanted: format!("{wanted} KiB"),
        got: format!("{got} KiB"),
    })
}

/// The read-ahead attribute of the btrfs that is mounted from this device.
pub(crate) fn btrfs_read_ahead_attribute(
    device: &BlockDevice,
    executor: &mut dyn Executor,
) -> Result<PathBuf, Cause> {
    let folders = executor.entries(Path::new("/sys/fs/btrfs"))?;
    folders
        .iter()
        .find(|folder| executor.exists(&folder.join("devices").join(&device.kernel_name)))
        .map(|folder| folder.join("bdi/read_ahead_kb"))
        .ok_or_else(|| Cause::State(format!("no btrfs in /sys/fs/btrfs is on {}", device.kernel_name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::executor::System;
    use tools::Tools;

    #[test]
    fn finds_the_scheduler_in_use() {
        assert_eq!(in_use("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(in_use("[none]"), "none");
        assert_eq!(in_use("none"), "none");
    }

    #[test]
    fn a_device_without_the_attribute_has_no_scheduler() {
        let mut tools = Tools::find(&[]).unwrap();
        let mut machine = System::new(&mut tools);
        // Its folder does not exist, so its attributes do not either.
        let zram = BlockDevice::simulated(Path::new("/dev/zram0"), Path::new("/nowhere/zram0"));
        assert_eq!(scheduler(&zram, &mut machine).unwrap(), "none");
        let refused = check_choice(&zram, "bfq", &mut machine).unwrap_err().to_string();
        assert!(refused.contains("zram0 has no I/O scheduler `bfq`"), "{refused}");
    }

    #[test]
    fn read_ahead_is_whole_pages() {
        assert_eq!(kibibytes_of(65_536).expect("pages"), 32_768);
        assert_eq!(kibibytes_of(0).expect("off"), 0);
        assert!(kibibytes_of(12).is_err());
    }
}
