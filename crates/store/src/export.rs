//! A run as JSON, CSV, Parquet, JUnit XML or OpenMetrics text, for scripts and other programs.
//!
//! Everything except the JSON's `header` is determined by study, seed and build: two runs of a lab study export the
//! same text there. `format_version` is increased when a field is removed or changes its meaning; fields may be added.

mod figures;
mod junit;
mod openmetrics;
mod parquet;

pub use junit::{ClaimCase, ClaimOutcome};

use crate::digest::digest;
use crate::record::RunId;
use crate::sql_types::machine_word;
use crate::{Result, Store};
use figures::Exported;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use study::event::{Latency, Throughput};
use study::plan::{Cell, Plan};
use study::stack::MachineKind;
use study::{CellId, Measured, Measurement, TrialKey};

/// The version of the JSON.
pub const FORMAT_VERSION: u32 = 1;

/// The machine's name in exports: simulated figures are always marked.
pub const fn machine_mark(machine: MachineKind) -> &'static str {
    match machine {
        MachineKind::Lab => "lab (simulated)",
        MachineKind::Host => "host",
        MachineKind::Foreign => "foreign (imported)",
    }
}

/// Evaluations of a run's samples, computed by the caller.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// The claims with their verdicts.
    pub claims: Value,
    /// The A/A control: cells against their replicates.
    pub control: Value,
    /// Reasons to doubt comparisons.
    pub warnings: Value,
}

impl Store {
    /// The whole run except the output of external programs.
    pub fn export_json(&self, run: RunId, judged: &Judged) -> Result<String> {
        let summary = self.run(run)?;
        let plan = self.plan(run)?;
        let (samples, latencies) = (self.samples(run)?, self.latencies(run)?);
        let trials = self.trials(run)?;
        let keys = Keys::of(&plan);
        let mut export = json!({
            "format": "raidlab-export",
            "format_version": FORMAT_VERSION,
            "header": {
                "note": "wall-clock facts, which differ from run to run; all else follows from study, seed and build",
                "started_at_unix_s": summary.started_at_unix_s,
                "finished_at_unix_s": summary.finished_at_unix_s,
                "trials_wall_ns": trials.iter().filter_map(|trial| trial.wall_ns).sum::<u64>(),
                "command": summary.command,
            },
            "run": {
                "title": summary.title,
                "study_sha256": summary.study_sha256,
                "seed": summary.seed,
                "machine": machine_mark(summary.machine),
                "machine_kind": machine_word(summary.machine),
                "only": pairs(&summary.only),
                "raidlab_version": summary.raidlab_version,
                "finished": summary.finished_at_unix_s.is_some(),
                "digest_sha256": digest(&plan, &samples, &latencies),
            },
            "study": plan.source,
            "claims": judged.claims,
            "control": judged.control,
            "warnings": judged.warnings,
            "cells": plan.cells.iter().map(cell).collect::<Vec<_>>(),
            "left_out": plan.left_out.iter()
                .map(|left| json!({ "axes": pairs(&left.axes), "reason": left.reason }))
                .collect::<Vec<_>>(),
            "trials": trials.iter().map(|row| trial(&keys, row)).collect::<Vec<_>>(),
            "samples": samples.iter().map(|row| sample(&keys, row, summary.machine)).collect::<Vec<_>>(),
            "latencies": latencies.iter().map(|row| latency(&keys, row, summary.machine)).collect::<Vec<_>>(),
            "courses": self.throughput(run)?.iter().map(|row| throughput(&keys, row, summary.machine)).collect::<Vec<_>>(),
            "guards": self.guards(run)?.iter().map(|row| json!({
                "cell": keys.of_trial(row.trial), "trial": row.trial.index, "guard": row.entry.name,
                "test": row.entry.test, "passed": row.entry.passed, "detail": row.entry.detail,
            })).collect::<Vec<_>>(),
            "provenance": self.provenance(run)?.iter().map(|row| json!({
                "cell": keys.of_trial(row.trial), "trial": row.trial.index, "key": row.entry.key,
                "value": row.entry.value,
            })).collect::<Vec<_>>(),
        });
        if let Some(shard) = summary.shard {
            export["run"]["shard"] = json!(shard);
        }
        Ok(format!("{export:#}\n"))
    }

