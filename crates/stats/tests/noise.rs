//! What the judgements promise, by simulation: studies of known truth, with noise of five kinds.
//!
//! A study is two to ten stacks, trials in rounds, in the order in which the runner has them. In an A/A study all
//! stacks are the same, and each difference that is claimed is a false alarm: at most 5 % of the studies may have one.
//! In the other studies one stack is 5 % slower, and at the planned number of trials at least 95 % must find it.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use stats::{Decision, InBlock, alpha_of_differences, decide, looks, rank, trials_to_find};
use study::event::Sample;
use study::metric::{Better, Metric};
use study::plan::Precision;
use study::{CellId, Measurement, TrialKey};

/// Standard deviation of every kind of noise, as a share of the value.
const DEVIATION: f64 = 0.02;
const STUDIES: u32 = 2_000;
/// As many trials as there are, without looking in between.
const FIXED: Precision = Precision {
    relative: None,
    min_trials: 3,
    max_trials: 3,
};

#[derive(Clone, Copy, Debug)]
enum Noise {
    Normal,
    /// Log-normal with a long tail to the slow side.
    Skewed,
    /// One trial in three is in the other hump, six standard deviations of the hump away.
    TwoHumped,
    /// The machine gets slower by 30 % during the study.
    Drifting,
    /// What slows one trial slows the next: first-order, coefficient 0.8.
    Autocorrelated,
}

const ALL: [Noise; 5] = [
    Noise::Normal,
    Noise::Skewed,
    Noise::TwoHumped,
    Noise::Drifting,
    Noise::Autocorrelated,
];

struct Dice(ChaCha8Rng);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Between 0 and 1, neither included.
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Box and Muller's.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut items: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            items.swap(last, (self.uniform() * (last + 1) as f64) as usize);
        }
        items
    }
}

/// The logarithms of the factors by which consecutive trials are off.
fn noise(kind: Noise, trials: usize, dice: &mut Dice) -> Vec<f64> {
    let mut before = dice.normal();
    (0..trials)
        .map(|at| match kind {
            Noise::Normal => DEVIATION * dice.normal(),
            // exp(0.8 z) has mean exp(0.32) and deviation exp(0.32)·√(exp(0.64) − 1) = 1.304.
            Noise::Skewed => -DEVIATION * ((0.8 * dice.normal()).exp() - 0.32_f64.exp()) / 1.304,
            Noise::TwoHumped => {
                // Humps h apart, a third in the one: deviation √(2/9·h² + (h/6)²) = 0.5·h.
                let apart = 2.0 * DEVIATION;
                let hump = if dice.uniform() < 1.0 / 3.0 { -apart } else { 0.0 };
                hump + apart / 3.0 + apart / 6.0 * dice.normal()
            }
            Noise::Drifting => -0.3 * at as f64 / trials as f64 + DEVIATION * dice.normal(),
            Noise::Autocorrelated => {
                before = 0.8 * before + 0.6 * dice.normal();
                DEVIATION * before
            }
        })
        .collect()
}

/// A study's values by stack; the last stack has `factor` times the others' speed.
fn study(kind: Noise, (stacks, rounds): (usize, usize), factor: f64, dice: &mut Dice) -> Vec<Vec<InBlock>> {
    let noise = noise(kind, rounds * stacks, dice);
    let mut values = vec![Vec::new(); stacks];
    let mut order = Vec::new();
    for round in 0..rounds {
        // As `Plan::rounds` does: every other round is the one before, backwards.
        if round % 2 == 0 {
            order = dice.shuffled(stacks);
        } else {
            order.reverse();
        }
        for (place, &stack) in order.iter().enumerate() {
            let truth = if stack == stacks - 1 { factor } else { 1.0 };
            values[stack].push(InBlock {
                block: round as u64,
                value: 100.0 * truth * noise[round * stacks + place].exp(),
            });
        }
    }
    values
}

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

/// The number of trials that finds 5 % in 95 of 100 studies, for the deviation of a difference of two trials. The
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
    min_trials: 3,
    max_trials: 12,
};

/// What a cell has when it is as precise as was asked, or at its cap: the runner's rule.
fn stopped(all: &[InBlock]) -> Vec<InBlock> {
    let as_measured = |one: &InBlock| Measurement {
        trial: TrialKey {
            cell: CellId::default(),
            index: one.block as u32,
            seed: one.block,
        },
        entry: Sample {
            test: "read".to_owned(),
            metric: Metric::Throughput,
            value: one.value,
        },
        failed_guards: Vec::new(),
    };
    let measured: Vec<Measurement> = all.iter().map(as_measured).collect();
    let mut trials = looks(&ADAPTIVE)[0];
    while let Decision::RunUpTo(more) = decide(&ADAPTIVE, trials, &measured[..trials as usize]) {
        trials = more;
    }
    all[..trials as usize].to_vec()
}

/// Whoever looks often and stops when it pleases finds what is not there; looks are planned and pay for themselves.
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
