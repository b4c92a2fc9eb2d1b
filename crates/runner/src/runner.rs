//! Runs a plan until it is done or interrupted.

use crate::error::{PlaceError, RunError};
use crate::place::{Place, Seen, TrialReport};
use crate::precision::Judged;
use crate::progress::Progress;
use crate::schedule::Schedule;
use crate::stop_request::Interrupt;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;
use store::{Ending, OpenRun, Store, TrialId, TrialStatus};
use study::event::Event;
use study::plan::{Plan, Trial};

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunOutcome {
    pub done: u64,
    pub failed: u64,
    /// Trials that this run had done before, or that are reused from another run with the same cell.
    pub resumed: u64,
    pub interrupted: bool,
}

/// A plan, the places of its trials, and the store of their events.
pub struct Runner<'a> {
    pub plan: &'a Plan,
    /// A trial goes to the first one with a free slot.
    pub places: &'a [Box<dyn Place + 'a>],
    pub store: &'a mut Store,
    pub run: &'a OpenRun,
    /// Reuse trials of other runs in the store with the same cell, seed and origin: only the others are run.
    pub reuse: bool,
    pub interrupt: &'a Interrupt,
    /// Receives progress events.
    pub observer: &'a mut dyn FnMut(Progress<'_>),
}

/// A message of a worker, with the number of its trial in this run.
struct Message {
    id: usize,
    what: What,
}

enum What {
    Seen(Seen),
    End(Result<TrialReport, PlaceError>),
}

/// A slot of a place.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seat {
    place: usize,
    slot: usize,
}

/// A running trial.
struct Running {
    row: TrialId,
    seat: Seat,
    /// When its first event came: its guest starts then.
    began: Option<Instant>,
}

