//! The measurements of a disk, in words.

use measure::{DiskFigures, Platters, Ssd, SsdWrites};
use std::path::Path;

pub fn summary(found: &DiskFigures, file: &Path) -> String {
    let mechanics = found.platters.as_ref().map(mechanics).unwrap_or_default();
    let ssd = found.ssd.as_ref().map(words_of_ssd).unwrap_or_default();
    let writes = found
        .writes
        .as_ref()
        .map(|writes| words_of_writes(writes, &found.cache))
        .unwrap_or_default();
    let depths = found.depths.iter().map(|depth| {
        format!(
            "{:>6} reads/s at depth {}, {:.3} ms, 99 % within {:.3}\n",
            format!("{:.1}", depth.per_s),
            depth.depth,
            depth.mean_ms,
            depth.p99_ms
        )
    });
    format!(
        "{mechanics}{}{writes}{ssd}`{}` is the model: `raidlab disk show {}` shows what it does\n",
        depths.collect::<String>(),
        file.display(),
        file.display()
    )
}

fn mechanics(platters: &Platters) -> String {
    let zones = &platters.tracks.zones;
    let rate = |zone: Option<&measure::Zone>| zone.map_or(0.0, |zone| zone.mb_s);
    let seek = |seek: Option<&measure::SeekTime>| seek.map_or(0.0, |seek| seek.ms);
    format!(
        "{:.1} rpm, {} zones, {:.1} MB/s at the first sector, {:.1} at the last\nseeks of {:.2} ms to the next track, {:.2} \
         over the whole disk\n",
        platters.rpm(),
        zones.len(),
        rate(zones.first()),
        rate(zones.last()),
        seek(platters.seeks.first()),
        seek(platters.seeks.last())
    )
}

fn words_of_writes(writes: &measure::Writes, cache: &measure::CacheTimes) -> String {
    let elsewhere = if writes.go_elsewhere(cache) {
        "scattered writes go to a media cache first, as on drives with shingled tracks (SMR): the model lacks this, \
            so do not rely on its writes\n"
    } else {
        ""
    };
    let cache = match (writes.is_cached, writes.extents, writes.sectors) {
        (false, ..) => "no write cache".to_owned(),
        (true, extents, sectors) => {
            let extents = extents.map_or("any number of".to_owned(), |extents| extents.to_string());
            let mib = sectors.map_or("as much as was tried".to_owned(), |sectors| {
                format!("{:.1} MiB", f64::from(sectors) / 2048.0)
            });
            format!("a write cache of {extents} scattered writes and {mib}")
        }
    };
    let depths = writes.random.iter().map(|depth| {
        format!(
            "{:>6} writes/s at depth {}\n",
            format!("{:.1}", depth.per_s),
            depth.depth
        )
    });
    format!(
        "{cache}; a random write and a flush take {:.2} ms\n{}{elsewhere}",
        writes.sync_ms,
        depths.collect::<String>()
    )
}

fn words_of_ssd(ssd: &Ssd) -> String {
    let stream = format!("{:.0} MB/s of reads in order", ssd.transfers.stream_mb_s);
    match (&ssd.filled, &ssd.writes) {
        (Some(filled), Some(writes)) => format!(
            "{stream}\n{:.1} % of the SSD was filled at {:.0} MB/s\n{}",
            filled.part * 100.0,
            filled.mb_s(),
            words_of_ssd_writes(writes)
        ),
        _ => format!(
            "{stream}\nparts that were never written, or were trimmed, are not read from flash: if the SSD has such parts, \
             these figures are not those of a drive in use\n"
        ),
    }
}

fn words_of_ssd_writes(writes: &SsdWrites) -> String {
    let steady = if writes.steady.is_steady {
        "steady"
    } else {
        "not in steady state yet: give --precondition more time"
    };
    let depths = writes.random.iter().map(|depth| {
        format!(
            "{:>6} writes/s at depth {}, 99 % within {:.3} ms\n",
            format!("{:.1}", depth.per_s),
            depth.depth,
            depth.p99_ms
        )
    });
    let protected = if writes.is_protected() {
        "does not wait for the flash"
    } else {
        "waits for the flash"
    };
    let slc = writes.slc.map_or(String::new(), |slc| {
        format!(
            "an SLC cache of {:.1} GB: {:.0} MB/s until it is full, {:.0} afterwards\n",
            slc.gb, slc.before_mb_s, slc.after_mb_s
        )
    });
    format!(
        "after {:.0} s of random writes, {steady}:\n{}{:.0} MB/s of writes in order\n{slc}a flush {protected}; a random write \
         and a flush take {:.3} ms\n",
        writes.steady.seconds,
        depths.collect::<String>(),
        writes.stream_mb_s,
        writes.sync_ms
    )
}
