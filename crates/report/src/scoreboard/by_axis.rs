//! What a value of an axis changes, all else equal: the question that a study with two kernels, levels or processors asks. By the
//! same comparison as `raidlab compare STORE@axis=a STORE@axis=b`.

use super::stack_facts::{is_unreal, names_processor};
use super::{Test, resolution};
use crate::input::Input;
use crate::words::figure::number;
use stats::run_comparison::{ComparisonOutcome, ComparisonRow, RunSide, compare_runs};
use std::collections::HashMap;
use study::plan::{Cell, Plan};

/// More stacks make maps and tables, not sentences.
const STACKS_MAX: usize = 64;

/// With fewer the verdict says it.
const STACKS_MIN: usize = 3;

const SENTENCES_MAX: usize = 4;

/// Each cell is compared by all samples: beyond this it takes seconds.
const CELLS_TIMES_SAMPLES_MAX: usize = 20_000_000;

/// The axis whose value may be a processor that no machine has.
const PROCESSOR: &str = "cpu";

/// The axis that is no stack to choose, but a question of its own: it is answered first.
const KERNEL: &str = "kernel";

/// What axes change, in sentences.
#[derive(Clone, Debug, Default)]
pub(super) struct ByAxis {
    pub(super) kernels: Vec<String>,
    pub(super) others: Vec<String>,
}

/// A sentence for each axis of the stacks and each value against the first one, by the tests that count.
pub(super) fn by_axis(input: &Input, tests: &[Test<'_>]) -> ByAxis {
    let labels = input.plan.stack_labels();
    let own: Vec<&Cell> = input.plan.cells.iter().filter(|cell| !cell.is_imported()).collect();
    let is_large = own.len().saturating_mul(input.samples.len()) > CELLS_TIMES_SAMPLES_MAX;
    if is_large || !(STACKS_MIN..=STACKS_MAX).contains(&input.plan.stack_labels().len()) {
        return ByAxis::default();
    }
    let mut found = ByAxis::default();
    for (axis, values) in axes_of_stacks(&own) {
        let first = values[0];
        for second in &values[1..] {
            let sides = [first, second].map(|value| part(input, axis, value));
            let [one, other] = &sides;
            let side = |plan| RunSide {
                plan,
                measurements: &input.samples,
            };
            let compared = compare_runs(side(one), side(other));
            let counted = |row: &ComparisonRow| {
                let first = one.cells.iter().find(|cell| cell.key == row.first_key)?;
                let second = other.cells.iter().find(|cell| cell.key == row.second_key)?;
                if !differ_only_in(first, second, axis) {
                    return None;
                }
                let mut counted = tests.iter().filter(|test| test.counts && test.name == row.test);
                let test = counted.find(|test| test.workload.name == second.workload.name)?;
                // The scoreboard compares all stacks, and may not show that any is faster than either.
                let is_first = |cell: &Cell| {
                    let place = labels.iter().position(|label| *label == cell.stack_label);
                    place.is_some_and(|place| test.scores[place].is_first)
                };
                let mut row = row.clone();
                if is_first(first) && is_first(second) && row.outcome.is_shown() {
                    row.outcome = ComparisonOutcome::NotShown;
                }
                Some(row)
            };
            let rows: Vec<ComparisonRow> = compared.rows.iter().filter_map(counted).collect();
            if let Some(words) = words(&rows, resolution(input)) {
                // The kernel's sentences stand in the verdict.
                let (name, sentences) = match axis {
                    KERNEL => ("Kernel", &mut found.kernels),
                    _ => (axis, &mut found.others),
                };
                sentences.push(format!("{name} {second} against {first}, all else equal: {words}."));
            }
        }
    }
    found.others.truncate(SENTENCES_MAX);
    found.kernels.truncate(SENTENCES_MAX);
    found
}

/// The axes with several values of which each stack has one, with their values, in the study's order.
fn axes_of_stacks<'a>(cells: &[&'a Cell]) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for (axis, value) in cells.iter().flat_map(|cell| &cell.axes) {
        match all.iter_mut().find(|(name, _)| name == axis) {
            Some((_, values)) if values.contains(&value.as_str()) => {}
            Some((_, values)) => values.push(value),
            None => all.push((axis, vec![value])),
        }
    }
    let is_of_stacks = |axis: &str| {
        let mut of_stack: HashMap<&str, Option<&str>> = HashMap::new();
        cells.iter().all(|cell| {
            let pair = cell.axes.iter().find(|(name, _)| name == axis);
            let value = pair.map(|(_, value)| value.as_str());
            *of_stack.entry(&cell.stack_label).or_insert(value) == value
        })
    };
    all.retain(|(axis, values)| values.len() > 1 && is_of_stacks(axis));
    all
}

