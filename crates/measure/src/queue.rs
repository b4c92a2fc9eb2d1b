//! Random 4 KiB reads with several of them under way.

use crate::random::Random;
use crate::{Error, Extent, Target, small};
use serde::{Deserialize, Serialize};

pub const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Reads at each depth: the mean of so many is within 1 %.
const READS: usize = 4000;

/// Random reads at one depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Depth {
    pub depth: u32,
    pub per_s: f64,
    /// Mean from submission to completion.
    pub mean_ms: f64,
}

pub fn measure(target: &mut dyn Target, random: &mut Random) -> Result<Vec<Depth>, Error> {
    let blocks = target.sectors() / 8;
    let mut found = Vec::new();
    for depth in DEPTHS {
        let reads: Vec<Extent> = (0..READS).map(|_| small(random.below(blocks) * 8)).collect();
        let timings = target.read(&reads, depth)?;
        let from = timings.iter().map(|timing| timing.from_ns).min().unwrap_or(0);
        let to = timings.iter().map(|timing| timing.to_ns).max().unwrap_or(0);
        found.push(Depth {
            depth,
            per_s: READS as f64 / (to.saturating_sub(from).max(1) as f64 / 1e9),
            mean_ms: timings.iter().map(|timing| timing.ms()).sum::<f64>() / READS as f64,
        });
    }
    Ok(found)
}
