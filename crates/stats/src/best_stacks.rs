//! Selects the best stacks of each workload, for reports on many stacks.

use crate::judge::Lead;
use std::collections::{BTreeMap, HashMap, HashSet};
use study::metric::{Better, Metric};
use study::plan::Plan;
use study::{Measurement, TestId};

/// Up to `most` labels of stacks: those with the best median in the main test of each workload, then the second
/// best of each, and so on. The main test is the first one with a direction.
pub fn best_stacks<'a>(plan: &'a Plan, measurements: &[Measurement], most: usize) -> HashSet<&'a str> {
    let orders: Vec<Vec<&str>> = orders(plan, measurements).into_values().collect();
    let longest = orders.iter().map(Vec::len).max().unwrap_or(0);
    let mut best = HashSet::new();
    for place in 0..longest {
        for label in orders.iter().filter_map(|order| order.get(place)) {
            if best.len() < most {
                best.insert(*label);
            }
        }
    }
    best
}

/// Values of one metric of a stack.
type Values<'a> = HashMap<(&'a str, Metric), Vec<f64>>;

/// The stacks of each workload, best first.
fn orders<'a>(plan: &'a Plan, measurements: &[Measurement]) -> BTreeMap<&'a str, Vec<&'a str>> {
    let cells = plan.cells_by_id();
    let mut tests: HashMap<&str, &TestId> = HashMap::new();
    let mut metrics: HashMap<&str, Vec<Metric>> = HashMap::new();
    let mut values: HashMap<&str, Values<'a>> = HashMap::new();
    for one in measurements.iter().filter(|one| one.counts()) {
        let Some(&cell) = cells.get(&one.trial.cell) else {
            continue;
        };
        let workload = cell.workload.name.as_str();
        let metric = one.entry.metric;
        if metric.better() == Better::Neither {
            continue;
        }
        let test = tests.entry(workload).or_insert(&one.entry.test);
        if **test == one.entry.test {
            let metrics = metrics.entry(workload).or_default();
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
            let of_workload = values.entry(workload).or_default();
            of_workload
                .entry((&cell.stack_label, metric))
                .or_default()
                .push(one.entry.value);
        }
    }
    let is_of = |one: &Measurement, workload: &str| {
        let cell = cells.get(&one.trial.cell);
        cell.is_some_and(|cell| cell.workload.name == workload)
    };
    let order = |(workload, values): (&'a str, Values<'a>)| {
        let of_workload = plan.cells.iter().filter(|cell| cell.workload.name == workload);
        let measured: Vec<&Measurement> = measurements.iter().filter(|one| is_of(one, workload)).collect();
        let of_test: Vec<&Measurement> = measured
            .iter()
            .copied()
            .filter(|one| one.entry.test == *tests[workload])
            .collect();
        let main = Lead::of(of_workload, &measured).metric(&metrics[workload], &of_test);
        let mut medians: Vec<(f64, &str)> = values
            .into_iter()
            .filter(|((_, metric), _)| Some(*metric) == main)
            .filter_map(|((label, _), values)| Some((study::median(values)?, label)))
            .collect();
        medians.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(one.1)));
        if main.is_some_and(|metric| metric.better() == Better::Higher) {
            medians.reverse();
        }
        (workload, medians.into_iter().map(|(_, label)| label).collect())
    };
    values.into_iter().map(order).collect()
}
