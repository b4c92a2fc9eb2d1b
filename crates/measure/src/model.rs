//! The model file of a measured disk. What was not measured is marked `unverified`, with words that say so; where one
//! mark covers several keys, they say which of them were measured.

use crate::cache::{Ahead, Cache};
use crate::queue::Depth;
use crate::tracks::Zone;
use crate::{Error, Measured, Platters};
use disksim::catalogue::Model;
use disksim::comparison;
use std::fmt::Write;

const MEASURED: &str = "measured";
const ASSUMED: &str = "unverified";
/// Used where reads did not show it: SATA 3 Gb/s.
const INTERFACE_MB_S: f64 = 300.0;
const READ_AHEAD_SECTORS: u32 = 2048;
/// A segment holds its read-ahead and a request.
const SEGMENT_ROOM: u32 = 256;
const SEGMENT_SECTORS_MIN: u32 = 256;

/// What the model file says of the disk that reads do not show.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Of the model.
    pub name: &'a str,
    pub title: &'a str,
    /// Whether the drive's write cache is on, as the kernel has it from the drive.
    pub write_back: Option<bool>,
}

/// A way of serving a queue, of which the one that agrees best with the measured depths is chosen.
#[derive(Clone, Copy)]
struct Queue {
    policy: &'static str,
    unsorted_newest: u32,
    margin_ms: f64,
}

/// Writes the model of a disk with platters: its queue is the one that comes closest to the measured depths.
///
/// # Errors
/// If it has no platters, or the figures contradict each other.
pub fn write(known: &Known<'_>, measured: &Measured) -> Result<String, Error> {
    let Some(platters) = &measured.platters else {
        return Err(Error::NoRotation);
    };
    let mut best: Option<(f64, String)> = None;
    for queue in queues() {
        let text = text(known, measured, platters, queue);
        let model = Model::parse(known.name, &text).map_err(|error| Error::Model(error.to_string()))?;
        let compared = comparison::compare(&model).map_err(|wrong| Error::Model(wrong.message))?;
        let off: f64 = compared.iter().map(|figure| figure.deviation_percent().powi(2)).sum();
        if best.as_ref().is_none_or(|(least, _)| off < *least) {
            best = Some((off, text));
        }
    }
    best.map(|(_, text)| text)
        .ok_or_else(|| Error::Model("no queue fits".to_owned()))
}

fn queues() -> Vec<Queue> {
    let plain = |policy| Queue {
        policy,
        unsorted_newest: 0,
        margin_ms: 0.0,
    };
    let mut queues = vec![plain("fcfs"), plain("sstf"), plain("elevator")];
    for unsorted_newest in [0, 2, 3, 4, 5, 6, 7] {
        queues.extend([0.0, 0.4, 0.75, 1.1, 1.5].map(|margin_ms| Queue {
            policy: "sptf",
            unsorted_newest,
            margin_ms,
        }));
    }
    queues
}

fn text(known: &Known<'_>, measured: &Measured, platters: &Platters, queue: Queue) -> String {
    let mut text = String::from("# Made by `raidlab disk measure`.\n");
    let _ = writeln!(text, "name = {:?}\ntitle = {:?}", known.name, known.title);
    figure(
        &mut text,
        "sectors",
        &measured.sectors.to_string(),
        MEASURED,
        "the disk's capacity",
    );
    text.push_str("\n[disk]\n");
    mechanics(&mut text, platters);
    buffer(&mut text, &measured.cache);
    write_cache(&mut text, known.write_back);
    let Queue {
        policy,
        unsorted_newest,
        margin_ms,
    } = queue;
    let is = format!(
        "{{ depth = 32, policy = {policy:?}, age_max_ms = 2000.0, unsorted_newest = {unsorted_newest}, \
         rotation_margin_ms = {margin_ms:?}, flush_alone = true, seek_early = true }}"
    );
    let how = "policy, unsorted_newest and rotation_margin_ms: those that come closest to random reads at six depths; the \
               rest assumed";
    figure(&mut text, "queue", &is, ASSUMED, how);
    measured.depths.iter().for_each(|depth| check(&mut text, depth));
    text
}

/// A line `key = { is = …, sure = …, source = … }`.
fn figure(text: &mut String, key: &str, is: &str, sure: &str, how: &str) {
    let _ = writeln!(text, "{key} = {{ is = {is}, sure = {sure:?}, source = {how:?} }}");
}

fn mechanics(text: &mut String, platters: &Platters) {
    let rpm = format!("{:.4}", platters.rpm());
    figure(
        text,
        "rpm",
        &rpm,
        MEASURED,
        "reads of one sector end whole revolutions apart",
    );
    figure(
        text,
        "heads",
        "1",
        ASSUMED,
        "not measured: each track counts as a cylinder, in the order of sectors",
    );
    let zones = &platters.tracks.zones;
    let mean_ms = zones.iter().map(|zone| zone.skew_ms).sum::<f64>() / zones.len().max(1) as f64;
    let how = "mean time that a stream loses between two tracks; head and cylinder switches are not distinguished";
    figure(text, "head_switch_ms", &format!("{mean_ms:.4}"), MEASURED, how);
    figure(
        text,
        "write_settle_ms",
        "0.0",
        ASSUMED,
        "not measured: the disk was only read",
    );
    let points: Vec<String> = platters
        .seeks
        .iter()
        .map(|seek| format!("[{}, {:.4}]", seek.tracks, seek.ms))
        .collect();
    let is = format!("{{ form = \"points\", points = [{}] }}", points.join(", "));
    let how =
        "the fastest of many pairs of reads so many tracks apart, less a hit; what else a miss takes is included";
    figure(text, "seek", &is, MEASURED, how);
    let zones: Vec<String> = zones
        .iter()
        .map(|zone| zone_keys(zone, platters.revolution_ms))
        .collect();
    let is = format!(
        "{{ mapping = \"cylinders\", sparing = \"none\", zones = [{}] }}",
        zones.join(", ")
    );
    let how = "sectors of a track: how far apart two reads of it end; skews: what a stream takes longer than its tracks; \
               boundaries by bisection";
    figure(text, "layout", &is, MEASURED, how);
}

