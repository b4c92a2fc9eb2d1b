//! Whether samples depend on when they were taken, on a host: drift of all cells, and effects of a trial's position
//! in the run. Trials in the lab cannot affect each other, so nothing is tested there.
//!
//! All tests use ranks within a cell and combine the cells, so noise may have any distribution and any scale in
//! each cell. A trial counts once, with the mean of its tests' residuals: the logarithms of the main metrics minus
//! the cell's median, oriented so that larger is better. If a cell's trials are exchangeable, which they are if
//! nothing depends on time, the probability of an alarm is at most [`LEVEL`]; `tests/it/time_effects.rs` shows it by
//! simulation.
//!
//! - **Drift**: Mann and Kendall's test of a trend, with the sum over cells of Kendall's S (Hirsch, Slack and
//!   Smith, *Water Resources Research* 18, 1982: the seasonal Kendall test, with cells for seasons). One test for a
//!   run.
//! - **Order**: each cell's own trend by the same test; the first trial of each cell against its others, and trials
//!   directly after one of a given cell against all others, by Wilcoxon's rank sums weighted over cells (van
//!   Elteren, *Bulletin of the International Statistical Institute* 37, 1960). Holm's procedure over all of them.

mod ranks;

use crate::compare::holm;
use crate::judge::{distinct, headline};
use ranks::{kendall, rank_sum, two_sided};
use std::collections::HashMap;
use study::metric::Better;
use study::plan::{Cell, Plan};
use study::stack::MachineKind;
use study::{CellId, Measurement, TrialKey, median};

/// Error level of the drift of a run, and of all order effects of a run together.
pub const LEVEL: f64 = 0.01;

/// Minimum number of trials in either group of a comparison.
const GROUP_MIN: usize = 3;

/// A trend of all cells together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The last trial of the run relative to the first: 0.9 is 10 % less throughput, or correspondingly more time.
    pub ratio: f64,
    pub trials: usize,
    pub cells: usize,
    /// Two-sided.
    pub probability: f64,
}

/// A dependence on the position in the run.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderEffect {
    pub place: RunPosition,
    /// Trials at this position relative to the others, or the end of a trend relative to its start; oriented so
    /// that larger is better.
    pub ratio: f64,
    /// Number of trials at this position; all trials of the cell for a trend.
    pub trials: usize,
    /// Two-sided, after Holm's correction.
    pub probability: f64,
}

/// A position in the run. Cells are given by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPosition {
    /// The first trial of each cell.
    First,
    /// A trend over the trials of this cell.
    Later(String),
    /// Directly after a trial of this cell.
    After(String),
}

/// The drift of a run, if it is significant. `order` has all trials of the run in the order in which they were
/// started.
pub fn drift(plan: &Plan, measurements: &[Measurement], order: &[TrialKey]) -> Option<Drift> {
    let cells = timed_cells(plan, measurements, order);
    let probability = trend(&cells, None);
    let (first, last) = ends(&cells)?;
    (probability <= LEVEL).then(|| Drift {
        ratio: (slope(&cells) * (last - first) as f64).exp(),
        trials: cells.iter().map(|cell| cell.trials.len()).sum(),
        cells: cells.len(),
        probability,
    })
}

/// Two-sided p-value of a common trend, optionally without one cell. It is the larger of the p-values with and
/// without each cell's first trial, which may be slow because the machine has to warm up, and that is not drift.
fn trend(cells: &[Timed<'_>], left_out: Option<CellId>) -> f64 {
    let from = |first: usize| {
        let others = cells.iter().filter(|cell| Some(cell.cell.id) != left_out);
        two_sided(others.map(|cell| kendall(&cell.values()[first..])))
    };
    from(0).max(from(1))
}

/// The significant order effects, in the order of [`RunPosition`]. Effects that a [`drift`] of the run explains (first
/// trials, the trend of a cell if the others have one) are omitted.
pub fn order_effects(plan: &Plan, measurements: &[Measurement], order: &[TrialKey]) -> Vec<OrderEffect> {
    let cells = timed_cells(plan, measurements, order);
    let is_explained = |place: &RunPosition| match place {
        RunPosition::First => trend(&cells, None) <= LEVEL,
        RunPosition::Later(key) => {
            let own = cells.iter().find(|cell| cell.cell.key == *key);
            trend(&cells, own.map(|cell| cell.cell.id)) <= LEVEL
        }
        RunPosition::After(_) => false,
    };
    let tested = tested(&cells, order);
    let adjusted = holm(&tested.iter().map(|one| one.probability).collect::<Vec<f64>>());
    let shown = tested
        .into_iter()
        .zip(adjusted)
        .filter(|(one, probability)| *probability <= LEVEL && !is_explained(&one.place));
    let mut shown: Vec<OrderEffect> = shown
        .map(|(one, probability)| OrderEffect { probability, ..one })
        .collect();
    if cells.len() == 2 {
        // With two cells, "after the one" is the opposite of "after the other".
        let mut after = false;
        shown.retain(|one| !(matches!(one.place, RunPosition::After(_)) && std::mem::replace(&mut after, true)));
    }
    shown
}

/// All tested order effects, before the correction.
fn tested(cells: &[Timed<'_>], order: &[TrialKey]) -> Vec<OrderEffect> {
    let is_first = |_: &Timed<'_>, at: usize| at == 0;
    let mut tested: Vec<OrderEffect> = group(cells, RunPosition::First, is_first).into_iter().collect();
    tested.extend(
        cells
            .iter()
            .filter(|cell| cell.trials.len() > GROUP_MIN)
            .filter_map(|cell| {
                let (first, last) = ends(std::slice::from_ref(cell))?;
                Some(OrderEffect {
                    place: RunPosition::Later(cell.cell.key.clone()),
                    ratio: (slope(std::slice::from_ref(cell)) * (last - first) as f64).exp(),
                    trials: cell.trials.len(),
                    probability: two_sided(std::iter::once(kendall(&cell.values()))),
                })
            }),
    );
    tested.extend(cells.iter().filter_map(|before| {
        let is_after = |cell: &Timed<'_>, at: usize| {
            let started = cell.trials[at].started;
            started > 0 && order[started - 1].cell == before.cell.id
        };
        group(cells, RunPosition::After(before.cell.key.clone()), is_after)
    }));
    tested
}

/// The trials of a cell on a host, in the order in which they were started.
struct Timed<'a> {
    cell: &'a Cell,
    trials: Vec<TimedTrial>,
}

