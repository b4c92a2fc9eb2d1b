//! What each filesystem lets one choose, and where.

use crate::array_rules;
use crate::consistency_rules::group_is_there;
use crate::rules::{Impossible, PAGE_BYTES, impossible};
use crate::unit::{describe_size, format_size};
use study::stack::{
    Align, BITMAP, Bitmap, DATA, FilesystemKind, FilesystemSpec, JOURNAL, JournalMode, MachineKind, MachineSpec,
    StackSpec,
};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

pub(crate) fn check(machine: &MachineSpec, stack: &StackSpec) -> Vec<Impossible> {
    let mut all = Vec::new();
    all.extend(block_size(&stack.filesystem, machine.kind));
    all.extend(journal(stack));
    all.extend(journal_size(&stack.filesystem));
    all.extend(journal_on(machine, stack));
    all.extend(align(stack));
    all.extend(of_one_kind(stack));
    all.extend(kernel(machine, stack.filesystem.kind));
    if stack.filesystem.kind == FilesystemKind::Raw && !stack.mount_options.is_empty() {
        all.extend(impossible(
            &["mount", "type"],
            "a raw device is not mounted".to_owned(),
            "leave `mount` out",
        ));
    }
    all
}

/// A filesystem by its own name, for messages.
pub(crate) fn filesystem_name(kind: FilesystemKind) -> &'static str {
    match kind {
        FilesystemKind::Raw => "the raw device",
        FilesystemKind::Ext2 => "ext2",
        FilesystemKind::Ext3 => "ext3",
        FilesystemKind::Ext4 => "ext4",
        FilesystemKind::Xfs => "XFS",
        FilesystemKind::Jfs => "JFS",
        FilesystemKind::Reiserfs => "ReiserFS",
        FilesystemKind::Btrfs => "btrfs",
        FilesystemKind::Zfs => "ZFS",
        FilesystemKind::Bcachefs => "bcachefs",
        FilesystemKind::F2fs => "F2FS",
        FilesystemKind::Nilfs2 => "NILFS2",
        FilesystemKind::Vfat => "vfat",
        FilesystemKind::Exfat => "exFAT",
        FilesystemKind::Ntfs3 | FilesystemKind::Ntfs3g => "NTFS",
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
        FilesystemKind::F2fs if block != PAGE_BYTES => {
            let reason = "F2FS has 4 KiB blocks only".to_owned();
            return impossible(ABOUT, reason, "write block_size = \"4K\"");
        }
        FilesystemKind::Zfs => {
            let reason = "ZFS has no block size: it has a record size".to_owned();
            return impossible(ABOUT, reason, "write `recordsize`");
        }
        // Clusters, which the page does not bound.
        FilesystemKind::Vfat | FilesystemKind::Exfat | FilesystemKind::Ntfs3 | FilesystemKind::Ntfs3g => {
            return None;
        }
        FilesystemKind::Bcachefs => 512,
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
        _ if !has_sized_journal(filesystem.kind) => {
            let mend = "leave `journal_size` out, or have \"default\" among its values";
            return impossible(ABOUT, format!("{name} has no journal whose size could be chosen"), mend);
        }
        FilesystemKind::Ext3 | FilesystemKind::Ext4 => (1024 * block, 10_240_000 * block),
        // xfsprogs 5.15 and later make no smaller log on filesystems of 300 MiB and more.
        FilesystemKind::Xfs => (64 * MIB, 2038 * MIB),
        FilesystemKind::Jfs => (MIB, 128 * MIB),
        _ => (513 * block, 32_749 * block),
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

/// ext3, ext4, XFS, JFS, ReiserFS: the same that can have it on another device.
const fn has_sized_journal(kind: FilesystemKind) -> bool {
    matches!(
        kind,
        FilesystemKind::Ext3
            | FilesystemKind::Ext4
            | FilesystemKind::Xfs
            | FilesystemKind::Jfs
            | FilesystemKind::Reiserfs
    )
}

fn journal_on(machine: &MachineSpec, stack: &StackSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["journal_on", "type", "write_journal"];
    let group = stack.filesystem.journal_on.as_deref()?;
    let name = filesystem_name(stack.filesystem.kind);
    if !has_sized_journal(stack.filesystem.kind) {
        let reason = format!("{name} has no journal that could be on another device");
        let mend = "leave `journal_on` out, or have \"default\" among its values";
        return impossible(ABOUT, reason, mend);
    }
    if group == DATA {
        let reason = "the disks of `data` are those of the array, where the journal is anyway".to_owned();
        return impossible(ABOUT, reason, "leave `journal_on` out, or name another group");
    }
    let taken = (stack.array.write_journal && group == JOURNAL, "md's write journal");
    let bitmap = (stack.array.bitmap == Bitmap::External && group == BITMAP, "md's bitmap");
    if let Some((_, what)) = [taken, bitmap].into_iter().find(|(taken, _)| *taken) {
        let reason = format!("the first disk of `{group}` has {what} already");
        return impossible(ABOUT, reason, "name a group of its own for the filesystem's journal");
    }
    let what = format!("the journal of {name}");
    group_is_there(machine, group, ABOUT, &what)
}

fn align(stack: &StackSpec) -> Option<Impossible> {
    const ABOUT: &[&str] = &["align", "type", "level", "of_level"];
    let filesystem = &stack.filesystem;
    if filesystem.align == Align::Right {
        return None;
    }
    let aligns = matches!(
        filesystem.kind,
        FilesystemKind::Ext2 | FilesystemKind::Ext3 | FilesystemKind::Ext4 | FilesystemKind::Xfs
    );
    if !aligns {
        let reason = format!(
            "{} does not align to stripes: ext2, ext3, ext4 and XFS do",
            filesystem_name(filesystem.kind)
        );
        return impossible(ABOUT, reason, "leave `align` out");
    }
    if array_rules::is_striped(&stack.array) {
        return None;
    }
    let reason = format!(
        "{} has no stripes to align to",
        array_rules::level_name(stack.array.level)
    );
    impossible(ABOUT, reason, "leave `align` out, or use a level with stripes")
}

/// What one kind alone has.
fn of_one_kind(stack: &StackSpec) -> Vec<Impossible> {
    let filesystem = &stack.filesystem;
    let name = filesystem_name(filesystem.kind);
    let mut all = Vec::new();
    if filesystem.lazy_init && filesystem.kind != FilesystemKind::Ext4 {
        let reason = format!("{name} is initialised at once: ext4 can leave it to the kernel");
        all.extend(impossible(&["lazy_init", "type"], reason, "leave `lazy_init` out"));
    }
    let buffers = [
        (
            filesystem.log_buffers.is_some(),
            &["log_buffers", "type", "mount"] as &'static [_],
            "logbufs",
        ),
        (
            filesystem.log_buffer_size_bytes.is_some(),
            &["log_buffer_size", "type", "mount"],
            "logbsize",
        ),
    ];
    for (_, about, option) in buffers.into_iter().filter(|(given, ..)| *given) {
        let twice = |word: &String| word.split('=').next() == Some(option);
        if filesystem.kind != FilesystemKind::Xfs {
            let reason = format!("{name} has no log buffers: XFS has");
            let mend = "leave it out, or have \"default\" among its values";
            all.extend(impossible(about, reason, mend));
        } else if stack.mount_options.iter().any(twice) {
            let reason = format!("`{option}` is given twice, by `{}` and in `mount`", about[0]);
            all.extend(impossible(about, reason, format!("leave `{option}=` out of `mount`")));
        }
    }
    all
}

fn kernel(machine: &MachineSpec, kind: FilesystemKind) -> Option<Impossible> {
    if machine.kind != MachineKind::Lab {
        return None;
    }
    let mut parts = machine.kernel.split('.').map(|part| part.parse::<u32>().ok());
    let version = (parts.next()??, parts.next()??);
    let name = filesystem_name(kind);
    let reason = match kind {
        FilesystemKind::Reiserfs if version >= (6, 13) => format!("{name} left Linux with 6.13"),
        FilesystemKind::Bcachefs if version >= (6, 18) => format!("{name} left Linux with 6.18"),
        FilesystemKind::Bcachefs if version < (6, 7) => format!("{name} came to Linux with 6.7"),
        // Debian's newest backport for a stable release, 2.3, which the lab's kernels are built with.
        FilesystemKind::Zfs if version > (6, 14) => format!("{name} 2.3 knows Linux up to 6.14"),
        _ => return None,
    };
    let reason = format!("{reason}, and the kernel is {}", machine.kernel);
    impossible(&["type", "kernel"], reason, "write kernel = \"6.12\"")
}
