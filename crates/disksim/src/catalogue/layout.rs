//! Layouts: known in detail, or derived from measured streaming rates.

use super::format::{Figure, LayoutKeys, OuterInner, Wrong, ZoneKeys};
use crate::description::{Layout, Mapping, Sparing, Zone};
use std::format;
use std::vec::Vec;

/// Zones of a derived layout. Drives have 10 to 60.
const ZONES: u32 = 24;
const SECTOR_BYTES: f64 = 512.0;
/// Maximum number of cylinders in a derived zone, and 1/24 of those in any layout; drives have some hundred thousand.
const CYLINDERS_MAX: f64 = 4e6;

/// Switch times that the skews of a derived layout must hide.
pub struct Switches {
    pub head_switch_ns: u64,
    pub track_seek_ns: u64,
    pub write_settle_ns: u64,
}

/// A layout as given in the file.
pub fn known(figure: &Figure<LayoutKeys>) -> Result<Layout, Wrong> {
    let keys = figure.is.get_ref();
    let mapping = match keys.mapping.as_str() {
        "cylinders" => Mapping::Cylinders,
        "serpentine-by-zone" => Mapping::SerpentineByZone,
        "serpentine" => Mapping::Serpentine,
        other => {
            let known = "cylinders, serpentine-by-zone or serpentine";
            return Err(Wrong::at(figure, format!("mapping `{other}`: {known}")));
        }
    };
    let sparing = sparing(&keys.sparing, keys.range_cylinders)
        .ok_or_else(|| Wrong::at(figure, format!("sparing `{}` is not known", keys.sparing)))?;
    let zones = keys
        .zones
        .iter()
        .map(|z| zone(figure, z))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Layout {
        mapping,
        sparing,
        zones,
    })
}

/// Names of the sparing schemes in model files.
pub const SPARING_NAMES: [(&str, Sparing); 11] = [
    ("none", Sparing::None),
    ("tracks", Sparing::Tracks),
    ("per-cylinder", Sparing::PerCylinder),
    ("per-track", Sparing::PerTrack),
    ("per-cylinder-slip-to-end", Sparing::PerCylinderSlipToEnd),
    ("per-cylinder-front", Sparing::PerCylinderFront),
    ("per-cylinder-front-slip-to-end", Sparing::PerCylinderFrontSlipToEnd),
    ("end-of-disk", Sparing::EndOfDisk),
    ("per-range", Sparing::PerRange { cylinders: 1 }),
    ("per-zone", Sparing::PerZone),
    ("per-zone-slip-to-end", Sparing::PerZoneSlipToEnd),
];

fn sparing(name: &str, range_cylinders: u32) -> Option<Sparing> {
    let (_, found) = SPARING_NAMES.iter().find(|(n, _)| *n == name)?;
    Some(match found {
        Sparing::PerRange { .. } => Sparing::PerRange {
            cylinders: range_cylinders.max(1),
        },
        other => *other,
    })
}

fn zone(figure: &Figure<LayoutKeys>, keys: &ZoneKeys) -> Result<Zone, Wrong> {
    let (first, last) = keys.cylinders;
    if first > last || f64::from(last) >= CYLINDERS_MAX * f64::from(ZONES) || keys.track_sectors == 0 {
        let what = format!(
            "zone of cylinders {first} to {last} with {} sectors a track",
            keys.track_sectors
        );
        return Err(Wrong::at(figure, what));
    }
    let angle = |sectors: f64| revolutions(sectors / f64::from(keys.track_sectors));
    Ok(Zone {
        first_cylinder: first,
        last_cylinder: last,
        track_sectors: keys.track_sectors,
        offset_angle: angle(keys.offset),
        track_skew_angle: angle(keys.track_skew),
        cylinder_skew_angle: angle(keys.cylinder_skew),
        reserved_sectors: keys.reserved_sectors,
        spares: keys.spares,
        slips: keys.slips.clone(),
        defects: keys.defects.clone(),
    })
}

/// A fraction of a revolution in 2^-64.
fn revolutions(part: f64) -> u64 {
    let part = part - part.floor();
    // A float has 53 bits; the rest would be noise.
    ((part * (1u64 << 53) as f64).round() as u64) << 11
}

/// Parameters of a layout for which only the rates are known.
pub struct Made {
    pub sectors: u64,
    pub heads: u32,
    pub revolution_ns: u64,
    pub switches: Switches,
}

impl Made {
    /// A layout whose rates fall evenly from the outer to the inner edge: streaming rates, switches included, or rates
    /// of single tracks.
    pub fn layout(&self, rates: &Figure<OuterInner>, streaming: bool) -> Result<Layout, Wrong> {
        let OuterInner { outer, inner } = *rates.is.get_ref();
        if !(outer >= inner && inner > 0.0 && outer < 1e5) {
            return Err(Wrong::at(
                rates,
                format!("{outer} MB/s outside, {inner} inside: outer ≥ inner > 0"),
            ));
        }
        let (revolution, heads) = (self.revolution_ns as f64, f64::from(self.heads));
        let Switches {
            head_switch_ns,
            track_seek_ns,
            write_settle_ns,
        } = self.switches;
        // Writes need a larger skew than reads; a layout serves both.
        let track_skew_ns = (head_switch_ns + write_settle_ns) as f64;
        let cylinder_skew_ns = (track_seek_ns.max(head_switch_ns) + write_settle_ns) as f64;
        let switches_ns = if streaming {
            (heads - 1.0) * track_skew_ns + cylinder_skew_ns
        } else {
            0.0
        };
        let track_ns = revolution + switches_ns / heads;
        let per_track: Vec<f64> = (0..ZONES)
            .map(|z| outer + (inner - outer) * f64::from(z) / f64::from(ZONES - 1))
            .map(|mb_s| (mb_s * 1e6 * track_ns / 1e9 / SECTOR_BYTES).round().max(1.0))
            .collect();
        let average = per_track.iter().sum::<f64>() / f64::from(ZONES);
        let cylinders = (self.sectors as f64 / (heads * average) / f64::from(ZONES)).ceil() + 1.0;
        if cylinders >= CYLINDERS_MAX {
            let all = cylinders * f64::from(ZONES);
            return Err(Wrong::at(
                rates,
                format!("at these rates the disk's sectors need {all} cylinders, more than any drive has"),
            ));
        }
        let cylinders = cylinders as u32;
        let skew = |ns: f64, sectors: f64| revolutions((ns * sectors / revolution).ceil() / sectors);
        let zones = (0..ZONES).zip(per_track).map(|(z, track)| Zone {
            first_cylinder: z * cylinders,
            last_cylinder: (z + 1) * cylinders - 1,
            track_sectors: track as u32,
            offset_angle: 0,
            track_skew_angle: skew(track_skew_ns, track),
            cylinder_skew_angle: skew(cylinder_skew_ns, track),
            reserved_sectors: 0,
            spares: 0,
            slips: Vec::new(),
            defects: Vec::new(),
        });
        Ok(Layout {
            mapping: Mapping::Cylinders,
            sparing: Sparing::None,
            zones: zones.collect(),
        })
    }
}
