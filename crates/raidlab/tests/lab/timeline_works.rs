//! Acts during every kind of work: several tests, fio, Bonnie++.

use crate::laboratory::{Laboratory, Results};

fn study(array: &str, workload: &str, acts: &str) -> String {
    format!(
        "ram = \"256M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 4\n\
         [[stack]]\narray = {array}\nfs = {{ type = \"ext4\" }}\n\
         [[workload]]\nname = \"work\"\n{workload}\n{acts}[precision]\ntrials = 1\n"
    )
}

fn act(when: &str, what: &str) -> String {
    format!("[[act]]\n{when}\ndo = {what}\n")
}

fn a_disk_comes_back(times: [&str; 3]) -> String {
    let whats = ["\"fail\"\ndisk = 2", "\"remove\"\ndisk = 2", "\"add\"\ndisk = 2"];
    times.iter().zip(whats).map(|(when, what)| act(when, what)).collect()
}

const RAID_5: &str = "{ level = 5, size = \"128M\", bitmap = \"none\" }";

/// The phases in which a test ran, as its guard says.
fn phases_of(results: &Results, test: &str) -> String {
    let (_, detail) = results.guard("work", "act", Some(test));
    detail
}

/// Each of four tests is a quarter of the work. Files are read in phases, and all of them are right afterwards.
#[test]
fn a_disk_fails_and_comes_back_during_a_tree_of_files() {
    let Some(laboratory) = Laboratory::open() else { return };
    let acts = a_disk_comes_back(["after = \"26 %\"", "after = \"32 %\"", "after = \"40 %\""]);
    let tree = "tree = { files = 1000, size = \"32K\" }";
    let results = laboratory.run(&study(RAID_5, tree, &acts));
    let write = phases_of(&results, "write");
    assert!(
        write.starts_with("the array was healthy (") && !write.contains("degraded"),
        "{write}"
    );
    let read = phases_of(&results, "read");
    assert!(read.contains("degraded") && read.contains("rebuilding"), "{read}");
    let figure = |test: &str, metric: &str| results.sample("work", test, metric);
    // The clock starts with the first test.
    let healthy_s = figure("healthy", "phase_duration");
    let [write_s, read_s] = ["write", "read"].map(|test| figure(test, "duration"));
    assert!(
        healthy_s > write_s && healthy_s < write_s + read_s / 2.0,
        "{healthy_s} s healthy"
    );
    let exposed_s = figure("rebuild", "time_exposed");
    let sum_s = figure("degraded", "phase_duration") + figure("rebuilding", "phase_duration");
    assert!(
        (exposed_s - sum_s).abs() < 0.5,
        "{exposed_s} s exposed, {sum_s} s in phases"
    );
    assert!(results.guard("work", "contents", Some("copy")).0);
}

/// fio's log and raidlab's own count agree on what a phase costs. cases/acts-need-io.
#[test]
fn phases_of_fio_are_those_of_raidlabs_engine() {
    let Some(laboratory) = Laboratory::open() else { return };
    let acts = a_disk_comes_back(["at = \"6s\"", "at = \"12s\"", "at = \"14s\""]);
    let of = |engine: &str| {
        let job = "rw = \"randread\", bs = \"4K\", size = \"64M\", iodepth = 4, direct = true, runtime = \"40s\"";
        laboratory.run(&study(
            &RAID_5.replace("128M", "256M"),
            &format!("{engine} = {{ {job} }}"),
            &acts,
        ))
    };
    let (fio, own) = (of("fio"), of("io"));
    for phase in ["healthy", "degraded", "rebuilding", "rebuilt"] {
        let iops = |results: &Results| results.sample("work", phase, "iops");
        let ratio = iops(&fio) / iops(&own);
        // How md and the work share the disks differs from one run to the next.
        let scatter = if phase == "rebuilding" { 0.25 } else { 0.1 };
        assert!(
            (ratio - 1.0).abs() < scatter,
            "{phase}: {} and {}",
            iops(&fio),
            iops(&own)
        );
    }
    let slower = fio.sample("work", "rebuilding", "iops") / fio.sample("work", "healthy", "iops");
    assert!(slower < 0.7, "{slower}");
}

/// A late act takes from the last test alone, which was to include it. cases/act-guard-voids-all.
#[test]
fn a_late_act_takes_from_the_last_test_alone() {
    let Some(laboratory) = Laboratory::open() else { return };
    let acts = act("at = \"1s\"", "\"check\"") + &act("at = \"1000s\"", "\"check\"");
    let server = "server = { files = 200, tests = [\"create\", \"replace\"] }";
    let results = laboratory.run_with_failed_guards(&study(RAID_5, server, &acts));
    let excluded = |test: &str| results.is_excluded("work", test);
    assert!(!excluded("create") && excluded("replace"));
    let create = phases_of(&results, "create");
    assert!(create.contains("checking"), "{create}");
}

