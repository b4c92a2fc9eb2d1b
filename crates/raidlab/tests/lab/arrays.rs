//! md on several disks: its streams, and its requests counted at the disks.

use crate::laboratory::{Laboratory, Results};
use lab::trace::{Record, TraceOp};

const MODEL: &str = "wd-500gb-2007";

/// Start of md's data on each member of such a disk; superblock and bitmap precede it.
const DATA_SECTOR: u64 = 264_192;

/// A write of less than a stripe reads the old data and the old parity, and writes both.
#[test]
fn a_small_write_into_parity_reads_and_writes_as_many_blocks_as_arithmetic_says() {
    for (level, disks, cost) in [(5, 4, 2), (6, 6, 3)] {
        let Some(laboratory) = Laboratory::open() else { return };
        let results = laboratory.run(&format!(
            "ram = \"256M\"\n[disks]\nmodel = \"{MODEL}\"\ncount = {disks}\n[[stack]]\n\
             array = {{ level = {level}, bitmap = \"none\" }}\nfs = {{ type = \"raw\" }}\n[precision]\ntrials = 1\n\
             [[workload]]\nname = \"small-writes\"\n\
             io = {{ rw = \"randwrite\", bs = \"4K\", direct = true, size = \"400G\", runtime = \"10s\" }}\n"
        ));
        counts(level, disks, cost, &results, &laboratory.trace("small-writes"));
    }
}

fn counts(level: u32, disks: u32, cost: u64, results: &Results, trace: &[Record]) {
    let sample = |metric: &str| results.sample("small-writes", "randwrite", metric);
    let writes = (sample("iops") * sample("duration")).round() as u64;
    let (read, written) = (sample("device_reads") as u64, sample("device_writes") as u64);
    // Everything that was written past the superblocks.
    let data_writes = trace
        .iter()
        .filter(|request| request.op == TraceOp::Write && request.sector >= DATA_SECTOR)
        .count() as u64;
    println!(
        "RAID {level} of {disks}: {writes} writes of 4 KiB are {read} reads and {written} writes at the disks"
    );
    assert!(writes > 100, "{writes} writes are too few");
    // When the array is opened for the first time, the kernel looks for a partition table there.
    let looked = u64::from(
        trace
            .iter()
            .any(|request| request.op != TraceOp::Write && request.sector == DATA_SECTOR),
    );
    assert_eq!(
        read - looked,
        cost * writes,
        "RAID {level}: reads at the disks for {writes} writes"
    );
    assert_eq!(
        data_writes,
        cost * writes,
        "RAID {level}: writes at the disks for {writes} writes"
    );
    // The superblocks are marked dirty once, and perhaps clean.
    let superblocks = written - data_writes;
    assert!(
        superblocks <= 2 * u64::from(disks),
        "RAID {level}: {superblocks} writes of superblocks"
    );
}

#[test]
fn four_striped_disks_stream_almost_four_times_as_fast() {
    let Some(laboratory) = Laboratory::open() else { return };
    let study = |array: &str, count| {
        format!(
            "ram = \"256M\"\n[disks]\nmodel = \"{MODEL}\"\ncount = {count}\n[[stack]]\narray = {array}\n\
             fs = {{ type = \"raw\" }}\n[precision]\ntrials = 1\n[[workload]]\nname = \"stream\"\n\
             io = {{ rw = \"read\", bs = \"4M\", direct = true, iodepth = 4, size = \"1G\" }}\n"
        )
    };
    let stream = |study: &str| laboratory.run(study).sample("stream", "read", "throughput");
    let one = stream(&study("{ level = \"single\" }", 1));
    let four = stream(&study("{ level = 0 }", 4));
    println!(
        "one disk {one:.1} MiB/s, RAID 0 of four {four:.1} MiB/s: {:.2} times",
        four / one
    );
    assert!((3.8..=4.0).contains(&(four / one)), "{} times", four / one);
}

#[test]
fn two_readers_use_both_copies() {
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(&format!(
        "ram = \"128M\"\n[disks]\nmodel = \"{MODEL}\"\ncount = 2\n[[stack]]\n\
         array = {{ level = 1, bitmap = \"none\" }}\nfs = {{ type = \"raw\" }}\n[precision]\ntrials = 1\n\
         [[workload]]\nname = \"two\"\n\
         io = {{ rw = \"randread\", bs = \"4K\", direct = true, numjobs = 2, size = \"100G\", runtime = \"5s\" }}\n\
         [[workload]]\nname = \"one\"\n\
         io = {{ rw = \"randread\", bs = \"4K\", direct = true, size = \"100G\", runtime = \"5s\" }}\n"
    ));
    let [a, b] = ["member vda", "member vdb"].map(|member| results.sample("two", member, "reads"));
    let gain = results.sample("two", "randread", "iops") / results.sample("one", "randread", "iops");
    println!("two readers: {a} reads at one member, {b} at the other; {gain:.2} times one reader");
    assert!(
        (0.5..2.0).contains(&(a / b)),
        "{a} reads at one member and {b} at the other"
    );
    assert!(gain > 1.5, "two readers get {gain} times what one gets");
}
