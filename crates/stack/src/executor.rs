//! What a stack is built, used and taken down by: everything through which provisioning touches a machine.
//!
//! Bringing a stack up and taking it down is written once, against [`Executor`]. [`System`] really does it;
//! [`Simulated`] is a machine in memory that answers as a real one would, for the dry run; [`Listed`] keeps a list of
//! what another executor does; [`FailAt`] has one act of another executor fail, to prove that the rest is undone.

mod fail_at;
mod listed;
mod simulated;
mod system;

pub use fail_at::{FailAt, Moment};
pub use listed::{Command, Listed};
pub use simulated::{DryRunOn, Simulated};
pub use system::System;

use crate::device::BlockDevice;
use crate::error::Cause;
use crate::options::MountArguments;
use crate::sysfs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::event::ToolCall;
use tools::{Invocation, Recorder, Tool, ToolError, Version};

/// A machine, as provisioning sees it.
pub trait Executor {
    /// Runs a program that looks and changes nothing.
    fn ask(&mut self, call: &Invocation, recorder: &mut dyn Recorder) -> Result<ToolCall, ToolError>;

    /// Runs a program that changes the machine.
    fn run(&mut self, call: &Invocation, recorder: &mut dyn Recorder) -> Result<ToolCall, ToolError>;

    /// The version of a program, recorded as provenance.
    fn version(&mut self, tool: Tool, recorder: &mut dyn Recorder) -> Result<Version, ToolError>;

    /// The block device that a path leads to.
    fn device(&mut self, path: &Path) -> Result<BlockDevice, Cause>;

    /// The same, once the kernel has made its node.
    fn wait_for_device(&mut self, path: &Path, at_most: Duration) -> Result<BlockDevice, Cause>;

    /// Refuses a device that is mounted, used as swap, or part of an array or volume.
    fn must_be_free(&mut self, device: &BlockDevice) -> Result<(), Cause>;

    /// Whether there is anything at a path.
    fn exists(&mut self, path: &Path) -> bool;

    /// What is in a folder of /sys.
    fn entries(&mut self, folder: &Path) -> Result<Vec<PathBuf>, Cause>;

    /// An attribute in /sys or /proc, without the newline at its end.
    fn read(&mut self, attribute: &Path) -> Result<String, Cause>;

    /// Reads an attribute, and unless its value is `until`, sleeps until the kernel reports a change or the time is
    /// over. The value that was read is returned; callers ask again.
    fn read_or_wait(&mut self, attribute: &Path, until: &str, at_most: Duration) -> Result<String, Cause>;

    /// Sets an attribute.
    fn write(&mut self, attribute: &Path, value: &str) -> Result<(), Cause>;

    /// Creates a folder; its path without symbolic links.
    fn make_folder(&mut self, path: &Path) -> Result<PathBuf, Cause>;

    /// Removes an empty folder, if it is there.
    fn remove_folder(&mut self, path: &Path) -> Result<(), Cause>;

    /// mount(2), and what the kernel shows of it. A refusal comes with what the kernel logged.
    fn mount(&mut self, mount: &Mount<'_>) -> Result<Mounted, Cause>;

    /// umount(2). Never lazily: a filesystem that is still in use somewhere would go on writing unseen.
    fn unmount(&mut self, folder: &Path) -> Result<(), Cause>;

    /// What is mounted on a folder, topmost.
    fn mounted(&mut self, folder: &Path) -> Result<Option<Mounted>, Cause>;

    fn sleep(&mut self, time: Duration);

    /// Random bytes, for UUIDs.
    fn random(&mut self) -> Result<[u8; 16], Cause>;
}

/// The arguments of mount(2).
#[derive(Debug)]
pub struct Mount<'a> {
    /// A device, or several with colons between, or a pool.
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
