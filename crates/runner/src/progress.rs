//! What goes on in a run, for whoever shows it.

use std::time::Duration;
use store::Ending;
use study::plan::Trial;

/// One thing that happened. `id` is a trial's number in this run, from 1.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// The run begins: so many trials were done before, of so many in all.
    Began {
        done: u64,
        all: u64,
        /// The trials' clocks are virtual.
        is_simulated: bool,
    },
    /// More trials turned out to be needed: so many in all.
    Extended {
        all: u64,
    },
    /// A trial need not be run: another run's result of the same cell is this one's too.
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
    /// A sign of life, ten times a second: the trial's own clock, where that is virtual.
    Heartbeat {
        id: usize,
        virtual_time: Duration,
    },
    TrialEnded {
        id: usize,
        ending: &'a Ending,
    },
    /// Something that a person should know, in a sentence.
    Notice(&'a str),
}