struct TimedTrial {
    /// Position in the run.
    started: usize,
    residual: f64,
}

impl Timed<'_> {
    fn values(&self) -> Vec<f64> {
        self.trials.iter().map(|trial| trial.residual).collect()
    }
}

fn timed_cells<'a>(plan: &'a Plan, measurements: &[Measurement], order: &[TrialKey]) -> Vec<Timed<'a>> {
    let places: HashMap<(CellId, u32), usize> = order
        .iter()
        .enumerate()
        .map(|(place, trial)| ((trial.cell, trial.index), place))
        .collect();
    let mut by_cell: HashMap<CellId, Vec<&Measurement>> = HashMap::new();
    for one in measurements.iter().filter(|one| one.counts() && one.entry.value > 0.0) {
        by_cell.entry(one.trial.cell).or_default().push(one);
    }
    let of_cell = |cell: &'a Cell| {
        let of_trials = residuals(cell, by_cell.get(&cell.id)?);
        let mut trials: Vec<TimedTrial> = of_trials
            .into_iter()
            .filter_map(|(index, residual)| {
                let started = *places.get(&(cell.id, index))?;
                Some(TimedTrial { started, residual })
            })
            .collect();
        trials.sort_by_key(|trial| trial.started);
        (trials.len() > 1).then_some(Timed { cell, trials })
    };
    let on_hosts = plan.cells.iter().filter(|cell| cell.machine.kind == MachineKind::Host);
    on_hosts.filter_map(of_cell).collect()
}

/// The residual of each trial of a cell, by index.
fn residuals(cell: &Cell, of_cell: &[&Measurement]) -> HashMap<u32, f64> {
    let mut of_trials: HashMap<u32, Vec<f64>> = HashMap::new();
    for test in cell.tests() {
        let of_test = || of_cell.iter().filter(|one| one.entry.test == test);
        let Some(metric) = headline(&distinct(of_test().map(|one| one.entry.metric))) else {
            continue;
        };
        let sign = match metric.better() {
            Better::Higher => 1.0,
            Better::Lower => -1.0,
            Better::Neither => continue,
        };
        let logs: Vec<(u32, f64)> = of_test()
            .filter(|one| one.entry.metric == metric)
            .map(|one| (one.trial.index, sign * one.entry.value.ln()))
            .collect();
        let centre = median(logs.iter().map(|(_, log)| *log)).unwrap_or_default();
        for (index, log) in logs {
            of_trials.entry(index).or_default().push(log - centre);
        }
    }
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    of_trials
        .into_iter()
        .map(|(index, values)| (index, mean(values)))
        .collect()
}

/// The first and the last position in the run.
fn ends(cells: &[Timed<'_>]) -> Option<(usize, usize)> {
    let places: Vec<usize> = cells
        .iter()
        .flat_map(|cell| &cell.trials)
        .map(|trial| trial.started)
        .collect();
    Some((*places.iter().min()?, *places.iter().max()?))
}

/// Change of the logarithm per position: the median of the slopes between all pairs of a cell's trials (Sen,
/// *Journal of the American Statistical Association* 63, 1968), over all cells.
fn slope(cells: &[Timed<'_>]) -> f64 {
    let mut slopes = Vec::new();
    for cell in cells {
        for (at, one) in cell.trials.iter().enumerate() {
            let later = cell.trials[at + 1..].iter();
            slopes
                .extend(later.map(|later| (later.residual - one.residual) / (later.started - one.started) as f64));
        }
    }
    median(slopes).unwrap_or_default()
}

/// Compares trials at a position with the others; `None` if there are too few of either.
fn group(
    cells: &[Timed<'_>],
    place: RunPosition,
    is_in: impl Fn(&Timed<'_>, usize) -> bool,
) -> Option<OrderEffect> {
    let (mut inside, mut outside, mut sums) = (Vec::new(), Vec::new(), Vec::new());
    for cell in cells {
        let of_cell: Vec<bool> = (0..cell.trials.len()).map(|at| is_in(cell, at)).collect();
        let count = of_cell.iter().filter(|is_in| **is_in).count();
        // A cell with all its trials on one side contributes nothing.
        if count == 0 || count == of_cell.len() {
            continue;
        }
        sums.push(rank_sum(&cell.values(), &of_cell));
        for (trial, is_in) in cell.trials.iter().zip(of_cell) {
            if is_in { &mut inside } else { &mut outside }.push(trial.residual);
        }
    }
    if inside.len().min(outside.len()) < GROUP_MIN {
        return None;
    }
    Some(OrderEffect {
        trials: inside.len(),
        ratio: (median(inside)? - median(outside)?).exp(),
        probability: two_sided(sums.into_iter()),
        place,
    })
}

#[cfg(test)]
mod tests;
