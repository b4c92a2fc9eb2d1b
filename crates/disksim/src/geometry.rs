//! Position of a sector: cylinder, head, angle, and the number of sectors that follow it without a gap.
//!
//! Layout rules (mapping schemes, sparing, slips, defects, skews) follow the DiskSim 4 reference manual and its
//! `layout_g1` parameters. The only time used here is that of a revolution.

use crate::description::{Layout, Mapping, Sparing, Zone};
use alloc::vec::Vec;

/// Position of the arm and the active head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub cylinder: u32,
    pub head: u32,
}

/// Position of a sector on the media.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    pub place: Place,
    /// Index of the zone.
    pub zone: u32,
    /// Physical sector on its track.
    pub sector: u32,
    /// Sectors from this one on without a gap on the track.
    pub run: u32,
    /// Time from the start of a revolution at which the sector starts to pass the head.
    pub angle_ns: u64,
    /// Time per sector under the head, in 2^-32 ns.
    pub sector_fp: u64,
}

/// The layout, prepared for look-ups.
pub struct Geometry {
    zones: Vec<ZoneMap>,
    /// First sector of each zone, kept contiguous because it is looked up often.
    firsts: Vec<u64>,
    heads: u32,
    mapping: Mapping,
    revolution_ns: u64,
}

struct ZoneMap {
    first_lbn: u64,
    lbns: u64,
    first_cylinder: u32,
    track_sectors: u32,
    sector_fp: u64,
    offset_angle: u64,
    track_skew_angle: u64,
    cylinder_skew_angle: u64,
    reserved: u64,
    /// Sectors per sparing unit, and those that hold data.
    unit: u64,
    unit_data: u64,
    spares_in_front: u64,
    slip_to_end: bool,
    slips: Vec<u64>,
    slips_are_tracks: bool,
    slips_turn_skew: SlipsTurnSkew,
    defects: Vec<(u64, u64)>,
}

/// Which slips shift the start of later tracks as well.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlipsTurnSkew {
    No,
    OfEarlierCylinders,
    OfEarlierTracks,
}

impl Geometry {
    /// The layout must have been checked: see [`crate::check`].
    pub fn new(layout: &Layout, heads: u32, revolution_ns: u64) -> Self {
        let mut zones = Vec::with_capacity(layout.zones.len());
        let mut first_lbn = 0;
        for zone in &layout.zones {
            let map = ZoneMap::new(zone, layout.sparing, heads, revolution_ns, first_lbn);
            first_lbn += map.lbns;
            zones.push(map);
        }
        let firsts = zones.iter().map(|z| z.first_lbn).collect();
        Geometry {
            zones,
            firsts,
            heads,
            mapping: layout.mapping,
            revolution_ns,
        }
    }

    /// Capacity of the layout in sectors.
    pub fn capacity(&self) -> u64 {
        self.zones.last().map_or(0, |z| z.first_lbn + z.lbns)
    }

    fn zone_of(&self, lbn: u64) -> usize {
        self.firsts.partition_point(|&first| first <= lbn).saturating_sub(1)
    }

    /// Position of a sector. For sectors past the end, that of the last one.
    pub fn locate(&self, lbn: u64) -> Spot {
        let index = self.zone_of(lbn);
        let zone = &self.zones[index];
        let rel = (lbn - zone.first_lbn).min(zone.lbns.saturating_sub(1));
        let (physical, run) = zone.physical(rel);
        self.spot(index, physical, run.min(zone.lbns - rel))
    }

    /// The first sector of the track that holds `lbn`, and the first past it.
    pub fn track_bounds(&self, lbn: u64) -> (u64, u64) {
        let index = self.zone_of(lbn);
        let zone = &self.zones[index];
        let rel = (lbn - zone.first_lbn).min(zone.lbns.saturating_sub(1));
        let (physical, _) = zone.physical(rel);
        let start = physical - physical % u64::from(zone.track_sectors);
        let end = start + u64::from(zone.track_sectors);
        let first = zone.lbn_from(start).min(rel);
        let past = zone.lbn_from(end).max(rel + 1).min(zone.lbns);
        (zone.first_lbn + first, zone.first_lbn + past)
    }

