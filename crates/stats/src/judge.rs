//! All samples of a run, put in order and judged.

use crate::compare::Seeded;
use crate::precision::alpha_per_look;
use crate::ranking::tiers;
use crate::summary::Summary;
use study::event::Better;
use study::plan::Precision;

/// A sample, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The stack's label, unique among the stacks that are compared.
    pub stack: String,
    pub workload: String,
    pub test: String,
    pub metric: String,
    pub unit: String,
    pub better: Better,
    /// The trial's index in its cell.
    pub index: u32,
    pub seed: u64,
    pub value: f64,
    /// If not empty, the sample stays out of every figure.
    pub failed_guards: Vec<String>,
}

/// What a run shows.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Results {
    /// In the order in which the observations name them, as everything below.
    pub workloads: Vec<WorkloadResults>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadResults {
    pub name: String,
    /// What was measured to be judged.
    pub tests: Vec<TestResults>,
    /// What was counted to explain it: no more is better there than less.
    pub counts: Vec<TestResults>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TestResults {
    pub name: String,
    /// The headline first: the one that is ranked and shown where there is room for one.
    pub measures: Vec<Measure>,
}

impl TestResults {
    pub fn headline(&self) -> &Measure {
        &self.measures[0]
    }
}

/// One metric of a test over all stacks.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    pub metric: String,
    pub unit: String,
    pub better: Better,
    pub rows: Vec<Row>,
    /// Places in `rows`, best tier first: see [`tiers`].
    pub tiers: Vec<Vec<usize>>,
}

impl Measure {
    /// The stacks that are shown to be faster than all others with a figure: the first tier, if there is a second
    /// one to be faster than.
    pub fn leaders(&self) -> &[usize] {
        if self.tiers.len() > 1 { &self.tiers[0] } else { &[] }
    }

    /// How many stacks could be placed.
    pub fn placed(&self) -> usize {
        self.tiers.iter().map(Vec::len).sum()
    }

    /// Stacks that have values, but too few to be placed.
    pub fn not_placed(&self) -> impl Iterator<Item = &Row> {
        let is_placed = |place: &usize| self.tiers.iter().flatten().any(|placed| placed == place);
        self.rows
            .iter()
            .enumerate()
            .filter(move |(place, row)| !row.values.is_empty() && !is_placed(place))
            .map(|(_, row)| row)
    }
}

/// One stack's figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub stack: String,
    /// The values that count, by trial.
    pub values: Vec<Seeded>,
    /// `None` if there are none.
    pub summary: Option<Summary>,
    pub kept_out: Vec<KeptOut>,
}

/// A sample that does not count.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptOut {
    pub index: u32,
    pub seed: u64,
    pub value: f64,
    pub guards: Vec<String>,
}

/// Judges all observations of a run. `stacks` gives the order of the rows; each measure has a row for every one of
/// them, empty where nothing was measured.
pub fn judge(stacks: &[String], observations: &[Observation], precision: &Precision) -> Results {
    let alpha = alpha_per_look(precision);
    let workloads = distinct(observations.iter().map(|observation| &observation.workload));
    Results {
        workloads: workloads
            .into_iter()
            .map(|workload| {
                let of_workload: Vec<&Observation> = observations
                    .iter()
                    .filter(|observation| observation.workload == workload)
                    .collect();
                let tests = distinct(of_workload.iter().map(|observation| &observation.test));
                let (tests, counts) = tests
                    .into_iter()
                    .map(|test| judge_test(stacks, &of_workload, test, alpha))
                    .partition(|test| test.headline().better != Better::Neither);
                WorkloadResults {
                    name: workload.to_owned(),
                    tests,
                    counts,
                }
            })
            .collect(),
    }
}

fn judge_test(stacks: &[String], of_workload: &[&Observation], test: &str, alpha: f64) -> TestResults {
    let of_test: Vec<&Observation> = of_workload
        .iter()
        .copied()
        .filter(|observation| observation.test == test)
        .collect();
    let mut metrics = distinct(of_test.iter().map(|observation| &observation.metric));
    let first = headline(&of_test);
    // Stable: the others stay as they came.
    metrics.sort_by_key(|&metric| Some(metric) != first);
    let measures = metrics
        .into_iter()
        .map(|metric| {
            let of_metric: Vec<&Observation> = of_test
                .iter()
                .copied()
                .filter(|observation| observation.metric == metric)
                .collect();
            judge_measure(stacks, &of_metric, alpha)
        })
        .collect();
    TestResults {
        name: test.to_owned(),
        measures,
    }
}

