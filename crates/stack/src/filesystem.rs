//! Filesystems: how each mkfs is asked for one, quickly, without questions, and leaving nothing to be done later.

use crate::context::Teardown;
use crate::error::Cause;
use std::path::Path;
use study::stack::{FilesystemKind, FilesystemSpec, JournalMode, Level, StackSpec};
use tools::{Invocation, Tool, Version};

/// mke2fs knows `assume_storage_prezeroed` from here on.
const PREZEROED_SINCE: [u32; 3] = [1, 47, 0];

/// The programs that building (and taking down) a stack needs.
pub fn tools_needed(spec: &StackSpec, teardown: Teardown) -> Vec<Tool> {
    let mdadm = (spec.array.level != Level::Single).then_some(Tool::Mdadm);
    let mkfs = mkfs_of(spec.filesystem.kind);
    let wipefs = (mkfs.is_some() && teardown == Teardown::Full).then_some(Tool::Wipefs);
    [mdadm, mkfs, wipefs].into_iter().flatten().collect()
}

pub(crate) fn mkfs_of(kind: FilesystemKind) -> Option<Tool> {
    match kind {
        FilesystemKind::Raw => None,
        FilesystemKind::Ext2 | FilesystemKind::Ext3 | FilesystemKind::Ext4 => Some(Tool::Mke2fs),
        FilesystemKind::Xfs => Some(Tool::MkfsXfs),
        FilesystemKind::Jfs => Some(Tool::MkfsJfs),
        FilesystemKind::Reiserfs => Some(Tool::MkfsReiserfs),
        FilesystemKind::Btrfs => Some(Tool::MkfsBtrfs),
        _ => None,
    }
}

