//! Properties of a model in numbers, measured on the simulated disk.

use crate::catalogue::figures::Note;
use crate::catalogue::{Model, build::Wrong};
use crate::description::{Device, Mechanical};
use crate::geometry::Geometry;
use crate::load_generator::LoadGenerator;
use crate::request::Op;
use std::string::String;
use std::vec::Vec;

const SECTOR_BYTES: f64 = 512.0;
/// Positions on the disk at which streaming is measured.
const PLACES: u64 = 21;
const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
const SCATTERED: [u32; 4] = [1, 10, 100, 1000];

/// Properties of a model for display.
#[derive(Clone, Debug, PartialEq)]
pub struct Show {
    pub name: String,
    pub title: String,
    pub sectors: u64,
    /// Absent for flash.
    pub platters: Option<Platters>,
    pub streaming: Vec<Streaming>,
    pub random_reads: Vec<RandomReads>,
    pub flushes: Vec<Flush>,
    /// Every parameter, with its source and certainty.
    pub figures: Vec<Note>,
}

/// Mechanics.
#[derive(Clone, Debug, PartialEq)]
pub struct Platters {
    pub rpm: f64,
    pub heads: u32,
    pub cylinders: u32,
    pub zones: Vec<Zone>,
    pub head_switch_ms: f64,
    pub write_settle_ms: f64,
    pub seek_ms: Vec<(u32, f64)>,
}

/// A zone.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    pub first_cylinder: u32,
    pub last_cylinder: u32,
    pub first_sector: u64,
    pub track_sectors: u32,
    /// Rate of a single track, in 10^6 bytes a second.
    pub track_mb_s: f64,
}

/// Streaming rate at a position, in 10^6 bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Streaming {
    /// From 0, the first sector, to 1, the last.
    pub place: f64,
    pub read_mb_s: f64,
    pub write_mb_s: f64,
}

/// Random 4 KiB reads over the whole disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomReads {
    pub depth: u32,
    /// From submission to completion.
    pub latency_ms: f64,
    pub reads_per_s: f64,
}

/// A flush after scattered 4 KiB writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flush {
    pub writes: u32,
    /// Time of all writes before the flush.
    pub writes_ms: f64,
    pub flush_ms: f64,
}

/// Measures all properties of a model.
pub fn show(model: &Model) -> Result<Show, Wrong> {
    let platters = match &model.device {
        Device::Mechanical(disk) => Some(platters(disk)),
        Device::Flash(_) => None,
    };
    let streaming = (0..PLACES).map(|i| streaming(model, i)).collect::<Result<_, _>>()?;
    let random_reads = DEPTHS
        .iter()
        .map(|&depth| random_reads(model, depth))
        .collect::<Result<_, _>>()?;
    let flushes = SCATTERED
        .iter()
        .map(|&writes| flush(model, writes))
        .collect::<Result<_, _>>()?;
    Ok(Show {
        name: model.file.name.clone(),
        title: model.file.title.clone(),
        sectors: model.sectors,
        platters,
        streaming,
        random_reads,
        flushes,
        figures: model.notes.clone(),
    })
}

fn platters(disk: &Mechanical) -> Platters {
    let geometry = Geometry::new(&disk.layout, disk.heads, disk.revolution_ns);
    let rate = |track_sectors: u32| f64::from(track_sectors) * SECTOR_BYTES / disk.revolution_ns as f64 * 1e3;
    let zones = geometry
        .zones()
        .zip(&disk.layout.zones)
        .map(|((first_sector, ..), zone)| Zone {
            first_cylinder: zone.first_cylinder,
            last_cylinder: zone.last_cylinder,
            first_sector,
            track_sectors: zone.track_sectors,
            track_mb_s: rate(zone.track_sectors),
        });
    Platters {
        rpm: 60e9 / disk.revolution_ns as f64,
        heads: disk.heads,
        cylinders: disk.layout.zones.last().map_or(0, |z| z.last_cylinder + 1),
        zones: zones.collect(),
        head_switch_ms: disk.head_switch_ns as f64 / 1e6,
        write_settle_ms: disk.write_settle_ns as f64 / 1e6,
        seek_ms: disk
            .seek
            .iter()
            .map(|p| (p.cylinders, p.seek_ns as f64 / 1e6))
            .collect(),
    }
}

fn streaming(model: &Model, index: u64) -> Result<Streaming, Wrong> {
    let sectors = (model.sectors / 4096).clamp(1, 2048) as u32;
    // Long enough to fill every cache first.
    let (warm, counted) = (400, 200);
    let length = (warm + counted + 1) * u64::from(sectors);
    let from = model.sectors.saturating_sub(length) * index / (PLACES - 1);
    Ok(Streaming {
        place: index as f64 / (PLACES - 1) as f64,
        read_mb_s: LoadGenerator::new(model)?.stream_mb_s(Op::Read, from, sectors, warm, counted),
        write_mb_s: LoadGenerator::new(model)?.stream_mb_s(Op::Write, from, sectors, warm, counted),
    })
}

