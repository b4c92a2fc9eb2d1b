//! Checks on measured figures of disks.

use super::*;
use crate::Access;
use crate::DiskKind;
use crate::Disks;
use crate::MemoryLedger;
use crate::NoDiskCheck;
use crate::StackSetting;
use crate::Teardown;
use crate::simulated::{DryRunOn, SimulatedMachine};
use crate::up;
use std::path::{Path, PathBuf};
use std::time::Instant;
use study::stack::{InnerArray, Level};
use study_file::Known;

const MIRROR: &str = "[disks]\ncount = 2\n[[stack]]\narray = { level = 1 }\nfs = { type = \"raw\" }\n\
    [[workload]]\nname = \"w\"\nio = { size = \"1G\" }\n";

/// Reads and writes of 4 KiB, with their mean times in milliseconds.
fn disk(device: &str, reads: u64, read_ms: f64, writes: u64, write_ms: f64) -> DiskStats {
    DiskStats {
        device: device.to_owned(),
        reads,
        sectors_read: 8 * reads,
        reading_ms: (reads as f64 * read_ms) as u64,
        writes,
        sectors_written: 8 * writes,
        writing_ms: (writes as f64 * write_ms) as u64,
        ..DiskStats::default()
    }
}

#[test]
fn one_slow_member_of_four_is_named() {
    let with = |slow_ms: f64| {
        let members = [
            disk("vda", 1000, 8.0, 20, 1.0),
            disk("vdb", 1040, 8.3, 18, 1.0),
            disk("vdc", 980, slow_ms, 19, 1.0),
            disk("vdd", 1010, 7.9, 20, 1.0),
        ];
        slow_member(&members, true).expect("they are alike")
    };
    let (passed, detail) = with(19.0);
    assert!(
        !passed && detail.starts_with("a read takes 19.00 ms at vdc and at most 8.30 ms at the other members"),
        "{detail}"
    );
    let (passed, detail) = with(12.0);
    assert!(passed, "{detail}");
    assert_eq!(
        detail,
        "milliseconds of a read: vda 8.00, vdb 8.30, vdc 12.00, vdd 7.90"
    );
}

/// Reads of 32 MiB on six identical disks, some from the drives' caches.
#[test]
fn members_that_do_not_agree_are_not_judged() {
    let means = [1.19, 2.64, 3.16, 3.0, 3.26, 8.94];
    let members = means.map(|ms| disk("vda", 300, ms, 0, 0.0));
    assert!(slow_member(&members, true).expect("they are alike").0);
    assert!(
        !slow_member(&members[1..], true).expect("they are alike").0,
        "the others agree"
    );
    assert_eq!(slow_member(&members[3..], true), None, "too few");
}

/// A mirror reads from the nearest head, and the writes of a disk with more reads wait for its reads.
#[test]
fn members_with_different_loads_are_not_compared() {
    let mirror = |slow: DiskStats| {
        let copy = || disk("vda", 310, 8.0, 290, 1.95);
        slow_member(&[copy(), copy(), copy(), slow], false)
    };
    assert_eq!(mirror(disk("vdd", 300, 9.0, 290, 16.0)), None, "it reads as well");
    let writes = |ms: f64| disk("vda", 3, 9.0, 8300, ms);
    let written = |ms: f64| slow_member(&[writes(1.07), writes(1.2), writes(1.1), writes(ms)], false);
    assert!(written(2.56).expect("the same writes").0, "equal disks");
    assert!(!written(6.5).expect("the same writes").0);

    let parity = [400, 400, 400, 400, 1600].map(|writes| disk("vda", 0, 0.0, writes, writes as f64 / 200.0));
    assert!(
        slow_member(&parity, true).expect("four are alike").0,
        "the parity of RAID 4 is no peer"
    );
    let linear = [900, 3, 2, 1].map(|reads| disk("vda", reads, 8.0, 90, 1.0));
    assert_eq!(slow_member(&linear, true), None);
    let few = [1.0, 1.0, 1.0, 9.0].map(|ms| disk("vda", 190, ms, 0, 0.0));
    assert_eq!(slow_member(&few, true), None);
}

#[test]
fn reads_are_spread_by_stripes_and_not_by_mirrors() {
    let array = |level, of| ArraySpec {
        level,
        of,
        ..ArraySpec::default()
    };
    let inner = |level| {
        Some(InnerArray {
            level,
            disks: 2,
            chunk_bytes: None,
        })
    };
    for level in [Level::Raid0, Level::Raid5, Level::Raid6, Level::LvmRaid0] {
        assert!(spreads_reads(&array(level, None)), "{level:?}");
    }
    for level in [Level::Single, Level::None, Level::Linear, Level::Raid1, Level::Raid10] {
        assert!(!spreads_reads(&array(level, None)), "{level:?}");
    }
    assert!(!spreads_reads(&array(Level::Raid0, inner(Level::Raid1))));
    assert!(spreads_reads(&array(Level::Raid0, inner(Level::Raid5))));
}

