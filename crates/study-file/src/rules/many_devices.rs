//! Filesystems with built-in support for several disks: btrfs, ZFS, bcachefs.

use crate::rules::consistency::group_is_there;
use crate::rules::impossible::{Impossible, impossible};
use filesystems::Several;
use study::stack::{CACHE, JOURNAL, Level, MachineSpec, Pool, SPECIAL, StackSpec};

const LEAVE_OUT: &str = "leave it out, or add \"default\" to its values";

pub(crate) fn check(machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
    let disks = machine.member_count(&stack.array);
    let devices = match stack.array.level {
        Level::None => disks.saturating_sub(stack.array.spares),
        _ => 1,
    };
    let mut all = Vec::new();
    all.extend(level_none(stack, disks));
    all.extend(pool(stack, devices));
    all.extend(vdevs(stack, devices));
    all.extend(spares(stack, disks));
    all.extend(partitioned(stack));
    all.extend(of_zfs_alone(stack));
    all.extend(external_disks(machine, stack));
    all.extend(profiles(stack, devices));
    all.extend(replicas(stack, devices));
    all.extend(tier(machine, stack));
    all.extend(compression(stack));
    all
}

fn level_none(stack: &StackSpec, disks: u32) -> Option<Impossible> {
    let kind = stack.filesystem.kind;
    if stack.array.level != Level::None || kind.several.is_some() {
        return None;
    }
    let reason = format!(
        "{} uses one device, but level \"none\" gives it {}",
        kind.name,
        if disks == 1 {
            "the disks as they are".to_owned()
        } else {
            format!("{disks}")
        }
    );
    let others = filesystems::words(|other| other.several.is_some());
    let help = format!("write level = \"single\" or a RAID level; only {others} build an array themselves");
    impossible(&["level", "type"], reason, help)
}

fn pool(stack: &StackSpec, devices: u32) -> Option<Impossible> {
    let pool = stack.filesystem.zfs.pool?;
    if !stack.filesystem.kind.is_pool() {
        let reason = format!("{} has no pool", stack.filesystem.kind.name);
        return impossible(&["pool", "type"], reason, LEAVE_OUT);
    }
    let least = pool.disks_min();
    if devices >= least {
        return None;
    }
    let about: &[_] = &["pool", "level", "count"];
    let reason = format!(
        "{} needs at least {least} disks, but the pool has {devices}",
        pool.word()
    );
    if stack.array.level == Level::None {
        return impossible(about, reason, format!("write `count = {least}` in [disks]"));
    }
    impossible(about, reason, "write level = \"none\", which gives ZFS all disks")
}

/// Pools of several vdevs.
fn vdevs(stack: &StackSpec, devices: u32) -> Option<Impossible> {
    const ABOUT: &[&str] = &["vdev_disks", "pool", "count", "level"];
    let zfs = &stack.filesystem.zfs;
    let width = zfs.vdev_disks.filter(|_| stack.filesystem.kind.is_pool())?;
    let pool = zfs.pool.unwrap_or(Pool::Stripe);
    if pool == Pool::Stripe {
        let reason = "each disk of a stripe is a vdev of its own".to_owned();
        let help = "leave `vdev_disks` out, or write pool = \"mirror\" or \"raidz1\"";
        return impossible(ABOUT, reason, help);
    }
    let (word, least) = (pool.word(), pool.disks_min());
    if width < least {
        let reason = format!("{word} needs at least {least} disks in each vdev, but `vdev_disks` is {width}");
        return impossible(ABOUT, reason, format!("write vdev_disks = {least} or more"));
    }
    // The rule of pools reports too few disks.
    if devices < least || devices.is_multiple_of(width) {
        return None;
    }
    let reason = format!("{devices} disks cannot be divided into vdevs of {width} disks");
    let widths = (least..=devices).filter(|width| devices.is_multiple_of(*width));
    let widths: Vec<String> = widths.map(|width| width.to_string()).collect();
    let help = format!(
        "write vdev_disks = {}, or `count = {}` in [disks]",
        widths.join(" or "),
        devices.next_multiple_of(width)
    );
    impossible(ABOUT, reason, help)
}

/// Spares of filesystems that use all disks.
fn spares(stack: &StackSpec, disks: u32) -> Option<Impossible> {
    if stack.array.spares == 0 || stack.array.level != Level::None {
        return None;
    }
    let about: &[_] = &["spares", "pool", "fs_data", "replicas", "type", "vdev_disks", "count"];
    if stack.keeper(disks).is_none() {
        let name = stack.filesystem.kind.name;
        let reason = format!("without copies or parity {name} has no use for a spare");
        return impossible(
            about,
            reason,
            "leave `spares` out, or name a profile, `replicas` or a `pool` with redundancy",
        );
    }
    let is_draid = matches!(stack.filesystem.zfs.pool, Some(Pool::Draid1 | Pool::Draid2));
    if !is_draid {
        return None;
    }
    let reason = "spares of dRAID are for a pool of one vdev";
    let help = "leave `vdev_disks` out";
    stack.filesystem.zfs.vdev_disks?;
    impossible(about, reason.to_owned(), help)
}

/// ZFS uses a partition of each device.
fn partitioned(stack: &StackSpec) -> Option<Impossible> {
    if !stack.filesystem.kind.is_pool() || !stack.array.level.is_lvm() {
        return None;
    }
    let reason = "ZFS needs partitions, and the kernel creates none on logical volumes".to_owned();
    let help = "write level = \"none\", which gives ZFS all disks, or an md level";
    impossible(&["level", "type"], reason, help)
}

