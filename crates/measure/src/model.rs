//! The model file of a measured disk. Figures that were not measured are marked `unverified` with a reason; where
//! one mark covers several keys, it names those that were measured.

mod ssd;
mod writes;

use crate::cache::{Ahead, CacheTimes};
use crate::queue_depth::Depth;
use crate::tracks::Zone;
use crate::{DiskFigures, Error, Platters};
use disksim::catalogue::Model;
use disksim::comparison;
use std::fmt::Write;
use writes::Destage;

const MEASURED: &str = "measured";
const ASSUMED: &str = "unverified";
/// Default if reads did not show it: SATA 3 Gb/s.
const INTERFACE_MB_S: f64 = 300.0;
const READ_AHEAD_SECTORS: u32 = 2048;
/// Room in a segment besides its read-ahead, for a request.
const SEGMENT_ROOM: u32 = 256;
const SEGMENT_SECTORS_MIN: u32 = 256;

/// Facts for the model file that reads do not show.
#[derive(Clone, Copy, Debug)]
pub struct KnownFacts<'a> {
    /// Name of the model.
    pub name: &'a str,
    pub title: &'a str,
    /// Whether the drive's write cache is on, as reported by the kernel.
    pub write_back: Option<bool>,
}

/// A queueing policy. The one that matches the measured depths best is chosen.
#[derive(Clone, Copy)]
struct Queue {
    policy: &'static str,
    unsorted_newest: u32,
    margin_ms: f64,
}

/// Writes the model of a disk. For platters, the queueing policy and the policy for writing out cached data are
/// those whose simulation is closest to the measurements. For an SSD, the parameters are fitted by simulating the
/// same steps.
///
/// # Errors
/// If steps are missing, or the figures contradict each other.
pub fn write(known: &KnownFacts<'_>, measured: &DiskFigures) -> Result<String, Error> {
    if let Some(found) = &measured.ssd {
        return ssd::write(known, measured, found);
    }
    let Some(platters) = &measured.platters else {
        return Err(Error::Unfinished);
    };
    let reads: String = measured.depths.iter().map(read_check).collect();
    let assumed = Destage::assumed(measured.cache.command_ms());
    let with = |queue, destage, checks: &str| text(known, measured, platters, queue, destage) + checks;
    let queue = closest(queues(), known.name, |queue| with(queue, assumed, &reads))?;
    let Some(found) = &measured.writes else {
        return Ok(with(queue, assumed, &reads));
    };
    let others = writes::other_checks(found);
    if found.go_elsewhere(&measured.cache) {
        return Ok(with(
            queue,
            assumed,
            &(reads + &writes::fitted_checks(found, false) + &others),
        ));
    }
    let fitted = writes::fitted_checks(found, true);
    let destage = closest(writes::destages(measured, found), known.name, |destage| {
        with(queue, destage, &fitted)
    })?;
    Ok(with(queue, destage, &(reads + &fitted + &others)))
}

