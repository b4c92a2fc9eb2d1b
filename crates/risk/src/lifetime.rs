//! The three-parameter Weibull distribution of times: to failure, to restoration, to the next scrub.

use crate::HOURS_PER_YEAR;
use crate::random::Random;

/// P(time > t) = exp(-((t - minimum) / scale)^shape). With scale 0 the time is always the minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weibull {
    minimum: f64,
    scale: f64,
    shape: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum WeibullError {
    #[error("a time is a number of hours of 0 or more, and not endless")]
    Time,
    #[error("the shape of a Weibull distribution is from 0.1 to 20 (1: a constant rate)")]
    Shape,
}

impl Weibull {
    pub fn new(minimum: f64, scale: f64, shape: f64) -> Result<Self, WeibullError> {
        let is_time = |time: f64| time.is_finite() && time >= 0.0;
        match (is_time(minimum) && is_time(scale), (0.1..=20.0).contains(&shape)) {
            (false, _) => Err(WeibullError::Time),
            (_, false) => Err(WeibullError::Shape),
            _ => Ok(Self { minimum, scale, shape }),
        }
    }

    pub fn fixed(hours: f64) -> Result<Self, WeibullError> {
        Self::new(hours, 0.0, 1.0)
    }

    /// A constant rate. Annualised failure rates, as Backblaze publishes them, are failures per year of work of a disk,
    /// not the share of the disks that fail within their first year.
    pub fn of_yearly_rate(per_year: f64) -> Result<Self, WeibullError> {
        Self::new(0.0, HOURS_PER_YEAR / per_year, 1.0)
    }

    /// -ln P(time > age): the number of failures expected by this age if each were replaced by a disk of the same age.
    pub(crate) fn cumulative_hazard(&self, age: f64) -> f64 {
        let x = (age - self.minimum).max(0.0) / self.scale;
        if self.shape == 1.0 { x } else { x.powf(self.shape) }
    }

    pub(crate) fn hazard(&self, age: f64) -> f64 {
        let x = (age - self.minimum) / self.scale;
        match x {
            ..0.0 => 0.0,
            _ if self.shape == 1.0 => 1.0 / self.scale,
            _ => self.shape / self.scale * x.powf(self.shape - 1.0),
        }
    }

    pub(crate) fn survival(&self, age: f64) -> f64 {
        match age < self.minimum {
            true => 1.0,
            false if self.scale == 0.0 => 0.0,
            false => (-self.cumulative_hazard(age)).exp(),
        }
    }

    pub(crate) fn draw(&self, random: &mut Random) -> f64 {
        match self.scale {
            0.0 => self.minimum,
            scale => self.minimum + scale * random.exponential().powf(1.0 / self.shape),
        }
    }

    pub(crate) const fn is_constant_rate(&self) -> bool {
        self.shape == 1.0 && self.minimum == 0.0
    }

    /// Most times are shorter than this (all but 1 in 10^9).
    pub(crate) fn longest(&self) -> f64 {
        self.minimum + self.scale * 20.7_f64.powf(1.0 / self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_mean_of_the_distribution() {
        let weibull = Weibull::new(6.0, 12.0, 2.0).expect("valid");
        let mut random = Random::new(1, 0);
        let mean = (0..100_000).map(|_| weibull.draw(&mut random)).sum::<f64>() / 1e5;
        // Γ(1.5) = √π / 2.
        assert!((mean - (6.0 + 12.0 * 0.886_227)).abs() < 0.1, "{mean}");
    }

    #[test]
    fn the_hazard_is_the_slope_of_the_cumulative_hazard() {
        let weibull = Weibull::new(0.0, 461_386.0, 1.12).expect("valid");
        let slope = (weibull.cumulative_hazard(40_001.0) - weibull.cumulative_hazard(39_999.0)) / 2.0;
        assert!((slope / weibull.hazard(40_000.0) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        assert_eq!(Weibull::new(-1.0, 1.0, 1.0), Err(WeibullError::Time));
        assert_eq!(Weibull::new(0.0, f64::NAN, 1.0), Err(WeibullError::Time));
        assert_eq!(Weibull::new(0.0, 1.0, 0.0), Err(WeibullError::Shape));
        assert_eq!(Weibull::of_yearly_rate(0.0), Err(WeibullError::Time));
    }
}
