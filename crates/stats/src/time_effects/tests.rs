use super::*;
use crate::judge::tests::{measurement, plan};
use study::metric::Metric;
use study::workload::{IoSpec, Work};

const STACKS: [&str; 6] = ["xfs", "ext4", "jfs", "btrfs", "f2fs", "ext3"];
const ROUNDS: u32 = 10;

/// A run of six stacks on a host, in the runner's order; the value of a trial depends on its cell, its round, and
/// the cell of the previous trial.
fn run(value: impl Fn(usize, u32, Option<usize>) -> f64) -> (Plan, Vec<Measurement>, Vec<TrialKey>) {
    let mut plan = plan(&STACKS);
    for cell in &mut plan.cells {
        cell.machine_mut().kind = MachineKind::Host;
        cell.workload.work = Work::Io(IoSpec::default());
    }
    plan.identify();
    let (mut samples, mut before) = (Vec::new(), None);
    for round in 0..ROUNDS {
        for at in plan.round(1, round) {
            samples.push(measurement(&plan, STACKS[at], "read", round, value(at, round, before)));
            before = Some(at);
        }
    }
    let order = samples.iter().map(|one| one.trial).collect();
    (plan, samples, order)
}

/// Noise of 3 % that depends on the trial, without a trend: splitmix64's mixing.
fn noise(at: usize, round: u32) -> f64 {
    let mut mixed = (at as u64 + 1) * 1_000 + u64::from(round);
    for multiplier in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb_u64] {
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(multiplier);
    }
    100.0 + 3.0 * (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

#[test]
fn without_an_effect_there_is_none() {
    let (plan, samples, order) = run(|at, round, _| noise(at, round));
    assert_eq!(drift(&plan, &samples, &order), None);
    assert_eq!(order_effects(&plan, &samples, &order), []);
}

#[test]
fn a_drift_of_all_cells() {
    let (plan, samples, order) = run(|at, round, _| noise(at, round) * (1.0 - 0.02 * f64::from(round)));
    let drift = drift(&plan, &samples, &order).expect("a drift");
    assert_eq!((drift.trials, drift.cells), (60, 6));
    assert!((drift.ratio - 0.82).abs() < 0.03, "{drift:?}");
    assert_eq!(order_effects(&plan, &samples, &order), [], "the drift explains it");
}

#[test]
fn less_time_is_better() {
    let (plan, mut samples, order) = run(|at, round, _| noise(at, round) * (1.0 + 0.02 * f64::from(round)));
    for one in &mut samples {
        one.entry.metric = Metric::Duration;
    }
    let drift = drift(&plan, &samples, &order).expect("a drift");
    assert!(drift.ratio < 0.9, "{drift:?}");
}

#[test]
fn first_trials_against_later_ones() {
    let (plan, samples, order) = run(|at, round, _| noise(at, round) * if round == 0 { 0.7 } else { 1.0 });
    let effects = order_effects(&plan, &samples, &order);
    assert_eq!(effects.len(), 1, "{effects:?}");
    assert_eq!((&effects[0].place, effects[0].trials), (&RunPosition::First, 6));
    assert!((effects[0].ratio - 0.7).abs() < 0.03, "{effects:?}");
    assert_eq!(drift(&plan, &samples, &order), None);
}

#[test]
fn directly_after_a_certain_cell() {
    let (plan, samples, order) =
        run(|at, round, before| noise(at, round) * if before == Some(1) { 0.8 } else { 1.0 });
    let effects = order_effects(&plan, &samples, &order);
    assert_eq!(effects.len(), 1, "{effects:?}");
    assert_eq!(effects[0].place, RunPosition::After("ext4 | small files".to_owned()));
    assert!((effects[0].ratio - 0.8).abs() < 0.03, "{effects:?}");
}

#[test]
fn a_trend_of_one_cell() {
    let ageing = |at, round| {
        if at == 2 { 1.0 - 0.03 * f64::from(round) } else { 1.0 }
    };
    let (plan, samples, order) = run(|at, round, _| noise(at, round) * ageing(at, round));
    let effects = order_effects(&plan, &samples, &order);
    let places: Vec<&RunPosition> = effects.iter().map(|effect| &effect.place).collect();
    assert_eq!(places, [&RunPosition::Later("jfs | small files".to_owned())]);
    assert!((effects[0].ratio - 0.73).abs() < 0.05, "{effects:?}");
}

/// Trials in the lab cannot affect each other.
#[test]
fn nothing_is_tested_in_the_lab() {
    let (mut plan, samples, order) = run(|at, round, _| noise(at, round) * (1.0 - 0.02 * f64::from(round)));
    for cell in &mut plan.cells {
        cell.machine_mut().kind = MachineKind::Lab;
    }
    assert_eq!(drift(&plan, &samples, &order), None);
    assert_eq!(order_effects(&plan, &samples, &order), []);
}
