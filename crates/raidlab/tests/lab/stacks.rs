//! Stacks of studies/every-stack.toml: each trial is done, and each file is as it was written, after a remount with
//! cold caches. `make stacks` has all of them; here are every topology and every filesystem, but not each with each.

use crate::laboratory::Laboratory;
use lab::kernel::{Flavour, KernelName};

const STUDY: &str = include_str!("../../../../studies/every-stack.toml");

/// Set to have all stacks.
const ALL: &str = "RAIDLAB_ALL_STACKS";

/// Runs a part of the study; the number of its cells.
fn run(only: &str) -> usize {
    let Some(laboratory) = Laboratory::open_with(&kernel()) else {
        return 0;
    };
    laboratory.study(STUDY);
    let results = laboratory.run_with(&["--jobs", "2", "--only", only]);
    println!("{only}: {} stacks", results.cells().len());
    results.cells().len()
}

fn kernel() -> KernelName {
    KernelName {
        flavour: Flavour::More,
        ..KernelName::parse(lab::kernel::DEFAULT_VERSION)
    }
}

#[test]
fn every_topology_has_a_filesystem() {
    run("type=ext4");
}

#[test]
fn every_filesystem_has_a_disk() {
    run("level=single");
}

#[test]
fn filesystems_make_arrays_themselves() {
    run("level=none");
}

#[test]
fn every_stack_of_the_study() {
    if std::env::var_os(ALL).is_none() {
        println!("{ALL} is not set: `make stacks` sets it");
        return;
    }
    let plan = study::read(STUDY, "every-stack.toml", &study::Known::default()).expect("a sound study");
    let level = |cell: &study::plan::Cell| cell.stack.array.level.word();
    let mut levels: Vec<&str> = plan.cells.iter().map(level).collect();
    levels.sort_unstable();
    levels.dedup();
    let cells: usize = levels.iter().map(|level| run(&format!("level={level}"))).sum();
    assert!(
        cells == 0 || cells == plan.cells.len(),
        "{cells} of {}",
        plan.cells.len()
    );
}
