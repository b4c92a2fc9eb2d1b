//! A machine in memory: it answers like a real one and records what was done to it. The same code as on a real
//! machine sets up and tears down a stack on it. Nothing is changed.
//!
//! It models only those effects of programs that provisioning relies on: a written UUID is read back, a created
//! array has a node, a resync ends when it is waited for.

mod programs;

use crate::around_test::snapshots::ZFS_ADMIN_SNAPSHOT;
use crate::machine::device::BlockDevice;
use crate::machine::error::Cause;
use crate::machine::executor::{Executor, Mount, Mounted, random};
use crate::machine::mount;
use crate::machine::sysfs;
use programs::Contents;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::event::ToolCall;
use tools::{Invocation, Recorder, Tool, ToolError, Tools, Version};

/// The kind of disks in a dry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DryRunOn {
    /// Disks of a lab guest.
    Guest,
    /// Files behind loop devices, not yet created.
    LoopFiles,
    /// Disks of this machine: their settings are read, as is everything else that the dry run does not create.
    ThisMachine,
}

/// A machine in memory.
pub struct SimulatedMachine<'a> {
    /// Called for their versions; if absent, every version is unknown.
    tools: Option<&'a mut Tools>,
    on: DryRunOn,
    write_cache: bool,
    state: State,
}

/// The changes that were not undone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// Its disks, by node.
    disks: BTreeSet<PathBuf>,
    attributes: BTreeMap<PathBuf, String>,
    folders: BTreeSet<PathBuf>,
    mounts: Vec<Mounted>,
    contents: Contents,
}

impl<'a> SimulatedMachine<'a> {
    /// A machine with these blank disks. `write_cache` is that of a guest's disks.
    pub fn new<'d>(
        on: DryRunOn,
        disks: impl Iterator<Item = &'d PathBuf>,
        write_cache: bool,
        tools: Option<&'a mut Tools>,
    ) -> Self {
        let disks = match on {
            DryRunOn::ThisMachine => BTreeSet::new(),
            DryRunOn::Guest | DryRunOn::LoopFiles => disks.cloned().collect(),
        };
        Self {
            tools,
            on,
            write_cache,
            state: State {
                contents: Contents::with_loop_devices(disks.iter().filter(|disk| is_loop(disk)).count()),
                disks,
                ..State::default()
            },
        }
    }

    #[cfg(test)]
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Whether unknown values are read from the real machine.
    fn looks(&self) -> bool {
        self.on == DryRunOn::ThisMachine
    }

    /// Whether it is a device of the simulated machine.
    fn has(&self, path: &Path) -> bool {
        self.state.disks.contains(path) || self.state.contents.has_node(path)
    }

    /// Its folder in /sys.
    fn folder_of(&self, path: &Path) -> PathBuf {
        let node = self.state.contents.mapped(path).unwrap_or_else(|| path.to_owned());
        Path::new("/sys/block").join(node.file_name().unwrap_or_default())
    }

    /// The default value of an attribute.
    fn default_of(&self, attribute: &Path) -> Option<String> {
        let text = attribute.to_str()?;
        if let Some(folder) = text.strip_suffix("/bdi/read_ahead_kb") {
            let is_there = self.state.contents.btrfs_folders().contains(&PathBuf::from(folder));
            return is_there.then(|| "4096".to_owned());
        }
        if let Some(value) = self.state.contents.of_bcache(attribute) {
            return Some(value);
        }
        if text == ZFS_ADMIN_SNAPSHOT {
            return Some("0".to_owned());
        }
        let device = Path::new("/dev").join(text.strip_prefix("/sys/block/")?.split('/').next()?);
        if !self.has(&device) {
            return None;
        }
        let is_array = self.state.contents.is_array(&device);
        let value = match text.splitn(5, '/').nth(4)? {
            "queue/scheduler" if is_array => "none",
            // Linux's default for disks with one hardware queue.
            "queue/scheduler" => "none [mq-deadline] kyber bfq",
            "queue/write_cache" if is_array || self.write_cache => "write back",
            "queue/write_cache" => "write through",
            "queue/read_ahead_kb" => "128",
            "queue/logical_block_size" => "512",
            "loop/dio" => "1",
            "size" => "2097152",
            "md/array_state" if is_array => "clean",
            "md/sync_action" if is_array => match self.state.contents.is_in_sync(&device) {
                true => "idle",
                false => "resync",
            },
            "md/resync_start" if is_array && self.state.contents.is_in_sync(&device) => "none",
            "md/resync_start" | "md/degraded" if is_array => "0",
            "md/sync_completed" if is_array => "none",
            "md/sync_speed_min" if is_array => "1000 (system)",
            "md/sync_speed_max" if is_array => "200000 (system)",
            "md/stripe_cache_size" if is_array => "256",
            "md/group_thread_cnt" | "md/skip_copy" if is_array => "0",
            "md/rmw_level" if is_array => "1",
            "md/journal_mode" if is_array => "[write-through] write-back ",
            other => return self.state.contents.made_by_mdadm(&device, other.strip_prefix("md/")?),
        };
        Some(value.to_owned())
    }
}

