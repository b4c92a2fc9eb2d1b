//! Random 4 KiB reads at several queue depths.

use crate::random::Random;
use crate::{Error, Extent, ReadableDisk, Timing, mean, quantile, small};
use serde::{Deserialize, Serialize};

pub const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Reads at each depth: enough for a mean within 1 %.
const READS: usize = 4000;

/// Random requests at one depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Depth {
    pub depth: u32,
    pub per_s: f64,
    /// Mean from submission to completion.
    pub mean_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
}

pub fn measure(target: &mut dyn ReadableDisk, random: &mut Random) -> Result<Vec<Depth>, Error> {
    let blocks = target.sectors() / 8;
    let mut found = Vec::new();
    for depth in DEPTHS {
        let reads: Vec<Extent> = (0..READS).map(|_| small(random.below(blocks) * 8)).collect();
        let timings = target.read(&reads, depth)?;
        found.push(Depth::of(depth, &timings));
    }
    Ok(found)
}

impl Depth {
    /// Statistics at one queue depth.
    pub(crate) fn of(depth: u32, timings: &[Timing]) -> Self {
        let times: Vec<f64> = timings.iter().map(|timing| timing.ms()).collect();
        Depth {
            depth,
            per_s: times.len() as f64 / span_s(timings),
            mean_ms: mean(&times),
            p99_ms: quantile(times, 0.99),
        }
    }
}

/// From the first submission to the last completion, in seconds.
pub(crate) fn span_s(timings: &[Timing]) -> f64 {
    let from = timings.iter().map(|timing| timing.from_ns).min().unwrap_or(0);
    let to = timings.iter().map(|timing| timing.to_ns).max().unwrap_or(0);
    to.saturating_sub(from).max(1) as f64 / 1e9
}
