use super::*;
use std::sync::Arc;
use study::TrialKey;
use study::event::Sample;
use study::plan::{Cell, Precision};
use study::stack::{MachineKind, MachineSpec, StackSpec};
use study::workload::{IoSpec, SizeSpec, TreeSpec, Work, WorkloadSpec};

pub(crate) const FIXED: Precision = Precision::fixed(3);

/// A plan of stacks, in this order, each with the workload `small files`.
pub(crate) fn plan(stacks: &[&str]) -> Plan {
    let mut plan = Plan {
        title: String::new(),
        description: String::new(),
        source: String::new(),
        models: Vec::new(),
        processors: Vec::new(),
        cells: stacks.iter().map(|stack| cell(stack)).collect(),
        left_out: Vec::new(),
        claims: Vec::new(),
        tables: Vec::new(),
        weights: Vec::new(),
        precision: FIXED,
    };
    plan.identify();
    plan
}

fn cell(stack: &str) -> Cell {
    Cell {
        key: format!("{stack} | small files"),
        id: CellId::default(),
        stack_label: stack.to_owned(),
        replicate: 0,
        acts: Vec::new(),
        axes: vec![
            ("type".to_owned(), stack.to_owned()),
            ("workload".to_owned(), "small files".to_owned()),
        ],
        machine: Arc::new(MachineSpec {
            kind: MachineKind::Lab,
            ram_bytes: 1 << 30,
            kernel: "6.12".to_owned(),
            processor: None,
            disks: Vec::new(),
            buses: Vec::new(),
            create_once: false,
            draws_models: false,
            moved: None,
        }),
        stack: Arc::new(StackSpec {
            mount_options: vec![stack.to_owned()],
            ..StackSpec::default()
        }),
        workload: WorkloadSpec {
            name: "small files".to_owned(),
            age: None,
            work: Work::Tree(TreeSpec {
                files: 1,
                size: SizeSpec {
                    min_bytes: 1,
                    median_bytes: 1,
                    max_bytes: 1,
                },
                directories: 1,
                tests: Vec::new(),
                from: None,
                from_warm: false,
                to: None,
            }),
        },
    }
}

/// Throughput in a test of a stack of [`plan`]; the seed follows from the index.
pub(crate) fn measurement(plan: &Plan, stack: &str, test: &str, index: u32, value: f64) -> Measurement {
    let cell = plan.cells.iter().find(|cell| cell.stack_label == stack);
    Measurement {
        trial: TrialKey {
            cell: cell.expect("a stack of the plan").id,
            index,
            seed: 1000 + u64::from(index),
        },
        entry: Sample {
            test: test.into(),
            metric: Metric::Throughput,
            value,
        },
        failed_guards: Vec::new(),
    }
}

#[test]
fn the_headline_comes_first_and_counts_are_not_ranked() {
    let plan = plan(&["xfs", "ext4"]);
    let mut requests = measurement(&plan, "xfs", "read", 0, 12.0);
    requests.entry.metric = Metric::DeviceReads;
    let measurements = [requests, measurement(&plan, "xfs", "read", 0, 80.0)];
    let results = judge(&plan, &measurements);
    let test = &results.workloads[0].tests[0];
    assert_eq!(test.headline().metric, Metric::Throughput);
    assert_eq!(test.measures[1].metric, Metric::DeviceReads);
    assert!(test.measures[1].ranking.tiers.is_empty());
}

#[test]
fn samples_with_failed_guards_stay_out_and_are_listed() {
    let plan = plan(&["xfs", "ext4"]);
    let mut warm = measurement(&plan, "xfs", "read", 1, 9_000.0);
    warm.failed_guards.push("cold-cache".to_owned());
    let measurements = [
        measurement(&plan, "xfs", "read", 0, 80.0),
        warm.clone(),
        measurement(&plan, "xfs", "read", 2, 82.0),
    ];
    let results = judge(&plan, &measurements);
    let row = &results.workloads[0].tests[0].headline().rows[0];
    assert_eq!(row.summary.as_ref().unwrap().max, 82.0);
    assert_eq!(row.excluded, [warm]);
}

#[test]
fn a_stack_without_samples_has_an_empty_row_and_no_rank() {
    let plan = plan(&["xfs", "ext4"]);
    let trials: Vec<Measurement> = (0..3)
        .map(|index| measurement(&plan, "ext4", "read", index, 80.0))
        .collect();
    let results = judge(&plan, &trials);
    let measure = results.workloads[0].tests[0].headline();
    assert_eq!(measure.rows[0].summary, None);
    assert_eq!(
        (measure.placed(), measure.leaders().len(), measure.not_placed().count()),
        (1, 0, 0)
    );
}

