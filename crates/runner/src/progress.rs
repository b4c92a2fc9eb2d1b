//! Progress of a run, for display.

use std::time::Duration;
use store::Ending;
use study::plan::Trial;

/// A progress event. `id` is a trial's number in this run, from 1.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// The run starts: number of trials done before, and in total.
    Began {
        done: u64,
        all: u64,
        /// The trials' clocks are virtual.
        is_simulated: bool,
    },
    /// More trials are needed: the new total.
    Extended {
        all: u64,
    },
    /// A trial is not run: the result of the same cell in another run is reused.
    Known {
        trial: &'a Trial,
    },
    TrialBegan {
        id: usize,
        trial: &'a Trial,
    },
    /// A trial's next step, by its name.
    Step {
        id: usize,
        name: &'a str,
    },
    /// A heartbeat, ten times a second, with the trial's clock if that is virtual.
    Heartbeat {
        id: usize,
        virtual_time: Duration,
    },
    TrialEnded {
        id: usize,
        ending: &'a Ending,
    },
    /// A message for the user, one sentence.
    Notice(&'a str),
}
