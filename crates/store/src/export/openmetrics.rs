//! All figures of a run as text in the OpenMetrics format, for Prometheus and others.
//!
//! One family per metric, in base units (bytes, seconds, ratios), and one for the percentiles of latency
//! histograms. Samples have no timestamps: virtual time in the lab has no date.

use super::figures::Exported;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit as BaseUnit};
use std::fmt;
use study::TrialKey;
use study::metric::{MEBIBYTE, Metric, Unit};
use study::plan::Cell;

pub(super) fn text(exported: &Exported) -> String {
    let mut registry = Registry::with_prefix("raidlab");
    registry.register_collector(Box::new(Families(families(exported))));
    let mut text = String::new();
    encode(&mut text, &registry).expect("writing to memory does not fail");
    text
}

/// The families in order of appearance.
#[derive(Debug)]
struct Families(Vec<Family>);

#[derive(Debug)]
struct Family {
    name: String,
    help: String,
    unit: Option<BaseUnit>,
    gauges: Vec<(Vec<(String, String)>, f64)>,
}

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        for family in &self.0 {
            let unit = family.unit.as_ref();
            let mut metric = encoder.encode_descriptor(&family.name, &family.help, unit, MetricType::Gauge)?;
            for (labels, value) in &family.gauges {
                ConstGauge::new(*value).encode(metric.encode_family(labels)?)?;
            }
        }
        Ok(())
    }
}

fn families(exported: &Exported) -> Vec<Family> {
    let cells = exported.plan().cells_by_id();
    let labels_of = |trial: TrialKey, test: &str, failed_guards: &[String]| {
        labels(
            cells.get(&trial.cell).copied(),
            exported.machine(),
            trial,
            test,
            failed_guards,
        )
    };
    let mut families: Vec<Family> = Vec::new();
    let mut add = |family: Family, labels, value| {
        let place = families.iter().position(|other| other.name == family.name);
        let place = place.unwrap_or_else(|| {
            families.push(family);
            families.len() - 1
        });
        families[place].gauges.push((labels, value));
    };
    for row in exported.samples() {
        let (family, factor) = family_of(row.entry.metric);
        let labels = labels_of(row.trial, &row.entry.test, &row.failed_guards);
        add(family, labels, row.entry.value * factor);
    }
    for row in exported.latencies() {
        let latency = &row.entry;
        let quantiles = [
            ("0.5", latency.p50_ns),
            ("0.9", latency.p90_ns),
            ("0.99", latency.p99_ns),
            ("0.999", latency.p999_ns),
            ("1", latency.max_ns),
        ];
        for (quantile, value_ns) in quantiles {
            let mut labels = labels_of(row.trial, &latency.test, &row.failed_guards);
            labels.push(("operation".to_owned(), latency.operation.clone()));
            labels.push(("quantile".to_owned(), quantile.to_owned()));
            add(of_latencies(), labels, value_ns as f64 / 1e9);
        }
    }
    families
}

/// Labels that identify a value of a trial: the columns of the CSV with their values.
fn labels(
    cell: Option<&Cell>,
    machine: &str,
    trial: TrialKey,
    test: &str,
    failed_guards: &[String],
) -> Vec<(String, String)> {
    let text = |of: fn(&Cell) -> &String| cell.map(of).cloned().unwrap_or_default();
    let fixed = [
        ("cell", text(|cell| &cell.key)),
        ("stack", text(|cell| &cell.stack_label)),
        ("workload", text(|cell| &cell.workload.name)),
        ("machine", machine.to_owned()),
        ("seed", trial.seed.to_string()),
        ("trial", trial.index.to_string()),
        ("test", test.to_owned()),
        ("failed_guards", failed_guards.join(" ")),
    ];
    let axes = cell.map(|cell| cell.axes.as_slice()).unwrap_or_default();
    let fixed = fixed.into_iter().map(|(name, value)| (name.to_owned(), value));
    fixed
        .chain(axes.iter().map(|(axis, value)| (label_of_axis(axis), value.clone())))
        .collect()
}

/// `axis_block_size`: invalid characters of a label name become underscores.
fn label_of_axis(axis: &str) -> String {
    let valid = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    format!("axis_{}", axis.chars().map(valid).collect::<String>())
}

/// The metric's family without values, and the factor from the metric's unit to the base unit.
fn family_of(metric: Metric) -> (Family, f64) {
    let (unit, factor) = match metric.unit() {
        Unit::MebibytesPerSecond => (Some(BaseUnit::Other("bytes_per_second".to_owned())), MEBIBYTE),
        Unit::Mebibytes => (Some(BaseUnit::Bytes), MEBIBYTE),
        Unit::Sectors => (Some(BaseUnit::Bytes), 512.0),
        Unit::Hours => (Some(BaseUnit::Seconds), 3600.0),
        Unit::Seconds => (Some(BaseUnit::Seconds), 1.0),
        Unit::Milliseconds => (Some(BaseUnit::Seconds), 1e-3),
        Unit::Nanoseconds => (Some(BaseUnit::Seconds), 1e-9),
        Unit::Percent => (Some(BaseUnit::Ratios), 0.01),
        // The metric's name says these.
        Unit::FilesPerSecond | Unit::Iops | Unit::SeeksPerSecond | Unit::Requests | Unit::States => (None, 1.0),
    };
    let name = match metric {
        Metric::Seeks => "seeks_per_second",
        other => other.name(),
    };
    let family = Family {
        name: name.to_owned(),
        help: format!("{} ({} in raidlab's tables)", name.replace('_', " "), metric.unit()),
        unit,
        gauges: Vec::new(),
    };
    (family, factor)
}

fn of_latencies() -> Family {
    Family {
        name: "operation_latency".to_owned(),
        help: "Latency of single operations: percentiles of a trial, 1 is the longest".to_owned(),
        unit: Some(BaseUnit::Seconds),
        gauges: Vec::new(),
    }
}
