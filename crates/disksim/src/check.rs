//! Validation of descriptions.

use crate::description::{Description, Device, DiskDescription, Mechanical, ReadAhead, Zone};
use crate::geometry::Geometry;
use core::fmt;

/// An error in a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Index of the disk.
    pub disk: usize,
    pub reason: &'static str,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "disk {}: {}", self.disk, self.reason)
    }
}

impl core::error::Error for Invalid {}

/// Longest plausible time in a drive; sums of many such times do not overflow.
const NS_MAX: u64 = 60_000_000_000;
const PS_MAX: u64 = 1_000_000_000_000;

/// Checks everything that the models rely on.
pub fn description(description: &Description) -> Result<(), Invalid> {
    for (index, disk) in description.disks.iter().enumerate() {
        let sound = disk_sound(disk).and_then(|()| links_sound(description, disk));
        sound.map_err(|reason| Invalid { disk: index, reason })?;
    }
    Ok(())
}

fn need(condition: bool, reason: &'static str) -> Result<(), &'static str> {
    if condition { Ok(()) } else { Err(reason) }
}

fn links_sound(description: &Description, disk: &DiskDescription) -> Result<(), &'static str> {
    let links = &description.links;
    need(
        disk.links.iter().all(|&l| (l as usize) < links.len()),
        "it is on a link that does not exist",
    )?;
    let sound = links.iter().all(|l| l.sector_ps <= PS_MAX && l.transfer_ns <= NS_MAX);
    need(sound, "a link is slower than anything real")
}

fn disk_sound(disk: &DiskDescription) -> Result<(), &'static str> {
    need(disk.sectors > 0, "it has no sectors")?;
    need(disk.sectors <= 1 << 48, "it has more sectors than 48 bits can count")?;
    let faults = &disk.faults;
    need(
        faults.recovery_ns <= NS_MAX,
        "its error recovery takes more than a minute",
    )?;
    need(
        faults.slow.is_none_or(|s| s.access_ns <= NS_MAX),
        "it is slower than a minute per access",
    )?;
    let apart = |r: &[crate::faults::SectorRange]| {
        r.windows(2).all(|w| {
            w[0].sector
                .checked_add(w[0].sectors)
                .is_some_and(|end| end <= w[1].sector)
        })
    };
    need(
        apart(&faults.unreadable) && apart(&faults.corrupt),
        "its faulty ranges overlap or are out of order",
    )?;
    match &disk.device {
        Device::Mechanical(model) => mechanical(model, disk.sectors),
        Device::Flash(model) => crate::flash::sound(model, disk.sectors),
    }
}

fn mechanical(model: &Mechanical, sectors: u64) -> Result<(), &'static str> {
    need(
        (100_000..=NS_MAX).contains(&model.revolution_ns),
        "its platters turn too fast or too slowly",
    )?;
    need((1..=256).contains(&model.heads), "it needs 1 to 256 heads")?;
    need(
        model.physical_sectors.is_power_of_two() && model.physical_sectors <= 64,
        "its physical sectors need 1, 2, 4, 8, 16, 32 or 64 sectors of 512 bytes",
    )?;
    need(!model.layout.zones.is_empty(), "it has no zones")?;
    need(model.layout.zones.len() <= 4096, "it has more than 4096 zones")?;
    need(
        model.layout.zones.iter().all(zone),
        "a zone has no cylinders, no sectors, or unsorted slips or defects",
    )?;
    let ascending = model
        .layout
        .zones
        .windows(2)
        .all(|z| z[0].last_cylinder < z[1].first_cylinder);
    need(ascending, "its zones overlap or are out of order")?;
    need(
        !model.seek.is_empty() && model.seek.len() < 60_000,
        "its seek curve has no points, or too many",
    )?;
    let rising = model.seek.windows(2).all(|p| p[0].cylinders < p[1].cylinders);
    need(
        rising && model.seek[0].cylinders > 0,
        "the distances of its seek curve do not rise from 1 on",
    )?;
    need(
        model.seek.iter().all(|p| p.seek_ns <= NS_MAX),
        "a seek takes more than a minute",
    )?;
    let fits = model.head_switch_ns <= NS_MAX && model.write_settle_ns.unsigned_abs() <= NS_MAX;
    need(fits && overheads_sound(model), "an overhead takes more than a minute")?;
    let wire = model.interface.read_sector_ps <= PS_MAX && model.interface.write_sector_ps <= PS_MAX;
    need(wire, "its interface is slower than a second per sector")?;
    buffer(model)?;
    if let Some(shingled) = &model.shingled {
        crate::shingled::sound(shingled, sectors)?;
    }
    let capacity = Geometry::new(&model.layout, model.heads, model.revolution_ns).capacity();
    need(sectors <= capacity, "it is larger than its layout")
}

fn zone(zone: &Zone) -> bool {
    let rising = zone.slips.windows(2).all(|s| s[0] < s[1]);
    let sorted = zone.defects.windows(2).all(|d| d[0].0 < d[1].0);
    let known =
        zone.defects.iter().all(|d| d.0 < 1 << 40 && d.1 < 1 << 40) && zone.slips.iter().all(|&s| s < 1 << 40);
    zone.first_cylinder <= zone.last_cylinder
        && zone.last_cylinder < 1 << 28
        && (1..=1 << 20).contains(&zone.track_sectors)
        && rising
        && sorted
        && known
}

fn overheads_sound(model: &Mechanical) -> bool {
    let o = &model.overheads;
    let extra = o.extra_write_disconnect.unwrap_or_default();
    [
        o.request_ns,
        o.read_hit_after_read_ns,
        o.read_hit_after_write_ns,
        o.read_miss_after_read_ns,
        o.read_miss_after_write_ns,
        o.write_hit_after_read_ns,
        o.write_hit_after_write_ns,
        o.write_miss_after_read_ns,
        o.write_miss_after_write_ns,
        o.read_completion_ns,
        o.write_completion_ns,
        o.data_preparation_ns,
        o.first_reselect_ns,
        o.other_reselect_ns,
        o.read_disconnect_after_read_ns,
        o.read_disconnect_after_write_ns,
        o.write_disconnect_ns,
        o.write_positioning_min_ns,
        extra.command_ns,
        extra.disconnect_ns,
        extra.pause_ns,
        extra.second_disconnect_ns,
        extra.seek_delay_ns,
    ]
    .into_iter()
    .all(|ns| ns <= NS_MAX)
}

fn buffer(model: &Mechanical) -> Result<(), &'static str> {
    let buffer = &model.buffer;
    need(
        (1..=4096).contains(&buffer.segments),
        "its buffer needs 1 to 4096 segments",
    )?;
    need(
        (1..=1 << 24).contains(&buffer.segment_sectors),
        "its buffer's segments need 1 to 2^24 sectors",
    )?;
    let ahead = match buffer.read_ahead {
        ReadAhead::Sectors(sectors) => sectors <= 1 << 24,
        _ => true,
    };
    need(
        ahead && buffer.read_ahead_min_sectors <= 1 << 24,
        "it reads further ahead than 2^24 sectors",
    )?;
    need(buffer.read_watermark_percent <= 100, "its watermark is above 100 %")?;
    let cache = &model.write_cache;
    need(
        !cache.enabled || cache.extents_max > 0,
        "its write cache has room for nothing",
    )?;
    need(
        cache.extents_max <= 1 << 20,
        "its write cache has more than 2^20 extents",
    )?;
    need(
        (1..=65_536).contains(&model.queue.depth),
        "its queue needs a depth of 1 to 65536",
    )
}
