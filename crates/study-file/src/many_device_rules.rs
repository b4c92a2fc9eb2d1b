//! Filesystems that make an array of several disks themselves: btrfs, ZFS, bcachefs.

use crate::consistency_rules::group_is_there;
use crate::filesystem_rules::filesystem_name;
use crate::rules::{Impossible, impossible};
use study::stack::{FilesystemKind, JOURNAL, Level, MachineSpec, Pool, Profile, SPECIAL, StackSpec};

const LEAVE_OUT: &str = "leave it out, or have \"default\" among its values";

pub(crate) fn check(machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
    let disks = machine.disks.first().map_or(0, |group| group.count);
    let devices = if stack.array.level == Level::None { disks } else { 1 };
    let mut all = Vec::new();
    all.extend(level_none(stack, disks));
    all.extend(pool(stack, devices));
    all.extend(partitioned(stack));
    all.extend(of_zfs_alone(stack));
    all.extend(aside(machine, stack));
    all.extend(profiles(stack, devices));
    all.extend(replicas(stack, devices));
    all.extend(compression(stack));
    all
}

fn level_none(stack: &StackSpec, disks: u32) -> Option<Impossible> {
    let kind = stack.filesystem.kind;
    if stack.array.level != Level::None || kind.takes_many_devices() {
        return None;
    }
    let reason = format!(
        "{} lives on one device, and level \"none\" gives it {}",
        filesystem_name(kind),
        if disks == 1 {
            "the disks as they are".to_owned()
        } else {
            format!("{disks}")
        }
    );
    let mend = "write level = \"single\" or an array's; btrfs, zfs and bcachefs make their own of many disks";
    impossible(&["level", "type"], reason, mend)
}

fn pool(stack: &StackSpec, devices: u32) -> Option<Impossible> {
    let pool = stack.filesystem.zfs.pool?;
    if stack.filesystem.kind != FilesystemKind::Zfs {
        let reason = format!("{} has no pool", filesystem_name(stack.filesystem.kind));
        return impossible(&["pool", "type"], reason, LEAVE_OUT);
    }
    let least = match pool {
        Pool::Stripe => 1,
        Pool::Mirror | Pool::Raidz1 | Pool::Draid1 => 2,
        Pool::Raidz2 | Pool::Draid2 => 3,
        Pool::Raidz3 => 4,
    };
    if devices >= least {
        return None;
    }
    let about: &[_] = &["pool", "level", "count"];
    let reason = format!(
        "{} needs at least {least} disks, and the pool has {devices}",
        pool.word()
    );
    if stack.array.level == Level::None {
        return impossible(about, reason, format!("`count = {least}` in [disks] would do"));
    }
    impossible(about, reason, "write level = \"none\", which gives ZFS all disks")
}

/// ZFS is given a partition of each device.
fn partitioned(stack: &StackSpec) -> Option<Impossible> {
    if stack.filesystem.kind != FilesystemKind::Zfs || !stack.array.level.is_lvm() {
        return None;
    }
    let reason = "ZFS wants partitions, and the kernel makes none on LVM's volumes".to_owned();
    let mend = "write level = \"none\", which gives ZFS all disks, or an array of md";
    impossible(&["level", "type"], reason, mend)
}

