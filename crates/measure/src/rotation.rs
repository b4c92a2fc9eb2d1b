//! The time of a revolution: reads of one sector from the media end whole revolutions apart.

use crate::random::Random;
use crate::{Error, ReadableDisk, small};
use std::f64::consts::TAU;

/// Places that are read in turn, in a new order each time. A drive has fewer segments, so each read goes to the
/// media.
const PLACES: u64 = 96;
const ROUNDS: usize = 8;
/// From 3,000 to 18,000 revolutions a minute.
const PER_S_MIN: f64 = 50.0;
const PER_S_MAX: f64 = 300.0;
/// Required coherence of the phases, from 0 to 1. Without a rotation it is about 1/√ROUNDS.
const COHERENT: f64 = 0.8;

/// Milliseconds per revolution; `None` if the completions of reads follow no rotation.
pub fn revolution_ms(target: &mut dyn ReadableDisk, random: &mut Random) -> Result<Option<f64>, Error> {
    let step = (target.sectors() - 64) / PLACES;
    let mut order: Vec<usize> = (0..PLACES as usize).collect();
    let mut ends: Vec<Vec<f64>> = vec![Vec::new(); PLACES as usize];
    for _ in 0..ROUNDS {
        random.shuffle(&mut order);
        let reads: Vec<_> = order.iter().map(|&place| small(place as u64 * step / 8 * 8)).collect();
        for (&place, timing) in order.iter().zip(target.read(&reads, 1)?) {
            ends[place].push(timing.to_ns as f64 / 1e9);
        }
    }
    Ok(frequency(&ends).map(|per_s| 1e3 / per_s))
}

/// The lowest frequency at which the completions of each place have one phase. Its multiples do, too.
fn frequency(ends: &[Vec<f64>]) -> Option<f64> {
    let mut span = 1e-9_f64;
    for place in ends {
        if let (Some(first), Some(last)) = (place.first(), place.last()) {
            span = span.max(last - first);
        }
    }
    // A quarter of the width of the peak.
    let step = 0.25 / span;
    let count = ((PER_S_MAX - PER_S_MIN) / step) as usize;
    let tried = (0..count).map(|i| PER_S_MIN + i as f64 * step);
    let best = |around: f64, step: f64| {
        let tried = (-8..=8).map(|i| around + f64::from(i) * step);
        tried.max_by(|a, b| coherence(ends, *a).total_cmp(&coherence(ends, *b)))
    };
    for per_s in tried {
        if coherence(ends, per_s) < COHERENT / 2.0 {
            continue;
        }
        let mut found = per_s;
        // The search starts on a flank of the peak and must reach its top.
        let mut fine = step / 2.0;
        for _ in 0..6 {
            found = best(found, fine).unwrap_or(found);
            fine /= 6.0;
        }
        if coherence(ends, found) >= COHERENT {
            return Some(found);
        }
    }
    None
}

/// Mean length of the mean phase vector over all places.
fn coherence(ends: &[Vec<f64>], per_s: f64) -> f64 {
    let of_place = |place: &Vec<f64>| {
        let (mut x, mut y) = (0.0, 0.0);
        for end in place {
            let phase = (end * per_s).fract() * TAU;
            x += phase.cos();
            y += phase.sin();
        }
        f64::hypot(x, y) / place.len().max(1) as f64
    };
    ends.iter().map(of_place).sum::<f64>() / ends.len().max(1) as f64
}
