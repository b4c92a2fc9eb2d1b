//! Converts a model file to the integers that the models use.

pub use super::format::Wrong;
use super::format::{
    BufferKeys, Disk, Figure, FlashKeys, InterfaceKeys, ModelFile, OverheadKeys, QueueKeys, SeekKeys, ShingledKeys,
    WriteCacheKeys,
};
use super::layout;
use crate::description::{
    Buffer, Destage, Device, ExtraWriteDisconnect, Interface, Mechanical, Overheads, Policy, Queue, ReadAhead,
    SeekEarly, SeekPoint, WriteCache,
};
use crate::flash::{Flash, OldData, Slc};
use crate::shingled::Shingled;
use std::boxed::Box;
use std::format;
use std::vec::Vec;

/// The device described by a file, and its capacity.
pub fn device(file: &ModelFile) -> Result<(u64, Device), Wrong> {
    match (&file.disk, &file.flash) {
        (Some(disk), None) => Ok((
            file.sectors.get(),
            Device::Mechanical(Box::new(mechanical(file, disk)?)),
        )),
        (None, Some(keys)) => Ok((file.sectors.get(), Device::Flash(Box::new(flash(keys)?)))),
        _ => Err(Wrong::at(&file.sectors, "a model has either [disk] or [flash]")),
    }
}

/// The bus of the rig on which traces of the disk were taken, if given.
pub fn rig(file: &ModelFile) -> Result<Option<Interface>, Wrong> {
    let rig = file.disk.as_ref().and_then(|disk| disk.rig.as_ref());
    rig.map(interface).transpose()
}

fn mechanical(file: &ModelFile, disk: &Disk) -> Result<Mechanical, Wrong> {
    let rpm = disk.rpm.get();
    if !(60.0..=100_000.0).contains(&rpm) {
        return Err(Wrong::at(&disk.rpm, format!("{rpm} rpm: between 60 and 100000")));
    }
    let revolution_ns = (60e9 / rpm).round() as u64;
    let heads = disk.heads.get();
    if !(1..=256).contains(&heads) {
        return Err(Wrong::at(&disk.heads, format!("{heads} heads: between 1 and 256")));
    }
    let head_switch_ns = ns(&disk.head_switch_ms)?;
    let write_settle_ns = signed_ns(&disk.write_settle_ms)?;
    let track_seek_ns = ms_to_ns(&disk.seek, first_seek_ms(disk.seek.is.get_ref()))?;
    let edges = disk.sustained_mb_s.as_ref().or(disk.track_mb_s.as_ref());
    let layout = match (&disk.layout, edges) {
        (Some(keys), _) => layout::known(keys)?,
        (None, Some(rates)) => {
            let switches = layout::Switches {
                head_switch_ns,
                track_seek_ns,
                write_settle_ns: write_settle_ns.max(0).unsigned_abs(),
            };
            let made = layout::Made {
                sectors: file.sectors.get(),
                heads,
                revolution_ns,
                switches,
            };
            made.layout(rates, disk.sustained_mb_s.is_some())?
        }
        (None, None) => {
            return Err(Wrong::at(
                &disk.heads,
                "a disk needs `layout`, `sustained_mb_s` or `track_mb_s`",
            ));
        }
    };
    let cylinders = layout.zones.last().map_or(1, |z| z.last_cylinder + 1);
    Ok(Mechanical {
        revolution_ns,
        heads,
        layout,
        physical_sectors: physical_sectors(disk)?,
        seek: seek(&disk.seek, cylinders)?,
        head_switch_ns,
        write_settle_ns,
        overheads: overheads(&disk.overheads)?,
        buffer: buffer(&disk.buffer)?,
        write_cache: write_cache(&disk.write_cache)?,
        queue: queue(&disk.queue)?,
        interface: interface(&disk.interface)?,
        shingled: disk.shingled.as_ref().map(shingled).transpose()?,
    })
}

