//! Filesystems: how each mkfs is asked for one, quickly, without questions, and leaving nothing to be done later.

use crate::context::Teardown;
use crate::error::Cause;
use std::path::{Path, PathBuf};
use study::stack::{Bitmap, FilesystemKind, FilesystemSpec, JournalMode, StackSpec};
use tools::{Invocation, Tool};

/// The programs that building (and taking down) a stack needs.
pub fn tools_needed(spec: &StackSpec, teardown: Teardown) -> Vec<Tool> {
    let mut tools = Vec::new();
    let beside = spec.beside.iter().map(|beside| (&beside.array, &beside.filesystem));
    for (array, filesystem) in std::iter::once((&spec.array, &spec.filesystem)).chain(beside) {
        tools.extend(array.level.is_md().then_some(Tool::Mdadm));
        tools.extend(array.level.is_lvm().then_some(Tool::Lvm));
        // The small filesystem of an external bitmap.
        tools.extend((array.bitmap == Bitmap::External).then_some(Tool::Mke2fs));
        tools.extend(mkfs_of(filesystem.kind));
        tools.extend((filesystem.kind == FilesystemKind::Ntfs3g).then_some(Tool::Ntfs3g));
        tools.extend((filesystem.kind == FilesystemKind::Zfs).then_some(Tool::Sfdisk));
        let signs = mkfs_of(filesystem.kind).is_some() || array.bitmap == Bitmap::External;
        tools.extend((signs && teardown == Teardown::Full).then_some(Tool::Wipefs));
    }
    let mut needed = Vec::new();
    for tool in tools {
        if !needed.contains(&tool) {
            needed.push(tool);
        }
    }
    needed
}

pub(crate) fn mkfs_of(kind: FilesystemKind) -> Option<Tool> {
    match kind {
        FilesystemKind::Raw => None,
        FilesystemKind::Zfs => Some(Tool::Zpool),
        FilesystemKind::Ext2 | FilesystemKind::Ext3 | FilesystemKind::Ext4 => Some(Tool::Mke2fs),
        FilesystemKind::Xfs => Some(Tool::MkfsXfs),
        FilesystemKind::Jfs => Some(Tool::MkfsJfs),
        FilesystemKind::Reiserfs => Some(Tool::MkfsReiserfs),
        FilesystemKind::Btrfs => Some(Tool::MkfsBtrfs),
        FilesystemKind::Bcachefs => Some(Tool::Bcachefs),
        FilesystemKind::F2fs => Some(Tool::MkfsF2fs),
        FilesystemKind::Nilfs2 => Some(Tool::MkfsNilfs2),
        FilesystemKind::Vfat => Some(Tool::MkfsVfat),
        FilesystemKind::Exfat => Some(Tool::MkfsExfat),
        FilesystemKind::Ntfs3 | FilesystemKind::Ntfs3g => Some(Tool::MkfsNtfs),
    }
}

/// The name by which the kernel mounts it.
pub(crate) fn kernel_name(kind: FilesystemKind) -> &'static str {
    match kind {
        FilesystemKind::Ntfs3g => "fuseblk",
        other => other.word(),
    }
}

/// The mount option that a journal mode comes to.
pub(crate) fn journal_option(spec: &FilesystemSpec) -> Option<&'static str> {
    spec.journal_mode.map(|mode| match mode {
        JournalMode::Journal => "data=journal",
        JournalMode::Ordered => "data=ordered",
        JournalMode::Writeback => "data=writeback",
    })
}

