//! Judges a disk: finds all reasons not to overwrite it. Only reads.
//!
//! This is done when the disks are chosen, again when they are claimed, and again by the process that writes,
//! immediately before it writes.

use crate::device::blank_check::{self, Depth, Fingerprint};
use crate::device::disk::{self, Disk};
use crate::device::relations::{Relations, Relative, Role};
use crate::device::sysfs;
use crate::safety::in_use;
use crate::safety::obstacle::Obstacle;
use crate::safety::signature::signatures;
use std::fs::File;
use tools::{Tool, Tools};

/// The programs that are needed.
pub const JUDGING: [Tool; 3] = [Tool::Wipefs, Tool::Blkid, Tool::Partx];

/// Context of a judgement.
#[derive(Debug)]
pub(crate) struct Circumstances<'a> {
    pub(crate) tools: &'a Tools,
    /// Processes that may have the disk open: those of the run.
    pub(crate) ours: &'a [u32],
    /// Raidlab has it open exclusively.
    pub(crate) is_claimed: bool,
    /// Fingerprint of contents that raidlab left or the user released.
    pub(crate) left: Option<&'a Fingerprint>,
}

/// The result.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) obstacles: Vec<Obstacle>,
    /// Its fingerprint; none if it could not be read.
    pub(crate) fingerprint: Option<Fingerprint>,
}

/// All reasons not to overwrite a disk, except its size.
pub(crate) fn judge(disk: &Disk, circumstances: &Circumstances<'_>) -> Judgement {
    let relations = Relations::of(&disk.sysfs);
    let mut obstacles = Vec::new();
    if disk.read_only {
        obstacles.push(Obstacle::ReadOnly);
    }
    obstacles.extend(in_use::uses(&relations));
    if obstacles.iter().all(|obstacle| *obstacle == Obstacle::ReadOnly) {
        obstacles.extend(in_use::held(&relations, circumstances.is_claimed));
        obstacles.extend(in_use::opened(&relations, circumstances.ours));
    }
    let is_free = obstacles.iter().all(|obstacle| *obstacle == Obstacle::ReadOnly);
    if is_free {
        forget_cached(&relations);
    }
    let mut carried = carried(&relations, circumstances.tools);
    let mut fingerprint = None;
    if is_free {
        match contents(disk, &carried, circumstances) {
            Ok((more, seen)) => {
                carried.extend(more);
                fingerprint = Some(seen);
            }
            Err(why) => carried.push(Obstacle::Unknown {
                device: disk.kernel_name.clone(),
                why,
            }),
        }
    }
    obstacles.extend(carried);
    Judgement { obstacles, fingerprint }
}

/// Drops what each device caches of the shared bytes: upper devices first, because they write to lower ones.
fn forget_cached(relations: &Relations) {
    for relative in relations.devices.iter().rev() {
        if let Ok(device) = File::open(disk::node(&relative.sysfs)) {
            let _ = blank_check::forget_cached(&device);
        }
    }
}

/// Signatures on the disk and on devices that share bytes with it.
fn carried(relations: &Relations, tools: &Tools) -> Vec<Obstacle> {
    let mut found = Vec::new();
    for relative in &relations.devices {
        let on_it = || signatures(&relative.sysfs, &disk::node(&relative.sysfs), tools);
        match relative.role {
            Role::Itself | Role::Partition => found.extend(on_it()),
            Role::Whole => found.extend(
                on_it()
                    .into_iter()
                    .filter(|obstacle| !is_table(obstacle) && !is_in_partition(obstacle))
                    .map(|obstacle| below(relative, obstacle)),
            ),
            // The content of a loop device that shows its whole backing device is found there already.
            Role::Behind if relative.is_shared_whole() => found.extend(on_it().into_iter().filter(is_never_lifted)),
            Role::Behind => found.extend(on_it().into_iter().map(|obstacle| below(relative, obstacle))),
            Role::Component => found.extend(
                on_it()
                    .into_iter()
                    .filter(|obstacle| !is_explained(relations, relative, obstacle))
                    .map(|obstacle| below(relative, obstacle)),
            ),
            Role::Above | Role::Sibling => {}
        }
    }
    found.dedup();
    found
}

