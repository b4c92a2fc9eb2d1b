//! An executor that lists the commands of another one.

use super::{Executor, Mount, Mounted};
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::event::ToolCall;
use tools::{Invocation, Recorder, Tool, ToolError, Version, shell_word};

/// An act that changes the machine, displayed as a shell command: an act that raidlab does by system calls is shown
/// as the equivalent command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Program(Invocation),
    Attribute {
        path: PathBuf,
        value: String,
    },
    /// Waits for a value of an attribute in /sys.
    Wait {
        path: PathBuf,
        until: String,
    },
    MakeFolder(PathBuf),
    RemoveFolder(PathBuf),
    Mount {
        source: PathBuf,
        folder: PathBuf,
        kind: String,
        /// Comma-separated; empty for the defaults.
        options: String,
    },
    Unmount(PathBuf),
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(call) => f.write_str(&call.shell_line()),
            Self::Attribute { path, value } => write!(f, "echo {} > {}", shell_word(value), word(path)),
            Self::Wait { path, until } => write!(f, "# wait until {} is `{until}`", path.display()),
            Self::MakeFolder(path) => write!(f, "mkdir {}", word(path)),
            Self::RemoveFolder(path) => write!(f, "rmdir {}", word(path)),
            Self::Mount {
                source,
                folder,
                kind,
                options,
            } => {
                write!(f, "mount -t {kind} ")?;
                if !options.is_empty() {
                    write!(f, "-o {} ", shell_word(options))?;
                }
                write!(f, "{} {}", word(source), word(folder))
            }
            Self::Unmount(folder) => write!(f, "umount {}", word(folder)),
        }
    }
}

fn word(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}

/// Passes everything to another executor, and lists every act that changes the machine, including failed ones.
pub struct Listed<'a> {
    inner: &'a mut dyn Executor,
    commands: Vec<Command>,
}

impl<'a> Listed<'a> {
    pub fn new(inner: &'a mut dyn Executor) -> Self {
        Self {
            inner,
            commands: Vec::new(),
        }
    }

    /// The acts since the last call.
    pub fn take(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }
}

impl Executor for Listed<'_> {
    super::pass_on_what_only_looks!();

    fn run(&mut self, call: &Invocation, recorder: &mut dyn Recorder) -> Result<ToolCall, ToolError> {
        self.commands.push(Command::Program(call.clone()));
        self.inner.run(call, recorder)
    }

    fn wait_for_device(&mut self, path: &Path, at_most: Duration) -> Result<BlockDevice, Cause> {
        self.inner.wait_for_device(path, at_most)
    }

    /// Listed only once.
    fn read_or_wait(&mut self, attribute: &Path, until: &str, at_most: Duration) -> Result<String, Cause> {
        let wait = Command::Wait {
            path: attribute.to_owned(),
            until: until.to_owned(),
        };
        if self.commands.last() != Some(&wait) {
            self.commands.push(wait);
        }
        self.inner.read_or_wait(attribute, until, at_most)
    }

    fn write(&mut self, attribute: &Path, value: &str) -> Result<(), Cause> {
        self.commands.push(Command::Attribute {
            path: attribute.to_owned(),
            value: value.to_owned(),
        });
        self.inner.write(attribute, value)
    }

    fn make_folder(&mut self, path: &Path) -> Result<PathBuf, Cause> {
        self.commands.push(Command::MakeFolder(path.to_owned()));
        self.inner.make_folder(path)
    }

    fn remove_folder(&mut self, path: &Path) -> Result<(), Cause> {
        self.commands.push(Command::RemoveFolder(path.to_owned()));
        self.inner.remove_folder(path)
    }

    fn mount(&mut self, mount: &Mount<'_>) -> Result<Mounted, Cause> {
        self.commands.push(Command::Mount {
            source: mount.source.to_owned(),
            folder: mount.folder.to_owned(),
            kind: mount.kind.to_owned(),
            options: mount.arguments.words(),
        });
        self.inner.mount(mount)
    }

    fn unmount(&mut self, folder: &Path) -> Result<(), Cause> {
        self.commands.push(Command::Unmount(folder.to_owned()));
        self.inner.unmount(folder)
    }
}
