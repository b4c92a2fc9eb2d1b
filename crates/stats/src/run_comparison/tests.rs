//! Comparisons of two runs.

use super::*;
use crate::judge::tests::{measurement, plan};

fn run(plan: &Plan, stacks: &[(&str, &[f64])]) -> Vec<Measurement> {
    let of_stack = |(stack, values): &(&str, &[f64])| -> Vec<Measurement> {
        let values = values.iter().zip(0..);
        values
            .map(|(&value, index)| measurement(plan, stack, "read", index, value))
            .collect()
    };
    stacks.iter().flat_map(of_stack).collect()
}

fn side<'a>(plan: &'a Plan, measurements: &'a [Measurement]) -> RunSide<'a> {
    RunSide { plan, measurements }
}

#[test]
fn cells_are_paired_by_identity_and_the_rest_is_listed() {
    let (one, other) = (plan(&["xfs", "ext4"]), plan(&["jfs", "xfs"]));
    let before = run(&one, &[("xfs", &[100.0, 103.0, 98.0, 101.0]), ("ext4", &[1.0; 4])]);
    let after = run(&other, &[("xfs", &[120.5, 123.0, 118.0, 121.0]), ("jfs", &[1.0; 4])]);
    let comparison = compare_runs(side(&one, &before), side(&other, &after));
    assert_eq!(comparison.only_first, ["ext4 | small files"]);
    assert_eq!(comparison.only_second, ["jfs | small files"]);
    let [row] = &comparison.rows[..] else {
        panic!("{comparison:?}")
    };
    assert_eq!(
        (row.outcome, row.is_same_cell, row.by_seed, row.trials),
        (ComparisonOutcome::Faster, true, true, 4)
    );
    assert!((row.ratio.expect("a ratio") - 1.2).abs() < 0.01);
}

#[test]
fn another_kernel_is_another_cell_of_the_same_stack() {
    let one = plan(&["xfs"]);
    let mut other = one.clone();
    other.cells[0].machine_mut().kernel = "7.3".to_owned();
    other.cells[0].key = "xfs 7.3".to_owned();
    other.identify();
    let before = run(&one, &[("xfs", &[100.0, 101.0, 99.0])]);
    let after = run(&other, &[("xfs", &[80.0, 80.5, 79.6])]);
    let comparison = compare_runs(side(&one, &before), side(&other, &after));
    let [row] = &comparison.rows[..] else {
        panic!("{comparison:?}")
    };
    assert_eq!((row.outcome, row.is_same_cell), (ComparisonOutcome::Slower, false));
    assert!(comparison.only_first.is_empty() && comparison.only_second.is_empty());
}

/// Two runs with another scheduler had no cell in common, although all their names were equal.
#[test]
fn issue_39_b11_cells_that_differ_in_a_setting_are_compared_and_the_setting_is_named() {
    let one = plan(&["xfs", "ext4"]);
    let mut other = one.clone();
    for cell in &mut other.cells {
        cell.stack_mut().scheduler = Some("none".to_owned());
    }
    other.identify();
    let of = |plan: &Plan| run(plan, &[("xfs", &[100.0; 3]), ("ext4", &[70.0; 3])]);
    let (before, after) = (of(&one), of(&other));
    let comparison = compare_runs(side(&one, &before), side(&other, &after));
    assert_eq!(comparison.rows.len(), 2, "{comparison:?}");
    assert_eq!(comparison.differences, ["stack.scheduler: not set in A, none in B"]);
    // Other work is not compared.
    for cell in &mut other.cells {
        cell.workload.work = study::workload::Work::Io(study::workload::IoSpec::default());
    }
    other.identify();
    assert_eq!(compare_runs(side(&one, &before), side(&other, &[])).rows, []);
}

#[test]
fn the_same_run_twice_is_equal() {
    let plan = plan(&["xfs", "ext4"]);
    let values = run(&plan, &[("xfs", &[100.0, 101.0, 99.0]), ("ext4", &[70.0, 75.0, 60.0])]);
    let comparison = compare_runs(side(&plan, &values), side(&plan, &values));
    assert!(
        comparison
            .rows
            .iter()
            .all(|row| row.outcome == ComparisonOutcome::EqualWithin(0.0)),
        "{comparison:?}"
    );
}

