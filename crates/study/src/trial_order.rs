//! The order of trials: rounds over all cells, each in random order.

use crate::plan::{Plan, Trial};
use crate::trial_seed::{Purpose, replicate_seed, stream};
use chacha20::rand_core::Rng;

impl Plan {
    /// All possible trials in order: up to `precision.max_trials` of each cell.
    pub fn trials(&self, run_seed: u64) -> impl Iterator<Item = Trial> + '_ {
        self.rounds(run_seed).flatten()
    }

    /// The same by round: the first trial of every cell, then the second of every cell, … The order in a round is
    /// random, and every second round reverses the previous one, so that drift affects all cells equally. From
    /// `precision.min_trials` on, sufficiently precise cells may be skipped.
    pub fn rounds(&self, run_seed: u64) -> impl Iterator<Item = Vec<Trial>> + '_ {
        (0..self.precision.max_trials).map(move |index| {
            let places = self.round(run_seed, index).into_iter();
            places.map(|place| self.trial(run_seed, place, index)).collect()
        })
    }

    /// Indices in the plan of a round's cells, in the order of the round.
    pub fn round(&self, run_seed: u64, index: u32) -> Vec<usize> {
        let mut round: Vec<usize> = (0..self.cells.len()).collect();
        shuffle(&mut round, &mut stream(run_seed, Purpose::Order, index - index % 2));
        if index % 2 == 1 {
            round.reverse();
        }
        round
    }

    /// A trial of the cell with this index in the plan.
    pub fn trial(&self, run_seed: u64, place: usize, index: u32) -> Trial {
        let cell = &self.cells[place];
        Trial {
            cell: cell.clone(),
            index,
            seed: replicate_seed(run_seed, index, cell.replicate),
        }
    }
}

/// The Fisher–Yates shuffle.
fn shuffle<T>(items: &mut [T], random: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last as u64 + 1, random) as usize);
    }
}

/// A uniform number from 0 to `bound` − 1: draws that would cause a bias are repeated.
fn below(bound: u64, random: &mut impl Rng) -> u64 {
    let fair = u64::MAX - u64::MAX % bound;
    loop {
        let draw = random.next_u64();
        if draw < fair {
            return draw % bound;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_favours_no_place() {
        let mut first = [0_u32; 4];
        for seed in 0..4000 {
            let mut items = [0, 1, 2, 3];
            shuffle(&mut items, &mut stream(seed, Purpose::Order, 0));
            first[items[0]] += 1;
        }
        // ± 5 standard deviations of a binomial with n = 4000, p = 1/4.
        assert!(first.iter().all(|count| (863..=1137).contains(count)), "{first:?}");
    }
}
