//! Acts of a study: what they become, and what a user reads about those that cannot be.

use study::act::{Act, ActKind};
use study::plan::Plan;
use study_file::{Diagnostics, Known, KnownModel, read};

fn study(array: &str, workload: &str, acts: &str) -> Result<Plan, Diagnostics> {
    let known = Known {
        models: vec![KnownModel {
            name: "wd-500gb-2007".to_owned(),
            capacity_bytes: 500_107_862_016,
            own: None,
        }],
        kernels: vec!["6.12".to_owned()],
        ..Known::default()
    };
    let source = format!(
        "{acts}\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 4\n[[stack]]\narray = {array}\n\
         [[workload]]\nname = \"w\"\n{workload}\n"
    );
    read(&source, "acts.toml", &known)
}

const IO: &str = "io = { rw = \"randread\", size = \"64M\", runtime = \"60s\" }";

fn act(rest: &str) -> String {
    format!("[[act]]\n{rest}\n")
}

/// The first error on RAID 5: line, column, message.
fn wrong(acts: &str) -> (usize, usize, String) {
    let found = study("{ level = 5 }", IO, acts).expect_err("a study with errors");
    let first = found.iter().next().expect("an error");
    (first.line, first.column, first.message.clone())
}

#[test]
fn acts_are_sorted_by_time_and_part_of_the_identity() {
    let acts = act("at = \"20s\"\ndo = \"remove\"\ndisk = 2") + &act("at = \"10s\"\ndo = \"fail\"\ndisk = 2");
    let with = study("{ level = 5 }", IO, &acts).expect("a sound study");
    let without = study("{ level = 5 }", IO, "").expect("a sound study");
    let fail = Act {
        at_ns: 10_000_000_000,
        kind: ActKind::Fail,
        disk: Some(2),
    };
    assert_eq!(with.cells[0].acts[0], fail);
    assert_eq!(with.cells[0].acts[1].kind, ActKind::Remove);
    assert!(without.cells[0].acts.is_empty());
    assert_ne!(with.cells[0].id, without.cells[0].id);
}

#[test]
fn a_wrong_act_is_shown_at_its_place() {
    let (line, column, message) = wrong(&act("at = \"10s\"\ndo = \"fail\"\ndisk = 5"));
    assert_eq!((line, column), (4, 8), "{message}");
    assert_eq!(message, "there is no disk 5: the array has 4 disks");
    let (line, column, message) = wrong(&act("at = \"60s\"\ndo = \"fail\"\ndisk = 1"));
    assert_eq!((line, column), (2, 6), "{message}");
    assert_eq!(message, "the workload ends after 60 s, before this act");
    let message = wrong(&act("at = \"10s\"\ndo = \"re-add\"\ndisk = 1")).2;
    assert_eq!(message, "disk 1 was not removed");
    let message = wrong(&act("at = \"10s\"\ndo = \"remove\"\ndisk = 1")).2;
    assert_eq!(message, "disk 1 has not failed: md removes no active disk");
    let message = wrong(&act("at = \"10s\"\ndo = \"fail\"")).2;
    assert_eq!(message, "`fail` needs a `disk`");
    let message = wrong(&act("at = \"10s\"\ndo = \"check\"\ndisk = 1")).2;
    assert_eq!(message, "`check` is of the whole array");
    let twice = act("at = \"10s\"\ndo = \"fail\"\ndisk = 1") + &act("at = \"11s\"\ndo = \"fail\"\ndisk = 2");
    assert_eq!(
        wrong(&twice).2,
        "2 of 4 disks would be missing: the array would lose its data"
    );
}

#[test]
fn arrays_and_workloads_that_can_have_no_acts() {
    let fail = act("at = \"10s\"\ndo = \"fail\"\ndisk = 1");
    let message = |array, workload| {
        let found = study(array, workload, &fail).expect_err("a study with errors");
        found.iter().next().expect("an error").message.clone()
    };
    assert!(message("{ level = 0 }", IO).ends_with("has no redundancy: no disk of it can fail or be checked"));
    assert!(message("{ level = \"single\" }", IO).starts_with("acts need an md array of disks"));
    assert!(message("{ level = \"lvm-raid5\" }", IO).starts_with("acts need an md array of disks"));
    let tree = "tree = { collection = \"marechal-small\" }";
    assert!(message("{ level = 5 }", tree).starts_with("acts need a workload `io` or `fio`"));
}
