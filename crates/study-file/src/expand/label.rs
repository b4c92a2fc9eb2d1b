//! Labels of cells: only the properties that distinguish a stack from the plan's other stacks.

use std::collections::{BTreeMap, HashMap, HashSet};
use study::plan::Cell;
use study::stack::Level;

/// The axes in the order of a label: disks and array, filesystem, then options.
const ORDER: &[&str] = &[
    "kernel",
    "cpu",
    "cores",
    "ram",
    "create_once",
    "model",
    "count",
    "filled",
    "written",
    "zone",
    "members",
    "level",
    "of_level",
    "of_disks",
    "of_chunk",
    "layout",
    "chunk",
    "partition",
    "partition_start",
    "cache",
    "cache_mode",
    "cache_size",
    "luks",
    "luks_sector_size",
    "no_read_workqueue",
    "no_write_workqueue",
    "volume",
    "volume_chunk",
    "snapshot_size",
    "type",
    "pool",
    "vdev_disks",
    "fs_data",
    "fs_metadata",
    "replicas",
    "tier",
    "block_size",
    "recordsize",
    "ashift",
    "compression",
    "align",
    "journal",
    "journal_size",
    "journal_on",
    "log_buffers",
    "log_buffer_size",
    "log",
    "special",
    "l2arc",
    "fs_sync",
    "lazy_init",
    "image",
    "image_pool",
    "image_block",
    "image_log",
    "image_sync",
    "image_mount",
    "preallocate",
    "image_size",
    "snapshots",
    "bitmap",
    "bitmap_chunk",
    "write_mostly",
    "write_behind",
    "write_journal",
    "journal_mode",
    "ppl",
    "stripe_cache",
    "group_thread_cnt",
    "rmw_level",
    "skip_copy",
    "sync_speed_min",
    "sync_speed_max",
    "initial_resync",
    "integrity",
    "integrity_mode",
    "extent",
    "size",
    "spares",
    "metadata",
    "mount",
    "scheduler",
    "read_ahead",
    "queue_depth",
    "write_cache",
    "replicate",
];

/// The axes in the order of a label.
pub fn axes() -> impl Iterator<Item = &'static str> {
    ORDER.iter().copied()
}

/// Sets every cell's label and key.
pub(crate) fn put_on(cells: &mut [Cell]) {
    let varies = varying_axes(cells);
    let has_images = varies.iter().any(|axis| axis.starts_with("image_"));
    // The width of vdevs is meaningless without their type, and a setting of an image without the image.
    let is_shown = |axis: &&str| {
        varies.contains(axis)
            || (*axis == "pool" && varies.contains("vdev_disks"))
            || (*axis == "image" && has_images)
    };
    let varying: Vec<&str> = ORDER.iter().copied().filter(is_shown).collect();
    let stacks: BTreeMap<&[(String, String)], &Cell> = cells.iter().map(|cell| (stack_place(cell), cell)).collect();
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut labels: HashMap<Vec<(String, String)>, String> = HashMap::new();
    for (&place, cell) in &stacks {
        let label = short(place, &Named::of(cell), &varying);
        *taken.entry(label.clone()).or_default() += 1;
        labels.insert(place.to_vec(), label);
    }
    for (place, label) in &mut labels {
        if taken.get(label) != Some(&1) {
            *label = long(place, &varying);
        }
    }
    for cell in cells {
        cell.stack_label = labels.get(stack_place(cell)).cloned().unwrap_or_default();
        cell.key = format!("{} | {}", cell.stack_label, cell.workload.name);
    }
}

/// The cell's values on the axes of its stack.
fn stack_place(cell: &Cell) -> &[(String, String)] {
    let is_workload = |(axis, _): &(String, String)| axis == "workload";
    let end = cell.axes.iter().position(is_workload);
    &cell.axes[..end.unwrap_or(cell.axes.len())]
}

fn word<'a>(place: &'a [(String, String)], axis: &str) -> Option<&'a str> {
    place
        .iter()
        .find(|(name, _)| name == axis)
        .map(|(_, word)| word.as_str())
}

