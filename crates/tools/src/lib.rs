//! The one place that starts external programs of a trial: mdadm, the mkfs family, fio.
//!
//! Programs are searched on a fixed path at the start; for missing ones the Debian package is reported. They are
//! called by argv and never through a shell, with a clean environment, no input and a time limit; output is
//! captured. Every call, including failed ones, is recorded completely in the [`Recorder`].
//!
//! What raidlab itself needs of this machine outside of a trial, such as make(1), it gets from [`host_program`].
//!
//! This crate does not know stacks or workloads: callers build an [`Invocation`] and interpret the result.
//!
//! Waiting always blocks in the kernel: in the lab's virtual time a clock read costs 256 ns, and a busy loop stops
//! the clock.

mod capture;
mod catalog;
mod error;
mod found_tools;
mod host_program;
mod invocation;
mod run;
mod supervise;
mod version;

pub use catalog::Tool;
pub use error::{MissingTool, MissingTools, ToolError};
pub use found_tools::{CARRIED, CARRIED_MOUNT, SEARCH_PATH, Tools};
pub use host_program::{has_host_program, host_program, search_path};
pub use invocation::{Invocation, shell_word};
pub use run::GUEST_ENVIRONMENT;
pub use supervise::{die_with, wait_for_programs};
pub use version::Version;

use study::event::Event;

/// Receives the events of a trial, in order.
///
/// It cannot fail: the implementation handles a full disk itself, so that no stage has to.
pub trait Recorder {
    fn record(&mut self, event: Event);
}

impl<F: FnMut(Event)> Recorder for F {
    fn record(&mut self, event: Event) {
        self(event);
    }
}
