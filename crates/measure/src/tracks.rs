//! Sectors per track and switch times, by place on the disk.

use crate::cache::CacheTimes;
use crate::random::Random;
use crate::{Error, Extent, ReadableDisk, SECTOR_BYTES, SMALL, median, quantile, small};
use serde::{Deserialize, Serialize};

/// Places at which the disk is examined.
const PLACES: u64 = 64;
/// Sectors per stream request: 1 MiB, as for the streaming rates in the catalogue. The same amount is read before
/// the rate is measured.
const STREAM_SECTORS: u32 = 2048;
const STREAM_WARM: usize = 32;
/// Tracks per stream: one switch more or less (a sixth of a revolution) is then below 0.1 %. The minimum number of
/// requests is the same, because requests and tracks end at different sectors.
const STREAM_TRACKS: f64 = 200.0;
const STREAM_MIN: f64 = 180.0;
/// Pairs of reads at each place, from which the track length is computed.
const PAIRS: usize = 15;
/// A fifth of the pairs at a distance of a fifth of a track have a track switch between their reads and make the
/// track seem shorter: this is the median of the others.
const QUANTILE: f64 = 0.6;
/// Tracks over which the pairs of a place are spread.
const PAIR_TRACKS: f64 = 64.0;
/// Assumed if the number of segments is unknown: more than drives have.
const SEGMENTS: u32 = 79;
/// Tracks whose lengths differ by less than this fraction are in the same zone.
const SAME_LENGTH: f64 = 0.004;
/// Bisection steps for the boundary between two zones: its precision is 1/16384 of the disk.
const BISECTIONS: usize = 8;

/// The tracks of a disk, outermost first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tracks {
    pub zones: Vec<Zone>,
}

/// Consecutive tracks of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    pub first_sector: u64,
    pub first_track: u64,
    pub tracks: u64,
    /// Sectors per track.
    pub track_sectors: u32,
    /// Streaming rate, switches included, in 10^6 bytes a second.
    pub mb_s: f64,
    /// Time from the end of a track to the start of the next, in milliseconds.
    pub skew_ms: f64,
}

impl Tracks {
    /// Number of tracks of the disk.
    pub fn count(&self) -> u64 {
        self.zones.last().map_or(0, |zone| zone.first_track + zone.tracks)
    }

    /// The zone that contains a sector.
    pub fn zone_of(&self, sector: u64) -> &Zone {
        let after = self.zones.partition_point(|zone| zone.first_sector <= sector);
        &self.zones[after.saturating_sub(1)]
    }

    /// The sector that is `tracks` tracks before another.
    pub fn before(&self, sector: u64, tracks: u64) -> Option<u64> {
        let zone = self.zone_of(sector);
        let at = zone.first_track as f64 + (sector - zone.first_sector) as f64 / f64::from(zone.track_sectors);
        let to = at - tracks as f64;
        if to < 0.0 {
            return None;
        }
        let after = self.zones.partition_point(|zone| zone.first_track as f64 <= to);
        let zone = &self.zones[after.saturating_sub(1)];
        Some(zone.first_sector + ((to - zone.first_track as f64) * f64::from(zone.track_sectors)) as u64)
    }
}

/// Context of the measurement.
struct Around<'a> {
    revolution_ms: f64,
    cache: &'a CacheTimes,
    random: &'a mut Random,
}

/// A measured place: the tracks from this sector have one length.
#[derive(Clone, Copy)]
struct Place {
    sector: u64,
    /// Sectors that a stream reads per revolution, switches included.
    per_turn: f64,
    track_sectors: f64,
}

/// Measures the disk at evenly spaced places, joins those with the same track length, and bisects the boundaries.
pub fn measure(
    target: &mut dyn ReadableDisk,
    revolution_ms: f64,
    cache: &CacheTimes,
    random: &mut Random,
) -> Result<Tracks, Error> {
    let mut around = Around {
        revolution_ms,
        cache,
        random,
    };
    let sectors = target.sectors();
    let part = sectors / PLACES;
    let mut places = Vec::new();
    for place in 0..PLACES {
        let sector = (place * part + part / 2) / 8 * 8;
        let per_turn = sectors_per_ms(target, sector, revolution_ms)? * revolution_ms;
        places.push(Place {
            sector,
            per_turn,
            track_sectors: per_turn,
        });
    }
    let lengths = lengths(target, &places, &mut around)?;
    for (place, length) in places.iter_mut().zip(lengths) {
        // At least the sectors that a stream reads in a revolution, and at least one request.
        place.track_sectors = length.max(place.per_turn).max(f64::from(SMALL));
    }
    let groups = groups(&places);
    let firsts = boundaries(target, &groups, &mut around)?;
    Ok(Tracks {
        zones: zones(&groups, &firsts, sectors, revolution_ms),
    })
}

/// Groups consecutive places with the same track length. Tracks do not become longer towards the centre.
fn groups(places: &[Place]) -> Vec<Vec<Place>> {
    let mut groups: Vec<Vec<Place>> = Vec::new();
    for &place in places {
        match groups.last_mut() {
            Some(group) if place.track_sectors > length_of(group) * (1.0 - SAME_LENGTH) => group.push(place),
            _ => groups.push(vec![place]),
        }
    }
    groups
}

fn length_of(group: &[Place]) -> f64 {
    median(group.iter().map(|place| place.track_sectors).collect())
}

