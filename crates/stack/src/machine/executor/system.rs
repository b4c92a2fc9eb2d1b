//! The executor for the machine that it runs on.

use super::{Executor, Mount, Mounted};
use crate::machine::device::{self, BlockDevice};
use crate::machine::error::Cause;
use crate::machine::mount;
use crate::machine::sysfs;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::event::ToolCall;
use tools::{Invocation, Recorder, Tool, ToolError, Tools, Version};

/// This machine: a lab guest or the host.
pub struct System<'a> {
    tools: &'a mut Tools,
}

impl<'a> System<'a> {
    pub fn new(tools: &'a mut Tools) -> Self {
        Self { tools }
    }
}

impl Executor for System<'_> {
    fn ask(&mut self, call: &Invocation, recorder: &mut dyn Recorder) -> Result<ToolCall, ToolError> {
        self.tools.run(call, recorder)
    }

    fn run(&mut self, call: &Invocation, recorder: &mut dyn Recorder) -> Result<ToolCall, ToolError> {
        self.tools.run(call, recorder)
    }

    fn version(&mut self, tool: Tool, recorder: &mut dyn Recorder) -> Result<Version, ToolError> {
        self.tools.version(tool, recorder)
    }

    fn device(&mut self, path: &Path) -> Result<BlockDevice, Cause> {
        BlockDevice::at(path)
    }

    fn wait_for_device(&mut self, path: &Path, at_most: Duration) -> Result<BlockDevice, Cause> {
        device::wait_for_node(path, at_most)
    }

    fn must_be_free(&mut self, device: &BlockDevice) -> Result<(), Cause> {
        device.must_be_free()
    }

    fn exists(&mut self, path: &Path) -> bool {
        path.exists()
    }

    fn entries(&mut self, folder: &Path) -> Result<Vec<PathBuf>, Cause> {
        let entries = folder
            .read_dir()
            .map_err(Cause::system(format!("read {}", folder.display())))?;
        Ok(entries.flatten().map(|entry| entry.path()).collect())
    }

    fn read(&mut self, attribute: &Path) -> Result<String, Cause> {
        sysfs::read(attribute)
    }

    fn read_or_wait(&mut self, attribute: &Path, until: &str, at_most: Duration) -> Result<String, Cause> {
        sysfs::read_or_sleep(attribute, until, at_most)
    }

    fn write(&mut self, attribute: &Path, value: &str) -> Result<(), Cause> {
        sysfs::write(attribute, value)
    }

    fn make_folder(&mut self, path: &Path) -> Result<PathBuf, Cause> {
        let shown = path.display();
        fs::create_dir(path).map_err(Cause::system(format!("create {shown}")))?;
        // The kernel's mount table has no symbolic links.
        path.canonicalize().map_err(Cause::system(format!("find {shown}")))
    }

    fn remove_folder(&mut self, path: &Path) -> Result<(), Cause> {
        match fs::remove_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Cause::system(format!("remove {}", path.display()))(error))
            }
            _ => Ok(()),
        }
    }

    fn mount(&mut self, call: &Mount<'_>) -> Result<Mounted, Cause> {
        mount::mount(call)
    }

    fn unmount(&mut self, folder: &Path) -> Result<(), Cause> {
        mount::unmount(folder)
    }

    fn mounted(&mut self, folder: &Path) -> Result<Option<Mounted>, Cause> {
        mount::at(folder)
    }

    fn sleep(&mut self, time: Duration) {
        std::thread::sleep(time);
    }

    fn random(&mut self) -> Result<[u8; 16], Cause> {
        random()
    }
}

pub(crate) fn random() -> Result<[u8; 16], Cause> {
    let mut bytes = [0_u8; 16];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(Cause::errno("get random bytes"))?;
    Ok(bytes)
}
