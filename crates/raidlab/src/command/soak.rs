//! `raidlab soak`: random stacks, random work and random power cuts, until the time is up. One seed decides all.

pub mod finding;
mod history;

use super::explored::Guests;
use super::{print, run, studied};
use crate::cli::SoakArguments;
use crate::expected::{EXIT_INTERRUPTED, EXIT_TRIAL_FAILED, ExpectedError};
use crate::interrupt::Signals;
use crate::progress::{note, say};
use finding::{Kind, News, found};
use history::History;
use lab::kernel::Cache;
use lab::power_cut::{self, Judged};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};
use study::plan::Trial;
use study::workload::Work;

/// After so many histories a line says how far it is.
const NOTED_EVERY: u32 = 50;

/// Findings of one kind that are shown of one history; the others are counted.
const SHOWN: usize = 3;

pub fn soak(arguments: &SoakArguments) -> Result<ExitCode, ExpectedError> {
    let cache = Cache::of_user();
    if let Some(number) = arguments.history.filter(|_| arguments.print) {
        print(&chosen(arguments, number).study())?;
        return Ok(ExitCode::SUCCESS);
    }
    let soak = Soak {
        arguments,
        guests: Guests::new(&cache)?,
        next: AtomicU32::new(arguments.history.unwrap_or(1)),
        last: arguments.history.or(arguments.histories).unwrap_or(u32::MAX),
        began: Instant::now(),
    };
    // A kernel that cannot be had is said before threads are started; one that is missing is built once.
    soak.prepare()?;
    let signals = Signals::watch("raidlab: interrupted before the first history".to_owned())?;
    signals.begin_session();
    let mut total = Total::default();
    let (sender, results) = mpsc::channel();
    let stop = signals.interrupt().flag();
    std::thread::scope(|scope| {
        for slot in 0..soak.jobs() {
            let (soak, sender) = (&soak, sender.clone());
            scope.spawn(move || soak.work(slot, stop, &sender));
        }
        drop(sender);
        for done in results {
            total.add(arguments, &done);
        }
    });
    print(&total.text(arguments.seed, soak.began.elapsed(), soak.jobs()))?;
    Ok(match () {
        () if signals.is_wanted() => ExitCode::from(EXIT_INTERRUPTED),
        () if total.is_clean() => ExitCode::SUCCESS,
        () => ExitCode::from(EXIT_TRIAL_FAILED),
    })
}

/// The history of that number, with the operations of the command line.
fn chosen(arguments: &SoakArguments, number: u32) -> History {
    let history = History::draw(arguments.seed, number, &arguments.kernel);
    match arguments.operations {
        Some(operations) => history.with_operations(operations),
        None => history,
    }
}

struct Soak<'a> {
    arguments: &'a SoakArguments,
    guests: Guests<'a>,
    next: AtomicU32,
    last: u32,
    began: Instant,
}

/// A history with its states, or why it failed.
struct Done {
    history: History,
    judged: Result<Vec<Judged>, ExpectedError>,
    /// If something new was found: the smallest number of operations that shows it.
    shrunk: Option<u32>,
}

impl Soak<'_> {
    fn jobs(&self) -> usize {
        match self.arguments.history {
            Some(_) => 1,
            None => self.arguments.jobs.map_or_else(run::processors, |jobs| jobs as usize),
        }
    }

    fn prepare(&self) -> Result<(), ExpectedError> {
        let first = chosen(self.arguments, 1);
        let plan = studied::read_own(&first.study(), "the first history", self.guests.cache)?;
        for cell in &plan.cells {
            let name = lab::kernel::KernelName::of(&cell.machine, &cell.stack);
            super::kernel::ready(self.guests.cache, &name)?;
        }
        Ok(())
    }

    /// One history after the other, while there is time.
    fn work(&self, slot: usize, stop: &AtomicBool, done: &Sender<Done>) {
        let limit = Duration::from_secs(60 * self.arguments.minutes);
        let is_one = self.arguments.history.is_some();
        while !stop.load(Ordering::Relaxed) && (is_one || self.began.elapsed() < limit) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number > self.last {
                return;
            }
            let history = chosen(self.arguments, number);
            let judged = self.explore(&history, slot, stop);
            if matches!(judged, Err(ExpectedError::PowerCut(power_cut::Error::Stopped))) {
                return;
            }
            let new = judged
                .iter()
                .flatten()
                .flat_map(|judged| found(&history, judged))
                .find(|(_, news)| *news == News::New);
            let shrunk = new.and_then(|(kind, _)| self.shrink(&history, kind, slot, stop));
            let sent = Done {
                history,
                judged,
                shrunk,
            };
            if done.send(sent).is_err() {
                return;
            }
        }
    }

    fn explore(&self, history: &History, slot: usize, stop: &AtomicBool) -> Result<Vec<Judged>, ExpectedError> {
        let plan = studied::read_own(&history.study(), "a history", self.guests.cache)?;
        let Some(cell) = plan.cells.first() else {
            return Err(ExpectedError::NoSuchCell { cell: 1, cells: 0 });
        };
        let Work::PowerCut(spec) = cell.workload.work.clone() else {
            return Err(ExpectedError::NoPowerCuts { cell: 1 });
        };
        let trial = Trial {
            cell: cell.clone(),
            index: 0,
            seed: study::trial_seed(history.seed, 0),
        };
        let processors = lab::guest::processors();
        let processor = processors.get(slot % processors.len().max(1)).copied();
        self.guests.explore((&plan, &trial), spec, processor, |exploration| {
            let mut all = Vec::new();
            exploration.all(stop, &mut |_| {}, &mut |judged| all.push(judged.clone()))?;
            Ok::<_, power_cut::Error>(all)
        })
    }

    /// Halves the operations as long as a state is found of which this is true.
    fn shrink(&self, history: &History, kind: Kind, slot: usize, stop: &AtomicBool) -> Option<u32> {
        let mut shrunk = history.clone();
        while let Some(smaller) = shrunk.smaller() {
            let judged = self.explore(&smaller, slot, stop);
            if !judged.iter().flatten().any(|judged| Kind::of(judged).contains(&kind)) {
                break;
            }
            shrunk = smaller;
        }
        (shrunk != *history).then_some(shrunk.operations)
    }
}

