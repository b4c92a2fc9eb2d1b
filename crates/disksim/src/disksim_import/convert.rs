//! From DiskSim's parameters to ours.

use super::reader::Reader;
use super::syntax::{At, Block, Sources, Value};
use crate::catalogue::format::{
    BufferKeys, Disk, ExtraWriteDisconnectKeys, Figure, InterfaceKeys, LayoutKeys, ModelFile, OverheadKeys,
    QueueKeys, SeekKeys, Sure, WriteCacheKeys, ZoneKeys,
};
use std::format;
use std::string::ToString;
use std::vec::Vec;

/// The model that a `.diskspecs` file describes; mistakes are noted in `sources`.
pub fn model_file(name: &str, sources: &mut Sources) -> Option<ModelFile> {
    let start = At {
        file: name.to_string(),
        line: 1,
        column: 1,
    };
    let text = sources.text(name, &start)?;
    let blocks = sources.parse(name, &text);
    let Some(specs) = blocks.into_iter().find(|b| b.kind == "disksim_disk") else {
        if sources.mistakes.is_empty() {
            sources.mistake(&start, "no `disksim_disk` block");
        }
        return None;
    };
    let source = format!("DiskSim 4 validation files, {name}: extracted from a real disk");
    let mut specs = Reader { block: &specs, sources };
    let model = specs.block("Model")?;
    let bus = bus_times(name, specs.sources);
    let disk = disk(&mut specs, &model, &bus, &source);
    let sectors = Reader {
        block: &model,
        sources: specs.sources,
    }
    .number("Block count", 1.0, 1e13) as u64;
    let stem = stem(name);
    let laid_out = disk.as_ref().map_or(0, capacity);
    Some(ModelFile {
        name: stem.to_ascii_lowercase().replace('_', "-"),
        title: format!("{stem}, imported from DiskSim"),
        aliases: Vec::new(),
        // DiskSim trusts the layout alone; a disk that shows less than its layout holds has its reasons.
        sectors: Figure::new(
            if laid_out > 0 { laid_out.min(sectors) } else { sectors },
            Sure::Measured,
            &source,
        ),
        disk,
        flash: None,
    })
}

