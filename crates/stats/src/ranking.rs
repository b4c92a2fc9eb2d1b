//! A ranking that never ranks inside the noise.
//!
//! Stacks are put in *tiers*. The best stack and every stack that is not shown to be slower than it make the
//! first tier; of the rest the same again. Each tier's comparisons share its error of 5 % (Bonferroni), all being
//! with that tier's best only: Hsu's multiple comparisons with the best, *Annals of Statistics* 12 (1984).
//! Membership says "not told apart from the tier's best": two other members of a tier may well differ.

use crate::compare::{Seeded, Verdict, compare};
use crate::interval::VALUES_MIN;
use crate::precision::ALPHA;
use crate::summary::median;
use study::metric::Better;

/// The places in `stacks`, best tier first, and within a tier by median. A stack with too few values to compare,
/// or with values that are not positive, is in none: it can be placed neither above nor below another.
pub fn tiers(stacks: &[Vec<Seeded>], better: Better) -> Vec<Vec<usize>> {
    if better == Better::Neither {
        return Vec::new();
    }
    let mut left: Vec<usize> = (0..stacks.len())
        .filter(|&place| can_be_placed(&stacks[place]))
        .collect();
    left.sort_by(|&one, &other| {
        let order = centre(&stacks[one]).total_cmp(&centre(&stacks[other]));
        if better == Better::Higher {
            order.reverse()
        } else {
            order
        }
    });
    let mut tiers = Vec::new();
    while let Some((&best, others)) = left.split_first() {
        let alpha = ALPHA / others.len().max(1) as f64;
        let is_slower =
            |place: &usize| compare(&stacks[best], &stacks[*place], better, alpha).verdict == Verdict::Faster;
        let (slower, mut tier): (Vec<usize>, Vec<usize>) = others.iter().copied().partition(is_slower);
        tier.insert(0, best);
        tiers.push(tier);
        left = slower;
    }
    tiers
}

fn can_be_placed(values: &[Seeded]) -> bool {
    values.len() >= VALUES_MIN && values.iter().all(|seeded| seeded.value > 0.0)
}

fn centre(values: &[Seeded]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().map(|seeded| seeded.value).collect();
    sorted.sort_by(f64::total_cmp);
    median(&sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(values: &[f64]) -> Vec<Seeded> {
        values
            .iter()
            .zip(0..)
            .map(|(&value, seed)| Seeded { seed, value })
            .collect()
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
