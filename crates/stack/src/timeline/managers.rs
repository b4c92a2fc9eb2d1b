//! The manager of a stack's array.

use super::no_redundancy::NoRedundancy;
use super::redundancy::Redundancy;
use super::{bcachefs, btrfs, lvm, md, zfs};
use crate::array::zfs::ZPOOL;
use crate::machine::error::Cause;
use crate::setup::stack::Stack;
use study::act::Act;
use study::stack::{Keeper, StackSpec};
use tools::Tool;

/// The programs that it uses for acts.
pub(super) fn tools_of(keeper: Keeper, spec: &StackSpec) -> Vec<Tool> {
    match keeper {
        Keeper::Md if spec.array.integrity.is_some() => vec![Tool::Mdadm, Tool::Dmsetup],
        Keeper::Md => vec![Tool::Mdadm],
        Keeper::Lvm => vec![Tool::Lvm, Tool::Dmsetup],
        Keeper::Btrfs => vec![btrfs::BTRFS],
        Keeper::Zfs => vec![ZPOOL],
        Keeper::Bcachefs => vec![bcachefs::BCACHEFS],
    }
}

/// The manager of a stack's array. `acts` are all that will be done; without one that needs redundancy no array is watched.
pub(super) fn of(
    stack: &Stack,
    spec: &StackSpec,
    disk_count: u32,
    acts: &[Act],
) -> Result<Box<dyn Redundancy>, Cause> {
    if !acts.iter().any(|act| act.kind.needs_redundancy()) {
        return Ok(Box::new(NoRedundancy));
    }
    let none = || Cause::Impossible("acts need an array with copies or parity".to_owned());
    let keeper = spec.keeper(disk_count).ok_or_else(none)?;
    let missing = |what: &str| Cause::Impossible(format!("acts need {what}, which the stack does not have"));
    let disks = &stack.members[..stack.data_disks];
    let (members, spares) = disks.split_at(disks.len() - spec.array.spares as usize);
    Ok(match keeper {
        Keeper::Md => {
            let array = stack.array.clone().ok_or_else(|| missing("an md array"))?;
            Box::new(md::Md::new(array, stack, acts))
        }
        Keeper::Lvm => Box::new(lvm::Lvm::new(&stack.block_device, &spec.array, members, spares, acts)?),
        Keeper::Btrfs => {
            let folder = stack.mount_point.clone().ok_or_else(|| missing("a mounted btrfs"))?;
            Box::new(btrfs::Btrfs::new(folder, members, spares)?)
        }
        Keeper::Zfs => {
            let pool = stack.pool().ok_or_else(|| missing("a pool"))?;
            Box::new(zfs::Zfs::new(pool.name.clone(), spec, members, spares))
        }
        Keeper::Bcachefs => {
            let folder = stack.mount_point.clone().ok_or_else(|| missing("a mounted bcachefs"))?;
            Box::new(bcachefs::Bcachefs::new(folder, members, spares, acts)?)
        }
    })
}
