//! Acts on btrfs, ZFS and LVM. Five disks, one of them a spare; they stream 85 MiB/s on their outermost tracks.

use crate::laboratory::{Laboratory, Results, turn};
use lab::kernel::{Cache, KernelName};

const STREAMED_MIB_S: f64 = 89.6 / 1.048_576;
const FILE_MIB: f64 = 256.0;

/// A disk dies, a spare takes over, and all is checked, while a file of 256 MiB is hardly read.
fn replaced(stack: &str) -> Option<Results> {
    let laboratory = Laboratory::open()?;
    let study = format!(
        "ram = \"512M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 5\n[[stack]]\n{stack}\n\
         [[workload]]\nname = \"work\"\n\
         io = {{ rw = \"randread\", bs = \"4K\", size = \"256M\", direct = true, rate_iops = 5, runtime = \"120s\" }}\n\
         [[act]]\nat = \"10s\"\ndo = \"fail\"\ndisk = 3\n[[act]]\nat = \"60s\"\ndo = \"replace\"\ndisk = 3\n\
         [[act]]\nwhen = \"resync done\"\ndo = \"check\"\n[precision]\ntrials = 1\n"
    );
    Some(laboratory.run(&study))
}

/// The kernel is not built for a test.
fn has(kernel: &str) -> bool {
    let _turn = turn();
    let has = matches!(Cache::of_user().find(&KernelName::parse(kernel)), Ok(Ok(_)));
    if !has {
        println!("skipped: `raidlab kernel build {kernel}` was never asked for");
    }
    has
}

fn figure(results: &Results, test: &str, metric: &str) -> f64 {
    results.sample("work", test, metric)
}

/// What holds of all of them; the rebuild wrote so many MiB.
fn is_rebuilt(results: &Results, mebibytes: f64) {
    let took_s = figure(results, "rebuild", "time_to_rebuild");
    let exposed_s = figure(results, "rebuild", "time_exposed");
    assert!(
        (exposed_s - took_s - 50.0).abs() < 0.1,
        "{exposed_s} s exposed, {took_s} s"
    );
    let rate = figure(results, "rebuild", "rebuild_rate");
    assert!(rate < STREAMED_MIB_S, "{rate} MiB/s");
    let wrote = rate * figure(results, "rebuilding", "phase_duration");
    assert!((wrote / mebibytes - 1.0).abs() < 0.15, "{wrote} of {mebibytes} MiB");
    assert!((figure(results, "check", "mismatches")).abs() < f64::EPSILON);
    assert!(figure(results, "check", "duration") > 0.0);
}

/// btrfs allocates chunks of 1 GiB, so that both copies of the whole file are on two disks: the last two, because the first
/// metadata are on the first two.
#[test]
fn btrfs_replaces_a_disk() {
    let stack = "array = { level = \"none\", spares = 1 }\nfs = { type = \"btrfs\", data = \"raid1\" }";
    let Some(results) = replaced(stack) else { return };
    is_rebuilt(&results, FILE_MIB);
}

/// Two of four disks hold data, so that half of the file's size is on each.
#[test]
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

/// md's spare waits for `replace`.
#[test]
fn mds_spare_waits_for_the_act() {
    let stack = "array = { level = 5, size = \"256M\", bitmap = \"none\", spares = 1 }\nfs = { type = \"ext4\" }";
    let Some(results) = replaced(stack) else { return };
    is_rebuilt(&results, 256.0);
    let degraded_s = figure(&results, "degraded", "phase_duration");
    assert!((degraded_s - 50.0).abs() < 0.5, "{degraded_s} s degraded");
}
