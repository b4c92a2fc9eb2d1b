//! Rules of images: a filesystem in a file or on a zvol.

use crate::rules::filesystem;
use crate::rules::impossible::{Impossible, impossible};
use crate::rules::many_devices;
use crate::syntax::unit::describe_size;
use study::stack::{FilesystemKind, Image, MachineKind, MachineSpec, StackSpec};

/// Reasons of the filesystem in the image, which is on one device, and of the image.
pub(crate) fn check(machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
    let Some(image) = &stack.image else {
        return Vec::new();
    };
    let inside = stack.inside_image();
    let mut all = filesystem::check(machine, &inside);
    all.extend(many_devices::check(machine, &inside));
    all.extend(in_image(stack, image));
    all.extend(on_host(machine, image));
    all.extend(of_zvol(image));
    all.extend(snapshots(stack, image));
    all
}

/// The axes of a stack's filesystem that are those of an image, in the words of the image.
pub(crate) fn name_axes_of_image(reason: &mut Impossible) {
    for axis in &mut reason.about {
        *axis = match *axis {
            "type" => "image",
            "pool" => "image_pool",
            "mount" => "image_mount",
            "fs_sync" => "image_sync",
            "log" => "image_log",
            other => other,
        };
    }
}

fn in_image(stack: &StackSpec, image: &Image) -> Option<Impossible> {
    let kind = stack.filesystem.kind;
    if kind.is_pool() {
        let reason = format!(
            "a pool of ZFS is on partitions, which raidlab does not make in {}",
            image.name()
        );
        return impossible(
            &["type", "image"],
            reason,
            "use another filesystem, or leave `image` out",
        );
    }
    if kind.is_raw() {
        let reason = format!(
            "{} is empty: what was never written to it is read without the disks",
            image.name()
        );
        return impossible(&["type", "image"], reason, "use a filesystem, or leave `image` out");
    }
    if stack.filesystem.journal_on.is_some() {
        let reason = format!("a filesystem in {} has its journal there, too", image.name());
        return impossible(&["journal_on", "image"], reason, "leave `journal_on` out");
    }
    let bytes = image.size_bytes?;
    if bytes < kind.smallest_bytes {
        let (least, bytes) = (describe_size(kind.smallest_bytes), describe_size(bytes));
        let reason = format!("{} needs at least {least}, but the image has {bytes}", kind.name);
        return impossible(
            &["image_size", "type"],
            reason,
            format!("write size = \"{least}\" or more"),
        );
    }
    None
}

/// Before each write raidlab checks that a device is of the run: the kernel does not say so of zvols, nor of files on btrfs.
fn on_host(machine: &MachineSpec, image: &Image) -> Option<Impossible> {
    let kind = image.filesystem.kind;
    if machine.kind != MachineKind::Host || !(kind.is_pool() || kind == FilesystemKind::Btrfs) {
        return None;
    }
    let what = if kind.is_pool() { "a zvol" } else { "a file on btrfs" };
    let reason =
        format!("the kernel does not say on which disks {what} is, so raidlab does not write to it on a host");
    impossible(
        &["image"],
        reason,
        "write on = \"ext4\" or \"xfs\", or machine = \"lab\"",
    )
}

fn of_zvol(image: &Image) -> Option<Impossible> {
    if image.is_zvol() {
        if image.preallocated {
            let reason = "the space of a zvol is not allocated first: ZFS never overwrites".to_owned();
            return impossible(&["preallocate", "image"], reason, "leave `preallocate` out");
        }
        if !image.mount_options.is_empty() {
            let reason = "a zvol is not in a filesystem that is mounted".to_owned();
            return impossible(&["image_mount", "image"], reason, "leave `mount` of `image` out");
        }
        let block = image.block_bytes.filter(|bytes| !bytes.is_power_of_two())?;
        let reason = format!("blocks of {} are not a power of two", describe_size(block));
        return impossible(&["image_block"], reason, "write 4K, 8K, …, 128K");
    }
    let zfs = &image.filesystem.zfs;
    let of_zvols = [
        (image.block_bytes.is_some(), "image_block", "block"),
        (zfs.pool.is_some(), "image_pool", "pool"),
        (zfs.sync.is_some(), "image_sync", "sync"),
        (zfs.log, "image_log", "log"),
    ];
    let (_, axis, key) = of_zvols.into_iter().find(|(is_set, ..)| *is_set)?;
    let reason = format!(
        "`{key}` is a setting of zvols, and the image is a file on {}",
        image.filesystem.kind.name
    );
    impossible(&[axis, "image"], reason, "leave it out, or write on = \"zfs\"")
}

fn snapshots(stack: &StackSpec, image: &Image) -> Option<Impossible> {
    if stack.snapshots == 0 {
        return None;
    }
    let reason = format!("raidlab takes no snapshots of {}", image.name());
    impossible(&["snapshots", "image"], reason, "leave `snapshots` out, or `image`")
}
