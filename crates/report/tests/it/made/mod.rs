//! Further invented runs: a sweep over two axes, power cuts, and a run with 10,000 samples.

use super::first_look;
use report::{Input, TrialInfo, TrialState};
use stats::run_comparison::{RunComparison, RunSide, compare_runs};
use study::event::Sample;
use study::metric::Metric;
use study::plan::{Cell, Plan};
use study::workload::{POWER_CUT_TESTS, PowerCutSpec, Work};
use study::{CellId, Facts, Finding, FindingKind, Measured, Recorded, TrialKey};

pub const CHUNKS: [&str; 4] = ["16K", "64K", "256K", "1M"];
pub const BITMAPS: [&str; 2] = ["none", "internal"];
pub const TYPES: [&str; 2] = ["ext4", "xfs"];

/// A run of the first look's machine without cells.
fn empty() -> Input {
    let mut input = first_look::input();
    input.plan.cells.clear();
    input.plan.left_out.clear();
    input.samples.clear();
    input.trials.clear();
    input.guards.clear();
    input.latencies.clear();
    input.calls.clear();
    input.facts = Facts::default();
    input
}

fn template() -> Cell {
    first_look::input().plan.cells[0].clone()
}

fn axes(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(axis, value): &(&str, &str)| ((*axis).to_owned(), (*value).to_owned());
    pairs.iter().map(owned).collect()
}

fn key(cell: &Cell, index: u32) -> TrialKey {
    TrialKey {
        cell: cell.id,
        index,
        seed: 100 + u64::from(index),
    }
}

pub fn sample(input: &mut Input, trial: TrialKey, test: &str, metric: Metric, value: f64) {
    input.samples.push(Measured {
        trial,
        entry: Sample {
            test: test.into(),
            metric,
            value,
        },
        failed_guards: Vec::new(),
    });
}

fn done(input: &mut Input, trial: TrialKey) {
    let started = Some(input.trials.len() as u64);
    input.trials.push(TrialInfo {
        key: trial,
        started,
        state: TrialState::Done,
        wall_ns: Some(1_000_000_000),
        machine_ns: Some(10_000_000_000),
    });
}

/// Sequential writes double with the chunk and lose a third with a bitmap; random writes hardly differ. The claim
/// of the first look is about other cells and is untestable here, so it is replaced.
pub fn sweep() -> Input {
    let mut input = empty();
    for chunk in CHUNKS {
        for bitmap in BITMAPS {
            for kind in TYPES {
                let mut cell = template();
                let stack = format!("chunk {chunk} {kind} bitmap {bitmap}");
                cell.axes = axes(&[
                    ("chunk", chunk),
                    ("bitmap", bitmap),
                    ("type", kind),
                    // It depends on the type, so it is not an axis of a map.
                    ("block_size", if kind == "xfs" { "4K" } else { "1K" }),
                    ("workload", "small files"),
                ]);
                cell.key = format!("{stack} | {}", cell.workload.name);
                cell.stack_mut().mount_options = vec![stack.clone()];
                cell.stack_label = stack;
                input.plan.cells.push(cell);
            }
        }
    }
    input.plan.identify();
    let claim = &mut input.plan.claims[0];
    claim.filter = axes(&[("chunk", "1M"), ("type", "xfs"), ("test", "write")]);
    claim.that = "bitmap=none > bitmap=internal by 10%".to_owned();
    for (place, cell) in input.plan.cells.clone().iter().enumerate() {
        let chunk = CHUNKS
            .iter()
            .position(|chunk| cell.axes[0].1 == *chunk)
            .expect("of the sweep");
        let bitmap = if cell.axes[1].1 == "internal" { 1.5 } else { 1.0 };
        for index in 0..3 {
            let trial = key(cell, index);
            let noise = 1.0 + f64::from(index) * 0.002 + place as f64 * 0.0001;
            let write = 10.0 * 2.0_f64.powi(chunk as i32) / bitmap * noise;
            sample(&mut input, trial, "write", Metric::Throughput, write);
            sample(&mut input, trial, "randwrite", Metric::Throughput, 2.0 * noise);
            done(&mut input, trial);
        }
    }
    // One doubtful sample, with chunk 16K without a bitmap on ext4.
    let doubtful = input.samples.iter_mut().find(|sample| sample.entry.test == "write");
    doubtful
        .expect("there are writes")
        .failed_guards
        .push("cold-cache".to_owned());
    input
}

