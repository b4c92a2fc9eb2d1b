//! The runner with simulated places, where the order of trials is deterministic.

use super::*;
use host::HungProcess;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use store::RunSpec;
use study::event::Failure;
use study::stack::MachineKind;

const STUDY: &str = r#"
[disks]
count = 1
[[stack]]
array = { level = "single" }
fs = { type = ["ext2", "ext4", "xfs"] }
[[workload]]
name = "w"
tree = { files = 1, size = "4K" }
[precision]
trials = 2
"#;

/// Log of all places of a test.
#[derive(Default)]
struct Log {
    /// `place:key:index`, in the order in which trials ended.
    trials: Mutex<Vec<String>>,
    under_way: AtomicUsize,
    under_way_max: AtomicUsize,
    /// Trials do not end before this many have run at the same time.
    together: usize,
}

struct Pretended<'a> {
    name: &'static str,
    slots: usize,
    log: &'a Log,
    /// The outcome of a trial, given how many have ended before it.
    end: &'a (dyn Fn(usize, &AtomicBool) -> TrialReport + Sync),
}

impl Place for Pretended<'_> {
    fn is_simulated(&self) -> bool {
        true
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn origin(&self, _trial: &Trial) -> String {
        "pretended".to_owned()
    }

    fn run(
        &self,
        trial: &Trial,
        slot: usize,
        stop: &AtomicBool,
        see: &mut dyn FnMut(Seen),
    ) -> Result<TrialReport, PlaceError> {
        assert!(slot < self.slots);
        let now = self.log.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.log.under_way_max.fetch_max(now, Ordering::SeqCst);
        see(Seen::Event(Event::Step {
            name: "mkfs".to_owned(),
            at_ns: 1,
        }));
        see(Seen::Heartbeat {
            virtual_time: Duration::from_millis(3),
        });
        let began = Instant::now();
        while self.log.under_way_max.load(Ordering::SeqCst) < self.log.together {
            assert!(began.elapsed() < Duration::from_secs(60), "slots stay free");
            thread::sleep(Duration::from_millis(1));
        }
        let mut trials = self.log.trials.lock().expect("no test panics while it holds it");
        let report = (self.end)(trials.len(), stop);
        trials.push(format!("{}:{}:{}", self.name, trial.cell.key, trial.index));
        self.log.under_way.fetch_sub(1, Ordering::SeqCst);
        Ok(report)
    }
}

fn report(ending: Ending) -> TrialReport {
    TrialReport {
        ending,
        wall: Duration::from_millis(20),
        halt: None,
    }
}

fn done(_: usize, _: &AtomicBool) -> TrialReport {
    report(Ending::Done)
}

struct World {
    plan: Plan,
    folder: tempfile::TempDir,
    interrupt: Interrupt,
    seen: Vec<String>,
}

impl World {
    fn new() -> World {
        World {
            plan: study_file::read(STUDY, "test.toml", &study_file::Known::default()).expect("a study"),
            folder: tempfile::tempdir().expect("a folder"),
            interrupt: Interrupt::default(),
            seen: Vec::new(),
        }
    }

    fn run(&mut self, places: &[Box<dyn Place + '_>]) -> Result<RunOutcome, RunError> {
        let mut store = Store::open(&self.folder.path().join("raidlab.db")).expect("a store");
        let run = store
            .open_run(&RunSpec {
                plan: &self.plan,
                seed: 1,
                machine: MachineKind::Lab,
                devices: &[],
                only: &[],
                shard: None,
                raidlab_version: "test",
                command: "test",
                started_at_unix_s: 0,
            })
            .expect("a run");
        let seen = &mut self.seen;
        Runner {
            plan: &self.plan,
            places,
            store: &mut store,
            run: &run,
            reuse: true,
            interrupt: &self.interrupt,
            observer: &mut |progress| seen.push(words(progress)),
        }
        .run(1)
    }
}

fn words(progress: Progress<'_>) -> String {
    match progress {
        Progress::Began { done, all, .. } => format!("began {done}/{all}"),
        Progress::Extended { all } => format!("extended {all}"),
        Progress::Known { trial } => format!("known {}", trial.cell.key),
        Progress::TrialBegan { id, trial } => format!("{id} began {}", trial.cell.key),
        Progress::Step { id, name } => format!("{id} {name}"),
        Progress::Heartbeat { id, virtual_time } => format!("{id} at {} ms", virtual_time.as_millis()),
        Progress::TrialEnded { id, ending } => format!("{id} {ending:?}"),
        Progress::Notice(words) => words.to_owned(),
    }
}

#[test]
fn every_trial_is_run_once_and_its_progress_told() {
    let (mut world, log) = (World::new(), Log::default());
    let outcome = world.run(&[Box::new(Pretended {
        name: "a",
        slots: 1,
        log: &log,
        end: &done,
    })]);
    assert_eq!(outcome.expect("it went").done, 6);
    let mut trials = log.trials.into_inner().expect("no panic");
    assert_eq!(trials.iter().filter(|trial| trial.ends_with(":0")).count(), 3);
    assert!(
        trials[..3].iter().all(|trial| trial.ends_with(":0")),
        "rounds are interleaved: {trials:?}"
    );
    trials.sort();
    trials.dedup();
    assert_eq!(trials.len(), 6);
    assert_eq!(log.under_way_max.into_inner(), 1);
    assert_eq!(world.seen[0], "began 0/6");
    assert_eq!(world.seen[2..5], ["1 mkfs", "1 at 3 ms", "1 Done"]);
}

/// Its thread is gone, and nobody waits for it.
#[test]
fn a_worker_that_panics_ends_the_run_and_is_not_waited_for() {
    let (mut world, log) = (World::new(), Log::default());
    let panics = |trial: usize, _: &AtomicBool| {
        assert!(trial < 2, "nu\u{fffd} is no path");
        report(Ending::Done)
    };
    let outcome = world.run(&[Box::new(Pretended {
        name: "a",
        slots: 1,
        log: &log,
        end: &panics,
    })]);
    let error = outcome.expect_err("a trial panicked").to_string();
    assert!(error.contains("nu\u{fffd} is no path"), "{error}");
    let ended = world.seen.iter().filter(|words| words.ends_with(" Done"));
    assert_eq!(ended.count(), 2);
}

#[test]
fn all_slots_of_all_places_are_used_and_no_more() {
    let mut world = World::new();
    let log = Log {
        together: 3,
        ..Log::default()
    };
    let place = |name, slots| -> Box<dyn Place + '_> {
        Box::new(Pretended {
            name,
            slots,
            log: &log,
            end: &done,
        })
    };
    world.run(&[place("a", 1), place("b", 2)]).expect("it went");
    let trials = log.trials.lock().expect("no panic").clone();
    assert_eq!(trials.len(), 6);
    assert!(
        ["a:", "b:"]
            .iter()
            .all(|name| trials.iter().any(|trial| trial.starts_with(name))),
        "{trials:?}"
    );
    assert_eq!(log.under_way_max.load(Ordering::SeqCst), 3);
}

