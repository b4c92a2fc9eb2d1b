//! What stacks give and take besides their figures: usable disks, failures survived, resyncs, rebuilds, power cuts.

use super::sentences::resync_time;
use super::{ScoreRow, Scoreboard, is_rebuild};
use crate::input::Input;
use crate::words::figure::{count, number, number_of, two_digits};
use crate::words::listed;
use stats::{Results, TestResults};
use study::act::Act;
use study::event::{Guard, Measurement};
use study::metric::Metric;
use study::plan::Cell;
use study::stack::{Bitmap, DiskGroup, FilesystemKind, Level, SilentCorruption};
use study::wording::bytes;

/// Rebuilds that are listed; of more, the shortest and the longest are.
const REBUILDS_MAX: usize = 4;

/// With more stacks none is looked for that differs in its bitmap alone: each is compared with all.
const COMPARED_MAX: usize = 64;

/// A rebuild that takes this many times as long as one pass over the disk shares the disk's time with other requests.
const LOADED_MIN: f64 = 1.2;

/// md's default of `sync_speed_min` (`speed_limit_min` in proc(5)), in KiB/s.
const SYNC_SPEED_MIN_KIB_S: u32 = 1000;

/// How a stack divides its disks.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Layout {
    pub disks: u32,
    /// As many disks as its data has room on.
    pub usable: Option<f64>,
    /// Disks that can always fail without loss of data.
    pub survives: Option<u32>,
    /// A write-intent bitmap keeps resyncs short.
    pub has_bitmap: bool,
    /// md resyncs the whole array after a crash ([`study::stack::ArraySpec::resyncs_after_a_crash`]).
    pub resyncs: bool,
    /// Hours that this takes at least, for the whole disk; `None` if its model is not known.
    pub resync_hours: Option<f64>,
}

/// How the disks of a cell are divided; without disks the default.
pub(super) fn layout_of(input: &Input, cell: &Cell) -> Layout {
    let disks = cell.member_count();
    if disks == 0 {
        return Layout::default();
    }
    let is_nested = cell.stack.array.of.is_some();
    Layout {
        disks,
        usable: cell.stack.usable_disks(disks),
        survives: (!is_nested).then(|| cell.stack.may_be_missing(disks)),
        has_bitmap: cell.stack.array.level.is_md()
            && cell.stack.array.bitmap != Bitmap::None
            && !cell.lacks_bitmap_by_size(),
        resyncs: cell.stack.array.resyncs_after_a_crash() && !cell.lacks_bitmap_by_size(),
        resync_hours: longest_pass_hours(input, cell),
    }
}

/// Hours for one pass over the disk that takes longest; `None` if a model is not known.
fn longest_pass_hours(input: &Input, cell: &Cell) -> Option<f64> {
    let hours =
        |(group, _): &(&DiskGroup, u32)| input.disks.iter().find(|disk| disk.model == group.model)?.pass_hours;
    let each = cell
        .machine
        .members(&cell.stack.array)
        .iter()
        .map(hours)
        .collect::<Option<Vec<f64>>>()?;
    each.into_iter().reduce(f64::max)
}

/// Stacks with a bitmap next to others without one, if they were not measured without it: ` Measured with a bitmap only: RAID 10 ext4.`
/// Empty if there are none.
pub(super) fn only_with_bitmap(input: &Input, board: &Scoreboard) -> String {
    if board.rows.len() > COMPARED_MAX || !board.rows.iter().any(|row| row.layout.resyncs) {
        return String::new();
    }
    let cell = |row: &ScoreRow| input.plan.cells.iter().find(|cell| cell.stack_label == row.stack);
    let has_counterpart = |row: &&ScoreRow| {
        let of_row = cell(row).map(|cell| {
            let mut stack = (*cell.stack).clone();
            stack.array.bitmap = Bitmap::None;
            stack.array.bitmap_chunk_bytes = None;
            stack
        });
        let others = || input.plan.cells.iter().map(|cell| &cell.stack);
        of_row.is_none_or(|without| others().any(|other| **other == without))
    };
    let alone: Vec<&str> = board
        .rows
        .iter()
        .filter(|row| row.layout.has_bitmap && !has_counterpart(row))
        .map(|row| row.stack.as_str())
        .collect();
    match alone.as_slice() {
        [] => String::new(),
        names if names.len() > REBUILDS_MAX => format!(" Measured with a bitmap only: {} stacks.", names.len()),
        names => format!(" Measured with a bitmap only: {}.", listed(names, "and")),
    }
}