#[test]
fn too_few_and_not_told_apart_are_two_things() {
    let plan = plan(&["xfs", "ext4"]);
    let before = run(&plan, &[("xfs", &[100.0, 140.0, 70.0]), ("ext4", &[70.0])]);
    let after = run(&plan, &[("xfs", &[130.0, 80.0, 110.0]), ("ext4", &[90.0])]);
    let outcomes: Vec<ComparisonOutcome> = compare_runs(side(&plan, &before), side(&plan, &after))
        .rows
        .iter()
        .map(|row| row.outcome)
        .collect();
    assert_eq!(outcomes, [ComparisonOutcome::NotShown, ComparisonOutcome::TooFewTrials]);
}

fn imported(stack: &str, workload: &str) -> Plan {
    let mut imported = plan(&[stack]);
    let cell = &mut imported.cells[0];
    cell.machine_mut().kind = study::stack::MachineKind::Foreign;
    cell.workload.name = workload.to_owned();
    imported.identify();
    imported
}

#[test]
fn issue_39_b11_imported_results_are_compared_where_stack_and_test_agree() {
    let (lab, measured) = (plan(&["xfs", "ext4"]), imported("xfs", "fio"));
    let simulated = run(&lab, &[("xfs", &[100.0, 103.0, 98.0]), ("ext4", &[1.0; 3])]);
    let real = run(&measured, &[("xfs", &[80.0])]);
    let comparison = compare_runs(side(&lab, &simulated), side(&measured, &real));
    let [row] = &comparison.rows[..] else {
        panic!("{comparison:?}")
    };
    assert_eq!(
        (row.ratio, row.interval, row.outcome),
        (Some(0.8), None, ComparisonOutcome::TooFewTrials)
    );
    assert_eq!(comparison.only_first, ["ext4 | small files"]);
    assert_eq!((&comparison.only_second[..], comparison.names), (&[][..], None));
}

/// The jobs of one fio output are workloads of a study.
#[test]
fn issue_39_b11_each_test_of_imported_results_has_its_own_partner() {
    let (mut lab, measured) = (plan(&["xfs"]), imported("xfs", "fio"));
    let mut writes = lab.cells[0].clone();
    writes.workload.name = "backup".to_owned();
    writes.workload.work = study::workload::Work::Io(study::workload::IoSpec::default());
    lab.cells.push(writes);
    lab.identify();
    let of = |plan: &Plan, cell: usize, test: &str, value: f64| {
        let mut one = measurement(plan, "xfs", test, 0, value);
        one.trial.cell = plan.cells[cell].id;
        one
    };
    let simulated = [of(&lab, 0, "read", 100.0), of(&lab, 1, "write", 50.0)];
    let real = [of(&measured, 0, "read", 80.0), of(&measured, 0, "write", 60.0)];
    let comparison = compare_runs(side(&lab, &simulated), side(&measured, &real));
    let ratios: Vec<(&str, Option<f64>)> = comparison
        .rows
        .iter()
        .map(|row| (row.test.as_str(), row.ratio))
        .collect();
    assert_eq!(ratios, [("read", Some(0.8)), ("write", Some(1.2))], "{comparison:?}");
    assert_eq!(
        (comparison.only_first, comparison.only_second),
        (Vec::new(), Vec::new())
    );
}

#[test]
fn issue_39_b11_otherwise_the_names_to_give_are_said() {
    let (lab, measured) = (plan(&["xfs"]), imported("my disks", "fio"));
    let simulated = run(&lab, &[("xfs", &[100.0, 103.0, 98.0])]);
    let real = run(&measured, &[("my disks", &[80.0])]);
    let comparison = compare_runs(side(&measured, &real), side(&lab, &simulated));
    let names = comparison.names.expect("names");
    assert!(comparison.rows.is_empty());
    assert_eq!(
        (&names.stacks[..], &names.tests[..]),
        (&["xfs".to_owned()][..], &["read".to_owned()][..])
    );
}
