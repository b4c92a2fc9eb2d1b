//! Placement of sectors, and checks that the numbers of a layout are consistent.

use super::reader::Reader;
use super::syntax::Value;
use crate::catalogue::format::{LayoutKeys, ZoneKeys};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// The only layout that is supported, DiskSim's own first one.
const KIND: &str = "dm_layout_g1";
const MAPPINGS: [&str; 3] = ["cylinders", "serpentine-by-zone", "serpentine"];
/// DiskSim's number of the scheme that spares whole tracks, and of the one that spares within ranges of cylinders.
const TRACKS: usize = 1;
const RANGES: usize = 8;

/// The layout of a disk with this many surfaces.
pub(super) fn layout_keys(layout: &mut Reader, heads: u32) -> LayoutKeys {
    if layout.block.kind != KIND {
        let message = format!("layout `{}`: only `{KIND}` is understood", layout.block.kind);
        let at = layout.block.at.clone();
        layout.sources.error(&at, message);
        return LayoutKeys {
            mapping: String::new(),
            sparing: String::new(),
            range_cylinders: 0,
            zones: Vec::new(),
        };
    }
    let mapping = MAPPINGS[layout.whole("LBN-to-PBN mapping scheme", 0, 2) as usize];
    let scheme = layout.whole("Sparing scheme used", 0, 10) as usize;
    let range_cylinders = match layout.block.get("Rangesize for sparing") {
        None if scheme != RANGES => 1,
        _ => layout.whole("Rangesize for sparing", 1, 1 << 20),
    };
    let in_revolutions = skews_in_revolutions(layout, false);
    let kind = ZoneKind {
        heads,
        scheme,
        in_revolutions,
    };
    let mut zones = Vec::new();
    for node in layout.list("Zones") {
        match &node.value {
            Value::Block(block) => {
                zones.push(zone_keys(
                    &mut Reader {
                        block,
                        sources: layout.sources,
                    },
                    &kind,
                ));
            }
            _ => layout.sources.error(&node.at, "a zone needs a block"),
        }
    }
    if zones.is_empty() {
        let at = layout.block.at.clone();
        layout.sources.error(&at, "a layout needs zones");
    }
    for (index, pair) in zones.windows(2).enumerate() {
        if pair[0].cylinders.1 >= pair[1].cylinders.0 {
            let message = format!("zone {} begins before zone {index} ends", index + 1);
            layout.error_at("Zones", message);
        }
    }
    // The catalogue's names are in the order of DiskSim's numbers.
    let sparing = crate::catalogue::SPARING_NAMES[scheme].0.to_string();
    LayoutKeys {
        mapping: mapping.to_string(),
        sparing,
        range_cylinders,
        zones,
    }
}

/// Properties shared by all zones of a layout.
struct ZoneKind {
    heads: u32,
    scheme: usize,
    in_revolutions: bool,
}

fn skews_in_revolutions(block: &mut Reader, otherwise: bool) -> bool {
    if block.block.get("Skew units").is_none() {
        return otherwise;
    }
    match block.word("Skew units") {
        Some((word, _)) if word == "revolutions" => true,
        Some((word, at)) if word != "sectors" => {
            let message = format!("`Skew units` is `{word}`: `revolutions` or `sectors`");
            block.sources.error(&at, message);
            false
        }
        _ => false,
    }
}

