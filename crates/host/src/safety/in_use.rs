//! Users of a device and of devices that share bytes with it.

use crate::device::device_number::DeviceNumber;
use crate::device::disk::{self, Disk};
use crate::device::relations::{Relations, Relative, Role};
use crate::device::sysfs;
use crate::safety::mounts::{self, Swap};
use crate::safety::obstacle::Obstacle;
use crate::safety::openers::{self, Opener, What};
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Users of a disk, or of bytes that it shares with other devices. Only reads.
pub fn in_use(disk: &Disk) -> Vec<Obstacle> {
    let relations = Relations::of(&disk.sysfs);
    let mut found = uses(&relations);
    if found.is_empty() {
        found.extend(held(&relations, false));
        found.extend(opened(&relations, &[std::process::id()]));
    }
    found
}

/// Mounts, swap areas and devices on a device or on devices that share bytes with it.
pub(crate) fn uses(relations: &Relations) -> Vec<Obstacle> {
    let mut found: Vec<Obstacle> = Vec::new();
    let device = || relations.devices.first().map(Relative::name).unwrap_or_default();
    found.extend(relations.unknown.iter().map(|why| Obstacle::Unknown {
        device: device(),
        why: why.clone(),
    }));
    mounted(relations, &mut found);
    swapped(relations, &mut found);
    for relative in relations.with_role(&[Role::Itself, Role::Partition]) {
        found.extend(built_on(&relative.sysfs));
    }
    let above = relations.with_role(&[Role::Above]);
    found.extend(
        above
            .filter(|above| above.sysfs.join("loop").exists())
            .map(|above| Obstacle::InUse {
                device: device(),
                by: format!("the backing device of {}", above.name()),
            }),
    );
    let siblings = relations.with_role(&[Role::Sibling]);
    let in_use = |sibling: &&Relative| !sibling.sysfs.join("partition").exists();
    found.extend(
        siblings
            .filter(in_use)
            .map(|sibling| Obstacle::Shared { with: sibling.name() }),
    );
    // Volumes and arrays on the whole disk or behind a loop device.
    for relative in relations.with_role(&[Role::Whole, Role::Behind]) {
        found.extend(built_on(&relative.sysfs));
    }
    found
}

fn mounted(relations: &Relations, found: &mut Vec<Obstacle>) {
    for mount in mounts::mounts() {
        let device = relations.devices.iter().find(|device| mount.is_of(device.number));
        let obstacle = device.map(|device| Obstacle::Mounted {
            device: device.name(),
            folder: mount.folder.clone(),
        });
        found.extend(obstacle.filter(|obstacle| !found.contains(obstacle)));
    }
}

fn swapped(relations: &Relations, found: &mut Vec<Obstacle>) {
    for swap in mounts::swaps() {
        match swap {
            Swap::Device(number) => {
                let device = relations.devices.iter().find(|device| device.number == number);
                found.extend(device.map(|device| Obstacle::Swap { device: device.name() }));
            }
            Swap::File { device, inode } if relations.files.contains(&(device, inode)) => {
                found.push(Obstacle::Swap {
                    device: "the file behind it".to_owned(),
                });
            }
            Swap::File { .. } => {}
        }
    }
}

/// Arrays, volumes and filesystems of several devices that run on a device.
fn built_on(folder: &Path) -> Vec<Obstacle> {
    let device = sysfs::name(folder);
    let in_use = |by: String| Obstacle::InUse {
        device: device.clone(),
        by,
    };
    let mut found: Vec<Obstacle> = sysfs::entries(&folder.join("holders"))
        .iter()
        .map(|holder| in_use(format!("a member of {}", holder_words(holder))))
        .collect();
    if folder.join("bcache").exists() {
        found.push(in_use("a member of a bcache".to_owned()));
    }
    for filesystem in sysfs::entries(Path::new("/sys/fs/btrfs")) {
        if filesystem.join("devices").join(&device).exists() {
            found.push(in_use(format!(
                "a member of the btrfs {}, which is mounted",
                sysfs::name(&filesystem)
            )));
        }
    }
    found
}

/// `the md array md0`, `the LVM volume vg-home (dm-3)`
fn holder_words(holder: &Path) -> String {
    let name = sysfs::name(holder);
    if name.starts_with("md") {
        return format!("the md array {name}");
    }
    let Some(mapped) = sysfs::text(&holder.join("dm/name")) else {
        return format!("{name}, which is active");
    };
    let uuid = sysfs::text(&holder.join("dm/uuid")).unwrap_or_default();
    let kind = match uuid.split('-').next() {
        Some("LVM") => "LVM volume",
        Some("CRYPT") => "encrypted volume",
        Some("mpath") => "multipath device",
        _ => "device-mapper volume",
    };
    format!("the {kind} {mapped} ({name})")
}

/// ZFS and other users that sysfs does not show open their disks exclusively.
pub(crate) fn held(relations: &Relations, is_claimed: bool) -> Vec<Obstacle> {
    let roles: &[Role] = match is_claimed {
        // Our own claim covers it and its partitions.
        true => &[Role::Behind],
        false => &[Role::Itself, Role::Partition, Role::Behind],
    };
    let devices = relations.with_role(roles);
    devices
        .filter(|device| is_held(&disk::node(&device.sysfs)))
        .map(|device| Obstacle::Held { device: device.name() })
        .collect()
}

/// Whether a device is open exclusively.
pub(crate) fn is_held(node: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    matches!(
        rustix::fs::open(node, flags, Mode::empty()),
        Err(rustix::io::Errno::BUSY)
    )
}

/// Processes that have the device open, or have a device that shares bytes with it open for writing. Short openers such
/// as udev are ignored.
pub(crate) fn opened(relations: &Relations, except: &[u32]) -> Vec<Obstacle> {
    const TRIES: u32 = 10;
    let mut found = openers(relations, except);
    for _ in 1..TRIES {
        if found.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
        let still = openers(relations, except);
        found.retain(|opener| still.contains(opener));
    }
    let mut seen = BTreeSet::new();
    found.retain(|opener| seen.insert((opener.pid, opener.what)));
    found.into_iter().map(|opener| words(relations, opener)).collect()
}

fn openers(relations: &Relations, except: &[u32]) -> Vec<Opener> {
    let role = |number: DeviceNumber| {
        let device = relations.devices.iter().find(|device| device.number == number);
        device.map(|device| device.role)
    };
    let wanted = |what: What| match what {
        What::Device(number) => role(number).is_some(),
        What::File { device, inode } => relations.files.contains(&(device, inode)),
    };
    let counts = |opener: &Opener| match opener.what {
        What::Device(number) => opener.writes || matches!(role(number), Some(Role::Itself | Role::Partition)),
        What::File { .. } => opener.writes,
    };
    openers::openers(&wanted, except).into_iter().filter(counts).collect()
}

fn words(relations: &Relations, opener: Opener) -> Obstacle {
    let device = match opener.what {
        What::Device(number) => relations
            .devices
            .iter()
            .find(|device| device.number == number)
            .map(Relative::name)
            .unwrap_or_default(),
        What::File { .. } => "the file behind it".to_owned(),
    };
    Obstacle::Open {
        device,
        pid: opener.pid,
        program: opener.program,
    }
}
