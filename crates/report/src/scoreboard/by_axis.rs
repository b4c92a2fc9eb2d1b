//! What a value of an axis changes, all else equal: the question that a study with two kernels, levels or processors asks.

use super::choice::SIMULATED_RESOLUTION;
use crate::input::Input;
use crate::words::figure::number;
use crate::words::named;
use stats::{ALPHA, Effect, InBlock, Measure, PooledVariance, Results, faster};
use std::collections::BTreeMap;
use study::metric::Better;
use study::plan::Cell;

/// More stacks make maps and tables, not sentences.
const STACKS_MAX: usize = 64;

/// With fewer the verdict says it.
const STACKS_MIN: usize = 3;

const SENTENCES_MAX: usize = 4;

/// An axis, and two of its values by their places in the study's order.
type Question = (usize, usize, usize);

/// One test of two stacks that differ in one axis.
struct Compared {
    effect: Effect,
    /// The test, and the stack with the second value.
    at: String,
}

/// The axes of the plan with their values, in the study's order.
struct Axes<'a>(Vec<(&'a str, Vec<&'a str>)>);

impl<'a> Axes<'a> {
    fn of(cells: &[&'a Cell]) -> Self {
        let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
        for (axis, value) in cells.iter().flat_map(|cell| &cell.axes) {
            let values = match all.iter().position(|(name, _)| name == axis) {
                Some(place) => &mut all[place].1,
                None => {
                    all.push((axis, Vec::new()));
                    &mut all.last_mut().expect("it was pushed").1
                }
            };
            if !values.contains(&value.as_str()) {
                values.push(value);
            }
        }
        Self(all)
    }

    /// The question that two cells answer which differ in the value of one axis, and in which cell that value comes first.
    fn question(&self, one: &Cell, other: &Cell) -> Option<(Question, bool)> {
        if one.stack_label == other.stack_label {
            return None;
        }
        let [of_one, of_other] = [one, other].map(|cell| {
            // Their number belongs to the processor.
            let is_own =
                |(axis, _): &&(String, String)| axis != "cores" || one.machine.processor == other.machine.processor;
            cell.axes.iter().filter(is_own).collect::<Vec<_>>()
        });
        let mut different = of_one.iter().zip(&of_other).filter(|(one, other)| one != other);
        let ((axis, first), (other_axis, second)) = different.next()?;
        if of_one.len() != of_other.len() || different.next().is_some() || axis != other_axis {
            return None;
        }
        let axis = self.0.iter().position(|(name, _)| name == axis)?;
        let place = |value: &str| self.0[axis].1.iter().position(|other| *other == value);
        let (first, second) = (place(first)?, place(second)?);
        Some(((axis, first.min(second), first.max(second)), first < second))
    }
}

/// A sentence for each axis and value against the first one, of tests of the run's own stacks.
pub(crate) fn by_axis(input: &Input, results: &Results) -> Vec<String> {
    let stacks = input.plan.stack_labels().len();
    let own: Vec<&Cell> = input.plan.cells.iter().filter(|cell| !cell.is_imported()).collect();
    if !(STACKS_MIN..=STACKS_MAX).contains(&stacks) {
        return Vec::new();
    }
    let axes = Axes::of(&own);
    let mut all: BTreeMap<Question, Vec<Compared>> = BTreeMap::new();
    for workload in &results.workloads {
        for test in &workload.tests {
            add(
                &mut all,
                input,
                &axes,
                test.headline(),
                &named(&workload.name, &test.name),
            );
        }
    }
    let resolution = if input.is_simulated() {
        SIMULATED_RESOLUTION
    } else {
        1.0
    };
    all.retain(|(_, first, _), _| *first == 0);
    let of = |((axis, first, second), compared): (&Question, &Vec<Compared>)| {
        let (name, values) = &axes.0[*axis];
        format!(
            "{name} {} against {}, all else equal: {}.",
            values[*second],
            values[*first],
            words(compared, resolution)
        )
    };
    all.iter().map(of).take(SENTENCES_MAX).collect()
}

fn add(all: &mut BTreeMap<Question, Vec<Compared>>, input: &Input, axes: &Axes<'_>, measure: &Measure, test: &str) {
    if measure.metric.better() == Better::Neither {
        return;
    }
    let cells = measure.rows.iter().filter_map(|row| {
        let cell = input.plan.cell(row.cell?).filter(|cell| !cell.is_imported())?;
        let values: Vec<InBlock> = row.values.iter().map(InBlock::by_round).collect();
        Some((cell, values))
    });
    let cells: Vec<(&Cell, Vec<InBlock>)> = cells.collect();
    let values: Vec<Vec<InBlock>> = cells.iter().map(|(_, values)| values.clone()).collect();
    let pool = PooledVariance::of(&values);
    for (place, (one, of_one)) in cells.iter().enumerate() {
        for (other, of_other) in &cells[place + 1..] {
            let Some((question, is_in_order)) = axes.question(one, other) else {
                continue;
            };
            let (first, second, stack) = match is_in_order {
                true => (of_one, of_other, &other.stack_label),
                false => (of_other, of_one, &one.stack_label),
            };
            let Some(effect) = Effect::of(second, first, pool.as_ref()) else {
                continue;
            };
            all.entry(question).or_default().push(Compared {
                effect: faster(effect, measure.metric.better()),
                at: format!("{test}, {stack}"),
            });
        }
    }
}

/// `better in 2 of 8 comparisons, at most 1.35 times (mail deliver, Linux 7.3 xfs), not shown to differ in the others`. All
/// comparisons together err at [`ALPHA`] (Bonferroni).
fn words(compared: &[Compared], resolution: f64) -> String {
    let alpha = ALPHA / compared.len().max(1) as f64;
    let by_ratio = |one: &&Compared, other: &&Compared| one.effect.ratio().total_cmp(&other.effect.ratio());
    let is_better =
        |one: &&Compared| one.effect.interval(alpha).low > 1.0 && one.effect.ratio() * resolution >= 1.0;
    let is_worse = |one: &&Compared| one.effect.interval(alpha).high < 1.0 && one.effect.ratio() <= resolution;
    let better: Vec<&Compared> = compared.iter().filter(is_better).collect();
    let worse: Vec<&Compared> = compared.iter().filter(is_worse).collect();
    let of = |count: usize, is_first: bool| match (is_first, compared.len()) {
        (true, 1) => "the one comparison".to_owned(),
        (true, all) => format!("{count} of {all} comparisons"),
        (false, _) => count.to_string(),
    };
    let shown = |one: &Compared| format!("{} times ({})", number(one.effect.ratio(), 2), one.at);
    let mut parts = Vec::new();
    if let Some(most) = better.iter().copied().max_by(by_ratio) {
        parts.push(format!("better in {}, at most {}", of(better.len(), true), shown(most)));
    }
    if let Some(least) = worse.iter().copied().min_by(by_ratio) {
        let count = of(worse.len(), parts.is_empty());
        parts.push(format!("worse in {count}, at worst {}", shown(least)));
    }
    let difference = if resolution < 1.0 {
        "difference of a tenth or more"
    } else {
        "difference"
    };
    match (parts.is_empty(), compared.len() - better.len() - worse.len()) {
        (true, all) => format!(
            "no {difference} is shown in {}",
            match all {
                1 => "the one comparison".to_owned(),
                all => format!("any of {all} comparisons"),
            }
        ),
        (false, 0) => parts.join(", "),
        (false, others) => format!("{}; no {difference} is shown in {others}", parts.join(", ")),
    }
}
