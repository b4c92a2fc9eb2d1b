//! Acts on an array while a workload runs, and the phases that follow from them.
//!
//! A thread does the acts at their times and watches md meanwhile. md reports changes to it by poll(2) on `sync_action`,
//! so that a rebuild ends for it when it ends for md; the state is looked at each 100 ms besides.

mod corruption;
mod layout;
mod observer;

use crate::array::Array;
use crate::context::Context;
use crate::device::BlockDevice;
use crate::error::Cause;
use crate::sysfs;
use crate::up::Stack;
use corruption::Corruption;
use observer::Observer;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use study::act::{Act, ActKind, Due};
use study::event::{Event, Guard};
use study::phase::Phases;
use tools::{Invocation, Tool, Tools};

/// How often the array's state is looked at without a notification.
const INTERVAL: Duration = Duration::from_millis(100);
/// Maximum time until md begins what an act asks for: its thread checks at least each 5 s.
const TO_BEGIN: Duration = Duration::from_secs(10);
/// The lab's driver gives up a disk that never answers after this time, as the SCSI layer does.
const GIVEN_UP: Duration = Duration::from_secs(30);
/// How often the progress of the work is looked at while an act waits for it.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(1);
/// Maximum time without progress of a rebuild.
const STALLED: Duration = Duration::from_secs(600);

/// Acts that are being done by a thread of their own.
pub struct Timeline {
    thread: JoinHandle<Outcome>,
    work_ended: Arc<AtomicBool>,
    /// Per cent of the work that are done.
    progress: Arc<AtomicU8>,
    phases: Arc<Phases>,
}

/// What the thread has to report.
struct Outcome {
    events: Vec<Event>,
    degraded: Result<bool, Cause>,
}