/// Whether some cell of the study has a processor.
pub(super) fn names_processor(input: &Input) -> bool {
    input.plan.cells.iter().any(|cell| cell.machine.processor.is_some())
}

/// Whether a cell's processor takes no time, although others of the study name one ([`names_processor`]), or a figure of its disks was
/// moved.
pub(super) fn is_unreal(cell: &Cell, names_processor: bool) -> bool {
    let is_free = names_processor && !cell.is_imported() && cell.machine.processor.is_none();
    is_free || cell.machine.moved.is_some()
}

/// What becomes of data that a disk of a cell silently changes.
pub(super) fn silent_corruption(cell: &Cell) -> Option<SilentCorruption> {
    let disks = cell.member_count();
    if disks == 0 {
        return None;
    }
    cell.stack.silent_corruption(disks)
}

const fn word_of_corruption(corruption: Option<SilentCorruption>) -> &'static str {
    match corruption {
        Some(SilentCorruption::Repaired) => "repaired",
        Some(SilentCorruption::Detected) => "detected",
        Some(SilentCorruption::Undetected) => "undetected",
        None => "–",
    }
}

/// Whether the array is not that of its filesystem, which has RAID of its own with levels of the same names.
pub(super) fn is_below_raid(cell: &Cell) -> bool {
    let kind = cell.stack.filesystem.kind;
    let has_raid = matches!(
        kind,
        FilesystemKind::Btrfs | FilesystemKind::Zfs | FilesystemKind::Bcachefs
    );
    has_raid && (cell.stack.array.level.is_md() || cell.stack.array.level.is_lvm())
}

/// `detects silent corruption but cannot repair it`.
pub(super) const fn corruption(row: &ScoreRow) -> &'static str {
    match row.silent_corruption {
        Some(SilentCorruption::Detected) if row.is_below_raid => {
            "detects silent corruption but cannot repair it, since the filesystem has one device, the array"
        }
        Some(SilentCorruption::Repaired) => "detects and repairs silent corruption",
        Some(SilentCorruption::Detected) => "detects silent corruption but cannot repair it",
        Some(SilentCorruption::Undetected) => "does not detect silent corruption",
        None => "",
    }
}

pub(super) fn is_corruption_shared(board: &Scoreboard) -> bool {
    let first = board.rows.first().map(|row| row.silent_corruption);
    board.rows.iter().all(|row| Some(row.silent_corruption) == first)
}

/// `3 of 4 disks usable, survives 1 failed disk`; empty if it is unknown.
pub(super) fn layout(row: &ScoreRow) -> String {
    let usable = usable(row).map(|words| format!("{words} disks usable"));
    let survives = row.layout.survives.map(|disks| match disks {
        0 => "survives no failed disk".to_owned(),
        disks => format!("survives {}", count(disks as usize, "failed disk")),
    });
    let resyncs = row
        .layout
        .resyncs
        .then(|| format!("full resync after a crash{}", resync_time(row)));
    let parts = usable.into_iter().chain(survives).chain(resyncs);
    parts.collect::<Vec<String>>().join(", ")
}

/// `3 of 4`.
fn usable(row: &ScoreRow) -> Option<String> {
    let disks = row.layout.usable.filter(|_| row.layout.disks > 1)?;
    let decimals = usize::from(disks.fract() != 0.0);
    Some(format!("{} of {}", number(disks, decimals), row.layout.disks))
}

