//! Ranks stacks without ranking differences within the noise.
//!
//! *Every* pair of stacks is compared, and Holm's procedure keeps the error of a test's whole ranking at 5 %. A
//! stack's rank is one more than the number of stacks shown to be faster, directly or transitively. A noisy stack
//! therefore hides no other: two stacks are compared by their own values only. Stacks of equal rank are not shown
//! to differ, or each is slower than the same number of others.

use crate::compare::{Effect, InBlock, PooledVariance, faster, holm_among};
use crate::interval::TRIALS_MIN;
use study::metric::Better;

/// Result of comparing all pairs of a test's stacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Indices of the stacks, best rank first, and within a rank by median. A stack with too few values to compare, or
    /// with non-positive values, is not included.
    pub tiers: Vec<Vec<usize>>,
    /// Relation of the stacks in the first tier.
    pub leaders: Closeness,
}

/// Possible difference between stacks that are not shown to differ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Closeness {
    /// There is at most one stack.
    #[default]
    Alone,
    /// All are shown to be equal within this fraction: 0.03 is 3 %.
    EqualWithin(f64),
    /// They may differ by this fraction.
    MayDiffer(f64),
}

/// Stacks whose difference is shown to be at most this are called equal: the default margin of a claim.
const EQUAL_WITHIN: f64 = 0.1;

/// Ranks stacks at an error of `alpha` over all pairs.
pub fn rank(stacks: &[Vec<InBlock>], better: Better, alpha: f64) -> Ranking {
    rank_among(stacks, better, alpha, 0)
}

/// The same for some of `all` stacks, which may have been selected by their values. Holm's procedure counts the
/// pairs of all of them and assumes that the pairs not compared here are not rejected, so its thresholds can only
/// be stricter.
pub fn rank_among(stacks: &[Vec<InBlock>], better: Better, alpha: f64, all: usize) -> Ranking {
    if better == Better::Neither {
        return Ranking::default();
    }
    let mut placed: Vec<usize> = (0..stacks.len())
        .filter(|&place| can_be_placed(&stacks[place]))
        .collect();
    placed.sort_by(|&one, &other| {
        let order = centre(&stacks[one]).total_cmp(&centre(&stacks[other]));
        if better == Better::Higher {
            order.reverse()
        } else {
            order
        }
    });
    let pairs = pairs(stacks, &placed, better);
    let family = (all * all.saturating_sub(1) / 2).max(pairs.len());
    let ahead = reached(placed.len(), shown(&pairs, alpha, family));
    let count = |place: usize| (0..placed.len()).filter(|&other| ahead[other][place]).count();
    let mut ranks: Vec<usize> = (0..placed.len()).map(count).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let tiers: Vec<Vec<usize>> = ranks
        .into_iter()
        .map(|rank| (0..placed.len()).filter(|&place| count(place) == rank).collect())
        .collect();
    Ranking {
        leaders: tiers
            .first()
            .map_or(Closeness::Alone, |tier| closeness(&pairs, tier, alpha, all)),
        tiers: tiers
            .into_iter()
            .map(|tier| tier.into_iter().map(|place| placed[place]).collect())
            .collect(),
    }
}

/// Two stacks by index, the apparently faster one first.
struct Pair {
    first: usize,
    second: usize,
    effect: Effect,
}

fn pairs(stacks: &[Vec<InBlock>], placed: &[usize], better: Better) -> Vec<Pair> {
    let values: Vec<Vec<InBlock>> = placed.iter().map(|&place| stacks[place].clone()).collect();
    let pool = PooledVariance::of(&values);
    let mut pairs = Vec::new();
    for (first, one) in values.iter().enumerate() {
        for (second, other) in values.iter().enumerate().skip(first + 1) {
            if let Some(effect) = Effect::of(one, other, pool.as_ref()) {
                let effect = faster(effect, better);
                pairs.push(Pair { first, second, effect });
            }
        }
    }
    pairs
}

/// The significant pairs: winner, loser.
fn shown(pairs: &[Pair], alpha: f64, family: usize) -> Vec<(usize, usize)> {
    let probabilities: Vec<f64> = pairs.iter().map(|pair| pair.effect.p_differ()).collect();
    let adjusted = holm_among(&probabilities, family);
    let differ = pairs
        .iter()
        .zip(adjusted)
        .filter(|(_, probability)| *probability <= alpha);
    differ
        .map(|(pair, _)| match pair.effect.ratio() > 1.0 {
            true => (pair.first, pair.second),
            false => (pair.second, pair.first),
        })
        .collect()
}

/// The stacks that each one is ahead of, directly or transitively (Warshall).
fn reached(count: usize, shown: Vec<(usize, usize)>) -> Vec<Vec<bool>> {
    let mut ahead = vec![vec![false; count]; count];
    for (winner, loser) in shown {
        ahead[winner][loser] = true;
    }
    for via in 0..count {
        for from in 0..count {
            for to in 0..count {
                ahead[from][to] |= ahead[from][via] && ahead[via][to];
            }
        }
    }
    ahead
}

