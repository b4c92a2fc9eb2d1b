//! Setting up and tearing down a stack.

use super::failure::{FailedUndo, StackError, TeardownError};
use super::stack::Stack;
use super::steps::Setup;
use super::undo::undo;
use crate::array::integrity::empty_journals;
use crate::array::zfs::Pool;
use crate::filesystem::lazy_init;
use crate::machine::context::{Context, Teardown};
use crate::machine::disks::Disks;
use crate::machine::error::Cause;
use crate::machine::ledger::LedgerEntry;
use crate::machine::page_cache;
use crate::machine::undo::Undo;
use study::stack::StackSpec;
use tools::{Invocation, Tool};

/// Sets up a stack on the disks. On failure everything is undone, unless the machine ends with the trial.
pub fn up(spec: &StackSpec, disks: &Disks, context: &mut Context<'_>) -> Result<Stack, StackError> {
    let mut setup = Setup {
        acts: Vec::new(),
        step: "",
        zeroed: false,
        volume: None,
    };
    match setup.all(spec, disks, context) {
        Ok(parts) => Ok(Stack {
            acts: setup.acts,
            ..parts
        }),
        Err(cause) => {
            let failed_undo = roll_back(setup.acts, context);
            Err(StackError {
                step: setup.step.to_owned(),
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
    page_cache::write_back(Some(folder))?;
    context.access.executor.unmount(folder)?;
    // ZFS's caches belong to the pool, not to the mount.
    if let Some(pool) = &mounting.pool {
        context.access.run(&pool.export(), &pool.partitions)?;
    }
    if let Some(image) = &stack.image {
        image.put_down(&stack.block_device, context)?;
    }
    empty_journals(&stack.checksummed, &mut context.access)?;
    let outcome = between(context);
    context.step("mount");
    if let Some(image) = &stack.image {
        image.take_up(&stack.block_device, context)?;
    }
    if let Some(pool) = &mounting.pool {
        context.access.run(&pool.import(), &pool.partitions)?;
    }
    mounting.mount(folder, &mut context.access)?;
    if !mounting.is_lazy {
        lazy_init::wait(context)?;
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

/// Waits for background work of the filesystem, unmounts and stops everything, and leaves it on the disks: a later machine starts
/// it there ([`StackSetting::created`](crate::StackSetting::created)).
pub fn put_down(stack: &Stack, context: &mut Context<'_>) -> Result<(), Cause> {
    if stack.mounting.as_ref().is_some_and(|mounting| !mounting.is_lazy) {
        lazy_init::wait(context)?;
    }
    for act in stack.acts.iter().rev() {
        match &act.undo {
            Undo::Mount { folder, .. } | Undo::MountOfSeveral { folder, .. } => {
                page_cache::write_back(Some(folder))?;
                context.access.executor.unmount(folder)?;
            }
            Undo::Pool { name, partitions } => {
                let pool = Pool {
                    name: name.clone(),
                    partitions: partitions.clone(),
                };
                context.access.run(&pool.export(), partitions)?;
            }
            Undo::Array { node, members, .. } => {
                let stop = Invocation::new(Tool::Mdadm).arg("--stop").arg(node);
                context.access.run(&stop, members)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn roll_back(acts: Vec<LedgerEntry>, context: &mut Context<'_>) -> Vec<FailedUndo> {
    if context.setting.teardown == Teardown::None {
        return Vec::new();
    }
    let undone = |act: LedgerEntry| {
        let result = undo(&act.undo, &mut context.access).and_then(|_| {
            context
                .ledger
                .undone(act.entry)
                .map_err(Cause::system("write the ledger"))
        });
        result.err().map(|cause| FailedUndo { undo: act.undo, cause })
    };
    acts.into_iter().rev().filter_map(undone).collect()
}

#[cfg(test)]
mod tests;
