//! Acts of a study: the plan of valid acts, and the errors for invalid ones.

use study::act::{Act, ActKind, Corrupted, Due};
use study::plan::Plan;
use study_file::{Diagnostics, Known, KnownModel, MediaKind, read};

fn study(array: &str, workload: &str, acts: &str) -> Result<Plan, Diagnostics> {
    let known = Known {
        models: vec![KnownModel {
            name: "wd-500gb-2007".to_owned(),
            capacity_bytes: 500_107_862_016,
            media: MediaKind::Platters,
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
fn acts_are_part_of_the_identity() {
    let acts =
        act("at = \"10s\"\ndo = \"fail\"\ndisk = 2") + &act("when = \"resync done\"\ndo = \"remove\"\ndisk = 2");
    let with = study("{ level = 5 }", IO, &acts).expect("a sound study");
    let without = study("{ level = 5 }", IO, "").expect("a sound study");
    let fail = Act {
        due: Due::AtNs(10_000_000_000),
        kind: ActKind::Fail,
        disk: Some(2),
        delay_ns: None,
        corrupted: None,
        level: None,
    };
    assert_eq!(with.cells[0].acts[0], fail);
    assert_eq!(with.cells[0].acts[1].kind, ActKind::Remove);
    assert_eq!(with.cells[0].acts[1].due, Due::ResyncDone);
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
    assert_eq!(message, "`check` applies to the whole array");
    let twice = act("at = \"10s\"\ndo = \"fail\"\ndisk = 1") + &act("at = \"11s\"\ndo = \"fail\"\ndisk = 2");
    assert_eq!(
        wrong(&twice).2,
        "2 of 4 disks would be missing: the array would lose its data"
    );
}

#[test]
fn an_act_has_one_time_and_acts_are_in_its_order() {
    let (line, column, message) = wrong(&act("do = \"check\""));
    assert_eq!((line, column), (1, 1), "{message}");
    assert_eq!(message, "an act needs a time");
    let (line, column, message) = wrong(&act("do = \"check\"\nat = \"1s\"\nwhen = \"resync done\""));
    assert_eq!((line, column), (4, 8), "{message}");
    assert_eq!(message, "an act has one time: `at`, `after` or `when`");
    let back = act("at = \"20s\"\ndo = \"check\"") + &act("at = \"10s\"\ndo = \"repair\"");
    let (line, column, message) = wrong(&back);
    assert_eq!((line, column), (5, 6), "{message}");
    assert_eq!(message, "an earlier act is due at 20 s");
}

#[test]
fn what_raidlab_cannot_do_is_refused() {
    for word in ["power-cut", "explode"] {
        let (line, column, message) = wrong(&act(&format!("at = \"10s\"\ndo = \"{word}\"\ndisk = 1")));
        assert_eq!((line, column), (3, 6), "{message}");
        assert!(message.contains(word), "{message}");
    }
    let (line, column, message) = wrong(&act("when = \"half done\"\ndo = \"check\""));
    assert_eq!((line, column), (2, 8), "{message}");
    assert!(message.contains("half done"), "{message}");
}

#[test]
fn faults_of_a_disk_have_their_figures() {
    let acts = act("at = \"10s\"\ndo = \"slow\"\ndisk = 2\ndelay = \"100ms\"")
        + &act("at = \"20s\"\ndo = \"corrupt\"\ndisk = 1\noffset = \"1M\"\nsectors = 8")
        + &act("at = \"20s\"\ndo = \"corrupt\"\ndisk = 4\noffset = \"2M\"");
    let plan = study("{ level = 5, size = \"64M\" }", IO, &acts).expect("a sound study");
    let acts = &plan.cells[0].acts;
    assert_eq!(acts[0].delay_ns, Some(100_000_000));
    let corrupted = |offset_bytes, sectors| Some(Corrupted { offset_bytes, sectors });
    assert_eq!(acts[1].corrupted, corrupted(1 << 20, 8));
    assert_eq!(acts[2].corrupted, corrupted(2 << 20, 1));
    let tests = study::act::tests(acts);
    assert_eq!(tests, ["healthy", "limping", "corrupt", "corrupt 2"]);
}

#[test]
fn a_wrong_fault_is_shown_at_its_place() {
    let slow = |rest: &str| wrong(&act(&format!("at = \"10s\"\ndo = \"slow\"\n{rest}")));
    let (line, column, message) = slow("disk = 5\ndelay = \"1s\"");
    assert_eq!((line, column), (4, 8), "{message}");
    assert_eq!(message, "there is no disk 5: the array has 4 disks");
    let (line, column, message) = slow("disk = 1\ndelay = \"0s\"");
    assert_eq!((line, column), (5, 9), "{message}");
    assert_eq!(message, "`0s` is not a time between 1 ns and 500 years");
    let (line, column, message) = slow("disk = 1\ndelay = \"61s\"");
    assert_eq!((line, column), (5, 9), "{message}");
    assert_eq!(message, "`delay` is longer than a simulated disk supports");
    let (line, column, message) = slow("disk = 1");
    assert_eq!((line, column), (3, 6), "{message}");
    assert_eq!(message, "`slow` needs `delay`");
    let (line, column, message) = slow("disk = 1\ndelay = \"1s\"\nsectors = 8");
    assert_eq!((line, column), (6, 11), "{message}");
    assert_eq!(message, "`sectors` belongs to `corrupt`, not to `slow`");
}

#[test]
fn what_cannot_be_corrupted_is_shown_at_its_place() {
    let corrupt = |array: &str, workload: &str, rest: &str| {
        let acts = act(&format!("at = \"10s\"\ndo = \"corrupt\"\ndisk = 1\n{rest}"));
        let found = study(array, workload, &acts).expect_err("a study with errors");
        let first = found.iter().next().expect("an error");
        (first.line, first.column, first.message.clone())
    };
    let small = "{ level = 5, size = \"64M\" }";
    let (line, column, message) = corrupt(small, IO, "offset = \"64M\"");
    assert_eq!((line, column), (5, 10), "{message}");
    assert_eq!(
        message,
        "the sectors end at byte 67109376: the array uses 67108864 bytes of a disk"
    );
    let (line, column, message) = corrupt(small, IO, "offset = \"1M\"\nsectors = 0");
    assert_eq!((line, column), (6, 11), "{message}");
    let (line, column, message) = corrupt(small, IO, "offset = \"1000B\"");
    assert_eq!((line, column), (5, 10), "{message}");
    assert_eq!(message, "`offset` is not a whole number of sectors");
    let writes = "io = { rw = \"randwrite\", size = \"64M\", runtime = \"60s\" }";
    let (line, column, message) = corrupt(small, writes, "offset = \"1M\"");
    assert_eq!((line, column), (5, 10), "{message}");
    assert_eq!(message, "`w` writes, which would hide the changes of `corrupt`");
    let (line, column, message) = corrupt(small, IO, "");
    assert_eq!((line, column), (3, 6), "{message}");
    assert_eq!(message, "`corrupt` needs `offset`");
}

/// raidlab cannot locate data on LVM, other filesystems have no copies, and the changed file has a limited size.
#[test]
fn what_raidlabs_file_does_not_have_is_shown_at_its_place() {
    let corrupt = |stack: &str, offset: &str| {
        let acts = act(&format!(
            "at = \"10s\"\ndo = \"corrupt\"\ndisk = 1\noffset = \"{offset}\""
        ));
        let found = study(stack, IO, &acts).err()?;
        let first = found.iter().next()?;
        Some((first.line, first.column, first.message.clone()))
    };
    let btrfs = "{ level = \"none\" }\nfs = { type = \"btrfs\", data = \"raid1\" }";
    assert_eq!(corrupt(btrfs, "1M"), None);
    let (line, column, message) = corrupt(btrfs, "64M").expect("an error");
    assert_eq!((line, column), (5, 10), "{message}");
    assert_eq!(
        message,
        "the sectors end at byte 67109376: raidlab's file takes at most 67108864 bytes of a disk"
    );
    let zfs = "{ level = \"none\" }\nfs = { type = \"zfs\", pool = \"raidz1\" }";
    assert_eq!(corrupt(zfs, "1M"), None);
    for (stack, place, message) in [
        ("{ level = \"lvm-raid1\" }", (4, 8), "`corrupt` is not supported on LVM"),
        (
            "{ level = \"none\" }\nfs = { type = \"btrfs\", data = \"raid0\" }",
            (2, 6),
            "acts need copies or parity on several disks, which btrfs of level \"none\" does not have",
        ),
        (
            "{ level = 0 }\nfs = { type = \"ext4\" }",
            (2, 6),
            "RAID 0 has no redundancy: no disk of it can fail or be checked",
        ),
    ] {
        let found = corrupt(stack, "1M").unwrap_or_else(|| panic!("an error on {stack}"));
        assert_eq!(found, (place.0, place.1, message.to_owned()), "{stack}");
    }
}

#[test]
fn spares_are_needed_and_take_over() {
    let at = |seconds: u32, rest: &str| act(&format!("at = \"{seconds}s\"\n{rest}"));
    let of = |array: &str, acts: &str| {
        let found = study(array, IO, acts).err();
        found.map(|found| found.iter().next().expect("an error").message.clone())
    };
    let replace = at(10, "do = \"replace\"\ndisk = 2");
    let no_spare = |word: &str| Some(format!("`{word}` needs a spare, and there is none"));
    assert_eq!(of("{ level = 5 }", &replace), no_spare("replace"));
    assert_eq!(of("{ level = 5, spares = 1 }", &replace), None);
    let grow = at(10, "do = \"grow\"");
    assert_eq!(of("{ level = 6 }", &grow), no_spare("grow"));
    assert_eq!(of("{ level = 5, spares = 1 }", &grow), None);
    assert_eq!(
        of("{ level = 5, spares = 1 }", &(grow.clone() + &replace)),
        no_spare("replace")
    );
    assert_eq!(
        of("{ level = 10 }", &grow),
        Some("`grow` is for RAID 4, 5 and 6, not for RAID 10".to_owned())
    );
    let two = at(10, "do = \"fail\"\ndisk = 1") + &at(20, "do = \"fail\"\ndisk = 2");
    assert_eq!(of("{ level = 5, spares = 1 }", &two), None);
    let three = two + &at(30, "do = \"fail\"\ndisk = 3");
    assert_eq!(
        of("{ level = 5, spares = 1 }", &three),
        Some("2 of 3 disks would be missing: the array would lose its data".to_owned())
    );
}

/// The first error of an act on a host: line, column, message.
fn wrong_on_host(stack: &str, act: &str) -> Option<(usize, usize, String)> {
    let source = format!(
        "machine = \"host\"\n[[act]]\nat = \"10s\"\n{act}\n[disks]\ncount = 5\n[[stack]]\n{stack}\n\
         [[workload]]\nname = \"w\"\nio = {{ rw = \"read\", size = \"64M\", runtime = \"60s\" }}\n"
    );
    let found = read(&source, "acts.toml", &Known::default()).err()?;
    let first = found.iter().next().expect("an error");
    Some((first.line, first.column, first.message.clone()))
}

#[test]
fn what_needs_a_simulated_disk_is_not_done_on_a_host() {
    let raid5 = "array = { level = 5, spares = 1 }";
    for (act, word) in [
        ("do = \"slow\"\ndisk = 1\ndelay = \"1s\"", "slow"),
        ("do = \"hang\"\ndisk = 1", "hang"),
        ("do = \"corrupt\"\ndisk = 1\noffset = \"1M\"", "corrupt"),
    ] {
        let message = format!("`{word}` needs a simulated disk");
        assert_eq!(wrong_on_host(raid5, act), Some((4, 6, message)));
    }
    let grow = wrong_on_host(raid5, "do = \"grow\"").expect("an error");
    assert!(grow.2.starts_with("`grow` is supported in the lab only"), "{grow:?}");
}

#[test]
fn arrays_of_md_have_acts_on_a_host_and_others_are_checked() {
    let raid5 = "array = { level = 5, spares = 1 }";
    let btrfs = "array = { level = \"none\" }\nfs = { type = \"btrfs\", data = \"raid1\", metadata = \"raid1\" }";
    for act in [
        "do = \"fail\"\ndisk = 1",
        "do = \"replace\"\ndisk = 1",
        "do = \"check\"",
    ] {
        assert_eq!(wrong_on_host(raid5, act), None, "{act}");
    }
    let lvm = "array = { level = \"lvm-raid1\" }";
    assert_eq!(wrong_on_host(lvm, "do = \"repair\""), None);
    let checksummed = "array = { level = 5, integrity = \"crc32c\" }";
    let at_the_end = "array = { level = 1, metadata = \"1.0\" }";
    let remove = "do = \"remove\"\ndisk = 1";
    for (stack, act, message) in [
        (
            btrfs,
            "do = \"repair\"",
            "`repair` of btrfs is supported in the lab only",
        ),
        (
            checksummed,
            remove,
            "on a host `remove` is not supported with dm-integrity",
        ),
        (
            at_the_end,
            remove,
            "on a host `remove` is not supported with metadata 1.0",
        ),
    ] {
        let wrong = wrong_on_host(stack, act).expect("an error");
        assert!(wrong.2.starts_with(message), "{wrong:?}");
    }
    let message = "on a host `fail` is supported on md arrays only, not on btrfs".to_owned();
    assert_eq!(wrong_on_host(btrfs, "do = \"fail\"\ndisk = 1"), Some((4, 6, message)));
}

#[test]
fn arrays_and_workloads_that_can_have_no_acts() {
    let fail = act("at = \"10s\"\ndo = \"fail\"\ndisk = 1");
    let message = |array, workload| {
        let found = study(array, workload, &fail).expect_err("a study with errors");
        found.iter().next().expect("an error").message.clone()
    };
    assert_eq!(
        message("{ level = 0 }", IO),
        "RAID 0 has no redundancy: no disk of it can fail or be checked"
    );
    assert_eq!(
        message("{ level = \"single\" }", IO),
        "acts need copies or parity on several disks, which ext4 of a single disk does not have"
    );
    assert!(message("{ level = \"lvm-raid0\" }", IO).starts_with("acts need copies or parity"));
    assert_eq!(
        message("{ level = \"lvm-raid5\" }", "power_cut = { operations = 50 }"),
        "a stack of LVM, nested arrays or an external bitmap cannot be started again after a power cut yet"
    );
}

/// cases/acts-need-io: every kind of work.
#[test]
fn acts_are_done_during_every_kind_of_work() {
    let check = act("at = \"5s\"\ndo = \"check\"");
    for workload in [
        "fio = { ioengine = \"mmap\", rw = \"randwrite\", bs = \"4K\", size = \"64M\", runtime = \"20s\" }",
        "tree = { collection = \"marechal-small\" }",
        "server = {}",
        "bonnie = { size = \"64M\" }",
        "iozone = {}",
    ] {
        let plan = study("{ level = 1 }", workload, &check).unwrap_or_else(|found| panic!("{workload}: {found:?}"));
        let cell = &plan.cells[0];
        assert_eq!(cell.acts.len(), 1, "{workload}");
        let tests = cell.tests();
        assert!(tests.contains(&"check"), "{tests:?}");
    }
    let late = study("{ level = 1 }", "fio = { rw = \"read\", runtime = \"5s\" }", &check).expect_err("too late");
    let first = late.iter().next().expect("an error");
    assert_eq!(first.message, "the workload ends after 5 s, before this act");
    let corrupt = act("at = \"5s\"\ndo = \"corrupt\"\ndisk = 1\noffset = \"1M\"");
    let found = study("{ level = 1 }", "tree = { tests = [\"read\"] }", &corrupt).expect_err("it writes");
    let first = found.iter().next().expect("an error");
    assert!(
        first
            .message
            .starts_with("`corrupt` needs a workload that writes nothing"),
        "{}",
        first.message
    );
}

/// A fraction of the work's time if it has one, otherwise of its operations.
#[test]
fn acts_after_a_share_of_the_work() {
    let acts = act("after = \"50 %\"\ndo = \"fail\"\ndisk = 2");
    let due = |workload: &str| study("{ level = 5 }", workload, &acts).map(|plan| plan.cells[0].acts[0].due);
    let with_ramp = IO.replace(" }", ", ramp_time = \"10s\" }");
    assert_eq!(due(&with_ramp).expect("a sound study"), Due::AtNs(40_000_000_000));
    let mixed = due("server = { tests = [\"mixed\"], runtime = \"20s\" }");
    assert_eq!(mixed.expect("a sound study"), Due::AtNs(10_000_000_000));
    for of_operations in ["tree = {}", "server = {}", "iozone = {}"] {
        assert_eq!(due(of_operations).expect("a sound study"), Due::After { percent: 50 });
    }
    let bonnie = due("bonnie = { size = \"64M\" }").expect_err("it does not say");
    assert_eq!(
        bonnie.iter().next().expect("an error").message,
        "`after` is a share of the work, and Bonnie++ does not say how much of it is done"
    );
    let cuts = due("power_cut = { operations = 50 }");
    assert_eq!(cuts.expect("a sound study"), Due::After { percent: 50 });
    let found = due("io = { rw = \"randread\", size = \"64M\" }").expect_err("it has no runtime");
    let first = found.iter().next().expect("an error");
    assert_eq!((first.line, first.column), (2, 9));
    assert_eq!(
        first.message,
        "`after` needs a workload with a `runtime`, of which it is a share"
    );
    for (text, message) in [
        ("\"100 %\"", "`100 %` is after the end of the work"),
        ("\"half\"", "`after` must be a whole number of per cent, not `half`"),
        ("50", "`after` must be a share in per cent"),
    ] {
        assert_eq!(
            wrong(&act(&format!("after = {text}\ndo = \"fail\"\ndisk = 2"))).2,
            message
        );
    }
    let both = act("after = \"50 %\"\nat = \"1s\"\ndo = \"fail\"\ndisk = 2");
    assert_eq!(wrong(&both).2, "an act has one time: `at`, `after` or `when`");
    let back =
        act("after = \"50 %\"\ndo = \"fail\"\ndisk = 2") + &act("after = \"5 %\"\ndo = \"remove\"\ndisk = 2");
    let found = study("{ level = 5 }", "power_cut = { operations = 50 }", &back).expect_err("in disorder");
    let first = found.iter().next().expect("an error");
    assert_eq!(first.message, "an earlier act is due after 50 %");
}

#[test]
fn a_disk_hangs_for_some_time_or_for_ever() {
    let hang = |rest: &str| act(&format!("at = \"10s\"\ndo = \"hang\"\ndisk = 2{rest}"));
    let first = |acts: &str| study("{ level = 5 }", IO, acts).map(|plan| plan.cells[0].acts[0].to_string());
    assert_eq!(
        first(&hang("\ndelay = \"20s\"")).expect("a sound study"),
        "hang disk 2 for 20 s at 10 s"
    );
    assert_eq!(first(&hang("")).expect("a sound study"), "hang disk 2 for ever at 10 s");
    assert_eq!(
        wrong(&hang("\ndelay = \"31s\"")).2,
        "the kernel fails a disk that does not respond for 30 s"
    );
    let again = hang("") + &act("at = \"50s\"\ndo = \"remove\"\ndisk = 2");
    assert_eq!(wrong(&again).2, "disk 2 does not respond any more");
    let second = hang("") + &act("at = \"50s\"\ndo = \"fail\"\ndisk = 3");
    assert_eq!(
        wrong(&second).2,
        "2 of 4 disks would be missing: the array would lose its data"
    );
    // A temporary fault leaves no member missing.
    let later = hang("\ndelay = \"20s\"") + &act("at = \"50s\"\ndo = \"fail\"\ndisk = 3");
    assert!(study("{ level = 5 }", IO, &later).is_ok());
}

#[test]
fn raid_5_grows_to_raid_6() {
    let grow = act("at = \"10s\"\ndo = \"grow\"\nlevel = 6");
    let of = |array: &str, acts: &str| {
        study(array, IO, acts).map_err(|found| found.iter().next().expect("an error").message.clone())
    };
    let plan = of("{ level = 5, spares = 1 }", &grow).expect("a sound study");
    assert_eq!(plan.cells[0].acts[0].to_string(), "grow to RAID 6 at 10 s");
    // Two members can fail then.
    let fail = |disk: u32| act(&format!("at = \"{disk}0s\"\ndo = \"fail\"\ndisk = {disk}"));
    let both = grow.clone() + &fail(2) + &fail(3);
    assert!(of("{ level = 5, spares = 1 }", &both).is_ok());
    let other = act("at = \"10s\"\ndo = \"check\"\nlevel = 6");
    assert_eq!(
        of("{ level = 5 }", &other),
        Err("`level` belongs to `grow`, not to `check`".to_owned())
    );
}

#[test]
fn power_cuts_amid_acts() {
    let of = |workload: &str, acts: &str| {
        study("{ level = 5 }", workload, acts)
            .map_err(|found| found.iter().next().expect("an error").message.clone())
    };
    let fail = act("after = \"20 %\"\ndo = \"fail\"\ndisk = 1");
    assert!(of("power_cut = { operations = 50 }", &fail).is_ok());
    assert_eq!(
        of("power_cut = { operations = 50, missing_member = true }", &fail),
        Err("acts and `missing_member` both remove members".to_owned())
    );
    let corrupt = act("after = \"20 %\"\ndo = \"corrupt\"\ndisk = 1\noffset = \"64K\"");
    assert_eq!(
        of("power_cut = { operations = 50 }", &corrupt),
        Err(
            "`corrupt` needs a workload that writes nothing, an `io` or `fio` that reads, which `w` is not"
                .to_owned()
        )
    );
}
