//! Shards of a study and their stores: merging, rejection, and the output of `status`. The stores are made here,
//! without a lab.

use crate::desk::{Desk, PROGRAM, SMALL, export_body};
use runner::Partition;
use serde_json::Value;
use std::fs;
use std::process::Command;
use store::{Ending, OpenRun, RunSpec, Store};
use study::event::{Event, Failure, Sample};
use study::metric::Metric;
use study::plan::Plan;
use study::stack::MachineKind;
use study::{GuestFile, Shard};

const ORIGIN: &str = "lab, raidlab 0.1.0, kernel 6.12-a";

/// A store to be made.
struct Part {
    study: String,
    shard: Option<Shard>,
    seed: u64,
    version: &'static str,
    origin: &'static str,
    /// SHA-256 of the kernel's image.
    image: &'static str,
    machine: MachineKind,
    devices: Vec<String>,
    name: Option<&'static str>,
    only: Vec<(String, String)>,
    /// Added to every value.
    error: f64,
    /// Number of completed trials; the run is then not finished.
    trials: usize,
    /// The trial with this number fails.
    fails: Option<usize>,
}

fn shard(text: &str) -> Part {
    Part {
        study: SMALL.to_owned(),
        shard: (!text.is_empty()).then(|| text.parse().expect("a shard")),
        seed: 1,
        version: "0.1.0+test",
        origin: ORIGIN,
        image: "c0de",
        machine: MachineKind::Lab,
        devices: Vec::new(),
        name: None,
        only: Vec::new(),
        error: 0.0,
        trials: usize::MAX,
        fails: None,
    }
}

impl Part {
    /// Writes it; the store and the run stay open.
    fn begin(&self, desk: &Desk, name: &str) -> (Store, OpenRun) {
        let plan: Plan =
            study_file::read(&self.study, "small.toml", &study_file::Known::default()).expect("a study");
        let mut store = Store::open(&desk.folder().join(name)).expect("a store is made");
        let run = store.open_run(&RunSpec {
            plan: &plan,
            seed: self.seed,
            machine: self.machine,
            devices: &self.devices,
            only: &self.only,
            shard: self.shard,
            raidlab_version: self.version,
            command: "raidlab run small.toml",
            started_at_unix_s: 1_700_000_000,
        });
        let run = run.expect("a run begins");
        if let Some(name) = self.name {
            store.name_run(&run, name).expect("it gets its name");
        }
        let partition = Partition::of(&plan, self.shard.map_or(1, Shard::count));
        let own = |cell, index| {
            self.shard
                .is_none_or(|shard| partition.shard_of(cell, index) == Some(shard))
        };
        let trials: Vec<_> = plan
            .trials(self.seed)
            .filter(|trial| own(trial.cell.id, trial.index))
            .collect();
        for (number, trial) in trials.iter().enumerate().take(self.trials) {
            let id = store.begin_trial(&run, trial, self.origin).expect("a trial begins");
            let kernel = ("kernel.name".to_owned(), "6.12".to_owned());
            store
                .append(
                    id,
                    &Event::Provenance {
                        key: kernel.0,
                        value: kernel.1,
                    },
                )
                .expect("a fact is kept");
            let image = GuestFile {
                path: GuestFile::KERNEL.to_owned(),
                sha256: self.image.to_owned(),
            };
            store
                .append(id, &Event::GuestFiles { files: vec![image] })
                .expect("a fact is kept");
            for test in ["write", "read"] {
                let value = trial.seed as f64 / 1e9 + test.len() as f64 + self.error;
                let sample = Sample {
                    test: test.into(),
                    metric: Metric::Throughput,
                    value,
                };
                store.append(id, &Event::Sample(sample)).expect("a sample is kept");
            }
            let ending = match self.fails == Some(number) {
                true => Ending::Failed(Failure {
                    step: "mkfs".to_owned(),
                    message: "no".to_owned(),
                }),
                false => Ending::Done,
            };
            store.end_trial(id, &ending, 2_000_000_000).expect("a trial ends");
        }
        if self.trials == usize::MAX {
            store.finish_run(&run, 1_700_000_100).expect("the run ends");
        }
        (store, run)
    }

    fn write(&self, desk: &Desk, name: &str) {
        drop(self.begin(desk, name));
    }
}

fn desk_with_parts(count: u32) -> Desk {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    for number in 1..=count {
        shard(&format!("{number}/{count}")).write(&desk, &format!("part-{number}.db"));
    }
    desk
}

fn body(desk: &Desk, store: &str) -> Value {
    export_body(&desk.run(&["export", "--format", "json", "--store", store]).stdout)
}