/// The same sweep over two axes of a workload on one stack: each point is a separate workload.
pub fn workload_sweep() -> Input {
    let mut input = empty();
    for bs in ["4K", "16K", "64K"] {
        for depth in ["1", "4"] {
            let mut cell = template();
            cell.workload.name = format!("reads bs={bs} iodepth={depth}");
            cell.axes = axes(&[("type", "ext4"), ("workload", "reads"), ("bs", bs), ("iodepth", depth)]);
            cell.key = format!("{} | {}", cell.stack_label, cell.workload.name);
            cell.stack_mut().mount_options = vec![cell.workload.name.clone()];
            input.plan.cells.push(cell);
        }
    }
    input.plan.identify();
    for (place, cell) in input.plan.cells.clone().iter().enumerate() {
        let trial = key(cell, 0);
        // A time: the first point is the worst one.
        sample(
            &mut input,
            trial,
            "randread",
            Metric::Duration,
            60.0 - 10.0 * place as f64,
        );
        done(&mut input, trial);
    }
    input
}

/// Six cuts on each of three stacks: nothing lost, two states lost, and one trial that failed.
pub fn power_cuts() -> Input {
    let mut input = empty();
    for stack in ["ext4", "ext4 nobarrier", "xfs"] {
        let mut cell = template();
        cell.stack_label = stack.to_owned();
        cell.stack_mut().mount_options = vec![stack.to_owned()];
        cell.workload.name = "power cuts".to_owned();
        cell.workload.work = Work::PowerCut(PowerCutSpec {
            operations: 60,
            points: 6,
            subsets: 1,
            ..PowerCutSpec::default()
        });
        cell.axes = axes(&[("type", stack), ("workload", "power cuts")]);
        cell.key = format!("{stack} | power cuts");
        input.plan.cells.push(cell);
    }
    input.plan.identify();
    for cell in input.plan.cells.clone().iter().take(2) {
        let trial = key(cell, 0);
        for (test, metric) in POWER_CUT_TESTS {
            let value = match (metric, cell.stack_label.as_str()) {
                (Metric::StatesTried, _) => 6.0,
                (Metric::AcknowledgedLost, "ext4 nobarrier") => 2.0,
                _ => 0.0,
            };
            sample(&mut input, trial, test, metric, value);
        }
        done(&mut input, trial);
        if cell.stack_label == "ext4 nobarrier" {
            input.facts.findings.push(Recorded {
                trial,
                entry: Finding {
                    at_ns: 1_264_472_393,
                    seed: 6_310_744_049_603_559_647,
                    kind: FindingKind::Lost,
                    detail: "u10 is gone".to_owned(),
                },
            });
        }
    }
    input
}

