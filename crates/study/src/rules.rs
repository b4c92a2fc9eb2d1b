//! What cannot be: filesystems on the array that carries them.

use crate::array_rules::{active_disks, capacity};
use crate::stack::{FilesystemKind, FilesystemSpec, JournalMode, MachineKind, MachineSpec, StackSpec};
use crate::unit::{describe_size, format_size};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Page size of x86, in which most filesystems' blocks must fit.
pub(crate) const PAGE_BYTES: u64 = 4 * KIB;

/// Why a combination cannot be.
#[derive(Clone, Debug)]
pub(crate) struct Impossible {
    /// The axes that it comes from, the one to change first.
    pub about: &'static [&'static str],
    pub reason: String,
    pub mend: String,
}

pub(crate) fn impossible(
    about: &'static [&'static str],
    reason: String,
    mend: impl Into<String>,
) -> Option<Impossible> {
    Some(Impossible {
        about,
        reason,
        mend: mend.into(),
    })
}

/// Why the stack cannot be, every reason.
pub(crate) fn check_stack(machine: &MachineSpec, stack: &StackSpec, disk_bytes: Option<u64>) -> Vec<Impossible> {
    let mut all = crate::array_rules::check(&stack.array, machine, disk_bytes);
    all.extend(block_size(&stack.filesystem, machine.kind));
    all.extend(journal(stack));
    all.extend(journal_size(&stack.filesystem));
    all.extend(kernel(machine, stack.filesystem.kind));
    if stack.filesystem.kind == FilesystemKind::Raw && !stack.mount_options.is_empty() {
        all.extend(impossible(
            &["mount", "type"],
            "a raw device is not mounted".to_owned(),
            "leave `mount` out",
        ));
    }
    all.extend(room(machine, stack, disk_bytes));
    all
}

/// A filesystem by its own name, for messages.
pub fn filesystem_name(kind: FilesystemKind) -> &'static str {
    match kind {
        FilesystemKind::Raw => "the raw device",
        FilesystemKind::Ext2 => "ext2",
        FilesystemKind::Ext3 => "ext3",
        FilesystemKind::Ext4 => "ext4",
        FilesystemKind::Xfs => "XFS",
        FilesystemKind::Jfs => "JFS",
        FilesystemKind::Reiserfs => "ReiserFS",
        FilesystemKind::Btrfs => "btrfs",
    }
}

fn block_size(filesystem: &FilesystemSpec, machine: MachineKind) -> Option<Impossible> {
    const ABOUT: &[&str] = &["block_size", "type"];
    let block = filesystem.block_size_bytes?;
    let name = filesystem_name(filesystem.kind);
    let least = match filesystem.kind {
        FilesystemKind::Raw => {
            return impossible(ABOUT, format!("{name} has no block size"), "leave `block_size` out");
        }
        FilesystemKind::Jfs if block != PAGE_BYTES => {
            return impossible(
                ABOUT,
                "JFS has 4 KiB blocks only".to_owned(),
                "write block_size = \"4K\"",
            );
        }
        FilesystemKind::Btrfs if block != PAGE_BYTES => {
            let reason = "btrfs has 4 KiB sectors only: those of a page".to_owned();
            return impossible(ABOUT, reason, "write block_size = \"4K\"");
        }
        _ => KIB,
    };
    if block < least {
        let reason = format!("{name} has no blocks smaller than {}", describe_size(least));
        return impossible(ABOUT, reason, "write \"1K\", \"2K\" or \"4K\"");
    }
    // On a host, XFS has mounted larger blocks than pages since 6.12, where large folios are compiled in. The lab's
    // kernel is without them.
    if block > PAGE_BYTES && !(filesystem.kind == FilesystemKind::Xfs && machine == MachineKind::Host) {
        let reason = format!(
            "{name} does not mount blocks of {} here: a page is 4 KiB",
            describe_size(block)
        );
        return impossible(ABOUT, reason, "write \"1K\", \"2K\" or \"4K\"");
    }
    None
}

fn has_journal_modes(kind: FilesystemKind) -> bool {
    matches!(
        kind,
        FilesystemKind::Ext3 | FilesystemKind::Ext4 | FilesystemKind::Reiserfs
    )
}

