//! Where a long step is: bars on a terminal, plain lines elsewhere. All of it on standard error.

mod terminal;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use lab::guest::Pulse;
use lab::kernel::Progress;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use terminal::NoControlEcho;

/// A line on standard error. Whoever read it may have gone away (`2>&1 | head`): the work goes on.
pub fn say(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Without a terminal, a step that lasts says so this often.
const LINE_EVERY: Duration = Duration::from_secs(15);

/// The building of a kernel.
pub struct KernelBar {
    bar: Option<ProgressBar>,
    name: String,
    last_line: Cell<Option<(Progress, Instant)>>,
    began: Instant,
}

impl KernelBar {
    pub fn new(name: &str) -> KernelBar {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = "{prefix} {wide_bar} {pos:>4}/~{len} files  {elapsed} {msg}";
            let bar = ProgressBar::no_length().with_style(template(style));
            bar.set_prefix(format!("kernel {name}"));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        say(&format!(
            "raidlab: building the lab's kernel, Linux {name}: once, then it is kept"
        ));
        KernelBar {
            bar,
            name: name.to_owned(),
            last_line: Cell::new(None),
            began: Instant::now(),
        }
    }

    pub fn show(&self, progress: Progress) {
        let words = match progress {
            Progress::Waiting => "waiting for another raidlab that builds a kernel",
            Progress::Unpacking => "unpacking the source",
            Progress::Copying => "copying what changed in the tree",
            Progress::Configuring => "configuring",
            Progress::Probing => "OpenZFS asks what the kernel offers",
            Progress::Compiling { .. } => "",
        };
        if let Some(bar) = &self.bar {
            bar.set_message(words);
            if let Progress::Compiling { done, all } = progress {
                bar.set_length(all);
                bar.set_position(done);
            }
            return;
        }
        let is_new = self.last_line.get().is_none_or(|(last, at)| {
            let same_step = std::mem::discriminant(&last) == std::mem::discriminant(&progress);
            !same_step || at.elapsed() > LINE_EVERY
        });
        if is_new {
            self.last_line.set(Some((progress, Instant::now())));
            match progress {
                Progress::Compiling { done, all } => {
                    say(&format!("raidlab: kernel {}: {done} of about {all} files", self.name));
                }
                _ => say(&format!("raidlab: kernel {}: {words}", self.name)),
            }
        }
    }

    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        say(&format!(
            "raidlab: kernel {} took {}",
            self.name,
            clock(self.began.elapsed())
        ));
    }
}

/// A run: trials done of all, what runs now, virtual time against wall time, time left.
pub struct RunBar {
    bars: Option<Bars>,
    running: BTreeMap<usize, Running>,
    began: Instant,
    last_line: Instant,
    done: u64,
    all: u64,
    /// Of what was done in this session, for the time left.
    done_here: u64,
    failed: u64,
    virtual_done: Duration,
    /// Whether the trials' clocks are virtual.
    simulated: bool,
}

struct Bars {
    group: MultiProgress,
    total: ProgressBar,
    /// Held as long as there are bars.
    _terminal: Option<NoControlEcho>,
}

struct Running {
    line: Option<ProgressBar>,
    what: String,
    step: String,
    began: Instant,
    virtual_ns: u64,
}