fn stem(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

fn capacity(disk: &Disk) -> u64 {
    let Some(layout) = disk
        .layout
        .as_ref()
        .and_then(|l| crate::catalogue::known_layout(l).ok())
    else {
        return 0;
    };
    let Some(last) = layout.zones.last() else { return 0 };
    let sane = layout
        .zones
        .iter()
        .all(|z| z.first_cylinder <= z.last_cylinder && z.track_sectors > 0);
    if !sane || disk.heads.get() == 0 || last.last_cylinder > 1 << 28 {
        return 0;
    }
    crate::geometry::Geometry::new(&layout, disk.heads.get(), 1_000_000).capacity()
}

/// Times per block of the buses and controllers on the way, read and write, in ms.
struct BusTimes {
    read_ms: f64,
    write_ms: f64,
}

fn bus_times(name: &str, sources: &mut Sources) -> BusTimes {
    let mut times = BusTimes {
        read_ms: 0.0,
        write_ms: 0.0,
    };
    let file = match name.rsplit_once('.') {
        Some((path, _)) => format!("{path}.parv"),
        None => return times,
    };
    let Some(text) = sources.optional(&file) else {
        return times;
    };
    for block in sources.parse(&file, &text) {
        let mut reader = Reader { block: &block, sources };
        match block.kind.as_str() {
            "disksim_bus" => {
                times.read_ms = times.read_ms.max(reader.optional_ms("Read block transfer time"));
                times.write_ms = times.write_ms.max(reader.optional_ms("Write block transfer time"));
            }
            "disksim_ctlr" => {
                let both = reader.optional_ms("Bulk sector transfer time");
                times.read_ms = times.read_ms.max(both);
                times.write_ms = times.write_ms.max(both);
            }
            _ => {}
        }
    }
    times
}

fn disk(specs: &mut Reader, model: &Block, bus: &BusTimes, source: &str) -> Option<Disk> {
    let mut model = Reader {
        block: model,
        sources: specs.sources,
    };
    let heads = model.whole("Number of data surfaces", 1, 256);
    let layout = model.block("Layout Model");
    let mechanics = model.block("Mechanical Model");
    let (layout, mechanics) = (layout?, mechanics?);
    let layout = layout_keys(&mut Reader {
        block: &layout,
        sources: model.sources,
    });
    let mut mechanics = Reader {
        block: &mechanics,
        sources: model.sources,
    };
    let seek = seek_keys(&mut mechanics);
    let rpm = mechanics.number("Rotation speed (in rpms)", 60.0, 100_000.0);
    let head_switch_ms = mechanics.ms("Head switch time");
    let write_settle_ms = mechanics.ms("Add. write settling delay");
    let own_ms = specs.ms("Bulk sector transfer time");
    let mb_s = |ms: f64| if ms > 0.0 { 512e-6 / (ms * 1e-3) } else { 1e4 };
    let interface = InterfaceKeys {
        read_mb_s: mb_s(own_ms.max(bus.read_ms)),
        write_mb_s: mb_s(own_ms.max(bus.write_ms)),
    };
    let figure = |source| source;
    Some(Disk {
        rpm: Figure::new(rpm, Sure::Measured, figure(source)),
        heads: Figure::new(heads, Sure::Measured, source),
        layout: Some(Figure::new(layout, Sure::Measured, source)),
        sustained_mb_s: None,
        track_mb_s: None,
        seek: Figure::new(seek?, Sure::Measured, source),
        head_switch_ms: Figure::new(head_switch_ms, Sure::Measured, source),
        write_settle_ms: Figure::new(write_settle_ms, Sure::Measured, source),
        interface: Figure::new(interface, Sure::Measured, source),
        overheads: Figure::new(overhead_keys(specs), Sure::Measured, source),
        buffer: Figure::new(buffer_keys(specs), Sure::Measured, source),
        write_cache: Figure::new(write_cache_keys(specs), Sure::Measured, source),
        queue: Figure::new(queue_keys(specs), Sure::Measured, source),
    })
}

fn layout_keys(layout: &mut Reader) -> LayoutKeys {
    let mapping =
        ["cylinders", "serpentine-by-zone", "serpentine"][layout.whole("LBN-to-PBN mapping scheme", 0, 2) as usize];
    let scheme = layout.whole("Sparing scheme used", 0, 10) as usize;
    let range_cylinders = layout.whole("Rangesize for sparing", 1, 1 << 20);
    let disk_units = layout.block.get("Skew units").is_some();
    let in_revolutions = disk_units && layout.word("Skew units").is_some_and(|(w, _)| w == "revolutions");
    let mut zones = Vec::new();
    for node in layout.list("Zones") {
        match &node.value {
            Value::Block(block) => {
                zones.push(zone_keys(
                    &mut Reader {
                        block,
                        sources: layout.sources,
                    },
                    in_revolutions,
                ));
            }
            _ => layout.sources.mistake(&node.at, "a zone needs a block"),
        }
    }
    if zones.is_empty() {
        let at = layout.block.at.clone();
        layout.sources.mistake(&at, "a layout needs zones");
    }
    for (index, pair) in zones.windows(2).enumerate() {
        if pair[0].cylinders.1 >= pair[1].cylinders.0 {
            let at = layout.block.get("Zones").map(|n| n.at.clone()).unwrap_or_default();
            let message = format!("zone {} begins before zone {index} ends", index + 1);
            layout.sources.mistake(&at, message);
        }
    }
    let sparing = crate::catalogue::SPARING_NAMES[SCHEMES[scheme]].0.to_string();
    LayoutKeys {
        mapping: mapping.to_string(),
        sparing,
        range_cylinders,
        zones,
    }
}

/// DiskSim's numbers of sparing schemes, as indices of our names.
const SCHEMES: [usize; 11] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

fn zone_keys(zone: &mut Reader, in_revolutions: bool) -> ZoneKeys {
    let first = zone.whole("First cylinder number", 0, 1 << 27);
    let last = zone.whole("Last cylinder number", 0, 1 << 27);
    if last < first {
        let at = zone
            .block
            .get("Last cylinder number")
            .map(|n| n.at.clone())
            .unwrap_or_default();
        zone.sources.mistake(
            &at,
            format!("the zone ends at cylinder {last}, before it begins at {first}"),
        );
    }
    let track_sectors = zone.whole("Blocks per track", 1, 1 << 20);
    let own_units = zone.block.get("Skew units").is_some();
    let in_revolutions = if own_units {
        zone.word("Skew units").is_some_and(|(w, _)| w == "revolutions")
    } else {
        in_revolutions
    };
    let unit = if in_revolutions { f64::from(track_sectors) } else { 1.0 };
    let pairs = zone.sectors("defects");
    if pairs.len() % 2 == 1 {
        let at = zone.block.get("defects").map(|n| n.at.clone()).unwrap_or_default();
        zone.sources
            .mistake(&at, "`defects` needs pairs: where a sector was, where it is");
    }
    let mut slips = zone.sectors("slips");
    slips.sort_unstable();
    slips.dedup();
    let mut defects: Vec<(u64, u64)> = pairs.chunks_exact(2).map(|p| (p[0], p[1])).collect();
    defects.sort_unstable();
    defects.dedup_by_key(|d| d.0);
    ZoneKeys {
        cylinders: (first, last),
        track_sectors,
        offset: zone.number("Offset of first block", 0.0, 1e9) * unit,
        track_skew: zone.number("Skew for track switch", 0.0, 1e9) * unit,
        cylinder_skew: zone.number("Skew for cylinder switch", 0.0, 1e9) * unit,
        reserved_sectors: zone.whole("Empty space at zone front", 0, 1 << 30),
        spares: zone.whole("Number of spares", 0, 1 << 30),
        slips,
        defects,
    }
}

fn seek_keys(mechanics: &mut Reader) -> Option<SeekKeys> {
    let (form, at) = mechanics.word("Seek type")?;
    let three = |m: &mut Reader| {
        (
            m.ms("Single cylinder seek time"),
            m.ms("Average seek time"),
            m.ms("Full strobe seek time"),
        )
    };
    match form.as_str() {
        "extracted" => {
            let (name, at) = mechanics.word("Full seek curve")?;
            let text = mechanics.sources.text(&name, &at)?;
            Some(SeekKeys::Points {
                points: seek_points(&name, &text, mechanics.sources)?,
            })
        }
        "hpl" | "hplplus10" => {
            let values = mechanics.numbers("HPL seek equation values");
            let mut first_ms = if form == "hplplus10" {
                mechanics.numbers("First ten seek times")
            } else {
                Vec::new()
            };
            let [linear_from, root_base_ms, root_ms, linear_base_ms, linear_ms, one_ms] = values[..] else {
                mechanics
                    .sources
                    .mistake(&at, "`HPL seek equation values` needs six numbers");
                return None;
            };
            if first_ms.is_empty() && one_ms >= 0.0 {
                first_ms.push(one_ms);
            }
            let linear_from = linear_from.clamp(0.0, 1e8) as u32;
            Some(SeekKeys::Hp {
                linear_from,
                root_base_ms,
                root_ms,
                linear_base_ms,
                linear_ms,
                first_ms,
            })
        }
        "curve" => {
            let (track_ms, average_ms, full_ms) = three(mechanics);
            Some(SeekKeys::Curve {
                track_ms,
                average_ms,
                full_ms,
            })
        }
        "linear" => {
            let (track_ms, average_ms, full_ms) = three(mechanics);
            Some(SeekKeys::Lines {
                track_ms,
                average_ms,
                full_ms,
            })
        }
        "constant" => Some(SeekKeys::Constant {
            ms: mechanics.ms("Constant seek time"),
        }),
        other => {
            let known = "extracted, hpl, hplplus10, curve, linear or constant";
            mechanics.sources.mistake(&at, format!("seek type `{other}`: {known}"));
            None
        }
    }
}

/// A `.seek` file: a head line, then `distance, ms[, deviation]`.
fn seek_points(name: &str, text: &str, sources: &mut Sources) -> Option<Vec<(u32, f64)>> {
    let mut points: Vec<(u32, f64)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() || (index == 0 && line.starts_with("Seek distances measured")) {
            continue;
        }
        let at = At {
            file: name.to_string(),
            line: index + 1,
            column: 1,
        };
        let mut fields = line.split(',').map(str::trim);
        let distance = fields.next().and_then(|f| f.parse::<u32>().ok()).filter(|d| *d > 0);
        let ms = fields
            .next()
            .and_then(|f| f.parse::<f64>().ok())
            .filter(|ms| (0.0..=60_000.0).contains(ms));
        let (Some(distance), Some(ms)) = (distance, ms) else {
            sources.mistake(&at, "`distance, milliseconds` expected");
            return None;
        };
        if points.last().is_some_and(|p| p.0 >= distance) {
            sources.mistake(
                &at,
                format!("distance {distance} does not follow {}", points[points.len() - 1].0),
            );
            return None;
        }
        points.push((distance, ms));
    }
    if points.is_empty() {
        let at = At {
            file: name.to_string(),
            line: 1,
            column: 1,
        };
        sources.mistake(&at, "a seek curve needs at least one point");
        return None;
    }
    Some(points)
}