/// Copies of the first look with other stacks until there are this many samples.
pub fn many(samples: usize) -> Input {
    let base = first_look::input();
    let mut input = base.clone();
    let mut copy = 0;
    while input.samples.len() < samples {
        copy += 1;
        let mut cells = base.plan.cells.clone();
        for cell in &mut cells {
            cell.stack_label = format!("{} variant {copy}", cell.stack_label);
            cell.key = format!("{} | {}", cell.stack_label, cell.workload.name);
            cell.stack_mut().mount_options = vec![format!("x-variant={copy}")];
        }
        let mut plan = base.plan.clone();
        plan.cells = cells;
        plan.identify();
        let other = |id: CellId| {
            let place = base.plan.cells.iter().position(|cell| cell.id == id);
            plan.cells[place.expect("a cell of the first look")].id
        };
        let moved = |mut trial: TrialKey| {
            trial.cell = other(trial.cell);
            trial
        };
        input.trials.extend(base.trials.iter().cloned().map(|mut one| {
            one.key = moved(one.key);
            one
        }));
        input.samples.extend(base.samples.iter().cloned().map(|mut one| {
            one.trial = moved(one.trial);
            one
        }));
        input.guards.extend(base.guards.iter().cloned().map(|mut one| {
            one.trial = moved(one.trial);
            one
        }));
        input.latencies.extend(base.latencies.iter().cloned().map(|mut one| {
            one.trial = moved(one.trial);
            one
        }));
        input.throughput.extend(base.throughput.iter().cloned().map(|mut one| {
            one.trial = moved(one.trial);
            one
        }));
        input.calls.extend(base.calls.iter().cloned().map(|mut one| {
            one.trial = moved(one.trial);
            one
        }));
        input
            .facts
            .provenance
            .extend(base.facts.provenance.iter().cloned().map(|mut one| {
                one.trial = moved(one.trial);
                one
            }));
        input
            .facts
            .kernels
            .extend(base.facts.kernels.iter().cloned().map(|mut one| {
                one.trial = moved(one.trial);
                one
            }));
        input.plan.cells.extend(plan.cells.iter().cloned());
    }
    input
}

/// The first look compared with itself on another kernel, for small files: ext3 with 1K blocks became faster, JFS
/// slower and XFS hardly changed, ext4's deletion scatters, btrfs has one trial, and each run has a cell that the
/// other one lacks.
pub fn compared() -> RunComparison {
    let before = first_look::input();
    let mut after = before.clone();
    let is_small = |cell: &Cell| cell.workload.name == "small files";
    let keep =
        |plan: &mut Plan, missing: &str| plan.cells.retain(|cell| is_small(cell) && cell.stack_label != missing);
    let mut plan = before.plan.clone();
    keep(&mut plan, "reiserfs");
    keep(&mut after.plan, "ext3 4K");
    let labels: Vec<(CellId, String)> = after
        .plan
        .cells
        .iter()
        .map(|cell| (cell.id, cell.stack_label.clone()))
        .collect();
    after.samples.retain(|sample| {
        let is_btrfs = labels
            .iter()
            .any(|(id, label)| *id == sample.trial.cell && label == "btrfs");
        !is_btrfs || sample.trial.index == 0
    });
    for (place, sample) in after.samples.iter_mut().enumerate() {
        sample.entry.value *= [1.0, 1.006, 0.995, 1.002, 0.998][place % 5];
        let label = labels
            .iter()
            .find(|(id, _)| *id == sample.trial.cell)
            .map(|(_, label)| label.as_str());
        sample.entry.value *= match (label, &*sample.entry.test, sample.trial.index) {
            (Some("ext3 1K"), ..) => 1.25,
            (Some("jfs"), ..) => 0.7,
            (Some("xfs"), ..) => 1.001,
            (Some("ext4"), "delete", 0) => 0.8,
            (Some("ext4"), "delete", 1) => 1.3,
            _ => 1.0,
        };
    }
    // XFS ran on another kernel, so it is another cell.
    for cell in after.plan.cells.iter_mut().filter(|cell| cell.stack_label == "xfs") {
        cell.machine_mut().kernel = "7.3".to_owned();
        cell.key = cell.key.replacen("xfs", "xfs 7.3", 1);
    }
    after.plan.identify();
    for (cell, (old, _)) in after.plan.cells.iter().zip(&labels) {
        for sample in after.samples.iter_mut().filter(|sample| sample.trial.cell == *old) {
            sample.trial.cell = cell.id;
        }
    }
    let side = |plan, measurements| RunSide { plan, measurements };
    compare_runs(side(&plan, &before.samples), side(&after.plan, &after.samples))
}
