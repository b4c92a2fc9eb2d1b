//! A store loses nothing that was appended and counts nothing twice.

use crate::fixture::{Bench, ORIGIN, events, sample};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::{Ending, RunState, Store, StoreError, TrialStatus};
use study::event::{Event, Failure, Guard};
use study::workload::{IoPattern, IoSpec, Work};

#[test]
fn a_run_reads_back_as_it_was_written() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    assert_eq!(run.found, RunState::New);
    bench.measure(&mut store, &run, 1, 0);
    bench.measure(&mut store, &run, 0, 0);

    let summary = store.latest_run().unwrap().unwrap();
    assert_eq!(
        (summary.seed, summary.trials_done, summary.finished_at_unix_s),
        (u64::MAX, 2, None)
    );
    assert_eq!(store.plan(summary.id).unwrap(), bench.plan);
    let samples = store.samples(summary.id).unwrap();
    let values: Vec<(&str, &str, f64)> = samples
        .iter()
        .map(|row| (bench.key(row.trial), row.entry.test.as_str(), row.entry.value))
        .collect();
    // The plan's order, although the other cell ran first.
    assert_eq!(
        values,
        [
            ("xfs | files, small", "read", 100.0 / 3.0),
            ("xfs | files, small", "write", 100.0 / 3.0 / 2.0),
            ("ext4 | files, small", "read", 25.0),
            ("ext4 | files, small", "write", 12.5),
        ]
    );
    let trials = store.trials(summary.id).unwrap();
    assert_eq!(
        (trials[0].wall_ns, trials[0].machine_ns),
        (Some(5_000_000), Some(1_000))
    );
    let expected = events(0, 0).into_iter().find_map(|event| match event {
        Event::Latency(latency) => Some(latency),
        _ => None,
    });
    assert_eq!(Some(store.latencies(summary.id).unwrap()[0].entry.clone()), expected);
    let throughput = &store.throughput(summary.id).unwrap()[0].entry;
    assert_eq!(
        (throughput.interval_ns, throughput.bytes.as_slice()),
        (1_000_000, &[4096, 0, 8192][..])
    );
    assert_eq!(store.provenance(summary.id).unwrap()[0].entry.value, "6.12.117");
    assert_eq!(store.steps(summary.id).unwrap()[0].entry.name, "mkfs");
}

/// A store is a file that anybody can edit.
#[test]
fn what_was_changed_by_hand_is_noticed() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    for (cell, index) in [(0, 0), (1, 0), (0, 1)] {
        bench.measure(&mut store, &run, cell, index);
    }
    let id = run.summary.id;
    assert_eq!(store.changed(id).unwrap(), None);
    let path = bench.path();
    drop((run, store));
    for edit in [
        "UPDATE sample SET value = value + 1 WHERE id = 1",
        "UPDATE guard SET passed = 1 - passed",
        "UPDATE provenance SET value = 'other'",
        "UPDATE trial SET status = 'failed' WHERE id = 2",
        "DELETE FROM latency",
        "DELETE FROM trial WHERE id = 1",
        "UPDATE run SET seed = '5'",
        "UPDATE run SET plan_json = replace(plan_json, 'ext4', 'ext2')",
        "INSERT INTO course SELECT NULL, 1, 'x', 1, '[]'",
    ] {
        let edited = path.with_file_name("edited.db");
        std::fs::copy(&path, &edited).unwrap();
        let connection = rusqlite::Connection::open(&edited).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = off").unwrap();
        assert!(connection.execute(edit, []).unwrap() > 0, "{edit}");
        drop(connection);
        let store = Store::open_existing(&edited).unwrap();
        assert!(store.changed(id).unwrap().is_some(), "{edit}");
    }
    let store = Store::open_existing(&path).unwrap();
    assert_eq!(store.changed(id).unwrap(), None);
}

#[test]
fn a_failed_guard_marks_the_samples_of_its_test() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    bench.measure(&mut store, &run, 0, 1);
    let samples = store.samples(run.summary.id).unwrap();
    assert_eq!(samples[0].failed_guards, ["cold-cache"]);
    assert_eq!(samples[1].failed_guards, [""; 0]);
}

/// `steady` excluded `randrw`, and its `read` and `write` were ranked.
#[test]
fn issue_39_a2_parts_of_an_excluded_measurement_are_excluded() {
    let mut bench = Bench::new();
    for cell in &mut bench.plan.cells {
        cell.workload.work = Work::Io(IoSpec {
            pattern: IoPattern::RandRw,
            ..IoSpec::default()
        });
    }
    bench.plan.identify();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    let trial = store.begin_trial(&run, &bench.trial(0, 0), ORIGIN).unwrap();
    let parts = ["randrw", "read", "write", "degraded", "randrw job 1"];
    for part in parts {
        store.append(trial, &sample(part, 1.0)).unwrap();
    }
    let steady = Event::Guard(Guard {
        name: "steady".to_owned(),
        test: Some("randrw".into()),
        passed: false,
        detail: "686 MiB/s in the first half, 1,381 in the second".to_owned(),
    });
    store.append(trial, &steady).unwrap();
    store.end_trial(trial, &Ending::Done, 1).unwrap();
    let samples = store.samples(run.summary.id).unwrap();
    let excluded: Vec<&str> = samples
        .iter()
        .filter(|sample| sample.failed_guards == ["steady"])
        .map(|sample| sample.entry.test.as_str())
        .collect();
    assert_eq!(excluded, parts);
}