fn physical_sectors(disk: &Disk) -> Result<u32, Wrong> {
    let Some(figure) = &disk.physical_sectors else {
        return Ok(1);
    };
    let sectors = figure.get();
    if sectors.is_power_of_two() && sectors <= 64 {
        Ok(sectors)
    } else {
        let message = format!("physical sectors of {sectors} sectors of 512 bytes: 1 to 64 and a power of two");
        Err(Wrong::at(figure, message))
    }
}

fn shingled(figure: &Figure<ShingledKeys>) -> Result<Shingled, Wrong> {
    let k = figure.is.get_ref();
    let sound = [k.zone_gb, k.band_mb, k.direct_kib]
        .into_iter()
        .all(|size| (0.001..=1e5).contains(&size));
    if !sound {
        return Err(Wrong::at(
            figure,
            "a shingled disk needs sizes between 0.001 and 100000",
        ));
    }
    Ok(Shingled {
        zone_sectors: (k.zone_gb * 1e9 / 512.0) as u64,
        // Whole MiB, so that aligned requests start at bands.
        band_sectors: (((k.band_mb * 1e6 / 512.0 / 2048.0).round() as u64) * 2048).max(2048),
        direct_sectors: (k.direct_kib * 2.0) as u32,
        idle_ns: ms_to_ns(figure, k.idle_ms)?,
        used_sectors: 0,
    })
}

fn ns(figure: &Figure<f64>) -> Result<u64, Wrong> {
    ms_to_ns(figure, figure.get())
}

fn signed_ns(figure: &Figure<f64>) -> Result<i64, Wrong> {
    let ms = figure.get();
    if (-60_000.0..=60_000.0).contains(&ms) {
        Ok((ms * 1e6).round() as i64)
    } else {
        Err(Wrong::at(figure, format!("{ms} ms: between -60000 and 60000")))
    }
}

fn ms_to_ns<T>(figure: &Figure<T>, ms: f64) -> Result<u64, Wrong> {
    if (0.0..=60_000.0).contains(&ms) {
        Ok((ms * 1e6).round() as u64)
    } else {
        Err(Wrong::at(figure, format!("{ms} ms: between 0 and 60000")))
    }
}

fn sector_ps<T>(figure: &Figure<T>, mb_s: f64) -> Result<u64, Wrong> {
    if (0.01..=1e6).contains(&mb_s) {
        Ok((512e6 / mb_s).round() as u64)
    } else {
        Err(Wrong::at(figure, format!("{mb_s} MB/s: between 0.01 and 1000000")))
    }
}

fn interface(figure: &Figure<InterfaceKeys>) -> Result<Interface, Wrong> {
    let keys = figure.is.get_ref();
    let (read_sector_ps, write_sector_ps) =
        (sector_ps(figure, keys.read_mb_s)?, sector_ps(figure, keys.write_mb_s)?);
    Ok(Interface {
        read_sector_ps,
        write_sector_ps,
    })
}

fn slc(keys: &FlashKeys, unit_sectors: u32) -> Result<Option<Slc>, Wrong> {
    let Some(figure) = &keys.slc else { return Ok(None) };
    let k = figure.is.get_ref();
    let unit_bytes = 512.0 * f64::from(unit_sectors.max(1));
    let sound = |value: f64| (0.0..=1e6).contains(&value);
    if ![k.empty_gb, k.full_gb, k.program_us, k.refill_mb_s]
        .into_iter()
        .all(sound)
        || k.refill_mb_s < 0.01
    {
        return Err(Wrong::at(
            figure,
            "an SLC cache needs sizes from 0 to 1000000 GB and a refill above 0.01 MB/s",
        ));
    }
    Ok(Some(Slc {
        empty_units: (k.empty_gb * 1e9 / unit_bytes) as u64,
        full_units: (k.full_gb * 1e9 / unit_bytes) as u64,
        program_ns: (k.program_us * 1e3).round() as u64,
        refill_unit_ns: (unit_bytes / k.refill_mb_s * 1e3).round().max(1.0) as u64,
    }))
}

