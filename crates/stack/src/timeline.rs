//! Acts on an array while a workload runs, and the phases that follow from them.
//!
//! A thread does the acts at their times and watches the array meanwhile. What a manager of arrays does differently is
//! in `Redundancy`. md reports changes by poll(2) on `sync_action`, so that a rebuild ends here when it ends for md; the
//! programs of ZFS, btrfs and bcachefs end with the rebuild. In addition the state is polled every 100 ms.

mod bcachefs;
mod btrfs;
mod calls;
mod corruption;
mod direct_io;
mod events;
mod integrity_layout;
mod known_file;
mod layout;
mod lvm;
mod managers;
mod md;
mod member_sectors;
mod no_redundancy;
mod observer;
mod redundancy;
mod trimming;
mod zfs;

use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::disk_check::DiskCheck;
use crate::machine::error::Cause;
use crate::machine::sysfs;
use crate::setup::stack::Stack;
pub(crate) use btrfs::BTRFS;
pub use known_file::write_known_file;

use corruption::{Corruption, Ground};
use observer::Observer;
use redundancy::{INTERVAL, TO_BEGIN, member};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use study::act::{Act, ActKind, CORRUPTIONS, Due, FSTRIM};
use study::event::{Event, Guard};
use study::metric::Metric;
use study::phase::Phases;
use study::progress::WorkProgress;
use study::stack::StackSpec;
use tools::{Tool, Tools};

/// The lab's driver fails a disk that does not respond for this time, as the SCSI layer does.
const GIVEN_UP: Duration = Duration::from_secs(30);
/// Polling interval of the workload's progress while an act waits for it.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(1);
/// Maximum time without progress of a rebuild.
const STALLED: Duration = Duration::from_secs(600);

/// The programs that these acts on a stack with this number of disks call.
pub fn tools_of_acts(spec: &StackSpec, disks: u32, acts: &[Act]) -> Vec<Tool> {
    let is_kept = acts.iter().any(|act| act.kind.needs_redundancy());
    let keeper = spec.keeper(disks).filter(|_| is_kept);
    let mut tools = keeper.map_or_else(Vec::new, |keeper| managers::tools_of(keeper, spec));
    tools.extend(
        acts.iter()
            .any(|act| act.kind == ActKind::Fstrim)
            .then_some(Tool::Fstrim),
    );
    tools
}

/// Acts that are being done by a thread of their own.
pub struct Timeline {
    thread: JoinHandle<Outcome>,
    work_ended: Arc<AtomicBool>,
    phases: Arc<Phases>,
}

/// The acts of a cell, and the tests of the workload during which they are done.
#[derive(Clone, Copy, Debug)]
pub struct ActsAndTests<'a> {
    pub acts: &'a [Act],
    /// Those that were to include every act: figures of them are not what the study asked for if an act comes too late.
    pub tests: &'a [String],
    pub progress: &'a Arc<WorkProgress>,
}

/// The results of the thread.
struct Outcome {
    events: Vec<Event>,
    degraded: Result<bool, Cause>,
}

impl Timeline {
    /// Begins now. `trial_began` is time zero of events; `disks` is the number of disks in the stack, which `check`
    /// checks before each write.
    pub fn begin(
        stack: &Stack,
        spec: &StackSpec,
        disks: u32,
        ActsAndTests { acts, tests, progress }: ActsAndTests<'_>,
        check: Box<dyn DiskCheck + Send>,
        trial_began: Instant,
    ) -> Result<Self, Cause> {
        let manager = managers::of(stack, spec, disks, acts)?;
        let tools = Tools::find(&tools_of_acts(spec, disks, acts));
        let tools = Arc::new(tools.map_err(|missing| Cause::State(missing.to_string()))?);
        let ground = Ground::of(stack, spec, disks, acts)?;
        let phases = Arc::new(Phases::begin());
        let work_ended = Arc::new(AtomicBool::new(false));
        let mut run = Run {
            ground,
            members: stack.members.clone(),
            corruptions: Vec::new(),
            trimmed: stack.mount_point.as_ref().map(|folder| trimming::Ground {
                folder: folder.clone(),
                device: stack.block_device.clone(),
                members: stack.members.clone(),
            }),
            may_be_missing: u64::from(spec.may_be_missing(disks)),
            began: Instant::now(),
            work_ended: Arc::clone(&work_ended),
            progress: Arc::clone(progress),
            may_begin_until: None,
            tests: tests.to_vec(),
            observer: Observer::new(manager, tools, check, Arc::clone(&phases), trial_began),
        };
        let acts = acts.to_vec();
        let thread = std::thread::Builder::new()
            .name("acts".to_owned())
            .spawn(move || {
                let degraded = run.all(&acts);
                Outcome {
                    events: run.observer.into_events(),
                    degraded,
                }
            })
            .map_err(Cause::system("start a thread for acts".to_owned()))?;
        Ok(Self {
            thread,
            work_ended,
            phases,
        })
    }

