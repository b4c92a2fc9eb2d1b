//! A run, from its first trial to its last or to Ctrl-C.

use super::machine::Machine;
use super::schedule::Schedule;
use super::stop::Stop;
use super::worker::Report;
use crate::expected::ExpectedError;
use crate::progress::RunBar;
use lab::guest::Pulse;
use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use store::{Ending, OpenRun, Store, TrialId};
use study::event::Event;
use study::plan::{Plan, Trial};

/// How a run came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub done: u64,
    pub failed: u64,
    /// Done before this session.
    pub resumed: u64,
    pub interrupted: bool,
}

/// What a worker says, with the number of its trial in this session.
struct Message {
    id: usize,
    what: What,
}

enum What {
    Event(Event),
    Pulse(Pulse),
    End(Result<Report, ExpectedError>),
}

/// A run under way.
pub struct Session<'a> {
    pub plan: &'a Plan,
    pub machine: &'a Machine,
    pub store: &'a mut Store,
    pub run: &'a OpenRun,
    pub jobs: usize,
    pub stop: &'a Stop,
}

/// A trial under way.
struct Running {
    row: TrialId,
    /// Which of the jobs runs it.
    slot: usize,
}

impl Session<'_> {
    /// Runs what is not done yet.
    pub fn run(&mut self, seed: u64) -> Result<Outcome, ExpectedError> {
        let mut schedule = Schedule::new(self.plan, seed);
        let resumed = self
            .run
            .trials
            .iter()
            .filter(|trial| self.run.is_done(&trial.cell_key, trial.index))
            .count();
        let mut outcome = Outcome {
            resumed: resumed as u64,
            ..Outcome::default()
        };
        let mut bar = RunBar::new(outcome.resumed, schedule.all(), self.machine.is_simulated());
        let result = self.rounds(&mut schedule, &mut outcome, &mut bar);
        bar.finish();
        result.map(|()| outcome)
    }

    fn rounds(
        &mut self,
        schedule: &mut Schedule,
        outcome: &mut Outcome,
        bar: &mut RunBar,
    ) -> Result<(), ExpectedError> {
        loop {
            self.round(schedule, outcome, bar)?;
            if self.stop.is_wanted() {
                outcome.interrupted = true;
                return Ok(());
            }
            let judged = super::precision::Judged::of(self.store, self.run)?;
            if !schedule.next_batch(|cell, had| judged.wanted(&self.plan.precision, cell, had)) {
                return Ok(());
            }
            bar.set_all(schedule.all());
        }
    }

    /// Runs a round's trials, `jobs` at a time.
    fn round(
        &mut self,
        schedule: &mut Schedule,
        outcome: &mut Outcome,
        bar: &mut RunBar,
    ) -> Result<(), ExpectedError> {
        let (sender, receiver) = mpsc::channel();
        let processors = lab::guest::processors();
        let (machine, stop) = (self.machine, self.stop);
        thread::scope(|scope| {
            let mut running = BTreeMap::new();
            let mut count = 0;
            loop {
                while running.len() < self.jobs && !stop.is_wanted() {
                    let Some(trial) = schedule.next() else { break };
                    if self.run.is_done(&trial.cell.key, trial.index) {
                        continue;
                    }
                    count += 1;
                    let row = self
                        .store
                        .begin_trial(self.run, &trial)
                        .map_err(|error| halt(stop, error))?;
                    bar.begin(count, format!("{}, trial {}", trial.cell.key, trial.index + 1));
                    let slot = free_slot(&running);
                    let processor = processors.get(slot % processors.len().max(1)).copied();
                    let sender = sender.clone();
                    scope.spawn(move || work(machine, &trial, processor, count, stop, &sender));
                    running.insert(count, Running { row, slot });
                }
                if running.is_empty() {
                    return Ok(());
                }
                self.hear(&receiver, &mut running, outcome, bar)
                    .inspect_err(|_| stop_all(stop))?;
            }
        })
    }

    fn hear(
        &mut self,
        receiver: &Receiver<Message>,
        running: &mut BTreeMap<usize, Running>,
        outcome: &mut Outcome,
        bar: &mut RunBar,
    ) -> Result<(), ExpectedError> {
        let Message { id, what } = receiver.recv().expect("a worker is running and says when it ends");
        match what {
            What::Pulse(pulse) => bar.pulse(id, pulse),
            What::Event(event) => {
                if let Event::Step { name, .. } = &event {
                    bar.step(id, name);
                }
                self.store.append(running[&id].row, &event).map_err(store_error)?;
            }
            What::End(report) => {
                let Running { row, .. } = running.remove(&id).expect("it was running");
                let Report { ending, wall, halt } = report?;
                let wall_ns = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
                self.store.end_trial(row, &ending, wall_ns).map_err(store_error)?;
                match &ending {
                    Ending::Done => outcome.done += 1,
                    Ending::Failed(_) => outcome.failed += 1,
                    // A machine that hangs is told of all the same.
                    Ending::Interrupted => return halt.map_or(Ok(()), |why| Err(ExpectedError::Failed(why))),
                }
                let words = match &ending {
                    Ending::Failed(failure) => Some(format!("{}: {}", failure.step, failure.message)),
                    _ => None,
                };
                bar.end(id, words.as_deref());
                if let Some(why) = halt {
                    return Err(ExpectedError::Failed(why));
                }
            }
        }
        Ok(())
    }
}

fn free_slot(running: &BTreeMap<usize, Running>) -> usize {
    (0..)
        .find(|slot| running.values().all(|other| other.slot != *slot))
        .expect("there are more numbers than jobs")
}

fn work(
    machine: &Machine,
    trial: &Trial,
    processor: Option<usize>,
    id: usize,
    stop: &Stop,
    sender: &Sender<Message>,
) {
    // When nobody listens any more, the session has ended, and the stop flag ends the guest.
    let say = |what| drop(sender.send(Message { id, what }));
    let report = machine.run(
        trial,
        processor,
        stop.flag(),
        &mut |event| say(What::Event(event)),
        &mut |pulse| say(What::Pulse(pulse)),
    );
    say(What::End(report));
}

fn halt(stop: &Stop, error: store::StoreError) -> ExpectedError {
    stop_all(stop);
    store_error(error)
}

/// Nothing can be kept any more: end the guests that run.
fn stop_all(stop: &Stop) {
    stop.flag().store(true, std::sync::atomic::Ordering::Relaxed);
}

fn store_error(error: store::StoreError) -> ExpectedError {
    ExpectedError::store_under_way(&error)
}
