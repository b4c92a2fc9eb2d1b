use super::*;
use crate::judge::tests::{measurement, plan};

const VALUES: [f64; 6] = [100.0, 101.5, 99.0, 100.5, 98.5, 100.0];

/// A plan of `ext4` twice and `xfs`, and trials: the replicate's values are those of the cell times `factor`, in another
/// order.
fn controlled(factor: f64) -> Vec<ControlPair> {
    let mut plan = plan(&["ext4", "xfs"]);
    let mut replicate = plan.cells[0].clone();
    replicate.key = "ext4 #2 | small files".to_owned();
    replicate.stack_label = "ext4 #2".to_owned();
    plan.cells.push(replicate);
    plan.identify();
    let of = |stack: &str, values: &[f64]| -> Vec<Measurement> {
        let values = values.iter().zip(0..);
        values
            .map(|(value, index)| measurement(&plan, stack, "read", index, *value))
            .collect()
    };
    let turned: Vec<f64> = VALUES.iter().rev().map(|value| value * factor).collect();
    let all = [of("ext4", &VALUES), of("xfs", &VALUES), of("ext4 #2", &turned)].concat();
    control(&plan, &all)
}

#[test]
fn replicates_of_the_same_do_not_differ() {
    let pairs = controlled(1.0);
    assert_eq!(pairs.len(), 1, "xfs has no replicate");
    assert!(!pairs[0].differs, "{:?}", pairs[0]);
    assert!(pairs[0].interval.low < 1.0 && 1.0 < pairs[0].interval.high);
}

#[test]
fn a_difference_between_replicates_is_shown() {
    let pairs = controlled(1.25);
    assert!(pairs[0].differs, "{:?}", pairs[0]);
    assert!((pairs[0].ratio - 0.8).abs() < 0.01, "{:?}", pairs[0]);
    assert_eq!(pairs[0].second, "ext4 #2 | small files");
}

#[test]
fn samples_that_a_guard_excludes_do_not_count() {
    let mut plan = plan(&["ext4"]);
    plan.cells.push(plan.cells[0].clone());
    plan.cells[1].stack_label = "ext4 #2".to_owned();
    plan.identify();
    let of = |stack: &str| -> Vec<Measurement> {
        let all = (0..4).map(|index| measurement(&plan, stack, "read", index, 100.0 + f64::from(index)));
        all.collect()
    };
    let mut doubted = [of("ext4"), of("ext4 #2")].concat();
    assert_eq!(control(&plan, &doubted).len(), 1);
    for one in &mut doubted {
        one.failed_guards.push("cold-cache".to_owned());
    }
    assert_eq!(control(&plan, &doubted), []);
}