fn names(desk: &Desk) -> Vec<String> {
    let entries = fs::read_dir(desk.folder()).expect("our folder").flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn the_parts_together_are_the_run_of_one_machine() {
    let desk = desk_with_parts(4);
    shard("").write(&desk, "whole.db");
    let ran = desk.run(&["merge", "all.db", "part-3.db", "part-1.db", "part-4.db", "part-2.db"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout
            .starts_with("all.db: 6 trials done, 0 failed, from 4 stores\ndigest "),
        "{}",
        ran.stdout
    );
    assert_eq!(desk.run(&["digest", "whole.db", "all.db"]).exit, Some(0));
    assert_eq!(body(&desk, "whole.db"), body(&desk, "all.db"));
    let left: Vec<String> = names(&desk).into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn stores_that_are_not_the_parts_of_one_run() {
    let desk = desk_with_parts(3);
    desk.write("text.db", "no database at all\n".repeat(100));
    desk.write("empty.db", "");
    let other = |name: &str, part: Part| part.write(&desk, name);
    other(
        "seed.db",
        Part {
            seed: 2,
            ..shard("3/3")
        },
    );
    other(
        "build.db",
        Part {
            version: "0.2.0+test",
            ..shard("3/3")
        },
    );
    other(
        "kernel.db",
        Part {
            origin: "lab, raidlab 0.1.0, kernel 6.12-b",
            ..shard("3/3")
        },
    );
    other(
        "study.db",
        Part {
            study: SMALL.replace("Small", "Other"),
            ..shard("3/3")
        },
    );
    other(
        "disks.db",
        Part {
            only: vec![("type".to_owned(), "ext2".to_owned())],
            ..shard("3/3")
        },
    );
    other(
        "host.db",
        Part {
            machine: MachineKind::Host,
            ..shard("3/3")
        },
    );
    other(
        "other-figures.db",
        Part {
            error: 1.0,
            ..shard("3/3")
        },
    );
    other(
        "stopped.db",
        Part {
            trials: 1,
            ..shard("3/3")
        },
    );
    let merge = |last: &'static [&'static str]| [&["merge", "all.db", "part-1.db", "part-2.db"], last].concat();
    let calls: Vec<Vec<&str>> = vec![
        merge(&["seed.db"]),
        merge(&["build.db"]),
        merge(&["kernel.db"]),
        merge(&["study.db"]),
        merge(&["disks.db"]),
        merge(&["host.db"]),
        merge(&["part-3.db", "other-figures.db"]),
        merge(&["stopped.db"]),
        merge(&[]),
        merge(&["text.db"]),
        merge(&["empty.db"]),
        merge(&["none.db"]),
        merge(&["."]),
        vec!["merge", "all.db"],
        vec!["merge", "part-3.db", "part-1.db", "part-2.db"],
        vec!["merge", "nosuch/all.db", "part-1.db"],
    ];
    let calls: Vec<&[&str]> = calls.iter().map(Vec::as_slice).collect();
    insta::assert_snapshot!(desk.transcript(&calls));
}

#[test]
fn shards_that_ran_on_two_images_of_a_kernel_are_refused() {
    let desk = desk_with_parts(2);
    Part {
        image: "bad",
        ..shard("2/2")
    }
    .write(&desk, "image.db");
    let ran = desk.run(&["merge", "all.db", "part-1.db", "image.db"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("has the SHA-256 c0de in the first and bad in the second"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_there_is_is_merged_on_demand() {
    let desk = desk_with_parts(3);
    Part {
        trials: 1,
        ..shard("3/3")
    }
    .write(&desk, "stopped.db");
    let ran = desk.run(&["merge", "all.db", "part-1.db", "stopped.db", "--partial"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    insta::assert_snapshot!(
        desk.shown(&ran).replace(
            &body(&desk, "all.db")["run"]["digest_sha256"]
                .to_string()
                .replace('"', ""),
            "[digest]"
        )
    );
    assert_eq!(body(&desk, "all.db")["run"]["finished"], false);
    // A merged store can be merged with the rest.
    let rest = desk.run(&["merge", "rest.db", "all.db", "part-2.db", "part-3.db"]);
    assert_eq!(rest.exit, Some(0), "{}", rest.stderr);
    assert!(
        rest.stdout
            .contains("in more than one store, with the same results: 1 trial\n"),
        "{}",
        rest.stdout
    );
    assert_eq!(body(&desk, "rest.db")["trials"].as_array().map(Vec::len), Some(6));
}

#[test]
fn a_failed_trial_is_merged_and_reported() {
    let desk = desk_with_parts(2);
    Part {
        fails: Some(1),
        ..shard("2/2")
    }
    .write(&desk, "failed.db");
    let ran = desk.run(&["merge", "all.db", "part-1.db", "failed.db"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("5 trials done, 1 failed"), "{}", ran.stdout);
    // A store in which it was done is preferred.
    let ran = desk.run(&["merge", "done.db", "failed.db", "part-1.db", "part-2.db"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("6 trials done, 0 failed"), "{}", ran.stdout);
}

#[test]
fn every_machine_keeps_a_run_of_its_own() {
    let desk = Desk::new();
    for (name, error) in [("n1", 0.0), ("n2", 5.0)] {
        let part = Part {
            machine: MachineKind::Host,
            devices: vec!["loop 2x1G".to_owned()],
            name: Some(name),
            error,
            ..shard("")
        };
        part.write(&desk, &format!("part-{name}.db"));
    }
    let ran = desk.run(&["merge", "all.db", "part-n1.db", "part-n2.db"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("12 trials done"), "{}", ran.stdout);
    assert!(ran.stdout.contains("run 1 (n1): digest ") && ran.stdout.contains("run 2 (n2): digest "));
    let compared = desk.run(&["compare", "n1", "n2", "--store", "all.db"]);
    assert_eq!(compared.exit, Some(0), "{}", compared.stderr);
}

/// A store that is being written is read from a copy in its current state, and nothing in its folder changes.
#[test]
fn a_store_that_is_being_written_is_read_as_it_is() {
    let desk = desk_with_parts(1);
    fs::remove_file(desk.folder().join("part-1.db")).expect("our own file");
    shard("1/2").write(&desk, "part-1.db");
    let _writer = Part {
        trials: 2,
        ..shard("2/2")
    }
    .begin(&desk, "part-2.db");
    let ran = desk.run_without_touching(&["status", "."]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    insta::assert_snapshot!(desk.shown(&ran));
    let ran = desk.run_without_touching(&["merge", "all.db", "part-1.db", "part-2.db"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("`part-2.db` (shard 2/2) is being written"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_state_of_stores_that_have_none() {
    let desk = desk_with_parts(3);
    fs::remove_file(desk.folder().join("part-2.db")).expect("our own file");
    fs::create_dir(desk.folder().join("folder")).expect("a folder");
    desk.write("empty.db", "");
    Part {
        seed: 2,
        ..shard("2/3")
    }
    .write(&desk, "seed.db");
    insta::assert_snapshot!(desk.transcript(&[
        &["status", "part-1.db", "part-3.db"],
        &["status", "part-3.db", "--format", "json"],
        &["status", "folder"],
        &["status", "empty.db"],
        &["status", "none.db"],
        &["status", "part-1.db", "seed.db"],
    ]));
}

#[test]
fn shards_that_there_are_not() {
    let desk = desk_with_parts(2);
    insta::assert_snapshot!(desk.transcript(&[
        &["run", "small.toml", "--shard", "0/4"],
        &["run", "small.toml", "--shard", "5/4"],
        &["run", "small.toml", "--shard", "x"],
        &["run", "small.toml", "--shard", "1/0"],
        &["run", "small.toml", "--shard", "-1/4"],
        &["plan", "small.toml", "--shard", "3"],
        &["plan", "small.toml", "--shard", "2/4"],
        &["plan", "small.toml", "--shard", "9/9"],
    ]));
    let json = desk.run(&["plan", "small.toml", "--shard", "2/4", "--format", "json"]);
    let plan: Value = serde_json::from_str(&json.stdout).expect("JSON and nothing else");
    assert_eq!(plan["shard"]["shard"], "2/4");
    assert_eq!(plan["shard"]["cells"][0]["trials"], serde_json::json!([0, 2]));
}

/// A shard cannot see whether a claim on cells of other shards is decided.
#[test]
fn trials_that_end_with_claims_are_not_sharded() {
    let desk = desk_with_parts(2);
    let precision = "[precision]\nclaims = true\n[[claim]]\nsays = \"c\"\nthat = \"type=ext2 > type=ext4\"\n";
    let (before, _) = SMALL.split_once("[precision]").expect("it says how many trials");
    fs::write(desk.folder().join("claims.toml"), format!("{before}{precision}")).expect("written");
    for command in ["run", "plan"] {
        let refused = desk.run(&[command, "claims.toml", "--shard", "1/2"]);
        assert_eq!(refused.exit, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains("no shard can see"), "{}", refused.stderr);
    }
}

/// The disk fills up while the stores are merged: there is no target, and nothing else is left either.
#[test]
fn root_no_room_for_the_merged_store() {
    let desk = desk_with_parts(2);
    fs::create_dir(desk.folder().join("disk")).expect("a folder");
    for size in ["16k", "100k", "200k"] {
        let script = format!(
            "mount -t tmpfs -o size={size} tmpfs disk || exit 99\nset +e\n\
             \"$0\" merge disk/all.db part-1.db part-2.db\necho \"exit $?\"\nls -A disk"
        );
        let mut unshare: Command = desk.command("unshare");
        let output = unshare.args(requirements::own_mounts(&script)).arg(PROGRAM).output();
        let Ok(output) = output.map_err(|error| requirements::skip(format!("unshare: {error}"))) else {
            return;
        };
        if output.status.code() == Some(99) || output.stdout.is_empty() {
            requirements::skip(format!(
                "needs a mount namespace of its own: {}",
                String::from_utf8_lossy(&output.stderr)
            ));
            return;
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "exit 3\n", "{size}: {stderr}");
        let words = "raidlab: no space left for the merged store `disk/all.db`: free some space, or choose another \
            place; nothing was written\n";
        assert_eq!(stderr, words, "{size}");
    }
}
