//! The seeds of trials, and the streams of random numbers that are derived from a run's seed.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// The purpose of random numbers; each has its own stream.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    TrialSeed = 1,
    Order = 2,
}

/// Stable random numbers: ChaCha is a cipher with test vectors, so its stream is the same in every version of every
/// crate. `StdRng`, `SmallRng`, `seed_from_u64` and the shuffles of `rand` do not guarantee that. For the same
/// reason the key is constructed here.
pub(crate) fn stream(run_seed: u64, purpose: Purpose, index: u32) -> ChaCha8Rng {
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
pub(crate) fn replicate_seed(run_seed: u64, index: u32, replicate: u32) -> u64 {
    let mut key = key(run_seed, Purpose::TrialSeed, index);
    key[20..24].copy_from_slice(&replicate.to_le_bytes());
    ChaCha8Rng::from_seed(key).next_u64() >> 11
}
