//! Stacks, workloads and metrics in the field's words.

use crate::figure::{bytes, count};
use study::event::Better;
use study::stack::{ArraySpec, Bitmap, FilesystemKind, FilesystemSpec, JournalMode, Level, MachineSpec, StackSpec};

/// What every page and table says of a lab run.
pub(crate) const SIMULATED: &str = "simulated disks, virtual time";

pub(crate) fn array(array: &ArraySpec) -> String {
    let level = match array.level {
        Level::Single => "single disk, no md",
        Level::Linear => "linear",
        Level::Raid0 => "RAID 0",
        Level::Raid1 => "RAID 1",
        Level::Raid4 => "RAID 4",
        Level::Raid5 => "RAID 5",
        Level::Raid6 => "RAID 6",
        Level::Raid10 => "RAID 10",
    };
    let has_bitmap = !matches!(array.level, Level::Single | Level::Linear | Level::Raid0);
    let parts = [
        array.chunk_bytes.map(|chunk| format!("chunk {}", bytes(chunk))),
        has_bitmap.then(|| match array.bitmap {
            Bitmap::Internal => "internal bitmap".to_owned(),
            Bitmap::None => "no bitmap".to_owned(),
        }),
        array.layout.as_ref().map(|layout| format!("layout {layout}")),
        array
            .member_size_bytes
            .map(|size| format!("{} of each member", bytes(size))),
        (array.spares > 0).then(|| count(array.spares as usize, "spare")),
        array.metadata.as_ref().map(|metadata| format!("metadata {metadata}")),
    ];
    joined(level, parts)
}

pub(crate) fn filesystem(filesystem: &FilesystemSpec) -> String {
    let kind = match filesystem.kind {
        FilesystemKind::Raw => "none (the block device itself)",
        FilesystemKind::Ext2 => "ext2",
        FilesystemKind::Ext3 => "ext3",
        FilesystemKind::Ext4 => "ext4",
        FilesystemKind::Xfs => "XFS",
        FilesystemKind::Jfs => "JFS",
        FilesystemKind::Reiserfs => "ReiserFS",
        FilesystemKind::Btrfs => "btrfs",
    };
    let journal = |mode| match mode {
        JournalMode::Journal => "data=journal",
        JournalMode::Ordered => "data=ordered",
        JournalMode::Writeback => "data=writeback",
    };
    let parts = [
        filesystem
            .block_size_bytes
            .map(|block| format!("{} blocks", bytes(block))),
        filesystem.journal_mode.map(|mode| journal(mode).to_owned()),
        filesystem
            .journal_size_bytes
            .map(|size| format!("{} journal", bytes(size))),
    ];
    joined(kind, parts)
}

/// As mount(8) takes them.
pub(crate) fn mount_options(stack: &StackSpec) -> String {
    if stack.mount_options.is_empty() {
        "defaults".to_owned()
    } else {
        stack.mount_options.join(",")
    }
}

/// Scheduler and read-ahead, where the study sets them.
pub(crate) fn tuning(stack: &StackSpec) -> String {
    let parts = [
        stack
            .scheduler
            .as_ref()
            .map(|scheduler| format!("{scheduler} scheduler")),
        stack
            .read_ahead_sectors
            .map(|sectors| format!("read-ahead {sectors} sectors")),
    ];
    let words = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if words.is_empty() {
        "the kernel's choice".to_owned()
    } else {
        words
    }
}

pub(crate) fn disks(machine: &MachineSpec) -> String {
    let group = |group: &study::stack::DiskGroup| match group.name.as_str() {
        "data" => format!("{} × {}", group.count, group.model),
        name => format!("{} × {} ({name})", group.count, group.model),
    };
    machine.disks.iter().map(group).collect::<Vec<_>>().join(", ")
}

/// A metric or test as a heading shows it: `files per second`.
pub(crate) fn metric(name: &str) -> String {
    name.replace('_', " ")
}

/// A metric with its unit; the unit alone where it says what is measured.
pub(crate) fn measured(name: &str, unit: &str) -> String {
    match name {
        "throughput" | "files_per_second" | "iops" => unit.to_owned(),
        _ => format!("{} in {unit}", metric(name)),
    }
}

pub(crate) const fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "more is better",
        Better::Lower => "less is better",
        Better::Neither => "neither good nor bad",
    }
}

/// `level = 6, workload = reads`.
pub(crate) fn axes(axes: &[(String, String)]) -> String {
    axes.iter()
        .map(|(axis, value)| format!("{axis} = {value}"))
        .collect::<Vec<_>>()
        .join(", ")
}

pub(crate) fn joined<const N: usize>(first: &str, parts: [Option<String>; N]) -> String {
    let rest: String = parts.into_iter().flatten().map(|part| format!(", {part}")).collect();
    format!("{first}{rest}")
}
