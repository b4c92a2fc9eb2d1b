//! The order of the trials of a plan.

use study::plan::{Plan, Trial};
use study::trial_seed;
use study_file::{Known, read};

const STUDY: &str = r#"
    [disks]
    count = 4
    [[stack]]
    array = { level = [0, 5, 10] }
    fs = { type = ["ext4", "xfs", "btrfs"] }
    [[workload]]
    name = "read"
    io = { size = "1G" }
    [precision]
    relative = 0.05
    min_trials = 3
    max_trials = 5
"#;

fn plan() -> Plan {
    read(STUDY, "order.toml", &Known::default()).expect("a sound study")
}

#[test]
fn seeds_and_orders_never_change() {
    let seeds: Vec<u64> = (0..4).map(|index| trial_seed(7, index)).collect();
    assert_eq!(
        seeds,
        [7834981124621953, 6700257999112469, 7829691681311240, 2857218874966017]
    );
    let plan = plan();
    let labels: Vec<String> = plan.trials(7).take(5).map(|trial| trial.cell.stack_label).collect();
    assert_eq!(
        labels,
        [
            "RAID 0 xfs",
            "RAID 5 xfs",
            "RAID 5 btrfs",
            "RAID 0 btrfs",
            "RAID 10 ext4"
        ]
    );
}

#[test]
fn every_round_has_every_cell_once_and_one_seed() {
    let plan = plan();
    let mut sorted: Vec<&str> = plan.cells.iter().map(|cell| cell.key.as_str()).collect();
    sorted.sort_unstable();
    let rounds: Vec<Vec<Trial>> = plan.rounds(1).collect();
    assert_eq!(rounds.len(), 5);
    for (index, round) in rounds.iter().enumerate() {
        let mut keys: Vec<&str> = round.iter().map(|trial| trial.cell.key.as_str()).collect();
        keys.sort_unstable();
        assert_eq!(keys, sorted);
        assert!(
            round
                .iter()
                .all(|trial| trial.index as usize == index && trial.seed == round[0].seed)
        );
    }
}

#[test]
fn rounds_differ_in_order_and_seed_and_so_do_runs() {
    let plan = plan();
    let order = |seed: u64, round: usize| -> Vec<String> {
        plan.rounds(seed)
            .nth(round)
            .into_iter()
            .flatten()
            .map(|trial| trial.cell.key)
            .collect()
    };
    assert_ne!(order(1, 0), order(1, 1));
    assert_ne!(order(1, 0), order(2, 0));
    assert_ne!(trial_seed(1, 0), trial_seed(1, 1));
    assert_ne!(trial_seed(1, 0), trial_seed(2, 0));
}