fn flash(keys: &FlashKeys) -> Result<Flash, Wrong> {
    let chips = keys.chips.is.get_ref();
    let us = |us: f64| {
        if (0.0..=1e7).contains(&us) {
            Ok((us * 1e3).round() as u64)
        } else {
            Err(Wrong::at(&keys.chips, format!("{us} µs: between 0 and 10000000")))
        }
    };
    let overheads = keys.overheads.is.get_ref();
    let queue = keys.queue.is.get_ref();
    Ok(Flash {
        channels: chips.channels,
        dies_per_channel: chips.dies_per_channel,
        unit_sectors: chips.unit_sectors,
        program_units: chips.program_units,
        block_programs: chips.block_programs,
        read_ns: us(chips.read_us)?,
        program_ns: us(chips.program_us)?,
        erase_ns: us(chips.erase_us)?,
        channel_sector_ps: sector_ps(&keys.chips, chips.channel_mb_s)?,
        spare_permille: (keys.spare_percent.get() * 10.0).round().clamp(0.0, 1e6) as u32,
        old_data: match keys.aged.get() {
            true => OldData::AGED,
            false => OldData::NOTHING,
        },
        suspend_ns: chips.suspend_us.map(us).transpose()?,
        third_page_read_ns: us(chips.third_page_read_us.unwrap_or(chips.read_us))?,
        move_programs: chips.move_programs.unwrap_or(1),
        slc: slc(keys, chips.unit_sectors)?,
        buffer_sectors: keys.buffer_sectors.get(),
        power_loss_protection: keys.power_loss_protection.get(),
        read_overhead_ns: us(overheads.read_us)?,
        write_overhead_ns: us(overheads.write_us)?,
        flush_overhead_ns: us(overheads.flush_us)?,
        command_ns: us(overheads.command_us)?,
        write_command_ns: us(overheads.write_command_us.unwrap_or(overheads.command_us))?,
        interface: interface(&keys.interface)?,
        half_duplex: queue.half_duplex,
        queue_depth: queue.depth,
        flush_alone: queue.flush_alone,
    })
}

fn first_seek_ms(keys: &SeekKeys) -> f64 {
    match keys {
        SeekKeys::Curve { track_ms, .. } | SeekKeys::Lines { track_ms, .. } => *track_ms,
        SeekKeys::Hp {
            root_base_ms,
            root_ms,
            first_ms,
            ..
        } => first_ms.first().copied().unwrap_or(root_base_ms + root_ms),
        SeekKeys::Points { points } => points.first().map_or(0.0, |p| p.1),
        SeekKeys::Constant { ms } => *ms,
    }
}

/// Distances at which a formula is sampled: all short ones, then increasingly sparse. Linear interpolation between
/// them is within 0.1 % of a square root.
fn distances(cylinders: u32, corner: u32) -> Vec<u32> {
    let last = cylinders.max(2) - 1;
    let mut all = Vec::new();
    let mut distance = 1;
    while distance < last {
        all.push(distance);
        distance += (distance / 24).max(1);
    }
    all.push(last);
    all.extend(
        [corner.saturating_sub(1), corner]
            .into_iter()
            .filter(|d| (1..last).contains(d)),
    );
    all.sort_unstable();
    all.dedup();
    all
}

