//! Arrays whose members differ.

use crate::laboratory::Laboratory;

/// A mirror of a solid-state drive and a hard disk keeps one of four reads waiting for the hard disk, unless that is write-mostly.
#[test]
fn a_write_mostly_hard_disk_leaves_reads_to_the_solid_state_drive() {
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(
        r#"
        ram = "128M"
        [disks]
        model = "wd-wd40efrx"
        [disks.ssd]
        model = "samsung-870-evo-500gb"
        [[stack]]
        array = { level = 1, size = "4G", bitmap = "internal", members = "ssd,data", write_mostly = [0, 1], write_behind = ["default", 256] }
        fs = { type = "raw" }
        [[workload]]
        name = "w"
        io = { rw = ["randread", "randwrite"], bs = "4K", size = "1G", iodepth = 4, direct = true, ramp_time = "1s", runtime = "2s" }
        [precision]
        trials = 1
        "#,
    );
    let of = |stack: &str, test: &str| results.sample_of(&format!("{stack} | w rw={test}"), test, "iops");
    let (all, mostly) = (of("raw", "randread"), of("raw 1 write-mostly", "randread"));
    println!("reads a second: {all:.0} of both, {mostly:.0} with the hard disk write-mostly");
    assert!(mostly > 1.4 * all, "{mostly} {all}");
    let behind = of("raw 1 write-mostly write-behind 256", "randwrite");
    let waited = of("raw 1 write-mostly", "randwrite");
    println!("writes a second: {waited:.0} that wait for the hard disk, {behind:.0} of which 256 do not");
    assert!(behind >= 0.9 * waited, "{behind} {waited}");
}

/// md's RAID 0 of unequal disks has a second zone on the larger one; RAID 1 has the size of the smaller.
#[test]
fn unequal_disks_make_an_array_with_zones() {
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(
        r#"
        ram = "128M"
        [disks]
        model = "wd-500gb-2007"
        [disks.small]
        model = "samsung-870-evo-500gb"
        [[stack]]
        array = { level = 0, members = "data,small" }
        fs = { type = "raw" }
        [[stack]]
        array = { level = "linear", members = "data,small" }
        fs = { type = "raw" }
        [[stack]]
        array = { level = "none", members = "small,data" }
        fs = { type = "btrfs" }
        [[workload]]
        name = "w"
        io = { rw = "write", bs = "1M", size = "256M", direct = true, end_fsync = true }
        [precision]
        trials = 1
        "#,
    );
    for stack in ["RAID 0 raw", "linear raw", "btrfs"] {
        let rate = results.sample_of(&format!("{stack} | w"), "write", "throughput");
        println!("{stack}: {rate:.0} MiB/s");
        assert!(rate > 10.0, "{rate}");
    }
}

/// A new array is slower while md computes its parity, and with --assume-clean a check finds what was never computed.
#[test]
fn an_array_on_its_first_day_serves_less() {
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(
        r#"
        ram = "128M"
        [disks]
        model = "wd-500gb-2007"
        count = 4
        [[stack]]
        array = { level = 5, size = "4G", initial_resync = ["before", "during"] }
        fs = { type = "raw" }
        [[workload]]
        name = "w"
        io = { rw = "randread", bs = "4K", size = "1G", iodepth = 4, direct = true, ramp_time = "2s", runtime = "5s" }
        [precision]
        trials = 1
        "#,
    );
    let of = |stack: &str| results.sample_of(&format!("{stack} | w"), "randread", "iops");
    let (during, before) = (of("during the initial resync"), of("raw"));
    println!("reads a second: {before:.0}, and {during:.0} during the initial resync");
    assert!(during < 0.9 * before && during > 0.2 * before, "{during} {before}");
}
