//! Possibly unintended measurements of a study: memory instead of disks, caches of drives, a small part of the
//! disks, one wide mirror instead of several, a queue depth that the disks do not have. Reported before a run and
//! in its report; no figure depends on it.

use disksim::catalogue::Model;
use disksim::description::Device;
use disksim::request::SECTOR_BYTES;
use lab::disks::Models;
use std::time::Duration;
use study::plan::{Cell, Plan};
use study::stack::{DATA, Level, MachineKind, Pool};
use study::workload::{IoSpec, SyncMode, Work};
use study_file::describe_size;

/// Random requests within less than this percentage of the disks hardly move the heads.
const SPAN_PERCENT_MIN: u64 = 1;
/// Maximum percentage of a run during which the write caches may still fill.
const CACHED_PERCENT_MAX: f64 = 5.0;
/// A mirror of this many disks is probably meant to be several mirrors.
const WIDE_MIRROR_DISKS: u32 = 4;

/// Sentences without duplicates, in the plan's order.
pub fn of(plan: &Plan) -> Vec<String> {
    let models = Models::of(plan);
    let mut all: Vec<String> = Vec::new();
    for cell in &plan.cells {
        let of_stack = wide_mirror(cell).into_iter().chain(short_queue(cell, &models));
        let of_stack: Vec<String> = of_stack
            .map(|sentence| format!("`{}` {sentence}", cell.stack_label))
            .collect();
        let of_job = match &cell.workload.work {
            Work::Io(io) => of_job(cell, io, &models),
            _ => Vec::new(),
        };
        let of_job = of_job
            .iter()
            .map(|sentence| format!("`{}` {sentence}", cell.workload.name));
        for sentence in of_stack.into_iter().chain(of_job) {
            if !all.contains(&sentence) {
                all.push(sentence);
            }
        }
    }
    all
}

/// A mirror vdev with many disks, for which the study gives no width.
fn wide_mirror(cell: &Cell) -> Option<String> {
    let (stack, disks) = (&cell.stack, cell.machine.group(DATA)?.count);
    let zfs = &stack.filesystem.zfs;
    let is_one = zfs.pool == Some(Pool::Mirror) && zfs.vdev_disks.is_none() && stack.array.level == Level::None;
    if !is_one || disks < WIDE_MIRROR_DISKS {
        return None;
    }
    let help = match (2..disks).find(|width| disks.is_multiple_of(*width)) {
        Some(width) => format!("write `vdev_disks = {width}`"),
        None => format!("write `vdev_disks = 2` and `count = {}` in [disks]", disks + 1),
    };
    Some(format!(
        "is one mirror of {disks} disks, which stores every block {disks} times; for striped mirrors, {help}; if one \
         mirror is meant, `vdev_disks = {disks}`"
    ))
}

/// A queue depth that the disks' model does not have.
fn short_queue(cell: &Cell, models: &Models) -> Option<String> {
    let (wanted, model) = (cell.stack.queue_depth?, Disks::of(cell, models)?.model);
    let depth = match &model.device {
        Device::Mechanical(disk) => disk.queue.depth,
        Device::Flash(disk) => disk.queue_depth,
    };
    (wanted > depth).then(|| {
        format!(
            "has `queue_depth = {wanted}`, but the model {} takes {depth} at a time: it is measured with that",
            model.file.name
        )
    })
}

/// As shown by the plan and the run.
pub fn paragraph(sentences: &[String]) -> String {
    sentences
        .iter()
        .map(|sentence| format!("\nwarning: {sentence}\n"))
        .collect()
}

/// The disks under test, if their model is known.
struct Disks {
    model: Model,
    count: u64,
    write_cache: bool,
}

impl Disks {
    fn of(cell: &Cell, models: &Models) -> Option<Self> {
        let group = cell.machine.group(DATA)?;
        let model = (cell.machine.kind == MachineKind::Lab).then(|| models.find(group).ok())??;
        Some(Self {
            model,
            count: u64::from(group.count),
            write_cache: cell.stack.write_cache != Some(false),
        })
    }

    /// Total bytes of writes that they accept before they are on the media.
    fn cache_bytes(&self) -> u64 {
        let sectors = match &self.model.device {
            Device::Mechanical(disk) if self.write_cache && disk.write_cache.enabled => {
                u64::from(disk.write_cache.sectors_max)
            }
            Device::Mechanical(_) => 0,
            Device::Flash(disk) => {
                let slc = disk.slc.map_or(0, |slc| slc.empty_units * u64::from(disk.unit_sectors));
                u64::from(disk.buffer_sectors) + slc
            }
        };
        self.count * sectors * SECTOR_BYTES
    }

    fn has_heads(&self) -> bool {
        matches!(self.model.device, Device::Mechanical(_))
    }
}

fn of_job(cell: &Cell, io: &IoSpec, models: &Models) -> Vec<String> {
    let mut all: Vec<String> = in_memory(cell, io).into_iter().collect();
    let Some(disks) = Disks::of(cell, models) else {
        return all;
    };
    all.extend(in_drive_caches(cell, io, &disks));
    all.extend(in_a_corner(cell, io, &disks));
    all.extend(too_short(io, &disks));
    all
}

fn working_bytes(io: &IoSpec) -> u64 {
    u64::from(io.jobs).saturating_mul(io.size_bytes)
}

