//! What a trial says while it runs: the one stream that leaves a machine, a JSON object a line.

use crate::metric::{Better, Metric, UnknownMetric};
use serde::{Deserialize, Serialize};

/// In the order in which things happened. Times are of the trial's machine (lab: virtual), in nanoseconds since
/// the trial began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A step began, `create array`, `mkfs`, `read`: for progress and for messages.
    Step { name: String, at_ns: u64 },
    /// An external program ran.
    Call(ToolCall),
    /// A value was measured.
    Sample(Sample),
    /// Latencies of the single operations of a test.
    Latency(Latency),
    /// A check that samples mean what they say.
    Guard(Guard),
    /// What the machine's software and devices were, for provenance: `kernel` = `6.12.117`, `mdadm` = `4.2`, …
    Provenance { key: String, value: String },
    /// The trial could not go on.
    Failed(Failure),
    /// The trial came to its end. Nothing follows.
    Done { at_ns: u64 },
}

/// One measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SampleLine", into = "SampleLine")]
pub struct Sample {
    /// What was done: `read`, `write`, `copy`, `delete`, `randread`, …
    pub test: String,
    pub metric: Metric,
    pub value: f64,
}

/// A sample as it is written: with unit and direction, so that a reader needs no table of metrics.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SampleLine {
    test: String,
    metric: String,
    value: f64,
    unit: String,
    better: Better,
}

impl From<Sample> for SampleLine {
    fn from(sample: Sample) -> Self {
        Self {
            test: sample.test,
            metric: sample.metric.name().to_owned(),
            value: sample.value,
            unit: sample.metric.unit().name().to_owned(),
            better: sample.metric.better(),
        }
    }
}

impl TryFrom<SampleLine> for Sample {
    type Error = UnknownMetric;

    fn try_from(line: SampleLine) -> Result<Self, UnknownMetric> {
        Ok(Self {
            metric: Metric::of_words(&line.metric, &line.unit, line.better.name())?,
            test: line.test,
            value: line.value,
        })
    }
}

/// A histogram of latencies, mergeable: an HdrHistogram in its V2 serialisation, base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    pub test: String,
    /// `open`, `read`, `create`, `unlink`, `fsync`, …
    pub operation: String,
    pub count: u64,
    pub min_ns: u64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    pub max_ns: u64,
    pub histogram_base64: String,
}

/// A check and how it went; a failed one keeps the trial's samples of that test out of rankings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guard {
    /// `cold-cache`, `contents`, `resync-idle`, `device-errors`, …
    pub name: String,
    /// The test whose samples it guards; all of the trial if absent.
    pub test: Option<String>,
    pub passed: bool,
    /// What was seen, and what should have been.
    pub detail: String,
}

/// A call of an external program, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub argv: Vec<String>,
    /// Exit status; absent if it was ended by a signal or never started.
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub duration_ns: u64,
}

/// Why a trial could not go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The step that failed.
    pub step: String,
    /// What was wrong, and what would be right: lower-case, no full stop.
    pub message: String,
}
