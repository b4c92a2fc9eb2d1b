//! Rules of md's tunables: stripe cache and threads of parity levels, chunk of the bitmap, write-mostly members, speed of
//! resync.

use crate::rules::consistency::is_md_with_parity;
use crate::rules::impossible::{Impossible, impossible};
use crate::rules::md_geometry::{active_disks, capacity, has_redundancy, headroom};
use crate::syntax::unit::{describe_size, format_size};
use study::stack::{ArraySpec, Bitmap, Level, MachineSpec, Members};

const KIB: u64 = 1 << 10;
const GIB: u64 = 1 << 30;

pub(crate) fn check(array: &ArraySpec, machine: &MachineSpec, disk_bytes: Option<u64>) -> Vec<Impossible> {
    let disks = machine.member_count(array);
    let mut all = parity(array);
    all.extend(bitmap_chunk(array));
    all.extend(bitmap_space(array, disks, disk_bytes));
    all.extend(write_mostly(array, disks));
    all.extend(write_behind(array));
    all.extend(sync_speed(array));
    all
}

/// Settings that only levels with parity have.
fn parity(array: &ArraySpec) -> Vec<Impossible> {
    let name = array.level.facts().name;
    let settings = [
        (
            array.stripe_cache_pages.is_some(),
            &["stripe_cache", "level"],
            "stripe cache",
            "one",
        ),
        (
            array.group_thread_cnt.is_some(),
            &["group_thread_cnt", "level"],
            "threads for stripes",
            "them",
        ),
        (array.rmw_level.is_some(), &["rmw_level", "level"], "`rmw_level`", "one"),
        (array.skip_copy.is_some(), &["skip_copy", "level"], "`skip_copy`", "one"),
    ];
    let refuse = |(_, about, what, one): (bool, &[&'static str; 2], &str, &str)| {
        let reason = format!("{name} has no {what}: only RAID 4, 5 and 6 have {one}");
        impossible(about, reason, format!("leave `{}` out", about[0]))
    };
    let given = settings
        .into_iter()
        .filter(|(given, ..)| *given && !is_md_with_parity(array.level));
    given.filter_map(refuse).collect()
}

/// Rejects a bitmap setting for an array without a bitmap.
fn needs_bitmap(array: &ArraySpec, about: &'static [&'static str]) -> Option<Impossible> {
    if array.bitmap != Bitmap::None {
        return None;
    }
    let (key, leave_out) = (about[0], format!("leave `{}` out", about[0]));
    if !has_redundancy(array.level, array.of.as_ref()) {
        let reason = format!("{} has no bitmap of md", array.level.facts().name);
        return impossible(about, reason, leave_out);
    }
    let reason = format!("`{key}` needs a bitmap, and the array has none");
    match array.write_journal || array.ppl {
        true => impossible(about, reason, leave_out),
        false => impossible(about, reason, "write bitmap = \"internal\""),
    }
}

fn bitmap_chunk(array: &ArraySpec) -> Option<Impossible> {
    array.bitmap_chunk_bytes?;
    needs_bitmap(array, &["bitmap_chunk", "bitmap", "level"])
}

/// An internal bitmap has limited space on each member, and therefore a limited number of chunks.
fn bitmap_space(array: &ArraySpec, disks: u32, disk_bytes: Option<u64>) -> Option<Impossible> {
    let chunk = array.bitmap_chunk_bytes?;
    if array.bitmap != Bitmap::Internal || array.of.is_some() || !has_redundancy(array.level, None) {
        return None;
    }
    let member = array.member_size_bytes.or(disk_bytes)?;
    let used = array
        .member_size_bytes
        .unwrap_or_else(|| member.saturating_sub(headroom(member)));
    let covered = match array.level.facts().data {
        Members::Copies => capacity(array, disks, Some(used))?,
        _ => used,
    };
    let space = bitmap_space_bytes(array, member);
    let least = bitmap_chunk_min(covered, space);
    if chunk >= least {
        return None;
    }
    let reason = format!(
        "a bitmap with a chunk of {} does not fit on the members: mdadm reserves {} for it",
        describe_size(chunk),
        describe_size(space)
    );
    impossible(
        &["bitmap_chunk", "size", "model"],
        reason,
        format!("write bitmap_chunk = \"{}\" or more", format_size(least)),
    )
}

