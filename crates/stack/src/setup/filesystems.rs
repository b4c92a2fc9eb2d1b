//! The filesystem, its external journal, and the mount.

use super::steps::{BaseDevice, Setup};
use crate::array::stripes;
use crate::filesystem::mounting::Mounting;
use crate::filesystem::{self, Making};
use crate::machine::context::{Context, Teardown};
use crate::machine::disks::Disks;
use crate::machine::error::Cause;
use crate::machine::undo::Undo;
use crate::machine::uuid;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::stack::{FilesystemKind, StackSpec};
use tools::{Invocation, Version};

/// Writing the inode tables of many terabytes takes hours; the trial has its own time limit.
const MKFS_LIMIT: Duration = Duration::from_secs(24 * 3600);

impl Setup {
    pub(super) fn filesystem(
        &mut self,
        spec: &StackSpec,
        base: &BaseDevice,
        disks: &Disks,
        version: &Version,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<(Option<PathBuf>, Option<Mounting>), Cause> {
        let of = &spec.filesystem;
        if of.kind.is_pool() {
            let (folder, mounting) = self.pool(spec, base, disks, name, context)?;
            return Ok((Some(folder), Some(mounting)));
        }
        let devices: Vec<PathBuf> = base.devices.iter().map(|device| device.path.clone()).collect();
        let journal = match &of.journal_on {
            Some(group) => Some(disks.first(group)?),
            None => None,
        };
        let tier = of.tier.as_deref().map_or(&[][..], |group| disks.group(group));
        let members = disks.members(&spec.array);
        let of_tier: Vec<bool> = members.iter().map(|disk| tier.contains(disk)).collect();
        let make = Making {
            spec: of,
            devices: &devices,
            of_tier: &of_tier,
            journal,
            stripes: stripes::of(&spec.array, members.len()),
            zeroed: self.zeroed,
            mkfs: version,
        }
        .invocation()?;
        let Some(make) = make else { return Ok((None, None)) };
        if context.setting.created {
            let mounting = Mounting::of(spec, devices, journal)?;
            let folder = self.mount(&mounting, name, context)?;
            return Ok((Some(folder), Some(mounting)));
        }
        self.begin("mkfs", context);
        let first = self.acts.len();
        if let Some(device) = journal {
            let (device, types) = (device.to_owned(), filesystem::journal_signatures());
            self.intend(Undo::Signatures { device, types }, context)?;
        }
        if let Some(device) = journal
            && let Some(call) = filesystem::journal_device(of, device)
        {
            context.access.run(&call, &[device])?;
            self.made(first, context)?;
        }
        let (make, uuid) = known_again(of.kind, make, base, context)?;
        for device in &devices {
            let undo = Undo::Filesystem {
                device: device.clone(),
                kind: of.kind,
                array_uuid: base.array_of_device().map(|array| array.uuid.clone()),
                uuid: uuid.clone(),
            };
            self.intend(undo, context)?;
        }
        let written: Vec<&Path> = devices.iter().map(PathBuf::as_path).chain(journal).collect();
        context.access.run(&make.limit(MKFS_LIMIT), &written)?;
        self.made(first, context)?;
        let mounting = Mounting::of(spec, devices, journal)?;
        let folder = self.mount(&mounting, name, context)?;
        Ok((Some(folder), Some(mounting)))
    }

    pub(super) fn mount(
        &mut self,
        mounting: &Mounting,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<PathBuf, Cause> {
        self.begin("mount", context);
        let folder = context.setting.work_folder.join(name);
        if context.access.executor.exists(&folder) {
            return Err(Cause::State(format!("{} already exists", folder.display())));
        }
        self.intend(Undo::Folder { path: folder.clone() }, context)?;
        let folder = context.access.executor.make_folder(&folder)?;
        let undo = match mounting.devices.as_slice() {
            [device] => Undo::Mount {
                folder: folder.clone(),
                device: device.clone(),
            },
            _ => Undo::MountOfSeveral {
                folder: folder.clone(),
                devices: [mounting.devices.as_slice(), std::slice::from_ref(&mounting.source)].concat(),
            },
        };
        self.intend(undo, context)?;
        let mounted = mounting.mount(&folder, &mut context.access)?;
        context.provenance("mount.type", mounted.kind);
        context.provenance("mount.options", mounted.options);
        Ok(folder)
    }
}

/// On a real disk a filesystem gets a UUID that is in the ledger; on an array of the run it is identified by the
/// array.
fn known_again(
    kind: FilesystemKind,
    make: Invocation,
    base: &BaseDevice,
    context: &mut Context<'_>,
) -> Result<(Invocation, Option<String>), Cause> {
    if base.array_of_device().is_some() || context.setting.teardown == Teardown::None {
        return Ok((make, None));
    }
    let uuid = uuid::of_filesystem(context.access.executor)?;
    Ok(match filesystem::with_uuid(kind, make.clone(), &uuid) {
        Some(make) => (make, Some(uuid)),
        None => (make, None),
    })
}
