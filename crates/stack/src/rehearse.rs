//! What would be done for a stack, as commands; nothing is done.

use crate::array::{self, Creation};
use crate::context::Context;
use crate::disks::Disks;
use crate::error::Cause;
use crate::filesystem::{self, Making};
use crate::lvm::{self, Volume};
use crate::stripes;
use crate::up::{aside, check, disks_used, versions};
use crate::zfs;
use std::path::{Path, PathBuf};
use study::stack::{ArraySpec, BITMAP, Bitmap, DATA, FilesystemKind, JOURNAL, Level, SPECIAL, StackSpec};
use tools::{Invocation, Tool, Version, shell_word};

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
pub fn rehearse(spec: &StackSpec, disks: &Disks, context: &mut Context<'_>) -> Result<Rehearsal, Cause> {
    let mut plan = Plan::default();
    for group in &spec.beside {
        let of_group = Disks::data(disks.group(&group.group));
        let name = format!("{}-{}", context.name, group.group);
        plan.stack(&spec.stack_beside(group), &of_group, &name, context)?;
    }
    let name = context.name;
    let place = plan.stack(spec, disks, name, context)?;
    Ok(Rehearsal {
        up: plan.up,
        down: plan.down.into_iter().rev().flatten().collect(),
        place,
    })
}

#[derive(Default)]
struct Plan {
    up: Vec<String>,
    /// For each act the commands that take it back, as the acts are done.
    down: Vec<Vec<String>>,
    /// Nodes that arrays of this rehearsal have.
    nodes: usize,
}

impl Plan {
    fn call(&mut self, call: &Invocation) {
        self.up.push(call.shell_line());
    }

