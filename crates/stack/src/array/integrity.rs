//! dm-integrity between a disk and md: how integritysetup is called, and how it is undone.

use crate::machine::access::Access;
use crate::machine::device::BlockDevice;
use crate::machine::device_mapper;
use crate::machine::error::Cause;
use std::path::Path;
use std::time::Duration;
use study::stack::{Integrity, IntegrityMode};
use tools::{Invocation, Tool};

/// The type of its superblock in wipefs.
pub(crate) const SIGNATURE: &str = "DM_integrity";

/// Prefix of the devices that integritysetup creates while it formats.
const TEMPORARY: &str = "temporary-cryptsetup-";

/// Space that mdadm may leave free before the data: 128 MiB, and some for superblock and bitmap.
const BEFORE_DATA_BYTES: u64 = 136 << 20;

/// Superblocks and bitmaps of metadata 0.90 and 1.0.
const END_BYTES: u64 = 2 << 20;
const SECTOR_BYTES: u64 = 512;

/// Large disks take hours.
const TO_WRITE: Duration = Duration::from_secs(7 * 24 * 3600);

/// A disk and the dm-integrity device on it, which is md's member.
#[derive(Clone, Debug)]
pub(crate) struct Checksummed {
    pub(crate) disk: BlockDevice,
    pub(crate) device: BlockDevice,
    /// Its device-mapper name.
    pub(crate) name: String,
    pub(crate) mode: IntegrityMode,
}

/// Name of the device on the disk with this index.
pub(crate) fn name_of(stack: &str, number: usize) -> String {
    format!("{stack}-integrity-{number}")
}

/// Writes the superblock; with `wipe` also zeros with checksums to the whole disk.
pub(crate) fn format(disk: &Path, wipe: bool) -> Invocation {
    let call = call("format").arg("--batch-mode");
    let call = if wipe { call } else { call.arg("--no-wipe") };
    call.limit(TO_WRITE).args(["--integrity", "crc32c"]).arg(disk)
}

pub(crate) fn open(disk: &Path, name: &str, integrity: Integrity) -> Invocation {
    let mode = match integrity.mode {
        IntegrityMode::Journal => None,
        IntegrityMode::Bitmap => Some("--integrity-bitmap-mode"),
        IntegrityMode::Direct => Some("--integrity-no-journal"),
    };
    call("open")
        .args(["--integrity", "crc32c"])
        .args(mode)
        .arg(disk)
        .arg(name)
}

pub(crate) fn close(name: &str) -> Invocation {
    call("close").arg(name)
}

/// Writes the contents of the journals to their places. dm-integrity keeps a copy of the journal in memory and
/// answers reads from it; suspending a device empties the journal.
pub(crate) fn empty_journals(checksummed: &[Checksummed], access: &mut Access<'_>) -> Result<(), Cause> {
    let has_journal = |member: &&Checksummed| member.mode == IntegrityMode::Journal;
    for member in checksummed.iter().filter(has_journal) {
        for command in ["suspend", "resume"] {
            let call = Invocation::new(Tool::Dmsetup).arg(command).arg(&member.name);
            access.run(&call, &[&member.disk.path])?;
        }
    }
    Ok(())
}

fn call(command: &str) -> Invocation {
    Invocation::new(Tool::Integritysetup).arg(command)
}

/// Bytes from the start of a member that md may use.
pub(crate) const fn used_bytes(member_size_bytes: u64, device_bytes: u64) -> u64 {
    let used = member_size_bytes.saturating_add(BEFORE_DATA_BYTES);
    if used < device_bytes { used } else { device_bytes }
}

/// The parts of a device to be written, as offset and length: the part that md may use, and the end, where mdadm
/// looks for superblocks. If the end of a member cannot be read, mdadm finds no superblock there.
pub(crate) fn parts_written(member_size_bytes: u64, device_bytes: u64) -> Vec<(u64, u64)> {
    let used = used_bytes(member_size_bytes, device_bytes);
    let end = device_bytes.saturating_sub(END_BYTES) / SECTOR_BYTES * SECTOR_BYTES;
    match end > used {
        true => vec![(0, used), (end, device_bytes - end)],
        false => vec![(0, device_bytes)],
    }
}

/// Writes zeros with their checksums, and discards nothing. `--force` because it would otherwise first look for
/// existing data, which it cannot read.
pub(crate) fn zero(node: &Path, (at, bytes): (u64, u64)) -> Invocation {
    Invocation::new(Tool::Blkdiscard)
        .args(["--force", "--zeroout", "--offset"])
        .arg(at.to_string())
        .arg("--length")
        .arg(bytes.to_string())
        .arg(node)
        .limit(TO_WRITE)
}

/// Closes the device with this name on the disk, and those that a killed integritysetup left on it.
pub(crate) fn close_on(disk: &Path, name: &str, access: &mut Access<'_>) -> Result<(), Cause> {
    if !access.executor.exists(disk) {
        return Ok(());
    }
    let kernel_name = access.executor.device(disk)?.kernel_name;
    let list = Invocation::new(Tool::Dmsetup).args(["ls", "--target", "integrity"]);
    let listed = access.ask(&list)?.stdout;
    let names = listed.lines().filter_map(|line| line.split_whitespace().next());
    for found in names.filter(|found| *found == name || found.starts_with(TEMPORARY)) {
        if !device_mapper::is_only_on(found, &kernel_name, access)? {
            continue;
        }
        let call = match found == name {
            true => close(found),
            // integritysetup closes only devices that it opened by name.
            false => Invocation::new(Tool::Dmsetup).args(["remove", "--retry", found]),
        };
        access.run(&call, &[disk])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_md_uses_is_written_and_the_end() {
        let mebibytes = |parts: Vec<(u64, u64)>| -> Vec<_> {
            parts.into_iter().map(|(at, bytes)| (at >> 20, bytes >> 20)).collect()
        };
        assert_eq!(mebibytes(parts_written(64 << 20, 1000 << 20)), [(0, 200), (998, 2)]);
        assert_eq!(mebibytes(parts_written(64 << 20, 201 << 20)), [(0, 201)]);
        assert_eq!(mebibytes(parts_written(64 << 20, 100 << 20)), [(0, 100)]);
    }
}
