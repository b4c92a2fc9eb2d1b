//! Rules of dm-integrity below md.

use crate::axes::Point;
use crate::rules::impossible::{Impossible, impossible};
use crate::rules::md_geometry::headroom;
use crate::syntax::unit::{describe_size, format_size};
use study::stack::{ArraySpec, Level, MachineKind, MachineSpec};

const MIB: u64 = 1 << 20;
/// Without `size` each disk is written completely, and the lab keeps all checksums in memory.
const WHOLE_DISK_MAX_BYTES: u64 = 8 << 30;

pub(crate) fn check(array: &ArraySpec, machine: &MachineSpec, disk_bytes: Option<u64>) -> Vec<Impossible> {
    if array.integrity.is_none() {
        return Vec::new();
    }
    if let Some(other) = not_md(array) {
        return vec![other];
    }
    let mut all = Vec::new();
    if let Some(disk) = disk_bytes {
        all.extend(size(array, disk));
        if machine.kind == MachineKind::Lab {
            all.extend(memory(array, disk));
        }
    }
    all
}

/// A mode without checksums.
pub(crate) fn mode_of_nothing(point: &Point) -> Option<Impossible> {
    if point.is_written("integrity") || point.text("integrity_mode").is_none() {
        return None;
    }
    let reason = "`integrity_mode` is how dm-integrity keeps checksums, and the array has none".to_owned();
    impossible(&["integrity_mode"], reason, "add integrity = \"crc32c\"")
}

fn not_md(array: &ArraySpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["integrity", "level"];
    if array.level.is_md() {
        return None;
    }
    let name = array.level.facts().name;
    let reason = match array.level {
        level if level.is_lvm() => {
            format!(
                "{name} has no md members that dm-integrity could be below; LVM's own integrity is not supported"
            )
        }
        Level::None => format!("{name} has no md: btrfs and ZFS have checksums of their own"),
        _ => format!("{name} has no md, which could repair what dm-integrity detects"),
    };
    impossible(
        ABOUT,
        reason,
        "leave `integrity` out, or use level 1, 4, 5, 6 or 10 of md",
    )
}

/// Size of a disk's journal: the kernel's default, which is also kept in memory.
pub(crate) fn journal_bytes(disk_bytes: u64) -> u64 {
    (disk_bytes / 128).min(64 * MIB)
}

/// Usable bytes of a disk for md: each 16 MiB have 128 KiB of checksums.
fn provided_bytes(disk_bytes: u64) -> u64 {
    let areas = (disk_bytes - journal_bytes(disk_bytes)) / (16 * MIB + 128 * 1024);
    areas * 16 * MIB
}

fn size(array: &ArraySpec, disk_bytes: u64) -> Option<Impossible> {
    let size = array.member_size_bytes?;
    let provided = provided_bytes(disk_bytes);
    let most = provided.saturating_sub(headroom(provided));
    // The array rules report sizes that are too large even without checksums.
    if size <= most || size > disk_bytes.saturating_sub(headroom(disk_bytes)) {
        return None;
    }
    let reason = format!(
        "a member of {} leaves no space on the disk for checksums",
        describe_size(size)
    );
    let help = format!("write size = \"{}\" or less", format_size(most / MIB * MIB));
    impossible(&["size", "integrity", "model"], reason, help)
}

fn memory(array: &ArraySpec, disk_bytes: u64) -> Option<Impossible> {
    if array.member_size_bytes.is_some() || disk_bytes <= WHOLE_DISK_MAX_BYTES {
        return None;
    }
    let reason = format!(
        "without `size`, dm-integrity writes the whole of each disk ({}), and the lab keeps all checksums in memory",
        describe_size(disk_bytes)
    );
    let help = match array.level.facts().takes_member_size {
        true => "write size = \"256M\"",
        false => "use disks of at most 8 GiB",
    };
    impossible(&["integrity", "size", "model"], reason, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On `wd-500gb-2007` the kernel provides 496,164,491,264 bytes, with a journal of 130,944 sectors.
    #[test]
    fn a_member_is_a_little_smaller_than_its_disk() {
        let provided = provided_bytes(500_107_862_016);
        assert!((496_164_491_264 - provided) < 16 * MIB, "{provided}");
        assert_eq!(journal_bytes(500_107_862_016), 64 * MIB);
    }
}
