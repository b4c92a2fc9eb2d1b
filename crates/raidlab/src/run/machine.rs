//! Where the trials of a session run.

use super::host::HostMachine;
use super::worker::{self, Laboratory, Report};
use crate::expected::ExpectedError;
use lab::guest::Pulse;
use std::sync::atomic::AtomicBool;
use study::event::Event;
use study::plan::Trial;

/// A lab, or this machine itself.
pub enum Machine {
    Lab(Laboratory),
    Host(HostMachine),
}

impl Machine {
    /// Runs a trial to its end; `event` sees what happens in it.
    pub fn run(
        &self,
        trial: &Trial,
        processor: Option<usize>,
        stop: &AtomicBool,
        event: &mut dyn FnMut(Event),
        tick: &mut dyn FnMut(Pulse),
    ) -> Result<Report, ExpectedError> {
        match self {
            Self::Lab(laboratory) => worker::run(laboratory, trial, processor, stop, event, tick),
            Self::Host(host) => host.run(trial, stop, event, &mut || tick(Pulse::default())),
        }
    }

    /// Whether its clock is virtual.
    pub fn is_simulated(&self) -> bool {
        matches!(self, Self::Lab(_))
    }

    /// Leaves the machine as it was found.
    pub fn end(self) {
        if let Self::Host(host) = self {
            host.end();
        }
    }
}
