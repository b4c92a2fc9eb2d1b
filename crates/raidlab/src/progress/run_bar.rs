//! Progress of a run: completed trials, running ones, and the remaining time.

use super::terminal::NoControlEcho;
use super::time_left::TimeLeft;
use super::{LINE_EVERY, can_draw, note, say, template};
use files::{Colours, sanitize};
use indicatif::{MultiProgress, ProgressBar};
use runner::Progress;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use store::Ending;

/// Displays a run from its start.
#[derive(Default)]
pub struct RunDisplay {
    bar: Option<RunBar>,
}

impl RunDisplay {
    pub fn show(&mut self, progress: Progress<'_>) {
        match (progress, &mut self.bar) {
            (
                Progress::Began {
                    done,
                    all,
                    is_simulated,
                },
                bar,
            ) => {
                if done > 0 {
                    note(&format!("raidlab: {done} of {all} trials are already in the store"));
                }
                *bar = Some(RunBar::new(done, all, is_simulated));
            }
            (progress, Some(bar)) => bar.show(progress),
            (_, None) => {}
        }
    }

    /// Removes the bars.
    pub fn finish(self) {
        self.bar.map(RunBar::finish).unwrap_or_default();
    }
}

/// Completed and total trials, running trials, virtual and wall time, time left.
struct RunBar {
    bars: Option<Bars>,
    running: BTreeMap<usize, Running>,
    left: TimeLeft,
    /// When the last line of progress was printed, if there are no bars.
    last_line: Option<Instant>,
    began: Instant,
    done: u64,
    all: u64,
    failed: u64,
    virtual_done: Duration,
    /// Whether the trials' clocks are virtual.
    simulated: bool,
}

struct Bars {
    group: MultiProgress,
    total: ProgressBar,
    /// Held while there are bars.
    _terminal: Option<NoControlEcho>,
}

struct Running {
    line: Option<ProgressBar>,
    what: String,
    step: String,
    began: Instant,
    virtual_time: Duration,
}

impl RunBar {
    fn new(done: u64, all: u64, simulated: bool) -> RunBar {
        let bars = can_draw().then(|| {
            let group = MultiProgress::new();
            let total =
                group.add(ProgressBar::new(all).with_style(template("{wide_bar} {pos}/{len} trials  {msg}")));
            total.enable_steady_tick(Duration::from_millis(200));
            Bars {
                group,
                total,
                _terminal: NoControlEcho::begin(),
            }
        });
        let now = Instant::now();
        RunBar {
            bars,
            running: BTreeMap::new(),
            left: TimeLeft::begin(now),
            last_line: None,
            began: now,
            done,
            all,
            failed: 0,
            virtual_done: Duration::ZERO,
            simulated,
        }
    }