/// Axes on which not all cells have the same value.
fn varying_axes(cells: &[Cell]) -> HashSet<&'static str> {
    let mut first: HashMap<&str, (&str, usize)> = HashMap::new();
    for (axis, word) in cells.iter().flat_map(|cell| &cell.axes) {
        let (of_first, count) = first.entry(axis).or_insert((word, 0));
        *count += usize::from(of_first == word);
    }
    let varies = |axis: &&str| first.get(axis).is_some_and(|(_, count)| *count != cells.len());
    ORDER.iter().copied().filter(varies).collect()
}

/// Axes that a label names differently from the study.
struct Named {
    level: Level,
    inner_level: Option<Level>,
    /// Number and disks of a pool's vdevs, if the study gives their width.
    vdevs: Option<(u32, u32)>,
}

impl Named {
    fn of(cell: &Cell) -> Self {
        let count = |width: u32| Some((cell.member_count() / width, width));
        Self {
            level: cell.stack.array.level,
            inner_level: cell.stack.array.of.map(|inner| inner.level),
            vdevs: cell.stack.filesystem.zfs.vdev_disks.and_then(count),
        }
    }
}

fn short(place: &[(String, String)], named: &Named, varying: &[&str]) -> String {
    let axes = ORDER.iter().copied();
    let axes = axes.filter(|axis| *axis == "type" || varying.contains(axis));
    parts_of(place, named, axes).join(" ")
}

/// The cell's values on these axes as in a label; defaults are left out.
pub fn parts<'a>(cell: &Cell, axes: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    parts_of(&cell.axes, &Named::of(cell), axes)
}

fn parts_of<'a>(place: &[(String, String)], named: &Named, axes: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let pool = word(place, "pool").unwrap_or_default();
    let vdevs = named.vdevs.map(|(count, disks)| format!("{count} × {pool} of {disks}"));
    for axis in axes {
        match (axis, &vdevs) {
            ("pool" | "vdev_disks", Some(vdevs)) if parts.contains(vdevs) => {}
            ("pool" | "vdev_disks", Some(vdevs)) => parts.push(vdevs.clone()),
            _ => parts.extend(word(place, axis).and_then(|word| part(axis, word, named))),
        }
    }
    parts
}

fn level_words(level: Level) -> Option<String> {
    match level {
        Level::None => None,
        Level::Single => Some(level.word().to_owned()),
        lvm if lvm.is_lvm() => Some(format!("LVM {}", lvm.facts().type_word)),
        md => Some(md.facts().title.to_owned()),
    }
}

/// Fallback if a short label is not unique: axis and value.
fn long(place: &[(String, String)], varying: &[&str]) -> String {
    let axes = ORDER.iter().filter(|axis| **axis == "type" || varying.contains(axis));
    let parts: Vec<String> = axes
        .filter_map(|axis| Some(format!("{axis}={}", word(place, axis)?)))
        .collect();
    parts.join(" ")
}