/// Whether all stacks of a tier are shown to be equal: the pair with the largest difference decides.
fn closeness(pairs: &[Pair], tier: &[usize], alpha: f64, all: usize) -> Closeness {
    let of_tier = || {
        pairs
            .iter()
            .filter(|pair| tier.contains(&pair.first) && tier.contains(&pair.second))
    };
    let count = match all {
        0 => of_tier().count(),
        // Any of them could be in the first tier.
        all => all * all.saturating_sub(1) / 2,
    };
    let share = alpha / count.max(1) as f64;
    let apart = |pair: &Pair| {
        // The interval at 1 − 2α: two one-sided tests.
        let interval = pair.effect.interval(2.0 * share);
        interval.high.max(1.0 / interval.low) - 1.0
    };
    let Some(most) = of_tier().map(apart).max_by(f64::total_cmp) else {
        return Closeness::Alone;
    };
    if most <= EQUAL_WITHIN {
        Closeness::EqualWithin(most)
    } else {
        Closeness::MayDiffer(most)
    }
}

fn can_be_placed(values: &[InBlock]) -> bool {
    values.len() >= TRIALS_MIN && values.iter().all(|one| one.value > 0.0)
}

fn centre(values: &[InBlock]) -> f64 {
    study::median(values.iter().map(|one| one.value)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(values: &[f64]) -> Vec<InBlock> {
        values
            .iter()
            .zip(0..)
            .map(|(&value, block)| InBlock {
                block,
                value,
                is_drawn: false,
            })
            .collect()
    }

    fn tiers(stacks: &[Vec<InBlock>], better: Better) -> Vec<Vec<usize>> {
        rank(stacks, better, 0.05).tiers
    }

    #[test]
    fn noise_is_not_ranked() {
        let stacks = [
            stack(&[100.0, 104.0, 98.0]),
            stack(&[101.0, 99.0, 103.0]),
            stack(&[50.0, 51.0, 50.5]),
        ];
        assert_eq!(tiers(&stacks, Better::Higher), [vec![1, 0], vec![2]]);
        assert_eq!(tiers(&stacks, Better::Lower), [vec![2], vec![0, 1]]);
    }

    /// Issue 12, item 5: Bonnie's create, btrfs 22/21/21 against XFS 55/57/56, with a noisy third stack.
    #[test]
    fn issue_12_5_a_noisy_leader_hides_nobody() {
        let stacks = [
            stack(&[22.0, 21.0, 21.0]),
            stack(&[55.0, 57.0, 56.0]),
            stack(&[52.0, 75.0, 64.0]),
        ];
        let ranking = rank(&stacks, Better::Higher, 0.05);
        assert_eq!(ranking.tiers, [vec![2, 1], vec![0]]);
        assert!(
            matches!(ranking.leaders, Closeness::MayDiffer(most) if most > 0.2),
            "{ranking:?}"
        );
    }

    #[test]
    fn equal_is_shown_and_not_assumed() {
        let noise = [1.0, 1.002, 0.999, 1.001, 0.998];
        let stack_of = |shift: usize| stack(&[0, 1, 2, 3, 4].map(|at| 100.0 * noise[(at + shift) % 5]));
        let ranking = rank(&[stack_of(0), stack_of(1), stack_of(3)], Better::Higher, 0.05);
        assert!(
            matches!(ranking.leaders, Closeness::EqualWithin(most) if most < 0.02),
            "{ranking:?}"
        );
        let few = [stack(&[100.0, 150.0, 80.0]), stack(&[90.0, 120.0, 140.0])];
        assert!(matches!(
            rank(&few, Better::Higher, 0.05).leaders,
            Closeness::MayDiffer(_)
        ));
    }

    #[test]
    fn what_was_tried_once_is_not_placed() {
        let stacks = [
            stack(&[1.0; 3]),
            stack(&[900.0]),
            Vec::new(),
            stack(&[2.0; 3]),
            stack(&[0.0; 3]),
        ];
        assert_eq!(tiers(&stacks, Better::Higher), [vec![3], vec![0]]);
    }

    /// A store that was edited: the variance of such values is beyond what a number holds.
    #[test]
    fn values_that_nobody_measures_are_not_ranked() {
        let stacks = [
            stack(&[1e308, 1e-308, f64::MAX]),
            stack(&[f64::MIN_POSITIVE, 1.0, 1e300]),
            stack(&[f64::INFINITY, 1.0, 2.0]),
        ];
        assert!(rank(&stacks, Better::Higher, 0.05).tiers.len() <= 1);
        assert!(rank(&stacks, Better::Lower, 0.05).tiers.len() <= 1);
    }

    #[test]
    fn steady_simulated_values_rank_fully() {
        let stacks = [stack(&[1.0; 3]), stack(&[3.0; 3]), stack(&[2.0; 3]), stack(&[3.0; 3])];
        assert_eq!(tiers(&stacks, Better::Higher), [vec![1, 3], vec![2], vec![0]]);
    }

    #[test]
    fn counts_that_are_neither_good_nor_bad_are_not_ranked() {
        assert!(tiers(&[stack(&[1.0; 3])], Better::Neither).is_empty());
    }
}