fn zone_keys(zone: &Zone, revolution_ms: f64) -> String {
    // In sectors, as the format has it.
    let skew = zone.skew_ms / revolution_ms * f64::from(zone.track_sectors);
    format!(
        "{{ cylinders = [{}, {}], track_sectors = {}, track_skew = 0.0, cylinder_skew = {skew:.4} }}",
        zone.first_track,
        zone.first_track + zone.tracks - 1,
        zone.track_sectors
    )
}

fn buffer(text: &mut String, cache: &Cache) {
    let (rate, how) = match cache.interface_mb_s {
        Some(rate) => (
            rate,
            "read_mb_s: measured by hits of two sizes; write_mb_s: not measured, assumed the same",
        ),
        None => (INTERFACE_MB_S, "not measured: reads never came from the buffer"),
    };
    let is = format!("{{ read_mb_s = {rate:.3}, write_mb_s = {rate:.3} }}");
    figure(text, "interface", &is, ASSUMED, how);
    let ms = cache.command_ms();
    let keys = ["read_hit_after_read_ms", "read_hit_after_write_ms"];
    let misses = ["read_miss_after_read_ms", "read_miss_after_write_ms"];
    let writes = ["write_hit_after_read_ms", "write_hit_after_write_ms"];
    let more = ["write_miss_after_read_ms", "write_miss_after_write_ms"];
    let all = keys.iter().chain(&misses).chain(&writes).chain(&more);
    let all: Vec<String> = all.map(|key| format!("{key} = {ms:.4}")).collect();
    let how = match cache.hit_ms {
        Some(_) => {
            "read_hit_after_read_ms: measured; others assumed the same, what a read miss takes longer is in `seek`"
        }
        None => "not measured: reads never came from the buffer; what a read takes is in `seek`",
    };
    figure(text, "overheads", &format!("{{ {} }}", all.join(", ")), ASSUMED, how);
    figure(
        text,
        "buffer",
        &format!("{{ {} }}", buffer_keys(cache)),
        ASSUMED,
        &buffer_source(cache),
    );
}

fn buffer_keys(cache: &Cache) -> String {
    let ahead = match cache.ahead {
        Ahead::Never => 0,
        // Longer than was tried: to the end of what a segment holds.
        _ => cache.read_ahead_sectors.unwrap_or(READ_AHEAD_SECTORS),
    };
    let kind = if ahead > 0 {
        format!("read_ahead = \"sectors\", read_ahead_sectors = {ahead}")
    } else {
        "read_ahead = \"none\"".to_owned()
    };
    format!(
        "segments = {}, segment_sectors = {}, {kind}, caching = true, adaptive_read_ahead = {}, drops_delivered = {}, \
         read_free_sectors = {}, read_ahead_on_hit = true, almost_hits = true, \
         hits_while_busy = true, partial_hit_at_once = true, stop_in_sector = true",
        cache.segments.unwrap_or(1),
        (ahead + SEGMENT_ROOM).max(SEGMENT_SECTORS_MIN),
        cache.ahead == Ahead::Sequential,
        !cache.keeps_delivered,
        cache.keeps_before,
    )
}

/// Which of the buffer's keys were measured.
fn buffer_source(cache: &Cache) -> String {
    let mut keys = vec!["adaptive_read_ahead", "drops_delivered", "read_free_sectors"];
    if cache.ahead == Ahead::Never {
        keys.push("read_ahead");
    } else if cache.read_ahead_sectors.is_some() {
        keys.push("read_ahead_sectors");
    }
    if cache.segments.is_some() {
        keys.push("segments");
    }
    format!("measured by hits and misses: {}; the rest assumed", keys.join(", "))
}

/// Sizes are those of a disk of the time around 2008.
fn write_cache(text: &mut String, write_back: Option<bool>) {
    let is = format!(
        "{{ enabled = {}, extents_max = 64, sectors_max = 16384, accept_while_busy = true, combine = true, \
         destage_in_platter_order = true, destage_after_idle_ms = 0.0, destage_sectors_max = 1024 }}",
        write_back.unwrap_or(false)
    );
    let how = match write_back {
        Some(_) => "enabled: what the drive reports; the rest assumed, as the disk was only read",
        None => "not measured: the disk was only read",
    };
    figure(text, "write_cache", &is, ASSUMED, how);
}

fn check(text: &mut String, depth: &Depth) {
    let _ = writeln!(
        text,
        "\n[[check]]\nwhat = \"random-read-iops\"\ndepth = {}\nis = {:.3}\nfitted = true\nsure = {MEASURED:?}\nsource = \
         \"4 KiB reads over the whole disk\"",
        depth.depth, depth.per_s
    );
}
