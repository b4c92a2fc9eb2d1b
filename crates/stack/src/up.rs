//! The way up, and the way down.

use crate::array::{self, Array, Creation};
use crate::context::{Context, Teardown};
use crate::device::{self, BlockDevice};
use crate::error::{Cause, FailedUndo, StackError, TeardownError};
use crate::ledger::Act;
use crate::undo::{self, Undo};
use crate::{filesystem, mount, options, queue, settle, sysfs};
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::stack::{FilesystemKind, Level, StackSpec};
use tools::{Invocation, Version};

/// A stack that is up.
#[derive(Debug)]
pub struct Stack {
    /// What carries the filesystem, or the work itself if there is none: the array, or the single disk.
    pub block_device: PathBuf,
    /// Where the filesystem is mounted; none on a raw device.
    pub mount_point: Option<PathBuf>,
    /// The disks, spares last.
    pub members: Vec<BlockDevice>,
    /// None on a single disk.
    pub array: Option<Array>,
    acts: Vec<Act>,
}

/// Builds a stack on the devices. When it fails, what had been done is undone, unless the machine ends anyway.
pub fn up(spec: &StackSpec, devices: &[PathBuf], context: &mut Context<'_>) -> Result<Stack, StackError> {
    let mut rising = Rising {
        spec,
        acts: Vec::new(),
        step: "",
    };
    match rising.all(devices, context) {
        Ok(parts) => Ok(Stack {
            acts: rising.acts,
            ..parts
        }),
        Err(cause) => {
            let failed_undo = take_back(rising.acts, context);
            Err(StackError {
                step: rising.step.to_owned(),
                cause,
                failed_undo,
            })
        }
    }
}

/// Unmounts the filesystem and mounts it again, in the same place, with the same options; `between` is done while it
/// is not mounted. The ledger's entry for the mount stays true throughout.
pub fn remount(
    stack: &Stack,
    spec: &StackSpec,
    context: &mut Context<'_>,
    between: impl FnOnce(&mut Context<'_>) -> Result<(), Cause>,
) -> Result<(), Cause> {
    let Some(folder) = &stack.mount_point else {
        return between(context);
    };
    let arguments = options::parse(&spec.mount_options, filesystem::journal_option(&spec.filesystem))?;
    // Unmounting writes out as well, but does not say what went wrong with it.
    settle::write_back(stack)?;
    mount::unmount(folder)?;
    let outcome = between(context);
    context.step("mount");
    mount::mount(
        &stack.block_device,
        folder,
        filesystem::kernel_name(spec.filesystem.kind),
        &arguments,
    )?;
    outcome
}

/// Takes a stack down, as the context says. What cannot be undone does not keep the rest from it, and stays in
/// the ledger.
pub fn down(stack: Stack, context: &mut Context<'_>) -> Result<(), TeardownError> {
    if context.teardown == Teardown::Full {
        context.step("tear down");
    }
    let failed_undo = take_back(stack.acts, context);
    if failed_undo.is_empty() {
        Ok(())
    } else {
        Err(TeardownError { failed_undo })
    }
}

fn take_back(acts: Vec<Act>, context: &mut Context<'_>) -> Vec<FailedUndo> {
    if context.teardown == Teardown::None {
        return Vec::new();
    }
    let undone = |act: Act| {
        let result = undo::undo(&act.undo, context.tools, context.recorder).and_then(|()| {
            context
                .ledger
                .undone(act.entry)
                .map_err(Cause::system("write the ledger"))
        });
        result.err().map(|cause| FailedUndo { undo: act.undo, cause })
    };
    acts.into_iter().rev().filter_map(undone).collect()
}

/// A stack on its way up: what has been done so far, and what is being done.
struct Rising<'s> {
    spec: &'s StackSpec,
    acts: Vec<Act>,
    step: &'static str,
}

