//! Restarts a stack on disks after a power cut: assembled, mounted and checked, but never recreated.

mod pool;

use crate::array::lvm;
use crate::array::lvm_cache::{self, CachedVolume};
use crate::array::lvm_volume::{self, LogicalVolume};
use crate::array::md::{self, Array};
use crate::array::zfs::{Pool, ZPOOL};
use crate::array::{bcache, luks, partition_table};
use crate::filesystem;
use crate::filesystem::image::{self, StoredImage};
use crate::filesystem::mounting::Mounting;
use crate::machine::context::Context;
use crate::machine::device_mapper;
use crate::machine::disks::Disks;
use crate::machine::error::Cause;
use crate::machine::page_cache;
use crate::machine::sysfs;
use filesystems::Checker;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::stack::{CACHE, CacheKind, JOURNAL, Layer, Level, StackSpec};
use tools::{Invocation, Tool, ToolError};

/// One md array or a single disk, or the disks of a filesystem that uses several, and the filesystem on it; or a
/// pool.
pub struct Recovered {
    array: Option<Array>,
    /// Members that were not removed.
    members: Vec<PathBuf>,
    mounting: Mounting,
    folder: PathBuf,
    /// The image that carries the filesystem, attached while it is mounted or checked.
    image: Option<StoredImage>,
}

/// How a stack is restarted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Restart {
    /// The member that is removed first.
    pub missing: Option<usize>,
    /// The cut happened during acts, so members may be missing, added or being reshaped.
    pub amid_acts: bool,
}

/// Assembles the array; by force if it does not start and a member may be missing; during acts also if it is dirty
/// and degraded.
pub fn recover(
    spec: &StackSpec,
    disks: &Disks,
    restart: Restart,
    context: &mut Context<'_>,
) -> Result<Recovered, Cause> {
    let Some((image, under)) = spec.image.as_ref().zip(spec.under_image()) else {
        let name = context.setting.name;
        return on_disks(spec, name, (disks, restart), context);
    };
    let name = context.setting.name;
    let below = on_disks(&under, &image::name_of(name), (disks, restart), context)?;
    let image = StoredImage {
        image: image.clone(),
        mounting: below.mounting,
        folder: below.folder,
    };
    Ok(Recovered {
        mounting: Mounting::of(spec, vec![image.node_in_guest()], None)?,
        folder: context.setting.work_folder.join(name),
        image: Some(image),
        ..below
    })
}

/// A stack without an image; `name` is that of its folder, and of its pool.
fn on_disks(
    spec: &StackSpec,
    name: &str,
    (disks, restart): (&Disks, Restart),
    context: &mut Context<'_>,
) -> Result<Recovered, Cause> {
    let folder = context.setting.work_folder.join(name);
    if spec.filesystem.kind.is_pool() {
        return Ok(Recovered {
            array: None,
            members: Vec::new(),
            mounting: pool::found(spec, name, (disks, restart), context)?,
            folder,
            image: None,
        });
    }
    let missing = restart.missing;
    let mut members = disks.members(&spec.array);
    if let Some(missing) = missing {
        members.remove(missing % members.len());
    }
    let name = context.setting.name;
    for (number, member) in members.iter_mut().enumerate() {
        *member = opened(&spec.member_layers, member, (name, Some(number), disks), context)?;
    }
    let mut array = None;
    let mut devices = members.clone();
    if spec.array.level.is_md() {
        let started = assemble(spec, disks, &members, restart, context)?;
        devices = vec![started.device.path.clone()];
        array = Some(started);
    } else if spec.array.level == Level::Single {
        devices.truncate(1);
    }
    if let [device] = devices.as_mut_slice() {
        *device = opened(&spec.layers, device, (name, None, disks), context)?;
    }
    let journal = match &spec.filesystem.journal_on {
        Some(group) => Some(disks.first(group)?),
        None => None,
    };
    Ok(Recovered {
        array,
        members,
        mounting: Mounting::of(spec, devices, journal)?,
        folder,
        image: None,
    })
}

