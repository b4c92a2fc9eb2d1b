//! Sectors on a track and the time that switches take, place by place.

use crate::random::Random;
use crate::{Error, Read, SECTOR_BYTES, SMALL, Target, small};

/// Places at which the disk is examined.
const PLACES: u64 = 64;
/// Sectors of a request of a stream, and how many are read before and while its rate is taken.
const STREAM_SECTORS: u32 = 1024;
const STREAM_WARM: usize = 24;
/// Tracks that a stream passes: a part of a track more or less is below 0.3 %.
const STREAM_TRACKS: f64 = 400.0;
/// Pairs of reads at each place from which the sectors of a track follow.
const PAIRS: usize = 9;

/// The tracks of a disk, outermost first.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracks {
    pub zones: Vec<Zone>,
}

/// Tracks of one length, around a place that was examined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    pub first_sector: u64,
    pub first_track: u64,
    pub tracks: u64,
    /// Sectors of a track.
    pub track_sectors: u32,
    /// Streaming rate, switches included, in 10^6 bytes a second.
    pub mb_s: f64,
    /// Time from the end of a track to the start of the next, in milliseconds.
    pub skew_ms: f64,
}

impl Tracks {
    /// Tracks of the whole disk.
    pub fn count(&self) -> u64 {
        self.zones.last().map_or(0, |zone| zone.first_track + zone.tracks)
    }

    /// The zone of a sector.
    pub fn zone_of(&self, sector: u64) -> &Zone {
        let after = self.zones.partition_point(|zone| zone.first_sector <= sector);
        &self.zones[after.saturating_sub(1)]
    }

    /// The sector that lies so many tracks before another.
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

/// Examines the disk at evenly spread places; around each lies a zone.
pub fn measure(target: &mut dyn Target, revolution_ms: f64, random: &mut Random) -> Result<Tracks, Error> {
    let sectors = target.sectors();
    let part = sectors / PLACES;
    let starts: Vec<u64> = (0..PLACES).map(|place| (place * part + part / 2) / 8 * 8).collect();
    let mut per_turn = Vec::new();
    for &start in &starts {
        per_turn.push(sectors_per_ms(target, start, revolution_ms)? * revolution_ms);
    }
    let lengths = lengths(target, &starts, &per_turn, revolution_ms, random)?;
    let mut zones: Vec<Zone> = Vec::new();
    for (place, (&per_turn, length)) in per_turn.iter().zip(lengths).enumerate() {
        let first_sector = place as u64 * part;
        let past = if place as u64 + 1 == PLACES {
            sectors
        } else {
            first_sector + part
        };
        let first_track = zones.last().map_or(0, |zone| zone.first_track + zone.tracks);
        zones.push(Zone {
            first_sector,
            first_track,
            tracks: (past - first_sector).div_ceil(u64::from(length.max(1))),
            track_sectors: length,
            mb_s: per_turn * SECTOR_BYTES / revolution_ms / 1e3,
            skew_ms: (f64::from(length) / per_turn - 1.0).max(0.0) * revolution_ms,
        });
    }
    Ok(Tracks { zones })
}

/// The rate of a stream from a sector on.
fn sectors_per_ms(target: &mut dyn Target, start: u64, revolution_ms: f64) -> Result<f64, Error> {
    let stream = |first: usize, count: usize| -> Vec<Read> {
        let read = |i: usize| Read {
            sector: start + i as u64 * u64::from(STREAM_SECTORS),
            sectors: STREAM_SECTORS,
        };
        (first..first + count).map(read).collect()
    };
    let warm = target.run(&stream(0, STREAM_WARM), 2)?;
    let half = STREAM_WARM / 2;
    let rough_ms = (warm[STREAM_WARM - 1].to_ns - warm[half].to_ns) as f64 / 1e6 / (STREAM_WARM - 1 - half) as f64;
    let count = (STREAM_TRACKS * revolution_ms / rough_ms.max(1e-3)).clamp(64.0, 20_000.0) as usize;
    let room = (target.sectors() - start) / u64::from(STREAM_SECTORS);
    let timings = target.run(
        &stream(0, STREAM_WARM + count.min((room as usize).saturating_sub(STREAM_WARM))),
        2,
    )?;
    let (first, last) = (timings[STREAM_WARM - 1], timings[timings.len() - 1]);
    let sectors = (timings.len() - STREAM_WARM) as f64 * f64::from(STREAM_SECTORS);
    Ok(sectors / ((last.to_ns - first.to_ns) as f64 / 1e6))
}

/// Sectors of a track at each place, from how far apart in a revolution two reads of it end. The places are visited in
/// turn, so that the second read of a place comes when the drive's buffer has dropped the first.
fn lengths(
    target: &mut dyn Target,
    starts: &[u64],
    per_turn: &[f64],
    revolution_ms: f64,
    random: &mut Random,
) -> Result<Vec<u32>, Error> {
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); starts.len()];
    for pair in 0..PAIRS {
        let mut ends = [Vec::new(), Vec::new()];
        let apart = |place: usize| ((per_turn[place] / 5.0) as u64) / 8 * 8;
        // At another track in each round.
        let from: Vec<u64> = (0..starts.len())
            .map(|place| {
                starts[place] + ((per_turn[place] * (40 * pair) as f64) as u64 + random.below(4096)) / 8 * 8
            })
            .collect();
        for (second, ends) in ends.iter_mut().enumerate() {
            let at = |place: usize| from[place] + if second == 1 { apart(place) } else { 0 };
            let reads: Vec<Read> = (0..starts.len()).map(|place| small(at(place))).collect();
            ends.extend(target.run(&reads, 1)?.iter().map(|timing| timing.to_ns as f64 / 1e6));
        }
        for (place, found) in found.iter_mut().enumerate() {
            let turned = ((ends[1][place] - ends[0][place]) / revolution_ms).rem_euclid(1.0);
            if turned > 0.0 {
                found.push(apart(place) as f64 / turned);
            }
        }
    }
    // A pair with a switch between its reads seems to lie on a shorter track: the median has none.
    let median = |mut lengths: Vec<f64>| {
        lengths.sort_by(f64::total_cmp);
        lengths.get(lengths.len() / 2).copied()
    };
    let length = |(found, per_turn): (Vec<f64>, &f64)| {
        let length = median(found).unwrap_or(*per_turn);
        // At least what a stream reads in a revolution, and a request.
        length.max(*per_turn).max(f64::from(SMALL)).round() as u32
    };
    Ok(found.into_iter().zip(per_turn).map(length).collect())
}
