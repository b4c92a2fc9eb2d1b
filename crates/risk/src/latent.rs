//! Latent sector errors: sectors that cannot be read, of which nobody knows until they are read.

use crate::lifetime::Weibull;

/// When an error that nobody knows of is found, and corrected from the redundancy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scrub {
    Never,
    /// Every sector is read once in each interval, so that an error stays for half of it on average.
    Every(f64),
    /// An error stays for a time of this distribution, as in Elerath and Pecht.
    After(Weibull),
}

/// How many errors nobody knows of are on a disk. Errors occur at a constant rate and each stays for a time that does
/// not depend on others: their number has a Poisson distribution (the M/G/∞ queue; Kingman, "Poisson Processes", 1993).
#[derive(Clone, Debug)]
pub struct Latent(Kind);

#[derive(Clone, Debug)]
enum Kind {
    None,
    /// The mean number on a disk, at any age: a datasheet's errors per bit, times the bits of the disk.
    PerDisk(f64),
    Field {
        per_hour: f64,
        scrub: Scrub,
        stays: Stays,
    },
}

/// The time that the errors of a disk stay, summed up to some age: ∫ P(stay > u) du from 0 to that age, by steps.
#[derive(Clone, Debug)]
struct Stays {
    step: f64,
    sums: Vec<f64>,
}

const STEPS: u32 = 1024;

impl Latent {
    pub const fn none() -> Self {
        Self(Kind::None)
    }

    pub const fn per_disk(mean: f64) -> Self {
        Self(Kind::PerDisk(mean))
    }

    pub fn field(per_hour: f64, scrub: Scrub) -> Self {
        let stays = match scrub {
            Scrub::After(weibull) => Stays::new(&weibull),
            Scrub::Never | Scrub::Every(_) => Stays {
                step: 1.0,
                sums: Vec::new(),
            },
        };
        Self(Kind::Field { per_hour, scrub, stays })
    }

    /// The mean number on a disk that was without errors this number of hours ago.
    pub(crate) fn expected(&self, hours: f64) -> f64 {
        match &self.0 {
            Kind::None => 0.0,
            Kind::PerDisk(mean) => *mean,
            Kind::Field { per_hour, scrub, stays } => {
                per_hour
                    * match *scrub {
                        Scrub::Never => hours,
                        Scrub::Every(interval) if hours < interval => hours - hours * hours / (2.0 * interval),
                        Scrub::Every(interval) => interval / 2.0,
                        Scrub::After(_) => stays.up_to(hours),
                    }
            }
        }
    }
}

impl Stays {
    /// Trapezoids.
    fn new(stay: &Weibull) -> Self {
        let step = stay.longest() / f64::from(STEPS);
        let mut sum = 0.0;
        let mut sums = vec![0.0];
        for number in 0..STEPS {
            let at = f64::from(number) * step;
            sum += step * (stay.survival(at) + stay.survival(at + step)) / 2.0;
            sums.push(sum);
        }
        Self { step, sums }
    }

    fn up_to(&self, hours: f64) -> f64 {
        let at = hours / self.step;
        let below = at as usize;
        match (self.sums.get(below), self.sums.get(below + 1)) {
            (Some(low), Some(high)) => low + (high - low) * (at - below as f64),
            _ => self.sums.last().copied().unwrap_or(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stay_for_half_an_interval() {
        let every = Latent::field(1.0, Scrub::Every(100.0));
        assert_eq!(
            [0.0, 50.0, 100.0, 900.0].map(|t| every.expected(t)),
            [0.0, 37.5, 50.0, 50.0]
        );
        assert_eq!(Latent::field(2.0, Scrub::Never).expected(9.0), 18.0);
    }

    #[test]
    fn errors_stay_for_the_mean_of_the_distribution() {
        // Γ(4/3) = 0.892 980.
        let scrub = Scrub::After(Weibull::new(6.0, 168.0, 3.0).expect("valid"));
        let latent = Latent::field(1.0, scrub);
        assert!((latent.expected(1e5) / (6.0 + 168.0 * 0.892_980) - 1.0).abs() < 1e-3);
        assert!((latent.expected(5.0) / 5.0 - 1.0).abs() < 1e-3);
    }
}
