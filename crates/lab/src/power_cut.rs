//! Power cuts of a trial: a whole run tells when its operations are, and each state is that run again with a cut,
//! followed by a guest on the same disks that judges.

use crate::carried::Programs;
use crate::guest::{self, Config, Contents, EndedGuest, PowerCut, StartError};
use crate::job::{self, GuestJob};
use crate::kernel::{Kernel, KernelError};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use study::event::{Event, Failure};
use study::plan::Trial;
use study::workload::PowerCutSpec;
use trial::ProcessEnd;
use trial::power_cut::{BEGUN, Cut, Log, Operations, RETURNED, Verdict};

/// One state of all disks, and how it was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub at_ns: u64,
    pub seed: u64,
    pub log: Log,
    pub verdict: Verdict,
}

/// Why there is no judgement.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error("{}: {}", .0.step, .0.message)]
    Failed(Failure),
    #[error("{doing}: the guest ended as {end:?}; its console: {console}")]
    Guest {
        doing: String,
        end: ProcessEnd,
        console: String,
    },
    #[error("it was stopped")]
    Stopped,
}

/// The guests of one trial.
pub struct Exploration<'a> {
    pub trial: &'a Trial,
    pub spec: PowerCutSpec,
    pub kernel: &'a Kernel,
    pub programs: Option<&'a Programs>,
    /// For all guests, with the trial as its job.
    pub config: Config<'a>,
}

/// What a guest with the operations reported.
struct Run {
    ended: EndedGuest,
    log: Log,
    /// Times of the first operation's begin and of the last return, after the preparation.
    times: Option<Range<u64>>,
}

impl Exploration<'_> {
    /// Tries every state. `see` gets the events of the whole run, without its log.
    pub fn all(
        &self,
        stop: &AtomicBool,
        see: &mut dyn FnMut(Event),
        each: &mut dyn FnMut(&Judged),
    ) -> Result<Duration, Error> {
        let began = Instant::now();
        let (times, _) = self.whole(stop, see)?;
        for point in 0..self.spec.points {
            let at_ns = times.start + draw(self.trial.seed, u64::from(point), 0) % (times.end - times.start).max(1);
            for subset in 0..self.spec.subsets {
                let seed = draw(self.trial.seed, u64::from(point), u64::from(subset) + 1);
                each(&self.state(PowerCut { at_ns, seed }, stop)?);
            }
        }
        Ok(began.elapsed())
    }

    /// The run without a cut: when its operations are.
    fn whole(&self, stop: &AtomicBool, see: &mut dyn FnMut(Event)) -> Result<(Range<u64>, Log), Error> {
        let run = self.run(None, None, stop, see)?;
        match (run.times, &run.ended.end) {
            (Some(times), ProcessEnd::Exited) => Ok((times, run.log)),
            _ => Err(unexpected("the run without a power cut", run.ended)),
        }
    }

    /// One state: the same again gives the same.
    pub fn state(&self, cut: PowerCut, stop: &AtomicBool) -> Result<Judged, Error> {
        let contents = Contents::new(self.config.memory_budget_bytes, self.config.folder)?;
        let run = self.run(Some(&contents), Some(cut), stop, &mut |_| {})?;
        let operations = Operations::draw(self.trial.seed, self.spec.operations);
        if !run.ended.heartbeat.power_cut || run.log.returned < operations.prepared {
            return Err(unexpected("the run with a power cut", run.ended));
        }
        let of_cut = Cut {
            log: run.log,
            seed: cut.seed,
        };
        let job = GuestJob::Judge(Box::new(self.trial.clone()), of_cut);
        let job = job::encoded(&job, self.kernel, self.programs)?;
        let config = Config {
            job: &job,
            contents: Some(&contents),
            power_cut: None,
            trace: None,
            ..self.config
        };
        let (mut verdict, mut failure) = (None, None);
        let ended = guest::run(
            &config,
            stop,
            &mut |line| match serde_json::from_slice::<Verdict>(line) {
                Ok(said) => verdict = Some(said),
                Err(_) => failure = failed(line).or(failure.take()),
            },
            &mut |_| {},
        )?;
        let verdict = match (verdict, failure) {
            _ if stop.load(Ordering::Relaxed) => return Err(Error::Stopped),
            (_, Some(failure)) => return Err(Error::Failed(failure)),
            (Some(verdict), None) => verdict,
            // A kernel that panics on these disks cannot use them.
            (None, None) => Verdict {
                not_mountable: Some(format!(
                    "the guest ended as {:?}: {}",
                    ended.end,
                    last_line(&ended.console)
                )),
                ..Verdict::default()
            },
        };
        Ok(Judged {
            at_ns: cut.at_ns,
            seed: cut.seed,
            log: run.log,
            verdict,
        })
    }

    fn run(
        &self,
        contents: Option<&Contents>,
        power_cut: Option<PowerCut>,
        stop: &AtomicBool,
        see: &mut dyn FnMut(Event),
    ) -> Result<Run, Error> {
        let prepared = Operations::draw(self.trial.seed, self.spec.operations).prepared;
        let config = Config {
            contents,
            power_cut,
            ..self.config
        };
        let mut log = Log { begun: 0, returned: 0 };
        let (mut times, mut failure) = (None::<Range<u64>>, None);
        let ended = guest::run(
            &config,
            stop,
            &mut |line| match serde_json::from_slice(line) {
                Ok(Event::Provenance { key, value }) if key == BEGUN || key == RETURNED => {
                    let Some((number, at_ns)) = parsed(&value) else { return };
                    match key == BEGUN {
                        true => log.begun = number + 1,
                        false => log.returned = number + 1,
                    }
                    if number >= prepared {
                        times.get_or_insert(at_ns..at_ns).end = at_ns;
                    }
                }
                Ok(Event::Failed(said)) => failure = Some(said),
                Ok(Event::Done { .. }) | Err(_) => {}
                Ok(event) => see(event),
            },
            &mut |_| {},
        )?;
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        match failure {
            Some(failure) => Err(Error::Failed(failure)),
            None => Ok(Run { ended, log, times }),
        }
    }
}

fn parsed(value: &str) -> Option<(usize, u64)> {
    let (number, at_ns) = value.split_once(' ')?;
    Some((number.parse().ok()?, at_ns.parse().ok()?))
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

/// A number for a place under a seed (SplitMix64).
fn draw(seed: u64, point: u64, subset: u64) -> u64 {
    let mix = |number: u64| {
        let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ number >> 31
    };
    mix(mix(seed ^ 0x706f_7765_7263_7574).wrapping_add(mix(point << 32 | subset)))
}
