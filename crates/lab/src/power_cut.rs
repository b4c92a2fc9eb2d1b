//! Power cuts of a trial. A first run determines when its operations take place; a second one stores the state of the
//! disks at each power cut and continues; further guests load one state after another, start the stack on it, and check
//! it.

mod ddmin;
mod lost;

pub use ddmin::smaller;
pub use lost::{Lost, LostWrites};

use crate::guest::{self, Config, DiskContents, EndedGuest, PowerCut, StartError, State, States, StatesUse};
use crate::protocol::job::{self, GuestJob, ToJudge};
use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use study::Finding;
use study::event::{Event, Failure, Mark, OperationMark};
use study::plan::Trial;
use study::splitmix64::mix;
use study::workload::PowerCutSpec;
use trial::ProcessEnd;
use trial::power_cut::{Cut, Log, Operations, StateVerdict};

/// One state of all disks, and the verdict on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedState {
    pub at_ns: u64,
    pub seed: u64,
    pub log: Log,
    pub verdict: StateVerdict,
}

impl JudgedState {
    /// Its defects, each with the instant and the seed that repeat it.
    pub fn findings(&self) -> Vec<Finding> {
        let findings = self.verdict.findings().into_iter();
        let finding = |(kind, detail)| Finding {
            at_ns: self.at_ns,
            seed: self.seed,
            kind,
            detail,
        };
        findings.map(finding).collect()
    }
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("{}: {}", .0.step, .0.message)]
    Failed(Failure),
    #[error("{doing}: the guest ended as {end:?}; its console: {console}")]
    Guest {
        doing: String,
        end: ProcessEnd,
        console: String,
    },
    #[error("the states of the disks: {0}")]
    States(#[from] io::Error),
    #[error(
        "a power cut at {at_ns} ns is outside the time window of the operations, from {} to {} ns: it falls into the \
            step \"{step}\", where there is nothing to judge", .times.start, .times.end
    )]
    Outside {
        at_ns: u64,
        step: String,
        times: Range<u64>,
    },
    #[error("it was stopped")]
    Stopped,
}

/// The guests of one trial.
pub struct Exploration<'a> {
    pub trial: &'a Trial,
    pub spec: PowerCutSpec,
    /// For all guests, with the trial as its job.
    pub config: Config<'a>,
}

/// The report of a guest that ran the operations.
struct Run {
    ended: EndedGuest,
    /// Progress of the operations after each line that reports it, with the total bytes of all lines until then.
    logs: Vec<(u64, Log)>,
    /// Start of the first operation and return of the last one, after the preparation.
    times: Option<Range<u64>>,
    /// The last step that began.
    step: String,
}

/// What a verdict depends on: the contents of the disks, and the progress of the operations.
type Key<'a> = (&'a [u8], usize, usize);

impl Run {
    fn last(&self) -> Log {
        self.until(u64::MAX)
    }

    /// Progress of the operations when this number of bytes had been written as lines.
    fn until(&self, bytes: u64) -> Log {
        let lines = self.logs.partition_point(|(end, _)| *end <= bytes);
        let last = self.logs[..lines].last();
        last.map_or(Log { begun: 0, returned: 0 }, |(_, log)| *log)
    }
}

/// The verdicts of one guest.
struct ByOneGuest {
    /// On the first of its states, at least on one.
    verdicts: Vec<StateVerdict>,
    /// How it ended at the next state, if it died there.
    death: Option<String>,
}

/// A state, and the progress of the operations.
struct Kept {
    state: State,
    log: Log,
}

