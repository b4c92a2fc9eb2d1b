//! Acts on the array while a workload runs. The disks stream 89.6 MB/s on their outermost tracks, which contain
//! such small arrays: 102 MiB/s.

use crate::laboratory::{Laboratory, Results, kernel_named};
use lab::kernel::KernelName;

const STREAMED_MIB_S: f64 = 89.6 / 1.048_576;
/// md pauses a rebuild 16 times to write its superblocks (`md_do_sync`: after each sixteenth of a member): the
/// disk's cache of 8 MiB is written out, followed by two writes with a revolution of 8.3 ms each.
const CHECKPOINTS_S: f64 = 16.0 * (8.0 / STREAMED_MIB_S + 2.0 * 0.0083);

/// Time to rebuild a member of this size on an idle array. The cache may hold less, which is within 15 % for 1 GiB.
fn rebuild_s(mebibytes: f64) -> f64 {
    mebibytes / STREAMED_MIB_S + CHECKPOINTS_S
}

fn is_near(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 0.15
}

/// A study of md on disks of this model.
fn study(count: u32, array: &str, io: &str, acts: &str) -> String {
    format!(
        "ram = \"128M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = {count}\n\
         [[stack]]\narray = {array}\nfs = {{ type = \"ext4\" }}\n\
         [[workload]]\nname = \"work\"\nio = {io}\n{acts}[precision]\ntrials = 1\n"
    )
}

fn act(at_s: u32, what: &str) -> String {
    format!("[[act]]\nat = \"{at_s}s\"\ndo = {what}\n")
}

/// Almost no load: two requests per second.
const QUIET: &str =
    "{ rw = \"randread\", bs = \"4K\", size = \"16M\", direct = true, rate_iops = 2, runtime = \"60s\" }";

fn figure(results: &Results, test: &str, metric: &str) -> f64 {
    results.sample("work", test, metric)
}

/// Phases, times and figures under random writes; all written data is intact afterwards (as the guards report), and
/// the same study again gives the same results.
#[test]
fn a_disk_of_raid_5_is_rebuilt_while_work_goes_on() {
    let Some(laboratory) = Laboratory::open() else { return };
    let io = "{ rw = \"randwrite\", bs = \"4K\", size = \"64M\", direct = true, runtime = \"60s\", verify = \"crc32c\" }";
    let acts = act(5, "\"fail\"\ndisk = 2") + &act(10, "\"remove\"\ndisk = 2") + &act(15, "\"add\"\ndisk = 2");
    let array = "{ level = 5, size = \"256M\", bitmap = \"none\" }";
    let first = laboratory.run(&study(4, array, io, &acts));
    let lasted = |phase: &str| figure(&first, phase, "phase_duration");
    assert!((4.99..5.2).contains(&lasted("healthy")), "{}", lasted("healthy"));
    assert!((9.9..10.5).contains(&lasted("degraded")), "{}", lasted("degraded"));
    let rebuild_s = figure(&first, "rebuild", "time_to_rebuild");
    assert!(rebuild_s > 256.0 / STREAMED_MIB_S, "{rebuild_s}");
    assert!((rebuild_s - lasted("rebuilding")).abs() < 0.5, "{rebuild_s}");
    let rate = figure(&first, "rebuild", "rebuild_rate");
    let rebuilt = rate * lasted("rebuilding");
    assert!((rebuilt - 256.0).abs() < 1.0, "{rebuilt} MiB were rebuilt");
    let exposed_s = figure(&first, "rebuild", "time_exposed");
    assert!((exposed_s - rebuild_s - 10.0).abs() < 0.2, "{exposed_s} s exposed");
    // The phases add up to the whole workload.
    let iops = |test: &str| figure(&first, test, "iops");
    let before = lasted("healthy") + lasted("degraded") + lasted("rebuilding");
    let parts = ["healthy", "degraded", "rebuilding"].map(|phase| iops(phase) * lasted(phase));
    let sum = parts.iter().sum::<f64>() + iops("rebuilt") * (60.0 - before);
    let all = iops("randwrite") * 60.0;
    assert!((sum / all - 1.0).abs() < 0.02, "{sum} of {all} writes");
    assert!(iops("rebuilding") < 0.9 * iops("healthy"), "{}", iops("rebuilding"));

    let again = laboratory.run_with(&["--store", "again.db"]);
    assert_eq!(first.digest(), again.digest());
}

