//! Digest of all results of a run.

use crate::record::RunId;
use crate::{Result, Store};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use study::event::Latency;
use study::plan::Plan;
use study::{CellId, Measured, Measurement, TrialKey};

impl Store {
    /// SHA-256 over the samples (including device counters) and latencies of all completed trials, independent of
    /// the order in which trials ran. Two lab runs of the same study and seed have the same digest.
    pub fn digest(&self, run: RunId) -> Result<String> {
        // A plan with many cells is large: drop it before the samples are read.
        let keys = keys(&self.plan(run)?);
        Ok(of_rows(&keys, &self.samples(run)?, &self.latencies(run)?))
    }
}

pub(crate) fn digest(plan: &Plan, samples: &[Measurement], latencies: &[Measured<Latency>]) -> String {
    of_rows(&keys(plan), samples, latencies)
}

/// Adds the lines of all rows in order. Each starts with the cell's quoted key, and no quoted key is a prefix of
/// another one, so the lines can be sorted cell by cell.
fn of_rows(keys: &Keys, samples: &[Measurement], latencies: &[Measured<Latency>]) -> String {
    type Rows<'a> = (Vec<&'a Measurement>, Vec<&'a Measured<Latency>>);
    let mut cells: BTreeMap<&str, Rows<'_>> = BTreeMap::new();
    for row in samples {
        cells.entry(key(keys, row.trial)).or_default().0.push(row);
    }
    for row in latencies {
        cells.entry(key(keys, row.trial)).or_default().1.push(row);
    }
    let mut hash = Sha256::new();
    for (samples, latencies) in cells.into_values() {
        add(&mut hash, keys, &samples, &latencies);
    }
    hex::encode(hash.finalize())
}

/// Adds the lines of these rows in order. The order of events within a trial must not matter either, because
/// counters may come from a map.
fn add(hash: &mut Sha256, keys: &Keys, samples: &[&Measurement], latencies: &[&Measured<Latency>]) {
    let samples = samples.iter().map(|row| sample_line(keys, row));
    let latencies = latencies.iter().map(|row| latency_line(keys, row));
    let mut lines: Vec<String> = samples.chain(latencies).collect();
    lines.sort_unstable();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
}

/// The quoted key of each cell.
type Keys = HashMap<CellId, String>;

fn keys(plan: &Plan) -> Keys {
    let quoted = plan.cells.iter().map(|cell| (cell.id, format!("{:?}", cell.key)));
    quoted.collect()
}

fn key(keys: &Keys, trial: TrialKey) -> &str {
    keys.get(&trial.cell).map_or("\"\"", String::as_str)
}

/// SHA-256 over the samples and latencies of each completed trial, in the same way.
pub(crate) fn digests_of_trials(
    plan: &Plan,
    samples: &[Measurement],
    latencies: &[Measured<Latency>],
) -> HashMap<TrialKey, [u8; 32]> {
    let keys = keys(plan);
    let mut of_trial: HashMap<TrialKey, Vec<&Measured<Latency>>> = HashMap::new();
    for row in latencies {
        of_trial.entry(row.trial).or_default().push(row);
    }
    let digest = |samples: &[&Measurement], latencies: &[&Measured<Latency>]| {
        let mut hash = Sha256::new();
        add(&mut hash, &keys, samples, latencies);
        hash.finalize().into()
    };
    let mut samples: Vec<&Measurement> = samples.iter().collect();
    samples.sort_by_key(|row| row.trial);
    let mut digests = HashMap::new();
    for rows in samples.chunk_by(|one, next| one.trial == next.trial) {
        let trial = rows[0].trial;
        let latencies = of_trial.remove(&trial).unwrap_or_default();
        digests.insert(trial, digest(rows, &latencies));
    }
    // Trials that have only latencies.
    let rest = of_trial.into_iter();
    digests.extend(rest.map(|(trial, latencies)| (trial, digest(&[], &latencies))));
    digests
}

/// The prefix of a line: the trial, by the cell's key, which can be found in the plan.
fn trial(keys: &Keys, trial: TrialKey) -> String {
    format!("{} {} {}", key(keys, trial), trial.index, trial.seed)
}

/// Names are quoted, so that different rows give different lines; the value is encoded by its bits.
fn sample_line(keys: &Keys, row: &Measurement) -> String {
    let (sample, metric) = (&row.entry, row.entry.metric);
    format!(
        "{} sample {:?} {:?} {:016x} {:?} {}",
        trial(keys, row.trial),
        sample.test,
        metric.name(),
        sample.value.to_bits(),
        metric.unit().name(),
        metric.better().name(),
    )
}

fn latency_line(keys: &Keys, row: &Measured<Latency>) -> String {
    let latency = &row.entry;
    format!(
        "{} latency {:?} {:?} {} {} {} {:?}",
        trial(keys, row.trial),
        latency.test,
        latency.operation,
        latency.count,
        latency.min_ns,
        latency.max_ns,
        latency.histogram_base64,
    )
}