impl Rising<'_> {
    fn all(&mut self, devices: &[PathBuf], context: &mut Context<'_>) -> Result<Stack, Cause> {
        self.begin("check stack", context);
        let spec = self.spec;
        check(spec, devices.len(), context)?;
        let members = identify(devices)?;
        let mkfs = versions(spec, context)?;
        if let Some(scheduler) = &spec.scheduler {
            self.begin("set scheduler", context);
            members
                .iter()
                .try_for_each(|member| self.scheduler(member, scheduler, context))?;
        }
        let array = match spec.array.level {
            Level::Single => None,
            _ => Some(self.array(devices, context)?),
        };
        let device = array.as_ref().map_or(&members[0], |array| &array.device).clone();
        let mount_point = self.filesystem(&device, array.as_ref(), mkfs.as_ref(), context)?;
        self.read_ahead(&device, mount_point.as_deref(), context)?;
        record(&members, &device, context)?;
        let block_device = device.path;
        Ok(Stack {
            block_device,
            mount_point,
            members,
            array,
            acts: Vec::new(),
        })
    }

    fn begin(&mut self, step: &'static str, context: &mut Context<'_>) {
        self.step = step;
        context.step(step);
    }

    /// Writes down how the act that follows will be undone.
    fn intend(&mut self, undo: Undo, context: &mut Context<'_>) -> Result<(), Cause> {
        let entry = context
            .ledger
            .intend(&undo)
            .map_err(Cause::system("write the ledger"))?;
        self.acts.push(Act { entry, undo });
        Ok(())
    }

    fn scheduler(&mut self, disk: &BlockDevice, wanted: &str, context: &mut Context<'_>) -> Result<(), Cause> {
        let former = queue::scheduler(disk)?;
        if former == wanted {
            return Ok(());
        }
        self.intend(
            Undo::Attribute {
                path: queue::scheduler_attribute(disk),
                value: former,
            },
            context,
        )?;
        queue::set_scheduler(disk, wanted)
    }

    fn array(&mut self, members: &[PathBuf], context: &mut Context<'_>) -> Result<Array, Cause> {
        self.begin("create array", context);
        let (node, uuid) = (array::free_node()?, array::new_uuid()?);
        let spec = &self.spec.array;
        let (name, zeroed) = (context.name, context.zeroed);
        let create = Creation {
            spec,
            node: &node,
            name,
            uuid: &uuid,
            members,
            zeroed,
        }
        .invocation()?;
        let undo = Undo::Array {
            node: node.clone(),
            uuid: uuid.clone(),
            members: members.to_vec(),
        };
        self.intend(undo, context)?;
        context.run(&create)?;
        let device = device::wait_for_node(&node, Duration::from_secs(10))?;
        let array = Array {
            device,
            uuid,
            redundant: array::is_redundant(spec.level),
        };
        if !array.is_idle()? {
            self.begin("wait for resync", context);
            array.wait_until_idle()?;
        }
        array.record(context);
        Ok(array)
    }

    fn filesystem(
        &mut self,
        device: &BlockDevice,
        array: Option<&Array>,
        mkfs: Option<&Version>,
        context: &mut Context<'_>,
    ) -> Result<Option<PathBuf>, Cause> {
        let Some(version) = mkfs else { return Ok(None) };
        let spec = &self.spec.filesystem;
        let Some(make) = filesystem::invocation(spec, &device.path, context.zeroed, version)? else {
            return Ok(None);
        };
        self.begin("mkfs", context);
        let array_uuid = array.map(|array| array.uuid.clone());
        let (make, uuid) = known_again(make, array, context)?;
        let undo = Undo::Filesystem {
            device: device.path.clone(),
            kind: spec.kind,
            array_uuid,
            uuid,
        };
        self.intend(undo, context)?;
        context.run(&make)?;
        self.mount(&device.path, context).map(Some)
    }

    fn mount(&mut self, device: &Path, context: &mut Context<'_>) -> Result<PathBuf, Cause> {
        self.begin("mount", context);
        let spec = &self.spec.filesystem;
        let arguments = options::parse(&self.spec.mount_options, filesystem::journal_option(spec))?;
        let folder = context.work_folder.join(context.name);
        if folder.exists() {
            return Err(Cause::State(format!("{} is there already", folder.display())));
        }
        self.intend(Undo::Folder { path: folder.clone() }, context)?;
        std::fs::create_dir(&folder).map_err(Cause::system(format!("create {}", folder.display())))?;
        // The kernel's table of mounts has no symbolic links.
        let folder = folder
            .canonicalize()
            .map_err(Cause::system(format!("find {}", folder.display())))?;
        self.intend(
            Undo::Mount {
                folder: folder.clone(),
                device: device.to_owned(),
            },
            context,
        )?;
        let mounted = mount::mount(device, &folder, filesystem::kernel_name(spec.kind), &arguments)?;
        context.provenance("mount.type", mounted.kind);
        context.provenance("mount.options", mounted.options);
        Ok(folder)
    }

    fn read_ahead(
        &mut self,
        device: &BlockDevice,
        mount_point: Option<&Path>,
        context: &mut Context<'_>,
    ) -> Result<(), Cause> {
        let Some(sectors) = self.spec.read_ahead_sectors else {
            return Ok(());
        };
        self.begin("set read-ahead", context);
        let attribute = queue::read_ahead_attribute(device);
        let value = sysfs::read(&attribute)?;
        self.intend(
            Undo::Attribute {
                path: attribute.clone(),
                value,
            },
            context,
        )?;
        queue::set_read_ahead(&attribute, sectors)?;
        if self.spec.filesystem.kind == FilesystemKind::Btrfs && mount_point.is_some() {
            // btrfs reads ahead by a setting of its own, which ends with the mount.
            queue::set_read_ahead(&queue::btrfs_read_ahead_attribute(device)?, sectors)?;
        }
        Ok(())
    }
}

