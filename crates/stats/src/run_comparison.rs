//! Compares two runs cell by cell.
//!
//! Cells are paired by identity; a cell whose identity is not in the other run is paired with the cell of the same
//! stack, workload and replicate on another machine or kernel, if there is exactly one, or else with the one that does the
//! same work and has the same value on each axis with several values. What differs is listed. An imported cell is paired with the
//! one of the same name, because that is all that is known of it. Values are paired by seed:
//! if both runs worked on the same files, the effect of the files cancels. The familywise error over all
//! differences is below 5 % (Holm).

mod differences;
mod imported;

use crate::compare::{Effect, InBlock, PooledVariance, faster, holm, times_better};
use crate::group_sequential::ALPHA;
use crate::interval::Interval;
use crate::interval::TRIALS_MIN;
use crate::judge::{Lead, distinct};
use crate::summary::Summary;
use std::collections::{HashMap, HashSet};
use study::metric::{Better, Metric};
use study::plan::{Cell, Plan};
use study::{CellId, Measurement};

/// A run, or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct RunSide<'a> {
    pub plan: &'a Plan,
    pub measurements: &'a [Measurement],
}

/// Result of comparing two runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunComparison {
    /// In the order of the first run.
    pub rows: Vec<ComparisonRow>,
    /// Keys of the cells that only one run has.
    pub only_first: Vec<String>,
    pub only_second: Vec<String>,
    /// What differs between the cells of pairs: `machine.ram_bytes: 536870912 in A, 1073741824 in B`.
    pub differences: Vec<String>,
    /// Set if an imported cell has no partner.
    pub names: Option<Names>,
}

/// What imported results must be called to be compared with a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    pub stacks: Vec<String>,
    pub workloads: Vec<String>,
    pub tests: Vec<String>,
}

/// The main metric of one test of a cell that both runs have.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRow {
    /// Keys of the cell in the two runs.
    pub first_key: String,
    pub second_key: String,
    /// Both are the same cell; otherwise a setting differs ([`RunComparison::differences`]).
    pub is_same_cell: bool,
    pub test: String,
    pub metric: Metric,
    /// `None` without valid values.
    pub first: Option<Summary>,
    pub second: Option<Summary>,
    /// Ratio of second to first, above 1 if the second is better; of the medians with too few trials of imported results, which
    /// cannot be repeated; otherwise `None` with too few trials.
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio, for this row alone.
    pub interval: Option<Interval>,
    /// Number of compared trials, and whether their seeds were equal.
    pub trials: usize,
    pub by_seed: bool,
    pub outcome: ComparisonOutcome,
}

/// The second run relative to the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComparisonOutcome {
    Faster,
    Slower,
    /// Shown to differ by at most this fraction.
    EqualWithin(f64),
    NotShown,
    TooFewTrials,
}

impl ComparisonOutcome {
    /// A difference, in either direction.
    pub const fn is_shown(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::EqualWithin(_) => "equal",
            Self::NotShown => "not shown to differ",
            Self::TooFewTrials => "too few trials",
        }
    }
}

/// Cells are called equal if their difference is shown to be at most this fraction.
const EQUAL_WITHIN: f64 = 0.05;

/// Compares the second run with the first one.
pub fn compare_runs(first: RunSide<'_>, second: RunSide<'_>) -> RunComparison {
    let mut pairs = pairs(first.plan, second.plan);
    pairs.extend(imported::pairs(first, second));
    let paired: HashSet<CellId> = pairs.iter().flat_map(|pair| [pair.0.id, pair.1.id]).collect();
    let alike = differences::alike(first.plan, second.plan, |cell| !paired.contains(&cell.id));
    pairs.extend(alike);
    let of_first: HashSet<CellId> = pairs.iter().map(|pair| pair.0.id).collect();
    let of_second: HashSet<CellId> = pairs.iter().map(|pair| pair.1.id).collect();
    let only = |plan: &Plan, paired: &HashSet<CellId>| -> Vec<String> {
        let alone = plan.cells.iter().filter(|cell| !paired.contains(&cell.id));
        alone.map(|cell| cell.key.clone()).collect()
    };
    let (only_first, only_second) = (only(first.plan, &of_first), only(second.plan, &of_second));
    let (by_first, by_second) = (by_cell(first.measurements), by_cell(second.measurements));
    fn of_cell<'a>(all: &ByCell<'a>, cell: &Cell) -> Vec<&'a Measurement> {
        all.get(&cell.id).cloned().unwrap_or_default()
    }
    let compared: Vec<Compared<'_>> = pairs
        .iter()
        .flat_map(|pair| compared(of_cell(&by_first, pair.0), of_cell(&by_second, pair.1), *pair))
        .collect();
    let is_alone =
        |cell: &Cell| cell.is_imported() && !of_first.contains(&cell.id) && !of_second.contains(&cell.id);
    let mut own = [(first, second), (second, first)].into_iter();
    let own = own.find(|(own, other)| {
        !own.plan.cells.iter().any(Cell::is_imported) && other.plan.cells.iter().any(is_alone)
    });
    RunComparison {
        rows: judged(&compared),
        only_first,
        only_second,
        differences: differences::differences(&pairs),
        names: own.map(|(own, _)| names(own)),
    }
}

