//! A job in fio's JSON.

use super::options;
use crate::foreign::fio::{Direction, Figures, Job, failed};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize)]
pub(super) struct JobJson {
    #[serde(default)]
    jobname: String,
    #[serde(default)]
    groupid: u64,
    #[serde(default)]
    error: i64,
    #[serde(default)]
    job_start: Option<u64>,
    #[serde(default, rename = "job options")]
    options: Value,
    #[serde(default)]
    read: Option<DirectionJson>,
    #[serde(default)]
    write: Option<DirectionJson>,
    #[serde(default)]
    trim: Option<DirectionJson>,
    #[serde(default)]
    mixed: Option<DirectionJson>,
    #[serde(default)]
    sync: Option<DirectionJson>,
}

#[derive(Deserialize)]
struct DirectionJson {
    #[serde(default)]
    io_bytes: f64,
    #[serde(default)]
    io_kbytes: Option<f64>,
    /// KiB/s.
    #[serde(default)]
    bw: f64,
    #[serde(default)]
    iops: f64,
    /// Milliseconds. fio always reports them; other programs shorten its reports.
    #[serde(default)]
    runtime: Option<f64>,
    #[serde(default)]
    total_ios: f64,
    #[serde(default)]
    lat_ns: Option<LatencyJson>,
    #[serde(default)]
    clat_ns: Option<LatencyJson>,
    #[serde(default)]
    lat: Option<LatencyJson>,
    #[serde(default)]
    clat: Option<LatencyJson>,
}

#[derive(Deserialize)]
struct LatencyJson {
    #[serde(default)]
    bins: BTreeMap<u64, u64>,
    /// fio 2 has the key `0.00` several times.
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

impl JobJson {
    pub(super) fn job(self, global: &BTreeMap<String, String>) -> Result<Job, String> {
        let name = self.jobname;
        let given = [
            (Direction::Read, self.read),
            (Direction::Write, self.write),
            (Direction::Trim, self.trim),
            (Direction::Mixed, self.mixed),
        ];
        if given.iter().all(|(_, direction)| direction.is_none()) && self.error == 0 {
            return Err(format!(
                "has a job `{name}` with none of `read`, `write`, `trim` and `mixed`"
            ));
        }
        let mut directions = BTreeMap::new();
        for (direction, given) in given {
            let Some(given) = given else { continue };
            if given.runtime.is_none() && (given.bw > 0.0 || given.iops > 0.0) {
                let direction = direction.name();
                return Err(format!(
                    "has a report of fio that was shortened: `{direction}` of its job `{name}` has no `runtime`"
                ));
            }
            directions.insert(direction, given.figures());
        }
        let mut all = global.clone();
        all.extend(options(&self.options));
        let error = failed(self.error);
        Ok(Job {
            name,
            group: self.groupid,
            process: None,
            error,
            unreadable: None,
            started_ms: self.job_start,
            options: all,
            directions,
            fsyncs: self.sync.map(DirectionJson::figures).unwrap_or_default(),
        })
    }
}

impl DirectionJson {
    fn figures(self) -> Figures {
        let runtime = self.runtime.unwrap_or(0.0);
        // fio 2 reports KiB under the same name, as the rate shows.
        let in_kib = self.io_kbytes.is_none() && {
            let rate = self.io_bytes * 1000.0 / runtime.max(1.0);
            self.bw > 0.0 && rate < self.bw * 30.0
        };
        let bytes = if in_kib { self.io_bytes * 1024.0 } else { self.io_bytes };
        let operations = if self.total_ios > 0.0 {
            self.total_ios
        } else {
            self.iops * runtime / 1000.0
        };
        let in_nanoseconds = [
            (self.lat_ns, 1.0),
            (self.clat_ns, 1.0),
            (self.lat, 1e3),
            (self.clat, 1e3),
        ];
        let mut figures = Figures {
            bytes,
            operations,
            milliseconds: runtime,
            ..Figures::default()
        };
        for (latency, scale) in in_nanoseconds {
            let Some(latency) = latency else { continue };
            if figures.bins.is_empty() && scale == 1.0 {
                figures.bins = latency.bins;
            }
            if figures.percentiles.is_empty() {
                let parsed = latency.percentile.iter().filter_map(|(percent, value)| {
                    let percent: f64 = percent.parse().ok()?;
                    Some((percent, value * scale))
                });
                figures.percentiles = parsed.filter(|(percent, _)| *percent > 0.0).collect();
            }
        }
        figures
    }
}
