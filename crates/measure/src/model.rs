//! The model file of a measured disk. What was not measured is marked `unverified`, with words that say so.

use crate::queue::Depth;
use crate::{Error, Measured, Platters};
use disksim::catalogue::Model;
use disksim::comparison;
use std::fmt::Write;

const MEASURED: &str = r#"sure = "measured", source = "raidlab measured this disk""#;
const NOT_MEASURED: &str = r#"sure = "unverified", source = "not measured: "#;
/// Used where the drive's buffer did not show it.
const SEGMENT_SECTORS_MIN: u32 = 256;

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
pub fn write(name: &str, title: &str, measured: &Measured) -> Result<String, Error> {
    let Some(platters) = &measured.platters else {
        let why = "its reads follow no rotation, and flash is not modelled from reads alone";
        return Err(Error::Model(why.to_owned()));
    };
    let mut best: Option<(f64, String)> = None;
    for queue in queues() {
        let text = text(name, title, measured, platters, queue);
        let model = Model::parse(name, &text).map_err(|error| Error::Model(error.to_string()))?;
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
    for unsorted_newest in [0, 3, 5, 7] {
        queues.extend([0.0, 0.75, 1.5].map(|margin_ms| Queue {
            policy: "sptf",
            unsorted_newest,
            margin_ms,
        }));
    }
    queues
}

fn text(name: &str, title: &str, measured: &Measured, platters: &Platters, queue: Queue) -> String {
    let mut text = format!(
        "name = {name:?}\ntitle = {title:?}\nsectors = {{ is = {}, {MEASURED} }}\n\n[disk]\n",
        measured.sectors
    );
    mechanics(&mut text, platters);
    buffer(&mut text, measured);
    let Queue {
        policy,
        unsorted_newest,
        margin_ms,
    } = queue;
    let _ = writeln!(
        text,
        "queue = {{ is = {{ depth = 32, policy = {policy:?}, age_max_ms = 2000.0, unsorted_newest = {unsorted_newest}, \
         rotation_margin_ms = {margin_ms:?}, flush_alone = true, seek_early = true }}, sure = \"measured\", source = \
         \"the policy that comes closest to the reads that raidlab measured at six depths\" }}"
    );
    measured.depths.iter().for_each(|depth| check(&mut text, depth));
    text
}

fn mechanics(text: &mut String, platters: &Platters) {
    let _ = writeln!(text, "rpm = {{ is = {:.4}, {MEASURED} }}", platters.rpm());
    let _ = writeln!(
        text,
        "heads = {{ is = 1, {NOT_MEASURED}each track is on a cylinder of its own\" }}"
    );
    let mean_ms =
        platters.tracks.zones.iter().map(|zone| zone.skew_ms).sum::<f64>() / platters.tracks.zones.len() as f64;
    let _ = writeln!(text, "head_switch_ms = {{ is = {mean_ms:.4}, {MEASURED} }}");
    let _ = writeln!(
        text,
        "write_settle_ms = {{ is = 0.0, {NOT_MEASURED}the disk was only read\" }}"
    );
    let points: Vec<String> = platters
        .seeks
        .iter()
        .map(|seek| format!("[{}, {:.4}]", seek.tracks, seek.ms))
        .collect();
    let _ = writeln!(
        text,
        "seek = {{ is = {{ form = \"points\", points = [{}] }}, {MEASURED} }}",
        points.join(", ")
    );
    let zones: Vec<String> = platters
        .tracks
        .zones
        .iter()
        .map(|zone| {
            // In sectors, as the format has it.
            let skew = zone.skew_ms / platters.revolution_ms * f64::from(zone.track_sectors);
            format!(
                "{{ cylinders = [{}, {}], track_sectors = {}, track_skew = 0.0, cylinder_skew = {skew:.4} }}",
                zone.first_track,
                zone.first_track + zone.tracks - 1,
                zone.track_sectors
            )
        })
        .collect();
    let _ = writeln!(
        text,
        "layout = {{ is = {{ mapping = \"cylinders\", sparing = \"none\", zones = [{}] }}, {MEASURED} }}",
        zones.join(", ")
    );
}

fn buffer(text: &mut String, measured: &Measured) {
    let cache = &measured.cache;
    let _ = match cache.interface_mb_s {
        Some(rate) => writeln!(
            text,
            "interface = {{ is = {{ read_mb_s = {rate:.3}, write_mb_s = {rate:.3} }}, {MEASURED} }}"
        ),
        None => writeln!(
            text,
            "interface = {{ is = {{ read_mb_s = 300.0, write_mb_s = 300.0 }}, {NOT_MEASURED}no hits of two sizes\" }}"
        ),
    };
    let ms = cache.command_ms();
    let _ = writeln!(
        text,
        "overheads = {{ is = {{ read_hit_after_read_ms = {ms:.4}, read_hit_after_write_ms = {ms:.4}, \
         read_miss_after_read_ms = {ms:.4}, read_miss_after_write_ms = {ms:.4} }}, sure = \"measured\", source = \
         \"hits, measured by raidlab; what a miss takes longer is in the seek curve\" }}"
    );
    let ahead = cache.read_ahead_sectors.unwrap_or(0);
    let kind = if ahead > 0 {
        format!("read_ahead = \"sectors\", read_ahead_sectors = {ahead}")
    } else {
        "read_ahead = \"none\"".to_owned()
    };
    let sure = match (cache.segments, cache.read_ahead_sectors) {
        (Some(_), Some(_)) => MEASURED.to_owned(),
        _ => format!("{NOT_MEASURED}reads did not show its segments or its read-ahead\""),
    };
    let _ = writeln!(
        text,
        "buffer = {{ is = {{ segments = {}, segment_sectors = {}, {kind}, caching = true, read_ahead_on_hit = true, \
         almost_hits = true, hits_while_busy = true, partial_hit_at_once = true, stop_in_sector = true }}, {sure} }}",
        cache.segments.unwrap_or(1),
        (ahead + 256).max(SEGMENT_SECTORS_MIN)
    );
    let _ = writeln!(
        text,
        "write_cache = {{ is = {{ enabled = false, extents_max = 0, sectors_max = 0, destage_sectors_max = 0 }}, \
         {NOT_MEASURED}the disk was only read\" }}"
    );
}

fn check(text: &mut String, depth: &Depth) {
    let _ = writeln!(
        text,
        "\n[[check]]\nwhat = \"random-read-iops\"\ndepth = {}\nis = {:.3}\nfitted = true\nsure = \"measured\"\nsource = \
         \"raidlab measured this disk\"",
        depth.depth, depth.per_s
    );
}
