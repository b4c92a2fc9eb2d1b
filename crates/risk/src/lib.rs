//! How likely is an array to lose data in some years? Monte Carlo over failures of disks and latent sector errors,
//! with exact weights for what is rare. Pure functions: the same seed, the same figures. Times are in hours.
//!
//! The model is that of Elerath and Pecht, "A Highly Accurate Method for Assessing Reliability of RAID" (IEEE TC
//! 58(3), 2009): four processes per disk, none of which has to be exponential. docs/risk.md has the whole of it.

mod estimate;
mod history;
mod latent;
mod layout;
mod lifetime;
mod model;
mod random;

pub use estimate::{Effort, Estimate, Probability, estimate};
pub use latent::{Latent, Scrub};
pub use layout::{RedundantLayout, RedundantLayoutError, Scheme};
pub use lifetime::{Weibull, WeibullError};
pub use model::{Batch, GroupModel, Model};

/// Hours of a mean year (365.25 days).
pub const HOURS_PER_YEAR: f64 = 8766.0;
