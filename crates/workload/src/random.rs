//! Random numbers that are the same on all machines and in all versions.
//!
//! Results are compared bit for bit between machines and between releases of raidlab. Library generators guarantee this
//! only within a version, library distributions not at all, and `ln`, `exp` and `cos` differ between C libraries.
//! Therefore this is SplitMix64 (Steele, Lea and Flood, 2014) and integer arithmetic.

pub(crate) use study::splitmix64::mix;

use study::splitmix64::GOLDEN_GAMMA;

/// A SplitMix64 generator.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

/// A number for the place (`a`, `b`) under `seed`, without drawing the ones before it.
pub(crate) const fn hash(seed: u64, a: u64, b: u64) -> u64 {
    let first = mix(seed.wrapping_add(a.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA)));
    mix(first.wrapping_add(b.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA)))
}

/// Maps a random 64-bit number to `0..bound`: Lemire's multiplication, with a negligible bias of bound / 2⁶⁴.
pub(crate) const fn scale(number: u64, bound: u64) -> u64 {
    ((number as u128 * bound as u128) >> 64) as u64
}

impl Random {
    /// A generator for one purpose. Different streams of one seed are independent.
    pub(crate) const fn new(seed: u64, stream: u64) -> Self {
        Self(hash(seed, stream, 0))
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN_GAMMA);
        mix(self.0)
    }

    /// Uniformly distributed in `0..bound`.
    pub(crate) const fn below(&mut self, bound: u64) -> u64 {
        scale(self.next(), bound)
    }

    /// Nearly normal, mean 0, standard deviation 1, in 32.32 fixed point: the sum of twelve uniform numbers minus six
    /// (Irwin–Hall), which stays within ±6 and has slightly light tails.
    pub(crate) fn normal_q32(&mut self) -> i64 {
        let sum: u64 = (0..6)
            .map(|_| self.next())
            .map(|two| (two >> 32) + (two & 0xffff_ffff))
            .sum();
        sum.cast_signed() - (6 << 32)
    }
}

/// Draws sizes: the logarithm is normal on either side of the median, with the bound of that side at three standard
/// deviations; values beyond it are drawn again. So the median is exact and both bounds are approached, even if
/// asymmetric; where `max / median = median / min` this is the plain log-normal distribution.
pub(crate) struct SizeDistribution {
    min: u64,
    median: u64,
    max: u64,
    /// log₂(median / min) / 3 and log₂(max / median) / 3, 32.32 fixed point.
    sigma_below_q32: u64,
    sigma_above_q32: u64,
    /// 2^(2⁻¹), 2^(2⁻²), … in 4.60 fixed point.
    roots_q60: [u64; 32],
}

const SIGMAS: i64 = 3;
const ONE_Q60: u128 = 1 << 60;

impl SizeDistribution {
    /// `min <= median <= max` must hold.
    pub(crate) fn new(min: u64, median: u64, max: u64) -> Self {
        let mut roots_q60 = [0; 32];
        let mut root = 2 * ONE_Q60;
        for slot in &mut roots_q60 {
            root = (root << 60).isqrt();
            *slot = root as u64;
        }
        let sigma = |above: u64, below: u64| log2_ratio_q32(above.max(1), below.max(1)) / SIGMAS as u64;
        Self {
            min,
            median,
            max,
            sigma_below_q32: sigma(median, min),
            sigma_above_q32: sigma(max, median),
            roots_q60,
        }
    }

    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        if self.min == self.max {
            return self.min;
        }
        let normal = loop {
            let normal = random.normal_q32();
            if normal.abs() <= SIGMAS << 32 {
                break normal;
            }
        };
        let sigma = if normal < 0 {
            self.sigma_below_q32
        } else {
            self.sigma_above_q32
        };
        let exponent = ((i128::from(normal) * i128::from(sigma)) >> 32) as i64;
        self.median_times_exp2(exponent).clamp(self.min, self.max)
    }

    /// median · 2^(exponent), rounded down.
    fn median_times_exp2(&self, exponent_q32: i64) -> u64 {
        let fraction = exponent_q32 as u32;
        let whole = exponent_q32 >> 32;
        let mut power = ONE_Q60;
        for (k, &root) in self.roots_q60.iter().enumerate() {
            if fraction >> (31 - k) & 1 == 1 {
                power = (power * u128::from(root)) >> 60;
            }
        }
        // `whole` is between the logarithms of two 64-bit ratios, so the shift stays within 0..=124 except for sizes
        // that no filesystem has.
        let shift = (60 - whole).clamp(0, 124) as u32;
        ((u128::from(self.median) * power) >> shift) as u64
    }
}

/// log₂(above / below) for `above >= below > 0`, 32.32 fixed point, digit by digit: squaring doubles a logarithm.
fn log2_ratio_q32(above: u64, below: u64) -> u64 {
    let mut ratio = (u128::from(above) << 60) / u128::from(below);
    let whole = ratio.ilog2() - 60;
    ratio >>= whole;
    let mut log = u64::from(whole);
    for _ in 0..32 {
        ratio = (ratio * ratio) >> 60;
        log <<= 1;
        if ratio >= 2 * ONE_Q60 {
            ratio >>= 1;
            log |= 1;
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn splitmix_gives_its_published_numbers() {
        let mut random = Random(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn logarithms_agree_with_floating_point() {
        for (above, below) in [(1, 1), (2, 1), (3, 1), (10, 7), (1 << 40, 3), (u64::MAX >> 4, 1)] {
            let log = log2_ratio_q32(above, below) as f64 / 2f64.powi(32);
            assert!(
                (log - (above as f64 / below as f64).log2()).abs() < 1e-8,
                "{above} / {below}: {log}"
            );
        }
    }

    #[test]
    fn sizes_have_the_median_and_spread_asked_for() {
        let sizes = SizeDistribution::new(512, 4096, 32 << 10);
        let mut random = Random::new(1, 1);
        let mut drawn: Vec<u64> = (0..20_000).map(|_| sizes.draw(&mut random)).collect();
        drawn.sort_unstable();
        let quantile = |q: f64| drawn[(q * drawn.len() as f64) as usize] as f64;
        assert!((quantile(0.5) / 4096.0 - 1.0).abs() < 0.02, "median {}", quantile(0.5));
        // One standard deviation is a factor of two here, because the bounds are at a factor of eight.
        assert!(
            (quantile(0.8413) / 8192.0 - 1.0).abs() < 0.04,
            "84 % {}",
            quantile(0.8413)
        );
        assert!(
            (quantile(0.1587) / 2048.0 - 1.0).abs() < 0.04,
            "16 % {}",
            quantile(0.1587)
        );
    }

    proptest! {
        #[test]
        fn sizes_stay_within_bounds(a in 0..1u64 << 40, b in 0..1u64 << 40, c in 0..1u64 << 40, seed: u64) {
            let mut sorted = [a, b, c];
            sorted.sort_unstable();
            let [min, median, max] = sorted;
            let sizes = SizeDistribution::new(min, median, max);
            let mut random = Random::new(seed, 0);
            for _ in 0..50 {
                let size = sizes.draw(&mut random);
                prop_assert!((min..=max).contains(&size));
            }
        }
    }
}
