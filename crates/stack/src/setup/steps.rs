//! The steps of setting up a stack, each recorded with its undo before it is done.

use super::alignment::judge_alignment;
use super::checks::{check, disks_used, external_disks, unused_spares, versions};
use super::stack::Stack;
use crate::array::integrity::Checksummed;
use crate::array::lvm_volume::LogicalVolume;
use crate::array::md::Array;
use crate::filesystem::image;
use crate::machine::context::Context;
use crate::machine::device::BlockDevice;
use crate::machine::disks::Disks;
use crate::machine::error::Cause;
use crate::machine::executor::{Executor, read_number};
use crate::machine::ledger::LedgerEntry;
use crate::machine::request_queue;
use crate::machine::undo::Undo;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::stack::{Level, StackSpec};

/// A stack that is being set up: what has been done so far, and the current step.
pub(super) struct Setup {
    pub(super) acts: Vec<LedgerEntry>,
    pub(super) step: &'static str,
    /// Whether the devices on which the next part is made are all zeros.
    pub(super) zeroed: bool,
    /// The volume on the array.
    pub(super) volume: Option<LogicalVolume>,
}

/// The device of the filesystem.
pub(super) struct BaseDevice {
    /// One, or all disks if the filesystem builds its own array.
    pub(super) devices: Vec<BlockDevice>,
    pub(super) array: Option<Array>,
    pub(super) inner: Vec<Array>,
    pub(super) checksummed: Vec<Checksummed>,
}

impl BaseDevice {
    /// The array, if it is the device of the filesystem: no layer is between them.
    pub(super) fn array_of_device(&self) -> Option<&Array> {
        let array = self.array.as_ref()?;
        self.devices
            .iter()
            .any(|device| device.path == array.device.path)
            .then_some(array)
    }

    pub(super) fn of_disks(devices: Vec<BlockDevice>) -> Self {
        Self {
            devices,
            array: None,
            inner: Vec::new(),
            checksummed: Vec::new(),
        }
    }
}

impl Setup {
    pub(super) fn all(
        &mut self,
        spec: &StackSpec,
        disks: &Disks,
        context: &mut Context<'_>,
    ) -> Result<Stack, Cause> {
        let mut group_mounts = Vec::new();
        for group in &spec.group_stacks {
            let name = format!("{}-{}", context.setting.name, group.group);
            let of_group = Disks::data(disks.group(&group.group));
            let stack = self.one(&spec.stack_of_group(group), &of_group, &name, context)?;
            if let Some(folder) = stack.mount_point {
                group_mounts.push((group.group.clone(), folder));
            }
        }
        let name = context.setting.name;
        let stack = self.one(spec, disks, name, context)?;
        Ok(Stack { group_mounts, ..stack })
    }

