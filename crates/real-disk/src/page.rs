//! The page of a measured disk: the measurements, and the performance of the resulting model.

use crate::Error;
use disksim::catalogue::Model;
use measure::{DiskFigures, Zone};
use report::{Curve, Plot};

const SECTOR_BYTES: f64 = 512.0;

pub fn page(title: &str, found: &DiskFigures, model: &Model) -> Result<String, Error> {
    let show = disksim::show::show(model).map_err(|wrong| Error::Simulation(wrong.message))?;
    let gb = |place: f64| place * found.sectors as f64 * SECTOR_BYTES / 1e9;
    let zones = found
        .platters
        .as_ref()
        .map_or(&[][..], |platters| &platters.tracks.zones);
    let streams = show.streaming.iter();
    let measured = match &found.ssd {
        Some(ssd) => vec![(0.0, ssd.transfers.stream_mb_s), (gb(1.0), ssd.transfers.stream_mb_s)],
        None => steps(zones, found.sectors),
    };
    let mut plots = vec![Plot {
        title: "Streams of reads".to_owned(),
        x: "place, GB".to_owned(),
        y: "MB/s".to_owned(),
        curves: vec![
            curve("measured", measured),
            curve(
                "model, simulated",
                streams.map(|at| (gb(at.place), at.read_mb_s)).collect(),
            ),
        ],
    }];
    if let Some(platters) = &found.platters {
        let seeks = platters.seeks.iter().map(|seek| (seek.tracks as f64, seek.ms));
        plots.push(Plot {
            title: "Seeks".to_owned(),
            x: "distance, tracks in the order of sectors".to_owned(),
            y: "ms".to_owned(),
            curves: vec![curve("measured", seeks.collect())],
        });
    }
    let depths = found.depths.iter();
    let reads = show.random_reads.iter();
    plots.push(Plot {
        title: "Random 4 KiB reads over the whole disk".to_owned(),
        x: "requests in flight".to_owned(),
        y: "reads a second".to_owned(),
        curves: vec![
            curve("measured", depths.map(|at| (f64::from(at.depth), at.per_s)).collect()),
            curve(
                "model, simulated",
                reads.map(|at| (f64::from(at.depth), at.reads_per_s)).collect(),
            ),
        ],
    });
    if let Some(writes) = &found.writes {
        let measured = writes.streams.iter().map(|at| (gb(at.place), at.mb_s));
        let streams = show.streaming.iter().map(|at| (gb(at.place), at.write_mb_s));
        plots.push(Plot {
            title: "Streams of writes".to_owned(),
            x: "place, GB".to_owned(),
            y: "MB/s".to_owned(),
            curves: vec![
                curve("measured", measured.collect()),
                curve("model, simulated", streams.collect()),
            ],
        });
    }
    if let Some(writes) = found.ssd.as_ref().and_then(|ssd| ssd.writes.as_ref()) {
        let rounds = writes.steady.rounds.iter().enumerate();
        plots.push(Plot {
            title: "Random 4 KiB writes until they are steady, 32 in flight".to_owned(),
            x: "round".to_owned(),
            y: "writes a second".to_owned(),
            curves: vec![curve(
                "measured",
                rounds.map(|(round, per_s)| (round as f64 + 1.0, *per_s)).collect(),
            )],
        });
    }
    Ok(report::plots(
        title,
        "Measurements by `raidlab disk measure`, and the behaviour of the model made from them.",
        &plots,
    ))
}

fn curve(name: &str, points: Vec<(f64, f64)>) -> Curve {
    Curve {
        name: name.to_owned(),
        points,
    }
}

/// The rate of each zone, from its first to its last sector.
fn steps(zones: &[Zone], sectors: u64) -> Vec<(f64, f64)> {
    let gb = |sector: u64| sector as f64 * SECTOR_BYTES / 1e9;
    let ends = zones.iter().skip(1).map(|zone| zone.first_sector).chain([sectors]);
    let of_zone = |(zone, end): (&Zone, u64)| [(gb(zone.first_sector), zone.mb_s), (gb(end), zone.mb_s)];
    zones.iter().zip(ends).flat_map(of_zone).collect()
}
