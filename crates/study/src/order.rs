//! The order of trials: rounds over all cells, each in random order.

use crate::plan::{Plan, Trial};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// The purpose of random numbers; each has its own stream.
#[derive(Clone, Copy)]
enum Purpose {
    TrialSeed = 1,
    Order = 2,
}

/// Stable random numbers: ChaCha is a cipher with test vectors, so its stream is the same in every version of every
/// crate. `StdRng`, `SmallRng`, `seed_from_u64` and the shuffles of `rand` do not guarantee that. For the same
/// reason the key is constructed here.
fn stream(run_seed: u64, purpose: Purpose, index: u32) -> ChaCha8Rng {
    ChaCha8Rng::from_seed(key(run_seed, purpose, index))
}

fn key(run_seed: u64, purpose: Purpose, index: u32) -> [u8; 32] {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&run_seed.to_le_bytes());
    key[8] = purpose as u8;
    key[16..20].copy_from_slice(&index.to_le_bytes());
    key
}

/// The seed of trials with this index, in every cell that is not a replicate: depends only on run seed and index.
/// It fits in 53 bits, so JSON and SQLite store it exactly.
pub fn trial_seed(run_seed: u64, index: u32) -> u64 {
    replicate_seed(run_seed, index, 0)
}

/// The same for a replicate, by number: each has its own seeds.
fn replicate_seed(run_seed: u64, index: u32, replicate: u32) -> u64 {
    let mut key = key(run_seed, Purpose::TrialSeed, index);
    key[20..24].copy_from_slice(&replicate.to_le_bytes());
    ChaCha8Rng::from_seed(key).next_u64() >> 11
}

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
