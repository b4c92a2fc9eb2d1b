//! Simulations of the tests of drift and order, as in `noise.rs`: runs on a host that do not depend on time, of
//! which at most one in a hundred may raise an alarm, and runs that do, of which 95 in 100 must.

use crate::noisy;
use crate::noisy::{DEVIATION, Dice};
use stats::{LEVEL, RunPosition, drift, order_effects};
use study::event::Sample;
use study::metric::Metric;
use study::plan::{Plan, Precision};
use study::{Measurement, TrialKey};

const RUNS: u32 = 2_000;
/// Cells and trials of each.
const SIZES: [(usize, u32); 5] = [(2, 5), (2, 10), (6, 4), (6, 10), (12, 5)];

#[derive(Clone, Copy, Debug)]
enum Noise {
    Normal,
    /// Log-normal with a long tail to the slow side.
    Skewed,
    /// One trial in three is 4 % slower.
    TwoHumped,
    /// Half of the trials of a cell have exactly the same value.
    Tied,
}

const ALL: [Noise; 4] = [Noise::Normal, Noise::Skewed, Noise::TwoHumped, Noise::Tied];

impl Noise {
    /// The logarithm of a factor.
    fn draw(self, dice: &mut Dice) -> f64 {
        let normal = dice.normal();
        match self {
            Noise::Normal => DEVIATION * normal,
            Noise::Skewed => -DEVIATION * (0.8 * normal).exp() / 1.304,
            Noise::TwoHumped if dice.uniform() < 1.0 / 3.0 => DEVIATION * (0.3 * normal - 2.0),
            Noise::TwoHumped => DEVIATION * 0.3 * normal,
            Noise::Tied if dice.uniform() < 0.5 => 0.0,
            Noise::Tied => DEVIATION * normal,
        }
    }
}

/// A trial of a simulated run.
#[derive(Clone, Copy)]
struct Simulated {
    cell: usize,
    round: u32,
    /// Completed fraction of the run.
    share: f64,
    before: Option<usize>,
}

/// The samples of a run in the runner's order. Cells differ in speed by up to three times, and in noise.
fn run(
    plan: &Plan,
    seed: u64,
    kind: Noise,
    effect: impl Fn(Simulated) -> f64,
) -> (Vec<Measurement>, Vec<TrialKey>) {
    // With the same seed, rank tests could not distinguish noise that differs only in shape.
    let mut dice = Dice::new(u64::from(RUNS) * kind as u64 + seed);
    let places: Vec<(u32, usize)> = (0..plan.precision.max_trials)
        .flat_map(|round| plan.round(seed, round).into_iter().map(move |cell| (round, cell)))
        .collect();
    let mut samples = Vec::new();
    for (at, &(round, cell)) in places.iter().enumerate() {
        let trial = Simulated {
            cell,
            round,
            share: at as f64 / places.len() as f64,
            before: at.checked_sub(1).map(|before| places[before].1),
        };
        let speed = 100.0 * (1.0 + cell as f64 / 4.0);
        samples.push(Measurement {
            trial: TrialKey {
                cell: plan.cells[cell].id,
                index: round,
                seed: u64::from(round),
            },
            entry: Sample {
                test: "read".into(),
                metric: Metric::Throughput,
                value: speed * effect(trial) * (kind.draw(&mut dice) * (1.0 + cell as f64 / 10.0)).exp(),
            },
            failed_guards: Vec::new(),
        });
    }
    let order = samples.iter().map(|one| one.trial).collect();
    (samples, order)
}

/// Number of runs for which the check holds.
fn count(
    (cells, trials): (usize, u32),
    kind: Noise,
    effect: impl Fn(Simulated) -> f64,
    is_shown: impl Fn(&Plan, &[Measurement], &[TrialKey]) -> bool,
) -> u32 {
    let plan = noisy::plan(cells, Precision::fixed(trials));
    let shown = (0..RUNS).filter(|seed| {
        let (samples, order) = run(&plan, u64::from(*seed), kind, &effect);
        is_shown(&plan, &samples, &order)
    });
    shown.count() as u32
}

#[test]
fn at_most_1_percent_of_runs_without_drift_have_a_false_alarm() {
    // One-sided, at 99.9 %: 1 % of 2,000 plus three standard deviations.
    let most = (LEVEL * f64::from(RUNS) + 3.1 * (LEVEL * f64::from(RUNS)).sqrt()) as u32;
    let (mut drifts, mut orders, mut all) = (0, 0, 0);
    for kind in ALL {
        for size in SIZES {
            let drifting = count(
                size,
                kind,
                |_| 1.0,
                |plan, samples, order| drift(plan, samples, order).is_some(),
            );
            let ordered = count(
                size,
                kind,
                |_| 1.0,
                |plan, samples, order| !order_effects(plan, samples, order).is_empty(),
            );
            println!("{kind:?}, {size:?}: drift {drifting}, order {ordered} of {RUNS}");
            assert!(
                drifting <= most && ordered <= most,
                "{kind:?}, {size:?}: {drifting}, {ordered}"
            );
            (drifts, orders, all) = (drifts + drifting, orders + ordered, all + RUNS);
        }
    }
    println!("drift {drifts}, order {orders} of {all}");
    let level = LEVEL * f64::from(all);
    assert!(f64::from(drifts) <= level && f64::from(orders) <= level);
}

#[test]
fn at_least_95_percent_of_drifts_of_10_percent_are_found() {
    for kind in ALL {
        let slower = |trial: Simulated| 1.0 - 0.1 * trial.share;
        let found = count((6, 10), kind, slower, |plan, samples, order| {
            drift(plan, samples, order).is_some_and(|drift| (0.84..0.96).contains(&drift.ratio))
        });
        println!("a drift of 10 %, {kind:?}: {found} of {RUNS}");
        assert!(found >= RUNS / 100 * 95, "{kind:?}: {found} of {RUNS}");
    }
}

/// An effect in only six of sixty trials, or in the ten trials of one cell, must be larger to be found among
/// thirteen tests.
#[test]
fn at_least_95_percent_of_order_effects_are_found() {
    let first = |trial: Simulated| if trial.round == 0 { 0.8 } else { 1.0 };
    let after = |trial: Simulated| if trial.before == Some(2) { 0.9 } else { 1.0 };
    let later = |trial: Simulated| match trial.cell {
        2 => 1.0 - 0.4 * trial.share,
        _ => 1.0,
    };
    let is = |wanted: fn(&RunPosition) -> bool| {
        move |plan: &Plan, samples: &[Measurement], order: &[TrialKey]| {
            let effects = order_effects(plan, samples, order);
            effects.iter().any(|effect| wanted(&effect.place))
        }
    };
    let found = [
        count((6, 10), Noise::Normal, first, is(|place| *place == RunPosition::First)),
        count(
            (6, 10),
            Noise::Normal,
            after,
            is(|place| *place == RunPosition::After("stack 2 | job".to_owned())),
        ),
        count(
            (6, 10),
            Noise::Normal,
            later,
            is(|place| *place == RunPosition::Later("stack 2 | job".to_owned())),
        ),
    ];
    println!("first 20 %, after 10 %, later 40 %: {found:?} of {RUNS}");
    assert!(
        found.iter().all(|found| *found >= RUNS / 100 * 95),
        "{found:?} of {RUNS}"
    );
}