/// Opens the layers on a device, from the device up; returns the topmost. `member` is its number; absent for the array.
fn opened(
    layers: &[Layer],
    device: &Path,
    (stack, member, disks): (&str, Option<usize>, &Disks),
    context: &mut Context<'_>,
) -> Result<PathBuf, Cause> {
    let mut top = device.to_owned();
    for layer in layers {
        context.step("open");
        top = match *layer {
            Layer::Luks(luks) => {
                let name = luks::name_of(stack, member);
                context.access.run(&luks::open(&top, &name, luks), &[&top])?;
                device_mapper::node_of(&name)
            }
            Layer::Partition(_) => scanned_partition(&top, context)?,
            Layer::Volume(volume) => {
                let volume = LogicalVolume::of(volume, 0, stack, &top, context.access.executor);
                context.access.run(&volume.group.activation(), &volume.group.devices)?;
                volume.group.node()
            }
            Layer::Cache(cache) if cache.kind == CacheKind::Bcache => {
                let disk = disks.first(CACHE)?;
                let fast = match cache.size_bytes {
                    None => disk.to_owned(),
                    Some(_) => scanned_partition(disk, context)?,
                };
                bcache::start(&top, &fast, cache, context.access.executor)?
            }
            Layer::Cache(cache) => {
                let on = [top.as_path(), disks.first(CACHE)?];
                let volume = CachedVolume::of(cache, stack, on, context.access.executor);
                context.access.run(&volume.group.activation(), &volume.group.devices)?;
                volume.group.node()
            }
        };
    }
    Ok(top)
}

/// The partition of a device that the kernel has not scanned yet.
fn scanned_partition(device: &Path, context: &mut Context<'_>) -> Result<PathBuf, Cause> {
    partition_table::scan_partitions(device, context)?;
    let executor = &mut *context.access.executor;
    let node = partition_table::partition_of(&executor.device(device)?);
    executor.wait_for_device(&node, Duration::from_secs(10))?;
    Ok(node)
}

/// Closes a stack's layers on this member, or on the array, if they are open.
fn close_layers(layers: &[Layer], member: Option<usize>, context: &mut Context<'_>) -> Result<(), Cause> {
    for layer in layers.iter().rev() {
        match *layer {
            Layer::Luks(_) => {
                let name = luks::name_of(context.setting.name, member);
                if context.access.executor.exists(&device_mapper::node_of(&name)) {
                    context.access.ask(&luks::close(&name))?;
                }
            }
            // A partition is there as long as its device.
            Layer::Partition(_) => {}
            Layer::Volume(_) => close_group(&lvm_volume::group_of(context.setting.name), context)?,
            Layer::Cache(cache) if cache.kind == CacheKind::Bcache => bcache::stop_all(context.access.executor)?,
            Layer::Cache(_) => close_group(&lvm_cache::group_of(context.setting.name), context)?,
        }
    }
    Ok(())
}

/// Removes the devices of a volume group, those that are on others first.
fn close_group(group: &str, context: &mut Context<'_>) -> Result<(), Cause> {
    let prefix = lvm::mapper_prefix(group);
    loop {
        let listed = context.access.ask(&Invocation::new(Tool::Dmsetup).arg("ls"))?.stdout;
        let names = listed.lines().filter_map(|line| line.split_whitespace().next());
        let left: Vec<&str> = names.filter(|name| name.starts_with(&prefix)).collect();
        if left.is_empty() {
            return Ok(());
        }
        let remove = |name: &&str| Invocation::new(Tool::Dmsetup).args(["remove", name]);
        // One that another is on cannot be removed yet.
        let removed = left
            .iter()
            .filter(|name| context.access.ask(&remove(name)).is_ok())
            .count();
        if removed == 0 {
            return Err(Cause::State(format!("{} cannot be removed", left.join(", "))));
        }
    }
}

fn assemble(
    spec: &StackSpec,
    disks: &Disks,
    members: &[PathBuf],
    restart: Restart,
    context: &mut Context<'_>,
) -> Result<Array, Cause> {
    let forced = restart.missing.is_some() || restart.amid_acts;
    context.step("assemble");
    let node = md::free_node(context.access.executor)?;
    let mut all = members.to_vec();
    if spec.array.write_journal {
        all.push(disks.first(JOURNAL)?.to_owned());
    }
    let call = |options: &[&OsStr], all: &[PathBuf]| md::assembly(&node, options, all);
    let stop = Invocation::new(Tool::Mdadm).arg("--stop").arg(&node);
    let mut started = context.access.run(&call(&[], &all), &all);
    if started.is_err() && restart.amid_acts {
        let members = with_superblocks(&all, context)?;
        if members.len() < all.len() {
            let _ = context.access.run(&stop, &all);
            all = members;
            started = context.access.run(&call(&[], &all), &all);
        }
    }
    if let Err(cause) = started {
        if !forced {
            return Err(cause);
        }
        // There may be nothing to stop.
        let _ = context.access.run(&stop, &all);
        if let Err(cause) = context.access.run(&call(&["--force".as_ref()], &all), &all) {
            if !restart.amid_acts {
                return Err(cause);
            }
            let _ = context.access.run(&stop, &all);
            context.step("assemble with start_dirty_degraded");
            start_dirty_degraded("1")?;
            let started = context.access.run(&call(&[], &all), &all);
            start_dirty_degraded("0")?;
            started?;
        }
    }
    let device = context
        .access
        .executor
        .wait_for_device(&node, Duration::from_secs(10))?;
    Ok(Array {
        device,
        uuid: String::new(),
        redundant: spec.array.level.is_redundant(),
        sync_speed_max: None,
        resyncs: false,
    })
}

