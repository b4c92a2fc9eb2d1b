//! Rules of md's geometry: levels, disks, chunks, layouts, sizes.

use crate::rules::impossible::{Impossible, impossible};
use crate::syntax::unit::{describe_size, format_size};
use study::stack::{ArraySpec, Bitmap, InnerArray, Level, MachineSpec, Members};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

/// Whether consecutive chunks are on different disks.
pub(crate) fn is_striped(array: &ArraySpec) -> bool {
    array.level.facts().has_chunk || array.of.is_some_and(|of| of.level.facts().has_chunk)
}

/// Copies in a RAID 10 layout in md's notation.
fn raid10_copies(layout: Option<&str>) -> Option<u32> {
    let layout = layout.unwrap_or("n2");
    let copies = layout.strip_prefix(['n', 'f', 'o'])?;
    copies
        .parse()
        .ok()
        .filter(|copies| (2..=16).contains(copies) && !layout[1..].starts_with(['0', '+']))
}

const PARITY_LAYOUTS: &[&str] = &[
    "left-symmetric",
    "left-asymmetric",
    "right-symmetric",
    "right-asymmetric",
    "parity-first",
    "parity-last",
];

/// Active members: all disks except hot spares; one for a single disk.
pub(crate) fn active_disks(array: &ArraySpec, disks: u32) -> u32 {
    if array.level == Level::Single {
        1
    } else {
        disks.saturating_sub(array.spares)
    }
}

/// Approximate capacity of the array in bytes; unknown if the disks' size is.
pub(crate) fn capacity(array: &ArraySpec, disks: u32, disk_bytes: Option<u64>) -> Option<u64> {
    let member = array.member_size_bytes.or(disk_bytes)?;
    let Some(of) = array.of.filter(|of| of.disks > 0) else {
        let layout = array.layout.as_deref();
        return Some(offered(array.level, active_disks(array, disks), layout, member));
    };
    let inner = offered(of.level, of.disks, None, member);
    Some(offered(array.level, disks / of.disks, array.layout.as_deref(), inner))
}

fn offered(level: Level, active: u32, layout: Option<&str>, member_bytes: u64) -> u64 {
    let active = u64::from(active);
    let members = match level.facts().data {
        Members::One => 1,
        Members::All => active,
        Members::AllBut(parity) => active.saturating_sub(u64::from(parity)),
        Members::Halves => active / 2,
        Members::Copies => {
            let copies = raid10_copies(layout).unwrap_or(2);
            return member_bytes.saturating_mul(active) / u64::from(copies);
        }
    };
    member_bytes.saturating_mul(members)
}

/// Whether mdadm adds a bitmap by default.
pub(crate) fn default_bitmap(level: Level, of: Option<&InnerArray>, member_bytes: Option<u64>) -> Bitmap {
    let large = member_bytes.is_none_or(|bytes| bytes > ArraySpec::MEMBER_BYTES_WITHOUT_BITMAP);
    if has_redundancy(level, of) && large {
        Bitmap::Internal
    } else {
        Bitmap::None
    }
}

/// Whether md keeps copies or parity, in the outer array or an inner one, so that it supports a bitmap and resyncs.
pub(crate) fn has_redundancy(level: Level, of: Option<&InnerArray>) -> bool {
    level.is_md() && (level.is_redundant() || of.is_some_and(|of| of.level.is_redundant()))
}

/// All reasons why the array is impossible.
pub(crate) fn check(array: &ArraySpec, machine: &MachineSpec, disk_bytes: Option<u64>) -> Vec<Impossible> {
    let disks = machine.member_count(array);
    let mut all = Vec::new();
    all.extend(members(array, disks));
    all.extend(level_has_none(array));
    all.extend(layout(array, disks));
    all.extend(metadata(array, disks, disk_bytes));
    all.extend(member_size(array, disk_bytes));
    all
}

fn members(array: &ArraySpec, disks: u32) -> Option<Impossible> {
    let name = array.level.facts().name;
    let least = array.level.facts().members_min;
    // A filesystem that uses all disks has its own rule.
    if array.spares > 0 && !array.level.is_redundant() && array.level != Level::None {
        let reason = format!("{name} has no hot spares");
        return impossible(&["spares", "level"], reason, "leave `spares` out");
    }
    if let Some(of) = array.of.filter(|of| of.disks > 0) {
        let members = disks / of.disks;
        if members >= least {
            return None;
        }
        let reason = format!("{name} needs at least {least} members, but {disks} disks make only {members}");
        let help = format!("write `count = {}` in [disks]", least * of.disks);
        return impossible(&["level", "count", "of_disks"], reason, help);
    }
    if array.level == Level::LvmRaid10 && disks >= least && !disks.is_multiple_of(2) {
        let reason = format!("{name} needs an even number of disks, but there are {disks}");
        return impossible(
            &["level", "count"],
            reason,
            format!("write `count = {}` in [disks]", disks + 1),
        );
    }
    let active = active_disks(array, disks);
    if active >= least {
        return None;
    }
    let there = if active == 1 {
        "there is 1".to_owned()
    } else {
        format!("there are {active}")
    };
    let besides = match array.spares {
        0 => String::new(),
        1 => ", not counting the hot spare".to_owned(),
        spares => format!(", not counting {spares} hot spares"),
    };
    let reason = format!("{name} needs at least {least} disks, but {there}{besides}");
    let help = format!("write `count = {}` in [disks]", least + array.spares);
    impossible(&["level", "count", "spares"], reason, help)
}

