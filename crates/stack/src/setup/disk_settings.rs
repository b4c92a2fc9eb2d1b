//! Queues, write caches and read-ahead of the disks.

use super::steps::Setup;
use crate::machine::context::{Context, DiskKind};
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::request_queue;
use crate::machine::undo::Undo;
use std::path::Path;
use study::stack::StackSpec;

impl Setup {
    /// Scheduler, queue depth and write cache of the disks.
    pub(super) fn queues(
        &mut self,
        spec: &StackSpec,
        members: &[BlockDevice],
        context: &mut Context<'_>,
    ) -> Result<(), Cause> {
        if let Some(scheduler) = &spec.scheduler {
            self.begin("set scheduler", context);
            for disk in members {
                self.scheduler(disk, scheduler, context)?;
            }
        }
        if let Some(depth) = spec.queue_depth.filter(|_| context.setting.disk_kind == DiskKind::Real) {
            self.begin("set queue depth", context);
            for disk in members {
                let attribute = request_queue::depth_attribute(disk, context.access.executor).ok_or_else(|| {
                    Cause::Impossible(format!(
                        "the queue depth of {} cannot be set: only SCSI and SATA disks support this",
                        disk.kernel_name
                    ))
                })?;
                self.attribute(&attribute, &depth.to_string(), context)?;
            }
        }
        if let Some(on) = spec.write_cache {
            self.begin("set write cache", context);
            for disk in members {
                self.write_cache(disk, on, context)?;
            }
        }
        Ok(())
    }

    pub(super) fn scheduler(
        &mut self,
        disk: &BlockDevice,
        wanted: &str,
        context: &mut Context<'_>,
    ) -> Result<(), Cause> {
        let former = request_queue::scheduler(disk, context.access.executor)?;
        if former == wanted {
            return Ok(());
        }
        request_queue::check_choice(disk, wanted, context.access.executor)?;
        let path = request_queue::scheduler_attribute(disk);
        self.intend(Undo::Attribute { path, value: former }, context)?;
        request_queue::set_scheduler(disk, wanted, context.access.executor)
    }

    pub(super) fn write_cache(
        &mut self,
        disk: &BlockDevice,
        on: bool,
        context: &mut Context<'_>,
    ) -> Result<(), Cause> {
        if request_queue::write_cache(disk, context.access.executor)? == on {
            return Ok(());
        }
        let word = if on { "write back" } else { "write through" };
        let Some(attribute) = request_queue::cache_type_attribute(disk, context.access.executor) else {
            let wanted = if on { "on" } else { "off" };
            return Err(Cause::Impossible(format!(
                "the write cache of {} cannot be switched {wanted}: only SCSI and SATA disks support this",
                disk.kernel_name
            )));
        };
        self.attribute(&attribute, word, context)
    }

    /// Sets an attribute in /sys and checks that it has the value.
    pub(super) fn attribute(&mut self, path: &Path, wanted: &str, context: &mut Context<'_>) -> Result<(), Cause> {
        let value = context.access.executor.read(path)?;
        if value == wanted {
            return Ok(());
        }
        let undo = Undo::Attribute {
            path: path.to_owned(),
            value,
        };
        self.intend(undo, context)?;
        context.access.executor.write(path, wanted)?;
        let got = context.access.executor.read(path)?;
        if got == wanted {
            return Ok(());
        }
        Err(Cause::Setting {
            what: path.display().to_string(),
            wanted: wanted.to_owned(),
            got,
        })
    }

    pub(super) fn read_ahead(
        &mut self,
        spec: &StackSpec,
        device: &BlockDevice,
        mount_point: Option<&Path>,
        context: &mut Context<'_>,
    ) -> Result<(), Cause> {
        let Some(sectors) = spec.read_ahead_sectors else {
            return Ok(());
        };
        self.begin("set read-ahead", context);
        let attribute = request_queue::read_ahead_attribute(device);
        let value = context.access.executor.read(&attribute)?;
        let path = attribute.clone();
        self.intend(Undo::Attribute { path, value }, context)?;
        request_queue::set_read_ahead(&attribute, sectors, context.access.executor)?;
        if spec.filesystem.kind.reads_ahead_itself && mount_point.is_some() {
            // btrfs has its own read-ahead setting, which ends with the mount.
            let attribute = request_queue::btrfs_read_ahead_attribute(device, context.access.executor)?;
            request_queue::set_read_ahead(&attribute, sectors, context.access.executor)?;
        }
        Ok(())
    }
}