fn in_memory(cell: &Cell, io: &IoSpec) -> Option<String> {
    let (working, ram) = (working_bytes(io), cell.machine.ram_bytes);
    if io.direct || io.runtime_ns.is_none() || !io.time_based || working > ram {
        return None;
    }
    Some(format!(
        "repeats {} until its runtime is over, but the machine has {} of RAM: after the first pass, data is read and \
         overwritten in memory; make `size` larger than `ram`, or write `direct = true`",
        describe_size(working),
        describe_size(ram)
    ))
}

/// Writes that return while the drives still hold them, all of which fit into the caches.
fn in_drive_caches(cell: &Cell, io: &IoSpec, disks: &Disks) -> Option<String> {
    let waits = io.end_fsync || io.fsync_every > 0 || io.fdatasync_every > 0 || io.sync != SyncMode::None;
    if !io.pattern.has_writes() || !io.direct || waits {
        return None;
    }
    let data = u32::try_from(disks.count).unwrap_or(u32::MAX);
    let written = cell.stack.array.member_bytes_min(data, working_bytes(io));
    let caches = disks.cache_bytes();
    (written <= caches).then(|| {
        format!(
            "writes to an area of {}, but the write caches of {} hold {}: most writes end before the data is on the \
             media; make `size` larger, or write `end_fsync = true` without `runtime`",
            describe_size(working_bytes(io)),
            plural(disks.count),
            describe_size(caches)
        )
    })
}

fn in_a_corner(cell: &Cell, io: &IoSpec, disks: &Disks) -> Option<String> {
    if !io.pattern.is_random() || !disks.has_heads() {
        return None;
    }
    let array = &cell.stack.array;
    let disk_bytes = disks.model.sectors * SECTOR_BYTES;
    let used = array
        .member_size_bytes
        .map_or(disk_bytes, |bytes| bytes.min(disk_bytes));
    let redundant = array.member_bytes_min(u32::try_from(disks.count).ok()?, 1 << 20);
    let span = ((u128::from(used) * u128::from(disks.count)) << 20) / u128::from(redundant.max(1));
    let (span, working) = (u64::try_from(span).ok()?, working_bytes(io));
    (working < span / 100 * SPAN_PERCENT_MIN).then(|| {
        format!(
            "seeks within {}, {:.2} % of the {} of {}: seeks are much shorter than on a disk in use; write \
             `size = \"{}\"` or more",
            describe_size(working),
            working as f64 / span as f64 * 100.0,
            describe_size(span),
            plural(disks.count),
            study_file::format_size((span / 100 / u64::from(io.jobs.max(1))).next_power_of_two())
        )
    })
}

/// Random writes that are timed before the write caches are full.
fn too_short(io: &IoSpec, disks: &Disks) -> Option<String> {
    let runtime = Duration::from_nanos(io.runtime_ns?).as_secs_f64();
    if !io.direct || !io.pattern.has_writes() || !io.pattern.is_random() || disks.cache_bytes() == 0 {
        return None;
    }
    let drain = disksim::show::drain_ms(&disks.model).ok()? / 1e3;
    let ramp = Duration::from_nanos(io.ramp_ns).as_secs_f64();
    (ramp < drain && drain > runtime * CACHED_PERCENT_MAX / 100.0).then(|| {
        format!(
            "runs for {runtime} s, but each disk needs {drain:.1} s to empty its full write cache: data that is \
             only in the caches counts as written; write `ramp_time = \"{:.0}s\"`",
            drain.ceil()
        )
    })
}

fn plural(disks: u64) -> String {
    match disks {
        1 => "the disk".to_owned(),
        count => format!("the {count} disks"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(count: u32, fs: &str) -> Vec<String> {
        let study = format!(
            "[disks]\ncount = {count}\n[[stack]]\nfs = {{ type = \"zfs\", {fs} }}\n[[workload]]\nname = \"w\"\n\
             tree = {{ files = 10 }}\n"
        );
        of(&study_file::read(&study, "a.toml", &study_file::Known::default()).expect("a study"))
    }

    #[test]
    fn a_queue_that_the_model_does_not_have_is_warned_of() {
        let of = |depth: u32| {
            let study = format!(
                "[disks]\nmodel = \"maxtor-d540x-4g-120gb\"\ncount = 1\n[[stack]]\narray = {{ level = \"single\" }}\n\
                 queue_depth = {depth}\n[[workload]]\nname = \"w\"\ntree = {{ files = 10 }}\n"
            );
            of(&study_file::read(&study, "a.toml", &study_file::Known::default()).expect("a study"))
        };
        assert_eq!(of(1), [""; 0]);
        let said = of(8).concat();
        let words = "has `queue_depth = 8`, but the model maxtor-d540x-4g-120gb takes 1 at a time: it is measured with that";
        assert!(said.ends_with(words), "{said}");
    }

    #[test]
    fn one_wide_mirror_is_warned_of() {
        assert_eq!(
            warnings(8, "pool = \"mirror\""),
            [
                "`zfs` is one mirror of 8 disks, which stores every block 8 times; for striped mirrors, write \
                 `vdev_disks = 2`; if one mirror is meant, `vdev_disks = 8`"
            ]
        );
        let of_five = warnings(5, "pool = \"mirror\"").concat();
        assert!(
            of_five.contains("write `vdev_disks = 2` and `count = 6` in [disks]"),
            "{of_five}"
        );
        for (count, fs) in [
            (8, "pool = \"mirror\", vdev_disks = 8"),
            (8, "pool = \"mirror\", vdev_disks = 2"),
            (8, "pool = \"raidz2\""),
            (3, "pool = \"mirror\""),
        ] {
            assert_eq!(warnings(count, fs), [""; 0], "{count} {fs}");
        }
    }
}
