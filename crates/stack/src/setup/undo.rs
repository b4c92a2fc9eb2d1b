//! Does the undo of each act.
//!
//! *Invariant:* an undo first checks that the object to be destroyed is still the one that was created, and does
//! nothing if it is gone. So a later process can repeat it.

use crate::array::bcache;
use crate::array::integrity;
use crate::array::luks;
use crate::array::lvm;
use crate::array::partition_table;
use crate::array::zfs::ZPOOL;
use crate::filesystem;
use crate::filesystem::image;
use crate::machine::access::Access;
use crate::machine::device_mapper;
use crate::machine::error::Cause;
use crate::machine::executor::Executor;
use crate::machine::undo::Undo;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::stack::FilesystemKind;
use tools::{Invocation, Tool, ToolError};

/// The outcome of an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undoing {
    /// Undone now, or gone already.
    Undone,
    /// Something else is in its place, which is left; in words.
    Left(String),
}

impl Undoing {
    fn left(device: &Path, what: &str) -> Undoing {
        Undoing::Left(format!(
            "{} {what} that the run did not make: it is not changed",
            device.display()
        ))
    }

    /// The first that was left.
    fn and(self, other: Undoing) -> Undoing {
        if self == Undoing::Undone { other } else { self }
    }
}

type Outcome = Result<Undoing, Cause>;

/// Rolls back an act, or as much of it as was done.
pub fn undo(act: &Undo, access: &mut Access<'_>) -> Outcome {
    let done = |result: Result<(), Cause>| result.map(|()| Undoing::Undone);
    match act {
        Undo::Attribute { path, value } => match access.executor.exists(path) {
            true => done(access.executor.write(path, value)),
            false => Ok(Undoing::Undone),
        },
        Undo::Array { node, uuid, members } => {
            let stopped = stop_array(node, uuid, access)?;
            members.iter().try_fold(stopped, |so_far, member| {
                Ok(so_far.and(clear_member(member, uuid, access)?))
            })
        }
        Undo::Filesystem {
            device,
            kind,
            array_uuid,
            uuid,
        } => match uuid {
            Some(uuid) if !carries(device, uuid, access)? => left_if_there(device, "has contents", access),
            _ => wipe_filesystem(device, *kind, array_uuid.as_deref(), access),
        },
        Undo::Signatures { device, types } => match access.executor.exists(device) {
            true => done(wipe(device, types, access)),
            false => Ok(Undoing::Undone),
        },
        Undo::Integrity { disk, name } => done(integrity::close_on(disk, name, access)),
        Undo::Luks { device, name, uuid } => close_luks(device, name, uuid, access),
        Undo::Bcache { backing, cache, set } => bcache::stop_and_wipe(backing, cache, set, access),
        Undo::VolumeGroup { name, devices } => remove_volume_group(name, devices, access),
        Undo::Pool { name, partitions } => destroy_pool(name, partitions, access),
        Undo::LoopDevice { file } => done(image::detach(file, access)),
        Undo::PartitionTable { device, uuid } => wipe_partitions(device, uuid, access),
        Undo::Folder { path } => done(access.executor.remove_folder(path)),
        Undo::Mount { folder, device } => unmount(folder, std::slice::from_ref(device), access),
        Undo::MountOfSeveral { folder, devices } => unmount(folder, devices, access),
    }
}

/// For a device on which nothing has the UUID that the run gave: it is left, unless it has no signature.
fn left_if_there(device: &Path, what: &str, access: &mut Access<'_>) -> Outcome {
    if !access.executor.exists(device) || signature_uuids(device, access)?.is_empty() {
        return Ok(Undoing::Undone);
    }
    Ok(Undoing::left(device, what))
}

fn stop_array(node: &Path, uuid: &str, access: &mut Access<'_>) -> Outcome {
    const TRIES: u32 = 10;
    if is_stopped(node, access.executor) {
        return Ok(Undoing::Undone);
    }
    if !is_our_array(node, uuid, access)? {
        return Ok(Undoing::left(node, "is an array"));
    }
    let mut tries_left = TRIES;
    while let Err(error) = access.run(&Invocation::new(Tool::Mdadm).arg("--stop").arg(node), &[node]) {
        // udev may have the device open for a moment.
        if tries_left == 0 {
            return Err(error);
        }
        tries_left -= 1;
        access.executor.sleep(Duration::from_millis(200));
    }
    wait_until_gone(node, access.executor)?;
    Ok(Undoing::Undone)
}