/// Whether all else is equal.
fn differ_only_in(first: &Cell, second: &Cell, axis: &str) -> bool {
    fn others<'a>(cell: &'a Cell, axis: &'a str) -> impl Iterator<Item = &'a (String, String)> {
        cell.axes.iter().filter(move |(name, _)| name != axis)
    }
    others(first, axis).eq(others(second, axis))
}

/// The cells with this value.
fn part(input: &Input, axis: &str, value: &str) -> Plan {
    let names_processor = names_processor(input);
    let mut part = input.plan.clone();
    part.cells.retain(|cell| {
        let has_value = cell.axes.iter().any(|(name, own)| name == axis && own == value);
        has_value && !cell.is_imported() && (axis == PROCESSOR || !is_unreal(cell, names_processor))
    });
    part
}

/// `of 8 comparisons, better in 1: 1.35 times (mail deliver, Linux 7.3 xfs), within a tenth in 3, undecided in 4 (up to 1.55 times is
/// possible)`. `None` without comparisons.
fn words(rows: &[ComparisonRow], resolution: f64) -> Option<String> {
    let judged: Vec<(&ComparisonRow, f64)> = rows
        .iter()
        .filter(|row| row.outcome != ComparisonOutcome::TooFewTrials)
        .filter_map(|row| Some((row, row.ratio?)))
        .collect();
    let is = |outcome: ComparisonOutcome| move |&&(row, _): &&(&ComparisonRow, f64)| row.outcome == outcome;
    let better: Vec<_> = judged
        .iter()
        .filter(is(ComparisonOutcome::Faster))
        .filter(|(_, ratio)| ratio * resolution >= 1.0)
        .collect();
    let worse: Vec<_> = judged
        .iter()
        .filter(is(ComparisonOutcome::Slower))
        .filter(|(_, ratio)| *ratio <= resolution)
        .collect();
    let undecided: Vec<_> = judged.iter().filter(is(ComparisonOutcome::NotShown)).collect();
    let near = judged.len() - better.len() - worse.len() - undecided.len();
    let shown = |(row, ratio): &(&ComparisonRow, f64)| {
        let (stack, workload) = row.second_key.split_once(" | ").unwrap_or((&row.second_key, ""));
        format!(
            "{} times ({}, {stack})",
            number(*ratio, 2),
            crate::words::named(workload, &row.test)
        )
    };
    let mut parts = Vec::new();
    for (word, mut all) in [("better", better), ("worse", worse)] {
        all.sort_by(|one, other| one.1.total_cmp(&other.1));
        match all.as_slice() {
            [] => {}
            [only] => parts.push(format!("{word} in 1: {}", shown(only))),
            [least, .., most] => {
                parts.push(format!("{word} in {}: {} to {}", all.len(), shown(least), shown(most)))
            }
        }
    }
    if near > 0 {
        parts.push(format!(
            "within {} in {near}",
            if resolution < 1.0 { "a tenth" } else { "5 %" }
        ));
    }
    if !undecided.is_empty() {
        let most =
            |(row, _): &&(&ComparisonRow, f64)| row.interval.map(|interval| interval.high.max(1.0 / interval.low));
        let possible = undecided
            .iter()
            .copied()
            .filter_map(|one| most(&one))
            .fold(1.0, f64::max);
        parts.push(format!(
            "undecided in {} (a factor of {} is possible)",
            undecided.len(),
            number(possible, 1)
        ));
    }
    (!parts.is_empty()).then(|| {
        format!(
            "of {}, {}",
            study::wording::count(judged.len(), "comparison"),
            parts.join(", ")
        )
    })
}
