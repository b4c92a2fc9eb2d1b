//! Checks of a stack after each test: whether one member was slower than the others, whether the filesystem was
//! nearly full, and whether the kernel did background work.

use crate::array::zfs;
use crate::filesystem::lazy_init;
use crate::machine::context::{Context, DiskKind, Teardown};
use crate::machine::counters::DiskStats;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::sysfs;
use crate::setup::stack::Stack;
use study::event::{Event, Guard};
use study::median;
use study::stack::{ArraySpec, Members, StackSpec};

/// Above this usage, in percent, filesystems search long for free space, and find it in fragments.
const USED_PERCENT_MAX: u64 = 90;

/// A test, and the stack that it ran on.
#[derive(Clone, Copy, Debug)]
pub struct Tested<'a> {
    /// `None` for all tests of the trial.
    pub test: Option<&'a str>,
    pub spec: &'a StackSpec,
    /// Number of disks of the array, including spares.
    pub disks: u32,
    /// Acts of the study change the array during the test.
    pub has_acts: bool,
    /// The filesystem was filled on purpose, before the workload.
    pub is_aged: bool,
}

/// Records the guards `slow-member`, `nearly-full` and `undisturbed` of a test that has just ended; `moved` has the
/// members' counters, in their order.
pub fn judge(
    stack: &Stack,
    moved: &[DiskStats],
    tested: Tested<'_>,
    context: &mut Context<'_>,
) -> Result<(), Cause> {
    let mut verdicts = Vec::new();
    if !tested.has_acts {
        let background = background(stack, moved, tested.spec, context)?;
        let detail = background
            .as_deref()
            .unwrap_or("no resync, scrub, initialisation or trim was under way");
        verdicts.push(("undisturbed", background.is_none(), detail.to_owned()));
        let array = &tested.spec.array;
        let members = tested.disks.saturating_sub(array.spares) as usize;
        let compared = slow_member(&moved[..members.min(moved.len())], spreads_reads(array));
        if let Some((passed, detail)) = compared.filter(|_| !array.draws_from_several_groups()) {
            verdicts.push(match context.setting.disk_kind {
                // A slower member has another load, model or link by the study, and that is a result.
                DiskKind::Simulated if !passed => {
                    let why = "the simulated disks are not faulty, and differ only in load";
                    ("slow-member", true, format!("{why}: {detail}"))
                }
                _ => ("slow-member", passed, detail),
            });
        }
    }
    if let Some(folder) = stack.mount_point.as_ref().filter(|_| !tested.is_aged) {
        let stat = rustix::fs::statvfs(folder).map_err(Cause::errno(format!("statvfs {}", folder.display())))?;
        verdicts.extend(
            nearly_full(stat.f_blocks, stat.f_bfree).map(|(passed, detail)| ("nearly-full", passed, detail)),
        );
    }
    for (name, passed, detail) in verdicts {
        context.access.recorder.record(Event::Guard(Guard {
            name: name.to_owned(),
            test: tested.test.map(Into::into),
            passed,
            detail,
        }));
    }
    Ok(())
}

/// Background work of the kernel on the stack.
fn background(
    stack: &Stack,
    moved: &[DiskStats],
    spec: &StackSpec,
    context: &mut Context<'_>,
) -> Result<Option<String>, Cause> {
    for array in stack.arrays().filter(|array| array.resyncs) {
        if array.is_idle(context.access.executor)? {
            return Ok(Some(
                "the initial resync ended before the test did: use a larger `size` of the array, or a shorter test"
                    .to_owned(),
            ));
        }
    }
    for array in stack.arrays().filter(|array| !array.resyncs) {
        if !array.is_idle(context.access.executor)? {
            let action = context.access.executor.read(&array.attribute("sync_action"))?;
            let name = &array.device.kernel_name;
            return Ok(Some(format!(
                "md was busy on {name} at the end of the test (sync_action is `{action}`), which slows the test down: \
                    wait until it has finished, and disable what starts it (mdcheck, a timer)"
            )));
        }
    }
    if let Some(work) = pool_work(stack, context)? {
        return Ok(Some(work));
    }
    if !spec.filesystem.lazy_init && lazy_init::is_under_way(context.access.executor)? {
        return Ok(Some(
            "ext4 was initialising inode tables at the end of the test: write `lazy_init = false`, and on a host have \
                no other new ext4 mounted"
                .to_owned(),
        ));
    }
    let discards = moved.iter().map(|disk| disk.discards).sum();
    Ok(trim(discards, discards_itself(spec)))
}

