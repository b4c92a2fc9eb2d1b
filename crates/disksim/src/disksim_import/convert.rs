//! Converts DiskSim's parameters to raidlab's.

use super::drive::{buffer_keys, overhead_keys, queue_keys, write_cache_keys};
use super::layout::{self, layout_keys};
use super::reader::Reader;
use super::seek::{seek_keys, without_impossible};
use super::syntax::{At, Block, Sources};
use crate::catalogue::format::{Disk, Figure, InterfaceKeys, LayoutKeys, ModelFile, Sure};
use std::format;
use std::string::ToString;
use std::vec::Vec;

/// The model that a `.diskspecs` file describes; errors are noted in `sources`.
pub fn model_file(name: &str, sources: &mut Sources) -> Option<ModelFile> {
    let start = At {
        file: name.to_string(),
        line: 1,
        column: 1,
    };
    let text = sources.text(name, &start)?;
    let blocks = sources.parse(name, &text);
    let Some(specs) = blocks.into_iter().find(|b| b.kind == "disksim_disk") else {
        if sources.errors.is_empty() {
            sources.error(&start, "no `disksim_disk` block");
        }
        return None;
    };
    let source = format!("DiskSim 4 validation files, {name}: extracted from a real disk");
    let mut specs = Reader { block: &specs, sources };
    let model = specs.block("Model")?;
    let bus = bus_times(name, specs.sources);
    let disk = disk(&mut specs, &model, &bus, &source);
    let in_zones = disk.as_ref().map_or(0, capacity);
    let sectors = layout::capacity(
        &mut Reader {
            block: &model,
            sources: specs.sources,
        },
        disk.as_ref().and_then(|d| d.layout.as_ref()).map(|l| l.is.get_ref()),
        in_zones,
    );
    let stem = stem(name);
    Some(ModelFile {
        name: stem.to_ascii_lowercase().replace('_', "-"),
        title: format!("{stem}, imported from DiskSim"),
        aliases: Vec::new(),
        sectors: Figure::new(sectors, Sure::Measured, &source),
        disk,
        flash: None,
        check: Vec::new(),
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

/// Times per block of the buses and controllers in the path, read and write, in ms.
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

/// Source of the figures of [`free_interface`].
const FREE_INTERFACE: &str = "not in DiskSim's files, which know only the bus of the rig; \
    fast enough that the media decides: twice the fastest track";

/// An interface that never delays the media.
fn free_interface(layout: &LayoutKeys, rpm: f64) -> InterfaceKeys {
    let track_sectors = layout.zones.iter().map(|zone| zone.track_sectors).max().unwrap_or(1);
    let mb_s = (2.0 * f64::from(track_sectors) * 512e-6 * rpm / 60.0).max(1.0);
    InterfaceKeys {
        read_mb_s: mb_s,
        write_mb_s: mb_s,
    }
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
    let layout = layout_keys(
        &mut Reader {
            block: &layout,
            sources: model.sources,
        },
        heads,
    );
    let mut mechanics = Reader {
        block: &mechanics,
        sources: model.sources,
    };
    let mut seek = seek_keys(&mut mechanics)?;
    let cylinders = layout.zones.iter().map(|zone| zone.cylinders.1.saturating_add(1)).max();
    let of_seek = match without_impossible(&mut seek, cylinders.unwrap_or(0)) {
        None => source.to_string(),
        Some(left_out) => format!("{source}; without {left_out}"),
    };
    let rpm = mechanics.number("Rotation speed (in rpms)", 60.0, 100_000.0);
    let head_switch_ms = mechanics.ms("Head switch time");
    let write_settle_ms = mechanics.number("Add. write settling delay", -60_000.0, 60_000.0);
    let own_ms = specs.ms("Bulk sector transfer time");
    let mb_s = |ms: f64| if ms > 0.0 { 512e-6 / (ms * 1e-3) } else { 1e4 };
    let rig = InterfaceKeys {
        read_mb_s: mb_s(own_ms.max(bus.read_ms)),
        write_mb_s: mb_s(own_ms.max(bus.write_ms)),
    };
    let interface = free_interface(&layout, rpm);
    let figure = |source| source;
    Some(Disk {
        rpm: Figure::new(rpm, Sure::Measured, figure(source)),
        heads: Figure::new(heads, Sure::Measured, source),
        physical_sectors: None,
        layout: Some(Figure::new(layout, Sure::Measured, source)),
        sustained_mb_s: None,
        track_mb_s: None,
        seek: Figure::new(seek, Sure::Measured, &of_seek),
        head_switch_ms: Figure::new(head_switch_ms, Sure::Measured, source),
        write_settle_ms: Figure::new(write_settle_ms, Sure::Measured, source),
        interface: Figure::new(interface, Sure::Unverified, FREE_INTERFACE),
        rig: Some(Figure::new(rig, Sure::Measured, source)),
        overheads: Figure::new(overhead_keys(specs), Sure::Measured, source),
        buffer: Figure::new(buffer_keys(specs), Sure::Measured, source),
        write_cache: Figure::new(write_cache_keys(specs), Sure::Measured, source),
        queue: Figure::new(queue_keys(specs), Sure::Measured, source),
        shingled: None,
    })
}