fn zone_keys(zone: &mut Reader, kind: &ZoneKind) -> ZoneKeys {
    let first = zone.whole("First cylinder number", 0, 1 << 27);
    let last = zone.whole("Last cylinder number", 0, 1 << 27);
    if last < first {
        let message = format!("the zone ends at cylinder {last}, before it begins at {first}");
        zone.error_at("Last cylinder number", message);
    }
    let track_sectors = zone.whole("Blocks per track", 1, 1 << 20);
    let in_revolutions = skews_in_revolutions(zone, kind.in_revolutions);
    let unit = if in_revolutions { f64::from(track_sectors) } else { 1.0 };
    let pairs = zone.sectors("defects");
    if pairs.len() % 2 == 1 {
        zone.error_at(
            "defects",
            "`defects` needs pairs of sectors: the defective one and its replacement",
        );
    }
    let mut slips = zone.sectors("slips");
    slips.sort_unstable();
    slips.dedup();
    let mut defects: Vec<(u64, u64)> = pairs.chunks_exact(2).map(|p| (p[0], p[1])).collect();
    defects.sort_unstable();
    defects.dedup_by_key(|d| d.0);
    let keys = ZoneKeys {
        cylinders: (first, last),
        track_sectors,
        offset: zone.number("Offset of first block", 0.0, 1e9) * unit,
        track_skew: zone.number("Skew for track switch", 0.0, 1e9) * unit,
        cylinder_skew: zone.number("Skew for cylinder switch", 0.0, 1e9) * unit,
        reserved_sectors: zone.whole("Empty space at zone front", 0, 1 << 30),
        spares: zone.whole("Number of spares", 0, 1 << 30),
        slips,
        defects,
    };
    // Consequences of an error are not reported separately.
    if zone.sources.errors.is_empty() {
        zone_is_possible(zone, &keys, kind);
    }
    keys
}

/// Slips, defects, spares and reserved sectors have to fit into the zone.
fn zone_is_possible(zone: &mut Reader, keys: &ZoneKeys, kind: &ZoneKind) {
    let tracks = (u64::from(keys.cylinders.1 - keys.cylinders.0) + 1) * u64::from(kind.heads);
    let sectors = tracks * u64::from(keys.track_sectors);
    let (places, what) = if kind.scheme == TRACKS {
        (tracks, "tracks")
    } else {
        (sectors, "sectors")
    };
    if let Some(slip) = keys.slips.iter().find(|&&slip| slip >= places) {
        zone.error_at("slips", format!("slip {slip} lies outside the zone's {places} {what}"));
    }
    if let Some((from, to)) = keys.defects.iter().find(|d| d.0 >= places || d.1 >= places) {
        let message = format!("defect {from}, moved to {to}: outside the zone's {places} {what}");
        zone.error_at("defects", message);
    }
    let gone = (keys.slips.len() + keys.defects.len()) as u64;
    if kind.scheme == TRACKS && gone > u64::from(keys.spares) {
        let message = format!("{} spare tracks for {gone} slips and defects", keys.spares);
        zone.error_at("Number of spares", message);
    }
    if u64::from(keys.reserved_sectors) >= sectors {
        let message = format!(
            "{} sectors are left empty in a zone of {sectors}",
            keys.reserved_sectors
        );
        zone.error_at("Empty space at zone front", message);
    }
    let spared_of = match kind.scheme {
        0 | 7 => return,
        TRACKS => tracks,
        3 => u64::from(keys.track_sectors),
        2 | 4..=6 => u64::from(keys.track_sectors) * u64::from(kind.heads),
        _ => sectors,
    };
    if u64::from(keys.spares) >= spared_of {
        let message = format!("the number of spares is {}, and must be below {spared_of}", keys.spares);
        zone.error_at("Number of spares", message);
    }
}

/// The disk's size in sectors. As in DiskSim, the capacity of the layout counts: published files have block counts and
/// numbers of cylinders that are slightly wrong, and traces that follow the layout.
pub(super) fn capacity(model: &mut Reader, layout: Option<&LayoutKeys>, in_zones: u64) -> u64 {
    let said = model.number("Block count", 1.0, 1e13) as u64;
    let sound = model.sources.errors.is_empty() && in_zones > 0;
    let Some(layout) = layout.filter(|_| sound) else {
        return said;
    };
    if said.abs_diff(in_zones) > in_zones / 4 {
        let message = format!("`Block count` is {said}, but the layout holds {in_zones} blocks");
        model.error_at("Block count", message);
    }
    if model.block.get("Number of cylinders").is_some() {
        let cylinders = model.whole("Number of cylinders", 1, 1 << 28);
        let last = layout.zones.last().map_or(0, |z| z.cylinders.1);
        if last > cylinders {
            let message =
                format!("`Number of cylinders` is {cylinders}, but the last zone ends at cylinder {last}");
            model.error_at("Number of cylinders", message);
        }
    }
    in_zones
}
