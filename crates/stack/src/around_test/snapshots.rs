//! Snapshots that exist while a workload runs.

use crate::machine::context::Context;
use crate::machine::error::Cause;
use crate::setup::stack::Stack;
use crate::timeline::BTRFS;
use study::stack::{SnapshotMaker, StackSpec};
use tools::{Invocation, Tool};

/// The guard of snapshots.
const GUARD: &str = "snapshots";

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
            let snapshot = folder()?.join(".zfs/snapshot").join(format!("snapshot-{number}"));
            context.access.executor.make_folder(&snapshot)?;
            return Ok(());
        }
        SnapshotMaker::Lvm(_) => stack.volume.as_ref().ok_or_else(none)?.snapshot(number),
    };
    context.access.run(&call, &[&stack.block_device])?;
    Ok(())
}

/// Whether a test's snapshots are still there: a classic snapshot of LVM is lost when the space for its copies is full, and writes
/// are as fast as without it from then on. Called after a test.
pub fn judge_snapshots(stack: &Stack, spec: &StackSpec, context: &mut Context<'_>) -> Result<(), Cause> {
    let Some(volume) = stack.volume.as_ref().filter(|_| spec.snapshots > 0) else {
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