/// A heading, and its words for each row.
type Facts = (&'static str, Vec<String>);

fn facts(board: &Scoreboard) -> [Facts; 6] {
    let each = |words: fn(&ScoreRow) -> String| board.rows.iter().map(words).collect();
    [
        (
            "disks usable",
            each(|row| usable(row).unwrap_or_else(|| "–".to_owned())),
        ),
        (
            "failed disks survived",
            each(|row| {
                row.layout
                    .survives
                    .map_or_else(|| "–".to_owned(), |disks| disks.to_string())
            }),
        ),
        (
            "full resync after crash",
            each(|row| match (row.layout.survives, row.layout.resyncs) {
                (None | Some(0), _) => "–".to_owned(),
                (_, true) => match row.layout.resync_hours {
                    Some(hours) => format!("yes, {} h or more", number_of(hours)),
                    None => "yes".to_owned(),
                },
                (_, false) if row.layout.has_bitmap => "no (bitmap)".to_owned(),
                (_, false) => "no".to_owned(),
            }),
        ),
        (
            "silent corruption",
            each(|row| word_of_corruption(row.silent_corruption).to_owned()),
        ),
        (
            "rebuild",
            each(|row| match row.rebuild.is_empty() {
                true => "–".to_owned(),
                false => row.rebuild.clone(),
            }),
        ),
        (
            "power cut",
            each(|row| match row.power_cut.is_empty() {
                true => "–".to_owned(),
                false => row.power_cut.clone(),
            }),
        ),
    ]
}

fn is_shared((_, words): &Facts) -> bool {
    words.iter().all(|word| Some(word) == words.first())
}

/// What differs between the stacks besides their figures.
pub(crate) fn facts_that_differ(board: &Scoreboard) -> Vec<Facts> {
    facts(board).into_iter().filter(|facts| !is_shared(facts)).collect()
}

pub(super) fn is_layout_shared(board: &Scoreboard) -> bool {
    board.rows.iter().all(|row| layout(row) == layout(&board.rows[0]))
}

pub(super) fn is_rebuild_shared(board: &Scoreboard) -> bool {
    board.rows.iter().all(|row| row.rebuild == board.rows[0].rebuild)
}

/// `All stacks: 1 of 2 disks usable, survives 1 failed disk; rebuild 12.8 h.`; empty if nothing is shared or known.
pub(crate) fn facts_that_are_shared(board: &Scoreboard) -> String {
    let Some(first) = board.rows.first() else {
        return String::new();
    };
    let of_layout = is_layout_shared(board).then(|| layout(first));
    let of_rebuild =
        (is_rebuild_shared(board) && !first.rebuild.is_empty()).then(|| format!("rebuild {}", first.rebuild));
    // That nothing detects it is what most stacks have in common.
    let is_worth_saying =
        is_corruption_shared(board) && first.silent_corruption != Some(SilentCorruption::Undetected);
    let of_corruption = is_worth_saying.then(|| corruption(first).to_owned());
    let parts = [of_layout, of_corruption, of_rebuild]
        .into_iter()
        .flatten()
        .filter(|words| !words.is_empty());
    match parts.collect::<Vec<String>>().join("; ") {
        words if words.is_empty() => words,
        words => format!("All stacks: {words}."),
    }
}

/// The rebuild under a workload.
#[derive(Clone, Copy)]
struct Rebuild<'a> {
    median: f64,
    metric: Metric,
    workload: &'a str,
}

/// The rebuilds of a stack over all workloads.
#[derive(Default)]
struct Rebuilds<'a> {
    figures: Vec<Rebuild<'a>>,
    /// Workloads that ended before the rebuild: no time under that load is known.
    unfinished: Vec<&'a str>,
}

impl<'a> Rebuilds<'a> {
    fn of(results: &'a Results, place: usize) -> Self {
        let mut all = Self::default();
        for workload in &results.workloads {
            let name = workload.name.as_str();
            let rebuilds = workload.tests.iter().map(TestResults::headline);
            for measure in rebuilds.filter(|measure| is_rebuild(measure.metric)) {
                let row = &measure.rows[place];
                match &row.summary {
                    Some(summary) => all.figures.push(Rebuild {
                        median: summary.median,
                        metric: measure.metric,
                        workload: name,
                    }),
                    None if row.excluded.iter().any(is_cut_short) && !all.unfinished.contains(&name) => {
                        all.unfinished.push(name);
                    }
                    None => {}
                }
            }
        }
        all
    }

    /// The shortest and the longest.
    fn ends(&self) -> Option<[Rebuild<'a>; 2]> {
        let by_median = |one: &Rebuild<'_>, other: &Rebuild<'_>| one.median.total_cmp(&other.median);
        let figures = || self.figures.iter().copied();
        Some([figures().min_by(by_median)?, figures().max_by(by_median)?])
    }