/// The first sector of each group except the first, by bisection between the neighbouring places; all boundaries
/// are bisected in turn.
fn boundaries(
    target: &mut dyn ReadableDisk,
    groups: &[Vec<Place>],
    around: &mut Around<'_>,
) -> Result<Vec<u64>, Error> {
    let mut sides: Vec<(Place, Place)> = groups
        .windows(2)
        .filter_map(|pair| Some((*pair[0].last()?, *pair[1].first()?)))
        .collect();
    for _ in 0..BISECTIONS {
        let middles: Vec<Place> = sides
            .iter()
            .map(|(low, high)| Place {
                sector: u64::midpoint(low.sector, high.sector) / 8 * 8,
                ..*low
            })
            .collect();
        let lengths = lengths(target, &middles, around)?;
        for (((low, high), middle), length) in sides.iter_mut().zip(middles).zip(lengths) {
            let is_low = (length - low.track_sectors).abs() <= (length - high.track_sectors).abs();
            let side = if is_low { low } else { high };
            side.sector = middle.sector;
        }
    }
    let middle = |(low, high): &(Place, Place)| u64::midpoint(low.sector, high.sector);
    Ok(sides.iter().map(middle).collect())
}

fn zones(groups: &[Vec<Place>], firsts: &[u64], sectors: u64, revolution_ms: f64) -> Vec<Zone> {
    let mut zones: Vec<Zone> = Vec::new();
    let starts = std::iter::once(0).chain(firsts.iter().copied());
    let ends = firsts.iter().copied().chain([sectors]);
    for ((group, first_sector), past) in groups.iter().zip(starts).zip(ends) {
        let track_sectors = length_of(group).round();
        // Use the median, since one stream may cross the boundary.
        let per_turn = median(group.iter().map(|place| place.per_turn).collect()).min(track_sectors);
        zones.push(Zone {
            first_sector,
            first_track: zones.last().map_or(0, |zone| zone.first_track + zone.tracks),
            tracks: ((past - first_sector) as f64 / track_sectors).ceil() as u64,
            track_sectors: track_sectors as u32,
            mb_s: per_turn * SECTOR_BYTES / revolution_ms / 1e3,
            skew_ms: (track_sectors / per_turn - 1.0) * revolution_ms,
        });
    }
    zones
}

/// The rate of a stream that starts at a sector.
fn sectors_per_ms(target: &mut dyn ReadableDisk, start: u64, revolution_ms: f64) -> Result<f64, Error> {
    let stream = |first: usize, count: usize| -> Vec<Extent> {
        let read = |i: usize| Extent {
            sector: start + i as u64 * u64::from(STREAM_SECTORS),
            sectors: STREAM_SECTORS,
        };
        (first..first + count).map(read).collect()
    };
    let warm = target.read(&stream(0, STREAM_WARM), 2)?;
    let half = STREAM_WARM / 2;
    let rough_ms = (warm[STREAM_WARM - 1].to_ns - warm[half].to_ns) as f64 / 1e6 / (STREAM_WARM - 1 - half) as f64;
    let count = (STREAM_TRACKS * revolution_ms / rough_ms.max(1e-3)).clamp(STREAM_MIN, 20_000.0) as usize;
    let room = (target.sectors() - start) / u64::from(STREAM_SECTORS);
    let timings = target.read(
        &stream(0, STREAM_WARM + count.min((room as usize).saturating_sub(STREAM_WARM))),
        2,
    )?;
    let (first, last) = (timings[STREAM_WARM - 1], timings[timings.len() - 1]);
    let sectors = (timings.len() - STREAM_WARM) as f64 * f64::from(STREAM_SECTORS);
    Ok(sectors / ((last.to_ns - first.to_ns) as f64 / 1e6))
}

/// Sectors per track at each place, from the angle between the completions of two reads. The second read is before
/// the first one, where nothing was read ahead. If a drive also keeps such sectors, enough places are read in turn
/// that its buffer has dropped them.
fn lengths(target: &mut dyn ReadableDisk, places: &[Place], around: &mut Around<'_>) -> Result<Vec<f64>, Error> {
    let in_turn = match around.cache.keeps_before {
        true => around.cache.segments.unwrap_or(SEGMENTS) as usize + 1,
        false => 1,
    };
    let mut lengths = Vec::new();
    for places in places.chunks(in_turn) {
        let mut found: Vec<Vec<f64>> = vec![Vec::new(); places.len()];
        for _ in 0..PAIRS {
            pairs(target, places, in_turn, around, &mut found)?;
        }
        lengths.extend(found.into_iter().map(|lengths| quantile(lengths, QUANTILE)));
    }
    Ok(lengths)
}

/// A pair of reads at each of the places.
fn pairs(
    target: &mut dyn ReadableDisk,
    places: &[Place],
    in_turn: usize,
    around: &mut Around<'_>,
    found: &mut [Vec<f64>],
) -> Result<(), Error> {
    let blocks = target.sectors() / 8;
    let apart = |place: &Place| ((place.per_turn / 5.0) as u64) / 8 * 8;
    let random = &mut *around.random;
    let firsts: Vec<u64> = places
        .iter()
        .map(|place| place.sector + apart(place) + random.below((place.per_turn * PAIR_TRACKS / 8.0) as u64) * 8)
        .collect();
    let others = (places.len()..in_turn).map(|_| random.below(blocks) * 8);
    let others: Vec<u64> = others.collect();
    let seconds = firsts.iter().zip(places).map(|(from, place)| from - apart(place));
    let sectors = firsts.iter().copied().chain(others.iter().copied()).chain(seconds);
    let reads: Vec<Extent> = sectors.map(small).collect();
    let timings = target.read(&reads, 1)?;
    let end_ms = |i: usize| timings.get(i).map_or(0.0, |timing| timing.to_ns as f64 / 1e6);
    for (i, (found, place)) in found.iter_mut().zip(places).enumerate() {
        let turned = (end_ms(i) - end_ms(in_turn + i)) / around.revolution_ms;
        let turned = turned.rem_euclid(1.0);
        if turned > 0.0 {
            found.push(apart(place) as f64 / turned);
        }
    }
    Ok(())
}