/// Bonnie++ does not say when each of its tests began: one guard has the phases of all.
#[test]
#[ignore = "test-all"]
fn a_check_during_bonnie() {
    let Some(laboratory) = Laboratory::open() else { return };
    let acts = act("at = \"2s\"", "\"check\"");
    let bonnie = "bonnie = { size = \"256M\", per_char = false, seeks = 500 }";
    let results = laboratory.run(&study(RAID_5, bonnie, &acts));
    assert!(results.sample("work", "check", "duration") > 128.0 / 90.0);
    assert_eq!(results.sample("work", "check", "mismatches"), 0.0);
}

/// Drives that take discards, with few blocks.
fn of_ssds(level: &str, workload: &str, acts: &str) -> String {
    format!(
        "ram = \"256M\"\n[disks]\nmodel = \"samsung-970-evo-500gb\"\ncount = 4\n\
         [[stack]]\narray = {{ level = {level}, size = \"512M\" }}\nfs = {{ type = \"ext4\" }}\n\
         [[workload]]\nname = \"work\"\n{workload}\n{acts}[precision]\ntrials = 1\n"
    )
}

const FILES: &str = "tree = { files = 64, size = \"1M\", tests = [\"write\", \"delete\", \"copy\", \"read\"] }";

/// RAID 10 passes discards on, each to both copies, and what is in use stays as it was. cases/fstrim-discard.
#[test]
fn fstrim_discards_free_space_through_raid_10() {
    let Some(laboratory) = Laboratory::open() else { return };
    let acts = act("after = \"60 %\"", "\"fstrim\"");
    let results = laboratory.run(&of_ssds("10", FILES, &acts));
    let figure = |metric: &str| results.sample("work", "fstrim", metric);
    // 1 GiB less 64 to 128 MiB of files and ext4's own blocks.
    let trimmed = figure("trimmed");
    assert!((800.0..970.0).contains(&trimmed), "{trimmed} MiB");
    let copies = figure("discarded") / trimmed;
    assert!((1.9..=2.0).contains(&copies), "{copies}");
    assert!(figure("duration") > 0.0);
    assert!(results.guard("work", "contents", Some("copy")).0);
}

/// Only the filesystem takes part in it: it needs no redundancy.
#[test]
#[ignore = "test-all"]
fn a_single_disk_is_trimmed() {
    let Some(laboratory) = Laboratory::open() else { return };
    let study = of_ssds("10", FILES, &act("after = \"60 %\"", "\"fstrim\""));
    let study = study.replace("level = 10, size = \"512M\"", "level = \"single\"");
    let results = laboratory.run(&study);
    let share = results.sample("work", "fstrim", "discarded") / results.sample("work", "fstrim", "trimmed");
    assert!((0.95..=1.0).contains(&share), "{share}");
}

/// md passes nothing on for RAID 5: fstrim and the mount option are said to have no effect.
#[test]
fn discards_end_at_raid_5() {
    let Some(laboratory) = Laboratory::open() else { return };
    let study = of_ssds("5", FILES, &act("after = \"60 %\"", "\"fstrim\""));
    let results = laboratory.run_with_failed_guards(&study);
    assert!(results.is_excluded("work", "fstrim") && !results.is_excluded("work", "write"));
    let (passed, detail) = results.guard("work", "trim", Some("fstrim"));
    assert!(!passed && detail.contains("takes no discards"), "{detail}");
    assert!(results.guard("work", "as-asked", None).0, "nothing else was asked for");
    let study = of_ssds("5", FILES, "").replace("fs =", "mount = \"noatime,discard\"\nfs =");
    let results = laboratory.run_with_failed_guards(&study);
    let (passed, detail) = results.guard("work", "as-asked", None);
    assert!(!passed, "{detail}");
    assert!(
        detail
            .starts_with("mount option: asked for `discard`, the kernel has `no discards: discard_max_bytes of md"),
        "{detail}"
    );
    assert!(detail.contains("RAID 5 passes no discards"), "{detail}");
}

/// Every setting of md and of the disks is still there after the tests.
#[test]
fn what_a_study_asked_for_is_in_the_kernel() {
    let Some(laboratory) = Laboratory::open() else { return };
    let io = "io = { rw = \"randwrite\", bs = \"4K\", size = \"16M\", direct = true }";
    let array = "{ level = 5, size = \"128M\", chunk = \"64K\", layout = \"right-symmetric\", bitmap = \"internal\", \
                 bitmap_chunk = \"1M\", stripe_cache = 1024, group_thread_cnt = 2, rmw_level = 2, skip_copy = 1, \
                 sync_speed_min = 2000, sync_speed_max = 50000, metadata = \"1.1\" }";
    let study = study(array, io, "").replace(
        "fs =",
        "scheduler = \"none\"\nread_ahead = 512\nwrite_cache = false\nmount = \"noatime,commit=30,barrier=0\"\nfs =",
    );
    let results = laboratory.run(&study);
    let (passed, detail) = results.guard("work", "as-asked", None);
    assert!(passed, "{detail}");
    // 11 of md, 2 of each disk, read-ahead, 3 mount options.
    assert!(detail.starts_with("23 settings"), "{detail}");
}
