//! The one place that starts external programs: mdadm, the mkfs family, fio.
//!
//! A program is found at the start, on a fixed path, or its Debian package is named; it is called by argv and never
//! through a shell, with a clean environment, no input, a time limit, and its output captured. Every call goes to
//! the [`Recorder`] whole, also when it failed.
//!
//! Nothing here knows what a stack or a workload is: callers build an [`Invocation`] and judge what comes back.
//!
//! Waiting blocks in the kernel, always: in the lab's virtual time a clock read costs 256 ns, and a process that
//! spins stops the clock for good.

mod capture;
mod catalog;
mod error;
mod find;
mod invocation;
mod supervise;
mod version;

pub use catalog::Tool;
pub use error::{MissingTool, MissingTools, ToolError};
pub use find::{CARRIED, SEARCH_PATH, Tools};
pub use invocation::{Invocation, shell_word};
pub use version::Version;

use study::event::Event;

/// Where the events of a trial go, in the order in which they happen.
///
/// It cannot refuse: whoever keeps events deals with a full disk itself, so that no stage has to.
pub trait Recorder {
    fn record(&mut self, event: Event);
}

impl<F: FnMut(Event)> Recorder for F {
    fn record(&mut self, event: Event) {
        self(event);
    }
}
