//! Stores of older schemas, read by this version.
//!
//! `data/schema-3.db` was written by raidlab at commit 964b0d5: run 1 is a study of eight cells with a failed, an
//! interrupted and a guarded trial (invented figures), run 2 an imported line of Bonnie++. The CSV files next to it are
//! the exports of that version, but for one thing: a guard that fails now excludes the disks' counters of that measurement as well.

use std::path::PathBuf;
use store::{RunId, Store, TrialStatus};
use study::CellId;

/// A copy, because opening a store migrates it.
fn copy(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    std::fs::copy(data, &path).expect("the fixture is there");
    (folder, path)
}

#[test]
fn schema_3_gives_the_same_figures_as_before() {
    let (_folder, path) = copy("schema-3.db");
    let store = Store::open_existing(&path).expect("it is brought up to date");
    let before = [
        include_str!("../data/schema-3.run-1.csv"),
        include_str!("../data/schema-3.run-2.csv"),
    ];
    for (number, before) in (1..).zip(before) {
        assert_eq!(
            store.export_csv(RunId(number)).expect("an export"),
            before,
            "run {number}"
        );
    }
    let digest = store.digest(RunId(1)).expect("a digest");
    assert_eq!(digest, DIGEST_1);
}

/// Digest of the export by 964b0d5.
const DIGEST_1: &str = "56021c33f2054d35d923829d742159f9afc8377f3ebfbd73e8e710ed3aaf6789";

#[test]
fn schema_3_keeps_attempts_and_gives_cells_their_identity() {
    let (_folder, path) = copy("schema-3.db");
    let store = Store::open_existing(&path).expect("it is brought up to date");
    let trials = store.trials(RunId(1)).expect("trials");
    assert_eq!(trials.len(), 36);
    assert_eq!(trials.iter().filter(|trial| trial.attempts == 2).count(), 1);
    assert_eq!(
        trials
            .iter()
            .filter(|trial| trial.status == TrialStatus::Failed)
            .count(),
        1
    );
    let plan = store.plan(RunId(1)).expect("a plan");
    for cell in &plan.cells {
        assert_eq!(cell.id, CellId::of(cell), "{}", cell.key);
        assert_eq!(
            trials.iter().filter(|trial| trial.key.cell == cell.id).count(),
            3,
            "{}",
            cell.key
        );
    }
}

#[test]
fn opening_twice_changes_nothing_more() {
    let (_folder, path) = copy("schema-3.db");
    drop(Store::open(&path).expect("it is brought up to date"));
    let store = Store::open(&path).expect("it is up to date");
    assert_eq!(store.runs().expect("runs").len(), 2);
}