/// On an idle array: as fast as disks stream.
#[test]
#[ignore = "test-all"]
fn an_idle_mirror_is_rebuilt_as_fast_as_its_disks_stream() {
    let Some(laboratory) = Laboratory::open() else { return };
    let acts = act(1, "\"fail\"\ndisk = 1")
        + &act(2, "\"remove\"\ndisk = 1")
        + &act(3, "\"add\"\ndisk = 1")
        + "[[act]]\nwhen = \"resync done\"\ndo = \"check\"\n";
    let array = "{ level = 1, size = \"1G\", bitmap = \"none\" }";
    let results = laboratory.run(&study(2, array, QUIET, &acts));
    let rate = figure(&results, "rebuild", "rebuild_rate");
    assert!(is_near(rate, STREAMED_MIB_S), "{rate} MiB/s");
    let took_s = figure(&results, "rebuild", "time_to_rebuild");
    assert!(is_near(took_s, rebuild_s(1024.0)), "{took_s} s");
    // A check writes nothing.
    let check_s = figure(&results, "check", "duration");
    assert!(is_near(check_s, 1024.0 / STREAMED_MIB_S), "{check_s} s");
    // md's own limit is respected.
    let array = "{ level = 1, size = \"512M\", bitmap = \"none\", sync_speed_max = 20480 }";
    let results = laboratory.run(&study(2, array, QUIET, &acts));
    let rate = figure(&results, "rebuild", "rebuild_rate");
    assert!(is_near(rate, 20.0), "{rate} MiB/s");
}

/// Issue 39, A8: an act that waited for a rebuild came after the work, and every figure of the cell was excluded.
#[test]
fn a_late_act_does_not_void_what_was_measured_before_it() {
    let Some(laboratory) = Laboratory::open() else { return };
    let acts = act(1, "\"fail\"\ndisk = 1")
        + &act(2, "\"remove\"\ndisk = 1")
        + &act(3, "\"add\"\ndisk = 1")
        + "[[act]]\nwhen = \"resync done\"\ndo = \"check\"\n";
    let io = "{ rw = \"randread\", bs = \"4K\", size = \"16M\", direct = true, rate_iops = 20, runtime = \"6s\" }";
    // 64 s, of which 3 are left.
    let array = "{ level = 1, size = \"64M\", bitmap = \"none\", sync_speed_max = 1024 }";
    let results = laboratory.run_with_failed_guards(&study(2, array, io, &acts));
    let excluded = |test: &str| results.is_excluded("work", test);
    for test in ["healthy", "degraded", "rebuilding"] {
        assert!(!excluded(test), "{test}");
    }
    for test in ["randread", "rebuild", "check"] {
        assert!(excluded(test), "{test}");
    }
    // 1 MiB/s for 250 GB in the outer zones and inwards: days.
    assert!(figure(&results, "rebuild", "time_to_rebuild_disk") > 24.0);
}

/// With one of four disks missing, a quarter of the blocks needs three reads: 1.5 reads per block by three disks,
/// which is half of what four disks do with one.
#[test]
#[ignore = "test-all"]
fn a_degraded_raid_5_reads_half_as_much_at_random() {
    let Some(laboratory) = Laboratory::open() else { return };
    let io = "{ rw = \"randread\", bs = \"4K\", size = \"256M\", direct = true, iodepth = 32, runtime = \"20s\" }";
    let array = "{ level = 5, size = \"256M\", bitmap = \"none\" }";
    let results = laboratory.run(&study(4, array, io, &act(10, "\"fail\"\ndisk = 3")));
    let ratio = figure(&results, "degraded", "iops") / figure(&results, "healthy", "iops");
    assert!((0.4..0.65).contains(&ratio), "{ratio}");
}

/// A member is absent during 20 s of writes to 16 MiB. With a bitmap chunk of 1 MiB only those and ext4's journal
/// are written when it returns; without one, everything.
#[test]
fn a_bitmap_saves_a_re_added_member_from_a_rebuild() {
    let Some(laboratory) = Laboratory::open() else { return };
    let io =
        "{ rw = \"randwrite\", bs = \"4K\", size = \"16M\", direct = true, rate_iops = 50, runtime = \"90s\" }";
    let acts = act(1, "\"fail\"\ndisk = 2") + &act(2, "\"remove\"\ndisk = 2") + &act(22, "\"re-add\"\ndisk = 2");
    let took = |bitmap: &str| {
        let array = format!("{{ level = 1, size = \"2G\", {bitmap} }}");
        let results = laboratory.run(&study(2, &array, io, &acts));
        figure(&results, "rebuild", "time_to_rebuild")
    };
    let without = took("bitmap = \"none\"");
    assert!(without > 2048.0 / STREAMED_MIB_S, "{without} s for 2 GiB");
    let with = took("bitmap = \"internal\", bitmap_chunk = \"1M\"");
    assert!(with * 5.0 < without, "{with} s with a bitmap, {without} s without");
}

