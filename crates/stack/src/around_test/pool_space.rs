//! The space of ZFS pools, whose syncfs(2) writes the intent log and frees nothing.

use crate::array::zfs::ZPOOL;
use crate::machine::context::Context;
use crate::machine::error::Cause;
use crate::setup::stack::Stack;
use study::event::Event;
use tools::Invocation;

/// Transaction groups until the blocks of deleted files can be written again: OpenZFS defers that by two (TXG_DEFER_SIZE).
const DEFERRED_GROUPS: u32 = 3;

/// Ends the open transaction group of the stack's ZFS pool, and the groups that free what was deleted in it. Does nothing on other
/// filesystems. Not recorded: ageing does it hundreds of times.
pub fn end_transaction(stack: &Stack, context: &mut Context<'_>) -> Result<(), Cause> {
    let Some(pool) = stack.pool() else { return Ok(()) };
    context.access.before_write(&pool.partitions)?;
    let sync = Invocation::new(ZPOOL).arg("sync").arg(&pool.name);
    for _ in 0..DEFERRED_GROUPS {
        context.access.executor.run(&sync, &mut |_: Event| ())?;
    }
    Ok(())
}

/// `zpool get fragmentation` of the stack's ZFS pool: how small the pieces of its free space are.
pub fn pool_fragmentation(stack: &Stack, context: &mut Context<'_>) -> Result<Option<String>, Cause> {
    let Some(pool) = stack.pool() else { return Ok(None) };
    let ask = Invocation::new(ZPOOL)
        .args(["get", "-H", "-o", "value", "fragmentation"])
        .arg(&pool.name);
    let call = context.access.ask(&ask)?;
    Ok(Some(format!("{} (zpool get fragmentation)", call.stdout.trim())))
}
