//! A point of the matrix → the specifications that later stages work by.

use crate::array_rules::default_bitmap;
use crate::point::Point;
use crate::stack::{
    ArraySpec, Bitmap, DiskGroup, FilesystemKind, FilesystemSpec, JournalMode, Level, MachineKind, MachineSpec,
    StackSpec,
};

pub(crate) fn machine(point: &Point, kind: MachineKind) -> MachineSpec {
    MachineSpec {
        kind,
        ram_bytes: point.number("ram").unwrap_or_default(),
        // A host runs what it runs; the trial's provenance tells.
        kernel: if kind == MachineKind::Host {
            "host".to_owned()
        } else {
            point.text("kernel").unwrap_or_default()
        },
        disks: vec![DiskGroup {
            name: "data".to_owned(),
            model: point.text("model").unwrap_or_default(),
            count: point.small("count"),
        }],
    }
}

/// The stack at a point, on disks of a size that may be unknown.
pub(crate) fn stack(point: &Point, disk_bytes: Option<u64>) -> StackSpec {
    StackSpec {
        array: array(point, disk_bytes),
        filesystem: FilesystemSpec {
            kind: filesystem_kind(point),
            block_size_bytes: point.number("block_size"),
            journal_mode: match point.text("journal").as_deref() {
                Some("journal") => Some(JournalMode::Journal),
                Some("ordered") => Some(JournalMode::Ordered),
                Some("writeback") => Some(JournalMode::Writeback),
                _ => None,
            },
            journal_size_bytes: point.number("journal_size"),
        },
        mount_options: mount_options(point),
        scheduler: point.text("scheduler"),
        read_ahead_sectors: point.number("read_ahead"),
    }
}

fn array(point: &Point, disk_bytes: Option<u64>) -> ArraySpec {
    let level = match point.text("level").as_deref() {
        Some("linear") => Level::Linear,
        Some("0") => Level::Raid0,
        Some("1") => Level::Raid1,
        Some("4") => Level::Raid4,
        Some("5") => Level::Raid5,
        Some("6") => Level::Raid6,
        Some("10") => Level::Raid10,
        _ => Level::Single,
    };
    let member_size_bytes = point.number("size");
    ArraySpec {
        level,
        chunk_bytes: point.number("chunk"),
        bitmap: match point.text("bitmap").as_deref() {
            Some("internal") => Bitmap::Internal,
            Some("none") => Bitmap::None,
            _ => default_bitmap(level, member_size_bytes.or(disk_bytes)),
        },
        spares: point.small("spares"),
        member_size_bytes,
        layout: point.text("layout"),
        metadata: point.text("metadata"),
    }
}

fn filesystem_kind(point: &Point) -> FilesystemKind {
    match point.text("type").as_deref() {
        Some("raw") => FilesystemKind::Raw,
        Some("ext2") => FilesystemKind::Ext2,
        Some("ext3") => FilesystemKind::Ext3,
        Some("xfs") => FilesystemKind::Xfs,
        Some("jfs") => FilesystemKind::Jfs,
        Some("reiserfs") => FilesystemKind::Reiserfs,
        Some("btrfs") => FilesystemKind::Btrfs,
        _ => FilesystemKind::Ext4,
    }
}

fn mount_options(point: &Point) -> Vec<String> {
    let text = point.text("mount").unwrap_or_default();
    let options = text
        .split(',')
        .filter(|option| !option.is_empty() && *option != "defaults");
    options.map(str::to_owned).collect()
}
