//! All figures of a run as rows of one table, for CSV and Parquet: samples, then percentiles of latency histograms.

use super::machine_mark;
use crate::record::RunId;
use crate::{Result, Store};
use std::collections::HashMap;
use study::event::Latency;
use study::metric::{Better, Unit};
use study::plan::{Cell, Plan};
use study::{CellId, Measured, Measurement, TrialKey};

/// Columns before those of the axes.
const COLUMNS: [&str; 12] = [
    "cell",
    "stack",
    "workload",
    "machine",
    "seed",
    "trial",
    "test",
    "metric",
    "value",
    "unit",
    "better",
    "failed_guards",
];

/// The exported data of a run.
pub(super) struct Exported {
    plan: Plan,
    machine: &'static str,
    axes: Vec<String>,
    samples: Vec<Measurement>,
    latencies: Vec<Measured<Latency>>,
}

/// A row.
pub(super) struct Figure<'a> {
    pub cell: &'a str,
    pub stack: &'a str,
    pub workload: &'a str,
    pub machine: &'static str,
    pub seed: u64,
    pub trial: u32,
    pub test: &'a str,
    /// `throughput`, or for a percentile `latency_p99_unlink`.
    pub metric: String,
    pub value: f64,
    pub unit: &'static str,
    pub better: &'static str,
    /// Separated by spaces; empty for a valid sample.
    pub failed_guards: String,
    /// The cell's value on each axis of the study.
    pub axes: Vec<Option<&'a str>>,
}

impl Exported {
    pub fn read(store: &Store, run: RunId) -> Result<Self> {
        let plan = store.plan(run)?;
        Ok(Self {
            machine: machine_mark(store.run(run)?.machine),
            axes: axis_names(&plan),
            samples: store.samples(run)?,
            latencies: store.latencies(run)?,
            plan,
        })
    }

    /// Names of the columns: `axis_chunk` for an axis.
    pub fn heading(&self) -> Vec<String> {
        let fixed = COLUMNS.iter().map(ToString::to_string);
        fixed
            .chain(self.axes.iter().map(|axis| format!("axis_{axis}")))
            .collect()
    }

    pub fn axes(&self) -> &[String] {
        &self.axes
    }

    pub fn samples(&self) -> &[Measurement] {
        &self.samples
    }

    pub fn latencies(&self) -> &[Measured<Latency>] {
        &self.latencies
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn machine(&self) -> &'static str {
        self.machine
    }

    pub fn figures(&self) -> impl Iterator<Item = Figure<'_>> {
        let cells: HashMap<CellId, &Cell> = self.plan.cells.iter().map(|cell| (cell.id, cell)).collect();
        let samples = self.samples.iter().map(Value::of_sample);
        samples
            .chain(self.latencies.iter().flat_map(percentiles))
            .map(move |value| self.figure(cells.get(&value.trial.cell).copied(), value))
    }

    fn figure<'a>(&'a self, cell: Option<&'a Cell>, value: Value<'a>) -> Figure<'a> {
        let on_axis = |axis: &String| {
            let (_, value) = cell?.axes.iter().find(|(name, _)| name == axis)?;
            Some(value.as_str())
        };
        Figure {
            cell: cell.map_or("", |cell| &cell.key),
            stack: cell.map_or("", |cell| &cell.stack_label),
            workload: cell.map_or("", |cell| &cell.workload.name),
            machine: self.machine,
            seed: value.trial.seed,
            trial: value.trial.index,
            test: value.test,
            metric: value.metric,
            value: value.value,
            unit: value.unit,
            better: value.better,
            failed_guards: value.failed_guards.join(" "),
            axes: self.axes.iter().map(on_axis).collect(),
        }
    }
}

/// All axes of the plan in order of appearance.
fn axis_names(plan: &Plan) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in plan.cells.iter().flat_map(|cell| &cell.axes) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// One value of a trial.
struct Value<'a> {
    trial: TrialKey,
    test: &'a str,
    metric: String,
    value: f64,
    unit: &'static str,
    better: &'static str,
    failed_guards: &'a [String],
}

impl<'a> Value<'a> {
    fn of_sample(row: &'a Measurement) -> Self {
        let metric = row.entry.metric;
        Self {
            trial: row.trial,
            test: &row.entry.test,
            metric: metric.name().to_owned(),
            value: row.entry.value,
            unit: metric.unit().name(),
            better: metric.better().name(),
            failed_guards: &row.failed_guards,
        }
    }
}

/// Percentiles of a latency histogram in ns.
fn percentiles(row: &Measured<Latency>) -> impl Iterator<Item = Value<'_>> {
    let latency = &row.entry;
    let figures = [
        ("p50", latency.p50_ns),
        ("p90", latency.p90_ns),
        ("p99", latency.p99_ns),
        ("p999", latency.p999_ns),
        ("max", latency.max_ns),
    ];
    figures.into_iter().map(move |(name, value_ns)| Value {
        trial: row.trial,
        test: &latency.test,
        metric: format!("latency_{name}_{}", latency.operation),
        value: value_ns as f64,
        unit: Unit::Nanoseconds.name(),
        better: Better::Lower.name(),
        failed_guards: &row.failed_guards,
    })
}