#[test]
fn an_interrupted_run_is_resumed_where_it_stopped() {
    let (mut world, log) = (World::new(), Log::default());
    let third_is_stopped = |before: usize, stop: &AtomicBool| {
        if before < 2 {
            return report(Ending::Done);
        }
        stop.store(true, Ordering::Relaxed);
        report(Ending::Interrupted)
    };
    let outcome = world.run(&[Box::new(Pretended {
        name: "a",
        slots: 1,
        log: &log,
        end: &third_is_stopped,
    })]);
    let outcome = outcome.expect("an interruption is no error");
    assert_eq!((outcome.done, outcome.interrupted), (2, true));
    world.interrupt = Interrupt::default();
    let rest = Log::default();
    let outcome = world.run(&[Box::new(Pretended {
        name: "a",
        slots: 1,
        log: &rest,
        end: &done,
    })]);
    let outcome = outcome.expect("it goes on");
    assert_eq!((outcome.resumed, outcome.done, outcome.interrupted), (2, 4, false));
}

#[test]
fn a_trial_that_fails_does_not_stop_the_others() {
    let (mut world, log) = (World::new(), Log::default());
    let second_fails = |before: usize, _: &AtomicBool| match before {
        1 => report(Ending::Failed(Failure {
            step: "mkfs".to_owned(),
            message: "no".to_owned(),
        })),
        _ => report(Ending::Done),
    };
    let outcome = world.run(&[Box::new(Pretended {
        name: "a",
        slots: 1,
        log: &log,
        end: &second_fails,
    })]);
    let outcome = outcome.expect("it went");
    assert_eq!((outcome.done, outcome.failed), (5, 1));
}

fn hung() -> HungProcess {
    HungProcess {
        description: "process 7".to_owned(),
        waits_for_disk: false,
    }
}

#[test]
fn a_place_that_hangs_ends_the_run_and_what_was_measured_is_kept() {
    let (mut world, log) = (World::new(), Log::default());
    let second_hangs = |before: usize, _: &AtomicBool| TrialReport {
        halt: (before == 1).then(|| PlaceError::Hung(vec![hung()])),
        ..report(Ending::Done)
    };
    let error = world.run(&[Box::new(Pretended {
        name: "a",
        slots: 1,
        log: &log,
        end: &second_hangs,
    })]);
    let error = error.expect_err("nothing more can be run");
    assert!(error.to_string().starts_with("cannot kill process 7"), "{error}");
    assert_eq!(log.trials.lock().expect("no panic").len(), 2);
    world.interrupt = Interrupt::default();
    let rest = Log::default();
    let outcome = world.run(&[Box::new(Pretended {
        name: "a",
        slots: 1,
        log: &rest,
        end: &done,
    })]);
    assert_eq!(outcome.expect("it goes on").resumed, 2);
}

#[test]
fn issue_12_11_an_edit_of_the_study_runs_only_what_is_new() {
    let (mut world, log) = (World::new(), Log::default());
    let place = || -> Box<dyn Place + '_> {
        Box::new(Pretended {
            name: "a",
            slots: 1,
            log: &log,
            end: &done,
        })
    };
    assert_eq!(world.run(&[place()]).expect("it went").done, 6);
    for (edit, (done, resumed)) in [
        (("title = \"Other\"\n", "trials = 2"), (0, 6)),
        (("", "trials = 3"), (3, 6)),
        (("ram = [\"1G\", \"2G\"]\n", "trials = 3"), (9, 9)),
    ] {
        let study = format!("{}{}", edit.0, STUDY.replace("trials = 2", edit.1));
        world.plan = study_file::read(&study, "test.toml", &study_file::Known::default()).expect("a study");
        let outcome = world.run(&[place()]).expect("it went");
        assert_eq!((outcome.done, outcome.resumed), (done, resumed), "{study}");
    }
}
