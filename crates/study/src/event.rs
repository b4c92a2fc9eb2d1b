//! Events of a trial: the only output of a machine, one JSON object per line.

use crate::fact::{DiskCounters, GuestFile, Load, ProcessorAccount, TestDisk};
use crate::finding::Finding;
use crate::metric::{Better, Metric, UnknownMetric};
use crate::record::Measured;
use crate::test_id::TestId;
use serde::{Deserialize, Serialize};

/// In order of time. Times are those of the trial's machine (lab: virtual), in nanoseconds since the start of the
/// trial.
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
    /// Throughput of a test over time.
    Throughput(Throughput),
    /// Result of a check on samples.
    Guard(Guard),
    /// Counters and contents of a simulated disk, at the end of the trial.
    DiskCounters(DiskCounters),
    /// The files that the trial's guest can read, and its kernel.
    GuestFiles { files: Vec<GuestFile> },
    /// A disk of this machine that is under test.
    TestDisk(TestDisk),
    /// Load by other programs of a host during the trial.
    Load(Load),
    /// Processor time that the lab charged.
    Processor(ProcessorAccount),
    /// An operation of a workload with power cuts began or returned.
    Operation(OperationMark),
    /// Something is wrong after a power cut. `state`: number of the cut, from 1; `number`: of the finding, from 0.
    Finding {
        state: u64,
        number: usize,
        finding: Finding,
    },
    /// Properties of the machine's software and devices, for a person: `kernel` = `6.12.117`, `mdadm` = `4.2`, …
    Provenance { key: String, value: String },
    /// The trial failed.
    Failed(Failure),
    /// The trial completed. Nothing follows.
    Done { at_ns: u64 },
}

/// One measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SampleLine", into = "SampleLine")]
pub struct Sample {
    /// Name of the test: `read`, `write`, `copy`, `delete`, `randread`, …
    pub test: TestId,
    pub metric: Metric,
    pub value: f64,
}

/// One measured value, with its trial and its guards.
pub type Measurement = Measured<Sample>;

/// A sample as serialised: with unit and direction, so that a reader needs no table of metrics.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SampleLine {
    test: TestId,
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

/// A mergeable histogram of latencies: an HdrHistogram in its V2 serialisation, base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    pub test: TestId,
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

/// Bytes that a test's requests moved in equal intervals of time, from the beginning of its measured time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throughput {
    pub test: TestId,
    pub interval_ns: u64,
    /// In each interval that lies wholly within the measured time.
    pub bytes: Vec<u64>,
}

/// Progress of an operation of a workload with power cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationMark {
    pub number: usize,
    pub mark: Mark,
    /// Since the kernel started.
    pub at_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    Begun,
    Returned,
}

/// Result of a check; a failed one excludes the trial's samples of that test from rankings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guard {
    /// `cold-cache`, `contents`, `written-out`, `quiesced`, …
    pub name: String,
    /// The test whose samples it checks; the whole trial if absent.
    pub test: Option<TestId>,
    pub passed: bool,
    /// Observed and expected values.
    pub detail: String,
}

impl Guard {
    /// Name of the guard of acts on the array: each test of a workload with acts has its own, whether what the test
    /// measures was there before the workload had ended.
    pub const ACT: &str = "act";
}

/// A call of an external program, in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub argv: Vec<String>,
    /// Exit status; absent if a signal ended it or it never started.
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub duration_ns: u64,
}

/// Reason for the failure of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The step that failed.
    pub step: String,
    /// What was wrong, and how to correct it: lower case, no full stop.
    pub message: String,
}