    /// One line per sample, then one line per percentile of each latency histogram, with one header.
    pub fn export_csv(&self, run: RunId) -> Result<String> {
        let exported = Exported::read(self, run)?;
        let mut lines = csv::Writer::from_writer(Vec::new());
        write(&mut lines, &exported.heading());
        for figure in exported.figures() {
            let mut line = vec![
                figure.cell.to_owned(),
                figure.stack.to_owned(),
                figure.workload.to_owned(),
                figure.machine.to_owned(),
                figure.seed.to_string(),
                figure.trial.to_string(),
                figure.test.to_owned(),
                figure.metric,
                figure.value.to_string(),
                figure.unit.to_owned(),
                figure.better.to_owned(),
                figure.failed_guards,
            ];
            line.extend(figure.axes.iter().map(|value| value.unwrap_or_default().to_owned()));
            write(&mut lines, &line);
        }
        let bytes = lines.into_inner().expect("writing to memory does not fail");
        Ok(String::from_utf8(bytes).expect("all fields are UTF-8"))
    }

    /// The rows of the CSV as a Parquet file.
    pub fn export_parquet(&self, run: RunId) -> Result<Vec<u8>> {
        Ok(parquet::file(&Exported::read(self, run)?))
    }

    /// The run as JUnit XML. `claims` are the study's claims with their verdicts, computed by the caller.
    pub fn export_junit(&self, run: RunId, claims: &[ClaimCase]) -> Result<String> {
        junit::xml(self, &self.run(run)?, claims)
    }

    /// The samples and percentiles of the CSV as text in the OpenMetrics format.
    pub fn export_openmetrics(&self, run: RunId) -> Result<String> {
        Ok(openmetrics::text(&Exported::read(self, run)?))
    }
}

fn write(lines: &mut csv::Writer<Vec<u8>>, line: &[String]) {
    lines
        .write_record(line)
        .expect("writing to memory does not fail, and all lines are of one length");
}

fn pairs(pairs: &[(String, String)]) -> Value {
    Value::Object(
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect::<Map<_, _>>(),
    )
}

/// The cells' keys, which the parts of an export use as references.
struct Keys<'a>(HashMap<CellId, &'a str>);

impl<'a> Keys<'a> {
    fn of(plan: &'a Plan) -> Self {
        Self(plan.cells.iter().map(|cell| (cell.id, cell.key.as_str())).collect())
    }

    fn of_trial(&self, trial: TrialKey) -> &'a str {
        self.0.get(&trial.cell).copied().unwrap_or_default()
    }
}

fn cell(cell: &Cell) -> Value {
    if cell.is_imported() {
        // Unknown values are null, not a default.
        return json!({
            "cell": cell.key, "id": cell.id, "stack": cell.stack_label, "workload": cell.workload.name,
            "axes": pairs(&cell.axes), "machine": { "kind": cell.machine.kind }, "stack_spec": null,
            "workload_spec": null,
        });
    }
    json!({
        "cell": cell.key, "id": cell.id, "stack": cell.stack_label, "workload": cell.workload.name,
        "axes": pairs(&cell.axes), "machine": cell.machine, "stack_spec": cell.stack, "workload_spec": cell.workload,
    })
}

fn trial(keys: &Keys<'_>, trial: &crate::TrialRecord) -> Value {
    json!({
        "cell": keys.of_trial(trial.key), "trial": trial.key.index, "seed": trial.key.seed,
        "status": trial.status.name(), "machine_ns": trial.machine_ns,
        "failure": trial.failure.as_ref().map(|failure| json!({ "step": failure.step, "message": failure.message })),
    })
}

fn sample(keys: &Keys<'_>, row: &Measurement, machine: MachineKind) -> Value {
    let (sample, metric) = (&row.entry, row.entry.metric);
    json!({
        "cell": keys.of_trial(row.trial), "trial": row.trial.index, "seed": row.trial.seed,
        "machine": machine_mark(machine), "test": sample.test, "metric": metric.name(), "value": sample.value,
        "unit": metric.unit().name(), "better": metric.better().name(), "failed_guards": row.failed_guards,
    })
}

fn throughput(keys: &Keys<'_>, row: &Measured<Throughput>, machine: MachineKind) -> Value {
    json!({
        "cell": keys.of_trial(row.trial), "trial": row.trial.index, "seed": row.trial.seed,
        "machine": machine_mark(machine), "test": row.entry.test, "interval_ns": row.entry.interval_ns,
        "bytes": row.entry.bytes, "failed_guards": row.failed_guards,
    })
}

fn latency(keys: &Keys<'_>, row: &Measured<Latency>, machine: MachineKind) -> Value {
    let latency = &row.entry;
    json!({
        "cell": keys.of_trial(row.trial), "trial": row.trial.index, "seed": row.trial.seed,
        "machine": machine_mark(machine),
        "test": latency.test, "operation": latency.operation, "count": latency.count,
        "min_ns": latency.min_ns, "p50_ns": latency.p50_ns, "p90_ns": latency.p90_ns, "p99_ns": latency.p99_ns,
        "p999_ns": latency.p999_ns, "max_ns": latency.max_ns, "histogram_hdr_v2_base64": latency.histogram_base64,
    })
}
