//! Rules for stacks: filesystems on their arrays.

use crate::rules::consistency;
use crate::rules::filesystem;
use crate::rules::images;
use crate::rules::impossible::{Impossible, impossible};
use crate::rules::integrity;
use crate::rules::layers;
use crate::rules::lvm;
use crate::rules::machine;
use crate::rules::many_devices;
use crate::rules::md_geometry;
use crate::rules::md_geometry::{active_disks, capacity};
use crate::rules::md_tunables;
use crate::rules::members;
use crate::rules::memory;
use crate::syntax::unit::describe_size;
use study::stack::{Align, FilesystemKind, Image, Layer, MachineKind, MachineSpec, StackSpec};

/// All reasons why the stack is impossible.
pub(crate) fn check_stack(machine: &MachineSpec, stack: &StackSpec, disk_bytes: Option<u64>) -> Vec<Impossible> {
    let mut all = match stack.under_image() {
        None => check_on_disks(machine, stack, disk_bytes),
        Some(under) => {
            let mut all = check_on_disks(machine, &under, disk_bytes);
            all.iter_mut().for_each(images::name_axes_of_image);
            all.extend(images::check(machine, stack));
            all
        }
    };
    all.extend(created_once(machine, stack));
    all
}

/// Those of a stack without an image.
fn check_on_disks(machine: &MachineSpec, stack: &StackSpec, disk_bytes: Option<u64>) -> Vec<Impossible> {
    // Without its members no other rule of the array means anything.
    if let Some(reason) = members::check(machine, stack) {
        return vec![reason];
    }
    let mut all = md_geometry::check(&stack.array, machine, disk_bytes);
    all.extend(lvm::check(&stack.array));
    all.extend(layers::check(machine, stack));
    all.extend(consistency::check(&stack.array, machine));
    all.extend(md_tunables::check(&stack.array, machine, disk_bytes));
    all.extend(integrity::check(&stack.array, machine, disk_bytes));
    all.extend(many_devices::check(machine, stack));
    all.extend(filesystem::check(machine, stack));
    all.extend(machine::buses(machine));
    all.extend(room(machine, stack, disk_bytes));
    all.extend(read_ahead(stack));
    all.extend(memory::of_stack(machine, stack, disk_bytes));
    all
}

/// Sectors of a page, in which the kernel counts read-ahead.
const SECTORS_OF_A_PAGE: u64 = 8;

fn read_ahead(stack: &StackSpec) -> Option<Impossible> {
    let sectors = stack
        .read_ahead_sectors
        .filter(|sectors| !sectors.is_multiple_of(SECTORS_OF_A_PAGE))?;
    impossible(
        &["read_ahead"],
        format!("a read-ahead of {sectors} sectors is not a multiple of a page"),
        format!("write a multiple of {SECTORS_OF_A_PAGE}"),
    )
}

/// Whether copies of a stack's disks can be assembled and mounted.
fn created_once(machine: &MachineSpec, stack: &StackSpec) -> Option<Impossible> {
    if !machine.create_once {
        return None;
    }
    let of_groups = stack.group_stacks.iter().map(|group| &group.array);
    let mut arrays = std::iter::once(&stack.array).chain(of_groups);
    let what = if machine.kind != MachineKind::Lab {
        "a host has no copies of its disks".to_owned()
    } else if arrays.clone().any(|array| array.level.is_lvm()) {
        "LVM's volumes are not activated on copies of disks".to_owned()
    } else if let Some(layer) = stack.all_layers().next() {
        format!("{} is not opened on copies of disks", layer.name())
    } else if let Some(image) = &stack.image {
        format!("{} is not attached on copies of disks", image.name())
    } else if arrays.any(|array| array.integrity.is_some()) {
        "dm-integrity is not opened on copies of disks".to_owned()
    } else if stack.filesystem_kinds().any(|kind| kind == FilesystemKind::Bcachefs) {
        "bcachefs is not started on copies of disks".to_owned()
    } else {
        return None;
    };
    impossible(
        &["create_once", "level", "integrity", "type", "image"],
        what,
        "write `create_once = false`, or leave it out",
    )
}

