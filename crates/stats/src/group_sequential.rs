//! A group-sequential design: the error probability of intervals and differences, and the looks of a study that share
//! it. See [`crate::decide`].

use study::plan::Precision;

/// Error probability: 1 in 20.
pub const ALPHA: f64 = 0.05;

/// The numbers of trials at which the rule checks. The last one is `max_trials`.
pub fn looks(precision: &Precision) -> Vec<u32> {
    let last = precision.max_trials.max(1);
    if precision.relative.is_none() && !precision.claims {
        return vec![last];
    }
    let first = precision.min_trials.clamp(1, last);
    let grow = |&trials: &u32| (trials < last).then(|| (trials + trials.div_ceil(2)).min(last));
    std::iter::successors(Some(first), grow).collect()
}

/// The error at which differences are reported: a fifth of [`ALPHA`] is reserved for noise that is not normal, for
/// which Student's distribution is inaccurate with few trials.
pub fn alpha_of_differences(precision: &Precision) -> f64 {
    0.8 * alpha_per_look(precision)
}

/// The share of [`ALPHA`] for each look, and for every reported interval of the study.
pub fn alpha_per_look(precision: &Precision) -> f64 {
    ALPHA / looks(precision).len() as f64
}
