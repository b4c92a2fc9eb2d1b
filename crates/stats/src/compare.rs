//! Is one cell faster than another?
//!
//! The question is put to the *ratio*. Where cells share seeds, they did the same work on the same files, and
//! the ratio of the two values of each seed is taken first: what the seed does to both cancels (Jain, *The Art of
//! Computer Systems Performance Analysis*, 1991, 13.4.1). The ratios' interval then is that of [`crate::interval`].
//! Otherwise the logarithms are compared by Welch's t interval, which assumes that they are normally distributed
//! but not that both cells vary alike (Kalibera and Jones, *Rigorous Benchmarking in Reasonable Time*, ISMM 2013,
//! on why ratios with intervals rather than tests).

use crate::interval::{self, Basis, Interval, VALUES_MIN, mean_and_variance, student_t};
use crate::summary::median;
use study::Measurement;
use study::metric::Better;

/// A value and the seed of its trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seeded {
    pub seed: u64,
    pub value: f64,
}

impl Seeded {
    pub fn of(measurement: &Measurement) -> Self {
        Self {
            seed: measurement.trial.seed,
            value: measurement.entry.value,
        }
    }
}

/// The first cell against the second.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// First over second, of the centres; `None` where it means nothing (no values, or values not positive).
    pub ratio: Option<f64>,
    pub interval: Option<Interval>,
    pub pairing: Pairing,
    pub verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// This many pairs of trials with the same seed.
    BySeed(usize),
    Independent,
}

/// Faster is more throughput, or less time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Faster,
    Slower,
    NoDifferenceShown,
    /// Not enough values for an interval, or values that are not positive.
    TooFewTrials,
}

impl Verdict {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifferenceShown => "no difference shown",
            Self::TooFewTrials => "too few trials",
        }
    }
}

/// Compares at confidence 1 − `alpha`. Whoever makes several comparisons for one claim divides alpha by their
/// number.
pub fn compare(first: &[Seeded], second: &[Seeded], better: Better, alpha: f64) -> Comparison {
    let pairs = ratios_by_seed(first, second);
    let (ratio, interval, pairing) = if pairs.len() >= VALUES_MIN {
        (
            Some(median(&pairs)),
            interval::of_centre(&pairs, alpha),
            Pairing::BySeed(pairs.len()),
        )
    } else {
        (
            ratio_of_medians(first, second),
            welch(first, second, alpha),
            Pairing::Independent,
        )
    };
    Comparison {
        ratio,
        interval,
        pairing,
        verdict: verdict(interval, better),
    }
}

fn verdict(interval: Option<Interval>, better: Better) -> Verdict {
    let Some(interval) = interval else {
        return Verdict::TooFewTrials;
    };
    let more = interval.low > 1.0;
    let less = interval.high < 1.0;
    match better {
        Better::Higher if more => Verdict::Faster,
        Better::Higher if less => Verdict::Slower,
        Better::Lower if less => Verdict::Faster,
        Better::Lower if more => Verdict::Slower,
        _ => Verdict::NoDifferenceShown,
    }
}

