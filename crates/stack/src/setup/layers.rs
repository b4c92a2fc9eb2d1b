//! Layers on members and on the array.

use super::steps::{Setup, wait_for};
use crate::array::lvm::LayerGroup;
use crate::array::lvm_cache::CachedVolume;
use crate::array::lvm_volume::LogicalVolume;
use crate::array::partition_table::Place;
use crate::array::{bcache, luks};
use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::device_mapper;
use crate::machine::disks::Disks;
use crate::machine::error::Cause;
use crate::machine::executor::read_number;
use crate::machine::undo::Undo;
use crate::machine::uuid;
use std::path::Path;
use study::stack::{CACHE, CacheKind, DiskCache, GptPartition, Layer, Luks, StackSpec, Volume};

impl Setup {
    /// A stack's layers on a device, from the device up. `member` is its number; absent for the array.
    pub(super) fn layers(
        &mut self,
        spec: &StackSpec,
        device: &BlockDevice,
        (stack, member, disks): (&str, Option<usize>, &Disks),
        context: &mut Context<'_>,
    ) -> Result<Vec<BlockDevice>, Cause> {
        let layers = match member {
            Some(_) => &spec.member_layers,
            None => &spec.layers,
        };
        let mut made: Vec<BlockDevice> = Vec::with_capacity(layers.len());
        for layer in layers {
            let top = made.last().unwrap_or(device).clone();
            made.push(match *layer {
                Layer::Partition(partition) => self.partition_layer(partition, &top, context)?,
                Layer::Luks(luks) => self.luks(luks, &top, &luks::name_of(stack, member), context)?,
                Layer::Cache(cache) if cache.kind == CacheKind::Bcache => {
                    self.bcache(cache, &top, disks.first(CACHE)?, context)?
                }
                Layer::Cache(cache) => self.cache(cache, &top, (stack, disks.first(CACHE)?), context)?,
                Layer::Volume(volume) => self.logical_volume((volume, spec.snapshots), &top, stack, context)?,
            });
        }
        Ok(made)
    }

    fn partition_layer(
        &mut self,
        partition: GptPartition,
        device: &BlockDevice,
        context: &mut Context<'_>,
    ) -> Result<BlockDevice, Cause> {
        let place = Place::of(partition, sector_bytes(device, context)?)?;
        let node = self.partition(device, place, context)?;
        context.access.executor.device(&node)
    }

    fn logical_volume(
        &mut self,
        (volume, snapshots): (Volume, u32),
        device: &BlockDevice,
        stack: &str,
        context: &mut Context<'_>,
    ) -> Result<BlockDevice, Cause> {
        self.begin("create volume", context);
        let volume = LogicalVolume::of(volume, snapshots, stack, &device.path, context.access.executor);
        self.intend_group(&volume.group, context)?;
        volume.create(&mut context.access)?;
        let node = wait_for(&volume.group.node(), context)?;
        self.volume = Some(volume);
        Ok(node)
    }

    /// On a partition of the cache's size, or on the whole disk.
    fn bcache(
        &mut self,
        cache: DiskCache,
        device: &BlockDevice,
        disk: &Path,
        context: &mut Context<'_>,
    ) -> Result<BlockDevice, Cause> {
        let fast = match cache.size_bytes {
            None => disk.to_owned(),
            Some(bytes) => {
                let disk = context.access.executor.device(disk)?;
                let place = Place {
                    sectors: Some(bytes / sector_bytes(&disk, context)?),
                    ..Place::default()
                };
                self.partition(&disk, place, context)?
            }
        };
        self.begin("create cache", context);
        let set = uuid::of_filesystem(context.access.executor)?;
        let undo = Undo::Bcache {
            backing: device.path.clone(),
            cache: fast.clone(),
            set: set.clone(),
        };
        self.intend(undo, context)?;
        let devices = [device.path.as_path(), &fast];
        context
            .access
            .run(&bcache::format(&device.path, &fast, &set), &devices)?;
        let node = bcache::start(&device.path, &fast, cache, context.access.executor)?;
        wait_for(&node, context)
    }

    /// Records that a volume group will be made, and rejects one with its name.
    fn intend_group(&mut self, group: &LayerGroup, context: &mut Context<'_>) -> Result<(), Cause> {
        let folder = Path::new("/dev").join(&group.name);
        if context.access.executor.exists(&folder) {
            return Err(Cause::State(format!("{} already exists", folder.display())));
        }
        let undo = Undo::VolumeGroup {
            name: group.name.clone(),
            devices: group.devices.clone(),
        };
        self.intend(undo, context)
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
        self.intend_group(&volume.group, context)?;
        for call in volume.creation() {
            context.access.run(&call, &volume.group.devices)?;
        }
        wait_for(&volume.group.node(), context)
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

fn sector_bytes(device: &BlockDevice, context: &mut Context<'_>) -> Result<u64, Cause> {
    read_number(context.access.executor, &device.queue().join("logical_block_size"))
}
