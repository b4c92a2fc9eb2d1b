//! Between the tests of a trial: writes back everything, waits until idle, drops caches, and checks each step.

use crate::machine::context::Context;
use crate::machine::counters::DiskStats;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::executor::Executor;
use crate::machine::page_cache;
use crate::machine::sysfs;
use crate::setup::stack::Stack;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use study::event::Guard;

/// How long the stack must be idle, and the maximum time to wait for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiesce {
    /// Time without a request to any member.
    pub quiet: Duration,
    pub at_most: Duration,
    /// Acts of the study may have left the array without a member, which is not waited for.
    pub degraded: bool,
}

impl Default for Quiesce {
    /// Longer than periodic writes: journals are committed and md's bitmap is cleaned every 5 s. In virtual time
    /// waiting costs nothing.
    fn default() -> Self {
        Self {
            quiet: Duration::from_secs(6),
            at_most: Duration::from_secs(120),
            degraded: false,
        }
    }
}

/// Writes back everything, and waits until md and the members are idle. A stack that does not become idle fails the
/// guard `quiesced`; the trial continues.
///
/// Dirty data of other programs is ignored, because it never reaches the members; the detail reports it.
pub fn quiesce(stack: &Stack, how: Quiesce, context: &mut Context<'_>) -> Result<Guard, Cause> {
    context.step("quiesce");
    let began = Instant::now();
    page_cache::write_back(stack.mount_point.as_deref())?;
    for array in stack.arrays() {
        match array.resyncs {
            true => array.hold_resync(context.access.executor)?,
            false if how.degraded => {}
            false => array.wait_until_idle(context.access.executor)?,
        }
    }
    let mut unrest = String::new();
    let mut last = counters(stack)?;
    let mut quiet_since = Instant::now();
    while quiet_since.elapsed() < how.quiet && began.elapsed() < how.at_most {
        std::thread::sleep(how.quiet / 5);
        let now = counters(stack)?;
        if let Some(why) = not_at_rest(stack, &last, &now, context.access.executor)? {
            unrest = why;
            quiet_since = Instant::now();
        }
        last = now;
    }
    let passed = quiet_since.elapsed() >= how.quiet;
    let waited_s = began.elapsed().as_secs_f64();
    let detail = match passed {
        true => {
            let (quiet_s, dirty_kib) = (how.quiet.as_secs_f64(), page_cache::dirty_bytes()? / 1024);
            format!("quiet for {quiet_s:.1} s after {waited_s:.1} s, {dirty_kib} KiB dirty in the whole system")
        }
        false => format!("not quiet within {waited_s:.1} s: {unrest}"),
    };
    Ok(context.guard("quiesced", passed, detail))
}

/// Lets md go on with the initial resync of an array that the study wants to be tested meanwhile.
pub fn release_resync(stack: &Stack, context: &mut Context<'_>) -> Result<(), Cause> {
    let mut arrays = stack.arrays().filter(|array| array.resyncs);
    arrays.try_for_each(|array| array.release_resync(context.access.executor))
}

fn not_at_rest(
    stack: &Stack,
    last: &[DiskStats],
    now: &[DiskStats],
    executor: &mut dyn Executor,
) -> Result<Option<String>, Cause> {
    if let Some(busy) = now
        .iter()
        .zip(last)
        .find(|(now, last)| now != last || now.in_flight > 0)
    {
        return Ok(Some(format!("requests still reach {}", busy.0.device)));
    }
    // One that is not in sync is never marked clean.
    for array in stack.arrays().filter(|array| !array.resyncs) {
        if !array.is_marked_clean(executor)? {
            return Ok(Some("the array is still marked active".to_owned()));
        }
    }
    Ok(None)
}

/// How often caches are dropped, and the pause before the next time, until nothing is cached.
const DROPS_MAX: u32 = 10;
const BETWEEN_DROPS: Duration = Duration::from_millis(100);

/// Drops the page cache, dentries and inodes, and checks that nothing of `witnesses`, files on the stack that the
/// next test will read, is cached: the guard `cold-cache`.
pub fn drop_caches(stack: &Stack, witnesses: &[PathBuf], context: &mut Context<'_>) -> Result<Guard, Cause> {
    context.step("drop caches");
    let mut cached = drop_and_look(stack, witnesses)?;
    // The kernel skips a page that something else holds at the moment: reclaim, or another program that drops caches.
    for _ in 1..DROPS_MAX {
        if cached.is_empty() {
            break;
        }
        std::thread::sleep(BETWEEN_DROPS);
        cached = drop_and_look(stack, witnesses)?;
    }
    let detail = match (witnesses.len(), cached.is_empty()) {
        (0, _) => "caches dropped; no file was given to verify it".to_owned(),
        (count, true) => format!("none of {count} files checked is cached"),
        (_, false) => format!("still cached: {}", cached.join(", ")),
    };
    Ok(context.guard("cold-cache", cached.is_empty(), detail))
}

/// Drops the caches; returns what is still cached of the files.
fn drop_and_look(stack: &Stack, witnesses: &[PathBuf]) -> Result<Vec<String>, Cause> {
    page_cache::write_back(stack.mount_point.as_deref())?;
    sysfs::write(Path::new("/proc/sys/vm/drop_caches"), "3")?;
    let mut cached = Vec::new();
    for path in witnesses {
        let bytes = page_cache::cached_bytes(path)?;
        if bytes > 0 {
            cached.push(format!("{bytes} bytes of {}", path.display()));
        }
    }
    Ok(cached)
}

/// The counters of every member, in the members' order.
pub fn counters(stack: &Stack) -> Result<Vec<DiskStats>, Cause> {
    stack.members.iter().map(DiskStats::of).collect()
}

/// From now on every simulated disk completes a flush at once without writing anything.
pub fn ignore_flushes(stack: &Stack) -> Result<(), Cause> {
    let ignore = |disk: &BlockDevice| sysfs::write(&disk.sysfs.join("ignore_flushes"), "1");
    stack.members.iter().try_for_each(ignore)
}

/// Makes md check all copies or parity, and records the guard `array-clean`; returns the mismatched sectors.
pub fn array_mismatches(stack: &Stack, context: &mut Context<'_>) -> Result<u64, Cause> {
    if stack.array.is_none() {
        return Ok(0);
    }
    context.step("check array");
    rustix::fs::sync();
    let mut sectors = 0;
    for array in stack.arrays() {
        sectors += array.check(context.access.executor)?;
    }
    context.guard("array-clean", sectors == 0, format!("{sectors} sectors disagree"));
    Ok(sectors)
}