    /// The first sector past the cylinder that holds `lbn`.
    pub fn cylinder_end(&self, lbn: u64) -> u64 {
        let index = self.zone_of(lbn);
        let zone = &self.zones[index];
        let rel = (lbn - zone.first_lbn).min(zone.lbns.saturating_sub(1));
        let (physical, _) = zone.physical(rel);
        let cylinder = u64::from(zone.track_sectors) * u64::from(self.heads);
        let end = (physical / cylinder + 1) * cylinder;
        zone.first_lbn + zone.lbn_from(end).max(rel + 1).min(zone.lbns)
    }

    /// The first sector on the track of `spot` at or after physical sector `sector`.
    pub fn lbn_at(&self, spot: &Spot, lbn: u64, sector: u32) -> u64 {
        let zone = &self.zones[spot.zone as usize];
        let (physical, _) = zone.physical(lbn.saturating_sub(zone.first_lbn));
        let start = physical - u64::from(spot.sector);
        zone.first_lbn
            + zone
                .lbn_from(start + u64::from(sector))
                .min(zone.lbns.saturating_sub(1))
    }

    /// Time that `sectors` sectors, beginning with `first`, take to pass the heads if no revolution is lost between
    /// tracks, computed from the angles of the sectors.
    pub fn pass_ns(&self, first: u64, sectors: u64) -> u64 {
        let end = first.saturating_add(sectors).min(self.capacity());
        let start_ns = self.locate(first).angle_ns;
        let (mut sector, mut passed_ns) = (first, 0);
        while sector < end {
            let spot = self.locate(sector);
            // Since the first sector's start the platters have turned by this time plus whole revolutions.
            let turned_ns = (spot.angle_ns + self.revolution_ns - start_ns) % self.revolution_ns;
            let past_ns = passed_ns % self.revolution_ns;
            let wait_ns = (turned_ns + self.revolution_ns - past_ns) % self.revolution_ns;
            // Rounding must not count as a lost revolution.
            passed_ns += if wait_ns + 1_000 < self.revolution_ns {
                wait_ns
            } else {
                0
            };
            let run = u64::from(spot.run).min(end - sector);
            passed_ns += (run * spot.sector_fp) >> 32;
            sector += run;
        }
        passed_ns
    }

    /// First sector, sectors per track and first cylinder of each zone.
    pub fn zones(&self) -> impl Iterator<Item = (u64, u64, u32)> + '_ {
        self.zones.iter().map(|z| (z.first_lbn, z.lbns, z.track_sectors))
    }

    fn spot(&self, index: usize, physical: u64, run: u64) -> Spot {
        let zone = &self.zones[index];
        let per_track = u64::from(zone.track_sectors);
        let heads = u64::from(self.heads);
        let track = divide(physical, zone.track_sectors);
        let sector = physical - track * per_track;
        let cylinder = divide(track, self.heads);
        let surface = track - cylinder * heads;
        let absolute = u64::from(zone.first_cylinder) + cylinder;
        let backwards = match self.mapping {
            Mapping::Cylinders => false,
            Mapping::SerpentineByZone => cylinder & 1 == 1,
            Mapping::Serpentine => absolute & 1 == 1,
        };
        let head = if backwards { heads - 1 - surface } else { surface };
        let angle = zone.track_angle(cylinder, surface, head, heads);
        let track_ns = ((u128::from(angle) * u128::from(self.revolution_ns)) >> 64) as u64;
        let mut angle_ns = track_ns + ((sector * zone.sector_fp) >> 32);
        if angle_ns >= self.revolution_ns {
            angle_ns -= self.revolution_ns;
        }
        Spot {
            place: Place {
                cylinder: absolute as u32,
                head: head as u32,
            },
            zone: index as u32,
            sector: sector as u32,
            run: run.min(per_track - sector) as u32,
            angle_ns,
            sector_fp: zone.sector_fp,
        }
    }
}

/// Division with a fast path for 32-bit operands, which is the usual case.
fn divide(a: u64, b: u32) -> u64 {
    match u32::try_from(a) {
        Ok(a) => u64::from(a / b),
        Err(_) => a / u64::from(b),
    }
}

/// Converts slips to the number of data places before them; slips among the spares do not matter.
fn data_places(slips: &[u64], unit: u64, unit_data: u64, in_front: u64) -> Vec<u64> {
    let place = |&slip: &u64| {
        let within = (slip % unit).checked_sub(in_front)?;
        (within < unit_data).then_some(slip / unit * unit_data + within)
    };
    slips.iter().filter_map(place).collect()
}