/// Of one kind of finding.
#[derive(Default)]
struct Counts {
    new: u64,
    known: u64,
    expected: u64,
}

#[derive(Default)]
struct Total {
    histories: u32,
    failed: u32,
    states: u64,
    counts: BTreeMap<Kind, Counts>,
}

impl Total {
    fn is_clean(&self) -> bool {
        self.failed == 0 && self.counts.values().all(|counts| counts.new == 0)
    }

    fn add(&mut self, arguments: &SoakArguments, done: &Done) {
        self.histories += 1;
        let repeat = format!(
            "raidlab soak --seed {} --history {}",
            arguments.seed, done.history.number
        );
        match &done.judged {
            Err(error) => {
                self.failed += 1;
                say(&format!(
                    "raidlab: history {}, {}: {error}; `{repeat}` repeats it",
                    done.history.number,
                    done.history.describe()
                ));
            }
            Ok(judged) => {
                self.states += judged.len() as u64;
                self.count(&done.history, judged);
                let lines = shown(done, judged, arguments.history.is_some());
                if !lines.is_empty() {
                    let operations = done.shrunk.map_or_else(String::new, |operations| {
                        format!("\n  with fewer operations: {repeat} --operations {operations}")
                    });
                    // Who does not read what is printed does not change it.
                    let _ = print(&format!(
                        "history {}: {} (simulated)\n{}\n  again: {repeat}{operations}\n",
                        done.history.number,
                        done.history.describe(),
                        lines.join("\n"),
                    ));
                }
            }
        }
        if self.histories.is_multiple_of(NOTED_EVERY) {
            note(&format!(
                "raidlab: {} histories, {} states",
                self.histories, self.states
            ));
        }
    }

    fn count(&mut self, history: &History, judged: &[Judged]) {
        for (kind, news) in judged.iter().flat_map(|judged| found(history, judged)) {
            let counts = self.counts.entry(kind).or_default();
            match news {
                News::New => counts.new += 1,
                News::Known(_) => counts.known += 1,
                News::Expected(_) => counts.expected += 1,
            }
        }
    }

    fn text(&self, seed: u64, wall: Duration, jobs: usize) -> String {
        let hourly = f64::from(self.histories) / wall.as_secs_f64().max(1e-3) * 3600.0;
        let mut lines = vec![
            format!(
                "seed {seed}: {} histories, {} states, {} failed, {:.0} s, {hourly:.0} histories an hour, {jobs} at a \
                 time (simulated)",
                self.histories,
                self.states,
                self.failed,
                wall.as_secs_f64()
            ),
            format!("{:36} {:>6} {:>6} {:>9}", "states with", "new", "known", "expected"),
        ];
        for kind in Kind::ALL {
            let none = Counts::default();
            let counts = self.counts.get(&kind).unwrap_or(&none);
            lines.push(format!(
                "{:36} {:>6} {:>6} {:>9}",
                kind.words(),
                counts.new,
                counts.known,
                counts.expected
            ));
        }
        lines.join("\n") + "\n"
    }
}

/// The findings of a history that are to be read: new ones, and all if this is the only history.
fn shown(done: &Done, judged: &[Judged], is_one: bool) -> Vec<String> {
    let mut states: BTreeMap<(Kind, News), Vec<&Judged>> = BTreeMap::new();
    for state in judged {
        for what in found(&done.history, state).filter(|(_, news)| is_one || *news == News::New) {
            states.entry(what).or_default().push(state);
        }
    }
    let mut lines = Vec::new();
    for ((kind, news), of_kind) in states {
        let how = match news {
            News::New => "new".to_owned(),
            News::Known(file) => format!("known, as in {file}"),
            News::Expected(why) => format!("expected: {why}"),
        };
        lines.push(format!(
            "  {} in {} of {} states ({how})",
            kind.words(),
            of_kind.len(),
            judged.len()
        ));
        for judged in of_kind.into_iter().take(SHOWN) {
            lines.extend(judged.findings().iter().map(|finding| format!("    {finding}")));
            lines.push(format!(
                "    raidlab power-cut STUDY --seed {} --at {} --cut-seed {} (STUDY as written by `--print`)",
                done.history.seed, judged.at_ns, judged.seed
            ));
        }
    }
    lines
}
