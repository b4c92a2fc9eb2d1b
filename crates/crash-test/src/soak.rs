//! Random stacks, random operations and random power cuts, until the time is up, all drawn from one seed.

use crate::Error;
use crate::finding::{News, found, words};
use crate::guests::Guests;
use crate::random_study::History;
use lab::kernel::Cache;
use lab::power_cut::{self, JudgedState};
use prepare::kernels::ShowBuild;
use prepare::load_study;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};
use study::FindingKind;
use study::plan::Trial;
use study::workload::Work;

/// Interval of progress lines, in histories.
const NOTED_EVERY: u32 = 50;

/// Maximum number of findings of one kind shown for one history; the others are counted.
const SHOWN: usize = 3;

/// Parameters from the command line.
#[derive(Clone, Debug)]
pub struct SoakOptions {
    pub seed: u64,
    pub minutes: u64,
    /// No more histories than this.
    pub histories: Option<u32>,
    /// Only the history with this number.
    pub history: Option<u32>,
    pub operations: Option<u32>,
    pub kernel: String,
    /// Histories at a time.
    pub jobs: usize,
}

/// The study of the history that is chosen, or of the first.
pub fn study_of_history(options: &SoakOptions) -> String {
    chosen(options, options.history.unwrap_or(1)).study()
}

/// The history with this number, with the operations of the command line.
fn chosen(options: &SoakOptions, number: u32) -> History {
    let history = History::draw(options.seed, number, &options.kernel);
    match options.operations {
        Some(operations) => history.with_operations(operations),
        None => history,
    }
}

/// Histories that are drawn and explored, and the guests for it.
pub struct Soak<'a> {
    options: &'a SoakOptions,
    guests: Guests<'a>,
    next: AtomicU32,
    last: u32,
    began: Instant,
}

/// A history with its states, or the reason why it failed.
struct Done {
    history: History,
    judged: Result<Vec<JudgedState>, Error>,
    /// If something new was found: the smallest number of operations that shows it.
    shrunk: Option<u32>,
}

impl<'a> Soak<'a> {
    /// Builds the kernel of the first history if it is missing: a kernel that cannot be built is reported before
    /// threads are started.
    pub fn new(options: &'a SoakOptions, cache: &'a Cache, show: ShowBuild) -> Result<Self, Error> {
        let soak = Self {
            options,
            guests: Guests::new(cache, show)?,
            next: AtomicU32::new(options.history.unwrap_or(1)),
            last: options.history.or(options.histories).unwrap_or(u32::MAX),
            began: Instant::now(),
        };
        let first = chosen(options, 1);
        let plan = load_study::read_own(&first.study(), "the first history", cache)?;
        for cell in &plan.cells {
            soak.guests.kernel(cell)?;
        }
        Ok(soak)
    }

    /// Explores until the time is up or `stop` is set; `report` gets each finding immediately.
    pub fn run(&self, stop: &AtomicBool, report: &mut dyn FnMut(&str)) -> Total {
        let mut total = Total::default();
        let (sender, results) = mpsc::channel();
        std::thread::scope(|scope| {
            for slot in 0..self.jobs() {
                let sender = sender.clone();
                scope.spawn(move || self.work(slot, stop, &sender));
            }
            drop(sender);
            for done in results {
                total.add(self.options, &done, report);
            }
        });
        total
    }

    /// The findings, as a table.
    pub fn summary(&self, total: &Total) -> String {
        total.text(self.options.seed, self.began.elapsed(), self.jobs())
    }

    fn jobs(&self) -> usize {
        match self.options.history {
            Some(_) => 1,
            None => self.options.jobs,
        }
    }