/// Background work of OpenZFS on the pool. In the lab only the study could start it.
fn pool_work(stack: &Stack, context: &mut Context<'_>) -> Result<Option<String>, Cause> {
    let Some(pool) = stack.pool() else { return Ok(None) };
    if context.setting.teardown == Teardown::None {
        return Ok(None);
    }
    let status = context.access.ask(&pool.status())?;
    Ok(zfs::scan(&status.stdout).map(|scan| {
        format!(
            "the pool {} was being scrubbed or resilvered at the end of the test (zpool status: `{scan}`), which \
                slows the test down: wait until it has finished, and disable what starts it (zfsutils-linux's monthly \
                scrub, a timer)",
            pool.name
        )
    }))
}

/// Whether the filesystem discards freed blocks.
fn discards_itself(spec: &StackSpec) -> bool {
    let kind = spec.filesystem.kind.get();
    let by_default = ["btrfs", "zfs", "bcachefs", "raw"].contains(&kind.words[0]);
    by_default || spec.mount_options.iter().any(|option| option.starts_with("discard"))
}

fn trim(discards: u64, is_own: bool) -> Option<String> {
    (discards > 0 && !is_own).then(|| {
        format!(
            "{discards} discards reached the member disks during the test, and the filesystem is not mounted with \
             `discard`: something trims it, such as fstrim.timer: disable it"
        )
    })
}

/// Whether the filesystem has space left, from its total and free blocks.
fn nearly_full(blocks: u64, free: u64) -> Option<(bool, String)> {
    let used = (blocks.saturating_sub(free) * 100).checked_div(blocks)?;
    let passed = used <= USED_PERCENT_MAX;
    let mut detail = format!("{used} % of the filesystem is in use; at most {USED_PERCENT_MAX} % should be");
    if !passed {
        detail += ": use larger disks or a larger `size` of the array, or fewer bytes in the workload";
    }
    Some((passed, detail))
}

/// Whether each member gets the same kind of reads: a mirror reads from the nearest copy.
fn spreads_reads(array: &ArraySpec) -> bool {
    let stripes = |level: study::stack::Level| {
        let facts = level.facts();
        facts.has_chunk && matches!(facts.data, Members::All | Members::AllBut(_))
    };
    stripes(array.level) && array.of.is_none_or(|inner| stripes(inner.level))
}

/// A member is slow if its reads take longer than those of any peer by this factor, if there are hardly any writes.
const READ_TIMES_MAX: f64 = 2.0;
/// The same for writes, and for reads that wait for writes. Writes are short while a drive's cache has room and
/// long when it has none: identical disks with different rotational phases differ by a factor of 2.4 in the lab,
/// over 8,000 writes of JFS each; reads among writes of XFS by 2.2.
const WRITE_TIMES_MAX: f64 = 4.0;
/// Fewer requests of a member are not significant.
const REQUESTS_MIN: u64 = 200;
/// Minimum number of comparable members, including the slow one.
const MEMBERS_MIN: usize = 4;
/// The means of the others differ by at most this factor. If drives answer some requests from their caches,
/// identical disks differ by a factor of up to eight.
const AGREE: f64 = 1.5;
/// Counters are in whole milliseconds.
const MILLISECONDS_MIN: u64 = 20;
/// Members are peers if their requests differ in number and size by at most this factor.
const ALIKE: f64 = 1.5;
/// Requests of a kind are rare if they are at most one in this many.
const RARE: u64 = 20;

/// Requests of one kind at one member.
#[derive(Clone, Copy)]
struct Load {
    requests: u64,
    sectors: u64,
    milliseconds: u64,
}