    /// The phases of the array since the acts began.
    pub fn phases(&self) -> Arc<Phases> {
        Arc::clone(&self.phases)
    }

    /// The workload has ended: waits for the remaining acts and for a rebuild, and reports them. Returns whether a
    /// member is missing.
    pub fn end(self, context: &mut Context<'_>) -> Result<bool, Cause> {
        context.step("wait for the acts");
        self.work_ended.store(true, Ordering::Relaxed);
        let outcome = self.thread.join();
        let outcome = outcome.map_err(|_| Cause::State("the thread of the acts panicked".to_owned()))?;
        for event in outcome.events {
            context.access.recorder.record(event);
        }
        outcome.degraded
    }
}

struct Run {
    ground: Ground,
    members: Vec<BlockDevice>,
    corruptions: Vec<Corruption>,
    /// The filesystem, for `fstrim`.
    trimmed: Option<trimming::Ground>,
    may_be_missing: u64,
    began: Instant,
    work_ended: Arc<AtomicBool>,
    progress: Arc<WorkProgress>,
    /// The deadline for the manager to start the last requested operation, if it has not started.
    may_begin_until: Option<Instant>,
    /// The workload's tests.
    tests: Vec<String>,
    observer: Observer,
}

impl Run {
    /// Returns whether a member is missing in the end.
    fn all(&mut self, acts: &[Act]) -> Result<bool, Cause> {
        for act in acts {
            match act.due {
                Due::AtNs(at_ns) => self.wait_until(self.began + Duration::from_nanos(at_ns))?,
                Due::After { percent } => self.wait_for_share(percent)?,
                Due::ResyncDone => self.wait_until_at_rest()?,
            }
            self.act(act)?;
        }
        while !self.work_ended() {
            self.look()?;
            self.observer.wait(INTERVAL)?;
        }
        self.observer.work_ended()?;
        self.wait_until_at_rest()?;
        for (number, corruption) in self.corruptions.iter().enumerate() {
            corruption.judge(&self.members, number, &mut self.observer)?;
        }
        self.observer.end();
        Ok(self.observer.missing() > 0)
    }

    fn wait_until(&mut self, due: Instant) -> Result<(), Cause> {
        loop {
            self.look()?;
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.observer.wait(left.min(INTERVAL))?;
        }
    }

    /// Waits until this percentage of the work is done.
    fn wait_for_share(&mut self, percent: u8) -> Result<(), Cause> {
        while self.progress.percent() < percent && !self.work_ended() {
            self.look()?;
            self.observer.wait(PROGRESS_INTERVAL)?;
        }
        Ok(())
    }

    /// Waits until the manager neither rebuilds nor checks, nor is about to.
    fn wait_until_at_rest(&mut self) -> Result<(), Cause> {
        let (mut progress, mut moved_at) = (String::new(), Instant::now());
        loop {
            self.look()?;
            if self.observer.is_idle() && self.may_begin_until.is_none() {
                return Ok(());
            }
            let completed = self.observer.manager.progress()?;
            if completed != progress {
                (progress, moved_at) = (completed, Instant::now());
            } else if moved_at.elapsed() > STALLED && !self.observer.is_trimming() {
                let name = self.observer.manager.name();
                return Err(Cause::State(format!("the resync of {name} is stuck at {progress}")));
            }
            self.observer.wait(INTERVAL)?;
        }
    }

    fn look(&mut self) -> Result<(), Cause> {
        let was_missing = self.observer.missing();
        self.observer.look(self.work_ended())?;
        let has_begun = !self.observer.is_idle() || self.observer.missing() < was_missing;
        if has_begun || self.may_begin_until.is_some_and(|until| Instant::now() > until) {
            self.may_begin_until = None;
        }
        Ok(())
    }

    fn work_ended(&self) -> bool {
        self.work_ended.load(Ordering::Relaxed)
    }

    fn act(&mut self, act: &Act) -> Result<(), Cause> {
        let in_time = !self.work_ended();
        self.observer.step(act.to_string());
        self.done(act, in_time).map_err(|cause| match cause {
            Cause::Refused(why) => Cause::Refused(format!("`{act}`: {why}")),
            other => other,
        })
    }

    fn done(&mut self, act: &Act, in_time: bool) -> Result<(), Cause> {
        let began = Instant::now();
        let mut note = String::new();
        match act.kind {
            ActKind::Slow | ActKind::Hang => self.delay(act, began)?,
            ActKind::Corrupt => {
                let (corruption, said) = Corruption::make(act, &self.ground, &self.members, &mut self.observer)?;
                self.corruptions.push(corruption);
                note = said;
                self.observer.corrupted();
            }
            ActKind::Fstrim => note = self.fstrim()?,
            ActKind::Check if self.observer.manager.checks_repair() => {
                note = format!("a scrub of {} repairs what it finds", self.observer.manager.name());
                self.of_array(act, began)?;
            }
            _ => self.of_array(act, began)?,
        }
        self.may_begin_until = match act.kind {
            ActKind::Remove | ActKind::Slow | ActKind::Corrupt | ActKind::Fstrim => self.may_begin_until,
            ActKind::Hang if act.is_for_ever() => Some(Instant::now() + GIVEN_UP + INTERVAL * 10),
            ActKind::Hang => self.may_begin_until,
            // A spare takes over at once, if there is one.
            ActKind::Fail if self.observer.manager.finds_failures() => self.may_begin_until,
            ActKind::Fail => Some(Instant::now() + INTERVAL * 10),
            _ => Some(Instant::now() + TO_BEGIN),
        };
        self.report(act, in_time, &note);
        self.look()
    }

