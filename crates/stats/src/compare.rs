//! Ratio of two cells, with its error.
//!
//! Comparisons use the *ratio*, in logarithms, block by block. A *block* is what two trials have in common: within
//! a run the round (trials of one index run close in time, in random order, and in the lab with one seed, on the
//! same files); between runs the seed. Effects of the block on both cells cancel: slow drift, an unlucky seed
//! (Jain, *The Art of Computer Systems Performance Analysis*, 1991, 13.4.1; randomised blocks in Box, Hunter and
//! Hunter, *Statistics for Experimenters*, 2nd ed. 2005, 4.2). If the two cells are equal, the difference within a
//! block is symmetric about zero for any distribution of the noise, because the cells are exchangeable.
//!
//! A standard error from only three differences is unreliable: with a bimodal distribution all three trials may be
//! in the same mode. So the variance is also *pooled* over all cells with the same workload ([`PooledVariance`]: the residual
//! mean square of the blocks), and the larger of the two is used. `tests/noise.rs` shows the error rates and the
//! power by simulation, for noise that is normal, skewed, bimodal, drifting and autocorrelated.

use crate::group_sequential::ALPHA;
use crate::interval::{Basis, Interval, TRIALS_MIN, mean_and_variance, student_t};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use study::Measurement;
use study::metric::Better;

/// A value and its block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InBlock {
    pub block: u64,
    pub value: f64,
    /// Its disk has a model that was drawn for this block: what is asked for is the disk that one has, not the mean of all disks that it may be.
    pub is_drawn: bool,
}

impl InBlock {
    /// Within a run: the block is the round.
    pub fn by_round(measurement: &Measurement) -> Self {
        Self {
            block: u64::from(measurement.trial.index),
            value: measurement.entry.value,
            is_drawn: false,
        }
    }

    /// Between runs: the block is the seed.
    pub fn by_seed(measurement: &Measurement) -> Self {
        Self {
            block: measurement.trial.seed,
            value: measurement.entry.value,
            is_drawn: false,
        }
    }

    /// The same, of a model that was drawn or not.
    pub fn drawn(self, is_drawn: bool) -> Self {
        Self { is_drawn, ..self }
    }
}

/// Variance of the logarithm of a ratio within a block, over all pairs of cells with the same workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PooledVariance {
    pub variance: f64,
    pub degrees: f64,
}

impl PooledVariance {
    /// Pools cells with the same workload. `None` if no two of them share two blocks.
    pub fn of(cells: &[Vec<InBlock>]) -> Option<Self> {
        let (mut squares, mut weight) = (0.0, 0.0);
        let mut blocks: Vec<usize> = Vec::new();
        for (place, first) in cells.iter().enumerate() {
            for second in &cells[place + 1..] {
                let logs = log_ratios(first, second);
                if logs.len() > 1 {
                    let of_pair = (logs.len() - 1) as f64;
                    squares += mean_and_variance(&logs).1 * of_pair;
                    weight += of_pair;
                    blocks.push(logs.len());
                }
            }
        }
        blocks.sort_unstable();
        let common = *blocks.get(blocks.len() / 2)?;
        // k cells make k(k − 1)/2 pairs, of which k − 1 are independent.
        let cells = (1.0 + (1.0 + 8.0 * blocks.len() as f64).sqrt()) / 2.0;
        Some(Self {
            variance: squares / weight,
            degrees: (cells - 1.0) * (common - 1) as f64,
        })
    }

    /// Pools cells that are compared only with their partner.
    pub fn of_pairs<'a>(pairs: impl Iterator<Item = (&'a [InBlock], &'a [InBlock])>) -> Option<Self> {
        let (mut squares, mut degrees) = (0.0, 0.0);
        for (first, second) in pairs {
            let logs = log_ratios(first, second);
            if logs.len() > 1 {
                let of_pair = (logs.len() - 1) as f64;
                squares += mean_and_variance(&logs).1 * of_pair;
                degrees += of_pair;
            }
        }
        (degrees > 0.0).then(|| Self {
            variance: squares / degrees,
            degrees,
        })
    }

    /// The larger of two variances.
    pub fn wider(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) if other.variance > one.variance => Some(other),
            (one, other) => one.or(other),
        }
    }
}

/// The first cell relative to the second: the ratio of their values, with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Mean of the logarithms of the ratios.
    log: f64,
    standard_error: f64,
    degrees: f64,
    pub pairing: Pairing,
    /// The error is that of the ratio on one more drawn disk, which further trials do not make smaller.
    is_of_one_disk: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Number of common blocks.
    Blocks(usize),
    /// No or too few common blocks: number of values of the cell with fewer.
    Independent(usize),
}

impl Pairing {
    /// Number of compared trials of each cell.
    pub const fn trials(self) -> usize {
        match self {
            Self::Blocks(trials) | Self::Independent(trials) => trials,
        }
    }
}

/// `own` to `other`, so that larger is better: 0.8 is 20 % less throughput, or correspondingly more time.
pub fn times_better(better: Better, own: f64, other: f64) -> f64 {
    match better {
        Better::Lower => other / own,
        Better::Higher | Better::Neither => own / other,
    }
}