/// Excludes disks without an md superblock: a disk that is added as a new one has none for a moment, and mdadm
/// assembles no array if such a disk is named.
fn with_superblocks(disks: &[PathBuf], context: &mut Context<'_>) -> Result<Vec<PathBuf>, Cause> {
    let mut members = Vec::new();
    for disk in disks {
        let examine = Invocation::new(Tool::Mdadm).arg("--examine").arg(disk);
        match context.access.ask(&examine) {
            Ok(_) => members.push(disk.clone()),
            Err(ToolError::Exit { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Ok(members)
}

/// Whether md starts arrays of RAID 4, 5 and 6 that are dirty and degraded: an administrator sets this when
/// `--force` does not help. That happens if mdadm counts a member as present that a reshape was still writing.
fn start_dirty_degraded(whether: &str) -> Result<(), Cause> {
    sysfs::write(Path::new("/sys/module/md_mod/parameters/start_dirty_degraded"), whether)
}

/// Unmounts what a recovered stack left mounted, stops every array of the machine, exports its pool, and drops the
/// caches, so that the disks can be replaced by others.
///
/// # Errors
/// If something cannot be stopped.
pub fn put_away(spec: &StackSpec, disks: &Disks, context: &mut Context<'_>) -> Result<(), Cause> {
    let name = context.setting.name;
    let host = image::name_of(name);
    unmount_if_mounted(name, context)?;
    if let Some(image) = &spec.image {
        if !image.is_zvol() {
            let folder = context.setting.work_folder.join(&host);
            image::detach(&image::file_in(&folder), &mut context.access)?;
        }
        unmount_if_mounted(&host, context)?;
    }
    if spec.lowest_filesystem().kind.is_pool() {
        let name = if spec.image.is_some() { &host } else { name };
        let pools = context
            .access
            .ask(&Invocation::new(ZPOOL).args(["list", "-H", "-o", "name"]))?;
        if pools.stdout.lines().any(|pool| pool == name) {
            context
                .access
                .ask(&Invocation::new(ZPOOL).args(["export", "-f"]).arg(name))?;
        }
    }
    close_layers(&spec.layers, None, context)?;
    let arrays = std::fs::read_dir("/sys/block").map_err(Cause::system("list /sys/block"))?;
    for array in arrays.filter_map(Result::ok) {
        let name = array.file_name();
        if !name.to_string_lossy().starts_with("md") {
            continue;
        }
        let stop = Invocation::new(Tool::Mdadm)
            .arg("--stop")
            .arg(Path::new("/dev").join(name));
        context.access.ask(&stop)?;
    }
    for number in 0..disks.members(&spec.array).len() {
        close_layers(&spec.member_layers, Some(number), context)?;
    }
    sysfs::write(Path::new("/proc/sys/vm/drop_caches"), "3")
}

fn unmount_if_mounted(name: &str, context: &mut Context<'_>) -> Result<(), Cause> {
    let folder = context.setting.work_folder.join(name);
    if context.access.executor.mounted(&folder)?.is_some() {
        context.access.executor.unmount(&folder)?;
    }
    Ok(())
}

impl Recovered {
    /// Mounts the filesystem, which replays its journal; returns its folder.
    pub fn mount(&self, context: &mut Context<'_>) -> Result<&Path, Cause> {
        context.step("mount");
        if !context.access.executor.exists(&self.folder) {
            context.access.executor.make_folder(&self.folder)?;
        }
        if let Some(image) = &self.image {
            image.take_up(&image.node_in_guest(), context)?;
        }
        if let Some(pool) = &self.mounting.pool {
            pool.take_up(context)?;
        }
        self.mounting.mount(&self.folder, &mut context.access)?;
        Ok(&self.folder)
    }

    /// Unmounts it; nothing of it stays cached.
    pub fn unmount(&self, context: &mut Context<'_>) -> Result<(), Cause> {
        page_cache::write_back(Some(&self.folder))?;
        context.access.executor.unmount(&self.folder)?;
        if let Some(pool) = &self.mounting.pool {
            pool.put_down(context)?;
        }
        if let Some(image) = &self.image {
            image.put_down(&image.node_in_guest(), context)?;
        }
        sysfs::write(Path::new("/proc/sys/vm/drop_caches"), "3")
    }

    /// Errors reported by the filesystem's own checker in read-only mode. `None` if there are none, or no checker.
    pub fn complaint(&self, context: &mut Context<'_>) -> Result<Option<String>, Cause> {
        if let Some(pool) = self.pool() {
            context.step("scrub");
            let complaint = pool.complaint(context)?;
            if complaint.is_some() || self.image.is_none() {
                return Ok(complaint);
            }
        }
        let Some(checker) = &self.mounting.kind.checker else {
            return Ok(None);
        };
        context.step("check filesystem");
        let Some(image) = &self.image else {
            return self.checked(checker, context);
        };
        image.take_up(&image.node_in_guest(), context)?;
        let complaint = self.checked(checker, context)?;
        image.put_down(&image.node_in_guest(), context)?;
        Ok(complaint)
    }

    /// The pool of the filesystem or of its zvol.
    fn pool(&self) -> Option<&Pool> {
        let of_image = self.image.as_ref().map(|image| &image.mounting);
        of_image.unwrap_or(&self.mounting).pool.as_ref()
    }

    fn checked(&self, checker: &Checker, context: &mut Context<'_>) -> Result<Option<String>, Cause> {
        let device = self.mounting.devices.first().map_or(Path::new(""), PathBuf::as_path);
        let call = Invocation::new(Tool::Filesystem(checker.program))
            .args(checker.arguments)
            .arg(device);
        match context.access.ask(&call) {
            Ok(_) => Ok(None),
            Err(error @ ToolError::Exit { .. }) => Ok(Some(error.to_string())),
            Err(other) => Err(other.into()),
        }
    }

    /// Sectors whose copies or parity disagree, after the resync that follows the cut. `None` without redundancy.
    pub fn stale_sectors(&self, context: &mut Context<'_>) -> Result<Option<u64>, Cause> {
        match &self.array {
            Some(array) if array.redundant => {
                context.step("check array");
                array.check(context.access.executor).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Waits until md has finished what acts had started. Returns whether all members are present.
    pub fn is_whole(&self, context: &mut Context<'_>) -> Result<bool, Cause> {
        let Some(array) = self.array.as_ref().filter(|array| array.redundant) else {
            return Ok(true);
        };
        context.step("wait for md");
        Ok(array.wait_until_at_rest(context.access.executor)? == 0)
    }

    /// Removes a member, but no spare, from the running array. Returns whether there was one.
    pub fn fail_member(&self, number: usize, context: &mut Context<'_>) -> Result<bool, Cause> {
        if let Some(pool) = self.pool() {
            context.step("take a member offline");
            return pool.lose(number, context);
        }
        let Some(array) = self.array.as_ref().filter(|array| array.redundant) else {
            return Ok(false);
        };
        context.step("fail a member");
        let mut active = Vec::new();
        for member in &self.members {
            let name = context.access.executor.device(member)?.kernel_name;
            let state = array.attribute(&format!("dev-{name}/state"));
            // A disk that md has excluded has no such attribute.
            let state = sysfs::read(&state).unwrap_or_default();
            active.extend(state.split(',').any(|word| word == "in_sync").then_some(member));
        }
        if active.is_empty() {
            return Ok(false);
        }
        let member = active[number % active.len()];
        let call = Invocation::new(Tool::Mdadm)
            .arg("--manage")
            .arg(&array.device.path)
            .arg("--fail")
            .arg(member);
        context.access.run(&call, std::slice::from_ref(member))?;
        Ok(true)
    }
}

/// The programs for recovery.
pub fn tools_of_recovery(spec: &StackSpec) -> Vec<Tool> {
    let mut tools = filesystem::tools_needed(spec, crate::Teardown::None);
    let is_on_partitions = |layer: Layer| match layer {
        Layer::Partition(_) => true,
        Layer::Cache(cache) => cache.kind == CacheKind::Bcache && cache.size_bytes.is_some(),
        Layer::Luks(_) | Layer::Volume(_) => false,
    };
    let has_partitions = spec.all_layers().any(is_on_partitions);
    tools.extend((spec.lowest_filesystem().kind.is_pool() || has_partitions).then_some(Tool::Partx));
    tools.extend(
        spec.filesystem
            .kind
            .checker
            .as_ref()
            .map(|checker| Tool::Filesystem(checker.program)),
    );
    tools
}