/// The name by which the kernel mounts it and blkid knows it.
pub(crate) fn kernel_name(kind: FilesystemKind) -> &'static str {
    match kind {
        FilesystemKind::Raw => "raw",
        FilesystemKind::Ext2 => "ext2",
        FilesystemKind::Ext3 => "ext3",
        FilesystemKind::Ext4 => "ext4",
        FilesystemKind::Xfs => "xfs",
        FilesystemKind::Jfs => "jfs",
        FilesystemKind::Reiserfs => "reiserfs",
        FilesystemKind::Btrfs => "btrfs",
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
    use FilesystemKind::{Btrfs, Ext2, Ext3, Ext4, Jfs, Raw, Reiserfs};
    let name = kernel_name(spec.kind);
    let refuse = |reason: String| Err(Cause::Impossible(reason));
    let plain = FilesystemSpec {
        kind: spec.kind,
        block_size_bytes: spec.block_size_bytes,
        journal_mode: spec.journal_mode,
        journal_size_bytes: spec.journal_size_bytes,
        ..FilesystemSpec::default()
    };
    if *spec != plain || spec.kind > Btrfs {
        return refuse("filesystems of this kind cannot be built yet".to_owned());
    }
    if spec.journal_mode.is_some() && !matches!(spec.kind, Ext3 | Ext4 | Reiserfs) {
        return refuse(format!(
            "{name} has no choice of journal mode: ext3, ext4 and reiserfs have"
        ));
    }
    if spec.journal_size_bytes.is_some() && matches!(spec.kind, Raw | Ext2 | Btrfs) {
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

/// The signatures that an mkfs leaves, for wipefs.
pub(crate) fn signatures(kind: FilesystemKind) -> &'static str {
    match kind {
        // Which of the three blkid sees depends on the features, not on the name that mke2fs was given.
        FilesystemKind::Ext2 | FilesystemKind::Ext3 | FilesystemKind::Ext4 => "ext2,ext3,ext4",
        other => kernel_name(other),
    }
}

/// The call that makes the filesystem; none for a raw device. `mkfs` is the version of [`mkfs_of`]'s program.
pub(crate) fn invocation(
    spec: &FilesystemSpec,
    device: &Path,
    zeroed: bool,
    mkfs: &Version,
) -> Result<Option<Invocation>, Cause> {
    let Some(tool) = mkfs_of(spec.kind) else {
        return Ok(None);
    };
    let call = Invocation::new(tool);
    let call = match tool {
        Tool::Mke2fs => mke2fs(call, spec, zeroed && mkfs.at_least(PREZEROED_SINCE))?,
        Tool::MkfsXfs => mkfs_xfs(call, spec),
        Tool::MkfsJfs => mkfs_jfs(call, spec)?,
        Tool::MkfsReiserfs => mkfs_reiserfs(call, spec)?,
        _ => mkfs_btrfs(call, spec),
    };
    Ok(Some(call.arg(device)))
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

fn mke2fs(mut call: Invocation, spec: &FilesystemSpec, prezeroed: bool) -> Result<Invocation, Cause> {
    call = call.args(["-q", "-F", "-t", kernel_name(spec.kind)]);
    if let Some(bytes) = spec.block_size_bytes {
        call = call.arg("-b").arg(bytes.to_string());
    }
    if let Some(bytes) = spec.journal_size_bytes {
        call = call.arg("-J").arg(format!("size={}", mebibytes("journal", bytes)?));
    }
    // Nothing may be left for the kernel to initialise behind the first measurement: either all tables are written
    // now, or they are known to be zero and marked so.
    let tables = match prezeroed {
        true => "nodiscard,assume_storage_prezeroed=1",
        false => "nodiscard,lazy_itable_init=0,lazy_journal_init=0",
    };
    Ok(call.args(["-E", tables]))
}

fn mkfs_xfs(mut call: Invocation, spec: &FilesystemSpec) -> Invocation {
    call = call.args(["-f", "-q", "-K"]);
    if spec.block_size_bytes == Some(512) {
        // Metadata checksums want blocks of 1 KiB at least.
        call = call.args(["-m", "crc=0"]);
    }
    if let Some(bytes) = spec.block_size_bytes {
        call = call.arg("-b").arg(format!("size={bytes}"));
    }
    if let Some(bytes) = spec.journal_size_bytes {
        call = call.arg("-l").arg(format!("internal,size={bytes}"));
    }
    call
}

fn mkfs_jfs(mut call: Invocation, spec: &FilesystemSpec) -> Result<Invocation, Cause> {
    call = call.arg("-q");
    if let Some(bytes) = spec.journal_size_bytes {
        call = call.arg("-s").arg(mebibytes("log", bytes)?.to_string());
    }
    Ok(call)
}

fn mkfs_reiserfs(mut call: Invocation, spec: &FilesystemSpec) -> Result<Invocation, Cause> {
    call = call.args(["-q", "-f", "-f"]);
    let block_bytes = spec.block_size_bytes.unwrap_or(4096);
    if spec.block_size_bytes.is_some() {
        call = call.arg("-b").arg(block_bytes.to_string());
    }
    if let Some(bytes) = spec.journal_size_bytes {
        if block_bytes == 0 || !bytes.is_multiple_of(block_bytes) {
            let reason = format!("a journal of {bytes} bytes: reiserfs counts it in blocks of {block_bytes}");
            return Err(Cause::Impossible(reason));
        }
        call = call.arg("-s").arg((bytes / block_bytes).to_string());
    }
    Ok(call)
}

fn mkfs_btrfs(mut call: Invocation, spec: &FilesystemSpec) -> Invocation {
    // The profiles are what btrfs-progs chooses by itself since 5.15; older ones chose by the kind of disk.
    call = call.args(["-q", "-f", "-K", "-d", "single", "-m", "dup"]);
    if let Some(bytes) = spec.block_size_bytes {
        call = call.arg("-s").arg(bytes.to_string());
    }
    call
}

fn mebibytes(what: &str, bytes: u64) -> Result<u64, Cause> {
    const MIB: u64 = 1 << 20;
    if bytes == 0 || !bytes.is_multiple_of(MIB) {
        return Err(Cause::Impossible(format!(
            "a {what} of {bytes} bytes: its mkfs counts in MiB"
        )));
    }
    Ok(bytes / MIB)
}

#[cfg(test)]
mod tests;
