use super::*;
use crate::schedule::Schedule;
use std::collections::{HashMap, HashSet};

fn plan(filesystems: &str, workloads: &str, precision: &str) -> Plan {
    let source = format!(
        "[disks]\ncount = 1\n[[stack]]\narray = {{ level = \"single\" }}\nfs = {{ type = [{filesystems}] }}\n\
         {workloads}\n[precision]\n{precision}\n"
    );
    study_file::read(&source, "test.toml", &study_file::Known::default()).expect("a study")
}

fn tree(name: &str, files: u32) -> String {
    format!("[[workload]]\nname = \"{name}\"\ntree = {{ files = {files}, size = \"4K\" }}\n")
}

const MANY: &str = "\"ext2\", \"ext3\", \"ext4\", \"xfs\", \"btrfs\", \"jfs\", \"reiserfs\"";

/// Plans of fixed and of adaptive precision, with cells of very different lengths.
fn plans() -> Vec<Plan> {
    let workloads = [10, 500, 20_000]
        .map(|files| tree(&format!("w{files}"), files))
        .concat();
    vec![
        plan("\"ext4\"", &tree("w", 10), "trials = 1"),
        plan("\"ext4\"", &tree("w", 10), "trials = 50"),
        plan(MANY, &workloads, "trials = 7"),
        plan(MANY, &workloads, "relative = 0.05\nmin_trials = 3\nmax_trials = 12"),
    ]
}

/// The trials that a run of this shard schedules, if each cell needs its maximum.
fn scheduled(plan: &Plan, shard: Option<Shard>) -> Vec<(CellId, u32)> {
    let mut schedule = Schedule::new(plan, 7, shard);
    let mut trials = Vec::new();
    loop {
        while let Some(trial) = schedule.next() {
            trials.push((trial.cell.id, trial.index));
        }
        let all = |had: &HashMap<CellId, u32>| had.keys().map(|&cell| (cell, plan.precision.max_trials)).collect();
        if !schedule.next_batch(all) {
            return trials;
        }
    }
}

#[test]
fn the_shards_together_are_the_whole_and_no_trial_is_in_two() {
    for plan in plans() {
        let whole: HashSet<_> = scheduled(&plan, None).into_iter().collect();
        for count in [1, 2, 3, 4, 7, 16, 64, 333] {
            let mut all = Vec::new();
            for number in 1..=count {
                all.extend(scheduled(&plan, Shard::new(number, count)));
            }
            assert_eq!(all.len(), whole.len(), "{count} shards: no trial twice");
            assert_eq!(all.into_iter().collect::<HashSet<_>>(), whole, "{count} shards");
        }
    }
}

#[test]
fn a_shard_keeps_the_order_of_the_whole() {
    for plan in plans().iter().filter(|plan| is_fixed(&plan.precision)) {
        let whole = scheduled(plan, None);
        let part = scheduled(plan, Shard::new(2, 3));
        let of_part: HashSet<_> = part.iter().copied().collect();
        let expected: Vec<_> = whole.into_iter().filter(|trial| of_part.contains(trial)).collect();
        assert_eq!(part, expected);
    }
}

#[test]
fn shards_take_equally_long_but_for_one_unit() {
    for plan in plans() {
        let trials = if is_fixed(&plan.precision) {
            plan.precision.max_trials
        } else {
            1
        };
        let longest = plan.cells.iter().map(expected_us).max().unwrap_or(0);
        let all: u64 = plan.cells.iter().map(expected_us).sum::<u64>() * u64::from(trials);
        for count in [1, 2, 3, 5, 8] {
            let partition = Partition::of(&plan, count);
            assert_eq!(partition.load_us.iter().sum::<u64>(), all);
            let (least, most) = (partition.load_us.iter().min(), partition.load_us.iter().max());
            assert!(most.expect("a shard") - least.expect("a shard") <= longest, "{count}");
        }
    }
}

#[test]
fn an_adaptive_cell_is_in_one_shard_and_fixed_trials_are_distributed() {
    let adaptive = plan(MANY, &tree("w", 10), "relative = 0.05\nmin_trials = 3\nmax_trials = 12");
    let partition = Partition::of(&adaptive, 3);
    for cell in &adaptive.cells {
        let shards: HashSet<_> = (0..12).map(|index| partition.shard_of(cell.id, index)).collect();
        assert_eq!(shards.len(), 1, "{}", cell.key);
    }
    let fixed = plan("\"ext4\"", &tree("w", 10), "trials = 50");
    let partition = Partition::of(&fixed, 4);
    let shards: HashSet<_> = (0..50)
        .map(|index| partition.shard_of(fixed.cells[0].id, index))
        .collect();
    assert_eq!(shards.len(), 4);
    assert_eq!(partition.shard_of(fixed.cells[0].id, 50), None);
}

/// If this changes, stores of shards that an earlier raidlab started no longer belong together.
#[test]
fn the_division_is_the_same_on_every_machine() {
    let plan = plan("\"ext4\", \"xfs\"", &(tree("a", 10) + &tree("b", 20_000)), "trials = 3");
    let partition = Partition::of(&plan, 4);
    let of_cell = |cell: &study::plan::Cell| -> String {
        (0..3)
            .filter_map(|index| partition.shard_of(cell.id, index))
            .map(|shard| shard.number().to_string())
            .collect()
    };
    let words: Vec<String> = plan
        .cells
        .iter()
        .map(|cell| format!("{}: {}", cell.key, of_cell(cell)))
        .collect();
    assert_eq!(
        words,
        ["ext4 | a: 333", "ext4 | b: 131", "xfs | a: 444", "xfs | b: 242"]
    );
}

#[test]
fn a_shard_may_have_nothing_to_do() {
    let plan = plan("\"ext4\"", &tree("w", 10), "trials = 1");
    let partition = Partition::of(&plan, 3);
    assert_eq!(partition.used(), 1);
    assert_eq!(scheduled(&plan, Shard::new(1, 3)).len(), 1);
    assert_eq!(scheduled(&plan, Shard::new(3, 3)), []);
    assert_eq!(part_of(&plan, Shard::new(3, 3)).cells.len(), 0);
    assert_eq!(part_of(&plan, None).cells.len(), 1);
}
