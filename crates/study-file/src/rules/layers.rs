//! Rules of layers: what can be below and above what.

use crate::axes::Point;
use crate::rules::impossible::{Impossible, impossible};
use study::stack::{Layer, Level, StackSpec};

const ABOUT: &[&str] = &["luks", "level", "type", "integrity"];

/// All reasons why the layers of a stack are impossible.
pub(crate) fn check(stack: &StackSpec) -> Vec<Impossible> {
    let mut all = Vec::new();
    all.extend(place(stack));
    all.extend(stack.all_layers().find_map(sector_size));
    all
}

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
        return impossible(ABOUT, reason, "use another filesystem, or leave `luks` out");
    }
    match stack.array.level {
        Level::None if !stack.layers.is_empty() => {
            let reason =
                format!("level \"none\" has no array that {name} could be on: the filesystem has the disks");
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
    let Layer::Luks(luks) = layer;
    let bytes = luks.sector_bytes.filter(|bytes| !bytes.is_power_of_two())?;
    let reason = format!("sectors of {bytes} bytes are not a power of two");
    impossible(&["luks_sector_size"], reason, "write 512, 1024, 2048 or 4096")
}