fn seek(figure: &Figure<SeekKeys>, cylinders: u32) -> Result<Vec<SeekPoint>, Wrong> {
    let n = f64::from(cylinders.max(1));
    let sample = |corner: u32, ms: &dyn Fn(f64) -> f64| {
        let points = distances(cylinders, corner).into_iter();
        points.map(|d| (d, ms(f64::from(d)))).collect::<Vec<_>>()
    };
    let points = match figure.is.get_ref() {
        SeekKeys::Curve {
            track_ms: min,
            average_ms: avg,
            full_ms: max,
        } => {
            let a = (-10.0 * min + 15.0 * avg - 5.0 * max) / (3.0 * n.sqrt());
            let b = (7.0 * min - 15.0 * avg + 8.0 * max) / (3.0 * n);
            if a < 0.0 || b < 0.0 {
                // DiskSim 4 does the same where a coefficient of Lee's curve would be negative.
                sample((cylinders / 3).max(1), &|d| lines(d, n, *min, *avg, *max))
            } else {
                sample(0, &|d| a * (d - 1.0).sqrt() + b * (d - 1.0) + min)
            }
        }
        SeekKeys::Lines {
            track_ms,
            average_ms,
            full_ms,
        } => sample((cylinders / 3).max(1), &|d| {
            lines(d, n, *track_ms, *average_ms, *full_ms)
        }),
        SeekKeys::Hp {
            linear_from,
            root_base_ms,
            root_ms,
            linear_base_ms,
            linear_ms,
            first_ms,
        } => sample(*linear_from, &|d| match first_ms.get(d as usize - 1) {
            Some(&ms) => ms,
            None if d < f64::from(*linear_from) => root_base_ms + root_ms * d.sqrt(),
            None => linear_base_ms + linear_ms * d,
        }),
        SeekKeys::Points { points } => points.clone(),
        SeekKeys::Constant { ms } => std::vec![(1, *ms), (2, *ms)],
    };
    if points.is_empty() || !points.windows(2).all(|p| p[0].0 < p[1].0) || points[0].0 == 0 {
        return Err(Wrong::at(figure, "seek points need rising distances from 1 on"));
    }
    let to_point = |(cylinders, ms): (u32, f64)| {
        Ok(SeekPoint {
            cylinders,
            seek_ns: ms_to_ns(figure, ms)?,
        })
    };
    points.into_iter().map(to_point).collect()
}

fn lines(d: f64, n: f64, track: f64, average: f64, full: f64) -> f64 {
    if d <= n / 3.0 {
        track + (average - track) * 3.0 * (d - 1.0) / n
    } else {
        average + (full - average) * (3.0 * d - n) / (2.0 * n)
    }
}

fn overheads(figure: &Figure<OverheadKeys>) -> Result<Overheads, Wrong> {
    let k = figure.is.get_ref();
    let ns = |ms: f64| ms_to_ns(figure, ms);
    let extra = match k.extra_write_disconnect {
        Some(e) => Some(ExtraWriteDisconnect {
            command_ns: ns(e.command_ms)?,
            disconnect_ns: ns(e.disconnect_ms)?,
            pause_ns: ns(e.pause_ms)?,
            second_disconnect_ns: ns(e.second_disconnect_ms)?,
            seek_delay_ns: ns(e.seek_delay_ms)?,
        }),
        None => None,
    };
    Ok(Overheads {
        request_ns: ns(k.request_ms)?,
        read_hit_after_read_ns: ns(k.read_hit_after_read_ms)?,
        read_hit_after_write_ns: ns(k.read_hit_after_write_ms)?,
        read_miss_after_read_ns: ns(k.read_miss_after_read_ms)?,
        read_miss_after_write_ns: ns(k.read_miss_after_write_ms)?,
        write_hit_after_read_ns: ns(k.write_hit_after_read_ms)?,
        write_hit_after_write_ns: ns(k.write_hit_after_write_ms)?,
        write_miss_after_read_ns: ns(k.write_miss_after_read_ms)?,
        write_miss_after_write_ns: ns(k.write_miss_after_write_ms)?,
        read_completion_ns: ns(k.read_completion_ms)?,
        write_completion_ns: ns(k.write_completion_ms)?,
        data_preparation_ns: ns(k.data_preparation_ms)?,
        first_reselect_ns: ns(k.first_reselect_ms)?,
        other_reselect_ns: ns(k.other_reselect_ms)?,
        read_disconnect_after_read_ns: ns(k.read_disconnect_after_read_ms)?,
        read_disconnect_after_write_ns: ns(k.read_disconnect_after_write_ms)?,
        write_disconnect_ns: ns(k.write_disconnect_ms)?,
        write_positioning_min_ns: ns(k.write_positioning_min_ms)?,
        extra_write_disconnect: extra,
    })
}

