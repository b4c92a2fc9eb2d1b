//! The workload's environment ([`Host`]): implemented by the stack that the workload uses.

use crate::acts_and_tests;
use stack::{ActsAndTests, Context, DiskStats, Quiesce, Stack, Tested, Timeline};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use study::act::Act;
use study::event::{Event, Guard, ToolCall};
use study::phase::Phases;
use study::plan::Trial;
use study::progress::WorkProgress;
use study::stack::{Keeper, Members, StackSpec};
use tools::{Invocation, ToolError};
use workload::{DeviceCounters, DisksBusy, Host, HostError, WriteUnit};

/// A stack and its context.
pub struct StackHost<'a, 'c> {
    pub stack: &'a Stack,
    pub context: &'a mut Context<'c>,
    pub compresses: bool,
    /// The acts, until they start with the first measured work.
    pub acts: &'a [Act],
    /// Names of the workload's tests that were to include every act.
    pub tests: &'a [String],
    pub has_acts: bool,
    /// The stack's snapshots are taken when the first measured work starts.
    pub has_snapshots: bool,
    /// The acts left the array without a member.
    pub degraded: bool,
    /// The acts in progress.
    pub timeline: Option<Timeline>,
    /// The share of the work that is done.
    pub progress: Arc<WorkProgress>,
    /// One of several tests is under way: acts go on when it ends.
    pub tests_follow: bool,
    /// Each test names the phases in which it ran.
    pub reports_phases: bool,
    pub spec: &'a StackSpec,
    /// Number of disks of group `data`.
    pub disks: u32,
    /// RAM size of the machine.
    pub ram_bytes: u64,
    /// The aged filesystem of the workload, if it has one.
    pub is_aged: bool,
    /// Number of the cell among those that differ in nothing else.
    pub replicate: u32,
    /// The members' counters before and after the test, each with the time of reading.
    pub counted: [Option<Counted>; 2],
}

/// Counters of all members at one time.
pub struct Counted {
    members: Vec<DiskStats>,
    at: Instant,
}

/// In a shorter time the kernel's tick (10 ms in the lab) is too coarse to compute a disk's utilisation.
const BUSY_TIME_MIN: Duration = Duration::from_millis(100);

/// Utilisation in percent of `time`. A member that was replaced has other counters than before.
fn busy(before: &[DiskStats], after: &[DiskStats], time: Duration) -> Option<DisksBusy> {
    let percent = |(before, after): (&DiskStats, &DiskStats)| {
        let busy = Duration::from_millis(after.busy_ms_since(before));
        (busy.as_secs_f64() / time.as_secs_f64()).min(1.0) * 100.0
    };
    let all: Vec<f64> = before.iter().zip(after).map(percent).collect();
    if time < BUSY_TIME_MIN || all.is_empty() {
        return None;
    }
    Some(DisksBusy {
        mean: all.iter().sum::<f64>() / all.len() as f64,
        busiest: all.iter().copied().fold(0.0, f64::max),
    })
}

impl<'a, 'c> StackHost<'a, 'c> {
    /// Before the workload of a trial; `tests` are the names of its tests.
    pub fn new(trial: &'a Trial, stack: &'a Stack, context: &'a mut Context<'c>, tests: &'a [String]) -> Self {
        let cell = &trial.cell;
        let (spec, work) = (&cell.stack, &cell.workload.work);
        Self {
            stack,
            context,
            compresses: spec.compresses(),
            spec,
            disks: cell.member_count().max(1),
            ram_bytes: cell.machine.ram_bytes,
            is_aged: cell.workload.age.is_some(),
            replicate: cell.replicate,
            counted: [None, None],
            acts: &cell.acts,
            tests: acts_and_tests::of_all_acts(work, tests),
            has_acts: !cell.acts.is_empty(),
            has_snapshots: false,
            timeline: None,
            progress: Arc::default(),
            tests_follow: false,
            reports_phases: acts_and_tests::reports_phases(work),
            degraded: false,
        }
    }
}

impl StackHost<'_, '_> {
    /// Whether acts may have given btrfs or bcachefs other disks than those it would be mounted from.
    fn has_other_disks(&self) -> bool {
        let acts_began = self.has_acts && self.acts.is_empty();
        acts_began && matches!(self.spec.keeper(self.disks), Some(Keeper::Btrfs | Keeper::Bcachefs))
    }

    /// Whether acts go on, so that the array neither comes to rest nor is unmounted: rebuilds and the programs of btrfs,
    /// ZFS and bcachefs need the filesystem.
    const fn acts_go_on(&self) -> bool {
        self.tests_follow && self.timeline.is_some()
    }

    /// Writes back and drops caches while acts go on.
    fn drop_caches_amid_acts(&mut self) -> Result<(), HostError> {
        stack::drop_caches(self.stack, &[], self.context)?;
        Ok(())
    }