fn names(of: RunSide<'_>) -> Names {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    Names {
        stacks: owned(of.plan.stack_labels()),
        workloads: owned(of.plan.workload_names()),
        tests: owned(distinct(of.measurements.iter().map(|one| one.entry.test.as_str()))),
    }
}

/// The pairs of cells.
fn pairs<'a>(first: &'a Plan, second: &'a Plan) -> Vec<(&'a Cell, &'a Cell)> {
    let by_setting = |plan: &'a Plan| {
        let mut alike: HashMap<CellId, Vec<&'a Cell>> = HashMap::new();
        for cell in &plan.cells {
            alike.entry(CellId::anywhere(cell)).or_default().push(cell);
        }
        alike
    };
    let (of_first, of_second) = (first.cells_by_id(), second.cells_by_id());
    let alike_in_second = by_setting(second);
    let mut pairs = Vec::new();
    for (setting, alike) in by_setting(first) {
        for cell in &alike {
            if let Some(same) = of_second.get(&cell.id) {
                pairs.push((*cell, *same));
                continue;
            }
            let others = alike_in_second.get(&setting).into_iter().flatten();
            let mut others = others.filter(|other| !of_first.contains_key(&other.id));
            if let (Some(other), None, 1) = (others.next(), others.next(), alike.len()) {
                pairs.push((*cell, *other));
            }
        }
    }
    let places: HashMap<CellId, usize> = first
        .cells
        .iter()
        .zip(0..)
        .map(|(cell, place)| (cell.id, place))
        .collect();
    pairs.sort_by_key(|(cell, _)| places.get(&cell.id));
    pairs
}

/// One test of a pair of cells.
struct Compared<'a> {
    cells: (&'a Cell, &'a Cell),
    test: &'a str,
    metric: Metric,
    first: Vec<InBlock>,
    second: Vec<InBlock>,
}

type ByCell<'a> = HashMap<CellId, Vec<&'a Measurement>>;

fn by_cell(all: &[Measurement]) -> ByCell<'_> {
    let mut by_cell = ByCell::new();
    for one in all {
        by_cell.entry(one.trial.cell).or_default().push(one);
    }
    by_cell
}

/// The measurements of a pair of cells, each test of both.
fn compared<'a>(
    first: Vec<&'a Measurement>,
    second: Vec<&'a Measurement>,
    cells: (&'a Cell, &'a Cell),
) -> Vec<Compared<'a>> {
    let tests = distinct(first.iter().chain(&second).map(|one| one.entry.test.as_str()));
    let all: Vec<&Measurement> = first.iter().chain(&second).copied().collect();
    let lead = Lead::of([cells.0, cells.1], &all);
    let by_test = |all: Vec<&'a Measurement>| {
        let mut by_test: HashMap<&'a str, Vec<&'a Measurement>> = HashMap::new();
        for one in all {
            by_test.entry(one.entry.test.as_str()).or_default().push(one);
        }
        by_test
    };
    let (mut first, mut second) = (by_test(first), by_test(second));
    let of_test = |test: &'a str| {
        let first = first.remove(test).unwrap_or_default();
        let second = second.remove(test).unwrap_or_default();
        if (cells.0.is_imported() || cells.1.is_imported()) && (first.is_empty() || second.is_empty()) {
            // A test of another pair.
            return None;
        }
        let both: Vec<&Measurement> = first.iter().chain(&second).copied().collect();
        let metrics = distinct(both.iter().map(|one| one.entry.metric));
        let has_metric = |all: &[&Measurement], metric: Metric| all.iter().any(|one| one.entry.metric == metric);
        let in_both = |metric: &Metric| has_metric(&first, *metric) && has_metric(&second, *metric);
        let shared: Vec<Metric> = metrics.iter().copied().filter(in_both).collect();
        let metric = lead.metric(if shared.is_empty() { &metrics } else { &shared }, &both);
        let metric = metric.filter(|metric| metric.better() != Better::Neither)?;
        let values = |all: &[&Measurement], cell: &Cell| -> Vec<InBlock> {
            let counted = all.iter().filter(|one| one.entry.metric == metric && one.counts());
            counted
                .map(|one| InBlock::by_seed(one).drawn(cell.machine.draws_models))
                .collect()
        };
        Some(Compared {
            cells,
            test,
            metric,
            first: values(&first, cells.0),
            second: values(&second, cells.1),
        })
    };
    tests.into_iter().filter_map(of_test).collect()
}

