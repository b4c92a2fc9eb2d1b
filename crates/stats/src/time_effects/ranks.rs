//! Rank statistics of one cell, to be summed over cells.

use statrs::distribution::{ContinuousCDF, Normal};

/// A statistic with its variance if all orders are equally likely; its mean is then 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Statistic {
    pub value: f64,
    pub variance: f64,
    /// Half the distance to the next possible value: the correction for continuity.
    pub half_step: f64,
}

/// Kendall's S of values in their order: the number of pairs in which the later value is larger, minus those in
/// which it is smaller. Its variance allows for ties (Kendall, *Rank Correlation Methods*, 4th ed. 1970, chapter
/// 4).
pub(super) fn kendall(values: &[f64]) -> Statistic {
    let mut value = 0.0;
    for (at, one) in values.iter().enumerate() {
        let later = values[at + 1..].iter();
        value += later.map(|later| sign(later - one)).sum::<f64>();
    }
    let of_count = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0);
    let of_ties: f64 = ties(values).into_iter().map(of_count).sum();
    Statistic {
        value,
        variance: (of_count(values.len() as f64) - of_ties) / 18.0,
        half_step: 1.0,
    }
}

/// Wilcoxon's rank sum of the values in a group minus its mean, with van Elteren's weight: one divided by the
/// number of values plus one. Equal values share the mean of their ranks.
pub(super) fn rank_sum(values: &[f64], is_in: &[bool]) -> Statistic {
    let count = values.len() as f64;
    let inside = is_in.iter().filter(|is_in| **is_in).count() as f64;
    let centred: Vec<f64> = values
        .iter()
        .map(|one| values.iter().map(|other| sign(one - other)).sum::<f64>() / 2.0)
        .collect();
    let sum: f64 = centred
        .iter()
        .zip(is_in)
        .filter(|(_, is_in)| **is_in)
        .map(|(rank, _)| rank)
        .sum();
    let spread = centred.iter().map(|rank| rank * rank).sum::<f64>() / count;
    let weight = 1.0 / (count + 1.0);
    Statistic {
        value: weight * sum,
        // Variance of a sum of ranks drawn without replacement.
        variance: weight * weight * spread * inside * (count - inside) / (count - 1.0),
        half_step: weight / 2.0,
    }
}

/// Two-sided p-value of a sum of independent statistics, by the normal distribution.
pub(super) fn two_sided(statistics: impl Iterator<Item = Statistic>) -> f64 {
    let varying = statistics.filter(|one| one.variance > 0.0);
    let sum = varying.fold(Statistic::default(), |sum, one| Statistic {
        value: sum.value + one.value,
        variance: sum.variance + one.variance,
        half_step: sum.half_step.max(one.half_step),
    });
    if sum.variance <= 0.0 {
        return 1.0;
    }
    let beyond = (sum.value.abs() - sum.half_step).max(0.0) / sum.variance.sqrt();
    (2.0 * Normal::standard().sf(beyond)).min(1.0)
}

/// Residuals that differ by less than this fraction are equal: their logarithms may differ in the last digits.
const EQUAL_WITHIN: f64 = 1e-12;

fn sign(difference: f64) -> f64 {
    if difference.abs() < EQUAL_WITHIN {
        0.0
    } else {
        difference.signum()
    }
}

/// Sizes of the groups of equal values.
fn ties(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let equal = sorted.chunk_by(|one, other| (one - other).abs() < EQUAL_WITHIN);
    equal.map(|values| values.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kendall's own table: n = 4, S = 6 in 1 of 24 orders; n = 10, variance 125.
    #[test]
    fn kendall_as_published() {
        assert_eq!(kendall(&[1.0, 2.0, 3.0, 4.0]).value, 6.0);
        assert_eq!(kendall(&[4.0, 3.0, 2.0, 1.0]).value, -6.0);
        let ten: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!((kendall(&ten).value, kendall(&ten).variance), (45.0, 125.0));
        // One tie of three values among five: (300 − 66) / 18.
        assert_eq!(kendall(&[1.0, 2.0, 2.0, 2.0, 3.0]).variance, 13.0);
        assert_eq!(kendall(&[5.0; 6]).variance, 0.0);
    }

    /// The variances match those over all permutations.
    #[test]
    fn variances_are_those_of_all_orders() {
        let values = [1.0, 2.0, 2.0, 4.0, 5.0];
        let (mut orders, mut of_s, mut of_sum) = (0.0, 0.0, 0.0);
        let is_in = [true, true, false, false, false];
        permute(&mut values.to_vec(), 0, &mut |order| {
            orders += 1.0;
            of_s += kendall(order).value.powi(2);
            of_sum += rank_sum(order, &is_in).value.powi(2);
        });
        assert_eq!(orders, 120.0);
        assert!((of_s / orders - kendall(&values).variance).abs() < 1e-9);
        assert!((of_sum / orders - rank_sum(&values, &is_in).variance).abs() < 1e-12);
    }

    fn permute(values: &mut Vec<f64>, from: usize, see: &mut impl FnMut(&[f64])) {
        if from == values.len() {
            return see(values);
        }
        for at in from..values.len() {
            values.swap(from, at);
            permute(values, from + 1, see);
            values.swap(from, at);
        }
    }

    #[test]
    fn nothing_varies_so_nothing_is_shown() {
        assert_eq!(two_sided([kendall(&[5.0; 6])].into_iter()), 1.0);
        assert_eq!(two_sided(std::iter::empty()), 1.0);
    }
}
