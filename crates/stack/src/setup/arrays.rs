//! md arrays and LVM logical volumes.

use super::integrity::must_have_checksums;
use super::steps::{BaseDevice, Setup, wait_for};
use crate::array::lvm::{self, Volume};
use crate::array::md::{self, Array, Creation};
use crate::filesystem::mounting::Mounting;
use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::disks::Disks;
use crate::machine::error::Cause;
use crate::machine::mount_options;
use crate::machine::undo::Undo;
use crate::machine::uuid;
use std::path::{Path, PathBuf};
use study::stack::{ArraySpec, BITMAP, Bitmap, FilesystemKind, InitialResync, JOURNAL};

impl Setup {
    pub(super) fn md(
        &mut self,
        spec: &ArraySpec,
        disks: &Disks,
        on: &[BlockDevice],
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<BaseDevice, Cause> {
        let checksummed = match spec.integrity {
            Some(integrity) => self.integrity(spec, integrity, on, name, context)?,
            None => Vec::new(),
        };
        let paths: Vec<PathBuf> = match checksummed.is_empty() {
            true => on.iter().map(|disk| disk.path.clone()).collect(),
            false => checksummed
                .iter()
                .map(|checksummed| checksummed.device.path.clone())
                .collect(),
        };
        let bitmap_file = match spec.bitmap {
            Bitmap::External => Some(self.bitmap_file(disks.first(BITMAP)?, name, context)?),
            _ => None,
        };
        let mut inner = Vec::new();
        let mut members = paths.clone();
        let outer = md::outer(spec);
        if let (Some(of), Some(of_each)) = (spec.of, md::inner(spec)) {
            for (number, paths) in paths.chunks(of.disks as usize).enumerate() {
                let name = format!("{name}-{number}");
                inner.push(self.array(&of_each, paths, &name, (None, None), context)?);
            }
            members = inner.iter().map(|array| array.device.path.clone()).collect();
        }
        let journal = match spec.write_journal {
            true => Some(disks.first(JOURNAL)?),
            false => None,
        };
        let made = self.array(&outer, &members, name, (journal, bitmap_file.as_deref()), context)?;
        made.record(context);
        must_have_checksums(spec, &made, &checksummed, context)?;
        Ok(BaseDevice {
            devices: vec![made.device.clone()],
            array: Some(made),
            inner,
            checksummed,
        })
    }

    pub(super) fn array(
        &mut self,
        spec: &ArraySpec,
        members: &[PathBuf],
        name: &str,
        (journal, bitmap_file): (Option<&Path>, Option<&Path>),
        context: &mut Context<'_>,
    ) -> Result<Array, Cause> {
        self.begin(
            if context.setting.created {
                "assemble"
            } else {
                "create array"
            },
            context,
        );
        let node = md::free_node(context.access.executor)?;
        let uuid = uuid::of_array(context.access.executor)?;
        let written: Vec<PathBuf> = members.iter().cloned().chain(journal.map(Path::to_owned)).collect();
        let start = match (context.setting.created, bitmap_file) {
            (true, Some(file)) => md::assembly(&node, &["--bitmap".as_ref(), file.as_ref()], &written),
            (true, None) => md::assembly(&node, &[], &written),
            (false, _) => Creation {
                spec,
                node: &node,
                name,
                uuid: &uuid,
                members,
                journal,
                bitmap_file,
                // dm-integrity has written zeros to everything that md uses.
                in_sync: match spec.initial_resync {
                    Some(InitialResync::During) => false,
                    Some(InitialResync::AssumeClean) => true,
                    None => self.zeroed || spec.integrity.is_some(),
                },
            }
            .invocation()?,
        };
        let undo = Undo::Array {
            node: node.clone(),
            uuid: uuid.clone(),
            members: written.clone(),
        };
        self.intend(undo, context)?;
        context.access.run(&start, &written)?;
        let device = wait_for(&node, context)?;
        let mut array = Array {
            device,
            uuid,
            redundant: spec.level.is_redundant(),
            sync_speed_max: None,
            resyncs: spec.initial_resync == Some(InitialResync::During),
        };
        array.check_created(spec, members, context.access.executor)?;
        if array.resyncs {
            array.hold_resync(context.access.executor)?;
        } else if !array.is_idle(context.access.executor)? {
            self.begin("wait for resync", context);
            array.wait_until_idle(context.access.executor)?;
        }
        array.set(spec, context.access.executor)?;
        Ok(array)
    }

    /// A small filesystem for the file of an external bitmap; md requires ext2 or ext3.
    pub(super) fn bitmap_file(
        &mut self,
        disk: &Path,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<PathBuf, Cause> {
        self.begin("make filesystem for the bitmap", context);
        let uuid = uuid::of_filesystem(context.access.executor)?;
        let make = (!context.setting.created).then(|| md::filesystem_of_bitmap(disk, &uuid));
        let undo = Undo::Filesystem {
            device: disk.to_owned(),
            kind: FilesystemKind::Ext2,
            array_uuid: None,
            uuid: Some(uuid),
        };
        self.intend(undo, context)?;
        if let Some(make) = make {
            context.access.run(&make, &[disk])?;
        }
        let mounting = Mounting {
            source: disk.to_owned(),
            devices: vec![disk.to_owned()],
            kind: FilesystemKind::Ext2,
            arguments: mount_options::parse(&[], None)?,
            options: Vec::new(),
            pool: None,
            is_lazy: false,
        };
        let folder = self.mount(&mounting, &format!("{name}-bitmap"), context)?;
        Ok(folder.join("bitmap"))
    }

    pub(super) fn volume(
        &mut self,
        spec: &ArraySpec,
        devices: &[PathBuf],
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<BlockDevice, Cause> {
        self.begin("create volume", context);
        let group = lvm::group_of(name);
        let volume = Volume {
            spec,
            group: &group,
            devices,
            zeroed: self.zeroed,
            udev: lvm::udev_runs(context.access.executor),
        };
        volume.must_be_free(context.access.executor)?;
        let undo = Undo::VolumeGroup {
            name: group.clone(),
            devices: devices.to_vec(),
        };
        self.intend(undo, context)?;
        context.access.run(&volume.create_group(), devices)?;
        context.access.run(&volume.create_volume(), devices)?;
        let device = wait_for(&volume.device(), context)?;
        self.begin("wait for synchronisation", context);
        volume.wait_until_in_sync(&mut context.access)?;
        Ok(device)
    }
}
