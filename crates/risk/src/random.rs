//! Random numbers from a seed: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A stream of its own for each seed and stream number.
    pub const fn new(seed: u64, stream: u64) -> Self {
        Self(mix(mix(seed).wrapping_add(stream)))
    }

    /// A number above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        // 53 bits, in the middle of their interval: never 0, never 1.
        ((mix(self.0) >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }
}

const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_mean_square_are_those_of_the_distribution() {
        let mut random = Random::new(1, 2);
        let draws: Vec<f64> = (0..100_000).map(|_| random.uniform()).collect();
        let mean = |power: i32| draws.iter().map(|x| x.powi(power)).sum::<f64>() / draws.len() as f64;
        assert!((mean(1) - 1.0 / 2.0).abs() < 0.005 && (mean(2) - 1.0 / 3.0).abs() < 0.005);
    }

    #[test]
    fn streams_differ() {
        assert_ne!(Random::new(1, 0).uniform(), Random::new(1, 1).uniform());
        assert_ne!(Random::new(0, 1).uniform(), Random::new(1, 1).uniform());
    }
}