    fn stack(
        &mut self,
        spec: &StackSpec,
        disks: &Disks,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<PathBuf, Cause> {
        check(spec, disks, context)?;
        let mkfs = versions(spec, context)?;
        let members = disks_used(&spec.array, disks.group(DATA));
        self.queues(spec, &[members, &aside(spec, disks)?].concat(), context);
        let devices = match spec.array.level {
            Level::Single | Level::None => members.to_vec(),
            level if level.is_lvm() => vec![self.volume(&spec.array, members, name, context)],
            _ => vec![self.md(&spec.array, disks, members, name, context)?],
        };
        let mut place = devices[0].clone();
        if spec.filesystem.kind.is_pool() {
            place = self.pool(spec, disks, &devices, name, context)?;
        } else if let Some(version) = &mkfs {
            place = self.filesystem(spec, disks, (&devices, version), name, context)?;
        }
        if let Some(sectors) = spec.read_ahead_sectors {
            self.up
                .push(format!("blockdev --setra {sectors} {}", word(&devices[0])));
        }
        Ok(place)
    }

    fn queues(&mut self, spec: &StackSpec, disks: &[PathBuf], context: &Context<'_>) {
        for disk in disks {
            let queue = Path::new("/sys/block").join(disk.file_name().unwrap_or_default());
            let mut set = |value: &str, attribute: &str| {
                let attribute = word(&queue.join(attribute));
                self.up.push(format!("echo {} > {attribute}", shell_word(value)));
            };
            if let Some(scheduler) = &spec.scheduler {
                set(scheduler, "queue/scheduler");
            }
            if let Some(depth) = spec.queue_depth.filter(|_| !context.disks_are_set) {
                set(&depth.to_string(), "device/queue_depth");
            }
            if let Some(on) = spec.write_cache.filter(|_| !context.disks_are_set) {
                let value = if on { "write back" } else { "write through" };
                set(value, "device/scsi_disk/*/cache_type");
            }
        }
    }

    fn md(
        &mut self,
        spec: &ArraySpec,
        disks: &Disks,
        paths: &[PathBuf],
        name: &str,
        context: &Context<'_>,
    ) -> Result<PathBuf, Cause> {
        let bitmap_file = match spec.bitmap {
            Bitmap::External => Some(self.bitmap_file(disks.first(BITMAP)?, name, context)?),
            _ => None,
        };
        let mut members = paths.to_vec();
        if let (Some(of), Some(of_each)) = (spec.of, array::inner(spec)) {
            members = Vec::new();
            for (number, paths) in paths.chunks(of.disks as usize).enumerate() {
                let name = format!("{name}-{number}");
                members.push(self.array(&of_each, paths, &name, (None, None), context)?);
            }
        }
        let journal = spec.write_journal.then(|| disks.first(JOURNAL)).transpose()?;
        let outer = array::outer(spec);
        let node = self.array(&outer, &members, name, (journal, bitmap_file.as_deref()), context)?;
        if let Some(pages) = spec.stripe_cache_pages {
            let name = node.file_name().unwrap_or_default().display();
            self.up
                .push(format!("echo {pages} > /sys/block/{name}/md/stripe_cache_size"));
        }
        Ok(node)
    }

    fn array(
        &mut self,
        spec: &ArraySpec,
        members: &[PathBuf],
        name: &str,
        (journal, bitmap_file): (Option<&Path>, Option<&Path>),
        context: &Context<'_>,
    ) -> Result<PathBuf, Cause> {
        let (node, uuid) = (array::free_node_after(self.nodes)?, array::new_uuid()?);
        self.nodes += 1;
        let create = Creation {
            spec,
            node: &node,
            name,
            uuid: &uuid,
            members,
            journal,
            bitmap_file,
            zeroed: context.zeroed,
        };
        self.call(&create.invocation()?);
        if spec.level.is_redundant() && !context.zeroed {
            self.up.push(format!("mdadm --wait {}", node.display()));
        }
        let mdadm = |order: &str, of: &Path| Invocation::new(Tool::Mdadm).arg(order).arg(of).shell_line();
        let mut down = vec![mdadm("--stop", &node)];
        let cleared = members.iter().map(PathBuf::as_path).chain(journal);
        down.extend(cleared.map(|disk| mdadm("--zero-superblock", disk)));
        self.down.push(down);
        Ok(node)
    }

    fn bitmap_file(&mut self, disk: &Path, name: &str, context: &Context<'_>) -> Result<PathBuf, Cause> {
        self.call(&array::filesystem_of_bitmap(disk, &array::new_filesystem_uuid()?));
        self.wiped(&[disk.to_owned()], &filesystem::signatures(FilesystemKind::Ext2));
        let folder = self.mounted(
            &format!("mount -t ext2 {}", word(disk)),
            &format!("{name}-bitmap"),
            context,
        );
        Ok(folder.join("bitmap"))
    }

    fn volume(&mut self, spec: &ArraySpec, devices: &[PathBuf], name: &str, context: &Context<'_>) -> PathBuf {
        let group = lvm::group_of(name);
        let volume = Volume {
            spec,
            group: &group,
            devices,
            zeroed: context.zeroed,
        };
        self.call(&volume.create_group());
        self.call(&volume.create_volume());
        self.down
            .push(volume.removal().iter().map(Invocation::shell_line).collect());
        volume.device()
    }

    fn filesystem(
        &mut self,
        spec: &StackSpec,
        disks: &Disks,
        (devices, version): (&[PathBuf], &Version),
        name: &str,
        context: &Context<'_>,
    ) -> Result<PathBuf, Cause> {
        let of = &spec.filesystem;
        let journal = of.journal_on.as_deref().map(|group| disks.first(group)).transpose()?;
        let make = Making {
            spec: of,
            devices,
            journal,
            stripes: stripes::of(&spec.array, disks.group(DATA).len()),
            zeroed: context.zeroed,
            mkfs: version,
        };
        if let Some(device) = journal {
            let made = filesystem::journal_device(of, device);
            made.iter().for_each(|call| self.call(call));
            self.wiped(&[device.to_owned()], &filesystem::journal_signatures());
        }
        make.invocation()?.iter().for_each(|call| self.call(call));
        self.wiped(devices, &filesystem::signatures(of.kind));
        let mut words = spec.mount_options.clone();
        words.extend(filesystem::journal_option(of));
        words.extend(filesystem::own_options(of, devices, journal));
        let with = match words.is_empty() {
            true => String::new(),
            false => format!(" -o {}", shell_word(&words.join(","))),
        };
        let kind = of
            .kind
            .mounting
            .program
            .map_or(of.kind.mount_type(), |program| program.file);
        let source = word(&filesystem::mount_source(of.kind, devices));
        Ok(self.mounted(&format!("mount -t {kind}{with} {source}"), name, context))
    }

    fn pool(
        &mut self,
        spec: &StackSpec,
        disks: &Disks,
        devices: &[PathBuf],
        name: &str,
        context: &Context<'_>,
    ) -> Result<PathBuf, Cause> {
        let of = &spec.filesystem;
        let data = devices.iter().map(|device| self.partition(device));
        let data = data.collect::<Result<Vec<_>, _>>()?;
        let log = of.zfs.log.then(|| disks.first(JOURNAL)).transpose()?;
        let special = of.zfs.special.then(|| disks.first(SPECIAL)).transpose()?;
        let log = log.map(|disk| self.partition(disk)).transpose()?;
        let special = special.map(|disk| self.partition(disk)).transpose()?;
        let create = zfs::Creation {
            spec: of,
            name,
            data: &data,
            log: log.as_deref(),
            special: special.as_deref(),
        };
        self.call(&create.invocation());
        self.down.push(vec![format!("zpool destroy -f {}", shell_word(name))]);
        let with = match spec.mount_options.is_empty() {
            true => String::new(),
            false => format!(" -o {}", shell_word(&spec.mount_options.join(","))),
        };
        Ok(self.mounted(&format!("mount -t zfs{with} {}", shell_word(name)), name, context))
    }

    /// Of an array that is not there yet only the name is known.
    fn partition(&mut self, device: &Path) -> Result<PathBuf, Cause> {
        self.call(&zfs::partitioning(device, &array::new_filesystem_uuid()?));
        let kernel_name = device.file_name().unwrap_or_default().to_string_lossy();
        let partition = zfs::first_partition(&kernel_name);
        self.down.push(vec![
            format!("wipefs --all --quiet --types zfs_member {}", word(&partition)),
            format!("wipefs --all --quiet --types gpt,PMBR {}", word(device)),
        ]);
        Ok(partition)
    }

    fn mounted(&mut self, mount: &str, name: &str, context: &Context<'_>) -> PathBuf {
        let folder = context.work_folder.join(name);
        let shown = word(&folder);
        self.up.push(format!("mkdir {shown}"));
        self.up.push(format!("{mount} {shown}"));
        self.down
            .push(vec![format!("umount {shown}"), format!("rmdir {shown}")]);
        folder
    }

    fn wiped(&mut self, devices: &[PathBuf], types: &str) {
        let wipe = |device: &PathBuf| format!("wipefs --all --quiet --types {types} {}", word(device));
        self.down.push(devices.iter().map(wipe).collect());
    }
}

fn word(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}