impl RunBar {
    pub fn new(done: u64, all: u64, simulated: bool) -> RunBar {
        let bars = std::io::stderr().is_terminal().then(|| {
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
            began: now,
            last_line: now,
            done,
            all,
            done_here: 0,
            failed: 0,
            virtual_done: Duration::ZERO,
            simulated,
        }
    }

    /// More trials turned out to be needed.
    pub fn set_all(&mut self, all: u64) {
        self.all = all;
        self.redraw();
    }

    pub fn begin(&mut self, id: usize, what: String) {
        let line = self
            .bars
            .as_ref()
            .map(|bars| bars.group.add(ProgressBar::no_length().with_style(template("  {msg}"))));
        let running = Running {
            line,
            what,
            step: if self.simulated { "boot" } else { "start" }.to_owned(),
            began: Instant::now(),
            virtual_ns: 0,
        };
        self.running.insert(id, running);
        self.redraw();
    }

    pub fn step(&mut self, id: usize, step: &str) {
        if let Some(running) = self.running.get_mut(&id) {
            step.clone_into(&mut running.step);
        }
    }

    pub fn pulse(&mut self, id: usize, pulse: Pulse) {
        if let Some(running) = self.running.get_mut(&id) {
            running.virtual_ns = pulse.virtual_ns;
        }
        self.redraw();
    }

    pub fn end(&mut self, id: usize, failure: Option<&str>) {
        let Some(running) = self.running.remove(&id) else {
            return;
        };
        self.done += 1;
        self.done_here += 1;
        self.failed += u64::from(failure.is_some());
        let virtual_time = Duration::from_nanos(running.virtual_ns);
        self.virtual_done += virtual_time;
        if let Some(line) = running.line {
            line.finish_and_clear();
        }
        let times = times(self.simulated.then_some(virtual_time), running.began.elapsed());
        match (failure, &self.bars) {
            (Some(failure), _) => self.say(&format!("raidlab: {} failed after {times}: {failure}", running.what)),
            (None, None) => {
                let (done, all) = (self.done, self.all);
                say(&format!(
                    "raidlab: {done}/{all} {}: {times}; {}",
                    running.what,
                    self.left()
                ));
            }
            (None, Some(_)) => {}
        }
        self.redraw();
    }

    /// A line above the bars.
    pub fn say(&self, line: &str) {
        match &self.bars {
            Some(bars) => bars.group.suspend(|| say(line)),
            None => say(line),
        }
    }

    pub fn finish(self) {
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
            bars.total.set_message(self.left());
            for running in self.running.values() {
                if let Some(line) = &running.line {
                    line.set_message(running.words(self.simulated));
                }
            }
        } else if self.last_line.elapsed() > LINE_EVERY {
            self.last_line = Instant::now();
            for running in self.running.values() {
                say(&format!(
                    "raidlab: {}/{} running: {}",
                    self.done,
                    self.all,
                    running.words(self.simulated)
                ));
            }
        }
    }

    fn left(&self) -> String {
        let failed = if self.failed > 0 {
            format!("{} failed, ", self.failed)
        } else {
            String::new()
        };
        if self.done_here == 0 {
            return format!("{failed}time left: not known yet");
        }
        let per_trial = self.began.elapsed() / u32::try_from(self.done_here).unwrap_or(u32::MAX);
        let left = per_trial * u32::try_from(self.all.saturating_sub(self.done)).unwrap_or(u32::MAX);
        let so_far = match self.simulated {
            true => format!(", {} virtual so far", clock(self.virtual_done)),
            false => String::new(),
        };
        format!("{failed}{} left{so_far}", clock(left))
    }
}

impl Running {
    fn words(&self, simulated: bool) -> String {
        let virtual_time = Duration::from_nanos(self.virtual_ns);
        let times = times(simulated.then_some(virtual_time), self.began.elapsed());
        format!("{}: {}  {times}", self.what, self.step)
    }
}

/// What a trial took: of its own time, where that is virtual, and of ours.
fn times(virtual_time: Option<Duration>, wall: Duration) -> String {
    match virtual_time {
        Some(time) => format!("{} virtual in {}", clock(time), clock(wall)),
        None => clock(wall),
    }
}

/// `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn template(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("a template of ours")
        .progress_chars("━╸─")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_the_unit_that_fits() {
        let said = |seconds| clock(Duration::from_secs_f64(seconds));
        assert_eq!(said(0.44), "0.4 s");
        assert_eq!(said(59.9), "59 s");
        assert_eq!(said(185.0), "3 min 5 s");
        assert_eq!(said(7800.0), "2 h 10 min");
    }
}