/// Highest sustained rates over the disk once the buffers are full, in 10^6 bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sustained {
    pub read_mb_s: f64,
    pub write_mb_s: f64,
}

/// Streams from the start and from the middle of the disk.
///
/// # Errors
/// If the model is invalid.
pub fn sustained(model: &Model) -> Result<Sustained, Wrong> {
    let (start, middle) = (streaming(model, 0)?, streaming(model, PLACES / 2)?);
    Ok(Sustained {
        read_mb_s: start.read_mb_s.max(middle.read_mb_s),
        write_mb_s: start.write_mb_s.max(middle.write_mb_s),
    })
}

/// Time in which a disk writes out a full write cache of random 4 KiB writes. 0 for flash, whose buffer drains very
/// quickly.
///
/// # Errors
/// If the model is invalid.
pub fn drain_ms(model: &Model) -> Result<f64, Wrong> {
    const TRIED_MAX: u32 = 4096;
    let Device::Mechanical(disk) = &model.device else {
        return Ok(0.0);
    };
    let cache = disk.write_cache;
    let waiting = if cache.enabled {
        cache.extents_max.min(cache.sectors_max / 8)
    } else {
        0
    };
    let tried = waiting.min(TRIED_MAX);
    let share = f64::from(waiting) / f64::from(tried.max(1));
    Ok(flush(model, tried)?.flush_ms * share)
}

pub fn random_reads(model: &Model, depth: u32) -> Result<RandomReads, Wrong> {
    let mut load = LoadGenerator::new(model)?;
    let blocks = model.sectors / 8;
    let count = 2000;
    let mut submitted_ns = std::vec![0u64; depth as usize];
    let mut sum_ns = 0;
    for tag in 0..depth {
        let sector = load.random(blocks) * 8;
        load.submit(tag, Op::Read, sector, 8);
    }
    for _ in 0..count {
        let tag = load.next();
        sum_ns += load.now_ns - submitted_ns[tag as usize];
        submitted_ns[tag as usize] = load.now_ns;
        let sector = load.random(blocks) * 8;
        load.submit(tag, Op::Read, sector, 8);
    }
    Ok(RandomReads {
        depth,
        latency_ms: sum_ns as f64 / f64::from(count) / 1e6,
        reads_per_s: f64::from(count) / load.now_ns.max(1) as f64 * 1e9,
    })
}

fn flush(model: &Model, writes: u32) -> Result<Flush, Wrong> {
    let mut load = LoadGenerator::new(model)?;
    for _ in 0..writes {
        let sector = load.random(model.sectors / 8) * 8;
        load.submit(0, Op::Write, sector, 8);
        load.next();
    }
    let written_ns = load.now_ns;
    let flush_ms = load.flush_ns() as f64 / 1e6;
    Ok(Flush {
        writes,
        writes_ms: written_ns as f64 / 1e6,
        flush_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{find, list};

    #[test]
    fn a_desktop_disk_is_what_its_figures_say() {
        let show = show(&find("wd-500gb-2007").expect("in the catalogue")).expect("a sound model");
        let (first, last) = (show.streaming[0], show.streaming[PLACES as usize - 1]);
        assert!((0.99..1.01).contains(&(first.read_mb_s / 89.6)), "{first:?}");
        assert!((0.98..1.03).contains(&(last.read_mb_s / 50.0)), "{last:?}");
        assert!(
            (0.97..1.03).contains(&(first.write_mb_s / first.read_mb_s)),
            "{first:?}"
        );
        let rates: Vec<f64> = show.random_reads.iter().map(|r| r.reads_per_s).collect();
        assert!(rates.windows(2).all(|r| r[1] > 0.97 * r[0]), "{rates:?}");
        assert!(rates[5] > 1.5 * rates[0], "a deep queue serves more: {rates:?}");
        assert!(
            show.flushes
                .windows(2)
                .all(|f| f[1].writes_ms + f[1].flush_ms > f[0].writes_ms + f[0].flush_ms)
        );
        assert!(
            show.flushes[1].flush_ms > 20.0 && show.flushes[1].writes_ms < 20.0,
            "{:?}",
            show.flushes
        );
        let rpm = show
            .figures
            .iter()
            .find(|n| n.name == "disk.rpm")
            .expect("every figure has a note");
        assert_eq!((rpm.value.as_str(), rpm.source.as_str()), ("7200.0", "WD Caviar SE16"));
        assert_eq!(show.platters.expect("it has platters").zones.len(), 24);
    }

    #[test]
    fn every_model_can_be_shown() {
        for entry in list() {
            let show = show(&find(&entry.name).expect("listed")).expect("a sound model");
            assert!(
                show.streaming
                    .iter()
                    .all(|s| s.read_mb_s > 1.0 && (s.read_mb_s < 10_000.0 || entry.name == "ram")),
                "{:?}",
                show.streaming
            );
            assert!(show.random_reads[0].latency_ms < 40.0, "{}", entry.name);
        }
    }
}