/// Space that mdadm reserves for an internal bitmap on a member of this size.
fn bitmap_space_bytes(array: &ArraySpec, member_bytes: u64) -> u64 {
    match member_bytes {
        _ if array.metadata.as_deref() == Some("0.90") => 60 * KIB,
        bytes if bytes >= 200 * GIB => 128 * KIB,
        bytes if bytes > 8 * GIB => 64 * KIB,
        _ => 4 * KIB,
    }
}

/// The smallest chunk with which a bitmap for this many bytes fits into the space.
fn bitmap_chunk_min(covered_bytes: u64, space_bytes: u64) -> u64 {
    const SUPERBLOCK_BYTES: u64 = 256;
    let bits_max = (space_bytes - SUPERBLOCK_BYTES) * 8;
    let mut chunk = 4 * KIB;
    while covered_bytes / chunk + 1 > bits_max {
        chunk *= 2;
    }
    chunk
}

fn write_mostly(array: &ArraySpec, disks: u32) -> Option<Impossible> {
    const ABOUT: &[&str] = &["write_mostly", "level", "spares", "count", "of_disks"];
    let marked = array.write_mostly?;
    if array.level != Level::Raid1 {
        return only_raid1(array, ABOUT, "write-mostly members");
    }
    if array.spares > 0 {
        let reason = "mdadm would make the hot spares write-mostly, too".to_owned();
        return impossible(ABOUT, reason, "leave `write_mostly` or `spares` out");
    }
    let members = match array.of.filter(|of| of.disks > 0) {
        Some(of) => disks / of.disks,
        None => active_disks(array, disks),
    };
    // The rules of arrays report too few members.
    if marked < members || members < array.level.facts().members_min {
        return None;
    }
    let reason = format!("`write_mostly` is {marked}, but one of the {members} members must be left for reads");
    impossible(ABOUT, reason, format!("write write_mostly = {} or less", members - 1))
}

fn only_raid1(array: &ArraySpec, about: &'static [&'static str], what: &str) -> Option<Impossible> {
    let name = array.level.facts().name;
    let reason = format!("{name} has no {what}: only md's RAID 1 has");
    impossible(about, reason, format!("leave `{}` out", about[0]))
}

fn write_behind(array: &ArraySpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["write_behind", "write_mostly", "bitmap", "level"];
    array.write_behind?;
    if array.level != Level::Raid1 {
        return only_raid1(array, ABOUT, "write-behind");
    }
    if array.write_mostly.is_none() {
        let reason = "write-behind applies to write-mostly members, and there are none".to_owned();
        return impossible(ABOUT, reason, "add write_mostly = 1");
    }
    needs_bitmap(array, ABOUT)
}

fn sync_speed(array: &ArraySpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["sync_speed_min", "sync_speed_max", "level"];
    let (min, max) = (array.sync_speed_min, array.sync_speed_max);
    min.or(max)?;
    if !has_redundancy(array.level, array.of.as_ref()) {
        let reason = format!("{} has no resync of md", array.level.facts().name);
        return impossible(ABOUT, reason, "leave `sync_speed_min` and `sync_speed_max` out");
    }
    let (min, max) = min.zip(max).filter(|(min, max)| min > max)?;
    let reason = format!("`sync_speed_min` ({min}) is larger than `sync_speed_max` ({max})");
    impossible(ABOUT, reason, format!("write sync_speed_min = {max} or less"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These are the values of mdadm 4.2, which rejects half of each.
    #[test]
    fn larger_members_need_larger_chunks() {
        let of = |bytes| {
            let space = bitmap_space_bytes(&ArraySpec::default(), bytes);
            bitmap_chunk_min(bytes, space) / KIB
        };
        assert_eq!(of(100 << 20), 4);
        assert_eq!(of(GIB), 64);
        assert_eq!(of(100 * GIB), 256);
        assert_eq!(of(12_000_000_000_000), 16 << 10);
    }
}