/// Run by the process that will be killed: this test binary, started again.
fn write_until_killed(path: &Path) {
    let bench = Bench::new();
    let mut store = Store::open(path).unwrap();
    let run = store.open_run(&bench.spec()).unwrap();
    bench.measure(&mut store, &run, 0, 0);
    let trial = store.begin_trial(&run, &bench.trial(1, 0), ORIGIN).unwrap();
    store.append(trial, &sample("read", 1.0)).unwrap();
    println!("\nappended");
    std::thread::sleep(Duration::from_secs(60));
}

const STORE_OF_CHILD: &str = "RAIDLAB_TEST_STORE";

#[test]
fn a_killed_writer_loses_its_running_trial_only() {
    if let Some(path) = std::env::var_os(STORE_OF_CHILD) {
        return write_until_killed(Path::new(&path));
    }
    let bench = Bench::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "keeps::a_killed_writer_loses_its_running_trial_only",
            "--exact",
            "--nocapture",
        ])
        .env(STORE_OF_CHILD, bench.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(
        lines.any(|line| line.unwrap() == "appended"),
        "the child writes before it is killed"
    );
    let mut store = bench.open();
    assert!(
        matches!(store.open_run(&bench.spec()), Err(StoreError::Taken { .. })),
        "while it lives, it has the run"
    );
    child.kill().unwrap();
    child.wait().unwrap();

    let run = store.open_run(&bench.spec()).unwrap();
    assert_eq!(run.found, RunState::Unfinished);
    assert!(run.is_done(bench.plan.cells[0].id, 0));
    assert!(!run.is_done(bench.plan.cells[1].id, 0));
    assert_eq!(run.trials[1].status, TrialStatus::Interrupted);
    bench.measure(&mut store, &run, 1, 0);

    let samples = store.samples(run.summary.id).unwrap();
    assert_eq!(samples.len(), 4, "the interrupted attempt's sample counts nowhere");
    let trials = store.trials(run.summary.id).unwrap();
    assert_eq!(trials.iter().map(|trial| trial.attempts).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn no_trial_is_counted_twice() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    bench.measure(&mut store, &run, 0, 0);
    let again = store.begin_trial(&run, &bench.trial(0, 0), ORIGIN);
    assert!(
        matches!(again, Err(StoreError::TrialTaken { index: 0, .. })),
        "{again:?}"
    );
}

#[test]
fn a_failed_trial_may_be_tried_again() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    let trial = store.begin_trial(&run, &bench.trial(0, 0), ORIGIN).unwrap();
    let failure = Failure {
        step: "mkfs".to_owned(),
        message: "the guest was killed from outside".to_owned(),
    };
    store.end_trial(trial, &Ending::Failed(failure.clone()), 1).unwrap();
    let trials = store.trials(run.summary.id).unwrap();
    assert_eq!(
        (trials[0].status, trials[0].failure.as_ref()),
        (TrialStatus::Failed, Some(&failure))
    );
    assert_eq!(store.run(run.summary.id).unwrap().trials_failed, 1);

    bench.measure(&mut store, &run, 0, 0);
    let summary = store.run(run.summary.id).unwrap();
    assert_eq!((summary.trials_done, summary.trials_failed), (1, 0));
}

#[test]
fn a_finished_run_is_found_again_and_another_seed_is_another_run() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    store.finish_run(&run, 1_700_000_100).unwrap();
    let first = run.summary.id;
    drop(run);
    let again = store.open_run(&bench.spec()).unwrap();
    assert_eq!((again.found, again.summary.id), (RunState::Finished, first));
    let other = store
        .open_run(&store::RunSpec {
            seed: 7,
            ..bench.spec()
        })
        .unwrap();
    assert_eq!(other.found, RunState::New);
    let only = [("fs".to_owned(), "xfs".to_owned())];
    let part = store
        .open_run(&store::RunSpec {
            devices: &[],
            only: &only,
            ..bench.spec()
        })
        .unwrap();
    assert_eq!(part.found, RunState::New);
    assert_eq!(store.runs().unwrap().len(), 3);
    assert_eq!(store.latest_run().unwrap().unwrap().only, only);
}

#[test]
fn one_writer_a_run_and_no_lock_file_left() {
    let bench = Bench::new();
    let mut first = bench.open();
    let mut second = bench.open();
    let run = first.open_run(&bench.spec()).unwrap();
    let refused = second.open_run(&bench.spec());
    assert!(matches!(refused, Err(StoreError::Taken { run: 1, .. })), "{refused:?}");
    let other = second
        .open_run(&store::RunSpec {
            seed: 7,
            ..bench.spec()
        })
        .expect("another run of the store");
    drop(run);
    let run = first.open_run(&bench.spec()).expect("the lock went with its holder");
    drop((run, other, first, second));
    let left: Vec<_> = std::fs::read_dir(bench.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["raidlab.db"]);
}