fn of_zfs_alone(stack: &StackSpec) -> Vec<Impossible> {
    let (kind, zfs) = (stack.filesystem.kind, &stack.filesystem.zfs);
    if kind.is_pool() {
        return Vec::new();
    }
    let name = kind.name;
    let refuse = |given: bool, about, what: &str| {
        given
            .then(|| impossible(about, format!("{name} has no {what}: only ZFS has"), LEAVE_OUT))
            .flatten()
    };
    [
        refuse(
            zfs.recordsize_bytes.is_some(),
            &["recordsize", "type"] as &[_],
            "record size",
        ),
        refuse(zfs.vdev_disks.is_some(), &["vdev_disks", "type"], "vdevs"),
        refuse(zfs.ashift.is_some(), &["ashift", "type"], "ashift"),
        refuse(zfs.sync.is_some(), &["fs_sync", "type"], "property `sync`"),
        refuse(zfs.log, &["log", "type"], "log device"),
        refuse(zfs.special, &["special", "type"], "special device"),
        refuse(zfs.l2arc, &["l2arc", "type"], "L2ARC"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// ZFS's log, special and cache devices.
fn external_disks(machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
    let zfs = &stack.filesystem.zfs;
    let mut all = Vec::new();
    if !stack.filesystem.kind.is_pool() {
        return all;
    }
    if zfs.log {
        all.extend(group_is_there(machine, JOURNAL, &["log"], "ZFS's log"));
    }
    if zfs.special {
        all.extend(group_is_there(machine, SPECIAL, &["special"], "a special device"));
    }
    if zfs.l2arc {
        all.extend(group_is_there(machine, CACHE, &["l2arc"], "ZFS's L2ARC"));
    }
    all
}

fn profiles(stack: &StackSpec, devices: u32) -> Vec<Impossible> {
    let filesystem = &stack.filesystem;
    let both = [
        (
            filesystem.data_profile,
            &["fs_data", "type", "level", "count"] as &'static [_],
            "data",
        ),
        (
            filesystem.metadata_profile,
            &["fs_metadata", "type", "level", "count"],
            "metadata",
        ),
    ];
    let mut all = Vec::new();
    for (profile, about, what) in both {
        let Some(profile) = profile else { continue };
        if !filesystem.kind.makes(Several::Profiles) {
            let reason = format!("{} has no profile of {what}: only btrfs has", filesystem.kind.name);
            all.extend(impossible(about, reason, LEAVE_OUT));
        } else if devices < profile.devices_min() {
            let (word, least) = (profile.word(), profile.devices_min());
            let reason = format!("btrfs needs at least {least} disks for {word}, but has {devices}");
            let help = match stack.array.level {
                Level::None => format!("write `count = {least}` in [disks]"),
                _ => "write level = \"none\", which gives btrfs all disks".to_owned(),
            };
            all.extend(impossible(about, reason, help));
        }
    }
    all
}

fn replicas(stack: &StackSpec, devices: u32) -> Option<Impossible> {
    let replicas = stack.filesystem.replicas?;
    if !stack.filesystem.kind.makes(Several::Replicas) {
        let reason = format!("{} has no replicas: only bcachefs has", stack.filesystem.kind.name);
        return impossible(&["replicas", "type"], reason, LEAVE_OUT);
    }
    if replicas <= devices {
        return None;
    }
    let reason = format!("{replicas} replicas need as many disks, but bcachefs has {devices}");
    let help = "write fewer replicas, or level = \"none\" with more disks";
    impossible(&["replicas", "level", "count"], reason, help)
}

/// Disks of bcachefs that take writes first.
fn tier(machine: &MachineSpec, stack: &StackSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["tier", "members", "level", "type"];
    let group = stack.filesystem.tier.as_deref()?;
    let name = stack.filesystem.kind.name;
    if !stack.filesystem.kind.makes(Several::Replicas) {
        let reason = format!("{name} has no tiers of disks: only bcachefs has");
        return impossible(ABOUT, reason, LEAVE_OUT);
    }
    let members = machine.members(&stack.array);
    let of_tier = members.iter().filter(|(of, _)| of.name == group).count();
    if stack.array.level == Level::None && of_tier > 0 && of_tier < members.len() {
        return None;
    }
    let reason = match stack.array.level {
        Level::None if of_tier > 0 => format!("all disks of {name} are of the group `{group}`"),
        Level::None => format!("no disk of {name} is of the group `{group}`"),
        _ => format!("{name} has one device, the array"),
    };
    let help = format!("write array = {{ level = \"none\", members = \"{group},data\" }}, with [disks.{group}]");
    impossible(ABOUT, reason, help)
}

fn compression(stack: &StackSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["compression", "type"];
    let word = stack.filesystem.compression.as_deref()?;
    let name = stack.filesystem.kind.name;
    let Some(compression) = &stack.filesystem.kind.get().compression else {
        return impossible(ABOUT, format!("{name} does not compress"), LEAVE_OUT);
    };
    if compression.knows(word) {
        return None;
    }
    impossible(
        ABOUT,
        format!("{name} has no compression `{word}`"),
        format!("one of {}", compression.shown),
    )
}

/// Usable bytes of a filesystem on several devices, without copies and parity.
pub(crate) fn usable(stack: &StackSpec, disks: u32, bytes: u64) -> u64 {
    let devices = match stack.array.level {
        Level::None => u64::from(disks.saturating_sub(stack.array.spares)),
        _ => 1,
    };
    let filesystem = stack.lowest_filesystem();
    match &filesystem.kind.get().several {
        Some(several) => (several.usable_bytes)(filesystem, devices, bytes),
        None => bytes,
    }
}
