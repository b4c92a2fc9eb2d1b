//! Layers, LVM's volumes and pools.

use super::Comparison;
use crate::array::zfs::{self, ZFS};
use crate::array::{luks, lvm, lvm_cache};
use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::device_mapper;
use crate::machine::error::Cause;
use crate::machine::request_queue::in_use;
use crate::setup::stack::Stack;
use study::stack::{CacheKind, DiskCache, Layer, Luks, StackSpec, Volume};
use tools::Invocation;

/// Compares all of them. An act may have replaced a member, whose layers are then not compared.
pub(super) fn compare(
    stack: &Stack,
    spec: &StackSpec,
    has_acts: bool,
    all: &mut Comparison,
    context: &mut Context<'_>,
) -> Result<(), Cause> {
    let name = context.setting.name;
    for number in (0..stack.below.len()).filter(|_| !has_acts) {
        for layer in &spec.member_layers {
            if let Layer::Luks(asked) = layer {
                of_luks(&luks::name_of(name, Some(number)), *asked, all, context)?;
            }
        }
    }
    for (layer, device) in spec.layers.iter().zip(&stack.layers) {
        match *layer {
            Layer::Luks(asked) => of_luks(&luks::name_of(name, None), asked, all, context)?,
            Layer::Cache(cache) => of_cache(cache, device, all, context)?,
            Layer::Volume(volume) => of_volume(volume, stack, all, context)?,
            Layer::Partition(partition) => {
                let start = context.access.executor.read(&device.sysfs.join("start"))?;
                let key = format!("first sector of {}", device.kernel_name);
                all.compare(&key, &partition.start_sector.to_string(), &start);
            }
        }
    }
    if spec.array.level.is_lvm() {
        of_lvm(stack, spec, all, context)?;
    }
    of_pool(stack, spec, all, context)
}

fn of_luks(name: &str, asked: Luks, all: &mut Comparison, context: &mut Context<'_>) -> Result<(), Cause> {
    let settings = luks::settings(asked);
    if settings.is_empty() {
        return Ok(());
    }
    let table = context.access.ask(&device_mapper::table(name))?.stdout;
    for setting in settings {
        all.compare(&format!("table of {name}"), &setting, table.trim());
    }
    Ok(())
}

/// The table of the stack's own dm-cache: the machine may have others.
fn of_cache(
    cache: DiskCache,
    device: &BlockDevice,
    all: &mut Comparison,
    context: &mut Context<'_>,
) -> Result<(), Cause> {
    let asked = if cache.writeback { "writeback" } else { "writethrough" };
    match cache.kind {
        CacheKind::DmCache => {
            let name = lvm_cache::mapper_name(context.setting.name);
            let table = context.access.ask(&device_mapper::table(&name))?.stdout;
            all.compare("mode of dm-cache", asked, table.trim());
        }
        CacheKind::Bcache => {
            let modes = context.access.executor.read(&device.sysfs.join("bcache/cache_mode"))?;
            let key = format!("cache_mode of {}", device.kernel_name);
            all.compare(&key, asked, in_use(&modes));
        }
        CacheKind::Writecache => {}
    }
    Ok(())
}

fn of_volume(volume: Volume, stack: &Stack, all: &mut Comparison, context: &mut Context<'_>) -> Result<(), Cause> {
    let (Some(asked), Some(made)) = (volume.chunk_bytes, &stack.volume) else {
        return Ok(());
    };
    let ask = made
        .group
        .call("lvs")
        .args(["--noheadings", "--nosuffix", "--units", "b"]);
    let ask = ask.args(["--options", "chunk_size"]).arg(&made.group.name);
    let shown = context.access.ask(&ask)?.stdout;
    // The volume itself has none, its pool or its snapshots have.
    let chunks: Vec<&str> = shown.split_whitespace().filter(|chunk| *chunk != "0").collect();
    if !chunks.is_empty() {
        let key = format!("chunk_size of {}", made.group.name);
        all.compare(&key, &asked.to_string(), &chunks.join(" "));
    }
    Ok(())
}

fn of_lvm(stack: &Stack, spec: &StackSpec, all: &mut Comparison, context: &mut Context<'_>) -> Result<(), Cause> {
    let array = &spec.array;
    let asked = [
        ("stripe_size", array.chunk_bytes),
        ("vg_extent_size", array.extent_bytes),
    ];
    let group = lvm::group_of(context.setting.name);
    let devices: Vec<_> = stack.below.iter().map(|device| device.path.clone()).collect();
    let udev = lvm::udev_runs(context.access.executor);
    for (field, asked) in asked {
        let Some(asked) = asked else { continue };
        let ask = lvm::call("lvs", &devices, udev).args(["--noheadings", "--nosuffix", "--units", "b"]);
        let shown = context.access.ask(&ask.args(["--options", field]).arg(&group))?.stdout;
        all.compare(&format!("{field} of {group}"), &asked.to_string(), shown.trim());
    }
    Ok(())
}

/// Properties of the pool's dataset, or of its zvol.
fn of_pool(stack: &Stack, spec: &StackSpec, all: &mut Comparison, context: &mut Context<'_>) -> Result<(), Cause> {
    let Some(pool) = stack.pool() else { return Ok(()) };
    let zvol = stack.image.as_ref().map(|image| image.zvol());
    let dataset = zvol.as_deref().unwrap_or(&pool.name);
    let block = spec.image.as_ref().and_then(|image| image.block_bytes);
    let mut asked = zfs::properties(spec.lowest_filesystem());
    asked.extend(block.map(|bytes| ("volblocksize", bytes.to_string())));
    if asked.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = asked.iter().map(|(name, _)| *name).collect();
    let ask = Invocation::new(ZFS)
        .args(["get", "-H", "-p", "-o", "property,value"])
        .arg(names.join(","))
        .arg(dataset);
    let shown = context.access.ask(&ask)?.stdout;
    for (property, asked) in asked {
        let mut values = shown.lines().filter_map(|line| line.split_once('\t'));
        let found = values.find_map(|(name, value)| (name == property).then_some(value.trim()));
        let key = format!("{property} of {dataset}");
        all.compare(&key, &asked, found.unwrap_or("nothing"));
    }
    Ok(())
}