#[test]
fn a_value_that_is_no_number_becomes_a_failed_guard() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    let trial = store.begin_trial(&run, &bench.trial(0, 0), ORIGIN).unwrap();
    store.append(trial, &sample("read", f64::NAN)).unwrap();
    store.end_trial(trial, &Ending::Done, 1).unwrap();
    assert!(store.samples(run.summary.id).unwrap().is_empty());
    let guards = store.guards(run.summary.id).unwrap();
    assert_eq!(
        (guards[0].entry.name.as_str(), guards[0].entry.passed),
        ("finite", false)
    );
    assert_eq!(guards[0].entry.detail, "throughput is NaN, should be a number");
}

#[test]
fn the_order_of_trials_does_not_show_in_export_or_digest() {
    let forth = Bench::new();
    let back = Bench::new();
    let (mut one, mut two) = (forth.open(), back.open());
    let run_one = one.open_run(&forth.spec()).unwrap();
    let run_two = two
        .open_run(&store::RunSpec {
            started_at_unix_s: 1_800_000_000,
            ..back.spec()
        })
        .unwrap();
    let order = [(0, 0), (0, 1), (1, 0), (1, 1)];
    order
        .iter()
        .for_each(|&(place, index)| forth.measure(&mut one, &run_one, place, index));
    order
        .iter()
        .rev()
        .for_each(|&(place, index)| back.measure(&mut two, &run_two, place, index));
    let id = run_one.summary.id;
    assert_eq!(one.digest(id).unwrap(), two.digest(id).unwrap());
    assert_eq!(one.export_csv(id).unwrap(), two.export_csv(id).unwrap());
    let without_header = |store: &Store| {
        let mut export: serde_json::Value =
            serde_json::from_str(&store.export_json(id, &store::Judged::default()).unwrap()).unwrap();
        export.as_object_mut().unwrap().remove("header").expect("a header");
        export
    };
    assert_eq!(without_header(&one), without_header(&two));
    let export = one.export_json(id, &store::Judged::default()).unwrap();
    assert_eq!(store::digest_of_export(&export), Some(one.digest(id).unwrap()));
}

#[test]
fn a_changed_value_changes_the_digest() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    let trial = store.begin_trial(&run, &bench.trial(0, 0), ORIGIN).unwrap();
    store.append(trial, &sample("read", 0.3)).unwrap();
    store.end_trial(trial, &Ending::Done, 1).unwrap();
    let other = Bench::new();
    let mut nearly = other.open();
    let run_nearly = nearly.open_run(&other.spec()).unwrap();
    let trial = nearly.begin_trial(&run_nearly, &other.trial(0, 0), ORIGIN).unwrap();
    nearly.append(trial, &sample("read", 0.1 + 0.2)).unwrap();
    nearly.end_trial(trial, &Ending::Done, 1).unwrap();
    assert_ne!(
        store.digest(run.summary.id).unwrap(),
        nearly.digest(run_nearly.summary.id).unwrap()
    );
}

#[test]
fn exports() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    bench.measure(&mut store, &run, 0, 1);
    store.finish_run(&run, 1_700_000_100).unwrap();
    let judged = store::Judged {
        claims: serde_json::json!([]),
        control: serde_json::json!([]),
        warnings: serde_json::json!({}),
    };
    insta::assert_snapshot!("export_json", store.export_json(run.summary.id, &judged).unwrap());
    insta::assert_snapshot!("export_csv", store.export_csv(run.summary.id).unwrap());
}

/// Where wall time goes: from each step to the next, before the first the guest boots, and nothing of a failed trial.
#[test]
fn wall_time_is_that_of_steps() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    let ms = Duration::from_millis;
    let failure = Failure {
        step: "mkfs".to_owned(),
        message: "it failed".to_owned(),
    };
    for (place, ending) in [(0, Ending::Done), (1, Ending::Failed(failure))] {
        let trial = store.begin_trial(&run, &bench.trial(place, 0), ORIGIN).unwrap();
        for (name, at_ns, wall) in [("mkfs", 10, ms(1)), ("mount", 30, ms(2)), ("mkfs", 40, ms(4))] {
            let name = name.to_owned();
            store.append_step(trial, &Event::Step { name, at_ns }, wall).unwrap();
        }
        store.append(trial, &Event::Done { at_ns: 100 }).unwrap();
        store.end_trial(trial, &ending, 9_000_000).unwrap();
    }
    let steps = store.wall_by_step(run.summary.id).unwrap();
    let words: Vec<(&str, u64, Duration, u128)> = steps
        .iter()
        .map(|step| (step.name.as_str(), step.steps, step.wall, step.machine.as_nanos()))
        .collect();
    assert_eq!(
        words,
        [("mkfs", 2, ms(6), 80), ("mount", 1, ms(2), 10), ("", 1, ms(1), 10)]
    );
}
