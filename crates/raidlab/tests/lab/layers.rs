//! Layers between disks and filesystem.

use crate::laboratory::{Laboratory, Results};
use lab::kernel::KernelName;

/// What encryption costs a processor with AES instructions, and one without.
#[test]
fn encryption_takes_the_time_of_a_processor() {
    let Some(laboratory) = Laboratory::open_with(&KernelName::parse("6.12+more+cpu")) else {
        return;
    };
    let results = laboratory.run(
        r#"
        ram = "256M"
        cpu = ["xeon-e5520", "ryzen-7700"]
        cores = 1
        [disks]
        model = "samsung-pm9a3-1920gb"
        [[stack]]
        array = { level = "single" }
        luks = { on = ["none", "array"] }
        fs = { type = "raw" }
        [[workload]]
        name = "w"
        io = { rw = "read", bs = "1M", size = "1G", iodepth = 8, direct = true, runtime = "100ms" }
        [precision]
        trials = 1
        "#,
    );
    let of = |stack: &str| results.sample_of(&format!("{stack} raw | w"), "read", "throughput");
    let (plain, old, new) = (of("xeon-e5520"), of("xeon-e5520 LUKS"), of("ryzen-7700 LUKS"));
    println!("MiB/s: {plain:.0} plain, {old:.0} decrypted without AES instructions, {new:.0} with");
    // 121 MB/s of one core, and what the kernel does besides.
    assert!((70.0..116.0).contains(&old), "{old}");
    assert!(plain > 2000.0 && new > 0.7 * plain, "{plain} {new}");
}

/// A member fails and is rebuilt below or above the encryption, and nothing is lost in a power cut.
#[test]
#[ignore = "test-all"]
fn encrypted_arrays_are_rebuilt_and_survive_power_cuts() {
    let Some(laboratory) = Laboratory::open_with(&KernelName::parse("6.12+more")) else {
        return;
    };
    for on in ["members", "array"] {
        let stack = format!(
            "ram = \"256M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 5\n[precision]\ntrials = 1\n[[stack]]\n\
             array = {{ level = 5, size = \"32M\", spares = 1 }}\nluks = {{ on = \"{on}\" }}\nfs = {{ type = \"ext4\" }}\n"
        );
        let rebuilt = laboratory.run(&format!(
            "{stack}[[workload]]\nname = \"w\"\nio = {{ rw = \"randwrite\", bs = \"4K\", size = \"8M\", direct = true, \
             rate_iops = 20, runtime = \"20s\" }}\n[[act]]\nat = \"2s\"\ndo = \"fail\"\ndisk = 2\n[[act]]\n\
             when = \"resync done\"\ndo = \"check\"\n"
        ));
        assert_eq!(rebuilt.sample("w", "check", "mismatches"), 0.0, "{on}");
        let cut = laboratory.run(&format!(
            "{stack}[[workload]]\nname = \"cuts\"\npower_cut = {{ operations = 30, points = 4, subsets = 2 }}\n"
        ));
        nothing_is_lost(&cut, "cuts", on);
    }
}

fn nothing_is_lost(results: &Results, cell: &str, what: &str) {
    for (test, metric) in [
        ("lost", "acknowledged_lost"),
        ("wrong data", "wrong_data"),
        ("not mountable", "not_mountable"),
    ] {
        assert_eq!(results.sample(cell, test, metric), 0.0, "{what}: {test}");
    }
}

/// Each layer is found again after a power cut, with everything that was acknowledged.
#[test]
#[ignore = "test-all"]
fn layers_survive_power_cuts() {
    let Some(laboratory) = Laboratory::open_with(&KernelName::parse("6.12+more")) else {
        return;
    };
    for layer in [
        "partition = { on = \"members\" }",
        "partition = { on = \"array\", start = 63 }",
        "volume = { type = \"linear\", snapshot_size = \"32M\" }\nsnapshots = 1",
        "volume = { type = \"thin\" }\nsnapshots = 1\nluks = { on = \"volume\" }",
        "cache = { type = \"bcache\", size = \"512M\", mode = \"writeback\" }",
        "cache = { type = \"dm-cache\", size = \"64M\", mode = \"writeback\" }\nvolume = { type = \"thin\" }",
    ] {
        let cut = laboratory.run(&format!(
            "ram = \"256M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 3\n[disks.cache]\nmodel = \"samsung-870-evo-500gb\"\n\
             [precision]\ntrials = 1\n[[stack]]\narray = {{ level = 5, size = \"128M\" }}\n{layer}\nfs = {{ type = \"ext4\" }}\n\
             [[workload]]\nname = \"cuts\"\npower_cut = {{ operations = 30, points = 4, subsets = 2 }}\n"
        ));
        nothing_is_lost(&cut, "cuts", layer);
    }
}

