//! The page of a study's stacks: which topologies are possible with which filesystems.

use std::collections::BTreeSet;
use std::fmt::Write;
use study::plan::{Cell, Plan};
use study_file::{Known, label, read};

const INTRODUCTION: &str = "\
# Stacks

Every topology that raidlab builds, with every filesystem that it puts there. The table is written by `make docs` from
`studies/every-stack.toml`, whose trials write files on each of these stacks in the lab, read them back after a remount
with cold caches, compare every byte, and delete them: `make stacks` runs it, and it takes some minutes.

ZFS gets a kernel of its own, from Debian's packages; bcachefs, which Linux has from 6.7 to 6.17, its program from
Debian's `bcachefs-tools` in experimental.
";

/// Axes that are no part of a topology: machine and disks, sizes, and settings that change no stack.
const NO_TOPOLOGY: &[&str] = &[
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
    "of_chunk",
    "chunk",
    "type",
    "block_size",
    "journal",
    "journal_size",
    "log_buffers",
    "log_buffer_size",
    "lazy_init",
    "extent",
    "size",
    "mount",
    "scheduler",
    "read_ahead",
    "queue_depth",
    "write_cache",
    "replicate",
];

/// Axes of the array, its members and its layers: all that are neither of the filesystem nor no part of a topology.
fn topology() -> Vec<&'static str> {
    let is_other = |axis: &&str| FILESYSTEM.contains(axis) || NO_TOPOLOGY.contains(axis);
    label::axes().filter(|axis| !is_other(axis)).collect()
}

/// What the filesystem does with several disks or with external devices.
const FILESYSTEM: &[&str] = &[
    "pool",
    "vdev_disks",
    "fs_data",
    "fs_metadata",
    "replicas",
    "tier",
    "compression",
    "recordsize",
    "ashift",
    "fs_sync",
    "log",
    "special",
    "l2arc",
    "journal_on",
    "align",
];

/// The page of a study file, as Markdown, or the errors in the file.
pub fn page(source: &str) -> Result<String, String> {
    let plan = read(source, "studies/every-stack.toml", &Known::default());
    plan.map(|plan| stacks(&plan)).map_err(|errors| errors.to_string())
}

/// A row for each topology, a column for each filesystem.
fn stacks(plan: &Plan) -> String {
    let mut page = INTRODUCTION.to_owned();
    let plain: Vec<&Cell> = plan
        .cells
        .iter()
        .filter(|cell| words(cell, FILESYSTEM).is_empty())
        .collect();
    page.push_str("\n## Topologies\n\n");
    let kinds = kinds(plan);
    table(&mut page, &plain, &kinds, &topology());
    let own: Vec<&Cell> = plan
        .cells
        .iter()
        .filter(|cell| !words(cell, FILESYSTEM).is_empty())
        .collect();
    page.push_str(
        "\n## Filesystems with several disks\n\nFilesystems with RAID of their own, external journals, and stripe geometry \
         that is wrong on\npurpose or not given; in the table above it is right.\n\n",
    );
    table(&mut page, &own, &kinds, &[topology().as_slice(), FILESYSTEM].concat());
    left_out(&mut page, plan);
    page
}

/// The filesystems of the plan, in its order.
fn kinds(plan: &Plan) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    for cell in &plan.cells {
        let kind = cell.stack.filesystem.kind.word();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

fn table(page: &mut String, cells: &[&Cell], of_plan: &[&'static str], axes: &[&str]) {
    let mut rows: Vec<(String, BTreeSet<&str>)> = Vec::new();
    for cell in cells {
        let kind = cell.stack.filesystem.kind.word();
        let name = row_name(cell, axes);
        match rows.iter_mut().find(|(other, _)| *other == name) {
            Some((_, there)) => {
                there.insert(kind);
            }
            None => rows.push((name, BTreeSet::from([kind]))),
        }
    }
    let is_here = |kind: &&str| rows.iter().any(|(_, there)| there.contains(kind));
    let kinds: Vec<&str> = of_plan.iter().copied().filter(is_here).collect();
    let _ = writeln!(page, "| | {} |\n|---|{}", kinds.join(" | "), ":-:|".repeat(kinds.len()));
    for (name, there) in rows {
        let marks: Vec<&str> = kinds
            .iter()
            .map(|kind| if there.contains(kind) { "✓" } else { "" })
            .collect();
        let _ = writeln!(page, "| {name} | {} |", marks.join(" | "));
    }
}

/// Impossible combinations of the study, by reason.
fn left_out(page: &mut String, plan: &Plan) {
    let mut reasons: Vec<&str> = plan.left_out.iter().map(|left| left.reason.as_str()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    if reasons.is_empty() {
        return;
    }
    page.push_str("\n## Impossible combinations\n\n");
    for reason in reasons {
        let _ = writeln!(page, "- {reason}");
    }
}

fn row_name(cell: &Cell, axes: &[&str]) -> String {
    let words = words(cell, axes);
    if words.is_empty() {
        return "disks as they are".to_owned();
    }
    words
        .join(", ")
        .replace(", of RAID", " of RAID")
        .replace(", of 3 disks", " of 3 disks each")
}

/// The cell's values on these axes, without defaults.
fn words(cell: &Cell, axes: &[&str]) -> Vec<String> {
    let has_bitmap = |axis: &&str| {
        let none = |(name, word): &(String, String)| name == "bitmap" && word == "none";
        *axis != "bitmap" || !cell.axes.iter().any(none)
    };
    label::parts(cell, axes.iter().copied().filter(has_bitmap))
}