    /// Records in which phases of the array a test ran.
    fn report_phases(&mut self, test: Option<&str>) {
        let (Some(timeline), [Some(before), Some(after)]) = (&self.timeline, &self.counted) else {
            return;
        };
        let ran = acts_and_tests::phases_between(&timeline.phases(), before.at, after.at);
        self.event(Event::Guard(Guard {
            name: Guard::ACT.to_owned(),
            test: test.map(Into::into),
            passed: true,
            detail: format!("the array was {ran}"),
        }));
    }

    /// Waits for the acts to end and for a rebuild in progress, and reports both.
    pub fn end_acts(&mut self) -> Result<(), HostError> {
        if let Some(timeline) = self.timeline.take() {
            self.degraded = timeline.end(self.context)?;
        }
        Ok(())
    }
}

impl Host for StackHost<'_, '_> {
    fn event(&mut self, event: Event) {
        self.context.access.recorder.record(event);
    }

    fn has_files(&self) -> bool {
        self.context.setting.created && !self.is_aged
    }

    fn is_aged(&self) -> bool {
        self.context.setting.created && self.is_aged
    }

    fn replicate(&self) -> u32 {
        self.replicate
    }

    fn free_deleted(&mut self) -> Result<(), HostError> {
        Ok(stack::end_transaction(self.stack, self.context)?)
    }

    fn fragmentation(&mut self) -> Result<Option<String>, HostError> {
        Ok(stack::pool_fragmentation(self.stack, self.context)?)
    }

    fn step(&mut self, name: &str) {
        let at_ns = super::nanoseconds_since(self.context.began);
        self.context.access.recorder.record(Event::Step {
            name: name.to_owned(),
            at_ns,
        });
    }