fn of_zfs_alone(stack: &StackSpec) -> Vec<Impossible> {
    let (kind, zfs) = (stack.filesystem.kind, &stack.filesystem.zfs);
    if kind == FilesystemKind::Zfs {
        return Vec::new();
    }
    let name = filesystem_name(kind);
    let refuse = |given: bool, about, what: &str| {
        given
            .then(|| impossible(about, format!("{name} has no {what}: ZFS has"), LEAVE_OUT))
            .flatten()
    };
    [
        refuse(
            zfs.recordsize_bytes.is_some(),
            &["recordsize", "type"] as &[_],
            "record size",
        ),
        refuse(zfs.ashift.is_some(), &["ashift", "type"], "ashift"),
        refuse(zfs.sync.is_some(), &["fs_sync", "type"], "property `sync`"),
        refuse(zfs.log, &["log", "type"], "log device"),
        refuse(zfs.special, &["special", "type"], "special device"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// ZFS's log and special devices.
fn aside(machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
    let zfs = &stack.filesystem.zfs;
    let mut all = Vec::new();
    if stack.filesystem.kind != FilesystemKind::Zfs {
        return all;
    }
    if zfs.log {
        all.extend(group_is_there(machine, JOURNAL, &["log"], "ZFS's log"));
    }
    if zfs.special {
        all.extend(group_is_there(machine, SPECIAL, &["special"], "a special device"));
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
        if filesystem.kind != FilesystemKind::Btrfs {
            let reason = format!(
                "{} has no profile of {what}: btrfs has",
                filesystem_name(filesystem.kind)
            );
            all.extend(impossible(about, reason, LEAVE_OUT));
        } else if devices < profile.devices_min() {
            let (word, least) = (profile.word(), profile.devices_min());
            let reason = format!("btrfs needs at least {least} disks for {word}, and has {devices}");
            let mend = match stack.array.level {
                Level::None => format!("`count = {least}` in [disks] would do"),
                _ => "write level = \"none\", which gives btrfs all disks".to_owned(),
            };
            all.extend(impossible(about, reason, mend));
        }
    }
    all
}

fn replicas(stack: &StackSpec, devices: u32) -> Option<Impossible> {
    let replicas = stack.filesystem.replicas?;
    if stack.filesystem.kind != FilesystemKind::Bcachefs {
        let reason = format!(
            "{} has no replicas: bcachefs has",
            filesystem_name(stack.filesystem.kind)
        );
        return impossible(&["replicas", "type"], reason, LEAVE_OUT);
    }
    if replicas <= devices {
        return None;
    }
    let reason = format!("{replicas} replicas want as many disks, and bcachefs has {devices}");
    let mend = "write fewer replicas, or level = \"none\" with more disks";
    impossible(&["replicas", "level", "count"], reason, mend)
}

fn compression(stack: &StackSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["compression", "type"];
    let word = stack.filesystem.compression.as_deref()?;
    let name = filesystem_name(stack.filesystem.kind);
    let levels = |text: &str, most: u32| text.parse::<u32>().is_ok_and(|level| (1..=most).contains(&level));
    let (sound, words) = match stack.filesystem.kind {
        FilesystemKind::Zfs => (
            matches!(
                word,
                "off" | "on" | "lz4" | "lzjb" | "zle" | "gzip" | "zstd" | "zstd-fast"
            ) || word.strip_prefix("gzip-").is_some_and(|level| levels(level, 9))
                || word.strip_prefix("zstd-").is_some_and(|level| levels(level, 19)),
            "off, on, lz4, lzjb, zle, gzip, gzip-1 … gzip-9, zstd, zstd-1 … zstd-19, zstd-fast",
        ),
        FilesystemKind::Btrfs => (
            matches!(word, "off" | "zlib" | "lzo" | "zstd")
                || word.strip_prefix("zlib:").is_some_and(|level| levels(level, 9))
                || word.strip_prefix("zstd:").is_some_and(|level| levels(level, 15)),
            "off, lzo, zlib, zlib:1 … zlib:9, zstd, zstd:1 … zstd:15",
        ),
        FilesystemKind::Bcachefs => (
            matches!(word, "off" | "lz4" | "gzip" | "zstd")
                || word.strip_prefix("gzip:").is_some_and(|level| levels(level, 9))
                || word.strip_prefix("zstd:").is_some_and(|level| levels(level, 15)),
            "off, lz4, gzip, gzip:1 … gzip:9, zstd, zstd:1 … zstd:15",
        ),
        _ => return impossible(ABOUT, format!("{name} does not compress"), LEAVE_OUT),
    };
    if sound {
        return None;
    }
    impossible(
        ABOUT,
        format!("{name} has no compression `{word}`"),
        format!("one of {words}"),
    )
}

/// What a filesystem leaves of the bytes that its devices have, copies and parity taken off.
pub(crate) fn usable(stack: &StackSpec, disks: u32, bytes: u64) -> u64 {
    let devices = u64::from(if stack.array.level == Level::None { disks } else { 1 });
    let parity = |of: u64| bytes / devices.max(1) * devices.saturating_sub(of);
    let filesystem = &stack.filesystem;
    match filesystem.kind {
        FilesystemKind::Zfs => match filesystem.zfs.pool.unwrap_or(Pool::Stripe) {
            Pool::Stripe => bytes,
            Pool::Mirror => bytes / devices.max(1),
            Pool::Raidz1 | Pool::Draid1 => parity(1),
            Pool::Raidz2 | Pool::Draid2 => parity(2),
            Pool::Raidz3 => parity(3),
        },
        FilesystemKind::Btrfs => match filesystem.data_profile.unwrap_or(Profile::Single) {
            Profile::Single | Profile::Raid0 => bytes,
            Profile::Dup | Profile::Raid1 | Profile::Raid10 => bytes / 2,
            Profile::Raid1c3 => bytes / 3,
            Profile::Raid1c4 => bytes / 4,
            Profile::Raid5 => parity(1),
            Profile::Raid6 => parity(2),
        },
        FilesystemKind::Bcachefs => bytes / u64::from(filesystem.replicas.unwrap_or(1).max(1)),
        _ => bytes,
    }
}