#[test]
fn more_than_nine_tenths_are_nearly_full() {
    assert!(nearly_full(1000, 100).expect("it has blocks").0);
    let (passed, detail) = nearly_full(1000, 80).expect("it has blocks");
    assert!(
        !passed && detail.starts_with("92 % of the filesystem is in use"),
        "{detail}"
    );
    assert_eq!(nearly_full(0, 0), None, "a filesystem without a number of blocks");
}

#[test]
fn discards_that_nobody_asked_for_are_a_trim() {
    assert_eq!(trim(0, false), None);
    assert_eq!(trim(7, true), None);
    assert!(trim(7, false).expect("a trim").starts_with("7 discards"));
}

/// The guards recorded by `act` on a study's first stack, on a machine in memory.
fn guards(study: &str, disk_kind: DiskKind, act: impl FnOnce(&Stack, &StackSpec, &mut Context<'_>)) -> Vec<Guard> {
    let plan = study_file::read(study, "guards.toml", &Known::default()).expect("a sound study");
    let cell = &plan.cells[0];
    let nodes = ["/dev/vda", "/dev/vdb", "/dev/vdc", "/dev/vdd"].map(PathBuf::from);
    let disks = Disks::of(&cell.machine.disks, &nodes).expect("at most four");
    let mut machine = SimulatedMachine::new(DryRunOn::Guest, disks.all(), true, None);
    let mut events = Vec::new();
    let mut recorder = |event| events.push(event);
    let mut context = Context {
        access: Access {
            executor: &mut machine,
            recorder: &mut recorder,
            check: &mut NoDiskCheck,
        },
        ledger: &mut MemoryLedger::default(),
        began: Instant::now(),
        setting: StackSetting {
            work_folder: Path::new("/tmp/raidlab"),
            name: "raidlab",
            zeroed: true,
            created: false,
            disk_kind,
            teardown: Teardown::Full,
        },
    };
    let stack = up(&cell.stack, &disks, &mut context).expect("it comes up");
    act(&stack, &cell.stack, &mut context);
    let guard = |event| match event {
        Event::Guard(guard) => Some(guard),
        _ => None,
    };
    events.into_iter().filter_map(guard).collect()
}

#[test]
fn a_check_that_is_under_way_is_seen_unless_the_study_asked_for_it() {
    let mut guards = guards(MIRROR, DiskKind::Simulated, |stack, spec, context| {
        let array = stack.arrays().next().expect("md").attribute("sync_action");
        for (action, has_acts) in [("idle", false), ("check", false), ("check", true)] {
            context.access.executor.write(&array, action).expect("md takes it");
            let tested = Tested {
                test: Some("read"),
                spec,
                disks: 2,
                has_acts,
                is_aged: false,
            };
            judge(stack, &[], tested, context).expect("it can be judged");
        }
    });
    guards.retain(|guard| guard.name == "undisturbed");
    let passed: Vec<bool> = guards.iter().map(|guard| guard.passed).collect();
    assert_eq!(
        passed,
        [true, false],
        "idle, a check, and a check that the study asked for"
    );
}

/// Issue 39, A8: `slow-member` failed on identical disks and dropped right figures.
#[test]
fn simulated_disks_have_no_slow_member() {
    let stripes = MIRROR
        .replace("count = 2", "count = 4")
        .replace("level = 1", "level = 0");
    for (disk_kind, expected) in [(DiskKind::Real, false), (DiskKind::Simulated, true)] {
        let guards = guards(&stripes, disk_kind, |stack, spec, context| {
            let moved = ["vda", "vdb", "vdc", "vdd"]
                .map(|name| disk(name, 1000, if name == "vdc" { 9.0 } else { 1.0 }, 0, 0.0));
            let tested = Tested {
                test: Some("read"),
                spec,
                disks: 4,
                has_acts: false,
                is_aged: false,
            };
            judge(stack, &moved, tested, context).expect("it can be judged");
        });
        let guard = guards
            .iter()
            .find(|guard| guard.name == "slow-member")
            .expect("it is judged");
        assert_eq!(guard.passed, expected, "{guard:?}");
        assert!(guard.detail.contains("9.00 ms at vdc"), "{}", guard.detail);
    }
}