fn level_has_none(array: &ArraySpec) -> Vec<Impossible> {
    let name = array.level.facts().name;
    let mut all = Vec::new();
    if array.chunk_bytes.is_some() && !array.level.facts().has_chunk {
        let help = "leave `chunk` out, or add \"default\" to its values";
        all.extend(impossible(&["chunk", "level"], format!("{name} has no chunk"), help));
    }
    // The rules of LVM report this for its levels.
    if array.bitmap != Bitmap::None && !array.level.is_lvm() && !has_redundancy(array.level, array.of.as_ref()) {
        let reason = format!("{name} has no redundancy and so no bitmap");
        all.extend(impossible(&["bitmap", "level"], reason, "write bitmap = \"none\""));
    }
    if array.metadata.is_some() && !array.level.is_md() {
        let reason = format!("{name} does not use md and has no md superblock");
        all.extend(impossible(&["metadata", "level"], reason, "leave `metadata` out"));
    }
    all
}

fn layout(array: &ArraySpec, disks: u32) -> Option<Impossible> {
    let layout = array.layout.as_deref()?;
    let about: &[_] = &["layout", "level"];
    let name = array.level.facts().name;
    let facts = array.level.facts();
    match facts.data {
        Members::Copies => {
            let Some(copies) = raid10_copies(Some(layout)) else {
                let help = "write n2 (near), f2 (far) or o2 (offset), with the number of copies";
                return impossible(about, format!("RAID 10 has no layout `{layout}`"), help);
            };
            let active = active_disks(array, disks);
            if copies <= active {
                return None;
            }
            let reason = format!("the layout `{layout}` keeps {copies} copies, and there are {active} disks");
            impossible(
                &["layout", "count", "spares", "level"],
                reason,
                format!("write {}2", &layout[..1]),
            )
        }
        _ if facts.has_parity_layouts && PARITY_LAYOUTS.contains(&layout) => None,
        _ if facts.has_parity_layouts => {
            let help = crate::syntax::diagnostic::suggest(layout, PARITY_LAYOUTS);
            impossible(about, format!("{name} has no layout `{layout}`"), help)
        }
        _ => impossible(about, format!("{name} has only one layout"), "leave `layout` out"),
    }
}

fn metadata(array: &ArraySpec, disks: u32, disk_bytes: Option<u64>) -> Option<Impossible> {
    if array.metadata.as_deref() != Some("0.90") || !array.level.is_md() {
        return None;
    }
    if array.level == Level::Raid0 {
        let reason =
            "mdadm creates no RAID 0 with metadata 0.90: the superblock cannot store the layout".to_owned();
        return impossible(&["metadata", "level"], reason, "write metadata = \"1.2\"");
    }
    if disks > 27 {
        let reason = format!("metadata 0.90 supports at most 27 disks, and there are {disks}");
        return impossible(&["metadata", "count"], reason, "write metadata = \"1.2\"");
    }
    let member = array.member_size_bytes.or(disk_bytes)?;
    if member <= 4 * TIB {
        return None;
    }
    let reason = format!(
        "metadata 0.90 supports members up to 4 TiB, and these have {}",
        describe_size(member)
    );
    impossible(
        &["metadata", "size", "model"],
        reason,
        "write metadata = \"1.2\", or a `size` of 4T at most",
    )
}

/// Space for superblock and bitmap, and the space that mdadm reserves before the data for reshapes.
pub(crate) fn headroom(disk_bytes: u64) -> u64 {
    (disk_bytes / 1024).min(128 * MIB) + 8 * MIB
}

fn member_size(array: &ArraySpec, disk_bytes: Option<u64>) -> Vec<Impossible> {
    let Some(size) = array.member_size_bytes else {
        return Vec::new();
    };
    let name = array.level.facts().name;
    let mut all = Vec::new();
    if !array.level.facts().takes_member_size {
        let reason = format!("{name} uses all of every disk");
        all.extend(impossible(&["size", "level"], reason, "leave `size` out"));
    }
    if let Some(chunk) = array.chunk_bytes.filter(|chunk| *chunk > size) {
        let reason = format!(
            "the chunk ({}) is larger than the member ({})",
            format_size(chunk),
            format_size(size)
        );
        all.extend(impossible(&["chunk", "size"], reason, "write a smaller chunk"));
    }
    let Some(disk) = disk_bytes else { return all };
    let headroom = headroom(disk);
    let step = if disk > 64 * GIB { GIB } else { MIB };
    let most = disk.saturating_sub(headroom) / step * step;
    if size > disk {
        let (size, disk) = (describe_size(size), describe_size(disk));
        let reason = format!("the member size ({size}) is larger than the disk ({disk})");
        all.extend(impossible(
            &["size", "model"],
            reason,
            format!("{} or less", format_size(most)),
        ));
    } else if size > disk.saturating_sub(headroom) {
        let reason = format!(
            "a member of {} leaves no space on the disk for md's metadata",
            describe_size(size)
        );
        all.extend(impossible(
            &["size", "model"],
            reason,
            format!("{} or less", format_size(most)),
        ));
    }
    all
}