    /// `not done when films ended`.
    fn unfinished(&self) -> Option<String> {
        (!self.unfinished.is_empty()).then(|| format!("not done when {} ended", listed(&self.unfinished, "and")))
    }
}

/// The shortest and the longest rebuild of a stack over all workloads, by their medians; `14.7 to 30.0 h; not done when films ended`
/// if a workload ended before its rebuild.
pub(super) fn rebuild(results: &Results, place: usize) -> String {
    let rebuilds = Rebuilds::of(results, place);
    let range = rebuilds.ends().map(|[shortest, longest]| {
        let unit = shortest.metric.unit().name();
        match shortest.median == longest.median {
            true => format!("{} {unit}", number_of(shortest.median)),
            false => format!(
                "{} to {} {unit}",
                two_digits(shortest.median),
                two_digits(longest.median)
            ),
        }
    });
    range
        .into_iter()
        .chain(rebuilds.unfinished())
        .collect::<Vec<String>>()
        .join("; ")
}

/// What a study of one stack says about its rebuilds, as the first sentence: the figure under each workload. `None` if there
/// is more than one stack, or no rebuild.
pub(super) fn rebuilds_of_one_stack(input: &Input, results: &Results) -> Option<String> {
    let [_] = input.plan.stack_labels()[..] else {
        return None;
    };
    let cell = input.plan.cells.first()?;
    let mut rebuilds = Rebuilds::of(results, 0);
    let unfinished = rebuilds.unfinished().map(|words| format!("The rebuild was {words}."));
    let Some(&Rebuild { metric, .. }) = rebuilds.figures.first() else {
        return unfinished;
    };
    rebuilds.figures.retain(|other| other.metric == metric);
    let unit = metric.unit().name();
    let pass_hours = input.disks.iter().filter_map(|disk| disk.pass_hours).reduce(f64::max);
    let is_extrapolated = metric == Metric::TimeToRebuildDisk && cell.stack.array.member_size_bytes.is_some();
    // As long as the quickest of the study, or as a pass over the disk.
    let unloaded_hours = rebuilds
        .ends()
        .map(|[shortest, _]| shortest.median)
        .into_iter()
        .chain(pass_hours);
    let unloaded_hours = unloaded_hours.reduce(f64::min);
    let whole_bytes = input.disks.iter().map(|disk| disk.bytes).max().unwrap_or(0);
    let slowest_kib_s = cell.stack.array.sync_speed_min.unwrap_or(SYNC_SPEED_MIN_KIB_S);
    let slowest_days = whole_bytes as f64 / 1024.0 / f64::from(slowest_kib_s.max(1)) / 86_400.0;
    let words = |rebuild: &Rebuild<'_>| {
        // On a small member md's stops count more, and seeks are shorter: both decide under load. Simulated, members of 2 and
        // 6 GiB gave 123 and 61 h for one disk, members of 4 and 16 GiB 31 and 13 h.
        let is_loaded = is_extrapolated && unloaded_hours.is_some_and(|hours| rebuild.median > LOADED_MIN * hours);
        match is_loaded {
            true => format!(
                "very roughly {} {unit}, perhaps {} to {} {unit}, and several times that under more load ({}: md yields to other requests, \
                 down to its `sync_speed_min`, with which the disk takes {slowest_days:.0} days; a larger one shortens it)",
                two_digits(rebuild.median),
                two_digits((rebuild.median / 3.0).max(unloaded_hours.unwrap_or(0.0))),
                two_digits(rebuild.median * 3.0),
                rebuild.workload
            ),
            false => format!("{} {unit} ({})", number_of(rebuild.median), rebuild.workload),
        }
    };
    let figures = match rebuilds.ends() {
        Some([shortest, longest]) if rebuilds.figures.len() > REBUILDS_MAX => {
            format!("{} to {}", words(&shortest), words(&longest))
        }
        _ => {
            let all: Vec<String> = rebuilds.figures.iter().map(words).collect();
            listed(&all.iter().map(String::as_str).collect::<Vec<_>>(), "and")
        }
    };
    let subject = match (metric, cell.stack.array.member_size_bytes) {
        (Metric::TimeToRebuildDisk, Some(size)) => {
            format!(
                "Extrapolated from members of {}, a rebuild of a whole disk takes",
                bytes(size)
            )
        }
        (Metric::TimeToRebuildDisk, None) => "A rebuild of a whole disk takes".to_owned(),
        _ => "A rebuild takes".to_owned(),
    };
    let sentences = [Some(format!("{subject} {figures}.")), unfinished, risk(input, cell)];
    Some(sentences.into_iter().flatten().collect::<Vec<String>>().join(" "))
}