    fn show(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Began { .. } => {}
            Progress::Extended { all } => self.set_all(all),
            Progress::Known { .. } => {
                self.done += 1;
                self.redraw();
            }
            Progress::TrialBegan { id, trial } => {
                self.begin(id, format!("{}, trial {}", trial.cell.key, trial.index + 1));
            }
            Progress::Step { id, name } => self.step(id, name),
            Progress::Heartbeat { id, virtual_time } => self.heartbeat(id, virtual_time),
            Progress::TrialEnded { id, ending } => {
                let failure = match ending {
                    Ending::Failed(failure) => Some(format!("{}: {}", failure.step, failure.message)),
                    Ending::Done | Ending::Interrupted => None,
                };
                self.end(id, failure.as_deref());
            }
            Progress::Notice(words) => self.say(&format!("raidlab: {words}")),
        }
    }

    /// The number of trials has increased.
    fn set_all(&mut self, all: u64) {
        self.all = all;
        self.left.expect(Instant::now(), self.trials_left());
        self.redraw();
    }

    fn begin(&mut self, id: usize, what: String) {
        let line = self
            .bars
            .as_ref()
            .map(|bars| bars.group.add(ProgressBar::no_length().with_style(template("  {msg}"))));
        let running = Running {
            line,
            what,
            step: if self.simulated { "boot" } else { "start" }.to_owned(),
            began: Instant::now(),
            virtual_time: Duration::ZERO,
        };
        self.running.insert(id, running);
        self.redraw();
    }

    fn step(&mut self, id: usize, step: &str) {
        if let Some(running) = self.running.get_mut(&id) {
            step.clone_into(&mut running.step);
        }
    }

    fn heartbeat(&mut self, id: usize, virtual_time: Duration) {
        if let Some(running) = self.running.get_mut(&id) {
            running.virtual_time = virtual_time;
        }
        self.redraw();
    }

    fn end(&mut self, id: usize, failure: Option<&str>) {
        let Some(running) = self.running.remove(&id) else {
            return;
        };
        self.done += 1;
        self.left.trial_ended(Instant::now(), self.trials_left());
        self.failed += u64::from(failure.is_some());
        self.virtual_done += running.virtual_time;
        if let Some(line) = running.line {
            line.finish_and_clear();
        }
        let times = times(self.simulated.then_some(running.virtual_time), running.began.elapsed());
        if let Some(failure) = failure {
            self.say(&format!("raidlab: {} failed after {times}: {failure}", running.what));
        } else if self.bars.is_none() {
            self.line(&format!("{}: {times}", running.what));
        }
        self.redraw();
    }

    /// A line above the bars.
    fn say(&self, line: &str) {
        match &self.bars {
            Some(bars) => bars.group.suspend(|| say(line)),
            None => say(line),
        }
    }

    fn finish(self) {
        if let Some(bars) = self.bars {
            for line in self.running.into_values().filter_map(|running| running.line) {
                line.finish_and_clear();
            }
            bars.total.finish_and_clear();
        }
    }

    fn redraw(&mut self) {
        if let Some(bars) = &self.bars {
            bars.total.set_length(self.all);
            bars.total.set_position(self.done);
            bars.total.set_message(self.outlook());
            for running in self.running.values() {
                if let Some(line) = &running.line {
                    line.set_message(running.words(self.simulated));
                }
            }
        } else if self.last_line.unwrap_or(self.began).elapsed() > LINE_EVERY
            && let Some(longest) = self.running.values().min_by_key(|running| running.began)
        {
            let others = match self.running.len() - 1 {
                0 => String::new(),
                others => format!(", and {others} more"),
            };
            self.line(&format!("running: {}{others}", longest.words(self.simulated)));
        }
    }

    /// Prints the progress of the run, at most once per [`LINE_EVERY`]: logs of CI and of Slurm keep every line.
    fn line(&mut self, words: &str) {
        if self.last_line.is_some_and(|last| last.elapsed() < LINE_EVERY) {
            return;
        }
        self.last_line = Some(Instant::now());
        note(&format!(
            "raidlab: {}/{} {words}; {}",
            self.done,
            self.all,
            self.outlook()
        ));
    }

    fn trials_left(&self) -> u64 {
        self.all.saturating_sub(self.done)
    }

    /// The remaining time, and the failures so far.
    fn outlook(&self) -> String {
        let failed = if self.failed > 0 {
            format!("{} failed, ", self.failed)
        } else {
            String::new()
        };
        let so_far = match self.simulated {
            true => format!(", {} virtual so far", report::clock(self.virtual_done)),
            false => String::new(),
        };
        format!("{failed}{}{so_far}", self.left.words(Instant::now()))
    }
}

impl Running {
    fn words(&self, simulated: bool) -> String {
        let times = times(simulated.then_some(self.virtual_time), self.began.elapsed());
        sanitize(&format!("{}: {}  {times}", self.what, self.step), Colours::Shown).into_owned()
    }
}

/// Duration of a trial: its own time, if that is virtual, and wall time.
fn times(virtual_time: Option<Duration>, wall: Duration) -> String {
    match virtual_time {
        Some(time) => format!("{} virtual in {}", report::clock(time), report::clock(wall)),
        None => report::clock(wall),
    }
}
