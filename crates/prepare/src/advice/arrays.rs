//! Arrays that are probably not what was meant.

use study::plan::Cell;
use study::stack::{Level, Pool};

/// A mirror of this many disks is probably meant to be several mirrors.
const WIDE_MIRROR_DISKS: u32 = 4;

/// RAID 4 or 5 of two members: each parity block is a copy.
pub(super) fn two_disk_parity(cell: &Cell) -> Option<String> {
    let array = &cell.stack.array;
    let is_parity = matches!(array.level, Level::Raid4 | Level::Raid5) && array.of.is_none();
    let active = cell.member_count().saturating_sub(array.spares);
    (is_parity && active == 2).then(|| {
        "has two disks, so that its parity is a copy: it stores and survives what RAID 1 does, which reads from both; write \
         `level = 1`, or `count = 3` or more in [disks]"
            .to_owned()
    })
}

/// Write-mostly members that are as fast as the others.
pub(super) fn equal_write_mostly(cell: &Cell) -> Option<String> {
    let array = &cell.stack.array;
    let members = cell.machine.members(array);
    let models = || members.iter().map(|(group, _)| (&group.model, group.state));
    let are_alike = models().all(|model| Some(model) == models().next());
    (array.write_mostly.is_some() && are_alike && members.len() > 1).then(|| {
        "has `write_mostly` members of the same model as the others: reads lose a disk, and nothing is won; it is meant for a slow \
         member next to a fast one: add another group of disks and write `members = \"data:1,GROUP:1\"`"
            .to_owned()
    })
}

/// A mirror vdev with many disks, for which the study gives no width.
pub(super) fn wide_mirror(cell: &Cell) -> Option<String> {
    let (stack, disks) = (&cell.stack, cell.member_count());
    let zfs = &stack.filesystem.zfs;
    let is_one = zfs.pool == Some(Pool::Mirror) && zfs.vdev_disks.is_none() && stack.array.level == Level::None;
    if !is_one || disks < WIDE_MIRROR_DISKS {
        return None;
    }
    let help = match (2..disks).find(|width| disks.is_multiple_of(*width)) {
        Some(width) => format!("write `vdev_disks = {width}`"),
        None => format!("write `vdev_disks = 2` and `count = {}` in [disks]", disks + 1),
    };
    Some(format!(
        "is one mirror of {disks} disks, which stores every block {disks} times; for striped mirrors, {help}; if one \
         mirror is meant, `vdev_disks = {disks}`"
    ))
}