fn overhead_keys(specs: &mut Reader) -> OverheadKeys {
    let scale = specs.number("Time scale for overheads", 0.0, 1000.0);
    let never_disconnect = specs.flag("Never disconnect");
    let mut ms = |key: &str| specs.ms(key) * scale;
    let mut keys = OverheadKeys {
        request_ms: ms("Per-request overhead time"),
        read_hit_after_read_ms: ms("Read hit over. after read"),
        read_hit_after_write_ms: ms("Read hit over. after write"),
        read_miss_after_read_ms: ms("Read miss over. after read"),
        read_miss_after_write_ms: ms("Read miss over. after write"),
        write_hit_after_read_ms: ms("Write hit over. after read"),
        write_hit_after_write_ms: ms("Write hit over. after write"),
        write_miss_after_read_ms: ms("Write miss over. after read"),
        write_miss_after_write_ms: ms("Write miss over. after write"),
        read_completion_ms: ms("Read completion overhead"),
        write_completion_ms: ms("Write completion overhead"),
        data_preparation_ms: ms("Data preparation overhead"),
        first_reselect_ms: ms("First reselect overhead"),
        other_reselect_ms: ms("Other reselect overhead"),
        read_disconnect_after_read_ms: ms("Read disconnect afterread"),
        read_disconnect_after_write_ms: ms("Read disconnect afterwrite"),
        write_disconnect_ms: ms("Write disconnect overhead"),
        write_positioning_min_ms: specs.ms("Minimum seek delay"),
        extra_write_disconnect: None,
    };
    if never_disconnect {
        keys.first_reselect_ms = 0.0;
        keys.other_reselect_ms = 0.0;
        keys.read_disconnect_after_read_ms = 0.0;
        keys.read_disconnect_after_write_ms = 0.0;
        keys.write_disconnect_ms = 0.0;
    } else if specs.flag("Extra write disconnect") {
        let mut ms = |key: &str| specs.ms(key) * scale;
        keys.extra_write_disconnect = Some(ExtraWriteDisconnectKeys {
            command_ms: ms("Extradisc command overhead"),
            disconnect_ms: ms("Extradisc disconnect overhead"),
            pause_ms: ms("Extradisc inter-disconnect delay"),
            second_disconnect_ms: ms("Extradisc 2nd disconnect overhead"),
            seek_delay_ms: ms("Extradisc seek delta"),
        });
    }
    keys
}

