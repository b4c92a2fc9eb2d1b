//! Acts on the array while a workload runs: a disk of RAID 5 fails and is added again as a new one.

use crate::laboratory::Laboratory;

/// 256 MiB of each member are rebuilt.
const STUDY: &str = "ram = \"128M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 4\n\
    [[stack]]\narray = { level = 5, size = \"256M\" }\nfs = { type = \"ext4\" }\n\
    [[workload]]\nname = \"work\"\n\
    io = { rw = \"randwrite\", bs = \"4K\", size = \"64M\", direct = true, runtime = \"40s\" }\n\
    [[act]]\nat = \"5s\"\ndo = \"fail\"\ndisk = 2\n\
    [[act]]\nat = \"10s\"\ndo = \"remove\"\ndisk = 2\n\
    [[act]]\nat = \"15s\"\ndo = \"add\"\ndisk = 2\n\
    [precision]\ntrials = 1\n";

#[test]
fn a_disk_that_is_added_again_is_rebuilt_while_work_goes_on() {
    let Some(laboratory) = Laboratory::open() else { return };
    // Its guards are passed: the blocks that were written are read back as they were.
    let first = laboratory.run(STUDY);
    let figure = |test: &str, metric: &str| first.sample("work", test, metric);
    let phase = |name: &str| figure(&format!("phase {name}"), "phase_duration");
    assert!((4.9..5.5).contains(&phase("healthy")), "{}", phase("healthy"));
    assert!((9.5..12.0).contains(&phase("degraded")), "{}", phase("degraded"));
    let rebuild_s = figure("rebuild", "time_to_rebuild");
    // No disk writes 256 MiB faster than it streams, about 80 MiB/s.
    assert!(rebuild_s > 256.0 / 90.0, "{rebuild_s}");
    let rate = figure("rebuild", "rebuild_rate");
    assert!((rate * rebuild_s - 256.0).abs() < 1.0, "{rate} MiB/s for {rebuild_s} s");
    let exposed_s = figure("rebuild", "time_exposed");
    assert!(
        (exposed_s - rebuild_s - 10.0).abs() < 0.5,
        "{exposed_s} s exposed, {rebuild_s} s rebuilding"
    );
    let calls = laboratory.programs_called();
    let called = calls
        .values()
        .flatten()
        .filter(|line| line.contains("--manage"))
        .count();
    assert!(called >= 3, "{calls:?}");

    let again = laboratory.run_with(&["--store", "again.db"]);
    assert_eq!(first.digest(), again.digest());
}