/// Sorted. Empty if any value is not positive: a ratio would mean nothing.
fn ratios_by_seed(first: &[Seeded], second: &[Seeded]) -> Vec<f64> {
    if first.iter().chain(second).any(|seeded| seeded.value <= 0.0) {
        return Vec::new();
    }
    let mut ratios: Vec<f64> = first
        .iter()
        .filter_map(|one| {
            let other = second.iter().find(|other| other.seed == one.seed)?;
            Some(one.value / other.value)
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios
}

fn ratio_of_medians(first: &[Seeded], second: &[Seeded]) -> Option<f64> {
    let centre = |seeded: &[Seeded]| {
        let mut values: Vec<f64> = seeded.iter().map(|seeded| seeded.value).collect();
        values.sort_by(f64::total_cmp);
        values
            .first()
            .is_some_and(|&least| least > 0.0)
            .then(|| median(&values))
    };
    Some(centre(first)? / centre(second)?)
}

fn welch(first: &[Seeded], second: &[Seeded], alpha: f64) -> Option<Interval> {
    let logs = |seeded: &[Seeded]| -> Option<Vec<f64>> {
        let fit = seeded.len() >= VALUES_MIN && seeded.iter().all(|seeded| seeded.value > 0.0);
        fit.then(|| seeded.iter().map(|seeded| seeded.value.ln()).collect())
    };
    let (first, second) = (logs(first)?, logs(second)?);
    let (mean_first, variance_first) = mean_and_variance(&first);
    let (mean_second, variance_second) = mean_and_variance(&second);
    let share_first = variance_first / first.len() as f64;
    let share_second = variance_second / second.len() as f64;
    let (difference, variance) = (mean_first - mean_second, share_first + share_second);
    if variance == 0.0 {
        let ratio = difference.exp();
        return Some(Interval {
            low: ratio,
            high: ratio,
            basis: Basis::Identical,
        });
    }
    // Welch and Satterthwaite.
    let degrees = variance.powi(2)
        / (share_first.powi(2) / (first.len() as f64 - 1.0) + share_second.powi(2) / (second.len() as f64 - 1.0));
    let half = student_t(alpha, degrees) * variance.sqrt();
    Some(Interval {
        low: (difference - half).exp(),
        high: (difference + half).exp(),
        basis: Basis::LogNormal,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeded(first_seed: u64, values: &[f64]) -> Vec<Seeded> {
        values
            .iter()
            .zip(first_seed..)
            .map(|(&value, seed)| Seeded { seed, value })
            .collect()
    }

    #[test]
    fn seeds_cancel_what_both_share() {
        // The seed moves both by a factor of three; the first is always about 10 % ahead.
        let first = seeded(0, &[110.0, 221.0, 329.0]);
        let second = seeded(0, &[100.0, 200.0, 300.0]);
        let paired = compare(&first, &second, Better::Higher, 0.05);
        assert_eq!((paired.pairing, paired.verdict), (Pairing::BySeed(3), Verdict::Faster));
        let elsewhere = seeded(90, &[100.0, 200.0, 300.0]);
        let independent = compare(&first, &elsewhere, Better::Higher, 0.05);
        assert_eq!(
            (independent.pairing, independent.verdict),
            (Pairing::Independent, Verdict::NoDifferenceShown)
        );
    }

    #[test]
    fn less_time_is_faster() {
        let (quick, slow) = (seeded(0, &[1.0, 1.01, 1.02]), seeded(0, &[2.0, 2.0, 2.1]));
        assert_eq!(compare(&quick, &slow, Better::Lower, 0.05).verdict, Verdict::Faster);
        assert_eq!(compare(&slow, &quick, Better::Lower, 0.05).verdict, Verdict::Slower);
        assert_eq!(compare(&quick, &slow, Better::Higher, 0.05).verdict, Verdict::Slower);
        assert_eq!(
            compare(&quick, &slow, Better::Neither, 0.05).verdict,
            Verdict::NoDifferenceShown
        );
    }

    #[test]
    fn a_cell_against_itself_shows_no_difference() {
        let cell = seeded(0, &[5.0, 6.0, 7.0]);
        let same = compare(&cell, &cell, Better::Higher, 0.05);
        assert_eq!((same.ratio, same.verdict), (Some(1.0), Verdict::NoDifferenceShown));
    }

    #[test]
    fn values_without_any_spread() {
        let (first, second) = (seeded(0, &[5.0; 3]), seeded(9, &[4.0; 3]));
        let comparison = compare(&first, &second, Better::Higher, 0.05);
        assert_eq!(
            (comparison.verdict, comparison.interval.unwrap().basis),
            (Verdict::Faster, Basis::Identical)
        );
    }

    #[test]
    fn too_little_to_say() {
        let (two, three) = (seeded(0, &[5.0, 6.0]), seeded(0, &[1.0, 1.0, 1.1]));
        assert_eq!(
            compare(&two, &three, Better::Higher, 0.05).verdict,
            Verdict::TooFewTrials
        );
        let zeros = seeded(0, &[0.0, 0.0, 0.0]);
        let comparison = compare(&zeros, &three, Better::Higher, 0.05);
        assert_eq!((comparison.ratio, comparison.verdict), (None, Verdict::TooFewTrials));
        assert_eq!(compare(&[], &[], Better::Higher, 0.05).verdict, Verdict::TooFewTrials);
    }
}