fn buffer_keys(specs: &mut Reader) -> BufferKeys {
    let segments = specs.whole("Number of buffer segments", 1, 4096);
    let segment_sectors = specs.whole("Segment size (in blks)", 1, 1 << 24);
    let ahead_max = specs.whole("Maximum read-ahead (blks)", 0, 1 << 24);
    let over_requested = specs.number("Read-ahead over requested", -1.0, 1.0);
    let (read_ahead, read_ahead_sectors) = match specs.whole("Buffer continuous read", 0, 4) {
        0 => ("none", 0),
        1 => ("track", 0),
        2 => ("cylinder", 0),
        4 => ("track-ahead", 0),
        _ if ahead_max > 0 => ("sectors", ahead_max),
        _ if over_requested == 0.0 => ("segment", 0),
        _ => ("sectors", segment_sectors),
    };
    BufferKeys {
        segments,
        segment_sectors,
        read_ahead: read_ahead.to_string(),
        read_ahead_sectors,
        read_ahead_min_sectors: if read_ahead == "none" {
            0
        } else {
            specs.whole("Minimum read-ahead (blks)", 0, 1 << 24)
        },
        caching: specs.flag("Enable caching in buffer"),
        read_ahead_on_hit: specs.flag("Read-ahead on idle hit"),
        read_free_sectors: specs.flag("Read any free blocks"),
        read_on_arrival: specs.flag("Immediate buffer read"),
        write_on_arrival: specs.flag("Immediate buffer write"),
        almost_hits: specs.flag("Allow almost read hits"),
        hits_while_busy: specs.flag("Allow sneaky full read hits"),
        hits_on_written: specs.flag("Allow read hits on write data"),
        stop_in_sector: specs.flag("Stop prefetch in sector"),
        write_stops_read_ahead: specs.flag("Write hit stop prefetch"),
        partial_hit_at_once: specs.flag("Immed transfer partial hit"),
        read_watermark_percent: (specs.number("High (read) water mark", 0.0, 1.0) * 100.0).round() as u32,
        watermark_of_request: specs.flag("Set watermark by reqsize"),
        hold_bus_for_read: specs.flag("Hold bus entire read xfer"),
    }
}

