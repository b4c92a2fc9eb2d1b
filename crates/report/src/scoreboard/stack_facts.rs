//! What stacks give and take besides their figures: usable disks, failures survived, resyncs, rebuilds, power cuts.

use super::sentences::resync_time;
use super::{ScoreRow, Scoreboard, is_rebuild};
use crate::input::Input;
use crate::words::figure::{count, number, number_of};
use crate::words::listed;
use stats::{Results, TestResults};
use study::act::Act;
use study::event::{Guard, Measurement};
use study::metric::Metric;
use study::plan::Cell;
use study::stack::Level;
use study::wording::bytes;

/// Rebuilds that are listed; of more, the shortest and the longest are.
const REBUILDS_MAX: usize = 4;

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

fn facts(board: &Scoreboard) -> [Facts; 5] {
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
                (_, false) => "no".to_owned(),
            }),
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
    let parts = of_layout
        .filter(|words| !words.is_empty())
        .into_iter()
        .chain(of_rebuild);
    match parts.collect::<Vec<String>>().join("; ") {
        words if words.is_empty() => words,
        words => format!("All stacks: {words}."),
    }
}

/// The shortest and the longest rebuild of a stack over all workloads, by their medians; `14.7 to 30.0 h; not done when films ended`
/// if a workload ended before its rebuild, of which no time under that load is known.
pub(super) fn rebuild(results: &Results, place: usize) -> String {
    let mut figures: Vec<(f64, &str)> = Vec::new();
    let mut unfinished: Vec<&str> = Vec::new();
    for workload in &results.workloads {
        let rebuilds = workload.tests.iter().map(TestResults::headline);
        for measure in rebuilds.filter(|measure| is_rebuild(measure.metric)) {
            let row = &measure.rows[place];
            match &row.summary {
                Some(summary) => figures.push((summary.median, measure.metric.unit().name())),
                None if row.excluded.iter().any(is_cut_short) && !unfinished.contains(&workload.name.as_str()) => {
                    unfinished.push(&workload.name);
                }
                None => {}
            }
        }
    }
    let by_median = |one: &&(f64, &str), other: &&(f64, &str)| one.0.total_cmp(&other.0);
    let ends = figures.iter().min_by(by_median).zip(figures.iter().max_by(by_median));
    let range = ends.map(|((shortest, unit), (longest, _))| match shortest == longest {
        true => format!("{} {unit}", number_of(*shortest)),
        false => format!("{} to {} {unit}", number_of(*shortest), number_of(*longest)),
    });
    let unfinished =
        (!unfinished.is_empty()).then(|| format!("not done when {} ended", listed(&unfinished, "and")));
    range.into_iter().chain(unfinished).collect::<Vec<String>>().join("; ")
}

/// What a study of one stack says about its rebuilds, as the first sentence: the figure under each workload. `None` if there
/// is more than one stack, or no rebuild.
pub(super) fn rebuilds_of_one_stack(input: &Input, results: &Results) -> Option<String> {
    let [_] = input.plan.stack_labels()[..] else {
        return None;
    };
    let cell = input.plan.cells.first()?;
    let mut figures: Vec<(f64, Metric, &str)> = Vec::new();
    let mut unfinished: Vec<&str> = Vec::new();
    for workload in &results.workloads {
        let measures = workload.tests.iter().map(TestResults::headline);
        for measure in measures.filter(|measure| is_rebuild(measure.metric)) {
            let row = measure.rows.first()?;
            match &row.summary {
                Some(summary) => figures.push((summary.median, measure.metric, &workload.name)),
                None if row.excluded.iter().any(is_cut_short) => unfinished.push(&workload.name),
                None => {}
            }
        }
    }
    let unfinished = match unfinished.as_slice() {
        [] => None,
        names => Some(format!("The rebuild was not done when {} ended.", listed(names, "and"))),
    };
    let Some(&(_, metric, _)) = figures.first() else {
        return unfinished;
    };
    figures.retain(|(_, other, _)| *other == metric);
    let words = |(figure, metric, workload): &(f64, Metric, &str)| {
        format!("{} {} ({workload})", number_of(*figure), metric.unit().name())
    };
    let figures = match figures.len() {
        ..=REBUILDS_MAX => {
            let all: Vec<String> = figures.iter().map(words).collect();
            listed(&all.iter().map(String::as_str).collect::<Vec<_>>(), "and")
        }
        _ => {
            figures.sort_by(|one, other| one.0.total_cmp(&other.0));
            format!("{} to {}", words(&figures[0]), words(&figures[figures.len() - 1]))
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

/// What another failure means while a rebuild lasts, on arrays that survive one; `None` if no disk was missing.
fn risk(input: &Input, cell: &Cell) -> Option<String> {
    let is_missing = cell.acts.iter().any(Act::takes_a_member);
    let survives_one = super::layout(input, cell).survives == Some(1);
    let verb = match cell.stack.array.level {
        Level::Raid10 | Level::LvmRaid10 => "can lose",
        _ => "loses",
    };
    (is_missing && survives_one).then(|| format!("Another failed disk in that time {verb} the array."))
}

/// The load ended before the rebuild, which then went on without it.
fn is_cut_short(rebuild: &Measurement) -> bool {
    rebuild.failed_guards.iter().any(|guard| guard == Guard::ACT)
}
