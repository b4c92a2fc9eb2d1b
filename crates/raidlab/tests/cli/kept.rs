//! Stores for display, made without a lab.

use crate::desk::{Desk, SMALL};
use std::fs;
use std::path::PathBuf;
use store::{Ending, RunSpec, Store};
use study::event::{Event, Sample};
use study::metric::Metric;
use study::plan::{Plan, Trial};
use study::stack::MachineKind;

/// Offset of the schema version in SQLite's file format.
const USER_VERSION_AT: usize = 60;

fn plan() -> Plan {
    study_file::read(SMALL, "small.toml", &study_file::Known::default()).expect("a study without errors")
}

pub fn spec(plan: &Plan) -> RunSpec<'_> {
    RunSpec {
        plan,
        seed: 1,
        machine: MachineKind::Lab,
        devices: &[],
        only: &[],
        shard: None,
        raidlab_version: "0.1.0",
        command: "raidlab run small.toml --seed 1",
        started_at_unix_s: 1_700_000_000,
    }
}

/// A store without a run.
pub fn empty_store(desk: &Desk, name: &str) -> PathBuf {
    let path = desk.folder().join(name);
    drop(Store::open(&path).expect("a store is made"));
    path
}

/// A store with a run for each name; the n-th one has seed n.
pub fn named_runs(desk: &Desk, file: &str, names: &[&str]) {
    let mut store = Store::open(&desk.folder().join(file)).expect("a store is made");
    let plan = plan();
    for (seed, name) in (1..).zip(names) {
        let run = store.open_run(&RunSpec { seed, ..spec(&plan) }).expect("a run begins");
        store.name_run(&run, name).expect("it gets its name");
    }
}

/// A store with a run of this plan, without any trials.
pub fn store_of(desk: &Desk, name: &str, plan: &Plan) {
    let mut store = Store::open(&desk.folder().join(name)).expect("a store is made");
    drop(store.open_run(&spec(plan)).expect("a run begins"));
}

/// A store with one run whose only trial has this many samples.
pub fn store_with_samples(desk: &Desk, name: &str, samples: u32) -> PathBuf {
    let path = desk.folder().join(name);
    let mut store = Store::open(&path).expect("a store is made");
    let plan = plan();
    let run = store.open_run(&spec(&plan)).expect("a run begins");
    let trial = Trial {
        cell: plan.cells[0].clone(),
        index: 0,
        seed: 1,
    };
    let trial = store.begin_trial(&run, &trial, "test").expect("a trial begins");
    for number in 0..samples {
        let sample = Sample {
            test: "write".into(),
            metric: Metric::Throughput,
            value: f64::from(number),
        };
        store.append(trial, &Event::Sample(sample)).expect("a sample is kept");
    }
    store.end_trial(trial, &Ending::Done, 1).expect("a trial ends");
    path
}

/// A store with a run of `judged.toml` on this kind of machine: XFS writes twice as fast as ext4, reading scatters,
/// and all figures are `factor` times those of factor 1. One claim is supported, one refuted, one undecided, one
/// untestable.
pub fn judged_store(desk: &Desk, name: &str, machine: MachineKind, factor: f64) {
    let text = include_str!("judged.toml");
    let text = match machine {
        MachineKind::Host => &format!(
            "machine = \"host\"\n{}",
            text.replace("model = \"wd-500gb-2007\"\n", "")
        ),
        _ => text,
    };
    let plan =
        study_file::read(text, "judged.toml", &study_file::Known::default()).expect("a study without errors");
    let mut store = Store::open(&desk.folder().join(name)).expect("a store is made");
    let run = store
        .open_run(&RunSpec { machine, ..spec(&plan) })
        .expect("a run begins");
    for (cell, write) in plan.cells.iter().zip([50.0, 100.0]) {
        for (index, read) in (0..).zip([40.0, 70.0, 30.0, 55.0]) {
            let trial = Trial {
                cell: cell.clone(),
                index,
                seed: u64::from(index) + 1,
            };
            let trial = store.begin_trial(&run, &trial, "test").expect("a trial begins");
            // The fast trials of each cell have other seeds.
            let read = if write > 60.0 { 100.0 - read } else { read };
            let write = write * (1.0 + 0.01 * f64::from(index));
            for (test, value) in [("write", write), ("read", read)] {
                let sample = Sample {
                    test: test.into(),
                    metric: Metric::Throughput,
                    value: value * factor,
                };
                store.append(trial, &Event::Sample(sample)).expect("a sample is kept");
            }
            store.end_trial(trial, &Ending::Done, 1).expect("a trial ends");
        }
    }
}

/// A store as a future raidlab would leave it.
pub fn newer_store(desk: &Desk, name: &str) {
    let path = empty_store(desk, name);
    let mut bytes = fs::read(&path).expect("the store is a file");
    bytes[USER_VERSION_AT..USER_VERSION_AT + 4].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(path, bytes).expect("the store is a file");
}
