//! Random places.

use disksim::random::mix;

/// The difference of two successive states.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// A random number less than `below`.
    pub fn below(&mut self, below: u64) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(GOLDEN_GAMMA);
        number % below.max(1)
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}
