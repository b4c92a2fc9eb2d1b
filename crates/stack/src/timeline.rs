//! Acts on an array while a workload runs, and the phases that follow from them: healthy, degraded, rebuilding, rebuilt.

use crate::array::Array;
use crate::context::Context;
use crate::error::Cause;
use crate::executor::{Executor, System, read_number};
use crate::up::Stack;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use study::act::{Act, ActKind};
use study::event::{Event, Guard, Sample};
use study::metric::Metric;
use tools::{Invocation, Tool, Tools};

/// How often the array's state is looked at; changes of `sync_action` are seen at once.
const INTERVAL: Duration = Duration::from_millis(100);
/// Maximum time until a rebuild begins after a disk was added.
const TO_BEGIN: Duration = Duration::from_secs(10);
/// Maximum time without progress of a rebuild.
const STALLED: Duration = Duration::from_secs(600);

/// Acts that are being done by a thread of their own.
pub struct Timeline {
    thread: JoinHandle<Outcome>,
    work_ended: Arc<AtomicBool>,
}

/// What the thread has to report.
struct Outcome {
    events: Vec<Event>,
    degraded: Result<bool, Cause>,
}

impl Timeline {
    /// Begins now. `began` is the start of the trial.
    pub fn begin(stack: &Stack, acts: &[Act], began: Instant) -> Result<Self, Cause> {
        let array = stack.array.clone();
        let array = array.ok_or_else(|| Cause::Impossible("acts need an md array".to_owned()))?;
        let tools = Tools::find(&[Tool::Mdadm]).map_err(|missing| Cause::State(missing.to_string()))?;
        let members = stack.members.iter().map(|member| member.path.clone()).collect();
        let work_ended = Arc::new(AtomicBool::new(false));
        let mut run = Run {
            array,
            members,
            trial_began: began,
            began: Instant::now(),
            work_ended: Arc::clone(&work_ended),
            phase: Phase::Healthy,
            phase_began: Instant::now(),
            failed_at: None,
            added: None,
            lasted: [Duration::ZERO; 4],
            rebuilds: 0,
            events: Vec::new(),
        };
        let acts = acts.to_vec();
        let thread = std::thread::Builder::new()
            .name("acts".to_owned())
            .spawn(move || {
                let mut tools = tools;
                let degraded = run.all(&acts, &mut tools);
                Outcome {
                    events: run.events,
                    degraded,
                }
            })
            .map_err(Cause::system("start a thread for acts".to_owned()))?;
        Ok(Self { thread, work_ended })
    }

    /// The work has ended: waits for the acts that are left and for a rebuild, and reports them. Returns whether a
    /// member is missing.
    pub fn end(self, context: &mut Context<'_>) -> Result<bool, Cause> {
        context.step("wait for the array");
        self.work_ended.store(true, Ordering::Relaxed);
        let outcome = self.thread.join();
        let outcome = outcome.map_err(|_| Cause::State("the thread of the acts panicked".to_owned()))?;
        for event in outcome.events {
            context.access.recorder.record(event);
        }
        outcome.degraded
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Healthy,
    Degraded,
    Rebuilding,
    Rebuilt,
}

impl Phase {
    const ALL: [Self; 4] = [Self::Healthy, Self::Degraded, Self::Rebuilding, Self::Rebuilt];

    const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Rebuilding => "rebuilding",
            Self::Rebuilt => "rebuilt",
        }
    }
}

struct Run {
    array: Array,
    members: Vec<PathBuf>,
    trial_began: Instant,
    began: Instant,
    work_ended: Arc<AtomicBool>,
    phase: Phase,
    phase_began: Instant,
    failed_at: Option<Instant>,
    /// When the latest disk was added, and whether as a new one: then all of it is rebuilt.
    added: Option<(Instant, bool)>,
    /// By phase.
    lasted: [Duration; 4],
    rebuilds: u32,
    events: Vec<Event>,
}

impl Run {
    fn all(&mut self, acts: &[Act], tools: &mut Tools) -> Result<bool, Cause> {
        for act in acts {
            let due = self.began + Duration::from_nanos(act.at_ns);
            while let Some(left) = due
                .checked_duration_since(Instant::now())
                .filter(|left| !left.is_zero())
            {
                self.look(tools)?;
                self.wait(tools, left.min(INTERVAL))?;
            }
            self.look(tools)?;
            self.act(act, tools)?;
        }
        let mut progress = String::new();
        let mut moved_at = Instant::now();
        loop {
            let action = self.look(tools)?;
            let is_over = self.work_ended.load(Ordering::Relaxed);
            if is_over && action == "idle" && !self.is_rebuild_due() {
                break;
            }
            let completed = System::new(tools).read(&self.array.attribute("sync_completed"))?;
            if completed != progress || !is_over {
                (progress, moved_at) = (completed, Instant::now());
            } else if moved_at.elapsed() > STALLED {
                let name = &self.array.device.kernel_name;
                return Err(Cause::State(format!("the rebuild of {name} is stuck at {progress}")));
            }
            self.wait(tools, INTERVAL)?;
        }
        self.enter(self.phase, Instant::now());
        for phase in Phase::ALL {
            let lasted = self.lasted[phase as usize];
            if !lasted.is_zero() {
                let test = format!("phase {}", phase.name());
                self.sample(&test, Metric::PhaseDuration, lasted.as_secs_f64());
            }
        }
        Ok(self.phase == Phase::Degraded)
    }

