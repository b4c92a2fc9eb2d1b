//! Rejects figures of a model file that contradict each other, or that no drive can have. Single figures are checked
//! where they are converted ([`build`](super::build)); what the models rely on is checked in
//! [`check`](crate::check).

use super::format::{
    BufferKeys, CheckKeys, Disk, Figure, FlashKeys, LayoutKeys, ModelFile, QueueKeys, SeekKeys, WriteCacheKeys,
    Wrong, ZoneKeys,
};
use crate::description::Device;
use crate::geometry::Geometry;
use std::format;
use std::string::String;

/// The largest request that the comparison sends, 1 MiB; no disk is smaller.
const MIB_SECTORS: u64 = 2048;
const NAME_CHARS_MAX: usize = 64;
const TITLE_CHARS_MAX: usize = 200;
/// They separate the parts of labels, filters and paths.
const SEPARATORS: &str = "|,=<>~/`\"";
/// A seek may be measured as shorter than one over fewer cylinders, but not as less than this fraction of it.
pub(crate) const SHORTER_SEEK_MIN: f64 = 0.5;
const WRITES_MAX: u32 = 100_000;

/// Checks that need no description of the disk.
pub(super) fn file(file: &ModelFile, text: &str) -> Result<(), Wrong> {
    words(file).map_err(|(key, message)| Wrong {
        offset: offset_of(text, key),
        message,
    })?;
    let sectors = file.sectors.get();
    if sectors < MIB_SECTORS {
        let message = format!("{sectors} sectors: a disk has at least {MIB_SECTORS} (1 MiB)");
        return Err(Wrong::at(&file.sectors, message));
    }
    if let Some(keys) = &file.disk {
        disk(keys, sectors)?;
    }
    if let Some(keys) = &file.flash {
        flash(keys, sectors)?;
    }
    file.check.iter().try_for_each(|keys| check(keys, sectors))
}

/// The invalid key and the reason.
fn words(file: &ModelFile) -> Result<(), (&'static str, String)> {
    let is_named = |name: &str| {
        let file_name = [".toml", ".diskspecs"].iter().any(|end| name.ends_with(end));
        let sound = |c: char| !c.is_control() && !SEPARATORS.contains(c);
        !name.is_empty()
            && name.trim() == name
            && name.chars().count() <= NAME_CHARS_MAX
            && name.chars().all(sound)
            && !file_name
            && name != "default"
    };
    let rule = format!(
        "a name has 1 to {NAME_CHARS_MAX} characters, none of them {}; it does not end in .toml and is not `default`",
        SEPARATORS
            .chars()
            .map(String::from)
            .collect::<std::vec::Vec<_>>()
            .join(" ")
    );
    if !is_named(&file.name) {
        return Err(("name", format!("`{}` cannot name a model: {rule}", file.name)));
    }
    if let Some(alias) = file.aliases.iter().find(|alias| !is_named(alias)) {
        return Err(("aliases", format!("`{alias}` cannot name a model: {rule}")));
    }
    let title = &file.title;
    if title.trim().is_empty() || title.chars().count() > TITLE_CHARS_MAX || title.chars().any(char::is_control) {
        return Err((
            "title",
            format!("a title is one line of 1 to {TITLE_CHARS_MAX} characters"),
        ));
    }
    Ok(())
}

/// Offset of a key's value at the top of the file.
fn offset_of(text: &str, key: &str) -> usize {
    let (table, _) = toml::de::DeTable::parse_recoverable(text);
    table.get_ref().get(key).map_or(0, |value| value.span().start)
}