/// Says what is impossible about the spec, before anything is touched.
pub(crate) fn check(spec: &FilesystemSpec, mount_options: &[String]) -> Result<(), Cause> {
    use FilesystemKind::{Ext3, Ext4, Jfs, Raw, Reiserfs, Xfs};
    let name = kernel_name(spec.kind);
    let refuse = |reason: String| Err(Cause::Impossible(reason));
    if spec.journal_mode.is_some() && !matches!(spec.kind, Ext3 | Ext4 | Reiserfs) {
        return refuse(format!(
            "{name} has no choice of journal mode: ext3, ext4 and reiserfs have"
        ));
    }
    let with_journal = matches!(spec.kind, Ext3 | Ext4 | Xfs | Jfs | Reiserfs);
    if spec.journal_on.is_some() && !with_journal {
        return refuse(format!("{name} has no journal that could be on another device"));
    }
    if spec.journal_size_bytes.is_some() && !with_journal {
        return refuse(format!("{name} has no journal whose size could be chosen"));
    }
    if spec.kind == Jfs && spec.block_size_bytes.is_some_and(|bytes| bytes != 4096) {
        return refuse("jfs on Linux has blocks of 4096 bytes and no others".to_owned());
    }
    if spec.kind == Raw && spec.block_size_bytes.is_some() {
        return refuse("a raw device has no filesystem blocks".to_owned());
    }
    if spec.kind == Raw && !mount_options.is_empty() {
        return refuse("a raw device is not mounted, so it takes no mount options".to_owned());
    }
    Ok(())
}

/// The signatures of journals on devices of their own, for wipefs.
pub(crate) const JOURNAL_SIGNATURES: &str = "jbd,xfs_external_log,jfs,reiserfs";

/// The signatures that an mkfs leaves, for wipefs.
pub(crate) fn signatures(kind: FilesystemKind) -> &'static str {
    match kind {
        // Which of the three blkid sees depends on the features, not on the name that mke2fs was given.
        FilesystemKind::Ext2 | FilesystemKind::Ext3 | FilesystemKind::Ext4 => "ext2,ext3,ext4",
        FilesystemKind::Ntfs3 | FilesystemKind::Ntfs3g => "ntfs",
        FilesystemKind::Zfs => "zfs_member",
        other => kernel_name(other),
    }
}

mod mkfs;

pub(crate) use mkfs::{Making, journal_device};

/// What mount(2) takes for the source of a filesystem on these devices.
pub(crate) fn mount_source(kind: FilesystemKind, devices: &[PathBuf]) -> PathBuf {
    let all: Vec<String> = devices.iter().map(|device| device.display().to_string()).collect();
    match kind {
        FilesystemKind::Bcachefs => all.join(":").into(),
        _ => devices.first().cloned().unwrap_or_default(),
    }
}

/// The call with a UUID of our choice, by which the filesystem is known again; none where its mkfs takes none.
pub(crate) fn with_uuid(call: Invocation, uuid: &str) -> Option<Invocation> {
    match call.tool() {
        Tool::Mke2fs | Tool::MkfsBtrfs => Some(call.args(["-U", uuid])),
        Tool::MkfsXfs => Some(call.arg("-m").arg(format!("uuid={uuid}"))),
        Tool::MkfsReiserfs => Some(call.args(["-u", uuid])),
        _ => None,
    }
}

/// What the filesystem's own mount options are, besides what the study asks for.
pub(crate) fn own_options(spec: &FilesystemSpec, devices: &[PathBuf], journal: Option<&Path>) -> Vec<String> {
    let mut words = Vec::new();
    match spec.kind {
        FilesystemKind::Xfs => words.extend(journal.map(|device| format!("logdev={}", device.display()))),
        FilesystemKind::Reiserfs => words.extend(journal.map(|device| format!("jdev={}", device.display()))),
        // Without udev nobody else tells the kernel of the other devices.
        FilesystemKind::Btrfs => words.extend(
            devices
                .iter()
                .skip(1)
                .map(|device| format!("device={}", device.display())),
        ),
        _ => {}
    }
    if let (FilesystemKind::Btrfs, Some(word)) =
        (spec.kind, spec.compression.as_deref().filter(|word| *word != "off"))
    {
        words.push(format!("compress={word}"));
    }
    words.extend(spec.log_buffers.map(|count| format!("logbufs={count}")));
    words.extend(spec.log_buffer_size_bytes.map(|bytes| format!("logbsize={bytes}")));
    words
}

#[cfg(test)]
mod tests;
