//! Measures raidlab's overhead over fio: the same job on the same loop device, alternately through raidlab and by
//! hand. Each run through raidlab is compared with the mean of the two runs by hand around it, so that a drift of
//! the machine cancels. Prints the medians of these ratios, for throughput and for the 99th percentile, with their
//! 95 % intervals, and the difference between two runs by hand, which is the resolution of this machine. Adds
//! `host_fio_overhead` to a JSON file: the larger deviation of the two medians from 1; the goal is less than 0.01.
//!
//! As root: `cargo run --release -p host --example fio_overhead -- [PAIRS] [FILE]`

use serde_json::{Value, json};
use stats::Summary;
use std::path::{Path, PathBuf};
use std::process::Command;
use study::event::{Event, ToolCall};
use study_file::Known;
use trial::{DiskKind, Disks, MemoryLedger, NoDiskCheck, Safety, Teardown, TrialSetting};

const STUDY: &str = r#"
machine = "host"
[disks]
count = 1
[[stack]]
array = { level = "single" }
fs = { type = "raw" }
[[workload]]
name = "reads"
fio = { rw = "randread", bs = "4K", size = "512M", iodepth = 1, direct = true, runtime = "3s" }
"#;

/// A file in memory behind a loop device.
struct Disk {
    folder: tempfile::TempDir,
    node: PathBuf,
}

impl Disk {
    fn new() -> Disk {
        let folder = tempfile::tempdir_in("/dev/shm").expect("tmpfs");
        let file = folder.path().join("disk");
        std::fs::write(&file, vec![7; 512 << 20]).expect("tmpfs has room");
        let made = Command::new("losetup").args(["--find", "--show"]).arg(&file).output();
        let made = made.expect("losetup");
        assert!(made.status.success(), "{made:?}: this wants root");
        let node = PathBuf::from(String::from_utf8_lossy(&made.stdout).trim());
        Disk { folder, node }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.node).status();
    }
}

/// IOPS and the 99th percentile of latency, ns.
fn figures(printed: &str) -> [f64; 2] {
    let start = printed.find('{').expect("fio prints JSON");
    let value: Value = serde_json::from_str(&printed[start..]).expect("fio prints JSON");
    let read = &value["jobs"][0]["read"];
    let iops = read["iops"].as_f64().expect("a number");
    [iops, percentile(&read["lat_ns"]["bins"], 0.99)]
}

/// Interpolates linearly within a bin: fio's own figure is that of the bin, and bins are 3 % wide.
fn percentile(bins: &Value, share: f64) -> f64 {
    let mut bins: Vec<(f64, f64)> = bins
        .as_object()
        .expect("json+ has bins")
        .iter()
        .map(|(ns, count)| (ns.parse().expect("a number"), count.as_f64().expect("a number")))
        .collect();
    bins.sort_by(|one, other| one.0.total_cmp(&other.0));
    let wanted = share * bins.iter().map(|(_, count)| count).sum::<f64>();
    let mut before = 0.0;
    let mut last_ns = 0.0;
    for (ns, count) in bins {
        if before + count >= wanted {
            return last_ns + (ns - last_ns) * (wanted - before) / count;
        }
        before += count;
        last_ns = ns;
    }
    last_ns
}

/// fio's call by raidlab.
fn through_raidlab(disk: &Disk) -> ToolCall {
    let plan = study_file::read(STUDY, "fio_overhead", &Known::default()).expect("a study");
    let trial = plan.trials(1).next().expect("a trial");
    let setting = TrialSetting {
        disks: Disks::data(std::slice::from_ref(&disk.node)),
        folder: disk.folder.path().to_owned(),
        name: "raidlab-bench".to_owned(),
        zeroed: true,
        created: false,
        disk_kind: DiskKind::Real,
        teardown: Teardown::Full,
    };
    let mut calls = Vec::new();
    trial::run(
        &trial,
        &setting,
        Safety {
            ledger: &mut MemoryLedger::default(),
            check: &mut NoDiskCheck,
        },
        &mut |event| match event {
            Event::Call(call) => calls.push(call),
            Event::Failed(failure) => panic!("{}: {}", failure.step, failure.message),
            _ => {}
        },
    );
    let is_fio = |call: &ToolCall| call.argv[0].ends_with("/fio") && call.stdout.contains("\"jobs\"");
    calls.into_iter().find(is_fio).expect("raidlab calls fio")
}

/// Waits as long as raidlab does: without this, fio by hand would overlap with the cleanup of the previous trial,
/// and was 6 % slower.
fn by_hand(argv: &[String]) -> [f64; 2] {
    rustix::fs::sync();
    std::thread::sleep(stack::Quiesce::default().quiet);
    std::fs::write("/proc/sys/vm/drop_caches", "3").expect("this wants root");
    let output = Command::new(&argv[0]).args(&argv[1..]).output().expect("fio runs");
    assert!(output.status.success(), "{output:?}");
    figures(&String::from_utf8_lossy(&output.stdout))
}

fn summary(quotients: impl Iterator<Item = f64>) -> Summary {
    Summary::of(&quotients.collect::<Vec<_>>(), 0.05).expect("at least one pair")
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let pairs: usize = arguments
        .next()
        .map_or(25, |pairs| pairs.parse().expect("a number of pairs"));
    let disk = Disk::new();
    let argv = through_raidlab(&disk).argv;
    let mut hands = vec![by_hand(&argv)];
    let mut ours = Vec::new();
    for _ in 0..pairs {
        ours.push(figures(&through_raidlab(&disk).stdout));
        hands.push(by_hand(&argv));
    }
    let around = hands
        .windows(2)
        .map(|two| [0, 1].map(|index| f64::midpoint(two[0][index], two[1][index])));
    let seen: Vec<([f64; 2], [f64; 2])> = ours.into_iter().zip(around).collect();
    let mut overhead: f64 = 0.0;
    for (index, name) in ["IOPS", "p99 latency"].into_iter().enumerate() {
        let quotients = seen.iter().map(|(ours, hand)| ours[index] / hand[index]);
        let Summary {
            median: ratio,
            interval,
            ..
        } = summary(quotients);
        let interval = interval.map_or_else(String::new, |i| format!(" ({:.4} to {:.4})", i.low, i.high));
        println!("{name:<12} through raidlab / by hand: {ratio:.4}{interval}");
        let apart = hands.windows(2).map(|two| (two[1][index] / two[0][index] - 1.0).abs());
        let apart = summary(apart).median;
        println!("{:<12} by hand, from one run to the next: {apart:.4}", "");
        overhead = overhead.max((ratio - 1.0).abs());
    }
    println!("host_fio_overhead {overhead:.4}  goal < 0.01");
    if let Some(path) = arguments.next() {
        add(
            Path::new(&path),
            "host_fio_overhead",
            json!({ "ratio": overhead, "pairs": seen }),
        );
    }
}

/// Adds an entry to a file that may have others.
fn add(path: &Path, key: &str, entry: Value) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|_| "{}".to_owned());
    let mut all: Value = serde_json::from_str(&text).expect("the file holds JSON");
    all[key] = entry;
    std::fs::write(path, format!("{all:#}\n")).expect("the file can be written");
}
