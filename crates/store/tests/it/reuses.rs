//! Results belong to cells (issue 12, item 11): after an edit of a study only changed cells are measured again.

use crate::fixture;
use crate::fixture::{Bench, ORIGIN};
use store::{OpenRun, Store};
use study::plan::Plan;

/// Measures the missing trials of a plan's run; returns how many were measured and how many existed.
fn run(bench: &Bench, store: &mut Store, plan: &Plan, origin: &str) -> (u32, u32, OpenRun) {
    let run = store.open_run(&store::RunSpec { plan, ..bench.spec() }).expect("a run");
    let (mut measured, mut reused) = (0, 0);
    for trial in plan.trials(7) {
        if run.is_done(trial.cell.id, trial.index) || store.reuse(&run, &trial, origin).expect("a look") {
            reused += 1;
            continue;
        }
        let id = store.begin_trial(&run, &trial, origin).expect("a trial");
        for event in fixture::events(0, trial.index) {
            store.append(id, &event).expect("an event");
        }
        store.end_trial(id, &store::Ending::Done, 1).expect("its end");
        measured += 1;
    }
    (measured, reused, run)
}

fn edited(bench: &Bench, source: &str, edit: impl FnOnce(&mut Plan)) -> Plan {
    let mut plan = bench.plan.clone();
    plan.source = source.to_owned();
    edit(&mut plan);
    plan.identify();
    plan
}

#[test]
fn an_edit_of_words_measures_nothing_again() {
    let bench = Bench::new();
    let mut store = bench.open();
    assert_eq!(run(&bench, &mut store, &bench.plan, ORIGIN).0, 4);
    let plan = edited(&bench, "# other words", |plan| {
        plan.description = "What this is about.".to_owned();
        for cell in &mut plan.cells {
            cell.stack_label.push_str(" on two disks");
            cell.workload.name = "other name".to_owned();
            cell.key = format!("{} | {}", cell.stack_label, cell.workload.name);
        }
    });
    let (measured, reused, second) = run(&bench, &mut store, &plan, ORIGIN);
    assert_eq!((measured, reused), (0, 4));
    let samples = store.samples(second.summary.id).expect("samples");
    assert_eq!(samples.len(), 8, "the figures are this run's too");
    assert_eq!(store.run(second.summary.id).expect("it").trials_done, 4);
    assert!(
        store
            .trials(second.summary.id)
            .expect("trials")
            .iter()
            .all(|trial| trial.is_reused)
    );
    // All events of a trial are reused.
    assert_eq!(store.guards(second.summary.id).expect("guards").len(), 4);
    assert_eq!(store.provenance(second.summary.id).expect("provenance").len(), 4);
}

#[test]
fn a_further_trial_measures_the_further_trial_only() {
    let bench = Bench::new();
    let mut store = bench.open();
    run(&bench, &mut store, &bench.plan, ORIGIN);
    let plan = edited(&bench, "# trials = 3", |plan| plan.precision.max_trials = 3);
    let (measured, reused, _) = run(&bench, &mut store, &plan, ORIGIN);
    assert_eq!((measured, reused), (2, 4));
}

#[test]
fn a_further_cell_measures_the_further_cell_only() {
    let bench = Bench::new();
    let mut store = bench.open();
    run(&bench, &mut store, &bench.plan, ORIGIN);
    let plan = edited(&bench, "# and one with more memory", |plan| {
        let mut cell = plan.cells[0].clone();
        cell.machine_mut().ram_bytes *= 2;
        cell.key.push_str(", more memory");
        plan.cells.insert(0, cell);
    });
    let (measured, reused, _) = run(&bench, &mut store, &plan, ORIGIN);
    assert_eq!((measured, reused), (2, 4));
}

#[test]
fn another_build_kernel_or_machine_measures_all_again() {
    let bench = Bench::new();
    let mut store = bench.open();
    run(&bench, &mut store, &bench.plan, ORIGIN);
    let plan = edited(&bench, "# the same", |_| ());
    let (measured, reused, _) = run(&bench, &mut store, &plan, "raidlab 0.1.0, kernel 7.3");
    assert_eq!((measured, reused), (4, 0));
}

#[test]
fn a_replicate_has_an_identity_of_its_own() {
    let bench = Bench::new();
    let plan = edited(&bench, "# twice", |plan| plan.cells.push(plan.cells[0].clone()));
    assert_eq!(plan.cells[2].replicate, 1);
    assert_ne!(plan.cells[0].id, plan.cells[2].id);
    assert_eq!(plan.cells[0].id, bench.plan.cells[0].id);
}

#[test]
fn an_attempt_that_failed_is_no_result() {
    let bench = Bench::new();
    let mut store = bench.open();
    let first = store.open_run(&bench.spec()).expect("a run");
    let trial = bench.trial(0, 0);
    let id = store.begin_trial(&first, &trial, ORIGIN).expect("a trial");
    let failure = study::event::Failure {
        step: "mkfs".to_owned(),
        message: "no".to_owned(),
    };
    store
        .end_trial(id, &store::Ending::Failed(failure), 1)
        .expect("its end");
    let plan = edited(&bench, "# other", |_| ());
    let second = store
        .open_run(&store::RunSpec {
            plan: &plan,
            ..bench.spec()
        })
        .expect("a run");
    assert!(!store.reuse(&second, &trial, ORIGIN).expect("a look"));
}
