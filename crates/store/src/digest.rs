//! Digest of all results of a run.

use crate::record::RunId;
use crate::run::hex;
use crate::{Result, Store};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use study::event::Latency;
use study::plan::{Cell, Plan};
use study::{CellId, Measured, Measurement, TrialKey};

impl Store {
    /// SHA-256 over the samples (including device counters) and latencies of all completed trials, in an order that
    /// does not depend on how trials were run. Two runs of the same study and seed in the lab agree.
    pub fn digest(&self, run: RunId) -> Result<String> {
        Ok(digest(&self.plan(run)?, &self.samples(run)?, &self.latencies(run)?))
    }
}

pub(crate) fn digest(plan: &Plan, samples: &[Measurement], latencies: &[Measured<Latency>]) -> String {
    let cells = plan.cells_by_id();
    let samples = samples.iter().map(|row| sample_line(&cells, row));
    let latencies = latencies.iter().map(|row| latency_line(&cells, row));
    let mut lines: Vec<String> = samples.chain(latencies).collect();
    // The order of events within a trial must not matter either: counters may come from a map.
    lines.sort_unstable();
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

type Cells<'a> = HashMap<CellId, &'a Cell>;

/// SHA-256 over the samples and latencies of each completed trial, in the same way.
pub(crate) fn digests_of_trials(
    plan: &Plan,
    samples: &[Measurement],
    latencies: &[Measured<Latency>],
) -> HashMap<TrialKey, [u8; 32]> {
    let cells = plan.cells_by_id();
    let mut lines: HashMap<TrialKey, Vec<String>> = HashMap::new();
    for row in samples {
        lines.entry(row.trial).or_default().push(sample_line(&cells, row));
    }
    for row in latencies {
        lines.entry(row.trial).or_default().push(latency_line(&cells, row));
    }
    let digest = |mut lines: Vec<String>| {
        lines.sort_unstable();
        let mut hash = Sha256::new();
        for line in lines {
            hash.update(line.as_bytes());
            hash.update(b"\n");
        }
        hash.finalize().into()
    };
    lines.into_iter().map(|(trial, lines)| (trial, digest(lines))).collect()
}

/// The prefix of a line: the trial by the cell's key, which a person can find in the plan.
fn trial(cells: &Cells<'_>, trial: TrialKey) -> String {
    let key = cells.get(&trial.cell).map_or("", |cell| cell.key.as_str());
    format!("{key:?} {} {}", trial.index, trial.seed)
}

/// Names are quoted, so that different rows give different lines; the value is encoded by its bits.
fn sample_line(cells: &Cells<'_>, row: &Measurement) -> String {
    let (sample, metric) = (&row.entry, row.entry.metric);
    format!(
        "{} sample {:?} {:?} {:016x} {:?} {}",
        trial(cells, row.trial),
        sample.test,
        metric.name(),
        sample.value.to_bits(),
        metric.unit().name(),
        metric.better().name(),
    )
}

fn latency_line(cells: &Cells<'_>, row: &Measured<Latency>) -> String {
    let latency = &row.entry;
    format!(
        "{} latency {:?} {:?} {} {} {} {:?}",
        trial(cells, row.trial),
        latency.test,
        latency.operation,
        latency.count,
        latency.min_ns,
        latency.max_ns,
        latency.histogram_base64,
    )
}
