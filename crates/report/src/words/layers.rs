//! What the commands for a stack do not say of its layers and snapshots.

use crate::words::figure::bytes;
use study::stack::{CacheKind, Layer, SnapshotMaker, StackSpec, VolumeKind};

/// Settings in /sys.
pub(super) fn settings(stack: &StackSpec) -> Option<String> {
    let cache = stack.cache().filter(|cache| cache.kind == CacheKind::Bcache)?;
    cache
        .writeback
        .then(|| "echo writeback > /sys/block/bcache0/bcache/cache_mode".to_owned())
}

pub(super) fn notes(stack: &StackSpec) -> Vec<String> {
    let mut notes: Vec<String> = stack.all_layers().filter_map(note).collect();
    if let Some(maker) = stack.snapshot_maker().filter(|_| stack.snapshots > 0) {
        let call = match maker {
            SnapshotMaker::Btrfs => "btrfs subvolume snapshot -r /mnt /mnt/NAME",
            SnapshotMaker::Zfs => "zfs snapshot POOL@NAME",
            SnapshotMaker::Lvm(volume) if volume.kind == VolumeKind::Linear => {
                "lvcreate --snapshot --size SIZE --name NAME GROUP/data"
            }
            SnapshotMaker::Lvm(_) => "lvcreate --snapshot --name NAME GROUP/data",
        };
        notes.push(format!(
            "The tests ran while {} existed: `{call}`.",
            count(stack.snapshots)
        ));
    }
    notes
}

fn count(snapshots: u32) -> String {
    match snapshots {
        1 => "one snapshot".to_owned(),
        many => format!("{many} snapshots"),
    }
}

fn note(layer: Layer) -> Option<String> {
    match layer {
        Layer::Partition(partition) => Some(format!(
            "A disk or array in these commands is its only partition, which begins at sector {start}: `echo start={start} | sfdisk \
             --label gpt DEVICE` makes it.",
            start = partition.start_sector
        )),
        Layer::Volume(volume) => {
            let space = bytes(volume.snapshot_bytes?);
            Some(format!(
                "The study left {space} of the group for each snapshot: make the volume smaller than the group."
            ))
        }
        Layer::Luks(_) | Layer::Cache(_) => None,
    }
}
