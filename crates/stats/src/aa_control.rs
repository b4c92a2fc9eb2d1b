//! The A/A control: replicates of a cell differ by chance alone, so a significant difference between them is one
//! that the statistics of this run do not account for (drift, order, other load).
//!
//! Replicates have their own seeds. Each pair of a cell and its replicate is compared in the main metric of each
//! test like any two cells; Holm's procedure keeps the error at 5 % over all of them.

use crate::compare::{Effect, InBlock, PooledVariance, holm};
use crate::group_sequential::{ALPHA, alpha_of_differences};
use crate::interval::Interval;
use crate::judge::{distinct, headline};
use std::collections::HashMap;
use study::metric::{Better, Metric};
use study::plan::{Cell, Plan};
use study::{CellId, Measurement};

/// A cell against its replicate in one test.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlPair {
    /// Keys of the cell and of its replicate.
    pub first: String,
    pub second: String,
    pub test: String,
    /// The first relative to the second, oriented so that larger is better.
    pub ratio: f64,
    /// 95 % interval for this pair alone.
    pub interval: Interval,
    /// Whether a difference is shown, after the correction for all pairs.
    pub differs: bool,
}

/// All pairs with enough trials, in the plan's order. Empty if the study has no replicates.
pub fn control(plan: &Plan, measurements: &[Measurement]) -> Vec<ControlPair> {
    let mut by_cell: HashMap<CellId, Vec<&Measurement>> = HashMap::new();
    for one in measurements.iter().filter(|one| one.counts()) {
        by_cell.entry(one.trial.cell).or_default().push(one);
    }
    let mut pairs: Vec<(ControlPair, f64)> = Vec::new();
    for cell in plan.cells.iter().filter(|cell| cell.replicate == 0) {
        for replicate in plan.cells.iter().filter(|other| other.is_replicate_of(cell)) {
            let none = Vec::new();
            let [first, second] = [cell, replicate].map(|cell| by_cell.get(&cell.id).unwrap_or(&none));
            for test in distinct(first.iter().map(|one| one.entry.test.as_str())) {
                pairs.extend(pair((cell, first), (replicate, second), test));
            }
        }
    }
    let adjusted = holm(&pairs.iter().map(|(_, probability)| *probability).collect::<Vec<f64>>());
    let alpha = alpha_of_differences(&plan.precision);
    let judged = pairs.into_iter().zip(adjusted);
    judged
        .map(|((pair, _), probability)| ControlPair {
            differs: probability <= alpha,
            ..pair
        })
        .collect()
}

type WithValues<'a> = (&'a Cell, &'a [&'a Measurement]);

/// The pair and its two-sided p-value; absent with too few trials.
fn pair(first: WithValues<'_>, second: WithValues<'_>, test: &str) -> Option<(ControlPair, f64)> {
    let of_test = |values: &[&Measurement]| -> Vec<Metric> {
        let of_test = values.iter().filter(|one| one.entry.test == test);
        distinct(of_test.map(|one| one.entry.metric))
    };
    let metric = headline(&of_test(first.1))?;
    let values = |(_, all): WithValues<'_>| -> Vec<InBlock> {
        let of_metric = all
            .iter()
            .filter(|one| one.entry.test == test && one.entry.metric == metric);
        of_metric.map(|one| InBlock::by_round(one)).collect()
    };
    let (of_first, of_second) = (values(first), values(second));
    let pool = PooledVariance::of_pairs(std::iter::once((of_first.as_slice(), of_second.as_slice())));
    let effect = Effect::of(&of_first, &of_second, pool.as_ref())?;
    let better = match metric.better() {
        Better::Lower => effect.turned(),
        Better::Higher | Better::Neither => effect,
    };
    let pair = ControlPair {
        first: first.0.key.clone(),
        second: second.0.key.clone(),
        test: test.to_owned(),
        ratio: better.ratio(),
        interval: better.interval(ALPHA),
        differs: false,
    };
    Some((pair, effect.p_differ()))
}

#[cfg(test)]
mod tests;
