//! Executors: every access of provisioning to a machine goes through one.
//!
//! Setting up and tearing down a stack is written once, against [`Executor`]. [`System`] acts on the real machine.
//! [`SimulatedMachine`](crate::SimulatedMachine) is a machine in memory that answers like a real one, for the dry run. [`Listed`]
//! lists the commands of another executor. [`FailAt`] makes one act of another executor fail, to prove that the rest
//! is undone.

mod fail_at;
mod listed;
mod system;

pub use fail_at::{FailAt, Moment};
pub use listed::{Command, Listed};
pub use system::System;
pub(crate) use system::random;

use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::mount_options::MountArguments;
use crate::machine::sysfs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::event::ToolCall;
use tools::{Invocation, Recorder, Tool, ToolError, Version};

/// Read-only methods of an executor that wraps another one, its field `inner`: they are passed on.
macro_rules! pass_on_what_only_looks {
    () => {
        fn ask(&mut self, call: &Invocation, recorder: &mut dyn Recorder) -> Result<ToolCall, ToolError> {
            self.inner.ask(call, recorder)
        }

        fn version(&mut self, tool: Tool, recorder: &mut dyn Recorder) -> Result<Version, ToolError> {
            self.inner.version(tool, recorder)
        }

        fn device(&mut self, path: &Path) -> Result<BlockDevice, Cause> {
            self.inner.device(path)
        }

        fn must_be_free(&mut self, device: &BlockDevice) -> Result<(), Cause> {
            self.inner.must_be_free(device)
        }

        fn exists(&mut self, path: &Path) -> bool {
            self.inner.exists(path)
        }

        fn entries(&mut self, folder: &Path) -> Result<Vec<PathBuf>, Cause> {
            self.inner.entries(folder)
        }

        fn read(&mut self, attribute: &Path) -> Result<String, Cause> {
            self.inner.read(attribute)
        }

        fn mounted(&mut self, folder: &Path) -> Result<Option<Mounted>, Cause> {
            self.inner.mounted(folder)
        }

        fn sleep(&mut self, time: Duration) {
            self.inner.sleep(time);
        }

        fn random(&mut self) -> Result<[u8; 16], Cause> {
            self.inner.random()
        }
    };
}
pub(crate) use pass_on_what_only_looks;

/// A machine, as provisioning sees it.
pub trait Executor {
    /// Runs a read-only program.
    fn ask(&mut self, call: &Invocation, recorder: &mut dyn Recorder) -> Result<ToolCall, ToolError>;

    /// Runs a program that changes the machine.
    fn run(&mut self, call: &Invocation, recorder: &mut dyn Recorder) -> Result<ToolCall, ToolError>;

    /// The version of a program, recorded as provenance.
    fn version(&mut self, tool: Tool, recorder: &mut dyn Recorder) -> Result<Version, ToolError>;

    /// The block device at a path.
    fn device(&mut self, path: &Path) -> Result<BlockDevice, Cause>;

    /// The same, after waiting for its node.
    fn wait_for_device(&mut self, path: &Path, at_most: Duration) -> Result<BlockDevice, Cause>;

    /// Rejects a device that is mounted, used as swap, or part of an array or volume.
    fn must_be_free(&mut self, device: &BlockDevice) -> Result<(), Cause>;

    /// Whether a path exists.
    fn exists(&mut self, path: &Path) -> bool;

    /// The entries of a folder in /sys.
    fn entries(&mut self, folder: &Path) -> Result<Vec<PathBuf>, Cause>;

    /// An attribute in /sys or /proc, without the newline at its end.
    fn read(&mut self, attribute: &Path) -> Result<String, Cause>;

    /// Reads an attribute and, unless its value is `until`, sleeps until the kernel reports a change or the time is
    /// over. Returns the value that was read; callers read again.
    fn read_or_wait(&mut self, attribute: &Path, until: &str, at_most: Duration) -> Result<String, Cause>;

    /// Sets an attribute.
    fn write(&mut self, attribute: &Path, value: &str) -> Result<(), Cause>;

    /// Creates a folder; returns its path without symbolic links.
    fn make_folder(&mut self, path: &Path) -> Result<PathBuf, Cause>;

    /// Removes an empty folder, if it exists.
    fn remove_folder(&mut self, path: &Path) -> Result<(), Cause>;

    /// mount(2); returns the mount as the kernel shows it. An error includes the kernel's log messages.
    fn mount(&mut self, mount: &Mount<'_>) -> Result<Mounted, Cause>;

    /// umount(2). Never lazily: a filesystem in use would continue to write unnoticed.
    fn unmount(&mut self, folder: &Path) -> Result<(), Cause>;

    /// The topmost mount on a folder.
    fn mounted(&mut self, folder: &Path) -> Result<Option<Mounted>, Cause>;

    fn sleep(&mut self, time: Duration);

    /// Random bytes, for UUIDs.
    fn random(&mut self) -> Result<[u8; 16], Cause>;
}

/// The arguments of mount(2).
#[derive(Debug)]
pub struct Mount<'a> {
    /// A device, several separated by colons, or a pool.
    pub source: &'a Path,
    pub folder: &'a Path,
    /// The kernel's name of the filesystem.
    pub kind: &'a str,
    pub arguments: &'a MountArguments,
}

/// A line of /proc/self/mounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mounted {
    pub source: PathBuf,
    pub mount_point: PathBuf,
    pub kind: String,
    pub options: String,
}

/// An attribute whose value is a number.
pub(crate) fn read_number(executor: &mut dyn Executor, attribute: &Path) -> Result<u64, Cause> {
    sysfs::number(attribute, &executor.read(attribute)?)
}