fn journal(stack: &StackSpec) -> Option<Impossible> {
    let filesystem = &stack.filesystem;
    let mode: JournalMode = filesystem.journal_mode?;
    if !has_journal_modes(filesystem.kind) {
        let reason = format!("{} has no choice of journal modes", filesystem_name(filesystem.kind));
        let mend = "leave `journal` out, or have \"default\" among its values";
        return impossible(&["journal", "type"], reason, mend);
    }
    if stack.mount_options.iter().any(|option| option.starts_with("data=")) {
        let reason = format!(
            "the journal mode is given twice, as journal = \"{}\" and in `mount`",
            word(mode)
        );
        return impossible(&["mount", "journal"], reason, "leave `data=` out of `mount`");
    }
    None
}

fn word(mode: JournalMode) -> &'static str {
    match mode {
        JournalMode::Journal => "journal",
        JournalMode::Ordered => "ordered",
        JournalMode::Writeback => "writeback",
    }
}

fn journal_size(filesystem: &FilesystemSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["journal_size", "type", "block_size"];
    let size = filesystem.journal_size_bytes?;
    let block = filesystem.block_size_bytes.unwrap_or(PAGE_BYTES);
    let name = filesystem_name(filesystem.kind);
    let (least, most) = match filesystem.kind {
        FilesystemKind::Raw | FilesystemKind::Ext2 | FilesystemKind::Btrfs => {
            let mend = "leave `journal_size` out, or have \"default\" among its values";
            return impossible(ABOUT, format!("{name} has no journal"), mend);
        }
        FilesystemKind::Ext3 | FilesystemKind::Ext4 => (1024 * block, 10_240_000 * block),
        // xfsprogs 5.15 and later make no smaller log on filesystems of 300 MiB and more.
        FilesystemKind::Xfs => (64 * MIB, 2038 * MIB),
        FilesystemKind::Jfs => (MIB, 128 * MIB),
        FilesystemKind::Reiserfs => (513 * block, 32_749 * block),
    };
    // mke2fs and jfs_mkfs count the journal in MiB.
    let whole =
        matches!(filesystem.kind, FilesystemKind::Xfs | FilesystemKind::Reiserfs) || size.is_multiple_of(MIB);
    if size < least || size > most || !whole {
        let reason = format!("{name} cannot have a journal of {}", describe_size(size));
        let unit = if whole { "" } else { ", in whole MiB" };
        return impossible(
            ABOUT,
            reason,
            format!("from {} to {}{unit}", format_size(least), format_size(most)),
        );
    }
    None
}

fn kernel(machine: &MachineSpec, kind: FilesystemKind) -> Option<Impossible> {
    if kind != FilesystemKind::Reiserfs || machine.kind != MachineKind::Lab {
        return None;
    }
    let mut parts = machine.kernel.split('.').map(|part| part.parse::<u32>().ok());
    let version = (parts.next()??, parts.next()??);
    if version < (6, 13) {
        return None;
    }
    let reason = format!("ReiserFS left Linux with 6.13, and the kernel is {}", machine.kernel);
    impossible(&["type", "kernel"], reason, "write kernel = \"6.12\"")
}

/// Whether the array is large enough for mkfs.
fn room(machine: &MachineSpec, stack: &StackSpec, disk_bytes: Option<u64>) -> Option<Impossible> {
    let there = room_bytes(machine, stack, disk_bytes)?;
    let needs = match stack.filesystem.kind {
        FilesystemKind::Raw => 0,
        FilesystemKind::Ext2 | FilesystemKind::Ext3 | FilesystemKind::Ext4 => 8 * MIB,
        FilesystemKind::Jfs => 16 * MIB,
        FilesystemKind::Reiserfs => 40 * MIB,
        FilesystemKind::Btrfs => 115 * MIB,
        FilesystemKind::Xfs => 300 * MIB,
    };
    if there >= needs {
        return None;
    }
    let (there, name) = (describe_size(there), filesystem_name(stack.filesystem.kind));
    let reason = format!(
        "{name} needs {} at least, and the array has {there}",
        describe_size(needs)
    );
    impossible(
        &["size", "type", "model", "count", "level", "spares", "layout"],
        reason,
        "make the array larger",
    )
}

/// Bytes on the array; unknown, too, where it cannot be built.
pub(crate) fn room_bytes(machine: &MachineSpec, stack: &StackSpec, disk_bytes: Option<u64>) -> Option<u64> {
    let disks = machine.disks.first().map_or(0, |group| group.count);
    let buildable = active_disks(&stack.array, disks) > 0;
    let large = disk_bytes.is_none_or(|disk| stack.array.member_size_bytes.is_none_or(|size| size <= disk));
    capacity(&stack.array, disks, disk_bytes).filter(|bytes| buildable && large && *bytes > 0)
}