    /// An act after the work's end leaves what was measured before it right: it only takes from the tests of the whole
    /// work, which were to include it, and from what it begins itself (`Observer`).
    fn report(&mut self, act: &Act, in_time: bool, note: &str) {
        if in_time {
            let detail = match note.is_empty() {
                true => act.to_string(),
                false => format!("{act}: {note}"),
            };
            self.observer.guard(Guard::ACT, None, true, detail);
            return;
        }
        self.observer.too_late();
        let detail = format!("{act}: the workload had ended before it; use an earlier time or a longer workload");
        let own = match act.kind {
            ActKind::Corrupt => CORRUPTIONS.get(self.corruptions.len().saturating_sub(1)).copied(),
            _ => None,
        };
        for test in self.tests.iter().map(String::as_str).chain(own) {
            self.observer.guard(Guard::ACT, Some(test), false, detail.clone());
        }
    }

    /// Starts to trim the filesystem, unless nothing of it would reach a disk.
    fn fstrim(&mut self) -> Result<String, Cause> {
        let none = || Cause::Impossible("`fstrim` needs a mounted filesystem".to_owned());
        let ground = self.trimmed.as_ref().ok_or_else(none)?;
        match ground.takes_none()? {
            Some(why) => {
                self.observer.sample(FSTRIM, Metric::Trimmed, 0.0);
                self.observer.guard("trim", Some(FSTRIM), false, why.clone());
                Ok(why)
            }
            None => {
                self.observer.trim(ground)?;
                Ok(String::new())
            }
        }
    }

    /// The plan has checked that enough members are left if all rebuilds have ended.
    fn must_survive(&mut self, act: &Act) -> Result<(), Cause> {
        let missing = self.observer.missing();
        if missing < self.may_be_missing {
            return Ok(());
        }
        Err(Cause::State(format!(
            "`{act}` would lose the array: {missing} of its members are missing or not rebuilt yet; leave more time \
             before it, or write `when = \"resync done\"`"
        )))
    }

    /// An act that the array's manager does.
    fn of_array(&mut self, act: &Act, began: Instant) -> Result<(), Cause> {
        if act.kind == ActKind::Fail {
            self.must_survive(act)?;
        }
        let by_bitmap = act.kind == ActKind::ReAdd && self.observer.manager.has_bitmap()?;
        let disk = act.disk.map(|_| member(&self.members, act)).transpose()?;
        if matches!(act.kind, ActKind::Check | ActKind::Repair) {
            self.observer.asked_for_check()?;
        }
        let (manager, mut calls) = self.observer.manager();
        manager.act(act, disk, &mut calls)?;
        let dies = act.kind == ActKind::Fail && manager.finds_failures();
        match act.kind {
            ActKind::Fail if dies => self.die(act, began)?,
            ActKind::Fail => self.observer.failed(began),
            ActKind::Replace | ActKind::ReAdd | ActKind::Add => {
                self.observer.asked_for_rebuild(began, !by_bitmap);
            }
            _ => {}
        }
        Ok(())
    }

    /// The disk becomes slow, or stops responding.
    fn delay(&mut self, act: &Act, began: Instant) -> Result<(), Cause> {
        let delay_ns = act.delay_ns.unwrap_or(0).to_string();
        if act.kind == ActKind::Slow {
            sysfs::write(&self.member(act)?.sysfs.join("media_delay_ns"), &delay_ns)?;
            self.observer.limps();
            return Ok(());
        }
        if act.is_for_ever() {
            self.must_survive(act)?;
            return self.die(act, began);
        }
        sysfs::write(&self.member(act)?.sysfs.join("hang_ns"), &delay_ns)?;
        let lasts = act.delay_ns.map_or(GIVEN_UP, Duration::from_nanos);
        self.observer.limps_until(began + lasts);
        Ok(())
    }

    /// The disk does not respond any more, until the kernel fails it.
    fn die(&mut self, act: &Act, began: Instant) -> Result<(), Cause> {
        self.observer.failed(began);
        sysfs::write(&self.member(act)?.sysfs.join("hang_ns"), "0")?;
        self.observer.limps_until(began + GIVEN_UP);
        Ok(())
    }

    fn member(&self, act: &Act) -> Result<&BlockDevice, Cause> {
        member(&self.members, act)
    }
}
