//! Rules of layers: what can be below and above what.

use crate::axes::Point;
use crate::rules::consistency::group_is_there;
use crate::rules::impossible::{Impossible, PAGE_BYTES, impossible};
use crate::schema::keys;
use crate::syntax::unit::describe_size;
use study::stack::{CACHE, CacheKind, Layer, Level, MachineKind, MachineSpec, StackSpec, VolumeKind};

const ABOUT: &[&str] = &["luks", "cache", "partition", "volume", "level", "type", "integrity"];

/// All reasons why the layers of a stack are impossible.
pub(crate) fn check(machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
    let mut all = Vec::new();
    all.extend(place(stack));
    all.extend(stack.all_layers().find_map(sector_size));
    all.extend(cache(machine, stack));
    all.extend(volume(stack));
    all.extend(snapshots(stack));
    all
}

/// A volume of LVM on an array, with a disk of another group.
fn cache(machine: &MachineSpec, stack: &StackSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["cache", "cache_mode", "cache_size", "level", "type"];
    let cache = stack.cache()?;
    let name = cache.kind.word();
    if stack.array.level.is_lvm() && cache.kind != CacheKind::Bcache {
        let reason = format!("{name} is made of LVM's volumes, which raidlab does not put on other volumes of LVM");
        return impossible(ABOUT, reason, "use a level of md, or a single disk");
    }
    if cache.kind == CacheKind::Writecache && cache.writeback {
        let reason =
            "`mode` is for dm-cache and bcache: dm-writecache always acknowledges a write when the cache has it"
                .to_owned();
        return impossible(
            ABOUT,
            reason,
            "leave `mode` out, or put dm-writecache in a [[stack]] of its own",
        );
    }
    if cache.kind == CacheKind::Bcache && cache.size_bytes.is_some_and(|bytes| bytes < BCACHE_BYTES_MIN) {
        let size = describe_size(cache.size_bytes.unwrap_or_default());
        let reason = format!("bcache needs 1024 buckets of 512K, more than {size}");
        return impossible(ABOUT, reason, "write size = \"512M\" or more");
    }
    if cache.kind == CacheKind::Writecache && machine.kind == MachineKind::Lab {
        let Some(bytes) = cache.size_bytes else {
            let reason = format!(
                "{name} keeps {WRITECACHE_ENTRY_BYTES} bytes in memory for each 4 KiB, more than a guest has for a whole disk"
            );
            return impossible(ABOUT, reason, "write a `size`, as size = \"1G\"");
        };
        let memory = bytes / PAGE_BYTES * WRITECACHE_ENTRY_BYTES;
        if memory > machine.ram_bytes / 4 {
            let (size, needs) = (describe_size(bytes), describe_size(memory));
            let reason = format!("{name} of {size} needs {needs} of memory, more than a quarter of the machine's");
            return impossible(ABOUT, reason, "make `size` smaller, or `ram` larger");
        }
    }
    group_is_there(machine, CACHE, ABOUT, name)
}

/// `cache_alloc()` of drivers/md/bcache/super.c, with the buckets that make-bcache makes.
const BCACHE_BYTES_MIN: u64 = 1024 * (512 << 10);

/// `struct wc_entry` of drivers/md/dm-writecache.c, and the entry's metadata.
const WRITECACHE_ENTRY_BYTES: u64 = 80;

