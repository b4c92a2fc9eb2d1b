//! Setting up and tearing down a stack.

mod arrays;
mod filesystems;
mod integrity;
mod pools;
mod queues;
mod rising;

use crate::array::{self, Array};
use crate::context::{Context, Teardown};
use crate::device::BlockDevice;
use crate::disks::Disks;
use crate::error::Cause;
use crate::executor::read_number;
use crate::failure::{FailedUndo, StackError, TeardownError};
use crate::integrity::{Checksummed, empty_journals};
use crate::ledger::Act;
use crate::mount::Mounting;
use crate::undo::undo;
use crate::{filesystem, judge, memory, options, queue, start_up, zfs};
use rising::Rising;
use std::path::{Path, PathBuf};
use study::stack::{ArraySpec, BITMAP, Bitmap, DATA, JOURNAL, Level, SPECIAL, StackSpec};
use tools::Version;

/// A stack that is set up.
#[derive(Debug)]
pub struct Stack {
    /// The device of the filesystem, or of the workload on a raw device: the array or the single disk. The first
    /// disk if the filesystem has several.
    pub block_device: PathBuf,
    /// Mount point of the filesystem; `None` on a raw device.
    pub mount_point: Option<PathBuf>,
    /// The disks in use: those of the array, spares last, then external devices such as a journal's.
    pub members: Vec<BlockDevice>,
    /// Number of members in group `data`.
    pub(crate) data_disks: usize,
    /// `None` without md.
    pub array: Option<Array>,
    /// If md's members are dm-integrity devices: each disk of group `data` with its device.
    pub(crate) checksummed: Vec<Checksummed>,
    /// The arrays that are its members.
    inner: Vec<Array>,
    mounting: Option<Mounting>,
    /// Mounted filesystems on other groups of disks, by group.
    group_mounts: Vec<(String, PathBuf)>,
    acts: Vec<Act>,
}

impl Stack {
    /// Mount point of the filesystem on another group, if any.
    pub fn group_mount(&self, group: &str) -> Option<&Path> {
        let found = self.group_mounts.iter().find(|(name, _)| name == group);
        found.map(|(_, folder)| folder.as_path())
    }

    /// The ZFS pool, if any.
    pub(crate) fn pool(&self) -> Option<&zfs::Pool> {
        self.mounting.as_ref()?.pool.as_ref()
    }

    /// Every array, inner arrays first.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.inner.iter().chain(&self.array)
    }
}

/// Sets up a stack on the disks. On failure everything is undone, unless the machine ends with the trial.
pub fn up(spec: &StackSpec, disks: &Disks, context: &mut Context<'_>) -> Result<Stack, StackError> {
    let mut rising = Rising {
        acts: Vec::new(),
        step: "",
    };
    match rising.all(spec, disks, context) {
        Ok(parts) => Ok(Stack {
            acts: rising.acts,
            ..parts
        }),
        Err(cause) => {
            let failed_undo = roll_back(rising.acts, context);
            Err(StackError {
                step: rising.step.to_owned(),
                cause,
                failed_undo,
            })
        }
    }
}

/// Unmounts the filesystem and mounts it again with the same options; `between` is called while it is not mounted.
/// Also waits for background work after the mount. The ledger's entry of the mount remains valid.
pub fn remount(
    stack: &Stack,
    context: &mut Context<'_>,
    between: impl FnOnce(&mut Context<'_>) -> Result<(), Cause>,
) -> Result<(), Cause> {
    let (Some(folder), Some(mounting)) = (&stack.mount_point, &stack.mounting) else {
        return between(context);
    };
    // Unmounting writes back as well, but does not report errors.
    memory::write_back(Some(folder))?;
    context.access.executor.unmount(folder)?;
    // ZFS's caches belong to the pool, not to the mount.
    if let Some(pool) = &mounting.pool {
        context.access.run(&pool.export(), &pool.partitions)?;
    }
    empty_journals(&stack.checksummed, &mut context.access)?;
    let outcome = between(context);
    context.step("mount");
    if let Some(pool) = &mounting.pool {
        context.access.run(&pool.import(), &pool.partitions)?;
    }
    mounting.mount(folder, &mut context.access)?;
    if !mounting.is_lazy {
        start_up::wait(context)?;
    }
    outcome
}

/// Tears a stack down as configured in the context. Acts that cannot be undone stay in the ledger, and the rest is
/// still undone.
pub fn down(stack: Stack, context: &mut Context<'_>) -> Result<(), TeardownError> {
    if context.setting.teardown == Teardown::Full {
        context.step("tear down");
    }
    let failed_undo = roll_back(stack.acts, context);
    if failed_undo.is_empty() {
        Ok(())
    } else {
        Err(TeardownError { failed_undo })
    }
}

fn roll_back(acts: Vec<Act>, context: &mut Context<'_>) -> Vec<FailedUndo> {
    if context.setting.teardown == Teardown::None {
        return Vec::new();
    }
    let undone = |act: Act| {
        let result = undo(&act.undo, &mut context.access).and_then(|()| {
            context
                .ledger
                .undone(act.entry)
                .map_err(Cause::system("write the ledger"))
        });
        result.err().map(|cause| FailedUndo { undo: act.undo, cause })
    };
    acts.into_iter().rev().filter_map(undone).collect()
}

/// Checks everything that can be checked before anything is changed.
pub(crate) fn check(spec: &StackSpec, disks: &Disks, context: &Context<'_>) -> Result<(), Cause> {
    let used = disks_used(&spec.array, disks.group(DATA));
    array::check(&spec.array, used.len())?;
    filesystem::check(&spec.filesystem, &spec.mount_options)?;
    let devices = match spec.array.level {
        Level::None => used.len() - unused_spares(spec, used.len()),
        _ => 1,
    };
    zfs::check(&spec.filesystem.zfs, devices)?;
    options::parse(
        &spec.mount_options,
        filesystem::journal_option(&spec.filesystem).as_deref(),
    )?;
    external_disks(spec, disks)?;
    if let Some(sectors) = spec.read_ahead_sectors {
        queue::kibibytes_of(sectors)?;
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

/// The settings of the queues as the kernel reports them.
fn record(members: &[BlockDevice], device: &BlockDevice, context: &mut Context<'_>) -> Result<(), Cause> {
    let executor = &mut *context.access.executor;
    let schedulers = members.iter().map(|disk| queue::scheduler(disk, executor));
    let mut schedulers = schedulers.collect::<Result<Vec<_>, _>>()?;
    schedulers.dedup();
    context.provenance("members.scheduler", schedulers.join(" "));
    let executor = &mut *context.access.executor;
    let caches = members.iter().map(|disk| queue::write_cache(disk, executor));
    let mut caches = caches.collect::<Result<Vec<_>, _>>()?;
    caches.dedup();
    let words: Vec<&str> = caches.iter().map(|on| if *on { "on" } else { "off" }).collect();
    context.provenance("members.write_cache", words.join(" "));
    let kibibytes = read_number(context.access.executor, &queue::read_ahead_attribute(device))?;
    context.provenance("read_ahead_sectors", (kibibytes * 2).to_string());
    judge::judge_alignment(members, device, context);
    Ok(())
}

#[cfg(test)]
mod tests;
