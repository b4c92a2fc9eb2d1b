//! Stacks of studies/every-stack.toml: each trial completes, and each file is unchanged after a remount with cold
//! caches. `make stacks` has all of them; here are every topology and every filesystem, but not every combination.

use crate::laboratory::{Laboratory, kernel_named};
use lab::kernel::{DEFAULT_VERSION, Flavour, KernelName};
use std::collections::BTreeSet;
use study::plan::Cell;
use study::stack::FilesystemKind;

pub const STUDY: &str = include_str!("../../../../studies/every-stack.toml");

/// Set it to test all stacks.
pub const ALL: &str = "RAIDLAB_ALL_STACKS";

/// Runs a part of the study; returns the number of its cells.
fn run(only: &str) -> usize {
    let Some(laboratory) = Laboratory::open_with(&kernel(Flavour::More)) else {
        return 0;
    };
    laboratory.study(STUDY);
    let results = laboratory.run_with(&["--only", only]);
    println!("{only}: {} stacks", results.cells().len());
    let dry = laboratory.dry_run(&["--only", only]);
    let real = laboratory.programs_called();
    assert_eq!(dry.len(), real.len());
    for (cell, commands) in &dry {
        // After the stack is set up, a workload remounts; with a mount program (ntfs-3g) that is one more call each
        // time, and an image is detached and attached again.
        let (up, later) = real[cell].split_at(commands.len().min(real[cell].len()));
        assert_eq!(commands, up, "the dry run and the run of {cell}");
        assert!(
            later
                .iter()
                .all(|command| commands.last() == Some(command) || command.starts_with("losetup ")),
            "{cell}: {later:?}"
        );
    }
    results.cells().len()
}

/// The kernel with ZFS takes minutes to build, and is not available everywhere: without it the test is skipped.
fn run_zfs() -> usize {
    match kernel_named(&kernel(Flavour::Zfs)) {
        Some(_) => run("type=zfs"),
        None => 0,
    }
}

/// The same applies to bcachefs's program.
fn run_bcachefs() -> usize {
    match crate::bcachefs::is_to_be_had() {
        true => run("type=bcachefs"),
        false => 0,
    }
}

fn kernel(flavour: Flavour) -> KernelName {
    KernelName {
        flavour,
        ..KernelName::parse(DEFAULT_VERSION)
    }
}

#[test]
fn every_topology_has_a_filesystem() {
    run("type=ext4");
}

#[test]
#[ignore = "test-all"]
fn every_filesystem_has_a_disk() {
    let plan = study_file::read(STUDY, "every-stack.toml", &study_file::Known::default()).expect("a sound study");
    run(&format!("level=single,{}", types(&plan.cells)));
}

#[test]
#[ignore = "test-all"]
fn btrfs_makes_arrays_itself() {
    run("level=none,type=btrfs");
}

#[test]
#[ignore = "test-all"]
fn zfs_makes_pools() {
    run_zfs();
}

#[test]
#[ignore = "test-all"]
fn bcachefs_makes_copies() {
    if crate::bcachefs::is_to_be_had() {
        run("level=none,type=bcachefs");
    }
}

#[test]
fn every_stack_of_the_study() {
    if std::env::var_os(ALL).is_none() {
        return requirements::skip(format!("{ALL} is not set: `make stacks` sets it"));
    }
    let plan = study_file::read(STUDY, "every-stack.toml", &study_file::Known::default()).expect("a sound study");
    let types = types(&plan.cells);
    let levels: BTreeSet<&str> = plan.cells.iter().flat_map(|cell| axis(cell, "level")).collect();
    let run_level = |level: &&str| run(&format!("level={level},{types}"));
    let cells = levels.iter().map(run_level).sum::<usize>() + run_zfs() + run_bcachefs();
    let of = |kind| {
        plan.cells
            .iter()
            .filter(|cell| cell.stack.filesystem.kind == kind)
            .count()
    };
    let (all, pools, copies) = (plan.cells.len(), of(FilesystemKind::Zfs), of(FilesystemKind::Bcachefs));
    assert!(
        [0, all - pools - copies, all - pools, all - copies, all].contains(&cells),
        "{cells} of {all}, {pools} of them ZFS, {copies} bcachefs"
    );
}

/// All filesystems except those whose packages are not available everywhere, for `--only`.
fn types(cells: &[Cell]) -> String {
    let wants_packages = |cell: &&Cell| {
        matches!(
            cell.stack.filesystem.kind,
            FilesystemKind::Zfs | FilesystemKind::Bcachefs
        )
    };
    let others = cells.iter().filter(|cell| !wants_packages(cell));
    let types: BTreeSet<&str> = others.flat_map(|cell| axis(cell, "type")).collect();
    let words: Vec<String> = types.into_iter().map(|word| format!("type={word}")).collect();
    words.join(",")
}

/// A cell's value on an axis.
fn axis<'c>(cell: &'c Cell, name: &str) -> Option<&'c str> {
    let place = cell.axes.iter().find(|(axis, _)| axis == name);
    place.map(|(_, value)| value.as_str())
}