/// Whether an array with this UUID runs at this node; the number may have been reused.
fn is_our_array(node: &Path, uuid: &str, access: &mut Access<'_>) -> Result<bool, Cause> {
    if is_stopped(node, access.executor) {
        return Ok(false);
    }
    let answer = access.ask(&Invocation::new(Tool::Mdadm).args(["--detail", "--export"]).arg(node))?;
    Ok(uuid_in(&answer.stdout) == Some(uuid))
}

/// The block device may remain, empty, while its node is open.
fn is_stopped(node: &Path, executor: &mut dyn Executor) -> bool {
    let state = Path::new("/sys/block")
        .join(node.file_name().unwrap_or_default())
        .join("md/array_state");
    executor.read(&state).map_or(true, |state| state == "clear")
}

fn wait_until_gone(node: &Path, executor: &mut dyn Executor) -> Result<(), Cause> {
    for _ in 0..500 {
        if is_stopped(node, executor) {
            return Ok(());
        }
        executor.sleep(Duration::from_millis(10));
    }
    Err(Cause::State(format!(
        "{} was stopped, but is still there",
        node.display()
    )))
}

fn clear_member(member: &Path, uuid: &str, access: &mut Access<'_>) -> Outcome {
    match access.ask(&Invocation::new(Tool::Mdadm).args(["--examine", "--export"]).arg(member)) {
        Ok(answer) if uuid_in(&answer.stdout) == Some(uuid) => {
            access.run(
                &Invocation::new(Tool::Mdadm).arg("--zero-superblock").arg(member),
                &[member],
            )?;
            Ok(Undoing::Undone)
        }
        Ok(answer) if uuid_in(&answer.stdout).is_some() => Ok(Undoing::left(member, "is a member of an array")),
        // mdadm reports a device without a superblock as a failure.
        Ok(_) | Err(ToolError::Exit { .. }) => Ok(Undoing::Undone),
        Err(error) => Err(error.into()),
    }
}

fn uuid_in(export: &str) -> Option<&str> {
    export.lines().find_map(|line| line.strip_prefix("MD_UUID="))
}

/// Whether a signature on the device has this UUID.
fn carries(device: &Path, uuid: &str, access: &mut Access<'_>) -> Result<bool, Cause> {
    let found = access.executor.exists(device) && {
        let uuids = signature_uuids(device, access)?;
        uuids.iter().any(|found| found.eq_ignore_ascii_case(uuid))
    };
    Ok(found)
}

/// The UUIDs of all signatures on a device; empty for those without.
fn signature_uuids(device: &Path, access: &mut Access<'_>) -> Result<Vec<String>, Cause> {
    let list = Invocation::new(Tool::Wipefs)
        .args(["--no-act", "--noheadings", "--output", "UUID"])
        .arg(device);
    let found = access.ask(&list)?.stdout;
    Ok(found.lines().map(|line| line.trim().to_owned()).collect())
}

fn wipe_filesystem(
    device: &Path,
    kind: FilesystemKind,
    array_uuid: Option<&str>,
    access: &mut Access<'_>,
) -> Outcome {
    let is_there = match array_uuid {
        Some(_) => !is_stopped(device, access.executor),
        None => access.executor.exists(device),
    };
    if !is_there {
        return Ok(Undoing::Undone);
    }
    if let Some(uuid) = array_uuid
        && !is_our_array(device, uuid, access)?
    {
        return Ok(Undoing::left(device, "is an array"));
    }
    wipe(device, &filesystem::signatures(kind), access)?;
    Ok(Undoing::Undone)
}

