//! Simulations of the statistics: studies with known truth and five kinds of noise.
//!
//! A study has two to ten stacks and trials in rounds, in the runner's order. In an A/A study all stacks are the
//! same, and each reported difference is a false alarm: at most 5 % of the studies may have one. In the other
//! studies one stack is 5 % slower, and at the planned number of trials at least 95 % must detect it.

use crate::noisy::{ALL, DEVIATION, Dice, Noise, STUDIES, measured, study};
use stats::{
    ALPHA, Decision, Effect, InBlock, PooledVariance, alpha_of_differences, decide, looks, rank, trials_to_find,
};
use study::CellId;
use study::metric::Better;
use study::plan::Precision;

/// A fixed number of trials, without intermediate looks.
const FIXED: Precision = Precision::fixed(3);

#[test]
fn at_most_5_percent_of_a_a_studies_have_a_false_alarm() {
    for kind in ALL {
        for size in [(2, 3), (2, 5), (2, 8), (4, 3), (4, 5), (4, 8), (10, 3)] {
            let mut dice = Dice::new(size.1 as u64);
            let alarms = (0..STUDIES)
                .filter(|_| {
                    rank(
                        &study(kind, size, 1.0, &mut dice),
                        Better::Higher,
                        alpha_of_differences(&FIXED),
                    )
                    .tiers
                    .len()
                        > 1
                })
                .count();
            println!(
                "A/A, {kind:?}, {} stacks, {} trials: {alarms} of {STUDIES}",
                size.0, size.1
            );
            assert!(alarms <= 100, "{kind:?}, {size:?}: {alarms} of {STUDIES}");
        }
    }
}

/// The number of trials that detects 5 % in 95 of 100 studies, for the deviation of a difference of two trials. The
/// error is shared among all pairs.
fn planned(stacks: usize) -> usize {
    let pairs = (stacks * (stacks - 1) / 2) as f64;
    let deviation = DEVIATION * 2.0_f64.sqrt();
    trials_to_find(0.05, deviation, alpha_of_differences(&FIXED) / 2.0 / pairs, 0.95).expect("a number") as usize
}

#[test]
fn at_least_95_percent_of_5_percent_slowdowns_are_found() {
    for stacks in [2, 4] {
        let rounds = planned(stacks);
        for kind in ALL {
            let mut dice = Dice::new(7);
            let is_found = |tiers: &[Vec<usize>]| tiers.len() == 2 && tiers[1] == [stacks - 1];
            let found = (0..STUDIES)
                .filter(|_| {
                    let values = study(kind, (stacks, rounds), 0.95, &mut dice);
                    is_found(&rank(&values, Better::Higher, alpha_of_differences(&FIXED)).tiers)
                })
                .count();
            println!("5 % slower, {kind:?}, {stacks} stacks, {rounds} trials: {found} of {STUDIES}");
            assert!(
                found >= 1_900,
                "{kind:?}, {stacks} stacks, {rounds} trials: {found} of {STUDIES}"
            );
        }
    }
}

const ADAPTIVE: Precision = Precision {
    relative: Some(0.02),
    claims: false,
    min_trials: 3,
    max_trials: 12,
};

/// The values of a cell when it is as precise as required, or at its cap: the runner's rule.
fn stopped(all: &[InBlock]) -> Vec<InBlock> {
    let measured = measured(CellId::default(), "read", all, all.len() as u32);
    let mut trials = looks(&ADAPTIVE)[0];
    while let Decision::RunUpTo(more) = decide(&ADAPTIVE, trials, &measured[..trials as usize]) {
        trials = more;
    }
    all[..trials as usize].to_vec()
}

/// A rule that checks often and stops at will finds differences that do not exist; planned looks account for this.
#[test]
fn stopping_when_precise_raises_no_alarm() {
    for kind in ALL {
        let mut dice = Dice::new(3);
        let mut spent = 0;
        let alarms = (0..STUDIES)
            .filter(|_| {
                let all = study(kind, (4, ADAPTIVE.max_trials as usize), 1.0, &mut dice);
                let values: Vec<Vec<InBlock>> = all.iter().map(|cell| stopped(cell)).collect();
                spent += values.iter().map(Vec::len).sum::<usize>();
                rank(&values, Better::Higher, alpha_of_differences(&ADAPTIVE))
                    .tiers
                    .len()
                    > 1
            })
            .count();
        let each = spent as f64 / 4.0 / f64::from(STUDIES);
        println!("A/A, {kind:?}, until precise ({each:.1} trials): {alarms} of {STUDIES}");
        assert!(alarms <= 100, "{kind:?}: {alarms} of {STUDIES}");
        assert!(each < 12.0 || matches!(kind, Noise::Drifting), "{kind:?}: {each}");
    }
}

/// The 95 % interval of a ratio, from three and five trials, contains the true value at the stated rate for any
/// noise: with few trials it depends on an assumption that they cannot verify.
#[test]
fn intervals_of_few_trials_contain_the_truth() {
    for rounds in [3, 5] {
        for kind in ALL {
            let mut dice = Dice::new(rounds as u64);
            let covered = (0..STUDIES)
                .filter(|_| {
                    let values = study(kind, (4, rounds), 1.0, &mut dice);
                    let pool = PooledVariance::of(&values);
                    let effect = Effect::of(&values[0], &values[1], pool.as_ref()).expect("enough trials");
                    let interval = effect.interval(ALPHA);
                    interval.low <= 1.0 && 1.0 <= interval.high
                })
                .count();
            println!("interval at 95 %, {kind:?}, {rounds} trials: contains the truth in {covered} of {STUDIES}");
            assert!(covered >= 1_880, "{kind:?}, {rounds} trials: {covered} of {STUDIES}");
        }
    }
}