/// A value in a label; `None` for a default.
fn part(axis: &str, word: &str, named: &Named) -> Option<String> {
    if word == "default" {
        return None;
    }
    Some(match axis {
        "level" => return level_words(named.level),
        "members" => format!("({})", word.replace(',', " + ")),
        "of_level" => format!("of {}", named.inner_level.and_then(level_words)?),
        "of_disks" => format!("of {word} disks"),
        "of_chunk" => format!("inner chunk {word}"),
        "bitmap" if word == "external" => "external bitmap".to_owned(),
        // Flags are named if they are on.
        "write_journal" | "ppl" | "log" | "special" | "l2arc" | "lazy_init" => match (axis, word) {
            (_, "false") => return None,
            ("write_journal", _) => "write journal".to_owned(),
            ("log", _) => "log device".to_owned(),
            ("special", _) => "special device".to_owned(),
            ("l2arc", _) => "L2ARC".to_owned(),
            ("lazy_init", _) => "lazy init".to_owned(),
            _ => "PPL".to_owned(),
        },
        "write_cache" if word == "true" => "write cache".to_owned(),
        "write_cache" => "no write cache".to_owned(),
        "queue_depth" => format!("queue depth {word}"),
        "align" if word == "right" => return None,
        "align" => format!("align {word}"),
        "journal_on" => format!("journal on {word}"),
        "log_buffers" => format!("{word} log buffers"),
        "log_buffer_size" => format!("log buffers of {word}"),
        "fs_data" => format!("data {word}"),
        "fs_metadata" => format!("metadata {word}"),
        "fs_sync" => format!("sync {word}"),
        "replicas" if word == "1" => "1 replica".to_owned(),
        "replicas" => format!("{word} replicas"),
        "tier" => format!("tier on {word}"),
        "stripe_cache" => format!("stripe cache {word}"),
        "bitmap_chunk" => format!("bitmap-chunk {word}"),
        "write_mostly" if word == "0" => return None,
        "write_mostly" => format!("{word} write-mostly"),
        "write_behind" => format!("write-behind {word}"),
        "group_thread_cnt" | "rmw_level" | "skip_copy" | "sync_speed_min" | "sync_speed_max" => {
            format!("{axis} {word}")
        }
        "initial_resync" if word == "before" => return None,
        "initial_resync" if word == "during" => "during the initial resync".to_owned(),
        "initial_resync" => word.to_owned(),
        "integrity" if word == "none" => return None,
        "integrity" => format!("dm-integrity {word}"),
        "integrity_mode" => format!("integrity-{word}"),
        "recordsize" | "ashift" | "compression" | "extent" => format!("{axis} {word}"),
        "bitmap" if word == "none" => "no bitmap".to_owned(),
        "bitmap" => "bitmap".to_owned(),
        "kernel" => format!("Linux {word}"),
        "ram" => format!("{word} RAM"),
        "create_once" if word == "false" => "created anew".to_owned(),
        "create_once" => "created once".to_owned(),
        "replicate" => format!("#{word}"),
        "cores" if word == crate::INFINITE => return None,
        "cores" if word == "1" => "1 core".to_owned(),
        "cores" => format!("{word} cores"),
        "cpu" if word == crate::INFINITE => "infinite processor".to_owned(),
        "count" => format!("{word} disks"),
        "filled" => format!("{word} full"),
        "written" if word == "random" => "written at random".to_owned(),
        "written" => "written in order".to_owned(),
        "zone" => format!("zone {word} in use"),
        "spares" if word == "0" => return None,
        "spares" if word == "1" => "1 spare".to_owned(),
        "spares" => format!("{word} spares"),
        "journal" if word == "journal" => "data=journal".to_owned(),
        "journal_size" => format!("{word} log"),
        "chunk" | "size" | "metadata" => format!("{axis} {word}"),
        "read_ahead" => format!("read-ahead {word}"),
        "scheduler" => format!("scheduler {word}"),
        _ => return layer(axis, word),
    })
}

/// The same of an axis of layers or snapshots, or one whose values stand for themselves.
fn layer(axis: &str, word: &str) -> Option<String> {
    Some(match axis {
        "partition" | "cache" | "luks" | "volume" if word == "none" => return None,
        "cache_size" => format!("cache {word}"),
        "luks" if word == "members" => "members on LUKS".to_owned(),
        "luks" if word == "volume" => "LUKS on the volume".to_owned(),
        "luks" => "LUKS".to_owned(),
        "partition" if word == "members" => "partitions".to_owned(),
        "partition" => "partition".to_owned(),
        "partition_start" => format!("from sector {word}"),
        "volume" => format!("{word} LV"),
        "volume_chunk" => format!("chunks of {word}"),
        "snapshot_size" => format!("{word} for snapshots"),
        "image" if word == "none" => return None,
        "image" if word == "zfs" => "on zvol".to_owned(),
        "image" => format!("in file on {word}"),
        "image_block" => format!("blocks of {word}"),
        "image_log" | "preallocate" if word == "false" => return None,
        "image_log" => "log device".to_owned(),
        "image_sync" => format!("sync {word}"),
        "preallocate" => "preallocated".to_owned(),
        "image_size" => format!("image of {word}"),
        "snapshots" if word == "0" => return None,
        "snapshots" if word == "1" => "1 snapshot".to_owned(),
        "snapshots" => format!("{word} snapshots"),
        "luks_sector_size" => format!("sectors of {word}"),
        "no_read_workqueue" | "no_write_workqueue" if word == "false" => return None,
        "no_read_workqueue" => "no read workqueue".to_owned(),
        "no_write_workqueue" => "no write workqueue".to_owned(),
        _ => word.to_owned(),
    })
}