    fn one(
        &mut self,
        spec: &StackSpec,
        disks: &Disks,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Stack, Cause> {
        let Some((image, under)) = spec.image.as_ref().zip(spec.under_image()) else {
            return self.on_disks(spec, disks, (name, name), context);
        };
        let host = image::name_of(name);
        let below = self.on_disks(&under, disks, (name, &host), context)?;
        self.in_image((spec, image), below, name, context)
    }

    /// A stack without an image. Its layers have the stack's name; `folder` is that of the mount.
    fn on_disks(
        &mut self,
        spec: &StackSpec,
        disks: &Disks,
        (name, folder): (&str, &str),
        context: &mut Context<'_>,
    ) -> Result<Stack, Cause> {
        self.begin("check stack", context);
        check(spec, disks, context)?;
        self.zeroed = context.setting.zeroed;
        let under_test = disks.members(&spec.array);
        let used = disks_used(&spec.array, &under_test);
        let all = [used, &external_disks(spec, disks)?].concat();
        let members = identify(&all, context.access.executor)?;
        let mkfs = versions(spec, context)?;
        self.queues(spec, &members, context)?;
        let mut below = Vec::new();
        for (number, disk) in members[..used.len()].iter().enumerate() {
            let layers = self.layers(spec, disk, (name, Some(number), disks), context)?;
            below.push(layers.last().unwrap_or(disk).clone());
        }
        let mut base = self.base(spec, disks, &below, name, context)?;
        let mut layers = Vec::new();
        if let [array] = base.devices.as_mut_slice() {
            layers = self.layers(spec, array, (name, None, disks), context)?;
            if let Some(top) = layers.last() {
                top.clone_into(array);
            }
        }
        let device = base.devices[0].clone();
        let (mount_point, mounting) = match mkfs {
            Some(version) => self.filesystem(spec, &base, disks, &version, folder, context)?,
            None => (None, None),
        };
        self.read_ahead(spec, &device, mount_point.as_deref(), context)?;
        record(spec, &members, &device, context)?;
        Ok(Stack {
            block_device: device.path,
            mount_point,
            members,
            data_disks: used.len(),
            below,
            layers,
            array: base.array,
            checksummed: base.checksummed,
            inner: base.inner,
            volume: self.volume.take(),
            mounting,
            image: None,
            group_mounts: Vec::new(),
            acts: Vec::new(),
        })
    }

    pub(super) fn begin(&mut self, step: &'static str, context: &mut Context<'_>) {
        self.step = step;
        context.step(step);
    }

    /// Records the undo of the following act.
    pub(super) fn intend(&mut self, undo: Undo, context: &mut Context<'_>) -> Result<(), Cause> {
        let entry = context
            .ledger
            .intend(&undo)
            .map_err(Cause::system("write the ledger"))?;
        self.acts.push(LedgerEntry { entry, undo });
        Ok(())
    }

    /// Has the ledger identify what the acts from this one on have made.
    pub(super) fn made(&self, from: usize, context: &mut Context<'_>) -> Result<(), Cause> {
        for act in &self.acts[from..] {
            context
                .ledger
                .made(act.entry, &act.undo)
                .map_err(Cause::system("write the ledger"))?;
        }
        Ok(())
    }

    fn base(
        &mut self,
        spec: &StackSpec,
        disks: &Disks,
        members: &[BlockDevice],
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<BaseDevice, Cause> {
        let paths: Vec<PathBuf> = members.iter().map(|member| member.path.clone()).collect();
        let array = &spec.array;
        match array.level {
            Level::Single => Ok(BaseDevice::of_disks(members[..1].to_vec())),
            Level::None => {
                let used = members.len() - unused_spares(spec, members.len());
                Ok(BaseDevice::of_disks(members[..used].to_vec()))
            }
            level if level.is_lvm() => {
                let volume = self.volume(array, &paths, name, context)?;
                Ok(BaseDevice::of_disks(vec![volume]))
            }
            _ => self.md(array, disks, members, name, context),
        }
    }
}

/// Checks that each device exists, is free, and is given only once.
fn identify(devices: &[PathBuf], executor: &mut dyn Executor) -> Result<Vec<BlockDevice>, Cause> {
    let mut members: Vec<BlockDevice> = Vec::new();
    for path in devices {
        let member = executor.device(path)?;
        if let Some(same) = members.iter().find(|other| other.kernel_name == member.kernel_name) {
            let (one, two) = (same.path.display(), path.display());
            return Err(Cause::Impossible(format!(
                "{one} and {two} are the same device, {}",
                same.kernel_name
            )));
        }
        executor.must_be_free(&member)?;
        if read_number(executor, &member.sysfs.join("size"))? == 0 {
            return Err(Cause::Impossible(format!(
                "{} has size 0: it has no medium",
                path.display()
            )));
        }
        members.push(member);
    }
    Ok(members)
}

/// The settings of the queues as the kernel reports them.
fn record(
    spec: &StackSpec,
    members: &[BlockDevice],
    device: &BlockDevice,
    context: &mut Context<'_>,
) -> Result<(), Cause> {
    let executor = &mut *context.access.executor;
    let schedulers = members.iter().map(|disk| request_queue::scheduler(disk, executor));
    let mut schedulers = schedulers.collect::<Result<Vec<_>, _>>()?;
    schedulers.dedup();
    context.provenance("members.scheduler", schedulers.join(" "));
    let executor = &mut *context.access.executor;
    let caches = members.iter().map(|disk| request_queue::write_cache(disk, executor));
    let mut caches = caches.collect::<Result<Vec<_>, _>>()?;
    caches.dedup();
    let words: Vec<&str> = caches.iter().map(|on| if *on { "on" } else { "off" }).collect();
    context.provenance("members.write_cache", words.join(" "));
    let kibibytes = read_number(context.access.executor, &request_queue::read_ahead_attribute(device))?;
    context.provenance("read_ahead_sectors", (kibibytes * 2).to_string());
    judge_alignment(spec, members, device, context);
    Ok(())
}

/// Waits for the node of a new device.
pub(super) fn wait_for(node: &Path, context: &mut Context<'_>) -> Result<BlockDevice, Cause> {
    context.access.executor.wait_for_device(node, Duration::from_secs(10))
}
