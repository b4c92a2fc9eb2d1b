//! Judgements on simulated figures, whose truth is known.

mod claims;
mod noise;
mod noisy;
mod place;
