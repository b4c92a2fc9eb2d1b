//! An executor that makes one act fail: everything before it must be undone, whichever act it is.

use super::{Executor, Mount, Mounted};
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::event::ToolCall;
use tools::{Invocation, Recorder, Tool, ToolError, Version};

/// When the act fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before it is done.
    Before,
    /// After it was done.
    After,
}

/// Passes everything to another executor, except for one act. Reads never fail.
pub struct FailAt<'a> {
    inner: &'a mut dyn Executor,
    acts_left: u32,
    moment: Moment,
    failed: Option<String>,
}

impl<'a> FailAt<'a> {
    /// Makes the act with this number fail, counted from 1; later acts succeed.
    pub fn new(inner: &'a mut dyn Executor, act: u32, moment: Moment) -> Self {
        Self {
            inner,
            acts_left: act,
            moment,
            failed: None,
        }
    }

    /// The failed act, if any.
    pub fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// Counts an act; returns whether it is the one to fail.
    fn is_it(&mut self, what: impl FnOnce() -> String) -> bool {
        if self.acts_left == 0 {
            return false;
        }
        self.acts_left -= 1;
        let is_it = self.acts_left == 0;
        if is_it {
            self.failed = Some(what());
        }
        is_it
    }

    fn act<T>(
        &mut self,
        what: impl FnOnce() -> String,
        act: impl FnOnce(&mut dyn Executor) -> Result<T, Cause>,
    ) -> Result<T, Cause> {
        let is_it = self.is_it(what);
        if is_it && self.moment == Moment::Before {
            return Err(on_purpose());
        }
        let done = act(self.inner)?;
        match is_it {
            true => Err(on_purpose()),
            false => Ok(done),
        }
    }
}

fn on_purpose() -> Cause {
    Cause::State("failed on purpose".to_owned())
}

impl Executor for FailAt<'_> {
    super::pass_on_what_only_looks!();

    fn run(&mut self, call: &Invocation, recorder: &mut dyn Recorder) -> Result<ToolCall, ToolError> {
        let is_it = self.is_it(|| call.to_string());
        let done = match is_it && self.moment == Moment::Before {
            true => ToolCall {
                argv: call.argv(),
                exit: None,
                stdout: String::new(),
                stderr: String::new(),
                duration_ns: 0,
            },
            false => self.inner.run(call, recorder)?,
        };
        if !is_it {
            return Ok(done);
        }
        Err(ToolError::Exit {
            call: Box::new(ToolCall {
                exit: Some(1),
                stderr: "failed on purpose".to_owned(),
                ..done
            }),
            status: 1,
        })
    }

    fn wait_for_device(&mut self, path: &Path, at_most: Duration) -> Result<BlockDevice, Cause> {
        self.act(
            || format!("wait for {}", path.display()),
            |inner| inner.wait_for_device(path, at_most),
        )
    }

    fn read_or_wait(&mut self, attribute: &Path, until: &str, at_most: Duration) -> Result<String, Cause> {
        self.inner.read_or_wait(attribute, until, at_most)
    }

    fn write(&mut self, attribute: &Path, value: &str) -> Result<(), Cause> {
        self.act(
            || format!("set {} to {value}", attribute.display()),
            |inner| inner.write(attribute, value),
        )
    }

    fn make_folder(&mut self, path: &Path) -> Result<PathBuf, Cause> {
        self.act(|| format!("make {}", path.display()), |inner| inner.make_folder(path))
    }

    fn remove_folder(&mut self, path: &Path) -> Result<(), Cause> {
        self.act(
            || format!("remove {}", path.display()),
            |inner| inner.remove_folder(path),
        )
    }

    fn mount(&mut self, mount: &Mount<'_>) -> Result<Mounted, Cause> {
        self.act(
            || format!("mount {}", mount.folder.display()),
            |inner| inner.mount(mount),
        )
    }

    fn unmount(&mut self, folder: &Path) -> Result<(), Cause> {
        self.act(
            || format!("unmount {}", folder.display()),
            |inner| inner.unmount(folder),
        )
    }
}