/// Whether the array is large enough for mkfs.
fn room(machine: &MachineSpec, stack: &StackSpec, disk_bytes: Option<u64>) -> Option<Impossible> {
    if let Some((layer, device)) = layer_without_room(machine, stack, disk_bytes) {
        let (name, device) = (layer.name(), describe_size(device));
        let reason = format!("{name} has no room on a device of {device}");
        let about = &[
            "partition_start",
            "snapshot_size",
            "size",
            "partition",
            "luks",
            "cache",
            "volume",
        ];
        return impossible(
            about,
            reason,
            "make what is below it larger, or what it keeps for itself smaller",
        );
    }
    let there = room_bytes(machine, stack, disk_bytes)?;
    let kind = stack.filesystem.kind;
    let needs = match is_aligned(stack) {
        true => kind.smallest_striped_bytes,
        false => kind.smallest_bytes,
    };
    if there >= needs {
        return None;
    }
    let (there, name) = (describe_size(there), kind.name);
    let reason = format!(
        "{name} needs at least {}, but the array has {there}",
        describe_size(needs)
    );
    impossible(
        &["size", "type", "model", "count", "level", "spares", "layout"],
        reason,
        "make the array larger",
    )
}

fn is_aligned(stack: &StackSpec) -> bool {
    md_geometry::is_striped(&stack.array) && stack.filesystem.align != Align::Off
}

/// Bytes above layers on a device of this size; if there are none left, the layer that has no room, and the size of what it is on.
fn above(layers: &[Layer], device_bytes: u64) -> Result<u64, (Layer, u64)> {
    layers.iter().try_fold(device_bytes, |bytes, layer| {
        let left = bytes.saturating_sub(layer.header_bytes(bytes));
        if left == 0 { Err((*layer, bytes)) } else { Ok(left) }
    })
}

/// Space that a volume leaves for its snapshots.
fn snapshots_bytes(stack: &StackSpec) -> u64 {
    let of_each = stack.volume().and_then(|volume| volume.snapshot_bytes).unwrap_or(0);
    of_each * u64::from(stack.snapshots)
}

fn layer_without_room(machine: &MachineSpec, stack: &StackSpec, disk_bytes: Option<u64>) -> Option<(Layer, u64)> {
    let disk_bytes = disk_bytes.filter(|bytes| *bytes > 0);
    let member = match disk_bytes.map(|bytes| above(&stack.member_layers, bytes)).transpose() {
        Ok(member) => member,
        Err(without_room) => return Some(without_room),
    };
    let disks = machine.member_count(&stack.array);
    let array = capacity(&stack.array, disks, member).filter(|bytes| *bytes > 0)?;
    let top = match above(&stack.layers, array) {
        Ok(top) => top,
        Err(without_room) => return Some(without_room),
    };
    let volume = stack.volume().filter(|_| snapshots_bytes(stack) >= top)?;
    Some((Layer::Volume(volume), array))
}

/// Capacity of the array in bytes; `None` also if it cannot be built.
pub(crate) fn room_bytes(machine: &MachineSpec, stack: &StackSpec, disk_bytes: Option<u64>) -> Option<u64> {
    let disks = machine.member_count(&stack.array);
    let buildable = active_disks(&stack.array, disks) > 0;
    let large = disk_bytes.is_none_or(|disk| stack.array.member_size_bytes.is_none_or(|size| size <= disk));
    let member = disk_bytes.map(|bytes| above(&stack.member_layers, bytes).unwrap_or(0));
    let array = capacity(&stack.array, disks, member).filter(|bytes| buildable && large && *bytes > 0)?;
    let array = above(&stack.layers, array).unwrap_or(0);
    let array = array.saturating_sub(snapshots_bytes(stack));
    let usable = many_devices::usable(stack, disks, array);
    let image = stack.image.as_ref().map(|image| match image.size_bytes {
        Some(bytes) => bytes.min(usable),
        None => Image::default_bytes(usable),
    });
    Some(image.unwrap_or(usable)).filter(|bytes| *bytes > 0)
}
