//! What would be done for a stack, as commands; nothing is done.

use crate::context::Context;
use crate::error::Cause;
use crate::up::{check, versions};
use crate::{array, filesystem, options};
use std::path::{Path, PathBuf};
use study::stack::{Level, StackSpec};
use tools::{Invocation, Tool, shell_word};

/// The commands that build a stack, and those that take it down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rehearsal {
    /// Lines for a shell; what raidlab does by system calls is there as the command that would do the same.
    pub up: Vec<String>,
    pub down: Vec<String>,
    /// What the work would be done on: the mount point, or the device.
    pub place: PathBuf,
}

/// Says what [`crate::up`] and [`crate::down`] would do. Programs are asked for their versions, no more.
pub fn rehearse(spec: &StackSpec, devices: &[PathBuf], context: &mut Context<'_>) -> Result<Rehearsal, Cause> {
    check(spec, devices.len(), context)?;
    let mkfs = versions(spec, context)?;
    let mut plan = Rehearsal::default();
    for disk in devices {
        if let Some(scheduler) = &spec.scheduler {
            let queue = Path::new("/sys/block").join(disk.file_name().unwrap_or_default());
            plan.up.push(format!(
                "echo {} > {}/queue/scheduler",
                shell_word(scheduler),
                queue.display()
            ));
        }
    }
    let device = match spec.array.level {
        Level::Single => devices[0].clone(),
        _ => array(spec, devices, &mut plan, context)?,
    };
    plan.place.clone_from(&device);
    if let Some(version) = &mkfs
        && let Some(make) = filesystem::invocation(&spec.filesystem, &device, context.zeroed, version)?
    {
        plan.up.push(make.shell_line());
        mount(spec, &device, &mut plan, context)?;
    }
    if let Some(sectors) = spec.read_ahead_sectors {
        plan.up.push(format!(
            "blockdev --setra {sectors} {}",
            shell_word(&device.to_string_lossy())
        ));
    }
    Ok(plan)
}

fn array(
    spec: &StackSpec,
    devices: &[PathBuf],
    plan: &mut Rehearsal,
    context: &Context<'_>,
) -> Result<PathBuf, Cause> {
    let (node, uuid) = (array::free_node()?, array::new_uuid()?);
    let create = array::Creation {
        spec: &spec.array,
        node: &node,
        name: context.name,
        uuid: &uuid,
        members: devices,
        zeroed: context.zeroed,
    };
    plan.up.push(create.invocation()?.shell_line());
    if array::is_redundant(spec.array.level) && !context.zeroed {
        plan.up.push(format!("mdadm --wait {}", node.display()));
    }
    plan.down
        .push(Invocation::new(Tool::Mdadm).arg("--stop").arg(&node).shell_line());
    let clear = |disk: &PathBuf| {
        Invocation::new(Tool::Mdadm)
            .arg("--zero-superblock")
            .arg(disk)
            .shell_line()
    };
    plan.down.extend(devices.iter().map(clear));
    Ok(node)
}

fn mount(spec: &StackSpec, device: &Path, plan: &mut Rehearsal, context: &Context<'_>) -> Result<(), Cause> {
    let kind = filesystem::kernel_name(spec.filesystem.kind);
    let mut words = spec.mount_options.clone();
    words.extend(filesystem::journal_option(&spec.filesystem).map(str::to_owned));
    options::parse(&words, None)?;
    let folder = context.work_folder.join(context.name);
    let (device, shown) = (
        shell_word(&device.to_string_lossy()),
        shell_word(&folder.to_string_lossy()),
    );
    let with = match words.is_empty() {
        true => String::new(),
        false => format!(" -o {}", shell_word(&words.join(","))),
    };
    plan.up.push(format!("mkdir {shown}"));
    plan.up.push(format!("mount -t {kind}{with} {device} {shown}"));
    let types = filesystem::signatures(spec.filesystem.kind);
    let down = [
        format!("umount {shown}"),
        format!("rmdir {shown}"),
        format!("wipefs --all --quiet --types {types} {device}"),
    ];
    plan.down.splice(0..0, down);
    plan.place = folder;
    Ok(())
}