fn judge_measure(stacks: &[String], of_metric: &[&Observation], alpha: f64) -> Measure {
    let rows: Vec<Row> = stacks
        .iter()
        .map(|stack| {
            let (counted, kept_out): (Vec<&Observation>, Vec<&Observation>) = of_metric
                .iter()
                .copied()
                .filter(|observation| observation.stack == *stack)
                .partition(|observation| observation.failed_guards.is_empty());
            let values: Vec<f64> = counted.iter().map(|observation| observation.value).collect();
            Row {
                stack: stack.clone(),
                values: counted
                    .iter()
                    .map(|one| Seeded {
                        seed: one.seed,
                        value: one.value,
                    })
                    .collect(),
                summary: Summary::of(&values, alpha),
                kept_out: kept_out.into_iter().map(kept_out_row).collect(),
            }
        })
        .collect();
    let (unit, better) = of_metric
        .first()
        .map_or((String::new(), Better::Neither), |one| (one.unit.clone(), one.better));
    let metric = of_metric.first().map_or_else(String::new, |one| one.metric.clone());
    let values: Vec<Vec<Seeded>> = rows.iter().map(|row| row.values.clone()).collect();
    Measure {
        metric,
        unit,
        better,
        tiers: tiers(&values, better),
        rows,
    }
}

fn kept_out_row(observation: &Observation) -> KeptOut {
    KeptOut {
        index: observation.index,
        seed: observation.seed,
        value: observation.value,
        guards: observation.failed_guards.clone(),
    }
}

/// Metrics that say how fast a test is, the most telling first. They are different views of one measurement, of
/// which one is ranked: three rankings of one thing would count it three times.
const HEADLINES: [&str; 4] = ["throughput", "iops", "files_per_second", "duration"];

/// The metric of one test's observations that stands for the test: a known one, or the first that can be better or
/// worse; `None` if there are only counts.
pub fn headline<'a>(of_test: &[&'a Observation]) -> Option<&'a str> {
    let known = HEADLINES
        .iter()
        .find_map(|name| of_test.iter().find(|observation| observation.metric == *name));
    let any = || of_test.iter().find(|observation| observation.better != Better::Neither);
    known.or_else(any).map(|observation| observation.metric.as_str())
}

/// Each name once, in order of appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if !seen.contains(&name.as_str()) {
            seen.push(name);
        }
    }
    seen
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const FIXED: Precision = Precision {
        relative: None,
        min_trials: 3,
        max_trials: 3,
    };

    /// Throughput of a test of the workload `small files`; the seed follows from the index.
    pub(crate) fn observation(stack: &str, test: &str, index: u32, value: f64) -> Observation {
        Observation {
            stack: stack.to_owned(),
            workload: "small files".to_owned(),
            test: test.to_owned(),
            metric: "throughput".to_owned(),
            unit: "MiB/s".to_owned(),
            better: Better::Higher,
            index,
            seed: 1000 + u64::from(index),
            value,
            failed_guards: Vec::new(),
        }
    }

    fn stacks() -> [String; 2] {
        ["xfs".to_owned(), "ext4".to_owned()]
    }

    #[test]
    fn the_headline_comes_first_and_counts_are_not_ranked() {
        let mut requests = observation("xfs", "read", 0, 12.0);
        requests.metric = "device_reads".to_owned();
        requests.better = Better::Neither;
        let observations = [requests, observation("xfs", "read", 0, 80.0)];
        let results = judge(&stacks(), &observations, &FIXED);
        let test = &results.workloads[0].tests[0];
        assert_eq!(test.headline().metric, "throughput");
        assert_eq!(test.measures[1].metric, "device_reads");
        assert!(test.measures[1].tiers.is_empty());
    }

    #[test]
    fn samples_with_failed_guards_stay_out_and_are_listed() {
        let mut warm = observation("xfs", "read", 1, 9_000.0);
        warm.failed_guards.push("cold-cache".to_owned());
        let observations = [
            observation("xfs", "read", 0, 80.0),
            warm,
            observation("xfs", "read", 2, 82.0),
        ];
        let results = judge(&stacks(), &observations, &FIXED);
        let row = &results.workloads[0].tests[0].headline().rows[0];
        assert_eq!(row.summary.as_ref().unwrap().max, 82.0);
        assert_eq!(
            (row.kept_out[0].index, row.kept_out[0].guards[0].as_str()),
            (1, "cold-cache")
        );
    }

    #[test]
    fn a_stack_without_samples_has_an_empty_row_and_no_rank() {
        let trials: Vec<Observation> = (0..3).map(|index| observation("ext4", "read", index, 80.0)).collect();
        let results = judge(&stacks(), &trials, &FIXED);
        let measure = results.workloads[0].tests[0].headline();
        assert_eq!(measure.rows[0].summary, None);
        assert_eq!(
            (measure.placed(), measure.leaders().len(), measure.not_placed().count()),
            (1, 0, 0)
        );
    }
}