fn disk(disk: &Disk, sectors: u64) -> Result<(), Wrong> {
    let only = "a disk has one of `layout`, `sustained_mb_s` and `track_mb_s`";
    if let (Some(rates), true) = (&disk.sustained_mb_s, disk.layout.is_some()) {
        return Err(Wrong::at(rates, only));
    }
    if let (Some(rates), true) = (&disk.track_mb_s, disk.layout.is_some() || disk.sustained_mb_s.is_some()) {
        return Err(Wrong::at(rates, only));
    }
    if let Some(keys) = &disk.layout {
        layout(keys)?;
    }
    seek(&disk.seek)?;
    buffer(&disk.buffer, sectors)?;
    write_cache(&disk.write_cache, disk.buffer.is.get_ref(), sectors)?;
    queue(&disk.queue, 60_000.0 / disk.rpm.get())
}

fn layout(figure: &Figure<LayoutKeys>) -> Result<(), Wrong> {
    let zones = &figure.is.get_ref().zones;
    if zones.is_empty() {
        return Err(Wrong::at(figure, "a layout without zones"));
    }
    let name = |zone: &ZoneKeys| format!("the zone of cylinders {} to {}", zone.cylinders.0, zone.cylinders.1);
    for zone in zones {
        let turns = [zone.offset, zone.track_skew, zone.cylinder_skew];
        if !turns.iter().all(|sectors| sectors.is_finite() && *sectors >= 0.0) {
            let message = format!("{}: offset and skews are sectors, 0 or more", name(zone));
            return Err(Wrong::at(figure, message));
        }
    }
    for pair in zones.windows(2) {
        let (outer, inner) = (&pair[0], &pair[1]);
        if outer.cylinders.1 >= inner.cylinders.0 {
            let message = format!("{} overlaps {}, or precedes it", name(inner), name(outer));
            return Err(Wrong::at(figure, message));
        }
        if inner.track_sectors > outer.track_sectors {
            let message = format!(
                "{} has more sectors a track ({}) than the zone outside it ({}): cylinder 0 is the outermost",
                name(inner),
                inner.track_sectors,
                outer.track_sectors
            );
            return Err(Wrong::at(figure, message));
        }
    }
    Ok(())
}

fn seek(figure: &Figure<SeekKeys>) -> Result<(), Wrong> {
    match figure.is.get_ref() {
        SeekKeys::Curve {
            track_ms,
            average_ms,
            full_ms,
        }
        | SeekKeys::Lines {
            track_ms,
            average_ms,
            full_ms,
        } => {
            if !(track_ms <= average_ms && average_ms <= full_ms) {
                let message =
                    format!("seeks of {track_ms}, {average_ms} and {full_ms} ms: track_ms ≤ average_ms ≤ full_ms");
                return Err(Wrong::at(figure, message));
            }
        }
        SeekKeys::Hp { root_ms, linear_ms, .. } => {
            if !(*root_ms >= 0.0 && *linear_ms >= 0.0) {
                let message = format!("root_ms {root_ms}, linear_ms {linear_ms}: longer seeks take longer");
                return Err(Wrong::at(figure, message));
            }
        }
        SeekKeys::Points { points } => {
            let mut longest = (0, 0.0);
            for &(cylinders, ms) in points {
                if ms < longest.1 * SHORTER_SEEK_MIN {
                    let message = format!(
                        "a seek over {cylinders} cylinders takes {ms} ms, but one over {} takes {} ms",
                        longest.0, longest.1
                    );
                    return Err(Wrong::at(figure, message));
                }
                if ms > longest.1 {
                    longest = (cylinders, ms);
                }
            }
        }
        SeekKeys::Constant { .. } => {}
    }
    Ok(())
}

fn buffer_sectors(keys: &BufferKeys) -> u64 {
    u64::from(keys.segments) * u64::from(keys.segment_sectors)
}

