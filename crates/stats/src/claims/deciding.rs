//! The interval that shows why a claim is decided or not.
//!
//! Holm's procedure compares the smallest p-value of m claims with α/m, the next one with α/(m − 1), and stops at
//! the first claim that fails. If r claims are decided, it stopped at α/(m − r): the p-value of each decided claim
//! is below that level, and that of each other claim is above it. So one level for all claims shows all decisions.
//!
//! The interval of a pair at that level is inside the claimed range exactly if the pair supports the claim. A pair
//! that contradicts the claim refutes it at 1/c of the level if the claim has c pairs, and at half of that if the
//! claim can be refuted on two sides: its interval is correspondingly wider.
//!
//! For a decided claim, the interval shows that the margin is excluded. The intervals of several claims do not hold
//! simultaneously.

use super::{ClaimEffect, Judged, JudgedPair};
use crate::interval::{Interval, TRIALS_MIN};
use study::claim::Comparison;

/// The ratios of a pair for which a claim is true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claimed {
    pub low: f64,
    /// Absent if there is no upper bound.
    pub high: Option<f64>,
}

impl Claimed {
    pub(super) fn by(comparison: &Comparison) -> Self {
        match comparison {
            Comparison::Better { by, .. } | Comparison::Fastest { by, .. } | Comparison::Slowest { by, .. } => {
                Self { low: *by, high: None }
            }
            Comparison::Equal { within, .. } | Comparison::AllEqual { within } => Self {
                low: 1.0 / within,
                high: Some(*within),
            },
        }
    }
}

/// The interval of a pair that decides a claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deciding {
    /// 0.998 is 99.8 %.
    pub confidence: f64,
    pub interval: Interval,
}

/// What a pair shows. One that refutes decides the claim; otherwise one that is open leaves it undecided.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stand {
    Refutes,
    Open,
    Supports,
}

/// The level at which the claims with these adjusted p-values were decided or left undecided.
pub(super) fn level(adjusted: &[f64], alpha: f64) -> f64 {
    let undecided = adjusted.iter().filter(|probability| **probability > alpha).count();
    alpha / undecided.max(1) as f64
}

impl Judged {
    /// The deciding pair, with its interval at `level` for a testable claim.
    pub(super) fn shown(&self, level: f64) -> Option<ClaimEffect> {
        let pair = self.decider(level)?;
        let level = self.level_of(pair, level);
        // An untestable claim has an effect, but it decides nothing.
        let sure = pair.sure.filter(|_| self.reason.is_none());
        let deciding = sure.map(|effect| Deciding {
            confidence: 1.0 - level,
            interval: effect.interval(level),
        });
        Some(ClaimEffect {
            deciding,
            ..pair.effect.clone()
        })
    }

    /// The pair that fits the claim least, among those with the same decision as the whole claim.
    fn decider(&self, level: f64) -> Option<&JudgedPair> {
        self.pairs.iter().min_by(|one, other| {
            let order = self.stand(one, level).cmp(&self.stand(other, level));
            order.then_with(|| one.margin.total_cmp(&other.margin))
        })
    }

    fn stand(&self, pair: &JudgedPair, level: f64) -> Stand {
        if 2.0 * pair.p_refute * self.pairs.len() as f64 <= level {
            Stand::Refutes
        } else if 2.0 * pair.p_support <= level {
            Stand::Supports
        } else {
            Stand::Open
        }
    }

    /// The level of a pair's interval, given the claim's `level`.
    fn level_of(&self, pair: &JudgedPair, level: f64) -> f64 {
        if pair.seems_to_hold {
            return level;
        }
        let sides = if pair.effect.claimed.high.is_some() { 2 } else { 1 };
        level / (sides * self.pairs.len()) as f64
    }

    /// Further trials until the deciding interval excludes the bound: for all pairs if the claim seems to hold,
    /// otherwise for the pair that contradicts it most.
    pub(super) fn further_trials(&self, level: f64) -> Option<u32> {
        let needed: Option<Vec<u32>> = self.open(level).map(|pair| self.trials_of(pair, level)).collect();
        needed?.into_iter().max()
    }

    /// The pairs on which the decision depends: those that do not support the claim yet if all seem to; otherwise
    /// the one that contradicts it most.
    pub(super) fn open(&self, level: f64) -> impl Iterator<Item = &JudgedPair> {
        let seems_to_hold = self.pairs.iter().all(|pair| pair.seems_to_hold);
        let open = move |pair: &&JudgedPair| seems_to_hold && self.stand(pair, level) != Stand::Supports;
        let decider = (!seems_to_hold).then(|| self.decider(level)).flatten();
        self.pairs.iter().filter(open).chain(decider)
    }

    /// Total trials of each cell that decide a pair if the difference is as large as its interval allows; `None` if
    /// unknown.
    pub(super) fn trials_at_best(&self, pair: &JudgedPair, level: f64) -> Option<u32> {
        let effect = pair.sure.as_ref()?;
        let trials = effect.trials_at_best(pair.bound, self.level_of(pair, level) / 2.0);
        Some(trials.unwrap_or(u32::MAX))
    }

    /// Further trials until the deciding interval of a pair excludes the bound.
    pub(super) fn trials_of(&self, pair: &JudgedPair, level: f64) -> Option<u32> {
        match &pair.sure {
            Some(effect) => effect.further_trials(pair.bound, self.level_of(pair, level) / 2.0),
            None => Some((TRIALS_MIN - pair.effect.trials.min(TRIALS_MIN - 1)) as u32),
        }
    }
}
