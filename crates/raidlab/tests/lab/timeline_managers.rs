//! Acts on btrfs, ZFS, LVM and bcachefs. Five disks, one of them a spare; they stream 85 MiB/s on their outermost
//! tracks.

use crate::bcachefs;
use crate::laboratory::{Laboratory, Results, kernel_named};
use lab::kernel::KernelName;

const STREAMED_MIB_S: f64 = 89.6 / 1.048_576;
const FILE_MIB: f64 = 256.0;
const BCACHEFS: &str = "array = { level = \"none\", spares = 1 }\nfs = { type = \"bcachefs\", replicas = 2 }";

const REPLACED: &str =
    "[[act]]\nat = \"10s\"\ndo = \"fail\"\ndisk = 3\n[[act]]\nat = \"60s\"\ndo = \"replace\"\ndisk = 3\n";

/// A disk dies, a spare takes over, and everything is checked, while a file of 256 MiB is read slowly.
fn replaced(stack: &str) -> Option<Results> {
    let acts = format!("{REPLACED}[[act]]\nwhen = \"resync done\"\ndo = \"check\"\n");
    acted(stack, &acts)
}

fn acted(stack: &str, acts: &str) -> Option<Results> {
    let laboratory = Laboratory::open()?;
    let study = format!(
        "ram = \"512M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 5\n[[stack]]\n{stack}\n\
         [[workload]]\nname = \"work\"\n\
         io = {{ rw = \"randread\", bs = \"4K\", size = \"256M\", direct = true, rate_iops = 5, runtime = \"120s\" }}\n\
         {acts}[precision]\ntrials = 1\n"
    );
    Some(laboratory.run(&study))
}

/// Whether there is a kernel; if not, the test is skipped.
fn has(kernel: &str) -> bool {
    kernel_named(&KernelName::parse(kernel)).is_some()
}

fn figure(results: &Results, test: &str, metric: &str) -> f64 {
    results.sample("work", test, metric)
}

/// Conditions for all managers; the rebuild wrote this many MiB.
fn is_rebuilt(results: &Results, mebibytes: f64) {
    is_replaced(results, mebibytes, 0.15);
    let rate = figure(results, "rebuild", "rebuild_rate");
    assert!(rate < STREAMED_MIB_S, "{rate} MiB/s");
    assert!((figure(results, "check", "mismatches")).abs() < f64::EPSILON);
    assert!(figure(results, "check", "duration") > 0.0);
}

/// 50 s after the disk failed; the amount written may deviate by this fraction.
fn is_replaced(results: &Results, mebibytes: f64, share: f64) {
    let took_s = figure(results, "rebuild", "time_to_rebuild");
    let exposed_s = figure(results, "rebuild", "time_exposed");
    assert!(
        (exposed_s - took_s - 50.0).abs() < 0.1,
        "{exposed_s} s exposed, {took_s} s"
    );
    let rate = figure(results, "rebuild", "rebuild_rate");
    let wrote = rate * figure(results, "rebuilding", "phase_duration");
    assert!((wrote / mebibytes - 1.0).abs() < share, "{wrote} of {mebibytes} MiB");
}

/// btrfs allocates chunks of 1 GiB, so both copies of the whole file are on two disks: the last two, because the
/// first metadata is on the first two.
#[test]
fn btrfs_replaces_a_disk() {
    let stack = "array = { level = \"none\", spares = 1 }\nfs = { type = \"btrfs\", data = \"raid1\" }";
    let Some(results) = replaced(stack) else { return };
    is_rebuilt(&results, FILE_MIB);
}

/// Two of four disks hold data, so each has half of the file's size.
#[test]
#[ignore = "test-all"]
fn zfs_resilvers_a_disk() {
    if !has("6.12+zfs") {
        return;
    }
    let stack = "array = { level = \"none\", spares = 1 }\nfs = { type = \"zfs\", pool = \"raidz2\" }";
    let Some(results) = replaced(stack) else { return };
    is_rebuilt(&results, FILE_MIB / 2.0);
    let degraded_s = figure(&results, "degraded", "phase_duration");
    assert!((degraded_s - 50.0).abs() < 2.0, "{degraded_s} s degraded");
}

/// The used size of a member.
#[test]
fn lvm_repairs_a_volume() {
    if !has("6.12+more") {
        return;
    }
    let stack = "array = { level = \"lvm-raid5\", size = \"256M\", spares = 1 }\nfs = { type = \"ext4\" }";
    let Some(results) = replaced(stack) else { return };
    is_rebuilt(&results, 256.0);
}

/// Two copies of the file are on four disks. The dead disk's part is written to the others, together with the trees
/// that locate it and the journal.
#[test]
#[ignore = "test-all"]
fn bcachefs_writes_the_copies_of_a_dead_disk_again() {
    if !has("6.12+more") || !bcachefs::is_to_be_had() {
        return;
    }
    let Some(results) = acted(BCACHEFS, REPLACED) else {
        return;
    };
    is_replaced(&results, FILE_MIB / 2.0, 0.3);
    let degraded_s = figure(&results, "degraded", "phase_duration");
    assert!(
        (degraded_s - 20.0).abs() < 0.5,
        "{degraded_s} s degraded, of 50 s after 30 s of silence"
    );
}

/// No copy is missing meanwhile, and no disk.
#[test]
#[ignore = "test-all"]
fn bcachefs_empties_a_disk_that_works() {
    if !has("6.12+more") || !bcachefs::is_to_be_had() {
        return;
    }
    let acts = "[[act]]\nat = \"10s\"\ndo = \"replace\"\ndisk = 2\n";
    let Some(results) = acted(BCACHEFS, acts) else { return };
    let lasted = |phase| figure(&results, phase, "phase_duration");
    let rebuilding_s = lasted("rebuilding");
    assert!((rebuilding_s - figure(&results, "rebuild", "time_to_rebuild")).abs() < 0.1);
    assert!((lasted("healthy") - 10.0).abs() < 0.1);
    assert!(!results.has_sample("work", "degraded", "phase_duration"));
    let wrote = figure(&results, "rebuild", "rebuild_rate") * rebuilding_s;
    assert!((wrote / (FILE_MIB / 2.0) - 1.0).abs() < 0.3, "{wrote} MiB");
}

/// md's spare waits for `replace`.
#[test]
fn mds_spare_waits_for_the_act() {
    let stack = "array = { level = 5, size = \"256M\", bitmap = \"none\", spares = 1 }\nfs = { type = \"ext4\" }";
    let Some(results) = replaced(stack) else { return };
    is_rebuilt(&results, 256.0);
    let degraded_s = figure(&results, "degraded", "phase_duration");
    assert!((degraded_s - 50.0).abs() < 0.5, "{degraded_s} s degraded");
}