impl Timeline {
    /// Begins now. `trial_began` is time zero of events; of the array's members at most `may_be_missing` can be missing.
    pub fn begin(stack: &Stack, acts: &[Act], may_be_missing: u32, trial_began: Instant) -> Result<Self, Cause> {
        let array = stack.array.clone();
        let array = array.ok_or_else(|| Cause::Impossible("acts need an md array".to_owned()))?;
        let tools = Tools::find(&[Tool::Mdadm]).map_err(|missing| Cause::State(missing.to_string()))?;
        let phases = Arc::new(Phases::begin());
        let work_ended = Arc::new(AtomicBool::new(false));
        let progress = Arc::new(AtomicU8::new(0));
        let mut run = Run {
            members: stack.members.clone(),
            corruptions: Vec::new(),
            may_be_missing: u64::from(may_be_missing),
            began: Instant::now(),
            work_ended: Arc::clone(&work_ended),
            progress: Arc::clone(&progress),
            may_begin_until: None,
            observer: Observer::new(array.clone(), Arc::clone(&phases), trial_began),
            array,
            tools,
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
            progress,
            phases,
        })
    }

    /// The phases of the array since the acts began.
    pub fn phases(&self) -> Arc<Phases> {
        Arc::clone(&self.phases)
    }

    /// So much of the work is done.
    pub fn work_is_done(&self, percent: u8) {
        self.progress.store(percent, Ordering::Relaxed);
    }

    /// The work has ended: waits for the acts that are left and for a rebuild, and reports them. Returns whether a
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
    array: Array,
    members: Vec<BlockDevice>,
    corruptions: Vec<Corruption>,
    may_be_missing: u64,
    began: Instant,
    work_ended: Arc<AtomicBool>,
    progress: Arc<AtomicU8>,
    /// Until when md may take to begin what it was last asked for, if it has not begun.
    may_begin_until: Option<Instant>,
    observer: Observer,
    tools: Tools,
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
        self.wait_until_at_rest()?;
        for (number, corruption) in self.corruptions.iter().enumerate() {
            corruption.judge(&self.array, &self.members, number, &mut self.observer)?;
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

    /// Waits until so much of the work is done.
    fn wait_for_share(&mut self, percent: u8) -> Result<(), Cause> {
        while self.progress.load(Ordering::Relaxed) < percent && !self.work_ended() {
            self.look()?;
            self.observer.wait(PROGRESS_INTERVAL)?;
        }
        Ok(())
    }

    /// Waits until md neither rebuilds nor checks, nor is about to.
    fn wait_until_at_rest(&mut self) -> Result<(), Cause> {
        let (mut progress, mut moved_at) = (String::new(), Instant::now());
        loop {
            self.look()?;
            if self.observer.is_idle() && self.may_begin_until.is_none() {
                return Ok(());
            }
            let completed = sysfs::read(&self.array.attribute("sync_completed"))?;
            if completed != progress {
                (progress, moved_at) = (completed, Instant::now());
            } else if moved_at.elapsed() > STALLED {
                let name = &self.array.device.kernel_name;
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
        let began = Instant::now();
        match act.kind {
            ActKind::Check | ActKind::Repair => self.begin_check(act)?,
            ActKind::Grow => self.grow(act)?,
            ActKind::Fail => {
                self.must_survive(act)?;
                self.manage(act, "--fail")?;
                self.observer.failed(began);
            }
            ActKind::Remove => self.remove(act)?,
            ActKind::Replace => {
                self.manage(act, "--replace")?;
                self.observer.asked_for_rebuild(began, true);
            }
            ActKind::ReAdd => {
                let by_bitmap = self.has_bitmap()?;
                self.manage(act, if by_bitmap { "--re-add" } else { "--add" })?;
                self.observer.asked_for_rebuild(began, !by_bitmap);
            }
            ActKind::Add => {
                let wipe = Invocation::new(Tool::Mdadm).arg("--zero-superblock");
                self.call(&wipe.arg(&self.member(act)?.path))?;
                self.manage(act, "--add")?;
                self.observer.asked_for_rebuild(began, true);
            }
            ActKind::Slow => {
                let delay_ns = act.delay_ns.unwrap_or(0);
                let attribute = self.member(act)?.sysfs.join("media_delay_ns");
                sysfs::write(&attribute, &delay_ns.to_string())?;
                self.observer.limps();
            }
            ActKind::Hang => {
                if act.is_for_ever() {
                    self.must_survive(act)?;
                    self.observer.failed(began);
                }
                let hang_ns = act.delay_ns.unwrap_or(0);
                let attribute = self.member(act)?.sysfs.join("hang_ns");
                sysfs::write(&attribute, &hang_ns.to_string())?;
                let lasts = act.delay_ns.map_or(GIVEN_UP, Duration::from_nanos);
                self.observer.limps_until(began + lasts);
            }
            ActKind::Corrupt => {
                let corruption = Corruption::make(act, &self.array, &self.members, &self.observer)?;
                self.corruptions.push(corruption);
                self.observer.corrupted();
            }
        }
        self.may_begin_until = match act.kind {
            ActKind::Remove | ActKind::Slow | ActKind::Corrupt => self.may_begin_until,
            ActKind::Hang if act.is_for_ever() => Some(Instant::now() + GIVEN_UP + INTERVAL * 10),
            ActKind::Hang => self.may_begin_until,
            // A spare takes over at once, if there is one.
            ActKind::Fail => Some(Instant::now() + INTERVAL * 10),
            _ => Some(Instant::now() + TO_BEGIN),
        };
        self.report(act, in_time);
        self.look()
    }

    fn report(&mut self, act: &Act, in_time: bool) {
        let detail = match in_time {
            true => act.to_string(),
            false => format!("{act}: the work had ended before it; use an earlier time or more work"),
        };
        self.observer.event(Event::Guard(Guard {
            name: "act".to_owned(),
            test: None,
            passed: in_time,
            detail,
        }));
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

    /// md refuses while it rebuilds.
    fn begin_check(&mut self, act: &Act) -> Result<(), Cause> {
        sysfs::write(&self.array.attribute("sync_action"), act.kind.word())
    }

    fn grow(&mut self, act: &Act) -> Result<(), Cause> {
        let attribute = self.array.attribute("raid_disks");
        let members = sysfs::number(&attribute, &sysfs::read(&attribute)?)?;
        let call = Invocation::new(Tool::Mdadm)
            .arg("--grow")
            .arg(&self.array.device.path)
            .arg(format!("--raid-devices={}", members + 1));
        let level = act.level.map(|level| format!("--level={}", level.facts().type_word));
        self.call(&call.args(level))
    }

    fn has_bitmap(&self) -> Result<bool, Cause> {
        let policy = sysfs::read(&self.array.attribute("consistency_policy"))?;
        Ok(policy == "bitmap")
    }

    /// md refuses for some milliseconds, while requests to the failed member are under way.
    fn remove(&mut self, act: &Act) -> Result<(), Cause> {
        let began = Instant::now();
        loop {
            match self.manage(act, "--remove") {
                Err(_) if began.elapsed() < TO_BEGIN => std::thread::sleep(INTERVAL),
                other => return other,
            }
        }
    }

    fn manage(&mut self, act: &Act, how: &str) -> Result<(), Cause> {
        let call = Invocation::new(Tool::Mdadm)
            .arg("--manage")
            .arg(&self.array.device.path)
            .arg(how)
            .arg(&self.member(act)?.path);
        self.call(&call)
    }

    fn call(&mut self, call: &Invocation) -> Result<(), Cause> {
        let observer = &mut self.observer;
        self.tools.run(call, &mut |event| observer.event(event))?;
        Ok(())
    }

    fn member(&self, act: &Act) -> Result<&BlockDevice, Cause> {
        member(&self.members, act)
    }
}

/// The disk of an act.
fn member<'a>(members: &'a [BlockDevice], act: &Act) -> Result<&'a BlockDevice, Cause> {
    let number = act.disk.and_then(|disk| disk.checked_sub(1));
    let member = number.and_then(|number| members.get(number as usize));
    member.ok_or_else(|| Cause::Impossible(format!("the array has no disk for the act `{act}`")))
}