fn buffer(figure: &Figure<BufferKeys>, sectors: u64) -> Result<(), Wrong> {
    let keys = figure.is.get_ref();
    let (segment, ahead) = (keys.segment_sectors, keys.read_ahead_sectors);
    let by_sectors = keys.read_ahead == "sectors";
    let message = if buffer_sectors(keys) > sectors {
        format!(
            "{} segments of {segment} sectors: a buffer larger than the disk ({sectors} sectors)",
            keys.segments
        )
    } else if by_sectors && ahead == 0 {
        "read_ahead = \"sectors\" needs `read_ahead_sectors`".into()
    } else if !by_sectors && ahead > 0 {
        format!("read_ahead_sectors = {ahead} is only for read_ahead = \"sectors\"")
    } else if ahead.max(keys.read_ahead_min_sectors) > segment {
        format!(
            "it reads {} sectors ahead into segments of {segment}",
            ahead.max(keys.read_ahead_min_sectors)
        )
    } else {
        return Ok(());
    };
    Err(Wrong::at(figure, message))
}

fn write_cache(figure: &Figure<WriteCacheKeys>, buffer: &BufferKeys, sectors: u64) -> Result<(), Wrong> {
    let keys = figure.is.get_ref();
    let message = if keys.enabled && [keys.extents_max, keys.sectors_max, keys.destage_sectors_max].contains(&0) {
        "a write cache that is enabled needs `extents_max`, `sectors_max` and `destage_sectors_max` above 0".into()
    } else if keys.in_segments && u64::from(keys.sectors_max) > buffer_sectors(buffer) {
        format!(
            "a write cache of {} sectors in {} segments of {} sectors",
            keys.sectors_max, buffer.segments, buffer.segment_sectors
        )
    } else if keys.in_segments && keys.extents_max > buffer.segments {
        format!("{} extents in {} segments", keys.extents_max, buffer.segments)
    } else if u64::from(keys.sectors_max) > sectors {
        format!(
            "a write cache of {} sectors, larger than the disk ({sectors})",
            keys.sectors_max
        )
    } else {
        return Ok(());
    };
    Err(Wrong::at(figure, message))
}

fn queue(figure: &Figure<QueueKeys>, revolution_ms: f64) -> Result<(), Wrong> {
    let keys = figure.is.get_ref();
    let message = if keys.unsorted_newest > 0 && keys.unsorted_newest >= keys.depth {
        format!(
            "unsorted_newest = {} in a queue of depth {}: no request is ever chosen",
            keys.unsorted_newest, keys.depth
        )
    } else if keys.rotation_margin_ms >= revolution_ms {
        format!(
            "rotation_margin_ms = {}: a revolution takes {revolution_ms:.2} ms",
            keys.rotation_margin_ms
        )
    } else {
        return Ok(());
    };
    Err(Wrong::at(figure, message))
}

fn flash(keys: &FlashKeys, sectors: u64) -> Result<(), Wrong> {
    let spare = keys.spare_percent.get();
    if !(0.1..=1000.0).contains(&spare) {
        let message = format!("{spare} % of spare flash: between 0.1 and 1000");
        return Err(Wrong::at(&keys.spare_percent, message));
    }
    let buffer = keys.buffer_sectors.get();
    if u64::from(buffer) > sectors {
        let message = format!("a buffer of {buffer} sectors, larger than the drive ({sectors})");
        return Err(Wrong::at(&keys.buffer_sectors, message));
    }
    let (Some(slc), chips) = (&keys.slc, keys.chips.is.get_ref()) else {
        return Ok(());
    };
    let program_us = slc.is.get_ref().program_us;
    if program_us > chips.program_us {
        let message = format!(
            "the SLC cache is written more slowly ({program_us} µs) than the cells behind it ({} µs)",
            chips.program_us
        );
        return Err(Wrong::at(slc, message));
    }
    Ok(())
}

