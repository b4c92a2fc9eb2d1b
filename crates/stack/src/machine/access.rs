//! Access of provisioning to the machine: the executor of its acts, the check before each write, and the recorder.

use crate::machine::disk_check::{self, DiskCheck};
use crate::machine::error::Cause;
use crate::machine::executor::Executor;
use std::path::Path;
use study::event::ToolCall;
use tools::{Invocation, Recorder, ToolError};

/// The executor of every act.
pub struct Access<'a> {
    pub executor: &'a mut dyn Executor,
    pub recorder: &'a mut dyn Recorder,
    pub check: &'a mut dyn DiskCheck,
}

impl Access<'_> {
    /// Runs a read-only program.
    pub fn ask(&mut self, call: &Invocation) -> Result<ToolCall, ToolError> {
        self.executor.ask(call, self.recorder)
    }

    /// Runs a program that writes to these devices, after checking them again.
    pub fn run<P: AsRef<Path>>(&mut self, call: &Invocation, devices: &[P]) -> Result<ToolCall, Cause> {
        self.before_write(devices)?;
        Ok(self.executor.run(call, self.recorder)?)
    }

    /// Checks devices before they are written to.
    pub fn before_write<P: AsRef<Path>>(&mut self, devices: &[P]) -> Result<(), Cause> {
        disk_check::before_write(self.check, devices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::executor::System;
    use study::event::Event;
    use tools::{Tool, Tools};

    /// Rejects one disk.
    struct NotThis(&'static str);

    impl DiskCheck for NotThis {
        fn before_write(&mut self, devices: &[&Path]) -> Result<(), String> {
            match devices.contains(&Path::new(self.0)) {
                true => Err(format!("{} is mounted", self.0)),
                false => Ok(()),
            }
        }
    }

    #[test]
    fn a_refused_disk_is_not_written_to() {
        let mut tools = Tools::find(&[Tool::Losetup]).expect("util-linux is installed");
        let (mut calls, before) = (0, Path::new("/dev/a"));
        let mut recorder = |event: Event| calls += u32::from(matches!(event, Event::Call(_)));
        let mut access = Access {
            executor: &mut System::new(&mut tools),
            recorder: &mut recorder,
            check: &mut NotThis("/dev/b"),
        };
        let call = Invocation::new(Tool::Losetup).arg("--version");
        let cause = access
            .run(&call, &[before, Path::new("/dev/b")])
            .expect_err("is refused");
        assert_eq!(cause.to_string(), "nothing was written: /dev/b is mounted");
        access.run(&call, &[before]).expect("is not refused");
        assert_eq!(calls, 1);
    }
}
