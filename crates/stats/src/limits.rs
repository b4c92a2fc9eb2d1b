//! Finds tests that were limited by the CPU. A study with a processor model may intend this, so their samples stay
//! in all figures; the report lists them.

use std::collections::{BTreeMap, HashMap};
use study::metric::Metric;
use study::plan::{Cell, Plan};
use study::stack::MachineKind;
use study::workload::Work;
use study::{CellId, Measurement, Scope, TestId};

/// Minimum CPU utilisation, in percent, at which a core or the only task on it limits a test.
const BUSY_PERCENT_MIN: f64 = 90.0;

/// A test of a workload during which the CPU was busy.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessorBound {
    pub workload: String,
    pub test: String,
    pub by: Busy,
    /// Labels of the stacks, in the plan's order, each with the utilisation in percent.
    pub stacks: Vec<(String, f64)>,
}

/// The busy part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// All cores of the lab's processor model.
    Cores,
    /// One task in the lab, with one core to itself.
    Task,
    /// On a host: all threads of the load generator.
    LoadGenerator,
}

/// Tests that the CPU limited, in the plan's order.
pub fn processor_bound(plan: &Plan, samples: &[Measurement]) -> Vec<ProcessorBound> {
    let means = means(samples);
    let mut all: Vec<ProcessorBound> = Vec::new();
    for cell in &plan.cells {
        for (test, figures) in means.get(&cell.id).into_iter().flatten() {
            // Samples reported after the last test cover the time since then.
            if test.scope() == Scope::Member {
                continue;
            }
            let Some((by, percent)) = busy(cell, figures) else {
                continue;
            };
            let known = all
                .iter_mut()
                .find(|known| known.workload == cell.workload.name && **test == *known.test && known.by == by);
            let stack = (cell.stack_label.clone(), percent);
            match known {
                Some(known) => known.stacks.push(stack),
                None => all.push(ProcessorBound {
                    workload: cell.workload.name.clone(),
                    test: test.to_string(),
                    by,
                    stacks: vec![stack],
                }),
            }
        }
    }
    all
}

/// Sums and counts of a test's samples over its trials, for the metrics that show CPU utilisation.
type Figures = Vec<(Metric, f64, u32)>;

fn means(samples: &[Measurement]) -> HashMap<CellId, BTreeMap<&TestId, Figures>> {
    let wanted = [
        Metric::ProcessorBusy,
        Metric::ProcessorBusiestTask,
        Metric::CpuUser,
        Metric::CpuSystem,
        Metric::Duration,
    ];
    let mut all: HashMap<CellId, BTreeMap<&TestId, Figures>> = HashMap::new();
    for sample in samples.iter().filter(|sample| wanted.contains(&sample.entry.metric)) {
        let of_cell = all.entry(sample.trial.cell).or_default();
        let figures = of_cell.entry(&sample.entry.test).or_default();
        match figures.iter_mut().find(|(metric, ..)| *metric == sample.entry.metric) {
            Some((_, sum, count)) => {
                *sum += sample.entry.value;
                *count += 1;
            }
            None => figures.push((sample.entry.metric, sample.entry.value, 1)),
        }
    }
    all
}

fn busy(cell: &Cell, figures: &Figures) -> Option<(Busy, f64)> {
    let mean = |wanted: Metric| {
        let found = figures.iter().find(|(metric, ..)| *metric == wanted);
        found.map(|(_, sum, count)| sum / f64::from(*count))
    };
    let all = match cell.machine.kind {
        MachineKind::Lab => [
            (Busy::Cores, mean(Metric::ProcessorBusy)),
            (Busy::Task, mean(Metric::ProcessorBusiestTask)),
        ],
        _ => {
            let used = mean(Metric::CpuUser)
                .zip(mean(Metric::CpuSystem))
                .map(|(user, system)| user + system);
            let offered = mean(Metric::Duration).zip(threads(&cell.workload.work));
            let percent = used
                .zip(offered)
                .map(|(used, (duration, threads))| 100.0 * used / (duration * threads));
            [(Busy::LoadGenerator, percent), (Busy::LoadGenerator, None)]
        }
    };
    let known = all.into_iter().filter_map(|(by, percent)| Some((by, percent?)));
    known.into_iter().find(|(_, percent)| *percent >= BUSY_PERCENT_MIN)
}

/// Number of threads or processes that generate the load; `None` if unknown.
fn threads(work: &Work) -> Option<f64> {
    match work {
        Work::Io(spec) => Some(f64::from(spec.jobs)),
        Work::Server(spec) => Some(f64::from(spec.clients)),
        Work::Bonnie(spec) => Some(f64::from(spec.processes)),
        Work::Iozone(spec) => Some(f64::from(spec.processes)),
        Work::Tree(_) | Work::FioFile(_) | Work::PowerCut(_) | Work::Imported(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests::{measurement, plan};
    use study::workload::IoSpec;

    fn sample(plan: &Plan, stack: &str, metric: Metric, value: f64) -> Measurement {
        let mut sample = measurement(plan, stack, "read", 0, value);
        sample.entry.metric = metric;
        sample
    }

    #[test]
    fn a_model_whose_core_or_task_is_busy_is_the_limit() {
        let plan = plan(&["xfs", "ext4", "jfs"]);
        let samples = [
            sample(&plan, "xfs", Metric::ProcessorBusy, 96.0),
            sample(&plan, "ext4", Metric::ProcessorBusy, 40.0),
            sample(&plan, "ext4", Metric::ProcessorBusiestTask, 93.0),
            sample(&plan, "jfs", Metric::ProcessorBusy, 60.0),
            sample(&plan, "jfs", Metric::ProcessorBusiestTask, 80.0),
        ];
        let found = processor_bound(&plan, &samples);
        let words: Vec<(Busy, &str)> = found
            .iter()
            .map(|bound| (bound.by, bound.stacks[0].0.as_str()))
            .collect();
        assert_eq!(words, [(Busy::Cores, "xfs"), (Busy::Task, "ext4")]);
    }

    /// Two jobs in 10 s have 20 s of CPU time.
    #[test]
    fn a_load_generator_that_does_nothing_but_compute_is_the_limit() {
        let mut plan = plan(&["xfs"]);
        plan.cells[0].machine.kind = MachineKind::Host;
        plan.cells[0].workload.work = Work::Io(IoSpec {
            jobs: 2,
            ..IoSpec::default()
        });
        plan.identify();
        let with = |user_s: f64| {
            let samples = [
                sample(&plan, "xfs", Metric::CpuUser, user_s),
                sample(&plan, "xfs", Metric::CpuSystem, 4.0),
                sample(&plan, "xfs", Metric::Duration, 10.0),
            ];
            processor_bound(&plan, &samples)
        };
        assert_eq!(with(15.0)[0].by, Busy::LoadGenerator);
        assert_eq!(with(6.0), []);
    }
}
