//! Snapshots that exist while a workload runs.

use crate::machine::context::Context;
use crate::machine::error::Cause;
use crate::machine::undo::Undo;
use crate::setup::stack::Stack;
use crate::timeline::BTRFS;
use std::path::Path;
use study::stack::{SnapshotMaker, StackSpec};
use tools::{Invocation, Tool};

/// The guard of snapshots.
const GUARD: &str = "snapshots";

/// A folder for each snapshot.
const ZFS_SNAPSHOTS: &str = ".zfs/snapshot";

/// Whether folders may be made in `.zfs/snapshot`: off unless somebody sets it, since OpenZFS 0.8.
pub(crate) const ZFS_ADMIN_SNAPSHOT: &str = "/sys/module/zfs/parameters/zfs_admin_snapshot";

/// The program that takes snapshots; none for ZFS, which takes one when a folder is made in `.zfs/snapshot`.
pub(crate) fn tool_of(maker: SnapshotMaker) -> Option<Tool> {
    match maker {
        SnapshotMaker::Btrfs => Some(BTRFS),
        SnapshotMaker::Zfs => None,
        SnapshotMaker::Lvm(_) => Some(Tool::Lvm),
    }
}

/// Takes the snapshots of a stack.
pub fn take_snapshots(stack: &Stack, spec: &StackSpec, context: &mut Context<'_>) -> Result<(), Cause> {
    if spec.snapshots == 0 {
        return Ok(());
    }
    context.step("take snapshots");
    for number in 1..=spec.snapshots {
        take(stack, spec, number, context)?;
    }
    Ok(())
}

fn take(stack: &Stack, spec: &StackSpec, number: u32, context: &mut Context<'_>) -> Result<(), Cause> {
    let none = || Cause::Impossible("nothing in this stack takes snapshots".to_owned());
    let folder = || stack.mount_point.as_deref().ok_or_else(none);
    let call = match spec.snapshot_maker().ok_or_else(none)? {
        SnapshotMaker::Btrfs => Invocation::new(BTRFS)
            .args(["subvolume", "snapshot", "-r"])
            .arg(folder()?)
            .arg(folder()?.join(format!(".snapshot-{number}"))),
        SnapshotMaker::Zfs => {
            let snapshot = folder()?.join(ZFS_SNAPSHOTS).join(format!("snapshot-{number}"));
            return take_of_zfs(&snapshot, context);
        }
        SnapshotMaker::Lvm(_) => stack.volume.as_ref().ok_or_else(none)?.snapshot(number),
    };
    context.access.run(&call, &[&stack.block_device])?;
    Ok(())
}

/// A snapshot of ZFS by mkdir(2), because the program `zfs` is not in guests. The parameter of the module is as before afterwards, also
/// if the run is killed meanwhile.
fn take_of_zfs(snapshot: &Path, context: &mut Context<'_>) -> Result<(), Cause> {
    let parameter = Path::new(ZFS_ADMIN_SNAPSHOT);
    let before = context.access.executor.read(parameter)?;
    let undo = Undo::Attribute {
        path: parameter.to_owned(),
        value: before.clone(),
    };
    let entry = context
        .ledger
        .intend(&undo)
        .map_err(Cause::system("write the ledger"))?;
    context.access.executor.write(parameter, "1")?;
    let made = context.access.executor.make_folder(snapshot);
    context.access.executor.write(parameter, &before)?;
    context
        .ledger
        .undone(entry)
        .map_err(Cause::system("write the ledger"))?;
    made.map(|_| ())
}

/// Whether a test's snapshots are still there: a classic snapshot of LVM is lost when the space for its copies is full, and writes are
/// as fast as without it from then on. Called after a test.
pub fn judge_snapshots(stack: &Stack, spec: &StackSpec, context: &mut Context<'_>) -> Result<(), Cause> {
    if spec.snapshots == 0 {
        return Ok(());
    }
    if let (Some(SnapshotMaker::Zfs), Some(folder)) = (spec.snapshot_maker(), &stack.mount_point) {
        let there = context.access.executor.entries(&folder.join(ZFS_SNAPSHOTS))?.len();
        let detail = format!("{there} of {} snapshots are in .zfs/snapshot", spec.snapshots);
        context.guard(GUARD, there == spec.snapshots as usize, detail);
    }
    let Some(volume) = &stack.volume else {
        return Ok(());
    };
    let (lost, percent) = volume.filled(&mut context.access)?;
    let detail = match lost.is_empty() {
        true => format!("the space for copies is {percent} % full"),
        false => format!(
            "{} lost: the space for copies was full before the test ended; make `snapshot_size` larger",
            lost.join(", ")
        ),
    };
    context.guard(GUARD, lost.is_empty(), detail);
    Ok(())
}
