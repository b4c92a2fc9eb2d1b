//! Many histories: means and their intervals.

use crate::HOURS_PER_YEAR;
use crate::history::{Histories, Losses};
use crate::model::Model;
use crate::random::Random;

/// How long to go on: until the interval's half is this part of the value, at most this number of histories.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub precision: f64,
    pub histories_max: u64,
}

/// A probability with the 95 % interval of the Monte Carlo, which says nothing of the inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probability {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Anything is lost: the array, or sectors.
    pub any: Probability,
    /// The array is lost, also after sectors were.
    pub array: Probability,
    /// The part of the first losses that a further failed disk causes. The others are unreadable sectors.
    pub share_by_disk: f64,
    pub histories: u64,
    /// Simulated years of the array.
    pub array_years: f64,
}

/// Histories between two looks at the interval.
const ROUND: u64 = 5_000;

/// Sum and sum of squares.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    sum: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.squares += value * value;
    }

    /// Mean and the variance of the mean.
    fn mean(&self, count: f64) -> (f64, f64) {
        let mean = self.sum / count;
        (mean, ((self.squares / count - mean * mean) / count).max(0.0))
    }
}

/// Arrays of one kind of batch. The groups of an array are independent of each other.
struct Stratum<'a> {
    share: f64,
    multiplier: f64,
    histories: Histories<'a>,
    any: Sums,
    group: Sums,
    by_disk: f64,
}

impl Stratum<'_> {
    fn draw(&mut self) {
        let losses = self.histories.draw(self.multiplier);
        let Losses {
            group,
            first_by_disk,
            first_by_sector,
        } = losses;
        self.any.add(first_by_disk + first_by_sector);
        self.group.add(group);
        self.by_disk += first_by_disk;
    }
}

/// The same seed gives the same estimate.
pub fn estimate(model: &Model, effort: Effort, seed: u64) -> Estimate {
    let shares = match model.batch {
        None => vec![(1.0, 1.0)],
        Some(batch) => {
            let (others, these) = batch.multipliers();
            vec![(1.0 - batch.share, others), (batch.share, these)]
        }
    };
    let layout = model.layout;
    let stratum = |(stream, (share, multiplier)): (u64, (f64, f64))| {
        let random = Random::new(seed, stream);
        let (disks, parity) = (layout.disks_of_group(), layout.parity());
        Stratum {
            share,
            multiplier,
            histories: Histories::new(&model.disk, disks, parity, model.hours, random),
            any: Sums::default(),
            group: Sums::default(),
            by_disk: 0.0,
        }
    };
    let shares = shares.into_iter().filter(|(share, _)| *share > 0.0);
    let mut strata: Vec<Stratum<'_>> = (0..).zip(shares).map(stratum).collect();
    let mut rounds = 0;
    loop {
        for stratum in &mut strata {
            for _ in 0..ROUND {
                stratum.draw();
            }
        }
        rounds += 1;
        let count = (rounds * ROUND) as f64;
        let groups = f64::from(layout.groups());
        let any = figure(&strata, |stratum| stratum.any, count, groups);
        let histories = rounds * ROUND * strata.len() as u64;
        let is_precise = any.high - any.value <= effort.precision * any.value;
        // What is frequent has no rare heavy weights that could have been missed.
        let is_sure = rounds >= 4 || any.low > 0.1;
        if (is_precise && is_sure) || histories >= effort.histories_max {
            let weighed = |value: fn(&Stratum<'_>) -> f64| strata.iter().map(|s| s.share * value(s)).sum::<f64>();
            let first = weighed(|stratum| stratum.any.sum);
            return Estimate {
                any,
                array: figure(&strata, |stratum| stratum.group, count, groups),
                share_by_disk: weighed(|stratum| stratum.by_disk) / first.max(f64::MIN_POSITIVE),
                histories,
                array_years: histories as f64 * model.hours / HOURS_PER_YEAR / groups,
            };
        }
    }
}

/// The probability p of a group is 1 - (1 - p)^groups of an array; its error by the slope of that.
fn figure(strata: &[Stratum<'_>], sums: fn(&Stratum<'_>) -> Sums, count: f64, groups: f64) -> Probability {
    let (mut value, mut variance) = (0.0, 0.0);
    for stratum in strata {
        let (mean, variance_of_mean) = sums(stratum).mean(count);
        // Rounding can add up to a little more than 1.
        let mean = mean.min(1.0);
        let slope = groups * (1.0 - mean).powf(groups - 1.0);
        value += stratum.share * -(groups * (-mean).ln_1p()).exp_m1();
        variance += (stratum.share * slope).powi(2) * variance_of_mean;
    }
    let half = 1.96 * variance.sqrt();
    Probability {
        value,
        low: (value - half).max(0.0),
        high: (value + half).min(1.0),
    }
}