impl Executor for SimulatedMachine<'_> {
    fn ask(&mut self, call: &Invocation, _: &mut dyn Recorder) -> Result<ToolCall, ToolError> {
        self.state.contents.answer(call)
    }

    fn run(&mut self, call: &Invocation, _: &mut dyn Recorder) -> Result<ToolCall, ToolError> {
        self.state.mounts.extend(programs::mounted_by(call));
        let ended = self.state.contents.change(call);
        // Settings of a device end with it.
        let mut attributes = std::mem::take(&mut self.state.attributes);
        let is_simulated = |path: &Path| path.starts_with("/sys/block") || path.starts_with("/sys/fs/btrfs");
        attributes.retain(|path, _| !is_simulated(path) || self.default_of(path).is_some());
        self.state.attributes = attributes;
        ended
    }

    fn version(&mut self, tool: Tool, recorder: &mut dyn Recorder) -> Result<Version, ToolError> {
        match &mut self.tools {
            Some(tools) => tools.version(tool, recorder),
            None => Ok(Version::unknown()),
        }
    }

    fn device(&mut self, path: &Path) -> Result<BlockDevice, Cause> {
        if self.has(path) {
            return Ok(BlockDevice::simulated(path, &self.folder_of(path)));
        }
        match self.looks() {
            true => BlockDevice::at(path),
            false => Err(Cause::State(format!("{} is not there", path.display()))),
        }
    }

    fn wait_for_device(&mut self, path: &Path, _: Duration) -> Result<BlockDevice, Cause> {
        self.device(path)
    }

    fn must_be_free(&mut self, device: &BlockDevice) -> Result<(), Cause> {
        match self.has(&device.path) {
            true => Ok(()),
            false => device.must_be_free(),
        }
    }

    fn exists(&mut self, path: &Path) -> bool {
        let state = &self.state;
        let is_simulated = self.has(path)
            || state.folders.contains(path)
            || state.contents.is_group(path)
            || state.contents.is_of_btrfs(path)
            || self.default_of(path).is_some()
            || path
                .strip_prefix("/sys/block")
                .is_ok_and(|name| self.has(&Path::new("/dev").join(name)));
        is_simulated || (self.looks() && path.exists())
    }

    fn entries(&mut self, folder: &Path) -> Result<Vec<PathBuf>, Cause> {
        if folder == Path::new("/sys/fs/btrfs") {
            return Ok(self.state.contents.btrfs_folders());
        }
        // Its kernel has no threads.
        if folder == Path::new("/proc") {
            return Ok(Vec::new());
        }
        match self.looks() {
            true => {
                let entries = folder
                    .read_dir()
                    .map_err(Cause::system(format!("read {}", folder.display())))?;
                Ok(entries.flatten().map(|entry| entry.path()).collect())
            }
            false => Err(Cause::State(format!("{} is not there", folder.display()))),
        }
    }

    fn read(&mut self, attribute: &Path) -> Result<String, Cause> {
        if let Some(value) = self.state.attributes.get(attribute) {
            return Ok(value.clone());
        }
        match self.default_of(attribute) {
            Some(value) => Ok(value),
            None if self.looks() => sysfs::read(attribute),
            None => Err(Cause::State(format!("{} is not there", attribute.display()))),
        }
    }

    /// Waiting always succeeds at once.
    fn read_or_wait(&mut self, attribute: &Path, until: &str, _: Duration) -> Result<String, Cause> {
        let value = self.read(attribute)?;
        if value != until && attribute.ends_with("md/sync_action") {
            let kernel_name = attribute.iter().rev().nth(2).unwrap_or_default();
            self.state.contents.bring_in_sync(&Path::new("/dev").join(kernel_name));
        }
        Ok(value)
    }

    fn write(&mut self, attribute: &Path, value: &str) -> Result<(), Cause> {
        if self.state.contents.order_to_bcache(attribute) {
            return Ok(());
        }
        self.state.attributes.remove(attribute);
        let untouched = self.read(attribute)?;
        if let Some(shown) = shown(&untouched, value) {
            self.state.attributes.insert(attribute.to_owned(), shown);
        }
        Ok(())
    }

    fn make_folder(&mut self, path: &Path) -> Result<PathBuf, Cause> {
        self.state.folders.insert(path.to_owned());
        Ok(path.to_owned())
    }

    fn remove_folder(&mut self, path: &Path) -> Result<(), Cause> {
        self.state.folders.remove(path);
        Ok(())
    }

    fn mount(&mut self, call: &Mount<'_>) -> Result<Mounted, Cause> {
        let mounted = Mounted {
            source: call.source.to_owned(),
            mount_point: call.folder.to_owned(),
            kind: call.kind.to_owned(),
            options: call.arguments.words(),
        };
        self.state.mounts.push(mounted.clone());
        Ok(mounted)
    }

    fn unmount(&mut self, folder: &Path) -> Result<(), Cause> {
        self.state.mounts.retain(|mounted| mounted.mount_point != folder);
        Ok(())
    }

    fn mounted(&mut self, folder: &Path) -> Result<Option<Mounted>, Cause> {
        let found = self
            .state
            .mounts
            .iter()
            .rev()
            .find(|mounted| mounted.mount_point == folder);
        match (found, self.looks()) {
            (None, true) => mount::at(folder),
            (found, _) => Ok(found.cloned()),
        }
    }

    fn sleep(&mut self, _: Duration) {}

    fn random(&mut self) -> Result<[u8; 16], Cause> {
        random()
    }
}

fn is_loop(disk: &Path) -> bool {
    disk.to_string_lossy().starts_with("/dev/loop")
}

/// What an attribute shows after a value was written; `None` if it is unchanged.
fn shown(untouched: &str, value: &str) -> Option<String> {
    // A list of choices shows the selected one in brackets.
    if untouched == value || untouched.contains(&format!("[{value}]")) {
        return None;
    }
    // The speeds of md's resync show whether they are the system's.
    match untouched.strip_suffix(" (system)") {
        Some(_) if value == "system" => None,
        Some(_) => Some(format!("{value} (local)")),
        None => Some(value.to_owned()),
    }
}