impl ZoneMap {
    fn new(zone: &Zone, sparing: Sparing, heads: u32, revolution_ns: u64, first_lbn: u64) -> Self {
        let per_track = u64::from(zone.track_sectors);
        let per_cylinder = per_track * u64::from(heads);
        let cylinders = u64::from(zone.last_cylinder - zone.first_cylinder) + 1;
        let all = cylinders * per_cylinder;
        let spares = u64::from(zone.spares);
        let slipped = zone.slips.len() as u64;
        // Sectors that share spares, number of their spares, and sectors that the zone loses in addition.
        let (unit, unit_spares, lost) = match sparing {
            Sparing::None => (all, 0, 0),
            Sparing::Tracks => (all, 0, spares * per_track),
            Sparing::PerTrack => (per_track, spares, 0),
            Sparing::PerCylinder | Sparing::PerCylinderFront => (per_cylinder, spares, 0),
            Sparing::PerCylinderSlipToEnd | Sparing::PerCylinderFrontSlipToEnd => (per_cylinder, spares, slipped),
            Sparing::EndOfDisk => (per_cylinder, spares, slipped),
            Sparing::PerRange { cylinders: n } => (per_cylinder * u64::from(n.max(1)), spares, 0),
            Sparing::PerZone => (all, 0, spares),
            Sparing::PerZoneSlipToEnd => (all, 0, spares + slipped),
        };
        let unit = unit.max(1);
        let unit_data = unit.saturating_sub(unit_spares).max(1);
        let whole = all / unit * unit_data + (all % unit);
        let front = matches!(sparing, Sparing::PerCylinderFront | Sparing::PerCylinderFrontSlipToEnd);
        let in_front = if front { unit_spares } else { 0 };
        let slip_to_end = matches!(
            sparing,
            Sparing::PerCylinderSlipToEnd | Sparing::PerCylinderFrontSlipToEnd | Sparing::EndOfDisk
        );
        let per_cylinder_unit = unit == per_cylinder && unit_spares > 0;
        ZoneMap {
            first_lbn,
            lbns: whole
                .saturating_sub(lost)
                .saturating_sub(u64::from(zone.reserved_sectors))
                .max(1),
            first_cylinder: zone.first_cylinder,
            track_sectors: zone.track_sectors,
            sector_fp: ((u128::from(revolution_ns) << 32) / u128::from(per_track.max(1))) as u64,
            offset_angle: zone.offset_angle,
            track_skew_angle: zone.track_skew_angle,
            cylinder_skew_angle: zone.cylinder_skew_angle,
            reserved: u64::from(zone.reserved_sectors),
            unit,
            unit_data,
            spares_in_front: in_front,
            slip_to_end,
            slips: if slip_to_end {
                data_places(&zone.slips, unit, unit_data, in_front)
            } else {
                zone.slips.clone()
            },
            slips_are_tracks: sparing == Sparing::Tracks,
            slips_turn_skew: match sparing {
                Sparing::PerTrack => SlipsTurnSkew::OfEarlierTracks,
                _ if per_cylinder_unit => SlipsTurnSkew::OfEarlierCylinders,
                _ => SlipsTurnSkew::No,
            },
            defects: zone.defects.clone(),
        }
    }

    /// The physical sector of the zone's `rel`-th data sector, and the number of sectors that follow without a gap.
    fn physical(&self, rel: u64) -> (u64, u64) {
        let logical = rel + self.reserved;
        if self.slips.is_empty() && self.defects.is_empty() {
            let unit = if self.unit_data == self.unit {
                0
            } else {
                logical / self.unit_data
            };
            let within = logical - unit * self.unit_data;
            return (
                unit * self.unit + self.spares_in_front + within,
                self.unit_data.saturating_sub(within).max(1),
            );
        }
        let (physical, run) = if self.slip_to_end {
            self.past_slips_to_end(logical)
        } else if self.slips_are_tracks {
            self.past_slipped_tracks(logical)
        } else {
            self.past_slips(logical)
        };
        self.past_defects(physical, run)
    }

    fn past_slips(&self, logical: u64) -> (u64, u64) {
        let unit = logical / self.unit_data;
        let within = logical - unit * self.unit_data;
        let from = self.slips.partition_point(|&s| s < unit * self.unit);
        let base = unit * self.unit;
        let mut at = within + self.front_of(unit);
        let mut next = from;
        while let Some(&slip) = self.slips.get(next) {
            if slip - base > at {
                break;
            }
            at += 1;
            next += 1;
        }
        let slip_gap = self.slips.get(next).map_or(u64::MAX, |&s| s - (base + at));
        let unit_left = (self.unit_data - within).max(1);
        (base + at, slip_gap.min(unit_left).max(1))
    }

