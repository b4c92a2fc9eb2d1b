//! Simulations of verdicts on claims: studies with known truth and five kinds of noise, as in `noise.rs`.
//!
//! In an A/A study all stacks are the same, and each claim of a difference that is supported or refuted is a false
//! alarm: at most 5 % of the studies may have one, even if trials are added until claims are decided. In the other
//! studies one stack is 5 % slower, and at the planned number of trials at least 95 % must detect it.

use crate::noisy::{ALL, DEVIATION, Dice, Noise, STUDIES, measured, plan, study};
use stats::{InBlock, alpha_of_differences, control, judge_claims, looks, trials_to_decide, trials_to_find};
use std::collections::HashMap;
use study::plan::{Claim, Plan, Precision};
use study::{CellId, Measurement};

const STACKS: usize = 4;
const UNTIL_DECIDED: Precision = Precision {
    relative: None,
    claims: true,
    min_trials: 3,
    max_trials: 12,
};

fn claims(of: &[&str]) -> Vec<Claim> {
    let claim = |that: &&str| Claim {
        says: (*that).to_owned(),
        filter: Vec::new(),
        that: (*that).to_owned(),
        published: None,
        untestable: None,
    };
    of.iter().map(claim).collect()
}

/// The samples of the first `trials` of each cell.
fn samples(plan: &Plan, values: &[Vec<InBlock>], trials: &HashMap<CellId, u32>) -> Vec<Measurement> {
    let test = plan.cells[0].workload.work.tests()[0];
    let of_cell =
        |(cell, values): (&study::plan::Cell, &Vec<InBlock>)| measured(cell.id, test, values, trials[&cell.id]);
    plan.cells.iter().zip(values).flat_map(of_cell).collect()
}

/// Adds trials as the runner does; returns the final samples.
fn until_decided(plan: &Plan, values: &[Vec<InBlock>]) -> Vec<Measurement> {
    let first = looks(&plan.precision)[0];
    let mut trials: HashMap<CellId, u32> = plan.cells.iter().map(|cell| (cell.id, first)).collect();
    loop {
        let samples = samples(plan, values, &trials);
        let wanted = trials_to_decide(plan, &trials, &samples);
        if wanted == trials {
            return samples;
        }
        trials = wanted;
    }
}

fn all(plan: &Plan, values: &[Vec<InBlock>]) -> Vec<Measurement> {
    let trials = plan.precision.max_trials;
    let trials = plan.cells.iter().map(|cell| (cell.id, trials)).collect();
    samples(plan, values, &trials)
}

fn is_decided(word: &str) -> bool {
    matches!(word, "supported" | "refuted")
}

#[test]
fn a_a_studies_whose_trials_stop_on_claims_raise_no_alarm() {
    let mut plan = plan(STACKS, UNTIL_DECIDED);
    plan.claims = claims(&[
        "mount=0 > mount=1",
        "mount=1 < mount=2",
        "mount=2 > mount=3",
        "mount=3 fastest",
        "mount=0 slowest",
        "mount=1 > mount=3",
    ]);
    for kind in ALL {
        let mut dice = Dice::new(11);
        let mut spent = 0;
        let alarms = (0..STUDIES)
            .filter(|_| {
                let values = study(kind, (STACKS, UNTIL_DECIDED.max_trials as usize), 1.0, &mut dice);
                let samples = until_decided(&plan, &values);
                spent += samples.len();
                let judged = judge_claims(&plan, &samples);
                judged.iter().any(|claim| is_decided(claim.verdict.word()))
            })
            .count();
        let each = spent as f64 / STACKS as f64 / f64::from(STUDIES);
        println!("A/A, {kind:?}, until decided ({each:.1} trials): {alarms} of {STUDIES}");
        assert!(alarms <= 100, "{kind:?}: {alarms} of {STUDIES}");
    }
}

/// The number of trials that detects 5 % in 95 of 100 studies, for one of `claims` claims.
fn planned(claims: usize, precision: &Precision) -> u32 {
    let deviation = DEVIATION * 2.0_f64.sqrt();
    let alpha = alpha_of_differences(precision) / 2.0 / claims as f64;
    trials_to_find(0.05, deviation, alpha, 0.95).expect("a number")
}

const SLOWER: [&str; 2] = ["mount=0 > mount=3", "mount=3 slowest"];

fn supported(plan: &Plan, samples: &[Measurement]) -> bool {
    let judged = judge_claims(plan, samples);
    judged.iter().all(|claim| claim.verdict.word() == "supported")
}

#[test]
fn claims_of_5_percent_are_found_at_the_planned_number_of_trials() {
    // The second claim is about three pairs, each of which must be significant.
    let trials = planned(SLOWER.len() * STACKS, &Precision::fixed(3));
    let mut plan = plan(STACKS, Precision::fixed(trials));
    plan.claims = claims(&SLOWER);
    for kind in ALL {
        let mut dice = Dice::new(5);
        let found = (0..STUDIES)
            .filter(|_| {
                let values = study(kind, (STACKS, trials as usize), 0.95, &mut dice);
                supported(&plan, &all(&plan, &values))
            })
            .count();
        println!("5 % slower, {kind:?}, claims, {trials} trials: {found} of {STUDIES}");
        assert!(found >= 1_900, "{kind:?}, {trials} trials: {found} of {STUDIES}");
    }
}

#[test]
fn claims_of_5_percent_are_found_with_fewer_trials_if_trials_stop_on_claims() {
    let most = planned(SLOWER.len() * STACKS, &UNTIL_DECIDED);
    let precision = Precision {
        max_trials: most,
        ..UNTIL_DECIDED
    };
    let mut plan = plan(STACKS, precision);
    plan.claims = claims(&SLOWER);
    for kind in ALL {
        let mut dice = Dice::new(9);
        let mut spent = 0;
        let found = (0..STUDIES)
            .filter(|_| {
                let values = study(kind, (STACKS, most as usize), 0.95, &mut dice);
                let samples = until_decided(&plan, &values);
                spent += samples.len();
                supported(&plan, &samples)
            })
            .count();
        let each = spent as f64 / STACKS as f64 / f64::from(STUDIES);
        println!("5 % slower, {kind:?}, until decided ({each:.1} of {most} trials): {found} of {STUDIES}");
        assert!(found >= 1_900, "{kind:?}: {found} of {STUDIES}");
        assert!(
            each < f64::from(most) || matches!(kind, Noise::Drifting),
            "{kind:?}: {each}"
        );
    }
}

#[test]
fn a_control_differs_in_at_most_5_percent_of_runs_without_a_fault() {
    for trials in [3, 5, 10] {
        let mut plan = plan(1, Precision::fixed(trials));
        let mut replicate = plan.cells[0].clone();
        replicate.replicate = 1;
        plan.cells.push(replicate);
        plan.identify();
        for kind in ALL {
            let mut dice = Dice::new(u64::from(trials));
            let alarms = (0..STUDIES)
                .filter(|_| {
                    let values = study(kind, (2, trials as usize), 1.0, &mut dice);
                    let pairs = control(&plan, &all(&plan, &values));
                    assert_eq!(pairs.len(), 1);
                    pairs[0].differs
                })
                .count();
            println!("control, {kind:?}, {trials} trials: {alarms} of {STUDIES}");
            assert!(alarms <= 100, "{kind:?}, {trials} trials: {alarms} of {STUDIES}");
        }
    }
}
