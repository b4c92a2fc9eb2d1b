//! One number for everything that a run measured.

use crate::record::{LatencyRow, RunId, SampleRow};
use crate::run::hex;
use crate::words::better_word;
use crate::{Result, Store};
use sha2::{Digest, Sha256};

impl Store {
    /// SHA-256 over the samples (device counters among them) and latencies of all trials that were done, in an
    /// order that does not depend on how trials were run. Two runs of one study and seed in the lab agree.
    pub fn digest(&self, run: RunId) -> Result<String> {
        Ok(digest(&self.samples(run)?, &self.latencies(run)?))
    }
}

pub(crate) fn digest(samples: &[SampleRow], latencies: &[LatencyRow]) -> String {
    let mut lines: Vec<String> = samples
        .iter()
        .map(sample_line)
        .chain(latencies.iter().map(latency_line))
        .collect();
    // Within a trial too, the order of events must not matter: counters may come out of a map.
    lines.sort_unstable();
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

/// Names are quoted, so that no two different rows make one line; the value goes in by its bits.
fn sample_line(row: &SampleRow) -> String {
    format!(
        "{:?} {} {} sample {:?} {:?} {:016x} {:?} {}",
        row.cell_key,
        row.index,
        row.seed,
        row.test,
        row.metric,
        row.value.to_bits(),
        row.unit,
        better_word(row.better),
    )
}

fn latency_line(row: &LatencyRow) -> String {
    let latency = &row.latency;
    format!(
        "{:?} {} {} latency {:?} {:?} {} {} {} {:?}",
        row.cell_key,
        row.index,
        row.seed,
        latency.test,
        latency.operation,
        latency.count,
        latency.min_ns,
        latency.max_ns,
        latency.histogram_base64,
    )
}