fn judged(compared: &[Compared<'_>]) -> Vec<ComparisonRow> {
    let effects = effects(compared);
    let probabilities: Vec<f64> = effects.iter().flatten().map(Effect::p_differ).collect();
    let count = probabilities.len().max(1) as f64;
    let mut adjusted = holm(&probabilities).into_iter();
    let alpha = 0.8 * ALPHA;
    let rows = compared.iter().zip(effects).map(|(one, effect)| {
        let outcome = match effect {
            None => ComparisonOutcome::TooFewTrials,
            Some(effect) => {
                let probability = adjusted.next().unwrap_or(1.0);
                let interval = effect.interval(2.0 * alpha / count);
                let most = interval.high.max(1.0 / interval.low) - 1.0;
                match probability <= alpha {
                    // A difference that is shown to be negligible counts as equal.
                    _ if most <= EQUAL_WITHIN => ComparisonOutcome::EqualWithin(most),
                    true if effect.ratio() > 1.0 => ComparisonOutcome::Faster,
                    true => ComparisonOutcome::Slower,
                    false => ComparisonOutcome::NotShown,
                }
            }
        };
        let summary = |values: &[InBlock], cell: &Cell| {
            let values: Vec<f64> = values.iter().map(|one| one.value).collect();
            match cell.machine.draws_models {
                true => Summary::of_drawn(&values, ALPHA),
                false => Summary::of(&values, ALPHA),
            }
        };
        ComparisonRow {
            first_key: one.cells.0.key.clone(),
            second_key: one.cells.1.key.clone(),
            is_same_cell: one.cells.0.id == one.cells.1.id,
            test: one.test.to_owned(),
            metric: one.metric,
            first: summary(&one.first, one.cells.0),
            second: summary(&one.second, one.cells.1),
            ratio: effect.map(|effect| effect.ratio()).or_else(|| ratio_of_medians(one)),
            interval: effect.map(|effect| effect.interval(ALPHA)),
            trials: effect.map_or(one.first.len().min(one.second.len()), |effect| effect.pairing.trials()),
            by_seed: common_seeds(one) >= TRIALS_MIN,
            outcome,
        }
    });
    rows.collect()
}

/// For imported results with too few trials.
fn ratio_of_medians(one: &Compared<'_>) -> Option<f64> {
    if !one.cells.0.is_imported() && !one.cells.1.is_imported() {
        return None;
    }
    let median =
        |values: &[InBlock]| study::median(values.iter().map(|one| one.value)).filter(|value| *value > 0.0);
    let (first, second) = (median(&one.first)?, median(&one.second)?);
    Some(times_better(one.metric.better(), second, first))
}

fn common_seeds(one: &Compared<'_>) -> usize {
    let blocks: HashSet<_> = one.second.iter().map(|other| other.block).collect();
    one.first.iter().filter(|value| blocks.contains(&value.block)).count()
}

/// Second over first, oriented so that larger is better. Pairs of the same work share what is known of its scatter.
fn effects(all: &[Compared<'_>]) -> Vec<Option<Effect>> {
    fn work<'a>(one: &Compared<'a>) -> (&'a str, Metric, &'a str) {
        (one.test, one.metric, one.cells.0.workload.name.as_str())
    }
    let mut by_work: HashMap<_, Vec<&Compared<'_>>> = HashMap::new();
    for one in all {
        by_work.entry(work(one)).or_default().push(one);
    }
    let pool = |pairs: Vec<&Compared<'_>>| {
        PooledVariance::of_pairs(
            pairs
                .into_iter()
                .map(|pair| (pair.second.as_slice(), pair.first.as_slice())),
        )
    };
    let pools: HashMap<_, _> = by_work.into_iter().map(|(work, pairs)| (work, pool(pairs))).collect();
    let effect = |one: &Compared<'_>| {
        let pool = pools.get(&work(one)).and_then(Option::as_ref);
        Effect::of(&one.second, &one.first, pool).map(|effect| faster(effect, one.metric.better()))
    };
    all.iter().map(effect).collect()
}

#[cfg(test)]
mod tests;
