//! Statistics on simulated figures, whose true values are known.

mod claims;
mod noise;
mod noisy;
mod time_effects;
