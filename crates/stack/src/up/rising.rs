//! The steps of setting up a stack, each recorded with its undo before it is done.

use super::{Stack, check, disks_used, external_disks, record, unused_spares, versions};
use crate::array::Array;
use crate::context::Context;
use crate::device::BlockDevice;
use crate::disks::Disks;
use crate::error::Cause;
use crate::executor::{Executor, read_number};
use crate::integrity::Checksummed;
use crate::ledger::Act;
use crate::undo::Undo;
use std::path::PathBuf;
use study::stack::{DATA, Level, StackSpec};

/// A stack that is being set up: what has been done so far, and the current step.
pub(super) struct Rising {
    pub(super) acts: Vec<Act>,
    pub(super) step: &'static str,
}

/// The device of the filesystem.
pub(super) struct Carrier {
    /// One, or all disks if the filesystem builds its own array.
    pub(super) devices: Vec<BlockDevice>,
    pub(super) array: Option<Array>,
    pub(super) inner: Vec<Array>,
    pub(super) checksummed: Vec<Checksummed>,
}

impl Carrier {
    pub(super) fn of_disks(devices: Vec<BlockDevice>) -> Self {
        Self {
            devices,
            array: None,
            inner: Vec::new(),
            checksummed: Vec::new(),
        }
    }
}

impl Rising {
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
        self.begin("check stack", context);
        check(spec, disks, context)?;
        let used = disks_used(&spec.array, disks.group(DATA));
        let all = [used, &external_disks(spec, disks)?].concat();
        let members = identify(&all, context.access.executor)?;
        let mkfs = versions(spec, context)?;
        self.queues(spec, &members, context)?;
        let carrier = self.carrier(spec, disks, &members[..used.len()], name, context)?;
        let device = carrier.devices[0].clone();
        let (mount_point, mounting) = match mkfs {
            Some(version) => self.filesystem(spec, &carrier, disks, &version, name, context)?,
            None => (None, None),
        };
        self.read_ahead(spec, &device, mount_point.as_deref(), context)?;
        record(&members, &device, context)?;
        Ok(Stack {
            block_device: device.path,
            mount_point,
            members,
            data_disks: used.len(),
            array: carrier.array,
            checksummed: carrier.checksummed,
            inner: carrier.inner,
            mounting,
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
        self.acts.push(Act { entry, undo });
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

    fn carrier(
        &mut self,
        spec: &StackSpec,
        disks: &Disks,
        members: &[BlockDevice],
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Carrier, Cause> {
        let paths: Vec<PathBuf> = members.iter().map(|member| member.path.clone()).collect();
        let array = &spec.array;
        match array.level {
            Level::Single => Ok(Carrier::of_disks(members[..1].to_vec())),
            Level::None => {
                let used = members.len() - unused_spares(spec, members.len());
                Ok(Carrier::of_disks(members[..used].to_vec()))
            }
            level if level.is_lvm() => {
                let volume = self.volume(array, &paths, name, context)?;
                Ok(Carrier::of_disks(vec![volume]))
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