/// A setting of a layer where there is none.
pub(crate) fn setting_of_nothing(stack: &StackSpec, point: &Point) -> Option<Impossible> {
    let is_set = |axis: &&str| point.flag(axis) || point.number(axis).is_some() || point.text(axis).is_some();
    if point.text("luks").as_deref() == Some("volume") && stack.volume().is_none() {
        let reason = "there is no volume that could be encrypted".to_owned();
        let help = "write on = \"array\", or add a volume, as volume = { type = \"linear\" }";
        return impossible(&["luks", "volume"], reason, help);
    }
    let has = |is_it: fn(&Layer) -> bool| stack.all_layers().any(|layer| is_it(&layer));
    let of_layers: [(&[&'static str], _, _, _); 5] = [
        (
            &["luks_sector_size", "no_read_workqueue", "no_write_workqueue"],
            has(|layer| matches!(layer, Layer::Luks(_))),
            "LUKS, and nothing is encrypted",
            "luks",
        ),
        (
            &["partition_start"],
            has(|layer| matches!(layer, Layer::Partition(_))),
            "partitions, and there are none",
            "partition",
        ),
        (
            &["volume_chunk", "snapshot_size"],
            stack.volume().is_some(),
            "volumes, and there is none",
            "volume",
        ),
        (
            &["cache_mode", "cache_size"],
            stack.has_cache(),
            "caches, and there is none",
            "cache",
        ),
        (
            &[
                "preallocate",
                "image_size",
                "image_mount",
                "image_block",
                "image_pool",
                "image_sync",
                "image_log",
            ],
            stack.image.is_some(),
            "images, and there is none",
            "image",
        ),
    ];
    of_layers.into_iter().find_map(|(axes, is_there, nothing, layer)| {
        let axis = *axes.iter().find(|axis| !is_there && is_set(axis))?;
        let key = keys::all().find(|key| key.axis_name == axis)?.name;
        let reason = format!("`{key}` is a setting of {nothing}");
        let help = "leave it out, or put the stacks without the layer in a [[stack]] of their own";
        impossible(&[axis, layer], reason, help)
    })
}

/// Volumes on arrays.
fn volume(stack: &StackSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["volume_chunk", "volume", "snapshot_size", "snapshots"];
    const THIN_CHUNK_BYTES: u64 = 64 << 10;
    let volume = stack.volume()?;
    if stack.array.level.is_lvm() {
        let reason = "the array is a volume of LVM, which raidlab does not put on other volumes of LVM".to_owned();
        return impossible(&["volume", "level"], reason, "leave `volume` out, or use a level of md");
    }
    let chunk = volume.chunk_bytes.unwrap_or(THIN_CHUNK_BYTES);
    match volume.kind {
        VolumeKind::Thin if chunk < THIN_CHUNK_BYTES => {
            let reason = format!("a thin pool has chunks of 64K or more, not of {}", describe_size(chunk));
            impossible(ABOUT, reason, "write 64K or more")
        }
        VolumeKind::Thin if volume.snapshot_bytes.is_some() => {
            let reason = "snapshots of thin LVs share the space of the pool".to_owned();
            impossible(&["snapshot_size", "volume"], reason, "leave `snapshot_size` out")
        }
        VolumeKind::Linear if !chunk.is_power_of_two() || chunk > SNAPSHOT_CHUNK_BYTES_MAX => {
            let reason = format!(
                "snapshots of linear LVs have chunks of a power of two up to 512K, not of {}",
                describe_size(chunk)
            );
            impossible(ABOUT, reason, "write 4K, 8K, …, 512K")
        }
        VolumeKind::Linear if volume.snapshot_bytes.is_none() && stack.snapshots > 0 => {
            let reason = "the copies of a linear LV's snapshots need space that the volume leaves".to_owned();
            impossible(
                ABOUT,
                reason,
                "write a `snapshot_size` in `volume`, as snapshot_size = \"1G\": as much as the tests write",
            )
        }
        VolumeKind::Linear if volume.snapshot_bytes.is_some() && stack.snapshots == 0 => {
            let reason = "`snapshot_size` is space for `snapshots`, and there are none".to_owned();
            impossible(
                &["snapshot_size", "snapshots"],
                reason,
                "leave it out, or put the stacks without snapshots in a [[stack]] of their own",
            )
        }
        _ => None,
    }
}

/// LVM's limit.
const SNAPSHOT_CHUNK_BYTES_MAX: u64 = 512 << 10;

fn snapshots(stack: &StackSpec) -> Option<Impossible> {
    if stack.snapshots == 0 || stack.snapshot_maker().is_some() {
        return None;
    }
    let reason = format!(
        "{} takes no snapshots, and there is no volume that does",
        stack.filesystem.kind.name
    );
    impossible(
        &["snapshots", "type", "volume"],
        reason,
        "add a volume, as volume = { type = \"thin\" }, or use btrfs or ZFS",
    )
}

fn place(stack: &StackSpec) -> Option<Impossible> {
    let name = stack.all_layers().next()?.name();
    if stack.filesystem.kind.is_pool() {
        let reason = format!("a pool of ZFS is on partitions, which raidlab does not make on {name}");
        return impossible(ABOUT, reason, "use another filesystem, or leave the layer out");
    }
    match stack.array.level {
        Level::None if !stack.layers.is_empty() => {
            let reason =
                format!("level \"none\" has no array that {name} could be on: the filesystem has the disks");
            return impossible(
                ABOUT,
                reason,
                "write on = \"members\" for `luks` and `partition`; leave `cache` and `volume` out",
            );
        }
        level if level.is_lvm() && matches!(stack.layers.first(), Some(Layer::Partition(_))) => {
            let reason =
                "the kernel has no partitions of devices of device mapper, which LVM's volumes are".to_owned();
            return impossible(ABOUT, reason, "write on = \"members\"");
        }
        Level::Single if !stack.member_layers.is_empty() => {
            let reason = format!("a single disk has no members: {name} on the disk is `on = \"array\"`");
            return impossible(ABOUT, reason, "write on = \"array\"");
        }
        _ => {}
    }
    if stack.array.integrity.is_some() && !stack.member_layers.is_empty() {
        let reason = format!("raidlab has either dm-integrity or {name} below md, not both");
        return impossible(ABOUT, reason, "write on = \"array\", or leave `integrity` out");
    }
    None
}

fn sector_size(layer: Layer) -> Option<Impossible> {
    let Layer::Luks(luks) = layer else { return None };
    let bytes = luks.sector_bytes.filter(|bytes| !bytes.is_power_of_two())?;
    let reason = format!("sectors of {bytes} bytes are not a power of two");
    impossible(&["luks_sector_size"], reason, "write 512, 1024, 2048 or 4096")
}