impl Runner<'_> {
    /// Runs what is not done yet, until every cell is as precise as the study requires.
    ///
    /// # Errors
    /// If the store or a place fails. All measurements are kept, and the run can be resumed.
    pub fn run(&mut self, seed: u64) -> Result<RunOutcome, RunError> {
        let mut schedule = Schedule::new(self.plan, seed, self.run.summary.shard);
        let is_done = |trial: &&store::TrialRecord| trial.status == TrialStatus::Done;
        let mut outcome = RunOutcome {
            resumed: self.run.trials.iter().filter(is_done).count() as u64,
            ..RunOutcome::default()
        };
        (self.observer)(Progress::Began {
            done: outcome.resumed,
            all: schedule.all(),
            is_simulated: self.places.iter().any(|place| place.is_simulated()),
        });
        loop {
            self.batch(&mut schedule, &mut outcome)?;
            if self.interrupt.is_requested() {
                outcome.interrupted = true;
                return Ok(outcome);
            }
            let judged = Judged::of(self.store, self.run, self.plan)?;
            if !schedule.next_batch(|had| judged.wanted(had)) {
                return Ok(outcome);
            }
            (self.observer)(Progress::Extended { all: schedule.all() });
        }
    }

    /// Runs the trials of a batch, as many in parallel as there are slots.
    fn batch(&mut self, schedule: &mut Schedule<'_>, outcome: &mut RunOutcome) -> Result<(), RunError> {
        let (sender, receiver) = mpsc::channel();
        let seats = seats(self.places);
        let (places, interrupt) = (self.places, self.interrupt);
        thread::scope(|scope| {
            let mut running = BTreeMap::new();
            let mut count = 0;
            loop {
                while let Some(seat) = free_seat(&seats, &running)
                    && !interrupt.is_requested()
                {
                    let Some(trial) = schedule.next() else { break };
                    if self.run.is_done(trial.cell.id, trial.index) {
                        continue;
                    }
                    let origin = places[seat.place].origin(&trial);
                    let known = self.reuse && self.store.reuse(self.run, &trial, &origin)?;
                    if known {
                        outcome.resumed += 1;
                        (self.observer)(Progress::Known { trial: &trial });
                        continue;
                    }
                    count += 1;
                    let row = self
                        .store
                        .begin_trial(self.run, &trial, &origin)
                        .inspect_err(|_| stop_all(interrupt))?;
                    (self.observer)(Progress::TrialBegan {
                        id: count,
                        trial: &trial,
                    });
                    let (place, sender) = (places[seat.place].as_ref(), sender.clone());
                    scope.spawn(move || work(place, &trial, seat.slot, count, interrupt, &sender));
                    running.insert(count, Running { row, seat, began: None });
                }
                if running.is_empty() {
                    return Ok(());
                }
                self.take_in(&receiver, &mut running, outcome)
                    .inspect_err(|_| stop_all(interrupt))?;
            }
        })
    }

    /// Waits for the next message of a worker, and stores it.
    fn take_in(
        &mut self,
        receiver: &Receiver<Message>,
        running: &mut BTreeMap<usize, Running>,
        outcome: &mut RunOutcome,
    ) -> Result<(), RunError> {
        let Message { id, what } = receiver.recv().expect("a worker is running and says when it ends");
        match what {
            What::Seen(Seen::Heartbeat { virtual_time }) => {
                (self.observer)(Progress::Heartbeat { id, virtual_time });
            }
            What::Seen(Seen::Notice(words)) => (self.observer)(Progress::Notice(&words)),
            What::Seen(Seen::Event(event)) => {
                let Running { row, began, .. } = running.get_mut(&id).expect("it is running");
                let began = *began.get_or_insert_with(Instant::now);
                match &event {
                    Event::Step { name, .. } => {
                        (self.observer)(Progress::Step { id, name });
                        self.store.append_step(*row, &event, began.elapsed())?;
                    }
                    _ => self.store.append(*row, &event)?,
                }
            }
            What::End(report) => {
                let Running { row, .. } = running.remove(&id).expect("it was running");
                return self.end_trial(id, row, report?, outcome);
            }
        }
        Ok(())
    }

    fn end_trial(
        &mut self,
        id: usize,
        row: TrialId,
        report: TrialReport,
        outcome: &mut RunOutcome,
    ) -> Result<(), RunError> {
        let TrialReport { ending, wall, halt } = report;
        let wall_ns = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
        self.store.end_trial(row, &ending, wall_ns)?;
        match &ending {
            Ending::Done => outcome.done += 1,
            Ending::Failed(_) => outcome.failed += 1,
            Ending::Interrupted => {}
        }
        if ending != Ending::Interrupted {
            (self.observer)(Progress::TrialEnded { id, ending: &ending });
        }
        // Also for an interrupted trial: hanging processes must be reported.
        halt.map_or(Ok(()), |why| Err(why.into()))
    }
}

fn seats(places: &[Box<dyn Place + '_>]) -> Vec<Seat> {
    let mut seats = Vec::new();
    for (place, slots) in places.iter().map(|place| place.slots()).enumerate() {
        seats.extend((0..slots).map(|slot| Seat { place, slot }));
    }
    seats
}

fn free_seat(seats: &[Seat], running: &BTreeMap<usize, Running>) -> Option<Seat> {
    let is_free = |seat: &&Seat| running.values().all(|trial| trial.seat != **seat);
    seats.iter().find(is_free).copied()
}

fn work(place: &dyn Place, trial: &Trial, slot: usize, id: usize, interrupt: &Interrupt, sender: &Sender<Message>) {
    // If the receiver is gone, the run has ended, and the flag ends the trial.
    let tell = |what| drop(sender.send(Message { id, what }));
    // Its end is awaited in any case.
    let run = || place.run(trial, slot, interrupt.flag(), &mut |seen| tell(What::Seen(seen)));
    let report = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(PlaceError::Panic(
            words.unwrap_or("the panic has no message").to_owned(),
        ))
    });
    tell(What::End(report));
}

/// Nothing can be stored any more: ends the running trials.
fn stop_all(interrupt: &Interrupt) {
    interrupt.request();
}

#[cfg(test)]
mod tests;
