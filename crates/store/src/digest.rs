//! Digest of all results of a run.

use crate::record::RunId;
use crate::{Result, Store};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use study::event::{Latency, Sample};
use study::metric::Metric;
use study::plan::Plan;
use study::{CellId, Measured, Measurement, TestId, TrialKey};

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

/// Adds the lines of these rows.
fn add(hash: &mut Sha256, keys: &Keys, samples: &[&Measurement], latencies: &[&Measured<Latency>]) {
    let samples = samples
        .iter()
        .map(|row| sample_line(&trial(keys, row.trial), &row.entry));
    let latencies = latencies
        .iter()
        .map(|row| latency_line(&trial(keys, row.trial), &row.entry));
    add_lines(hash, samples.chain(latencies).collect());
}

/// Adds lines in order. The order of events within a trial must not matter either, because counters may come from a
/// map.
fn add_lines(hash: &mut Sha256, mut lines: Vec<String>) {
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
fn sample_line(trial: &str, sample: &Sample) -> String {
    let metric = sample.metric;
    format!(
        "{trial} sample {:?} {:?} {:016x} {:?} {}",
        sample.test,
        metric.name(),
        sample.value.to_bits(),
        metric.unit().name(),
        metric.better().name(),
    )
}

fn latency_line(trial: &str, latency: &Latency) -> String {
    format!(
        "{trial} latency {:?} {:?} {} {} {} {:?}",
        latency.test, latency.operation, latency.count, latency.min_ns, latency.max_ns, latency.histogram_base64,
    )
}

/// The digest of the samples and latencies in the text of an export as JSON. `None` if it does not have all of them as
/// this version writes them.
pub fn digest_of_export(text: &str) -> Option<String> {
    let export: Export<'_> = serde_json::from_str(text).ok()?;
    let trial = |cell: &str, index: u32, seed: u64| format!("{cell:?} {index} {seed}");
    let mut lines = Vec::new();
    for row in export.samples {
        let sample = Sample {
            metric: Metric::of_words(&row.metric, &row.unit, &row.better).ok()?,
            test: row.test,
            // serde_json's own numbers may differ in their last bit.
            value: row.value.get().parse().ok()?,
        };
        lines.push(sample_line(&trial(&row.cell, row.trial, row.seed), &sample));
    }
    for row in export.latencies {
        let trial = trial(&row.cell, row.trial, row.seed);
        let latency = Latency {
            test: row.test,
            operation: row.operation,
            count: row.count,
            min_ns: row.min_ns,
            max_ns: row.max_ns,
            histogram_base64: row.histogram_hdr_v2_base64,
            // Not in the line: they follow from the histogram.
            p50_ns: 0,
            p90_ns: 0,
            p99_ns: 0,
            p999_ns: 0,
        };
        lines.push(latency_line(&trial, &latency));
    }
    let mut hash = Sha256::new();
    add_lines(&mut hash, lines);
    Some(hex::encode(hash.finalize()))
}

/// The rows of an export that its digest is of.
#[derive(Deserialize)]
struct Export<'a> {
    #[serde(borrow)]
    samples: Vec<SampleRow<'a>>,
    latencies: Vec<LatencyRow>,
}

#[derive(Deserialize)]
struct SampleRow<'a> {
    cell: String,
    trial: u32,
    seed: u64,
    test: TestId,
    metric: String,
    unit: String,
    better: String,
    #[serde(borrow)]
    value: &'a RawValue,
}

#[derive(Deserialize)]
struct LatencyRow {
    cell: String,
    trial: u32,
    seed: u64,
    test: TestId,
    operation: String,
    count: u64,
    min_ns: u64,
    max_ns: u64,
    histogram_hdr_v2_base64: String,
}
