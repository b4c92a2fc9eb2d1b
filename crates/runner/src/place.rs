//! Places where trials run.

mod admission;
mod created_stacks;
pub mod host;
pub mod lab;
mod power_cuts;
mod trace_file;

pub use admission::Admission;
pub use created_stacks::CreatedStacks;
pub use trace_file::TraceFileError;

use crate::error::PlaceError;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use store::Ending;
use study::event::Event;
use study::plan::Trial;

/// A place that can run trials: guests of the lab, or this machine.
///
/// To add a place, implement this trait and pass it to a [`crate::Runner`]: the schedule, the store and the statistics
/// do not change. Its resources (kernels, disks, an account on another machine) are prepared before the run starts.
pub trait Place: Sync {
    /// Whether the clock of its trials is virtual.
    fn is_simulated(&self) -> bool;

    /// Number of trials that can run at the same time without affecting each other.
    fn slots(&self) -> usize;

    /// Everything that a trial's results depend on here besides its cell and seed: raidlab's build and the kernel,
    /// or the machine and its disks. Results with the same origin are interchangeable.
    fn origin(&self, trial: &Trial) -> String;

    /// Runs a trial to its end in one of the slots, counted from 0; `see` is called with its events. It ends early
    /// when `stop` becomes true, and leaves nothing of the trial behind.
    ///
    /// # Errors
    /// If the trial could not be started. A failed trial is not an error: its [`TrialReport`] says so.
    fn run(
        &self,
        trial: &Trial,
        slot: usize,
        stop: &AtomicBool,
        see: &mut dyn FnMut(Seen),
    ) -> Result<TrialReport, PlaceError>;

    /// Restores the place; returns messages about what could not be undone.
    fn end(self: Box<Self>) -> Vec<String> {
        Vec::new()
    }
}

/// Observation of a running trial.
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

/// Result of a trial.
#[derive(Debug)]
pub struct TrialReport {
    pub ending: Ending,
    pub wall: Duration,
    /// Why the place cannot run more trials, if so.
    pub halt: Option<PlaceError>,
}

impl TrialReport {
    /// The trial was interrupted before its guest started.
    const fn not_begun() -> Self {
        Self {
            wall: Duration::ZERO,
            ending: Ending::Interrupted,
            halt: None,
        }
    }
}