pub(crate) fn wipe(device: &Path, types: &str, access: &mut Access<'_>) -> Result<(), Cause> {
    let call = Invocation::new(Tool::Wipefs)
        .args(["--all", "--quiet", "--types", types])
        .arg(device);
    access.run(&call, &[device])?;
    Ok(())
}

fn unmount(folder: &Path, devices: &[PathBuf], access: &mut Access<'_>) -> Outcome {
    match access.executor.mounted(folder)? {
        Some(mounted) if devices.contains(&mounted.source) => {
            access.executor.unmount(folder)?;
            Ok(Undoing::Undone)
        }
        Some(_) => Ok(Undoing::left(folder, "is the mount point of a filesystem")),
        None => Ok(Undoing::Undone),
    }
}

/// An array that the device was may be stopped already, and the volume closed by hand.
fn close_luks(device: &Path, name: &str, uuid: &str, access: &mut Access<'_>) -> Outcome {
    if !access.executor.exists(device) {
        return Ok(Undoing::Undone);
    }
    let node = device_mapper::node_of(name);
    if access.executor.exists(&node) {
        let kernel_name = access.executor.device(device)?.kernel_name;
        if !device_mapper::is_only_on(name, &kernel_name, access)? {
            return Ok(Undoing::left(&node, "is on a device"));
        }
        access.run(&luks::close(name), &[device])?;
    }
    match carries(device, uuid, access)? {
        true => wipe(device, luks::SIGNATURE, access).map(|()| Undoing::Undone),
        false => left_if_there(device, "has contents", access),
    }
}

/// A physical volume names its group: only devices of the stack's group are changed, and LVM sees no others.
fn remove_volume_group(name: &str, devices: &[PathBuf], access: &mut Access<'_>) -> Outcome {
    let there: Vec<PathBuf> = devices
        .iter()
        .filter(|device| access.executor.exists(device))
        .cloned()
        .collect();
    if there.is_empty() {
        return Ok(Undoing::Undone);
    }
    let udev = lvm::udev_runs(access.executor);
    let report = lvm::call_with("pvs", &there, udev, lvm::ON_ANY_DEVICE);
    let report = report.args(["--noheadings", "--separator", "|", "--options", "pv_name,vg_name"]);
    let answer = access.ask(&report)?.stdout;
    let volumes: Vec<(&str, &str)> = answer.lines().filter_map(|line| line.trim().split_once('|')).collect();
    if volumes.iter().any(|(_, group)| *group == name) {
        let remove = lvm::call_with("vgremove", &there, udev, lvm::ON_ANY_DEVICE);
        access.run(&remove.args(["--force", "--yes", name]), &there)?;
    }
    let mut undoing = Undoing::Undone;
    for (device, group) in volumes {
        if group == name || group.is_empty() {
            let remove = lvm::call_with("pvremove", &there, udev, lvm::ON_ANY_DEVICE);
            access.run(&remove.args(["--yes", device]), &[device])?;
        } else {
            undoing = undoing.and(Undoing::left(Path::new(device), "is in a volume group"));
        }
    }
    Ok(undoing)
}

/// A pool that is not imported need not be destroyed: its labels are erased with the partitions.
fn destroy_pool(name: &str, partitions: &[PathBuf], access: &mut Access<'_>) -> Outcome {
    let pools = access
        .ask(&Invocation::new(ZPOOL).args(["list", "-H", "-o", "name"]))?
        .stdout;
    if !pools.lines().any(|line| line.trim() == name) {
        return Ok(Undoing::Undone);
    }
    let status = access.ask(&Invocation::new(ZPOOL).args(["status", "-P", name]))?.stdout;
    let first_words = status.lines().filter_map(|line| line.split_whitespace().next());
    let mut devices = first_words.filter(|word| word.starts_with('/')).map(Path::new);
    if devices.all(|device| partitions.iter().any(|ours| ours == device)) {
        access.run(&Invocation::new(ZPOOL).args(["destroy", "-f", name]), partitions)?;
        return Ok(Undoing::Undone);
    }
    Ok(Undoing::Left(format!(
        "the pool {name} is on devices that are not the run's: it is not changed"
    )))
}

