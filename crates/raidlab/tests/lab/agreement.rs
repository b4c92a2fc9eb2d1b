//! raidlab's own engine agrees with fio: the same jobs with both, in the lab, within 2 %.

use crate::laboratory::Laboratory;

/// Jobs with keys that both support, their stack, and the test's name.
const JOBS: &[(&str, &str, &str, &str)] = &[
    (
        "stream",
        "raw",
        "read",
        "rw = \"read\", bs = \"1M\", size = \"256M\", direct = true",
    ),
    (
        "seeks",
        "raw",
        "randread",
        "rw = \"randread\", bs = \"4K\", size = \"8G\", direct = true, runtime = \"40s\"",
    ),
    (
        "deep",
        "raw",
        "randread",
        "rw = \"randread\", bs = \"4K\", size = \"8G\", direct = true, iodepth = 32, runtime = \"20s\"",
    ),
    (
        "several",
        "raw",
        "randwrite",
        "rw = \"randwrite\", bs = \"4K\", size = \"2G\", direct = true, numjobs = 4, runtime = \"20s\"",
    ),
    (
        "mixed",
        "raw",
        "randrw",
        "rw = \"randrw\", bs = \"16K\", size = \"8G\", direct = true, rwmixread = 70, runtime = \"40s\"",
    ),
    (
        "buffered",
        "ext4",
        "write",
        "rw = \"write\", bs = \"64K\", size = \"512M\", end_fsync = true",
    ),
    (
        "cold",
        "ext4",
        "read",
        "rw = \"read\", bs = \"64K\", size = \"256M\", numjobs = 1",
    ),
    (
        "synced",
        "ext4",
        "randwrite",
        "rw = \"randwrite\", bs = \"4K\", size = \"64M\", fsync = 8, runtime = \"30s\"",
    ),
    (
        "paced",
        "raw",
        "read",
        "rw = \"read\", bs = \"64K\", size = \"1G\", direct = true, rate = \"8M\", runtime = \"5s\"",
    ),
];

#[test]
fn fio_and_the_native_engine_agree_within_2_per_cent() {
    let Some(laboratory) = Laboratory::open() else { return };
    for kind in ["raw", "ext4"] {
        let mut study = format!(
            "ram = \"256M\"\n[disks]\nmodel = \"wd-500gb-2007\"\n[[stack]]\nfs = {{ type = \"{kind}\" }}\n\
             [precision]\ntrials = 1\n"
        );
        let jobs = || JOBS.iter().filter(|(_, on, _, _)| *on == kind);
        for (name, _, _, words) in jobs() {
            for engine in ["io", "fio"] {
                study += &format!("[[workload]]\nname = \"{name} {engine}\"\n{engine} = {{ {words} }}\n");
            }
        }
        let results = laboratory.run(&study);
        for (name, _, test, _) in jobs() {
            let figure = |engine: &str| results.sample(&format!("{name} {engine}"), test, "throughput");
            let (native, fio) = (figure("io"), figure("fio"));
            println!(
                "{name} on {kind}: native {native:.3} MiB/s, fio {fio:.3} MiB/s, {:.4}",
                native / fio
            );
            assert!(
                (0.98..1.02).contains(&(native / fio)),
                "{name}: native {native}, fio {fio} MiB/s"
            );
        }
    }
}