impl Effect {
    /// The ratio that stands next to two medians: their own, unless the trials with the same seeds exclude it at 95 %.
    pub fn shown_ratio(&self, of_medians: f64) -> f64 {
        let interval = self.interval(ALPHA);
        match (interval.low..=interval.high).contains(&of_medians) {
            true => of_medians,
            false => self.ratio(),
        }
    }

    /// `None` with too few values, or with non-positive values, for which a ratio is meaningless; also if a store was given
    /// values that nobody measures, of which no error can be computed.
    pub fn of(first: &[InBlock], second: &[InBlock], pool: Option<&PooledVariance>) -> Option<Self> {
        if first.iter().chain(second).any(|one| one.value <= 0.0) {
            return None;
        }
        let logs = log_ratios(first, second);
        let effect = match logs.len() >= TRIALS_MIN {
            true => Some(Self::of_blocks(&logs, pool)),
            false => Self::of_independent(first, second),
        };
        let is_drawn = first.iter().chain(second).any(|one| one.is_drawn);
        let effect = effect.map(|effect| if is_drawn { effect.of_one_disk() } else { effect });
        effect.filter(|effect| {
            let numbers = [effect.log, effect.standard_error, effect.degrees];
            numbers.iter().all(|number| number.is_finite()) && effect.degrees > 0.0
        })
    }

    fn of_blocks(logs: &[f64], pool: Option<&PooledVariance>) -> Self {
        let (log, own) = mean_and_variance(logs);
        let own_degrees = (logs.len() - 1) as f64;
        let (variance, degrees) = match pool {
            Some(pool) => (own.max(pool.variance), pool.degrees.max(own_degrees)),
            None => (own, own_degrees),
        };
        Self {
            log,
            standard_error: (variance / logs.len() as f64).sqrt(),
            degrees,
            pairing: Pairing::Blocks(logs.len()),
            is_of_one_disk: false,
        }
    }

    /// Welch's test: the variances may differ.
    fn of_independent(first: &[InBlock], second: &[InBlock]) -> Option<Self> {
        let logs = |values: &[InBlock]| -> Option<Vec<f64>> {
            (values.len() >= TRIALS_MIN).then(|| values.iter().map(|one| one.value.ln()).collect())
        };
        let (first, second) = (logs(first)?, logs(second)?);
        let ((mean_first, variance_first), (mean_second, variance_second)) =
            (mean_and_variance(&first), mean_and_variance(&second));
        let share_first = variance_first / first.len() as f64;
        let share_second = variance_second / second.len() as f64;
        let variance = share_first + share_second;
        // Welch–Satterthwaite.
        let degrees = variance.powi(2)
            / (share_first.powi(2) / (first.len() as f64 - 1.0)
                + share_second.powi(2) / (second.len() as f64 - 1.0));
        Some(Self {
            log: mean_first - mean_second,
            standard_error: variance.sqrt(),
            degrees: if variance > 0.0 { degrees } else { 1.0 },
            pairing: Pairing::Independent(first.len().min(second.len())),
            is_of_one_disk: false,
        })
    }

    /// The ratio on one more disk: the error of the mean, and the scatter of disks around it (a prediction interval; Hahn and Meeker,
    /// *Statistical Intervals*, 1991, 4.7).
    fn of_one_disk(self) -> Self {
        let trials = self.pairing.trials() as f64;
        Self {
            standard_error: self.standard_error * (trials + 1.0).sqrt(),
            is_of_one_disk: true,
            ..self
        }
    }

    /// First over second.
    pub fn ratio(&self) -> f64 {
        self.log.exp()
    }

    /// Second over first.
    pub fn turned(self) -> Self {
        Self { log: -self.log, ..self }
    }

    /// Whether all blocks are equal, so that there is no noise to estimate.
    pub fn is_without_noise(&self) -> bool {
        // Logarithms of equal ratios may differ in the last digits.
        self.standard_error < 1e-12
    }

    /// Interval of the ratio, at confidence 1 − `alpha`.
    pub fn interval(&self, alpha: f64) -> Interval {
        if self.is_without_noise() {
            let ratio = self.ratio();
            return Interval {
                low: ratio,
                high: ratio,
                basis: Basis::Identical,
            };
        }
        let half = student_t(alpha, self.degrees) * self.standard_error;
        Interval {
            low: (self.log - half).exp(),
            high: (self.log + half).exp(),
            basis: Basis::Blocks,
        }
    }

    /// One-sided p-value for the hypothesis that the true ratio is `bound` or less.
    pub fn p_above(&self, bound: f64) -> f64 {
        let beyond = self.log - bound.ln();
        if self.is_without_noise() {
            return match beyond.abs() < 1e-12 {
                true => 0.5,
                false if beyond > 0.0 => 0.0,
                false => 1.0,
            };
        }
        let t = StudentsT::new(0.0, 1.0, self.degrees).expect("degrees of freedom are positive");
        t.sf(beyond / self.standard_error)
    }

    /// The same for `bound` or more.
    pub fn p_below(&self, bound: f64) -> f64 {
        self.turned().p_above(1.0 / bound)
    }

