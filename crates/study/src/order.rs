//! The order of trials: in rounds, each round with all cells in random order.

use crate::plan::{Cell, Plan, Trial};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// The purpose of random numbers; each has its own stream.
#[derive(Clone, Copy)]
enum Purpose {
    TrialSeed = 1,
    Order = 2,
}

/// Random numbers that never change: ChaCha is a cipher with test vectors, so its stream is the same in every version
/// of every crate. `StdRng`, `SmallRng`, `seed_from_u64` and `rand`'s shuffles do not promise that. For the same reason
/// the key is built here.
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

/// The seed of the trials of an index, in every cell that is no replicate: of run seed and index only. It fits in 53
/// bits, so that JSON and SQLite keep it exactly.
pub fn trial_seed(run_seed: u64, index: u32) -> u64 {
    replicate_seed(run_seed, index, 0)
}

/// The same for a replicate, by its number: each has seeds of its own.
fn replicate_seed(run_seed: u64, index: u32, replicate: u32) -> u64 {
    let mut key = key(run_seed, Purpose::TrialSeed, index);
    key[20..24].copy_from_slice(&replicate.to_le_bytes());
    ChaCha8Rng::from_seed(key).next_u64() >> 11
}

impl Plan {
    /// Every trial that there may be, in the order in which they run: up to `precision.max_trials` of each cell.
    pub fn trials(&self, run_seed: u64) -> impl Iterator<Item = Trial> + '_ {
        self.rounds(run_seed).flatten()
    }

    /// The same a round at a time: the first trial of every cell, then the second of every cell, … The order in a
    /// round is random, and every other round is the one before backwards, so that what drifts while a study runs
    /// drifts for all cells alike. From `precision.min_trials` on, cells that are sure enough may be passed over.
    pub fn rounds(&self, run_seed: u64) -> impl Iterator<Item = Vec<Trial>> + '_ {
        (0..self.precision.max_trials).map(move |index| {
            let trial = |cell: &Cell| Trial {
                cell: cell.clone(),
                index,
                seed: replicate_seed(run_seed, index, cell.replicate),
            };
            let mut round: Vec<Trial> = self.cells.iter().map(trial).collect();
            shuffle(&mut round, &mut stream(run_seed, Purpose::Order, index - index % 2));
            if index % 2 == 1 {
                round.reverse();
            }
            round
        })
    }
}

/// Fisher and Yates's.
fn shuffle<T>(items: &mut [T], random: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last as u64 + 1, random) as usize);
    }
}

/// A number from 0 to `bound` − 1, all equally likely: draws that would favour the low ones are drawn again.
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