#[test]
fn effects_are_relative_to_the_best_in_the_direction_of_better() {
    let plan = plan(&["xfs", "ext4", "jfs"]);
    let noise = [1.0, 1.01, 0.99];
    let of = |metric: Metric| -> Vec<Measurement> {
        let stacks = [("xfs", 50.0), ("ext4", 100.0), ("jfs", 25.0)];
        let trials = stacks.iter().flat_map(|&(stack, value)| {
            let plan = &plan;
            (0..3).map(move |index| measurement(plan, stack, "read", index, value * noise[index as usize]))
        });
        trials
            .map(|mut one| {
                one.entry.metric = metric;
                one
            })
            .collect()
    };
    let effects = |metric: Metric| {
        let results = judge(&plan, &of(metric));
        let measure = results.workloads[0].tests[0].headline().clone();
        let ratios: Vec<Option<f64>> = measure
            .effects()
            .iter()
            .map(|effect| effect.map(|effect| (effect.ratio() * 1000.0).round() / 1000.0))
            .collect();
        let tiers: Vec<Option<usize>> = (0..3).map(|place| measure.tier(place)).collect();
        (ratios, tiers)
    };
    // 50 and 25 MiB/s of 100; then 50 and 100 seconds, of which 25 is the minimum.
    assert_eq!(
        effects(Metric::Throughput),
        (vec![Some(0.5), None, Some(0.25)], vec![Some(2), Some(1), Some(3)])
    );
    assert_eq!(
        effects(Metric::Duration),
        (vec![Some(0.5), Some(0.25), None], vec![Some(2), Some(3), Some(1)])
    );
}

#[test]
fn processor_time_alone_is_no_test() {
    let plan = plan(&["xfs", "ext4"]);
    let of = |test, metric| {
        let mut one = measurement(&plan, "xfs", test, 0, 12.0);
        one.entry.metric = metric;
        one
    };
    let measurements = [
        of("bonnie", Metric::CpuUser),
        of("bonnie", Metric::DeviceReads),
        of("read", Metric::CpuUser),
        of("read", Metric::Throughput),
        of("states", Metric::StatesTried),
    ];
    let results = judge(&plan, &measurements);
    let workload = &results.workloads[0];
    let names = |tests: &[TestResults]| tests.iter().map(|test| test.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&workload.tests), ["read"]);
    assert_eq!(workload.tests[0].headline().metric, Metric::Throughput);
    assert_eq!(names(&workload.counts), ["states"]);
}

/// Issue 39, A4: with `rate_iops`, throughput is what the study asked for.
#[test]
fn a_job_with_a_rate_leads_with_its_latency() {
    let mut plan = plan(&["xfs", "ext4"]);
    for cell in &mut plan.cells {
        cell.workload.work = Work::Io(IoSpec {
            rate_iops: Some(100),
            ..IoSpec::default()
        });
    }
    plan.identify();
    let sample = |stack: &str, metric: Metric, value: f64| {
        let mut one = measurement(&plan, stack, "read", 0, value);
        one.entry.metric = metric;
        one
    };
    let samples = [
        sample("xfs", Metric::Throughput, 0.39),
        sample("xfs", Metric::LatencyP99, 12.0),
        sample("ext4", Metric::Throughput, 0.39),
        sample("ext4", Metric::LatencyP99, 30.0),
    ];
    let results = judge(&plan, &samples);
    assert_eq!(results.workloads[0].tests[0].headline().metric, Metric::LatencyP99);
    // Fewer than 100 requests of ext4.
    let samples = [
        sample("xfs", Metric::LatencyP50, 8.0),
        sample("xfs", Metric::LatencyP99, 12.0),
        sample("ext4", Metric::LatencyP50, 9.0),
    ];
    let results = judge(&plan, &samples);
    assert_eq!(results.workloads[0].tests[0].headline().metric, Metric::LatencyP50);
}

/// Imported figures of 4 KiB requests were MiB/s alone, as if they were streams.
#[test]
fn imported_requests_that_are_small_are_counted() {
    let mut plan = plan(&["elsewhere"]);
    plan.cells[0].workload.work = Work::Imported(study::workload::ImportedSpec {
        program: "fio".to_owned(),
    });
    plan.cells[0].machine_mut().kind = MachineKind::Foreign;
    plan.identify();
    let with = |iops: f64| {
        let rate = measurement(&plan, "elsewhere", "randread", 0, 40.0);
        let mut requests = rate.clone();
        requests.entry.metric = Metric::Iops;
        requests.entry.value = iops;
        let results = judge(&plan, &[rate, requests]);
        results.workloads[0].tests[0].headline().metric
    };
    assert_eq!(with(10_240.0), Metric::Iops, "4 KiB each");
    assert_eq!(with(40.0), Metric::Throughput, "1 MiB each");

    let of = |test: &str, metric, value| {
        let mut one = measurement(&plan, "elsewhere", test, 0, value);
        one.entry.metric = metric;
        one
    };
    let streams_too = [
        of("randread", Metric::Throughput, 40.0),
        of("randread", Metric::Iops, 10_240.0),
        of("seqread", Metric::Throughput, 400.0),
        of("seqread", Metric::Iops, 400.0),
    ];
    let results = judge(&plan, &streams_too);
    let leads: Vec<Metric> = results.workloads[0]
        .tests
        .iter()
        .map(|test| test.headline().metric)
        .collect();
    assert_eq!(leads, [Metric::Iops, Metric::Throughput]);
}
