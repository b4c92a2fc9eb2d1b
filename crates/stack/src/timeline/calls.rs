//! Programs called by acts: short ones, and those that run until a rebuild or check ends.

use super::events::Events;
use crate::machine::disk_check::{self, DiskCheck};
use crate::machine::error::Cause;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use study::event::{Event, ToolCall};
use tools::{Invocation, ToolError, Tools};

/// Rebuilding a disk takes long; the trial has its own time limit.
const LIMIT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Calls programs and records the calls.
pub(super) struct Calls<'a> {
    pub(super) tools: &'a Arc<Tools>,
    pub(super) events: &'a mut Events,
    pub(super) check: &'a mut dyn DiskCheck,
}

impl Calls<'_> {
    /// Checks devices before they are written to.
    pub(super) fn before_write<P: AsRef<Path>>(&mut self, devices: &[P]) -> Result<(), Cause> {
        disk_check::before_write(self.check, devices)
    }

    /// Reserves a device that was removed from its array.
    pub(super) fn hold(&mut self, device: &Path, array_uuid: Option<&str>) -> Result<(), Cause> {
        self.check.hold(device, array_uuid).map_err(Cause::Refused)
    }

    /// Runs a program that writes to these devices, after checking them again.
    pub(super) fn run<P: AsRef<Path>>(&mut self, call: &Invocation, devices: &[P]) -> Result<ToolCall, Cause> {
        self.before_write(devices)?;
        let events = &mut *self.events;
        Ok(self.tools.run(call, &mut |event| events.add(event))?)
    }

    /// A query that is made often: only failed calls are recorded.
    pub(super) fn ask(&mut self, call: &Invocation) -> Result<String, Cause> {
        let mut recorded = Vec::new();
        match self.tools.run(call, &mut |event| recorded.push(event)) {
            Ok(answer) => Ok(answer.stdout),
            Err(error) => {
                recorded.into_iter().for_each(|event| self.events.add(event));
                Err(error.into())
            }
        }
    }

    /// Starts a program that runs until the requested work has ended. It writes to these devices, which are checked
    /// again.
    pub(super) fn start<P: AsRef<Path>>(&mut self, call: Invocation, devices: &[P]) -> Result<Job, Cause> {
        self.before_write(devices)?;
        let tools = Arc::clone(self.tools);
        let call = call.limit(LIMIT);
        let thread = std::thread::Builder::new()
            .name("act".to_owned())
            .spawn(move || {
                let mut events = Vec::new();
                let outcome = tools.run(&call, &mut |event| events.push(event));
                (events, outcome)
            })
            .map_err(Cause::system("start a thread for an act"))?;
        Ok(Job(thread))
    }

    /// The result of a program; waits for it if necessary.
    pub(super) fn end(&mut self, job: Job) -> Result<ToolCall, Cause> {
        let ended = job.0.join();
        let (events, outcome) = ended.map_err(|_| Cause::State("the thread of an act panicked".to_owned()))?;
        events.into_iter().for_each(|event| self.events.add(event));
        Ok(outcome?)
    }
}

/// A running program.
pub(super) struct Job(JoinHandle<(Vec<Event>, Result<ToolCall, ToolError>)>);

impl Job {
    pub(super) fn has_ended(&self) -> bool {
        self.0.is_finished()
    }
}