    /// One history after the other, while there is time.
    fn work(&self, slot: usize, stop: &AtomicBool, done: &Sender<Done>) {
        let limit = Duration::from_secs(60 * self.options.minutes);
        let is_one = self.options.history.is_some();
        while !stop.load(Ordering::Relaxed) && (is_one || self.began.elapsed() < limit) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number > self.last {
                return;
            }
            let history = chosen(self.options, number);
            let judged = self.explore(&history, slot, stop);
            if matches!(judged, Err(Error::PowerCut(power_cut::Error::Stopped))) {
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

    fn explore(&self, history: &History, slot: usize, stop: &AtomicBool) -> Result<Vec<JudgedState>, Error> {
        let plan = load_study::read_own(&history.study(), "a history", self.guests.cache)?;
        let Some(cell) = plan.cells.first() else {
            return Err(prepare::Error::NoSuchCell { cell: 1, cells: 0 }.into());
        };
        let Work::PowerCut(spec) = cell.workload.work.clone() else {
            return Err(Error::NoPowerCuts { cell: 1 });
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

    /// Halves the number of operations as long as a state with this kind of finding is found.
    fn shrink(&self, history: &History, kind: FindingKind, slot: usize, stop: &AtomicBool) -> Option<u32> {
        let mut shrunk = history.clone();
        while let Some(smaller) = shrunk.smaller() {
            let judged = self.explore(&smaller, slot, stop);
            if !judged
                .iter()
                .flatten()
                .any(|judged| judged.verdict.kinds().contains(&kind))
            {
                break;
            }
            shrunk = smaller;
        }
        (shrunk != *history).then_some(shrunk.operations)
    }
}

/// Counts for one kind of finding.
#[derive(Default)]
struct Counts {
    new: u64,
    known: u64,
    expected: u64,
}

/// Findings of all histories.
#[derive(Default)]
pub struct Total {
    histories: u32,
    failed: u32,
    states: u64,
    counts: BTreeMap<FindingKind, Counts>,
}

impl Total {
    /// Whether nothing new was found and nothing failed.
    pub fn is_clean(&self) -> bool {
        self.failed == 0 && self.counts.values().all(|counts| counts.new == 0)
    }

    fn add(&mut self, options: &SoakOptions, done: &Done, report: &mut dyn FnMut(&str)) {
        self.histories += 1;
        let repeat = format!("raidlab soak --seed {} --history {}", options.seed, done.history.number);
        match &done.judged {
            Err(error) => {
                self.failed += 1;
                log::warn!(
                    "history {}, {}: {error}; `{repeat}` repeats it",
                    done.history.number,
                    done.history.describe()
                );
            }
            Ok(judged) => {
                self.states += judged.len() as u64;
                self.count(&done.history, judged);
                let lines = shown(done, judged, options.history.is_some());
                if !lines.is_empty() {
                    let operations = done.shrunk.map_or_else(String::new, |operations| {
                        format!("\n  with fewer operations: {repeat} --operations {operations}")
                    });
                    report(&format!(
                        "history {}: {} (simulated)\n{}\n  again: {repeat}{operations}\n",
                        done.history.number,
                        done.history.describe(),
                        lines.join("\n"),
                    ));
                }
            }
        }
        if self.histories.is_multiple_of(NOTED_EVERY) {
            log::info!("{} histories, {} states", self.histories, self.states);
        }
    }

    fn count(&mut self, history: &History, judged: &[JudgedState]) {
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
        for kind in FindingKind::ALL {
            let none = Counts::default();
            let counts = self.counts.get(&kind).unwrap_or(&none);
            lines.push(format!(
                "{:36} {:>6} {:>6} {:>9}",
                words(kind),
                counts.new,
                counts.known,
                counts.expected
            ));
        }
        lines.join("\n") + "\n"
    }
}

/// The findings of a history to be printed: new ones, and all if this is the only history.
fn shown(done: &Done, judged: &[JudgedState], is_one: bool) -> Vec<String> {
    let mut states: BTreeMap<(FindingKind, News), Vec<&JudgedState>> = BTreeMap::new();
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
            words(kind),
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