    /// Two-sided p-value for equality.
    pub fn p_differ(&self) -> f64 {
        (2.0 * self.p_above(1.0).min(self.p_below(1.0))).min(1.0)
    }

    /// p-value for a difference of a factor `within` or more: two one-sided tests (Schuirmann, *Journal of
    /// Pharmacokinetics and Biopharmaceutics* 15, 1987).
    pub fn p_equal(&self, within: f64) -> f64 {
        self.p_below(within).max(self.p_above(1.0 / within))
    }

    /// Further trials of each cell that distinguish the ratio from `bound` at `alpha`, one-sided, with probability
    /// 4/5 if the estimate is true; `None` if the estimate equals the bound. At least one.
    pub fn further_trials(&self, bound: f64, alpha: f64) -> Option<u32> {
        let all = self.trials_to_tell(self.log, bound, alpha)?;
        Some((f64::from(all) - self.pairing.trials() as f64).max(1.0) as u32)
    }

    /// Total trials of each cell that distinguish the ratio from `bound` at `alpha`, one-sided, with probability
    /// 4/5 if the true ratio is the end of the 95 % interval that is farther from the bound.
    pub fn trials_at_best(&self, bound: f64, alpha: f64) -> Option<u32> {
        let Interval { low, high, .. } = self.interval(ALPHA);
        let beyond = |end: f64| (end.ln() - bound.ln()).abs();
        let end = if beyond(low) > beyond(high) { low } else { high };
        self.trials_to_tell(end.ln(), bound, alpha)
    }

    /// The same if the logarithm of the true ratio is `log`.
    fn trials_to_tell(&self, log: f64, bound: f64, alpha: f64) -> Option<u32> {
        if self.is_of_one_disk {
            return None;
        }
        let deviation = self.standard_error * (self.pairing.trials() as f64).sqrt();
        trials_to_find((log - bound.ln()).abs(), deviation, alpha, 0.8)
    }
}

/// Trials of each of two cells that detect a difference of `log` in the logarithm of their ratio with probability
/// `power`, one-sided at `alpha`; `deviation` is that of the logarithm within a block. A fifth more than for normal
/// noise, to allow for skewed or multimodal noise. `None` if more than 10,000 are needed.
pub fn trials_to_find(log: f64, deviation: f64, alpha: f64, power: f64) -> Option<u32> {
    const MOST: u32 = 10_000;
    const MORE: f64 = 1.2;
    let normal = Normal::standard();
    let needed = normal.inverse_cdf(1.0 - alpha) + normal.inverse_cdf(power);
    // Student's quantiles are larger: this is a lower bound.
    let least = (needed * deviation / log.abs()).powi(2);
    let first = if least.is_finite() {
        least.min(f64::from(MOST)) as u32
    } else {
        MOST
    };
    let trials = (first.max(TRIALS_MIN as u32)..MOST).find(|&trials| {
        let degrees = f64::from(trials - 1);
        let t = StudentsT::new(0.0, 1.0, degrees).expect("degrees of freedom are positive");
        let needed = t.inverse_cdf(1.0 - alpha) + t.inverse_cdf(power);
        log.abs() >= needed * deviation / f64::from(trials).sqrt()
    })?;
    let more = if deviation > 0.0 { MORE } else { 1.0 };
    Some((f64::from(trials) * more).ceil() as u32)
}

/// Adjusted p-values of Holm's procedure (*Scandinavian Journal of Statistics* 6, 1979), to compare with `alpha`, in
/// the given order.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    holm_among(probabilities, probabilities.len())
}

/// The same for some tests of a family of this size; the others are assumed not to be rejected.
pub fn holm_among(probabilities: &[f64], family: usize) -> Vec<f64> {
    let family = family.max(probabilities.len());
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&one, &other| probabilities[one].total_cmp(&probabilities[other]));
    let mut adjusted = vec![1.0; probabilities.len()];
    let mut least: f64 = 0.0;
    for (done, &place) in order.iter().enumerate() {
        least = least.max(probabilities[place] * (family - done) as f64);
        adjusted[place] = least.min(1.0);
    }
    adjusted
}

/// Inverts the ratio if less is better, so that a ratio above 1 means "faster".
pub fn faster(effect: Effect, better: Better) -> Effect {
    match better {
        Better::Lower => effect.turned(),
        Better::Higher | Better::Neither => effect,
    }
}

/// Logarithms of the ratios in common blocks. Several values of a cell in a block count as their median.
fn log_ratios(first: &[InBlock], second: &[InBlock]) -> Vec<f64> {
    let mut blocks: Vec<u64> = first.iter().map(|one| one.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let of_block = |values: &[InBlock], block: u64| -> Option<f64> {
        let of_block = values.iter().filter(|one| one.block == block && one.value > 0.0);
        study::median(of_block.map(|one| one.value))
    };
    let ratio = |&block: &u64| Some((of_block(first, block)? / of_block(second, block)?).ln());
    blocks.iter().filter_map(ratio).collect()
}

#[cfg(test)]
mod tests;
