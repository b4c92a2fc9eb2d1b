//! Layers on members and on the array.

use super::steps::{Setup, wait_for};
use crate::array::luks;
use crate::array::lvm_cache::CachedVolume;
use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::device_mapper;
use crate::machine::disks::Disks;
use crate::machine::error::Cause;
use crate::machine::undo::Undo;
use crate::machine::uuid;
use std::path::Path;
use study::stack::{CACHE, DiskCache, Layer, Luks};

impl Setup {
    /// Each device with these layers on it, from the device up. `member` is its number; absent for the array.
    pub(super) fn layers(
        &mut self,
        layers: &[Layer],
        device: &BlockDevice,
        (stack, member, disks): (&str, Option<usize>, &Disks),
        context: &mut Context<'_>,
    ) -> Result<BlockDevice, Cause> {
        let mut top = device.clone();
        for layer in layers {
            top = match *layer {
                Layer::Luks(luks) => self.luks(luks, &top, &luks::name_of(stack, member), context)?,
                Layer::Cache(cache) => self.cache(cache, &top, (stack, disks.first(CACHE)?), context)?,
            };
        }
        Ok(top)
    }

    fn cache(
        &mut self,
        cache: DiskCache,
        device: &BlockDevice,
        (stack, disk): (&str, &Path),
        context: &mut Context<'_>,
    ) -> Result<BlockDevice, Cause> {
        self.begin("create cache", context);
        let volume = CachedVolume::of(cache, stack, [&device.path, disk], context.access.executor);
        let folder = Path::new("/dev").join(&volume.group);
        if context.access.executor.exists(&folder) {
            return Err(Cause::State(format!("{} already exists", folder.display())));
        }
        let undo = Undo::VolumeGroup {
            name: volume.group.clone(),
            devices: volume.devices.to_vec(),
        };
        self.intend(undo, context)?;
        for call in volume.creation() {
            context.access.run(&call, &volume.devices)?;
        }
        wait_for(&volume.node(), context)
    }

    /// What was never written decrypts to random bytes: nothing above is zero.
    fn luks(
        &mut self,
        luks: Luks,
        device: &BlockDevice,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<BlockDevice, Cause> {
        self.begin("encrypt", context);
        self.zeroed = false;
        let node = device_mapper::node_of(name);
        if context.access.executor.exists(&node) {
            return Err(Cause::State(format!("{} already exists", node.display())));
        }
        let from = self.acts.len();
        let uuid = uuid::of_filesystem(context.access.executor)?;
        let path = device.path.as_path();
        let undo = Undo::Luks {
            device: path.to_owned(),
            name: name.to_owned(),
            uuid: uuid.clone(),
        };
        self.intend(undo, context)?;
        context.access.run(&luks::format(path, &uuid, luks), &[path])?;
        self.made(from, context)?;
        context.access.run(&luks::open(path, name, luks), &[path])?;
        let table = context.access.ask(&device_mapper::table(name))?.stdout;
        let missing = luks::missing_settings(&table, luks);
        if !missing.is_empty() {
            return Err(Cause::State(format!(
                "{name} was opened without {}: `{}`",
                missing.join(" and "),
                table.trim()
            )));
        }
        wait_for(&node, context)
    }
}