/// The choice whose model has the smallest sum of squared deviations from the figures in its file.
fn closest<T: Copy>(choices: Vec<T>, name: &str, text: impl Fn(T) -> String) -> Result<T, Error> {
    let mut best: Option<(f64, T)> = None;
    for choice in choices {
        let model = Model::parse(name, &text(choice)).map_err(|error| Error::Model(error.to_string()))?;
        let compared = comparison::compare(&model).map_err(|wrong| Error::Model(wrong.message))?;
        let off: f64 = compared.iter().map(|figure| figure.deviation_percent().powi(2)).sum();
        if best.is_none_or(|(least, _)| off < least) {
            best = Some((off, choice));
        }
    }
    best.map(|(_, choice)| choice)
        .ok_or_else(|| Error::Model("no choice fits".to_owned()))
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

fn text(
    known: &KnownFacts<'_>,
    measured: &DiskFigures,
    platters: &Platters,
    queue: Queue,
    destage: Destage,
) -> String {
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
    writes::write_settle(&mut text, measured, destage);
    buffer(&mut text, measured, destage);
    writes::cache(&mut text, measured, known.write_back, destage);
    let Queue {
        policy,
        unsorted_newest,
        margin_ms,
    } = queue;
    let is = format!(
        "{{ depth = 32, policy = {policy:?}, age_max_ms = 2000.0, unsorted_newest = {unsorted_newest}, \
         rotation_margin_ms = {margin_ms:?}, flush_alone = true, seek_early = true }}"
    );
    let how = "policy, unsorted_newest and rotation_margin_ms: best fit to random reads at six depths; the \
               rest assumed";
    figure(&mut text, "queue", &is, ASSUMED, how);
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
    let points: Vec<String> = platters
        .seeks
        .iter()
        .map(|seek| format!("[{}, {:.4}]", seek.tracks, seek.ms))
        .collect();
    let is = format!("{{ form = \"points\", points = [{}] }}", points.join(", "));
    let how = "the fastest of many pairs of reads at this distance in tracks, less a cache hit; other overhead of a miss is \
            included";
    figure(text, "seek", &is, MEASURED, how);
    let zones: Vec<String> = zones
        .iter()
        .map(|zone| zone_keys(zone, platters.revolution_ms))
        .collect();
    let is = format!(
        "{{ mapping = \"cylinders\", sparing = \"none\", zones = [{}] }}",
        zones.join(", ")
    );
    let how = "sectors of a track: by the times at which two reads of it end; skews: time of a stream beyond that of \
        its tracks; boundaries by bisection";
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

fn buffer(text: &mut String, measured: &DiskFigures, destage: Destage) {
    let cache = &measured.cache;
    let (read, how) = match cache.interface_mb_s {
        Some(rate) => (rate, "read_mb_s: measured by hits of two sizes"),
        None => (
            INTERFACE_MB_S,
            "read_mb_s: not measured, as reads never came from the buffer",
        ),
    };
    let write = measured.writes.as_ref().and_then(|writes| writes.interface_mb_s);
    let also = match write {
        Some(_) => "write_mb_s: measured by cached writes of two sizes",
        None => "write_mb_s: not measured, assumed equal",
    };
    let is = format!("{{ read_mb_s = {read:.3}, write_mb_s = {:.3} }}", write.unwrap_or(read));
    figure(text, "interface", &is, ASSUMED, &format!("{how}; {also}"));
    overheads(text, measured, destage);
    figure(
        text,
        "buffer",
        &format!("{{ {} }}", buffer_keys(cache)),
        ASSUMED,
        &buffer_source(cache),
    );
}

fn overheads(text: &mut String, measured: &DiskFigures, destage: Destage) {
    let keys = |op: &str, ms: f64| {
        let key = |kind: &str| format!("{op}_{kind}_after_read_ms = {ms:.4}, {op}_{kind}_after_write_ms = {ms:.4}");
        format!("{}, {}", key("hit"), key("miss"))
    };
    let ms = measured.cache.command_ms();
    let is = format!("{{ {}, {} }}", keys("read", ms), keys("write", destage.command_ms));
    let read = match measured.cache.hit_ms {
        Some(_) => {
            "read_hit_after_read_ms: measured; other read overheads assumed equal, the extra time of a read miss is \
                in `seek`"
        }
        None => "reads: not measured, as they never came from the buffer; their overhead is in `seek`",
    };
    let write = match &measured.writes {
        Some(writes) if writes.is_cached => {
            "write_hit_after_write_ms: measured; other write overheads assumed equal"
        }
        _ => "writes: not measured, assumed equal to those of reads",
    };
    figure(text, "overheads", &is, ASSUMED, &format!("{read}; {write}"));
}

fn buffer_keys(cache: &CacheTimes) -> String {
    let ahead = match cache.ahead {
        Ahead::Never => 0,
        // Longer than the longest measured read-ahead: up to the end of the segment.
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

/// Says which of the buffer's keys were measured.
fn buffer_source(cache: &CacheTimes) -> String {
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

fn read_check(depth: &Depth) -> String {
    check(
        &format!("what = \"random-read-iops\"\ndepth = {}", depth.depth),
        depth.per_s,
        true,
        "4 KiB reads over the whole disk",
    )
}

/// A measured figure to compare models with; `fitted` if parameters were fitted to it.
fn check(what: &str, is: f64, fitted: bool, how: &str) -> String {
    format!("\n[[check]]\n{what}\nis = {is:.3}\nfitted = {fitted}\nsure = {MEASURED:?}\nsource = {how:?}\n")
}