/// On a disk that outlives the trial, a filesystem is made with a UUID that is in the ledger; on an array of ours it is
/// known by the array.
fn known_again(
    make: Invocation,
    array: Option<&Array>,
    context: &Context<'_>,
) -> Result<(Invocation, Option<String>), Cause> {
    if array.is_some() || context.teardown == Teardown::None {
        return Ok((make, None));
    }
    let uuid = array::new_filesystem_uuid()?;
    Ok(match filesystem::with_uuid(make.clone(), &uuid) {
        Some(make) => (make, Some(uuid)),
        None => (make, None),
    })
}

/// Everything that can be known to fail before anything is touched.
pub(crate) fn check(spec: &StackSpec, devices: usize, context: &Context<'_>) -> Result<(), Cause> {
    array::check(&spec.array, devices)?;
    filesystem::check(&spec.filesystem, &spec.mount_options)?;
    options::parse(&spec.mount_options, filesystem::journal_option(&spec.filesystem))?;
    if let Some(sectors) = spec.read_ahead_sectors {
        queue::kibibytes_of(sectors)?;
    }
    let name = context.name;
    let is_fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > 32 || !name.chars().all(is_fit) {
        return Err(Cause::Impossible(format!(
            "`{name}` cannot name a stack: a-z, 0-9 and - only, 32 at the most"
        )));
    }
    Ok(())
}

/// The devices, each there, free, and given once.
fn identify(devices: &[PathBuf]) -> Result<Vec<BlockDevice>, Cause> {
    let mut members: Vec<BlockDevice> = Vec::new();
    for path in devices {
        let member = BlockDevice::at(path)?;
        if let Some(same) = members.iter().find(|other| other.kernel_name == member.kernel_name) {
            let (one, two) = (same.path.display(), path.display());
            return Err(Cause::Impossible(format!(
                "{one} and {two} are the same device, {}",
                same.kernel_name
            )));
        }
        member.must_be_free()?;
        if member.size_bytes()? == 0 {
            return Err(Cause::Impossible(format!(
                "{} has no size: there is no disk in it",
                path.display()
            )));
        }
        members.push(member);
    }
    Ok(members)
}

/// Records the versions of the programs that will be used, and returns that of mkfs.
pub(crate) fn versions(spec: &StackSpec, context: &mut Context<'_>) -> Result<Option<Version>, Cause> {
    let mkfs = filesystem::mkfs_of(spec.filesystem.kind);
    let mut of_mkfs = None;
    for tool in filesystem::tools_needed(spec, context.teardown) {
        let version = context.tools.version(tool, context.recorder)?;
        if mkfs == Some(tool) {
            of_mkfs = Some(version);
        }
    }
    Ok(of_mkfs)
}

/// What the kernel shows of the queues, whether we set it or not.
fn record(members: &[BlockDevice], device: &BlockDevice, context: &mut Context<'_>) -> Result<(), Cause> {
    let mut schedulers = members.iter().map(queue::scheduler).collect::<Result<Vec<_>, _>>()?;
    schedulers.dedup();
    context.provenance("members.scheduler", schedulers.join(" "));
    let kibibytes = sysfs::read_number(&queue::read_ahead_attribute(device))?;
    context.provenance("read_ahead_sectors", (kibibytes * 2).to_string());
    Ok(())
}