impl Exploration<'_> {
    /// Checks every state. `see` gets the events of the first run, without its log.
    pub fn all(
        &self,
        stop: &AtomicBool,
        see: &mut dyn FnMut(Event),
        each: &mut dyn FnMut(&JudgedState),
    ) -> Result<Duration, Error> {
        let began = Instant::now();
        let cuts = self.cuts(&self.whole(stop, see)?);
        let states = States::new(self.config.memory_budget_bytes, self.config.folder)?;
        let kept = self.keep(&states, &cuts, stop)?;
        self.judge(&states, &kept, stop, each)?;
        Ok(began.elapsed())
    }

    /// The power cuts, by time.
    fn cuts(&self, times: &Range<u64>) -> Vec<PowerCut> {
        let cuts = (0..self.spec.points).flat_map(|point| {
            let at_ns = times.start + draw(self.trial.seed, u64::from(point), 0) % (times.end - times.start).max(1);
            (0..self.spec.subsets).map(move |subset| {
                let seed = draw(self.trial.seed, u64::from(point), u64::from(subset) + 1);
                PowerCut { at_ns, seed }
            })
        });
        let mut cuts: Vec<PowerCut> = cuts.collect();
        cuts.sort_by_key(|cut| cut.at_ns);
        cuts
    }

    /// The run without a cut, which determines when its operations take place.
    fn whole(&self, stop: &AtomicBool, see: &mut dyn FnMut(Event)) -> Result<Range<u64>, Error> {
        let run = self.run(&self.config, stop, see)?;
        match (run.times, &run.ended.end) {
            (Some(times), ProcessEnd::Exited) => Ok(times),
            _ => Err(unexpected("the run without a power cut", run.ended)),
        }
    }

    /// The same run, which stores the state at each power cut.
    fn keep(&self, states: &States, cuts: &[PowerCut], stop: &AtomicBool) -> Result<Vec<Kept>, Error> {
        let config = Config {
            states: Some(StatesUse::Keep(states, cuts)),
            trace: None,
            ..self.config
        };
        let run = self.run(&config, stop, &mut |_| {})?;
        let kept = states.read()?;
        if run.ended.end != ProcessEnd::Exited || kept.len() != cuts.len() {
            return Err(unexpected("the run that stores the states", run.ended));
        }
        let of = |state: State| Kept {
            log: run.until(state.events_bytes),
            state,
        };
        Ok(kept.into_iter().map(of).collect())
    }

    /// Judges the states; equal ones only once, if the acknowledged operations are the same.
    fn judge(
        &self,
        states: &States,
        kept: &[Kept],
        stop: &AtomicBool,
        each: &mut dyn FnMut(&JudgedState),
    ) -> Result<(), Error> {
        let mut known: HashMap<Key<'_>, StateVerdict> = HashMap::new();
        let mut next = 0;
        // Left by the previous guest, which died at the first state without a verdict.
        let mut death = None;
        while let Some(state) = kept.get(next) {
            if let Some(verdict) = known.get(&state.key()) {
                each(&state.judged(verdict.clone()));
                next += 1;
                continue;
            }
            // The states without a verdict: this one, and others until the guest ends.
            let mut seen = HashSet::new();
            let is_new = |index: &usize| {
                let key = kept[*index].key();
                !known.contains_key(&key) && seen.insert(key)
            };
            let new: Vec<usize> = (next..kept.len()).filter(is_new).collect();
            let mut judged = self.guest_judges(states, kept, &new, stop)?;
            if let (Some(how), Some(first)) = (death, judged.verdicts.first_mut()) {
                first.guest_died.get_or_insert(how);
            }
            death = judged.death;
            known.extend(new.iter().map(|&index| kept[index].key()).zip(judged.verdicts));
        }
        Ok(())
    }

    /// One state by a power cut that ends its guest, judged by a separate guest. A stored state must give the same
    /// result.
    pub fn state(&self, cut: PowerCut, stop: &AtomicBool) -> Result<JudgedState, Error> {
        let contents = DiskContents::new(self.config.memory_budget_bytes, self.config.folder)?;
        let config = Config {
            contents: Some(&contents),
            power_cut: Some(cut),
            ..self.config
        };
        let run = self.run(&config, stop, &mut |_| {})?;
        let operations = Operations::draw(self.trial.seed, &self.spec);
        let log = run.last();
        if run.ended.end != ProcessEnd::Exited {
            return Err(unexpected("the run with a power cut", run.ended));
        }
        if !run.ended.heartbeat.power_cut || log.returned < operations.prepared {
            let times = self.whole(stop, &mut |_| {})?;
            let at_ns = cut.at_ns;
            let step = run.step;
            return Err(Error::Outside { at_ns, step, times });
        }
        let to_judge = ToJudge {
            state: None,
            cut: Cut { log, seed: cut.seed },
        };
        let config = Config {
            contents: Some(&contents),
            power_cut: None,
            ..self.config
        };
        let judged = self.verdicts(&config, vec![to_judge], stop)?;
        Ok(JudgedState {
            at_ns: cut.at_ns,
            seed: cut.seed,
            log,
            verdict: judged.verdicts.into_iter().next().unwrap_or_default(),
        })
    }

    /// Verdicts on the first of these states, at least on one.
    fn guest_judges(
        &self,
        states: &States,
        kept: &[Kept],
        which: &[usize],
        stop: &AtomicBool,
    ) -> Result<ByOneGuest, Error> {
        let to_judge = which.iter().map(|&index| (index as u64, &kept[index]));
        self.judged_in_turn(states, to_judge, stop)
    }

    /// The same, each with its index.
    fn guest_judges_at(
        &self,
        states: &States,
        kept: &[(u64, Kept)],
        stop: &AtomicBool,
    ) -> Result<Vec<StateVerdict>, Error> {
        let judged = self.judged_in_turn(states, kept.iter().map(|(index, kept)| (*index, kept)), stop)?;
        Ok(judged.verdicts)
    }

    fn judged_in_turn<'k>(
        &self,
        states: &States,
        kept: impl Iterator<Item = (u64, &'k Kept)>,
        stop: &AtomicBool,
    ) -> Result<ByOneGuest, Error> {
        let config = Config {
            states: Some(StatesUse::Take(states)),
            ..self.config
        };
        let to_judge = |(index, kept): (u64, &Kept)| ToJudge {
            state: Some(index),
            cut: Cut {
                log: kept.log,
                seed: kept.state.seed,
            },
        };
        self.verdicts(&config, kept.map(to_judge).collect(), stop)
    }

    /// Lets a guest judge states until it is done or cannot continue.
    fn verdicts(&self, config: &Config<'_>, cuts: Vec<ToJudge>, stop: &AtomicBool) -> Result<ByOneGuest, Error> {
        let job = GuestJob::Judge(Box::new(self.trial.clone()), cuts);
        let job = job::encode(&job, &[]);
        let config = Config {
            job: &job,
            trace: None,
            ..*config
        };
        let (mut verdicts, mut failure) = (Vec::new(), None);
        let ended = guest::run(
            &config,
            stop,
            &mut |line| match serde_json::from_slice::<StateVerdict>(line) {
                Ok(said) => verdicts.push(said),
                Err(_) => failure = failed(line).or(failure.take()),
            },
            &mut |_| {},
        )?;
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        if let Some(failure) = failure {
            return Err(Error::Failed(failure));
        }
        let how = || format!("it ended as {:?}: {}", ended.end, last_line(&ended.console));
        let death = match (&ended.end, verdicts.len()) {
            (ProcessEnd::Exited, 1..) => None,
            (ProcessEnd::Exited | ProcessEnd::NoSpace | ProcessEnd::Stopped, _) => {
                return Err(unexpected("the guest that checks the states", ended));
            }
            // A kernel that panics on these disks cannot use them.
            (_, 0) => {
                verdicts.push(StateVerdict {
                    not_mountable: Some(format!("the guest died: {}", how())),
                    guest_died: Some(how()),
                    ..StateVerdict::default()
                });
                None
            }
            (_, others) => Some(format!(
                "{}; it had judged {others} other states, and another guest has judged this one",
                how()
            )),
        };
        Ok(ByOneGuest { verdicts, death })
    }

    fn run(&self, config: &Config<'_>, stop: &AtomicBool, see: &mut dyn FnMut(Event)) -> Result<Run, Error> {
        let prepared = Operations::draw(self.trial.seed, &self.spec).prepared;
        let mut log = Log { begun: 0, returned: 0 };
        let (mut bytes, mut logs) = (0, Vec::new());
        let (mut times, mut failure) = (None::<Range<u64>>, None);
        let mut step = "start of the guest".to_owned();
        let mut hear = |line: &[u8]| {
            // With the line's end.
            bytes += line.len() as u64 + 1;
            match serde_json::from_slice(line) {
                Ok(Event::Operation(OperationMark { number, mark, at_ns })) => {
                    match mark {
                        Mark::Begun => log.begun = number + 1,
                        Mark::Returned => log.returned = number + 1,
                    }
                    logs.push((bytes, log));
                    if number >= prepared {
                        times.get_or_insert(at_ns..at_ns).end = at_ns;
                    }
                }
                Ok(Event::Failed(said)) => failure = Some(said),
                Ok(Event::Done { .. }) | Err(_) => {}
                Ok(event) => {
                    if let Event::Step { name, .. } = &event {
                        step.clone_from(name);
                    }
                    see(event);
                }
            }
        };
        let ended = guest::run(config, stop, &mut hear, &mut |_| {})?;
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        match failure {
            Some(failure) => Err(Error::Failed(failure)),
            None => Ok(Run {
                ended,
                logs,
                times,
                step,
            }),
        }
    }
}

impl Kept {
    fn key(&self) -> Key<'_> {
        (&self.state.places, self.log.begun, self.log.returned)
    }

    fn judged(&self, verdict: StateVerdict) -> JudgedState {
        JudgedState {
            at_ns: self.state.at_ns,
            seed: self.state.seed,
            log: self.log,
            verdict,
        }
    }
}

fn failed(line: &[u8]) -> Option<Failure> {
    match serde_json::from_slice(line) {
        Ok(Event::Failed(failure)) => Some(failure),
        _ => None,
    }
}

fn unexpected(doing: &str, ended: EndedGuest) -> Error {
    Error::Guest {
        doing: doing.to_owned(),
        end: ended.end,
        console: ended.console,
    }
}

fn last_line(console: &str) -> &str {
    console
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("silent")
}

/// A number for a place under a seed.
fn draw(seed: u64, point: u64, subset: u64) -> u64 {
    mix(mix(seed ^ 0x706f_7765_7263_7574).wrapping_add(mix(point << 32 | subset)))
}