    /// Slips that leave the spares unused shift all later sectors, across units, to the end of the zone. They are
    /// counted in data places, without spares.
    fn past_slips_to_end(&self, logical: u64) -> (u64, u64) {
        let mut place = logical;
        let mut next = 0;
        while self.slips.get(next).is_some_and(|&slip| slip <= place) {
            place += 1;
            next += 1;
        }
        let unit = place / self.unit_data;
        let within = place - unit * self.unit_data;
        let gap = self.slips.get(next).map_or(u64::MAX, |&slip| slip - place);
        (
            unit * self.unit + self.spares_in_front + within,
            gap.min(self.unit_data - within),
        )
    }

    /// Spare sectors left before a unit's data: slips used up the others.
    fn front_of(&self, unit: u64) -> u64 {
        if self.spares_in_front == 0 {
            return 0;
        }
        let before = |physical: u64| self.slips.partition_point(|&s| s < physical) as u64;
        let slips = before((unit + 1) * self.unit) - before(unit * self.unit);
        self.spares_in_front.saturating_sub(slips)
    }

    fn past_slipped_tracks(&self, logical: u64) -> (u64, u64) {
        let per_track = u64::from(self.track_sectors);
        let mut track = logical / per_track;
        let sector = logical - track * per_track;
        for &slip in &self.slips {
            if slip > track {
                break;
            }
            track += 1;
        }
        (track * per_track + sector, per_track - sector)
    }

    /// Follows a remapped sector (or track); a run ends before the next one.
    fn past_defects(&self, physical: u64, run: u64) -> (u64, u64) {
        let scale = if self.slips_are_tracks {
            u64::from(self.track_sectors)
        } else {
            1
        };
        let key = physical / scale;
        let next = self.defects.partition_point(|&(from, _)| from < key);
        match self.defects.get(next) {
            Some(&(from, to)) if from == key => (to * scale + physical % scale, if scale == 1 { 1 } else { run }),
            Some(&(from, _)) => (physical, run.min(from * scale - physical)),
            None => (physical, run),
        }
    }

    /// Number of data sectors of the zone before a physical one: the inverse of [`physical`](Self::physical).
    fn lbn_from(&self, physical: u64) -> u64 {
        if self.slips_are_tracks {
            let track = physical / u64::from(self.track_sectors);
            let slipped = self.slips.partition_point(|&s| s < track) as u64;
            return (physical - slipped * u64::from(self.track_sectors)).saturating_sub(self.reserved);
        }
        let unit = physical / self.unit;
        let base = unit * self.unit;
        if self.slip_to_end {
            let within = (physical - base)
                .saturating_sub(self.spares_in_front)
                .min(self.unit_data);
            let place = unit * self.unit_data + within;
            let slipped = self.slips.partition_point(|&s| s < place) as u64;
            return (place - slipped).saturating_sub(self.reserved);
        }
        let before = self.slips.partition_point(|&s| s < base);
        let slipped = self.slips.partition_point(|&s| s < physical) - before;
        let within = (physical - base)
            .saturating_sub(slipped as u64)
            .saturating_sub(self.front_of(unit));
        let lbn = unit * self.unit_data + within.min(self.unit_data);
        lbn.saturating_sub(self.reserved)
    }

    fn track_angle(&self, cylinder: u64, surface: u64, head: u64, heads: u64) -> u64 {
        let switches = surface + (heads - 1) * cylinder;
        let mut angle = self
            .offset_angle
            .wrapping_add(switches.wrapping_mul(self.track_skew_angle))
            .wrapping_add(cylinder.wrapping_mul(self.cylinder_skew_angle));
        if self.slips_turn_skew != SlipsTurnSkew::No && !self.slips.is_empty() {
            let mut tracks = cylinder * heads;
            if self.slips_turn_skew == SlipsTurnSkew::OfEarlierTracks {
                tracks += head;
            }
            let per_track = u64::from(self.track_sectors);
            let start = if self.slip_to_end {
                cylinder * self.unit_data
            } else {
                tracks * per_track
            };
            let earlier = self.slips.partition_point(|&s| s < start) as u64;
            angle = angle.wrapping_add(earlier.wrapping_mul(u64::MAX / u64::from(self.track_sectors)));
        }
        angle
    }
}

#[cfg(test)]
mod tests;