fn is_table(obstacle: &Obstacle) -> bool {
    matches!(obstacle, Obstacle::Signature { what, .. } if what.starts_with("a partition table"))
}

/// Other partitions than the judged one do not matter here.
fn is_in_partition(obstacle: &Obstacle) -> bool {
    matches!(obstacle, Obstacle::Member { device, .. } if device.starts_with("partition "))
}

fn is_never_lifted(obstacle: &Obstacle) -> bool {
    !obstacle.can_be_lifted()
}

/// A lower device is released under its own name, not under that of a device that shows a part of it.
fn below(relative: &Relative, obstacle: Obstacle) -> Obstacle {
    match obstacle {
        Obstacle::Signature { what, .. } => Obstacle::Shared {
            with: format!("{}, which carries {what}", relative.name()),
        },
        other => other,
    }
}

/// Whether a component's superblock describes the device that is running on it.
fn is_explained(relations: &Relations, component: &Relative, obstacle: &Obstacle) -> bool {
    let runs = |prefix: &str| {
        sysfs::entries(&component.sysfs.join("holders")).iter().any(|holder| {
            let name = sysfs::name(holder);
            let uuid = sysfs::text(&holder.join("dm/uuid")).unwrap_or_default();
            let is_ours = relations.devices.iter().any(|device| device.name() == name);
            is_ours && (name.starts_with(prefix) || uuid.starts_with(prefix))
        })
    };
    // Its partitions are separate devices; one of them is the component.
    if is_table(obstacle) || is_in_partition(obstacle) {
        return true;
    }
    match obstacle {
        Obstacle::Member { of, .. } => match of.as_str() {
            "an md array" => runs("md"),
            "an LVM volume group" => runs("LVM-"),
            "a bcache" => runs("bcache"),
            _ => runs("mpath-"),
        },
        Obstacle::Signature { what, .. } => match what.starts_with("crypto_LUKS") {
            true => runs("CRYPT-"),
            false => runs("mpath-"),
        },
        _ => false,
    }
}

/// Contents of the disk without a known signature.
fn contents(
    disk: &Disk,
    carried: &[Obstacle],
    circumstances: &Circumstances<'_>,
) -> Result<(Vec<Obstacle>, Fingerprint), String> {
    let device = File::open(&disk.node).map_err(|error| error.to_string())?;
    let depth = match circumstances.left {
        Some(_) => Depth::Quick,
        None => Depth::Full,
    };
    let survey = blank_check::survey(&device, disk.size_bytes, depth).map_err(|error| error.to_string())?;
    let name = || disk.kernel_name.clone();
    let mut found = Vec::new();
    if let Some(left) = circumstances.left {
        if *left != survey.fingerprint {
            found.push(Obstacle::Changed { device: name() });
        }
        return Ok((found, survey.fingerprint));
    }
    // A filesystem may contain anything, including images of disks.
    let is_filesystem = |obstacle: &Obstacle| matches!(obstacle, Obstacle::Signature { .. }) && !is_table(obstacle);
    if !carried.iter().any(is_filesystem) {
        found.extend(survey.members.iter().map(|(of, at_bytes)| Obstacle::Member {
            device: name(),
            of: format!("{of} (signature at byte {at_bytes})"),
            release: format!(
                "dd if=/dev/zero of={} bs=512 seek={} count=8 conv=notrunc",
                disk.node.display(),
                at_bytes / 512
            ),
        }));
    }
    if let Some(at_bytes) = survey.first_nonzero.filter(|_| carried.is_empty() && found.is_empty()) {
        found.push(Obstacle::Content {
            device: name(),
            at_bytes,
        });
    }
    Ok((found, survey.fingerprint))
}
