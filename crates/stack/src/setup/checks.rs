//! Checks of a stack before anything is changed: disks, options, programs.

use crate::array::{md, zfs};
use crate::filesystem;
use crate::machine::context::Context;
use crate::machine::disks::Disks;
use crate::machine::error::Cause;
use crate::machine::{mount_options, request_queue};
use std::path::PathBuf;
use study::stack::{ArraySpec, BITMAP, Bitmap, CACHE, JOURNAL, Level, SPECIAL, StackSpec};
use tools::Version;

/// Checks everything that can be checked before anything is changed.
pub(crate) fn check(spec: &StackSpec, disks: &Disks, context: &Context<'_>) -> Result<(), Cause> {
    let members = disks.members(&spec.array);
    let used = disks_used(&spec.array, &members);
    md::check(&spec.array, used.len())?;
    filesystem::check(&spec.filesystem, &spec.mount_options)?;
    let devices = match spec.array.level {
        Level::None => used.len() - unused_spares(spec, used.len()),
        _ => 1,
    };
    zfs::check(&spec.filesystem.zfs, devices)?;
    mount_options::parse(
        &spec.mount_options,
        filesystem::journal_option(&spec.filesystem).as_deref(),
    )?;
    external_disks(spec, disks)?;
    if let Some(sectors) = spec.read_ahead_sectors {
        request_queue::kibibytes_of(sectors)?;
    }
    let name = context.setting.name;
    let is_fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > 32 || !name.chars().all(is_fit) {
        return Err(Cause::Impossible(format!(
            "`{name}` cannot name a stack: only a-z, 0-9 and -, at most 32 characters"
        )));
    }
    Ok(())
}

/// The disks of the array; for a single disk, the first.
pub(crate) fn disks_used<'d>(array: &ArraySpec, disks: &'d [PathBuf]) -> &'d [PathBuf] {
    match array.level {
        Level::Single => &disks[..disks.len().min(1)],
        _ => disks,
    }
}

/// Number of disks at the end of the group that a filesystem on all disks does not use until an act makes one take
/// over. dRAID's spares are space on all disks.
pub(crate) fn unused_spares(spec: &StackSpec, disks: usize) -> usize {
    match spec.array.level {
        Level::None if !zfs::is_distributed(&spec.filesystem.zfs) => (spec.array.spares as usize).min(disks),
        _ => 0,
    }
}

/// The disks of other groups that a stack uses.
pub(crate) fn external_disks(spec: &StackSpec, disks: &Disks) -> Result<Vec<PathBuf>, Cause> {
    let groups = [
        spec.array.write_journal.then_some(JOURNAL),
        (spec.array.bitmap == Bitmap::External).then_some(BITMAP),
        spec.filesystem.journal_on.as_deref(),
        spec.filesystem.zfs.log.then_some(JOURNAL),
        spec.filesystem.zfs.special.then_some(SPECIAL),
        spec.filesystem.zfs.l2arc.then_some(CACHE),
        spec.has_cache().then_some(CACHE),
    ];
    let mut paths = Vec::new();
    for group in groups.into_iter().flatten() {
        let disk = disks.first(group)?.to_owned();
        if paths.contains(&disk) {
            return Err(Cause::Impossible(format!(
                "the first disk of the group `{group}` is used for two purposes"
            )));
        }
        paths.push(disk);
    }
    Ok(paths)
}

/// Records the versions of the programs in use, and returns that of mkfs.
pub(crate) fn versions(spec: &StackSpec, context: &mut Context<'_>) -> Result<Option<Version>, Cause> {
    let mkfs = filesystem::mkfs_of(spec.filesystem.kind);
    let mut of_mkfs = None;
    for tool in filesystem::tools_needed(spec, context.setting.teardown) {
        let version = context.access.executor.version(tool, context.access.recorder)?;
        if mkfs == Some(tool) {
            of_mkfs = Some(version);
        }
    }
    Ok(of_mkfs)
}
