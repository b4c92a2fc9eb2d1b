//! The drive's processor and its buffer.

use super::reader::Reader;
use crate::catalogue::format::{BufferKeys, ExtraWriteDisconnectKeys, OverheadKeys, QueueKeys, WriteCacheKeys};
use std::string::ToString;

pub(super) fn overhead_keys(specs: &mut Reader) -> OverheadKeys {
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

pub(super) fn buffer_keys(specs: &mut Reader) -> BufferKeys {
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
        keeps_gaps: false,
        adaptive_read_ahead: false,
        drops_delivered: false,
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

pub(super) fn write_cache_keys(specs: &mut Reader) -> WriteCacheKeys {
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
        destage_in_platter_order: false,
        destage_sectors_max: (segment_sectors / 4).max(64).min(segment_sectors),
    }
}

pub(super) fn queue_keys(specs: &mut Reader) -> QueueKeys {
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
    // DiskSim knows dozens; the nearest supported one is used.
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
        unsorted_newest: 0,
        rotation_margin_ms: 0.0,
        flush_alone: false,
        seek_early,
    }
}
