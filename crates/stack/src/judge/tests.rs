//! The judgements on figures as disks give them.

use super::*;
use crate::executor::{DryRunOn, Simulated};
use crate::{Access, Disks, MemoryLedger, NoDiskCheck, Setting, Teardown, up};
use std::path::{Path, PathBuf};
use std::time::Instant;
use study::stack::{InnerArray, Level};
use study_file::Known;

const MIRROR: &str = "[disks]\ncount = 2\n[[stack]]\narray = { level = 1 }\nfs = { type = \"raw\" }\n\
    [[workload]]\nname = \"w\"\nio = { size = \"1G\" }\n";

/// Reads and writes of 4 KiB, with their mean times in milliseconds.
fn disk(device: &str, reads: u64, read_ms: f64, writes: u64, write_ms: f64) -> DiskCounters {
    DiskCounters {
        device: device.to_owned(),
        reads,
        sectors_read: 8 * reads,
        reading_ms: (reads as f64 * read_ms) as u64,
        writes,
        sectors_written: 8 * writes,
        writing_ms: (writes as f64 * write_ms) as u64,
        ..DiskCounters::default()
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
        !passed && detail.starts_with("a read takes 19.00 ms at vdc and 8.00 ms at the other members"),
        "{detail}"
    );
    let (passed, detail) = with(12.0);
    assert!(passed, "{detail}");
    assert_eq!(
        detail,
        "milliseconds of a read: vda 8.00, vdb 8.30, vdc 12.00, vdd 7.90"
    );
}

/// A mirror's reads go where a head is near, and the writes of a disk that reads more wait for its reads.
#[test]
fn members_with_different_loads_are_not_compared() {
    let mirror = [disk("vda", 3000, 1.0, 200, 9.0), disk("vdb", 500, 9.0, 200, 2.0)];
    assert_eq!(slow_member(&mirror, false), None);
    let reads_only = [disk("vda", 3000, 1.0, 0, 0.0), disk("vdb", 2900, 9.0, 0, 0.0)];
    assert_eq!(slow_member(&reads_only, false), None, "reads of a mirror");
    let parity = [
        disk("vda", 0, 0.0, 400, 2.0),
        disk("vdb", 0, 0.0, 400, 2.0),
        disk("vdc", 0, 0.0, 1200, 9.0),
    ];
    assert!(
        slow_member(&parity, true).expect("two are alike").0,
        "the parity of RAID 4 is no peer"
    );
    let linear = [disk("vda", 900, 8.0, 90, 1.0), disk("vdb", 3, 30.0, 1, 9.0)];
    assert_eq!(slow_member(&linear, true), None);
    assert_eq!(slow_member(&[disk("vda", 900, 8.0, 90, 1.0)], true), None);
    let few = [disk("vda", 90, 1.0, 0, 0.0), disk("vdb", 90, 9.0, 0, 0.0)];
    assert_eq!(slow_member(&few, true), None);
    // A job of raidlab's own that reads and writes a mirror at random, by as much at both disks.
    let mixed = [disk("vda", 300, 9.0, 290, 6.11), disk("vdb", 310, 8.0, 290, 1.95)];
    assert_eq!(slow_member(&mixed, false), None);
    let written = |ms: f64| [disk("vda", 3, 9.0, 8300, ms), disk("vdb", 5, 8.0, 8300, 1.07)];
    assert!(
        slow_member(&written(2.56), false).expect("the same writes").0,
        "equal disks"
    );
    assert!(!slow_member(&written(6.5), false).expect("the same writes").0);
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
        !passed && detail.starts_with("92 % of the filesystem are in use"),
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

/// A partition from sector 63, the first of old partition tables, of a disk with physical sectors of 4 KiB; a stack on
/// members that begin differently; a loop device within a file.
#[test]
fn starts_within_physical_sectors_are_found() {
    assert_eq!(misaligned("sda1", Some(0), None), None);
    assert_eq!(misaligned("loop0", Some(0), Some(1 << 20)), None);
    assert_eq!(misaligned("old", None, None), None);
    for (found, words) in [
        (
            misaligned("sda1", Some(512), None),
            "of sda1 begins 512 bytes behind its start",
        ),
        (misaligned("md0", Some(-1), None), "members of md0"),
        (
            misaligned("loop0", Some(0), Some(63 * 512)),
            "loop0 begins at byte 32256",
        ),
    ] {
        let found = found.expect("it is not aligned");
        assert!(found.contains(words), "{found}");
    }
}

/// A mirror on a machine in memory, whose md is told to check it.
#[test]
fn a_check_that_is_under_way_is_seen_unless_the_study_asked_for_it() {
    let plan = study_file::read(MIRROR, "mirror.toml", &Known::default()).expect("a sound study");
    let cell = &plan.cells[0];
    let nodes = ["/dev/vda", "/dev/vdb"].map(PathBuf::from);
    let disks = Disks::of(&cell.machine.disks, &nodes).expect("two");
    let mut machine = Simulated::new(DryRunOn::Guest, disks.all(), true, None);
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
        setting: Setting {
            work_folder: Path::new("/tmp/raidlab"),
            name: "raidlab",
            zeroed: true,
            disks_are_set: true,
            teardown: Teardown::Full,
        },
    };
    let stack = up(&cell.stack, &disks, &mut context).expect("it comes up");
    let array = stack.arrays().next().expect("md").attribute("sync_action");
    for (action, has_acts) in [("idle", false), ("check", false), ("check", true)] {
        context.access.executor.write(&array, action).expect("md takes it");
        let tested = Tested {
            test: Some("read"),
            spec: &cell.stack,
            disks: 2,
            has_acts,
        };
        judge(&stack, &[], tested, &mut context).expect("it can be judged");
    }
    let guards: Vec<bool> = events
        .iter()
        .filter_map(|event| match event {
            Event::Guard(guard) if guard.name == "undisturbed" => Some(guard.passed),
            _ => None,
        })
        .collect();
    assert_eq!(
        guards,
        [true, false],
        "idle, a check, and a check that the study asked for"
    );
}