    /// Just after a disk was added the action is still `idle`.
    fn is_rebuild_due(&self) -> bool {
        let was_added = |(at, _): (Instant, bool)| at.elapsed() < TO_BEGIN;
        self.phase == Phase::Rebuilding || (self.phase == Phase::Degraded && self.added.is_some_and(was_added))
    }

    fn wait(&self, tools: &mut Tools, at_most: Duration) -> Result<(), Cause> {
        let mut executor = System::new(tools);
        let action = executor.read_or_wait(&self.array.attribute("sync_action"), "idle", at_most)?;
        if action == "idle" {
            executor.sleep(at_most);
        }
        Ok(())
    }

    /// Reads the array's state and enters the phase that it is in; returns `sync_action`.
    fn look(&mut self, tools: &mut Tools) -> Result<String, Cause> {
        let mut executor = System::new(tools);
        let action = executor.read(&self.array.attribute("sync_action"))?;
        let missing = read_number(&mut executor, &self.array.attribute("degraded"))?;
        let phase = match (missing, action.as_str(), self.phase) {
            (0, "idle" | "check" | "repair", Phase::Healthy) => Phase::Healthy,
            (0, "idle" | "check" | "repair", _) => Phase::Rebuilt,
            (_, "recover", _) => Phase::Rebuilding,
            // A rebuild that was asked for has not begun, or has ended and is being recorded.
            (0, _, phase) => phase,
            _ => Phase::Degraded,
        };
        if phase != self.phase {
            self.enter(phase, Instant::now());
        }
        Ok(action)
    }

    /// Ends the present phase.
    fn enter(&mut self, next: Phase, now: Instant) {
        self.lasted[self.phase as usize] += now - self.phase_began;
        if next == Phase::Rebuilt && self.phase != Phase::Rebuilt {
            self.rebuilt(now);
        }
        if next != self.phase {
            self.step(format!("array {}", next.name()));
        }
        (self.phase, self.phase_began) = (next, now);
    }

    /// All members are in sync again.
    fn rebuilt(&mut self, now: Instant) {
        self.rebuilds += 1;
        let test = match self.rebuilds {
            1 => "rebuild".to_owned(),
            number => format!("rebuild {number}"),
        };
        if let Some(failed_at) = self.failed_at.take() {
            self.sample(&test, Metric::TimeExposed, (now - failed_at).as_secs_f64());
        }
        let Some((added_at, anew)) = self.added.take() else {
            return;
        };
        let took_s = (now - added_at).as_secs_f64();
        self.sample(&test, Metric::TimeToRebuild, took_s);
        let size = std::fs::read_to_string(self.array.attribute("component_size"));
        let kibibytes = size.ok().and_then(|text| text.trim().parse::<f64>().ok());
        if let Some(kibibytes) = kibibytes.filter(|_| anew) {
            self.sample(&test, Metric::RebuildRate, kibibytes / 1024.0 / took_s);
        }
    }

    fn act(&mut self, act: &Act, tools: &mut Tools) -> Result<(), Cause> {
        self.step(act.to_string());
        let began = Instant::now();
        let in_time = !self.work_ended.load(Ordering::Relaxed);
        match act.kind {
            ActKind::Check | ActKind::Repair => {
                System::new(tools).write(&self.array.attribute("sync_action"), act.kind.word())?;
            }
            ActKind::Fail => {
                self.manage(act, tools)?;
                self.failed_at.get_or_insert(began);
            }
            ActKind::Remove => self.remove(act, tools)?,
            ActKind::ReAdd => {
                self.manage(act, tools)?;
                self.added = Some((began, false));
            }
            ActKind::Add => {
                let wipe = Invocation::new(Tool::Mdadm)
                    .arg("--zero-superblock")
                    .arg(self.member(act)?);
                tools.run(&wipe, &mut |event| self.events.push(event))?;
                self.manage(act, tools)?;
                self.added = Some((began, true));
            }
        }
        let detail = match in_time {
            true => act.to_string(),
            false => format!("{act}: the work had ended before it; use an earlier time or more work"),
        };
        self.events.push(Event::Guard(Guard {
            name: "act".to_owned(),
            test: None,
            passed: in_time,
            detail,
        }));
        self.look(tools).map(drop)
    }

    /// md refuses for some milliseconds, while requests to the failed member are under way.
    fn remove(&mut self, act: &Act, tools: &mut Tools) -> Result<(), Cause> {
        let began = Instant::now();
        loop {
            match self.manage(act, tools) {
                Err(_) if began.elapsed() < Duration::from_secs(10) => System::new(tools).sleep(INTERVAL),
                other => return other,
            }
        }
    }

    fn manage(&mut self, act: &Act, tools: &mut Tools) -> Result<(), Cause> {
        let call = Invocation::new(Tool::Mdadm)
            .arg("--manage")
            .arg(&self.array.device.path)
            .arg(format!("--{}", act.kind.word()))
            .arg(self.member(act)?);
        tools.run(&call, &mut |event| self.events.push(event))?;
        Ok(())
    }

    fn member(&self, act: &Act) -> Result<PathBuf, Cause> {
        let number = act.disk.and_then(|disk| disk.checked_sub(1));
        let member = number.and_then(|number| self.members.get(number as usize));
        member
            .cloned()
            .ok_or_else(|| Cause::Impossible(format!("the array has no disk for the act `{act}`")))
    }

    fn sample(&mut self, test: &str, metric: Metric, value: f64) {
        self.events.push(Event::Sample(Sample {
            test: test.to_owned(),
            metric,
            value,
        }));
    }

    fn step(&mut self, name: String) {
        let at_ns = u64::try_from(self.trial_began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.events.push(Event::Step { name, at_ns });
    }
}
