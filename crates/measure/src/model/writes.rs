//! The part of a model file about writes: measured with `--destroy`, otherwise assumed.

use super::{ASSUMED, MEASURED, check, figure};
use crate::DiskFigures;
use crate::writes::Writes;

/// Default if writes did not show it: a disk of about 2008.
const EXTENTS: u32 = 64;
const SECTORS: u32 = 16_384;
/// Additional write settle times that are tried: vendors state up to 1.5 ms.
const TRIED: u32 = 12;
const STEP_MS: f64 = 0.2;

const ELSEWHERE: &str =
    "not measured: scattered writes go to a media cache first (SMR or flash), which this model lacks";

/// How the model writes out cached data; the choice that matches the measured writes best is used.
#[derive(Clone, Copy)]
pub(super) struct Destage {
    pub(super) write_settle_ms: f64,
    in_platter_order: bool,
    /// Command overhead of a write.
    pub(super) command_ms: f64,
}

impl Destage {
    /// For a disk that was only read.
    pub(super) fn assumed(command_ms: f64) -> Self {
        Destage {
            write_settle_ms: 0.0,
            in_platter_order: true,
            command_ms,
        }
    }
}

/// The choices that are tried.
pub(super) fn destages(measured: &DiskFigures, writes: &Writes) -> Vec<Destage> {
    let command_ms = if writes.is_cached {
        writes.command_ms()
    } else {
        measured.cache.command_ms()
    };
    let orders: &[bool] = if writes.is_cached { &[true, false] } else { &[true] };
    let of_order = |&in_platter_order: &bool| {
        (0..TRIED).map(move |step| Destage {
            write_settle_ms: f64::from(step) * STEP_MS,
            in_platter_order,
            command_ms,
        })
    };
    orders.iter().flat_map(of_order).collect()
}

pub(super) fn write_settle(text: &mut String, measured: &DiskFigures, destage: Destage) {
    let (sure, how) = match &measured.writes {
        Some(writes) if writes.go_elsewhere(&measured.cache) => (ASSUMED, ELSEWHERE),
        Some(_) => (MEASURED, "best fit to the times of random writes, in steps of 0.2 ms"),
        None => (ASSUMED, "not measured: the disk was only read"),
    };
    figure(
        text,
        "write_settle_ms",
        &format!("{:.1}", destage.write_settle_ms),
        sure,
        how,
    );
}

/// `reported`: whether the write cache is on, as the kernel reports it.
pub(super) fn cache(text: &mut String, measured: &DiskFigures, reported: Option<bool>, destage: Destage) {
    let writes = measured.writes.as_ref();
    let enabled = writes.map_or(reported.unwrap_or(false), |writes| writes.is_cached);
    let extents = writes.and_then(|writes| writes.extents);
    let sectors = writes.and_then(|writes| writes.sectors);
    let is = format!(
        "{{ enabled = {enabled}, extents_max = {}, sectors_max = {}, accept_while_busy = true, combine = true, \
         destage_in_platter_order = {}, destage_after_idle_ms = 0.0, destage_sectors_max = 1024 }}",
        extents.unwrap_or(EXTENTS),
        sectors.unwrap_or(SECTORS),
        destage.in_platter_order
    );
    figure(text, "write_cache", &is, ASSUMED, &source(measured, reported));
}

fn source(measured: &DiskFigures, reported: Option<bool>) -> String {
    let Some(writes) = &measured.writes else {
        return match reported {
            Some(_) => "enabled: what the drive reports; the rest assumed, as the disk was only read".to_owned(),
            None => "not measured: the disk was only read".to_owned(),
        };
    };
    let mut keys = vec!["enabled"];
    if writes.extents.is_some() {
        keys.push("extents_max");
    }
    if writes.sectors.is_some() {
        keys.push("sectors_max");
    }
    let fitted = if writes.go_elsewhere(&measured.cache) {
        "; scattered writes go to a media cache first (SMR or flash), which this model lacks"
    } else if writes.is_cached {
        "; destage_in_platter_order: best fit to random writes and flushes"
    } else {
        ""
    };
    format!("measured by writes: {}{fitted}; the rest assumed", keys.join(", "))
}

/// Figures to which the write policy was fitted, if it was.
pub(super) fn fitted_checks(writes: &Writes, fitted: bool) -> String {
    let random = writes.random.iter().map(|depth| {
        check(
            &format!("what = \"random-write-iops\"\ndepth = {}", depth.depth),
            depth.per_s,
            fitted,
            "4 KiB writes over the whole disk for a minute",
        )
    });
    let sync = check(
        "what = \"sync-write-ms\"",
        writes.sync_ms,
        fitted,
        "random 4 KiB writes, each with a flush",
    );
    let flushes = writes.flushes.iter().map(|flush| {
        check(
            &format!("what = \"flush-ms\"\nwrites = {}", flush.writes),
            flush.ms,
            fitted,
            "after scattered 4 KiB writes",
        )
    });
    random.chain([sync]).chain(flushes).collect()
}

/// Figures that the model was not fitted to.
pub(super) fn other_checks(writes: &Writes) -> String {
    let stream = |stream: &crate::writes::Stream| {
        check(
            &format!("what = \"write-mb-s\"\nplace = {:?}", stream.place),
            stream.mb_s,
            false,
            "1 MiB writes, two in flight, with a full cache",
        )
    };
    writes.streams.iter().map(stream).collect()
}