/// Its verb, its load on a member, and the limit.
type Kind = (&'static str, fn(&DiskStats) -> Load, f64);

impl Load {
    const fn reads(disk: &DiskStats) -> Self {
        Self {
            requests: disk.reads,
            sectors: disk.sectors_read,
            milliseconds: disk.reading_ms,
        }
    }

    const fn writes(disk: &DiskStats) -> Self {
        Self {
            requests: disk.writes,
            sectors: disk.sectors_written,
            milliseconds: disk.writing_ms,
        }
    }

    fn mean_ms(self) -> f64 {
        self.milliseconds as f64 / self.requests.max(1) as f64
    }
}

/// Compares the mean time of a request between members with the same load; `None` if too few can be compared. The
/// time is from queueing to completion.
fn slow_member(members: &[DiskStats], spreads_reads: bool) -> Option<(bool, String)> {
    // The copies of a mirror get the same writes but different reads, which delay the writes.
    let reads_much = |disk: &DiskStats| disk.reads * RARE > disk.reads + disk.writes;
    if !spreads_reads && members.iter().any(reads_much) {
        return None;
    }
    let alike: Vec<&DiskStats> = members.iter().filter(|disk| is_alike(disk, members)).collect();
    let writes_much = |disk: &DiskStats| disk.writes * RARE > disk.reads + disk.writes;
    let read_times_max = match members.iter().any(writes_much) {
        true => WRITE_TIMES_MAX,
        false => READ_TIMES_MAX,
    };
    let kinds: [Kind; 2] = [
        ("read", Load::reads, read_times_max),
        ("write", Load::writes, WRITE_TIMES_MAX),
    ];
    let mut compared = Vec::new();
    for (verb, load, times_max) in kinds.into_iter().skip(usize::from(!spreads_reads)) {
        let judged: Vec<(&str, Load)> = alike.iter().map(|disk| (disk.device.as_str(), load(disk))).collect();
        if judged.len() < MEMBERS_MIN || judged.iter().any(|(_, load)| load.requests < REQUESTS_MIN) {
            continue;
        }
        for (index, (name, load)) in judged.iter().enumerate() {
            let peers = judged.iter().enumerate().filter(|(other, _)| *other != index);
            let peers = || peers.clone().map(|(_, (_, load))| load.mean_ms());
            let (shortest, longest) = (peers().fold(f64::MAX, f64::min), peers().fold(0.0, f64::max));
            let peers_agree = longest <= AGREE * shortest;
            if load.milliseconds >= MILLISECONDS_MIN && peers_agree && load.mean_ms() > times_max * longest {
                return Some((
                    false,
                    format!(
                        "a {verb} takes {:.2} ms at {name} and at most {longest:.2} ms at the other members, for \
                            equally many requests of the same size: check for a different model, firmware, write \
                            cache or link, and for bad sectors (SMART)",
                        load.mean_ms()
                    ),
                ));
            }
        }
        let each: Vec<String> = judged
            .iter()
            .map(|(name, load)| format!("{name} {:.2}", load.mean_ms()))
            .collect();
        compared.push(format!("milliseconds of a {verb}: {}", each.join(", ")));
    }
    (!compared.is_empty()).then(|| (true, compared.join("; ")))
}

/// Whether a member had about as many reads and writes, of about the same size, as half of the members.
fn is_alike(disk: &DiskStats, members: &[DiskStats]) -> bool {
    let all = median(members.iter().map(|disk| (disk.reads + disk.writes) as f64)).unwrap_or_default();
    let near = |value: f64, median: f64| value <= ALIKE * median && median <= ALIKE * value;
    let is_near = |load: fn(&DiskStats) -> Load| {
        let size = |load: Load| load.sectors as f64 / load.requests.max(1) as f64;
        let (own, requests) = (
            load(disk),
            median(members.iter().map(|disk| load(disk).requests as f64)).unwrap_or_default(),
        );
        let is_rare = own.requests as f64 * RARE as f64 <= all && requests * RARE as f64 <= all;
        let sizes = median(members.iter().map(|disk| size(load(disk)))).unwrap_or_default();
        is_rare || (near(own.requests as f64, requests) && near(size(own), sizes))
    };
    is_near(Load::reads) && is_near(Load::writes)
}

impl Stack {
    /// Smallest write that no disk must precede with a read: the largest physical sector of the members. `None` if
    /// the kernel does not report it.
    pub fn physical_block_bytes(&self) -> Option<u64> {
        let size = |disk: &BlockDevice| {
            sysfs::read(&disk.queue().join("physical_block_size"))
                .ok()?
                .parse()
                .ok()
        };
        self.members.iter().filter_map(size).max()
    }
}

#[cfg(test)]
mod tests;