    /// The filesystem is unmounted, because dropping caches would keep what its journal holds in memory.
    fn quiesce_and_drop_caches(&mut self) -> Result<(), HostError> {
        if self.acts_go_on() {
            return self.drop_caches_amid_acts();
        }
        let stack = self.stack;
        self.end_acts()?;
        stack::write_known_file(stack, self.spec, self.disks, self.acts)?;
        let how = Quiesce {
            degraded: self.degraded,
            ..Quiesce::default()
        };
        let clear = |context: &mut Context<'_>| {
            stack::quiesce(stack, how, context)?;
            stack::drop_caches(stack, &[], context)?;
            stack::release_resync(stack, context)
        };
        match self.has_other_disks() {
            true => clear(self.context)?,
            false => stack::remount(stack, self.context, clear)?,
        }
        self.begin_acts()
    }

    fn begin_acts(&mut self) -> Result<(), HostError> {
        if !std::mem::replace(&mut self.has_snapshots, true) {
            stack::take_snapshots(self.stack, self.spec, self.context)?;
        }
        let acts = std::mem::take(&mut self.acts);
        if !acts.is_empty() {
            let acts = ActsAndTests {
                acts,
                tests: self.tests,
                progress: &self.progress,
            };
            let check = self.context.access.check.for_acts().map_err(stack::Cause::State)?;
            let timeline = Timeline::begin(self.stack, self.spec, self.disks, acts, check, self.context.began)?;
            self.timeline = Some(timeline);
        }
        Ok(())
    }

    fn ignore_flushes(&mut self) -> Result<(), HostError> {
        Ok(stack::ignore_flushes(self.stack)?)
    }

    fn next_test(&mut self, number: usize, of: usize, units: u64) {
        self.tests_follow = true;
        self.progress.begin_test(number, of, units);
    }

    fn tests_are_over(&mut self) {
        self.tests_follow = false;
        self.progress.end();
    }

    fn progress(&self) -> Option<Arc<WorkProgress>> {
        self.timeline.as_ref().map(|_| Arc::clone(&self.progress))
    }

    fn device_counters(&mut self) -> Result<DeviceCounters, HostError> {
        let members = stack::counters(self.stack)?;
        let sum = |field: fn(&DiskStats) -> u64| members.iter().map(field).sum();
        let counters = DeviceCounters {
            reads: sum(|disk| disk.reads),
            reads_merged: sum(|disk| disk.reads_merged),
            read_sectors: sum(|disk| disk.sectors_read),
            writes: sum(|disk| disk.writes),
            written_sectors: sum(|disk| disk.sectors_written),
        };
        self.counted.rotate_left(1);
        self.counted[1] = Some(Counted {
            members,
            at: Instant::now(),
        });
        Ok(counters)
    }

    fn disks_busy(&self) -> Option<DisksBusy> {
        let [Some(before), Some(after)] = &self.counted else {
            return None;
        };
        busy(&before.members, &after.members, after.at - before.at)
    }

    fn judge(&mut self, test: Option<&str>) {
        let moved: Vec<DiskStats> = match &self.counted {
            [Some(before), Some(after)] => {
                let pairs = after.members.iter().zip(&before.members);
                pairs.map(|(after, before)| after.clone() - before).collect()
            }
            _ => Vec::new(),
        };
        let tested = Tested {
            test,
            spec: self.spec,
            disks: self.disks,
            has_acts: self.has_acts,
            is_aged: self.is_aged,
        };
        let judged = stack::judge(self.stack, &moved, tested, self.context);
        let judged = judged.and_then(|()| stack::judge_snapshots(self.stack, self.spec, self.context));
        if let Err(cause) = judged {
            self.event(Event::Guard(Guard {
                name: "undisturbed".to_owned(),
                test: test.map(Into::into),
                passed: false,
                detail: format!("the stack could not be checked: {cause}"),
            }));
        }
        if self.reports_phases {
            self.report_phases(test);
        }
    }

    /// Parity is computed over whole pages, and copy-on-write filesystems write whole blocks.
    fn physical_block_bytes(&self) -> Option<u64> {
        if !self.spec.overwrites() || self.spec.array.has_parity() {
            return None;
        }
        self.stack.physical_block_bytes()
    }

    /// The acts end first, so that the resulting state is read back.
    fn remount(&mut self) -> Result<(), HostError> {
        if self.acts_go_on() {
            return self.drop_caches_amid_acts();
        }
        self.end_acts()?;
        let stack = self.stack;
        let clear = |context: &mut Context<'_>| stack::drop_caches(stack, &[], context).map(drop);
        match self.has_other_disks() {
            true => clear(self.context)?,
            false => stack::remount(stack, self.context, clear)?,
        }
        Ok(())
    }

    fn compresses(&self) -> bool {
        self.compresses
    }

    fn member_bytes_min(&self, bytes: u64) -> u64 {
        if self.has_acts || self.spec.has_cache() {
            // While a member is missing, only the others are written; what a cache holds need not be in the array yet.
            return bytes;
        }
        self.spec.array.member_bytes_min(self.disks, bytes)
    }

    /// `None` for copy-on-write filesystems, which form full stripes themselves, and with md's write journal or a cache, which
    /// are written first.
    fn write_unit(&self) -> Option<WriteUnit> {
        const CHUNK_BYTES: u64 = 512 << 10;
        const LVM_CHUNK_BYTES: u64 = 64 << 10;
        const RECORD_BYTES: u64 = 128 << 10;
        let (array, filesystem) = (&self.spec.array, &self.spec.filesystem);
        if self.has_acts || self.spec.has_cache() || self.spec.image.is_some() {
            return None;
        }
        if filesystem.kind.is_pool() {
            return Some(WriteUnit::Record(
                filesystem.zfs.recordsize_bytes.unwrap_or(RECORD_BYTES),
            ));
        }
        let Members::AllBut(parity) = array.level.facts().data else {
            return None;
        };
        let members = self.disks.saturating_sub(array.spares);
        let default = match array.level.is_lvm() {
            true => LVM_CHUNK_BYTES,
            false => CHUNK_BYTES,
        };
        let is_judged = filesystem.kind.overwrites() && array.of.is_none() && !array.write_journal;
        is_judged.then(|| {
            WriteUnit::Stripe(array.chunk_bytes.unwrap_or(default) * u64::from(members.saturating_sub(parity)))
        })
    }

    fn ram_bytes(&self) -> Option<u64> {
        Some(self.ram_bytes)
    }

    fn phases(&self) -> Option<Arc<Phases>> {
        self.timeline.as_ref().map(Timeline::phases)
    }

    fn group_mount(&self, group: &str) -> Option<PathBuf> {
        self.stack.group_mount(group).map(Path::to_path_buf)
    }

    fn run_tool(&mut self, invocation: &Invocation) -> Result<ToolCall, ToolError> {
        self.context
            .access
            .executor
            .run(invocation, self.context.access.recorder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(busy_ms: u64) -> DiskStats {
        DiskStats {
            busy_ms,
            reading_ms: 2 * busy_ms,
            ..DiskStats::default()
        }
    }

    #[test]
    fn disks_are_busy_for_a_part_of_the_time() {
        let (before, after) = ([disk(500), disk(100)], [disk(1500), disk(600)]);
        let found = busy(&before, &after, Duration::from_secs(2)).expect("a percentage");
        assert_eq!((found.mean, found.busiest), (37.5, 50.0));
    }

    /// A tick for each of 100 requests of 2 ms.
    #[test]
    fn short_requests_do_not_take_a_tick_each() {
        let after = DiskStats {
            busy_ms: 1000,
            reading_ms: 150,
            writing_ms: 50,
            ..DiskStats::default()
        };
        let found = busy(&[disk(0)], &[after], Duration::from_secs(1)).expect("a percentage");
        assert_eq!((found.mean, found.busiest), (20.0, 20.0));
    }

    /// A tick that began before the interval, a replaced disk, and an empty interval.
    #[test]
    fn busy_is_never_more_than_the_time() {
        let found = busy(&[disk(0), disk(9000)], &[disk(1010), disk(0)], Duration::from_secs(1));
        let found = found.expect("a percentage");
        assert_eq!((found.mean, found.busiest), (50.0, 100.0));
        assert_eq!(busy(&[disk(0)], &[disk(10)], Duration::from_millis(20)), None);
        assert_eq!(busy(&[], &[], Duration::from_secs(1)), None);
    }
}
