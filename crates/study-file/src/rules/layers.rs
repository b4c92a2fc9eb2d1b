//! Rules of layers: what can be below and above what.

use crate::axes::Point;
use crate::rules::consistency::group_is_there;
use crate::rules::impossible::{Impossible, PAGE_BYTES, impossible};
use crate::syntax::unit::describe_size;
use study::stack::{CACHE, CacheKind, Layer, Level, MachineKind, MachineSpec, StackSpec};

const ABOUT: &[&str] = &["luks", "cache", "level", "type", "integrity"];

/// All reasons why the layers of a stack are impossible.
pub(crate) fn check(machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
    let mut all = Vec::new();
    all.extend(place(stack));
    all.extend(stack.all_layers().find_map(sector_size));
    all.extend(cache(machine, stack));
    all
}

/// A volume of LVM on an array, with a disk of another group.
fn cache(machine: &MachineSpec, stack: &StackSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["cache", "cache_mode", "cache_size", "level", "type"];
    let is_cache = |layer: Layer| match layer {
        Layer::Cache(cache) => Some(cache),
        Layer::Luks(_) => None,
    };
    let cache = stack.all_layers().find_map(is_cache)?;
    let name = cache.kind.word();
    if stack.array.level.is_lvm() {
        let reason = format!("{name} is made of LVM's volumes, which raidlab does not put on other volumes of LVM");
        return impossible(ABOUT, reason, "use a level of md, or a single disk");
    }
    if cache.kind == CacheKind::Writecache && cache.writeback {
        let reason =
            "`mode` is for dm-cache: dm-writecache always acknowledges a write when the cache has it".to_owned();
        return impossible(
            ABOUT,
            reason,
            "leave `mode` out, or put dm-writecache in a [[stack]] of its own",
        );
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

/// `struct wc_entry` of drivers/md/dm-writecache.c, and the entry's metadata.
const WRITECACHE_ENTRY_BYTES: u64 = 80;

/// A setting of LUKS where there is none.
pub(crate) fn setting_of_nothing(stack: &StackSpec, point: &Point) -> Option<Impossible> {
    let is_set = |axis: &&str| point.flag(axis) || point.number(axis).is_some();
    let axis = ["luks_sector_size", "no_read_workqueue", "no_write_workqueue"]
        .into_iter()
        .find(is_set)?;
    if stack.all_layers().next().is_some() {
        return None;
    }
    let reason = format!(
        "`{}` is a setting of LUKS, and nothing is encrypted",
        axis.trim_start_matches("luks_")
    );
    impossible(
        &[axis, "luks"],
        reason,
        "leave it out, or put the stacks without LUKS in a [[stack]] of their own",
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
            return impossible(ABOUT, reason, "write on = \"members\" for `luks`; leave `cache` out");
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
