//! All samples of a run, put in order and judged.

use crate::compare::InBlock;
use crate::precision::{alpha_of_differences, alpha_per_look};
use crate::ranking::{Ranking, rank};
use crate::summary::Summary;
use study::metric::{Better, Metric};
use study::plan::Plan;
use study::stack::MachineKind;
use study::{CellId, Measurement};

/// What a run shows.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Results {
    /// In the plan's order, as everything below.
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
    pub metric: Metric,
    pub rows: Vec<Row>,
    /// Of the places in `rows`.
    pub ranking: Ranking,
}

impl Measure {
    /// The stacks that are shown to be faster than all others with a figure: the first tier, if there is a second
    /// one to be faster than.
    pub fn leaders(&self) -> &[usize] {
        match self.ranking.tiers.as_slice() {
            [first, _, ..] => first,
            _ => &[],
        }
    }

    /// How many stacks could be placed.
    pub fn placed(&self) -> usize {
        self.ranking.tiers.iter().map(Vec::len).sum()
    }

    /// Stacks that have values, but too few to be placed.
    pub fn not_placed(&self) -> impl Iterator<Item = &Row> {
        let is_placed = |place: &usize| self.ranking.tiers.iter().flatten().any(|placed| placed == place);
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
    /// The stack's label in the plan.
    pub stack: String,
    /// The stack's cell with this workload; absent if the plan has none.
    pub cell: Option<CellId>,
    /// The values that count, by trial.
    pub values: Vec<Measurement>,
    /// `None` if there are none.
    pub summary: Option<Summary>,
    /// Measurements that do not count, because a guard failed.
    pub excluded: Vec<Measurement>,
}

/// Judges all measurements of a run. Each measure has a row for every stack of the plan, in its order, empty where
/// nothing was measured. Tests and metrics come in the order in which they were measured.
pub fn judge(plan: &Plan, measurements: &[Measurement]) -> Results {
    let alpha = Alpha {
        of_intervals: alpha_per_look(&plan.precision),
        of_differences: alpha_of_differences(&plan.precision),
    };
    let workloads = plan.workload_names().into_iter().filter_map(|name| {
        let stacks = stacks(plan, name);
        let of_workload: Vec<&Measurement> = measurements
            .iter()
            .filter(|one| stacks.iter().any(|stack| stack.cell == Some(one.trial.cell)))
            .collect();
        let tests = distinct(of_workload.iter().map(|one| one.entry.test.as_str()));
        let (tests, counts): (Vec<_>, Vec<_>) = tests
            .into_iter()
            .map(|test| judge_test(&stacks, &of_workload, test, alpha))
            .partition(|test| test.headline().metric.better() != Better::Neither);
        (!of_workload.is_empty()).then(|| WorkloadResults {
            name: name.to_owned(),
            tests,
            counts,
        })
    });
    Results {
        workloads: workloads.collect(),
    }
}

/// Errors that are allowed.
#[derive(Clone, Copy)]
struct Alpha {
    of_intervals: f64,
    of_differences: f64,
}

/// A stack, and its cell with the workload in question.
struct Stack<'a> {
    label: &'a str,
    cell: Option<CellId>,
    /// Nothing is known of how it came to be: it is shown next to what raidlab measured, and not ranked with it.
    is_imported: bool,
}

fn stacks<'a>(plan: &'a Plan, workload: &str) -> Vec<Stack<'a>> {
    let of_label = |label: &'a str| {
        let mut cells = plan.cells.iter();
        let cell = cells.find(|cell| cell.stack_label == label && cell.workload.name == workload);
        Stack {
            label,
            cell: cell.map(|cell| cell.id),
            is_imported: cell.is_some_and(|cell| cell.machine.kind == MachineKind::Foreign),
        }
    };
    plan.stack_labels().into_iter().map(of_label).collect()
}

fn judge_test(stacks: &[Stack<'_>], of_workload: &[&Measurement], test: &str, alpha: Alpha) -> TestResults {
    let of_test: Vec<&Measurement> = of_workload
        .iter()
        .copied()
        .filter(|one| one.entry.test == test)
        .collect();
    let mut metrics = distinct(of_test.iter().map(|one| one.entry.metric));
    let first = headline(&metrics);
    // Stable: the others stay as they came.
    metrics.sort_by_key(|&metric| Some(metric) != first);
    TestResults {
        name: test.to_owned(),
        measures: metrics
            .into_iter()
            .map(|metric| judge_measure(stacks, &of_test, metric, alpha))
            .collect(),
    }
}

fn judge_measure(stacks: &[Stack<'_>], of_test: &[&Measurement], metric: Metric, alpha: Alpha) -> Measure {
    let of_metric = || of_test.iter().copied().filter(|one| one.entry.metric == metric);
    let rows: Vec<Row> = stacks
        .iter()
        .map(|stack| {
            let of_stack = of_metric().filter(|one| Some(one.trial.cell) == stack.cell);
            let (counted, excluded): (Vec<&Measurement>, Vec<&Measurement>) =
                of_stack.partition(|one| one.counts());
            let values: Vec<f64> = counted.iter().map(|one| one.entry.value).collect();
            Row {
                stack: stack.label.to_owned(),
                cell: stack.cell,
                values: counted.into_iter().cloned().collect(),
                summary: Summary::of(&values, alpha.of_intervals),
                excluded: excluded.into_iter().cloned().collect(),
            }
        })
        .collect();
    let in_blocks = |row: &Row| row.values.iter().map(InBlock::by_round).collect();
    let is_mixed = stacks.iter().any(|stack| stack.is_imported) && stacks.iter().any(|stack| !stack.is_imported);
    let values: Vec<Vec<InBlock>> = rows
        .iter()
        .zip(stacks)
        .map(|(row, stack)| {
            if is_mixed && stack.is_imported {
                Vec::new()
            } else {
                in_blocks(row)
            }
        })
        .collect();
    Measure {
        metric,
        ranking: rank(&values, metric.better(), alpha.of_differences),
        rows,
    }
}

/// The metric of one test that stands for the test: a known one, or the first that can be better or worse; `None` if
/// there are only counts.
pub fn headline(of_test: &[Metric]) -> Option<Metric> {
    let known = Metric::HEADLINES.into_iter().find(|metric| of_test.contains(metric));
    let any = || {
        of_test
            .iter()
            .copied()
            .find(|metric| metric.better() != Better::Neither)
    };
    known.or_else(any)
}

/// Each once, in order of appearance.
pub(crate) fn distinct<T: Copy + Eq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen: Vec<T> = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

#[cfg(test)]
pub(crate) mod tests;