fn buffer(figure: &Figure<BufferKeys>) -> Result<Buffer, Wrong> {
    let k = figure.is.get_ref();
    let read_ahead = match k.read_ahead.as_str() {
        "none" => ReadAhead::None,
        "track" => ReadAhead::ToEndOfTrack,
        "cylinder" => ReadAhead::ToEndOfCylinder,
        "sectors" => ReadAhead::Sectors(k.read_ahead_sectors),
        "segment" => ReadAhead::FillSegment,
        "track-ahead" => ReadAhead::TrackAhead,
        other => {
            let known = "none, track, cylinder, sectors, segment or track-ahead";
            return Err(Wrong::at(figure, format!("read_ahead `{other}`: {known}")));
        }
    };
    Ok(Buffer {
        segments: k.segments,
        segment_sectors: k.segment_sectors,
        caching: k.caching,
        read_ahead,
        read_ahead_min_sectors: k.read_ahead_min_sectors,
        read_ahead_on_hit: k.read_ahead_on_hit,
        read_free_sectors: k.read_free_sectors,
        read_on_arrival: k.read_on_arrival,
        write_on_arrival: k.write_on_arrival,
        keeps_gaps: k.keeps_gaps,
        adaptive_read_ahead: k.adaptive_read_ahead,
        drops_delivered: k.drops_delivered,
        almost_hits: k.almost_hits,
        hits_while_busy: k.hits_while_busy,
        hits_on_written: k.hits_on_written,
        stop_in_sector: k.stop_in_sector,
        write_stops_read_ahead: k.write_stops_read_ahead,
        partial_hit_at_once: k.partial_hit_at_once,
        read_watermark_percent: k.read_watermark_percent,
        watermark_of_request: k.watermark_of_request,
        hold_bus_for_read: k.hold_bus_for_read,
    })
}

fn write_cache(figure: &Figure<WriteCacheKeys>) -> Result<WriteCache, Wrong> {
    let k = figure.is.get_ref();
    let destage = match k.destage_after_idle_ms {
        Some(ms) => Destage::WhenIdle {
            after_ns: ms_to_ns(figure, ms)?,
        },
        None => Destage::InTurn,
    };
    Ok(WriteCache {
        enabled: k.enabled,
        extents_max: k.extents_max,
        sectors_max: k.sectors_max,
        in_segments: k.in_segments,
        own_segment: k.own_segment,
        accept_while_busy: k.accept_while_busy,
        combine: k.combine,
        destage,
        destage_in_platter_order: k.destage_in_platter_order,
        destage_sectors_max: k.destage_sectors_max,
    })
}

fn queue(figure: &Figure<QueueKeys>) -> Result<Queue, Wrong> {
    let k = figure.is.get_ref();
    let policy = match k.policy.as_str() {
        "fcfs" => Policy::Fcfs,
        "sstf" => Policy::Sstf,
        "sptf" => Policy::Sptf,
        "elevator" => Policy::Elevator,
        other => {
            return Err(Wrong::at(
                figure,
                format!("policy `{other}`: fcfs, sstf, sptf or elevator"),
            ));
        }
    };
    Ok(Queue {
        depth: k.depth,
        policy,
        age_max_ns: ms_to_ns(figure, k.age_max_ms)?,
        unsorted_newest: k.unsorted_newest,
        rotation_margin_ns: ms_to_ns(figure, k.rotation_margin_ms)?,
        flush_alone: k.flush_alone,
        seek_early: if k.seek_early {
            SeekEarly::AfterMedia
        } else {
            SeekEarly::No
        },
    })
}