fn check(keys: &CheckKeys, sectors: u64) -> Result<(), Wrong> {
    let wrong = |message: String| {
        Err(Wrong {
            offset: keys.is.span().start,
            message: format!("a figure to check: {message}"),
        })
    };
    let is = *keys.is.get_ref();
    if !(is > 0.0 && is.is_finite()) {
        return wrong(format!("{is} is not a number above 0"));
    }
    if let Some(place) = keys.place.filter(|place| !(0.0..=1.0).contains(place)) {
        return wrong(format!("place = {place}: from 0, the first sector, to 1, the last"));
    }
    if let Some(depth) = keys.depth.filter(|depth| !(1..=65_536).contains(depth)) {
        return wrong(format!("depth = {depth}: from 1 to 65536"));
    }
    if let Some(size) = keys
        .sectors
        .filter(|size| !(1..=MIB_SECTORS).contains(&u64::from(*size)))
    {
        return wrong(format!("requests of {size} sectors: from 1 to {MIB_SECTORS}"));
    }
    if let Some(writes) = keys.writes.filter(|writes| !(1..=WRITES_MAX).contains(writes)) {
        return wrong(format!("writes = {writes}: from 1 to {WRITES_MAX}"));
    }
    let disk_gb = sectors as f64 * 512.0 / 1e9;
    if let Some(gb) = keys.after_gb.filter(|gb| !(0.0..=2.0 * disk_gb).contains(gb)) {
        return wrong(format!(
            "after_gb = {gb}: from 0 to twice the disk ({:.1} GB)",
            2.0 * disk_gb
        ));
    }
    Ok(())
}

/// Checks a device that [`check`](crate::check) accepted.
pub(super) fn device(file: &ModelFile, device: &Device) -> Result<(), Wrong> {
    let Device::Mechanical(model) = device else {
        return Ok(());
    };
    let Some(disk) = &file.disk else { return Ok(()) };
    let sectors = file.sectors.get();
    let capacity = Geometry::new(&model.layout, model.heads, model.revolution_ns).capacity();
    if disk.layout.is_some() && capacity / 2 > sectors {
        let message = format!("{sectors} sectors: the layout holds {capacity}, more than twice as many");
        return Err(Wrong::at(&file.sectors, message));
    }
    let cylinders = model.layout.zones.last().map_or(1, |zone| zone.last_cylinder + 1);
    let longest = model.seek.last().map_or(0, |point| point.cylinders);
    if matches!(disk.seek.is.get_ref(), SeekKeys::Points { .. }) && longest >= cylinders {
        let message = format!("a seek over {longest} cylinders, but the disk has {cylinders}");
        return Err(Wrong::at(&disk.seek, message));
    }
    Ok(())
}

/// Position of the figure that a reason of [`check`](crate::check) is about: the first one whose word it contains.
pub(super) fn place_of(reason: &str, file: &ModelFile) -> usize {
    let mut places = std::vec::Vec::new();
    if let Some(disk) = &file.disk {
        places.extend([
            ("write cache", disk.write_cache.offset()),
            ("buffer", disk.buffer.offset()),
            ("watermark", disk.buffer.offset()),
            ("reads further", disk.buffer.offset()),
            ("queue", disk.queue.offset()),
            ("shingled", disk.shingled.as_ref().map_or(0, Figure::offset)),
            ("zone", disk.layout.as_ref().map_or(0, Figure::offset)),
            ("seek", disk.seek.offset()),
            ("overhead", disk.overheads.offset()),
            ("interface", disk.interface.offset()),
            ("platters", disk.rpm.offset()),
            ("heads", disk.heads.offset()),
        ]);
    }
    if let Some(flash) = &file.flash {
        places.extend([
            ("spare", flash.spare_percent.offset()),
            ("SLC", flash.slc.as_ref().map_or(0, Figure::offset)),
            ("buffer", flash.buffer_sectors.offset()),
            ("queue", flash.queue.offset()),
            ("wire", flash.interface.offset()),
            ("channels", flash.chips.offset()),
            ("blocks", flash.chips.offset()),
            ("unit", flash.chips.offset()),
            ("times", flash.chips.offset()),
        ]);
    }
    let place = places.iter().find(|(word, _)| reason.contains(word));
    place.map_or_else(|| file.sectors.offset(), |(_, offset)| *offset)
}

#[cfg(test)]
mod tests;