/// What a study of several stacks says about their rebuilds after its first sentence: how long each takes, and what another failure
/// means meanwhile.
pub(super) fn rebuilds_of_stacks(input: &Input, board: &Scoreboard) -> Option<String> {
    let rows = || board.rows.iter().filter(|row| !row.rebuild.is_empty());
    let first = rows().next()?;
    // Their words may say that one was not done.
    let of_stacks = match is_rebuild_shared(board) {
        true => format!("all stacks ({})", first.rebuild),
        false => {
            let words = |row: &ScoreRow| format!("{} ({})", row.stack, row.rebuild);
            rows().take(REBUILDS_MAX).map(words).collect::<Vec<String>>().join(", ")
        }
    };
    let cell = |row: &ScoreRow| input.plan.cells.iter().find(|cell| cell.stack_label == row.stack);
    let size = cell(first)?.stack.array.member_size_bytes;
    let is_of_disks = input
        .samples
        .iter()
        .any(|sample| sample.entry.metric == Metric::TimeToRebuildDisk);
    let subject = match (is_of_disks, size) {
        (true, Some(size)) => format!("Rebuilds of a whole disk, extrapolated from members of {}", bytes(size)),
        (true, None) => "Rebuilds of a whole disk".to_owned(),
        _ => "Rebuilds".to_owned(),
    };
    let risk = rows().filter_map(cell).find_map(|cell| risk(input, cell));
    let sentences = [Some(format!("{subject}: {of_stacks}.")), risk];
    Some(sentences.into_iter().flatten().collect::<Vec<String>>().join(" "))
}

/// What another failure means while a rebuild lasts, on arrays that survive one; `None` if no disk was missing.
fn risk(input: &Input, cell: &Cell) -> Option<String> {
    let is_missing = cell.acts.iter().any(Act::takes_a_member);
    let survives_one = layout_of(input, cell).survives == Some(1);
    let verb = match cell.stack.array.level {
        Level::Raid10 | Level::LvmRaid10 => "can lose",
        _ => "loses",
    };
    (is_missing && survives_one).then(|| {
        format!(
            "From the failure until the rebuild is done another failed disk {verb} the array, and sectors that another disk \
             cannot read are lost.{}",
            unreadable(input, cell).unwrap_or_default()
        )
    })
}

/// How likely that is, by what datasheets of hard disks promise (`Nonrecoverable Read Errors per Bits Read`); `None` for other
/// disks.
fn unreadable(input: &Input, cell: &Cell) -> Option<String> {
    let members = cell.machine.members(&cell.stack.array);
    let is_member = |model: &str| members.iter().any(|(group, _)| group.model == model);
    let disk = input
        .disks
        .iter()
        .find(|disk| is_member(&disk.model) && disk.has_heads)?;
    let others = match cell.stack.array.level {
        Level::Raid4 | Level::Raid5 | Level::LvmRaid5 => {
            cell.member_count().saturating_sub(cell.stack.array.spares + 1)
        }
        Level::Raid1 | Level::Raid10 => 1,
        _ => return None,
    };
    let terabytes = f64::from(others) * disk.bytes as f64 / 1e12;
    Some(format!(
        " A rebuild of a whole disk reads {} TB; datasheets promise at most one unreadable sector in 12.5 TB (10^14 bits, desktop \
         and NAS disks) or 125 TB (10^15, enterprise disks), and disks in good order do better.",
        number_of(terabytes)
    ))
}

/// The load ended before the rebuild, which then went on without it.
fn is_cut_short(rebuild: &Measurement) -> bool {
    rebuild.failed_guards.iter().any(|guard| guard == Guard::ACT)
}
