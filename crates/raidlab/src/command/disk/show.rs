//! Properties of a model, in words and numbers.

use crate::cli::Format;
use crate::error::ExpectedError;
use disksim::catalogue::Model;
use disksim::show::{Platters, Show};
use std::fmt::Write;

/// Number of zones that are listed; if there are more, at regular intervals.
const ZONES_SHOWN: usize = 12;

pub fn show(model: &Model, format: Format) -> Result<String, ExpectedError> {
    let show = disksim::show::show(model).map_err(|wrong| ExpectedError::Simulation(wrong.message))?;
    Ok(match format {
        Format::Text => text(&show),
        Format::Json => format!("{}\n", json(&show)),
    })
}

fn text(show: &Show) -> String {
    let mut text = format!(
        "{}: {}\n{}, simulated\n",
        show.name,
        show.title,
        super::capacity(show.sectors)
    );
    if let Some(platters) = &show.platters {
        mechanics(&mut text, platters);
    }
    text.push_str("\nstreaming, from the first sector to the last\n      place   read MB/s  write MB/s\n");
    for at in &show.streaming {
        let _ = writeln!(
            text,
            "{:>10.0}%  {:>10.1}  {:>10.1}",
            at.place * 100.0,
            at.read_mb_s,
            at.write_mb_s
        );
    }
    text.push_str("\nrandom 4 KiB reads over the whole disk\n      depth  latency ms     reads/s\n");
    for at in &show.random_reads {
        let _ = writeln!(
            text,
            "{:>11}  {:>10.2}  {:>10.0}",
            at.depth, at.latency_ms, at.reads_per_s
        );
    }
    text.push_str("\nscattered 4 KiB writes and a flush\n     writes   writes ms    flush ms\n");
    for at in &show.flushes {
        let _ = writeln!(text, "{:>11}  {:>10.1}  {:>10.1}", at.writes, at.writes_ms, at.flush_ms);
    }
    text.push_str("\nparameters, their certainty and their source\n");
    let width = show.figures.iter().map(|figure| figure.name.len()).max().unwrap_or(0);
    for figure in &show.figures {
        let sure = format!("{:?}", figure.sure).to_lowercase();
        let value = shortened(&figure.value, 40);
        let _ = writeln!(
            text,
            "  {:<width$}  {value:<40}  {sure:<10}  {}",
            figure.name, figure.source
        );
    }
    text
}

fn mechanics(text: &mut String, platters: &Platters) {
    let _ = writeln!(
        text,
        "{:.0} rpm, {} heads, {} cylinders, head switch {:.2} ms, write settle {:.2} ms",
        platters.rpm, platters.heads, platters.cylinders, platters.head_switch_ms, platters.write_settle_ms
    );
    let step = platters.zones.len().div_ceil(ZONES_SHOWN).max(1);
    let _ = writeln!(
        text,
        "\n{} zones\n  cylinders from      sectors/track  track MB/s",
        platters.zones.len()
    );
    for zone in platters.zones.iter().step_by(step) {
        let _ = writeln!(
            text,
            "{:>16}  {:>17}  {:>10.1}",
            zone.first_cylinder, zone.track_sectors, zone.track_mb_s
        );
    }
    text.push_str("\nseek curve\n  cylinders          ms\n");
    let step = platters.seek_ms.len().div_ceil(ZONES_SHOWN).max(1);
    let last = platters.seek_ms.last().into_iter();
    for (cylinders, ms) in platters.seek_ms.iter().step_by(step).chain(last) {
        let _ = writeln!(text, "{cylinders:>11}  {ms:>10.3}");
    }
}

fn shortened(value: &str, length: usize) -> String {
    if value.chars().count() <= length {
        return value.to_owned();
    }
    value.chars().take(length - 1).chain(['…']).collect()
}

fn json(show: &Show) -> serde_json::Value {
    let platters = show.platters.as_ref().map(|platters| {
        let zone = |zone: &disksim::show::Zone| {
            serde_json::json!({
                "first_cylinder": zone.first_cylinder, "last_cylinder": zone.last_cylinder,
                "first_sector": zone.first_sector, "track_sectors": zone.track_sectors,
                "track_mb_s": zone.track_mb_s,
            })
        };
        serde_json::json!({
            "rpm": platters.rpm, "heads": platters.heads, "cylinders": platters.cylinders,
            "head_switch_ms": platters.head_switch_ms, "write_settle_ms": platters.write_settle_ms,
            "seek_ms": platters.seek_ms,
            "zones": platters.zones.iter().map(zone).collect::<Vec<_>>(),
        })
    });
    serde_json::json!({
        "name": show.name,
        "title": show.title,
        "sectors": show.sectors,
        "simulated": true,
        "platters": platters,
        "streaming": show.streaming.iter().map(|at| serde_json::json!({
            "place": at.place, "read_mb_s": at.read_mb_s, "write_mb_s": at.write_mb_s,
        })).collect::<Vec<_>>(),
        "random_reads_4k": show.random_reads.iter().map(|at| serde_json::json!({
            "depth": at.depth, "latency_ms": at.latency_ms, "reads_per_s": at.reads_per_s,
        })).collect::<Vec<_>>(),
        "flush": show.flushes.iter().map(|at| serde_json::json!({
            "writes": at.writes, "writes_ms": at.writes_ms, "flush_ms": at.flush_ms,
        })).collect::<Vec<_>>(),
        "figures": show.figures.iter().map(|figure| serde_json::json!({
            "name": figure.name, "value": figure.value, "source": figure.source,
            "sure": format!("{:?}", figure.sure).to_lowercase(),
        })).collect::<Vec<_>>(),
    })
}
