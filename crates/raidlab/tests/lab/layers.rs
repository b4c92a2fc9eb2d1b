//! Layers between disks and filesystem.

use crate::laboratory::Laboratory;
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
        for (test, metric) in [
            ("lost", "acknowledged_lost"),
            ("wrong data", "wrong_data"),
            ("not mountable", "not_mountable"),
        ] {
            assert_eq!(cut.sample("cuts", test, metric), 0.0, "{on}: {test}");
        }
    }
}

/// Reads that come again come from the solid-state drive once dm-cache has promoted their blocks.
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
        cache = { type = "dm-cache", size = "256M" }
        fs = { type = "raw" }
        [[workload]]
        name = "again"
        io = { rw = "randread", bs = "4K", size = "64M", iodepth = 8, direct = true, ramp_time = "30s", runtime = "200ms" }
        [precision]
        trials = 1
        "#,
    );
    // The three disks do about 500.
    let reads = results.sample("again", "randread", "iops");
    println!("{reads:.0} reads a second");
    assert!(reads > 20_000.0, "{reads}");
}