/// Whether md has rebuilt a disk before the next one fails is only known in the trial.
#[test]
fn a_disk_that_fails_before_another_is_rebuilt_fails_the_trial() {
    let Some(laboratory) = Laboratory::open() else { return };
    let array = "{ level = 5, size = \"1G\", bitmap = \"none\", spares = 1 }";
    let first = act(5, "\"fail\"\ndisk = 2");
    laboratory.study(&study(
        4,
        array,
        QUIET,
        &(first.clone() + &act(6, "\"fail\"\ndisk = 1")),
    ));
    let output = laboratory
        .raidlab(&["run", "study.toml"])
        .output()
        .expect("raidlab can be run");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{printed}");
    assert!(
        printed.contains("`fail disk 1 at 6 s` would lose the array: 1 of its members"),
        "{printed}"
    );

    let then = "[[act]]\nwhen = \"resync done\"\ndo = \"fail\"\ndisk = 1\n";
    let waited = laboratory.run(&study(4, array, QUIET, &(first + then)));
    let (rebuilt_s, degraded_s) = (
        figure(&waited, "rebuild", "time_to_rebuild"),
        figure(&waited, "degraded", "phase_duration"),
    );
    assert!(
        (rebuilt_s + degraded_s - 55.0).abs() < 2.0,
        "{rebuilt_s} s, {degraded_s} s"
    );
}

/// Spares take over automatically, replace a working disk, and become members.
#[test]
#[ignore = "test-all"]
fn spares_take_over_replace_and_join() {
    let Some(laboratory) = Laboratory::open() else { return };
    let array = "{ level = 5, size = \"1G\", bitmap = \"none\", spares = 1 }";
    let failed = laboratory.run(&study(4, array, QUIET, &act(5, "\"fail\"\ndisk = 2")));
    let exposed_s = figure(&failed, "rebuild", "time_exposed");
    assert!((exposed_s - figure(&failed, "rebuild", "time_to_rebuild")).abs() < 1e-9);
    assert!(is_near(exposed_s, rebuild_s(1024.0)), "{exposed_s} s exposed");

    let replaced = laboratory.run(&study(4, array, QUIET, &act(5, "\"replace\"\ndisk = 2")));
    let took_s = figure(&replaced, "rebuild", "time_to_rebuild");
    assert!(is_near(took_s, rebuild_s(1024.0)), "{took_s} s");

    let array = "{ level = 5, size = \"128M\", bitmap = \"none\", spares = 1 }";
    let grown = laboratory.run(&study(4, array, QUIET, &act(5, "\"grow\"")));
    let took_s = figure(&grown, "reshape", "duration");
    assert!(took_s > 128.0 / STREAMED_MIB_S, "{took_s}");
}

/// A quarter of the reads goes to the slow disk of four, and each of those takes 100 ms longer: 25 ms on average.
#[test]
#[ignore = "test-all"]
fn a_slow_disk_of_four_delays_a_quarter_of_the_reads() {
    let Some(laboratory) = Laboratory::open() else { return };
    let io = "{ rw = \"randread\", bs = \"4K\", size = \"256M\", direct = true, runtime = \"60s\" }";
    let array = "{ level = 5, size = \"256M\", bitmap = \"none\" }";
    let slow = act(20, "\"slow\"\ndisk = 2\ndelay = \"100ms\"");
    let results = laboratory.run(&study(4, array, io, &slow));
    let mean_ms = |phase: &str| 1000.0 / figure(&results, phase, "iops");
    let longer_ms = mean_ms("limping") - mean_ms("healthy");
    assert!((longer_ms / 25.0 - 1.0).abs() < 0.2, "{longer_ms} ms longer");
    let lasted = figure(&results, "healthy", "phase_duration");
    assert!((19.9..20.3).contains(&lasted), "{lasted} s");
}

/// One corrupted sector, then `check` and `repair`. RAID 5 compares stripes of 4 KiB per member: 8 sectors; RAID 1
/// requests of 64 KiB: 128.
fn corrupted(count: u32, array: &str, disk: u32, offset: &str) -> Vec<f64> {
    let Some(laboratory) = Laboratory::open() else {
        return Vec::new();
    };
    let acts = act(1, &format!("\"corrupt\"\ndisk = {disk}\noffset = \"{offset}\""))
        + &act(2, "\"check\"")
        + "[[act]]\nwhen = \"resync done\"\ndo = \"repair\"\n";
    let study = study(count, array, QUIET, &acts).replace("type = \"ext4\"", "type = \"raw\"");
    let results = laboratory.run(&study);
    let of_checks = ["check", "repair"].map(|test| figure(&results, test, "mismatches"));
    let of_sectors = ["corrupted", "found", "repaired", "repaired_wrongly", "served_as_good"]
        .map(|metric| figure(&results, "corrupt", metric));
    [of_checks.as_slice(), of_sectors.as_slice()].concat()
}

