//! Which of the figures that were drawn decides a comparison.

use crate::{ALPHA, TRIALS_MIN};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeMap;

/// A figure of models of disks, with its part in a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    pub figure: String,
    /// Part of the scatter of the ratio that goes with it: the square of the correlation of their logarithms.
    pub share: f64,
}

/// The drawn figure that the ratios of two stacks go with most; `None` if none is shown to, at 95 % over all figures. `ratios` and
/// `factors` have an entry for each trial: logarithms of a ratio, and factors by figure. Flags have the factors 1 and 0.
pub fn deciding_guess(ratios: &[f64], factors: &[BTreeMap<String, f64>]) -> Option<Guess> {
    if ratios.len() <= TRIALS_MIN {
        return None;
    }
    let figures = factors.first()?.keys();
    let guess = |figure: &String| {
        let values: Option<Vec<f64>> = factors.iter().map(|of_trial| of_trial.get(figure).copied()).collect();
        let is_flag = |values: &[f64]| values.iter().any(|value| *value <= 0.0);
        let values = values.map(|values| match is_flag(&values) {
            true => values,
            false => values.into_iter().map(f64::ln).collect(),
        })?;
        Some(Guess {
            figure: figure.clone(),
            share: correlation(ratios, &values)?.powi(2),
        })
    };
    let count = figures.len() as f64;
    let most = figures
        .filter_map(guess)
        .max_by(|one, other| one.share.total_cmp(&other.share))?;
    // One of many figures goes with anything by chance (Bonferroni).
    (p_of_share(most.share, ratios.len()) * count <= ALPHA).then_some(most)
}

/// Two-sided probability of a square of a correlation at least as large where there is none: Student's t with n − 2 degrees of freedom.
fn p_of_share(share: f64, trials: usize) -> f64 {
    if share >= 1.0 {
        return 0.0;
    }
    let degrees = trials as f64 - 2.0;
    let t = StudentsT::new(0.0, 1.0, degrees).expect("degrees of freedom are positive");
    2.0 * t.sf((share * degrees / (1.0 - share)).sqrt())
}

/// Pearson's; `None` if one of them is constant.
fn correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_one, mean_other) = (mean(one), mean(other));
    let sum = |product: &dyn Fn(f64, f64) -> f64| -> f64 {
        let pairs = one.iter().zip(other);
        pairs
            .map(|(one, other)| product(one - mean_one, other - mean_other))
            .sum()
    };
    let (of_one, of_other) = (sum(&|one, _| one * one), sum(&|_, other| other * other));
    let both = sum(&|one, other| one * other);
    (of_one > 1e-18 && of_other > 1e-18).then(|| both / (of_one * of_other).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_that_a_ratio_goes_with_is_found() {
        let trial = |number: u32| {
            let seek = 1.0 + 0.1 * f64::from(number % 3);
            let rate = 1.0 + 0.1 * f64::from(number % 2);
            let flag = f64::from(number % 4 / 2);
            let factors = [("seek", seek), ("rate", rate), ("flag", flag)];
            (
                -seek.ln(),
                factors.map(|(name, factor)| (name.to_owned(), factor)).into(),
            )
        };
        let (ratios, factors): (Vec<f64>, Vec<BTreeMap<String, f64>>) = (0..12).map(trial).unzip();
        let guess = deciding_guess(&ratios, &factors).expect("enough trials");
        assert_eq!((guess.figure.as_str(), (guess.share * 100.0).round()), ("seek", 100.0));
        assert_eq!(deciding_guess(&ratios[..3], &factors[..3]), None);
        // Nothing of this is known of any figure, and one of three goes with it a little.
        let chance: Vec<f64> = (0..12_u32).map(|number| f64::from(number * 7 % 12 * 5 % 7)).collect();
        assert_eq!(deciding_guess(&chance, &factors), None);
        assert_eq!(deciding_guess(&[0.0; 12], &factors), None);
    }
}