/// Blocks that a snapshot has are copied when they are first written: by LVM's linear LVs once for each snapshot, by a thin pool
/// once for all.
#[test]
fn the_first_write_after_a_snapshot_pays_for_it() {
    let Some(laboratory) = Laboratory::open_with(&KernelName::parse("6.12+more")) else {
        return;
    };
    let results = laboratory.run(
        r#"
        ram = "256M"
        [disks]
        model = "wd-500gb-2007"
        count = 2
        [[stack]]
        array = { level = 1, size = "2G" }
        volume = { type = "linear", snapshot_size = "128M" }
        snapshots = [1, 4]
        fs = { type = "ext4" }
        [[stack]]
        array = { level = 1, size = "2G" }
        volume = { type = ["linear", "thin"] }
        fs = { type = "ext4" }
        [[stack]]
        array = { level = 1, size = "2G" }
        volume = { type = "thin" }
        snapshots = [1, 4]
        fs = { type = "ext4" }
        [[workload]]
        name = "w"
        io = { rw = "randwrite", bs = "4K", size = "64M", direct = true, overwrite = true, ramp_time = "1s", runtime = "5s" }
        [precision]
        trials = 1
        "#,
    );
    let of = |stack: &str| results.sample_of(&format!("{stack} | w"), "randwrite", "iops");
    let linear = [
        of("linear LV ext4"),
        of("linear LV 128M for snapshots ext4 1 snapshot"),
        of("linear LV 128M for snapshots ext4 4 snapshots"),
    ];
    println!(
        "linear {linear:?}, thin {:?}",
        [of("thin LV ext4 1 snapshot"), of("thin LV ext4 4 snapshots")]
    );
    // A copy is a read and two writes, of the block and of the table that says where it is.
    assert!(linear[1] < linear[0] / 2.0 && linear[2] < linear[1] / 2.0, "{linear:?}");
    let ratio = of("thin LV ext4 4 snapshots") / of("thin LV ext4 1 snapshot");
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
}

/// Reads that come again come from the solid-state drive: dm-cache promotes their blocks when they were read several times, bcache
/// when they are read.
#[test]
fn a_cache_serves_what_comes_again() {
    let Some(laboratory) = Laboratory::open_with(&KernelName::parse("6.12+more")) else {
        return;
    };
    let results = laboratory.run(
        r#"
        ram = "256M"
        [disks]
        model = "wd-wd40efrx"
        count = 3
        [disks.cache]
        model = "samsung-870-evo-500gb"
        [[stack]]
        array = { level = 5, size = "1G" }
        cache = { type = ["dm-cache", "bcache"], size = "512M" }
        fs = { type = "raw" }
        [[workload]]
        name = "again"
        io = { rw = "randread", bs = "4K", size = "64M", iodepth = 8, direct = true, ramp_time = "30s", runtime = "200ms" }
        [precision]
        trials = 1
        "#,
    );
    // The three disks do about 500.
    for cache in ["dm-cache", "bcache"] {
        let reads = results.sample_of(&format!("{cache} raw | again"), "randread", "iops");
        println!("{cache}: {reads:.0} reads a second");
        assert!(reads > 20_000.0, "{cache}: {reads}");
    }
}

/// In write-back mode the journal acknowledges writes, not the disks.
#[test]
fn a_journal_in_write_back_mode_takes_writes() {
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(
        r#"
        ram = "256M"
        [disks]
        model = "wd-500gb-2007"
        count = 3
        [disks.journal]
        model = "samsung-870-evo-500gb"
        [[stack]]
        array = { level = 5, size = "1G", write_journal = true, journal_mode = ["write-through", "write-back"] }
        fs = { type = "raw" }
        [[workload]]
        name = "w"
        io = { rw = "randwrite", bs = "4K", size = "8M", direct = true, sync = "dsync", runtime = "5s" }
        [precision]
        trials = 1
        "#,
    );
    let of = |mode: &str| results.sample_of(&format!("raw {mode} | w"), "randwrite", "iops");
    let (through, back) = (of("write-through"), of("write-back"));
    println!("{through:.0} writes a second in write-through mode, {back:.0} in write-back mode");
    // The stripe cache is full after a MiB of each member, and what is in the journal alone is then written to the disks.
    assert!(back > 1.3 * through, "{through} and {back}");
}