fn write_cache_keys(specs: &mut Reader) -> WriteCacheKeys {
    let level = specs.whole("Fast write level", 0, 2);
    let segments = specs.whole("Maximum number of write segments", 1, 4096);
    let segment_sectors = specs.whole("Segment size (in blks)", 1, 1 << 24);
    WriteCacheKeys {
        enabled: level > 0,
        extents_max: segments,
        sectors_max: segments.saturating_mul(segment_sectors),
        in_segments: true,
        own_segment: specs.flag("Use separate write segment"),
        accept_while_busy: specs.flag("Allow write prebuffering"),
        combine: specs.flag("Combine seq writes"),
        destage_after_idle_ms: None,
        destage_sectors_max: segment_sectors,
    }
}

fn queue_keys(specs: &mut Reader) -> QueueKeys {
    let depth = specs.whole("Max queue length", 0, 65_536);
    let seek_early = specs.whole("Preseeking level", 0, 2) > 0;
    let scheduler = specs.block("Scheduler");
    let policy = scheduler.map_or(1, |block| {
        Reader {
            block: &block,
            sources: specs.sources,
        }
        .whole("Scheduling policy", 1, 100)
    });
    // DiskSim knows dozens; ours is the nearest.
    let policy = match policy {
        1 => "fcfs",
        2 | 3 | 5 | 6 => "elevator",
        4 | 7 => "sstf",
        _ => "sptf",
    };
    QueueKeys {
        depth: if depth == 0 { 256 } else { depth },
        policy: policy.to_string(),
        age_max_ms: 60_000.0,
        flush_alone: false,
        seek_early,
    }
}
