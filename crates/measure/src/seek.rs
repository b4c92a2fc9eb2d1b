//! The seek curve. Among many pairs of reads at one distance, the fastest second reads hardly waited for the
//! rotation.

use crate::cache::CacheTimes;
use crate::random::Random;
use crate::tracks::Tracks;
use crate::{Error, ReadableDisk, SMALL, small};
use serde::{Deserialize, Serialize};

/// Pairs at each distance. The rotational latency is uniform between 0 and a revolution.
const PAIRS: usize = 768;
/// The third smallest of these times is 3/769 of a revolution on average; one outlier does not change it much.
const LEAST: usize = 3;
/// A read that takes less than this multiple of a hit came from the buffer.
const HITS: f64 = 1.3;
/// Ratio of consecutive distances.
const RATIO: f64 = 1.6;

/// Time from the command until the head is on a track at this distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeekTime {
    /// Distance in tracks, in the order of sectors.
    pub tracks: u64,
    pub ms: f64,
}

/// Measures seeks from one track to nearly the whole disk.
pub fn measure(
    target: &mut dyn ReadableDisk,
    revolution_ms: f64,
    tracks: &Tracks,
    cache: &CacheTimes,
    random: &mut Random,
) -> Result<Vec<SeekTime>, Error> {
    let longest = tracks.count() as f64 * 0.98;
    let mut distance = 1.0;
    let mut seeks: Vec<SeekTime> = Vec::new();
    loop {
        let ms = seek_ms(target, revolution_ms, tracks, cache, distance as u64, random)?;
        seeks.push(SeekTime {
            tracks: distance as u64,
            ms: (ms - cache.command_ms()).max(0.0),
        });
        if distance >= longest {
            break;
        }
        distance = (distance * RATIO).ceil().min(longest.floor());
        if seeks.last().is_some_and(|last| last.tracks >= distance as u64) {
            break;
        }
    }
    let seeks = rising(&seeks);
    // Streams lose no revolution, so a step to the next track is within the skew.
    let skew_ms = tracks.zones.iter().map(|zone| zone.skew_ms).fold(f64::MAX, f64::min);
    let within = |seek: &SeekTime| SeekTime {
        ms: if seek.tracks == 1 {
            seek.ms.min(skew_ms)
        } else {
            seek.ms
        },
        ..*seek
    };
    Ok(seeks.iter().map(within).collect())
}

/// Seeks backwards, since sectors after a read may be in the buffer.
fn seek_ms(
    target: &mut dyn ReadableDisk,
    revolution_ms: f64,
    tracks: &Tracks,
    cache: &CacheTimes,
    distance: u64,
    random: &mut Random,
) -> Result<f64, Error> {
    let sectors = target.sectors();
    let (mut reads, mut media_ms) = (Vec::new(), Vec::new());
    while media_ms.len() < PAIRS {
        let from = random.below(sectors / 8 - 1) * 8;
        let Some(to) = tracks.before(from, distance) else {
            continue;
        };
        // At a random angle: reads at the same angle would all wait equally long.
        let to = to.saturating_sub(random.below(u64::from(tracks.zone_of(to).track_sectors))) / 8 * 8;
        media_ms.push(f64::from(SMALL) / f64::from(tracks.zone_of(to).track_sectors) * revolution_ms);
        reads.extend([small(from), small(to)]);
    }
    let timings = target.read(&reads, 1)?;
    let hit_max_ms = cache.hit_ms.map_or(0.0, |hit| hit * HITS);
    let seconds = timings.iter().skip(1).step_by(2).zip(&media_ms);
    let mut waits: Vec<f64> = seconds
        .filter(|(timing, _)| timing.ms() > hit_max_ms)
        .map(|(timing, media_ms)| timing.ms() - media_ms)
        .collect();
    waits.sort_by(f64::total_cmp);
    let least = waits.get(LEAST - 1).copied().unwrap_or(0.0);
    Ok(least - revolution_ms * LEAST as f64 / (waits.len() + 1) as f64)
}

/// Makes the curve monotonic: where longer seeks are faster, neighbours get their mean (pool adjacent violators).
fn rising(seeks: &[SeekTime]) -> Vec<SeekTime> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for seek in seeks {
        let mut pool = (seek.ms, 1);
        while let Some(&(mean, count)) = pools.last() {
            if mean <= pool.0 {
                break;
            }
            pools.pop();
            let all = count + pool.1;
            pool = ((mean * count as f64 + pool.0 * pool.1 as f64) / all as f64, all);
        }
        pools.push(pool);
    }
    let means = pools.iter().flat_map(|&(mean, count)| std::iter::repeat_n(mean, count));
    seeks
        .iter()
        .zip(means)
        .map(|(seek, ms)| SeekTime { ms, ..*seek })
        .collect()
}