fn wipe_partitions(device: &Path, uuid: &str, access: &mut Access<'_>) -> Outcome {
    if !access.executor.exists(device) {
        return Ok(Undoing::Undone);
    }
    let found = match access.ask(&Invocation::new(Tool::Sfdisk).arg("--disk-id").arg(device)) {
        Ok(found) => found.stdout,
        // There is no table.
        Err(ToolError::Exit { .. }) => return Ok(Undoing::Undone),
        Err(error) => return Err(error.into()),
    };
    if !found.trim().eq_ignore_ascii_case(uuid) {
        return match found.trim().is_empty() {
            true => Ok(Undoing::Undone),
            false => Ok(Undoing::left(device, "has a partition table")),
        };
    }
    let partition = partition_table::partition_of(&access.executor.device(device)?);
    if access.executor.exists(&partition) {
        wipe(&partition, &filesystem::signatures(FilesystemKind::Zfs), access)?;
    }
    wipe(device, "gpt,PMBR", access)?;
    Ok(Undoing::Undone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::disk_check::{DiskCheck, NoDiskCheck};
    use crate::machine::executor::System;
    use tools::Tools;

    fn undone(act: &Undo, check: &mut dyn DiskCheck) -> Outcome {
        let mut tools = Tools::find(&[]).expect("nothing is wanted");
        let mut access = Access {
            executor: &mut System::new(&mut tools),
            recorder: &mut |_| (),
            check,
        };
        undo(act, &mut access)
    }

    #[test]
    fn the_uuid_of_an_export() {
        let export = "MD_LEVEL=raid1\nMD_METADATA=1.2\nMD_UUID=01:02:03:04\nMD_DEVNAME=x\n";
        assert_eq!(uuid_in(export), Some("01:02:03:04"));
        assert_eq!(uuid_in("MD_LEVEL=raid1\n"), None);
    }

    #[test]
    fn what_is_gone_is_undone() {
        let folder = tempfile::tempdir().expect("a folder");
        let gone = folder.path().join("gone");
        let acts = [
            Undo::Attribute {
                path: gone.clone(),
                value: "x".into(),
            },
            Undo::Array {
                node: "/dev/md255".into(),
                uuid: "u".into(),
                members: Vec::new(),
            },
            Undo::Filesystem {
                device: gone.clone(),
                kind: FilesystemKind::Ext4,
                array_uuid: None,
                uuid: Some("u".into()),
            },
            Undo::Integrity {
                disk: gone.clone(),
                name: "raidlab-integrity-0".to_owned(),
            },
            Undo::Folder { path: gone.clone() },
            Undo::Mount {
                folder: gone,
                device: "/dev/md255".into(),
            },
        ];
        for act in acts {
            let undoing = undone(&act, &mut NoDiskCheck).expect("nothing to do");
            assert_eq!(undoing, Undoing::Undone, "{act}");
        }
    }

    /// `clean` said `undone` of it.
    #[test]
    fn what_another_has_mounted_is_left_and_not_undone() {
        let act = Undo::Mount {
            folder: "/proc".into(),
            device: "/dev/md255".into(),
        };
        let undoing = undone(&act, &mut NoDiskCheck).expect("it is looked at");
        assert!(
            matches!(&undoing, Undoing::Left(why) if why.starts_with("/proc ")),
            "{undoing:?}"
        );
    }

    /// Without mdadm the state of the member is unknown, so it does not count as undone.
    #[test]
    fn what_cannot_be_looked_at_is_not_undone() {
        let members = vec![PathBuf::from("/dev/null")];
        let act = Undo::Array {
            node: "/dev/md255".into(),
            uuid: "u".into(),
            members,
        };
        let cause = undone(&act, &mut NoDiskCheck).expect_err("has no mdadm");
        assert!(cause.to_string().starts_with("missing tool `mdadm`"), "{cause}");
    }

    #[test]
    fn a_folder_with_something_in_it_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("mine"), "").expect("written");
        let act = Undo::Folder {
            path: folder.path().to_owned(),
        };
        undone(&act, &mut NoDiskCheck).expect_err("is not empty");
        assert!(folder.path().join("mine").exists());
    }
}