/// On four disks with chunks of 512 KiB, byte 1 MiB of each member is in the third stripe, whose parity is on the
/// second one.
#[test]
fn raid_5_repairs_parity_alone() {
    let array = "{ level = 5, size = \"64M\", bitmap = \"none\" }";
    let data = corrupted(4, array, 1, "1M");
    if data.is_empty() {
        return;
    }
    assert_eq!(data, [8.0, 8.0, 1.0, 1.0, 0.0, 1.0, 1.0], "data");
    assert_eq!(
        corrupted(4, array, 2, "1M"),
        [8.0, 8.0, 1.0, 1.0, 1.0, 0.0, 0.0],
        "parity"
    );
}

/// md copies the first member to the others, whichever is right.
#[test]
#[ignore = "test-all"]
fn raid_1_repairs_from_its_first_member() {
    let array = "{ level = 1, size = \"64M\", bitmap = \"none\" }";
    let first = corrupted(2, array, 1, "1M");
    if first.is_empty() {
        return;
    }
    assert_eq!(first, [128.0, 128.0, 1.0, 1.0, 0.0, 1.0, 1.0], "first");
    let second = corrupted(2, array, 2, "1M");
    assert_eq!(second[..6], [128.0, 128.0, 1.0, 1.0, 1.0, 0.0], "second");
}

/// A checksum identifies the wrong copy: on either disk it is repaired, and never returned as good data.
fn repaired_by_checksum(laboratory: &Laboratory, fs: &str) {
    let place = |disk: u32, sectors: u32| {
        let what = format!("\"corrupt\"\ndisk = {disk}\noffset = \"{disk}M\"\nsectors = {sectors}");
        act(1, &what)
    };
    let acts = place(1, 1) + &place(2, 64) + &act(5, "\"repair\"");
    let study = study(2, "{ level = \"none\" }", QUIET, &acts)
        .replace("type = \"ext4\"", fs)
        .replace("128M", "256M");
    let results = laboratory.run(&study);
    assert!(figure(&results, "repair", "mismatches") > 0.0, "{fs}");
    for (test, sectors) in [("corrupt", 1.0), ("corrupt 2", 64.0)] {
        let of_sectors = [
            "corrupted",
            "found",
            "repaired",
            "repaired_wrongly",
            "served_as_good",
            "unreadable",
        ]
        .map(|metric| figure(&results, test, metric));
        assert_eq!(of_sectors, [sectors, sectors, sectors, 0.0, 0.0, 0.0], "{fs}: {test}");
    }
}

#[test]
fn a_scrub_of_btrfs_repairs_what_its_checksum_tells() {
    let Some(laboratory) = Laboratory::open() else { return };
    repaired_by_checksum(&laboratory, "type = \"btrfs\", data = \"raid1\"");
}

#[test]
#[ignore = "test-all"]
fn a_scrub_of_zfs_repairs_what_its_checksum_tells() {
    let Some(laboratory) = Laboratory::open() else { return };
    let Some(_kernel) = kernel_named(&KernelName::parse("6.12+zfs")) else {
        return;
    };
    repaired_by_checksum(&laboratory, "type = \"zfs\", pool = \"mirror\"");
}

/// dm-integrity turns wrong data into an error, from which md knows the wrong copy: on either disk `check` alone
/// repairs it. Only RAID 1 counts it as a mismatch.
#[test]
fn a_scrub_of_md_on_dm_integrity_repairs_what_a_checksum_tells() {
    let Some(laboratory) = Laboratory::open() else { return };
    let Some(_kernel) = kernel_named(&KernelName::parse("6.12+more")) else {
        return;
    };
    let place = |disk: u32, sectors: u32| {
        let what = format!("\"corrupt\"\ndisk = {disk}\noffset = \"{disk}M\"\nsectors = {sectors}");
        act(1, &what)
    };
    let acts = place(1, 1) + &place(2, 64) + &act(5, "\"check\"");
    for (level, mode, mismatches) in [(1, "journal", 256.0), (5, "journal", 0.0), (5, "direct", 0.0)] {
        let array = format!(
            "{{ level = {level}, size = \"64M\", bitmap = \"none\", integrity = \"crc32c\", integrity_mode = \"{mode}\" }}"
        );
        let study = study(4, &array, QUIET, &acts)
            .replace("type = \"ext4\"", "type = \"raw\"")
            .replace("128M", "512M");
        let results = laboratory.run(&study);
        let counted = figure(&results, "check", "mismatches");
        assert!((counted - mismatches).abs() < f64::EPSILON, "RAID {level}: {counted}");
        assert!(figure(&results, "check", "checksum_errors") > 0.0, "RAID {level}");
        for (test, sectors) in [("corrupt", 1.0), ("corrupt 2", 64.0)] {
            let of_sectors = ["corrupted", "found", "repaired", "served_as_good", "unreadable"]
                .map(|metric| figure(&results, test, metric));
            assert_eq!(
                of_sectors,
                [sectors, sectors, sectors, 0.0, 0.0],
                "RAID {level}, {mode}: {test}"
            );
        }
    }
}
