//! Where trials run.

pub mod host;
pub mod lab;

use crate::error::PlaceError;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use store::Ending;
use study::event::Event;
use study::plan::Trial;

/// Something that can run trials: guests of the lab, this machine itself.
///
/// To add another, implement this and give it to a [`crate::Runner`]: the schedule, the store and the statistics do
/// not change. What a place needs (kernels, disks, an account on another machine) is in it before the run begins.
pub trait Place: Sync {
    /// Whether the clock of its trials is virtual.
    fn is_simulated(&self) -> bool;

    /// How many trials it can run at the same time without their disturbing one another.
    fn slots(&self) -> usize;

    /// What a trial's results depend on here, besides its cell and its seed, in words that say it whole: raidlab's
    /// build and the kernel, or the machine and its disks. Results of one origin stand for one another.
    fn origin(&self, trial: &Trial) -> String;

    /// Runs a trial to its end in one of the slots, counted from 0; `see` gets what happens in it. It ends early
    /// when `stop` becomes true, and leaves nothing of the trial behind.
    ///
    /// # Errors
    /// When the trial could not be started. A trial that fails is no error: its [`TrialReport`] says so.
    fn run(
        &self,
        trial: &Trial,
        slot: usize,
        stop: &AtomicBool,
        see: &mut dyn FnMut(Seen),
    ) -> Result<TrialReport, PlaceError>;

    /// Leaves the place as it was found; what could not be undone is returned, in sentences.
    fn end(self: Box<Self>) -> Vec<String> {
        Vec::new()
    }
}

/// What is seen of a trial while it runs.
#[derive(Clone, Debug)]
pub enum Seen {
    Event(Event),
    /// A heartbeat with the trial's clock, if that is virtual.
    Heartbeat {
        virtual_time: Duration,
    },
    /// A message for the user, one sentence.
    Notice(String),
}

/// How a trial went.
#[derive(Debug)]
pub struct TrialReport {
    pub ending: Ending,
    pub wall: Duration,
    /// Why the place cannot run more trials, if so.
    pub halt: Option<PlaceError>,
}
