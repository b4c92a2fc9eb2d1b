//! What raidlab adds to fio: the same job on the same loop device, through raidlab and by hand, in turn. Prints the two
//! medians of throughput and of the 99th percentile, and adds `host_fio_overhead` to a JSON file: the larger of the two
//! differences, as a share; the goal is less than 0.01.
//!
//! As root: `cargo run --release -p host --example fio_overhead -- [PAIRS] [FILE]`

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use study::Known;
use study::event::{Event, ToolCall};
use trial::{Disks, MemoryLedger, Setting, Teardown};

const STUDY: &str = r#"
machine = "host"
[disks]
count = 1
[[stack]]
array = { level = "single" }
fs = { type = "raw" }
[[workload]]
name = "reads"
fio = { rw = "randread", bs = "4K", size = "512M", iodepth = 8, direct = true, runtime = "3s" }
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

/// Within the bin that it falls into, by the straight line: fio's own figure is a bin's, and bins are 3 per cent wide.
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

/// fio's call, as raidlab makes it.
fn through_raidlab(disk: &Disk) -> ToolCall {
    let plan = study::read(STUDY, "fio_overhead", &Known::default()).expect("a study");
    let trial = plan.trials(1).next().expect("a trial");
    let setting = Setting {
        disks: Disks::data(std::slice::from_ref(&disk.node)),
        folder: disk.folder.path().to_owned(),
        name: "raidlab-bench".to_owned(),
        zeroed: true,
        disks_are_set: false,
        teardown: Teardown::Full,
        check_array: false,
    };
    let mut calls = Vec::new();
    trial::run(
        &trial,
        &setting,
        &mut MemoryLedger::default(),
        &mut |event| match event {
            Event::Call(call) => calls.push(call),
            Event::Failed(failure) => panic!("{}: {}", failure.step, failure.message),
            _ => {}
        },
    );
    let is_fio = |call: &ToolCall| call.argv[0].ends_with("/fio") && call.stdout.contains("\"jobs\"");
    calls.into_iter().find(is_fio).expect("raidlab calls fio")
}

fn by_hand(argv: &[String]) -> [f64; 2] {
    let output = Command::new(&argv[0]).args(&argv[1..]).output().expect("fio runs");
    assert!(output.status.success(), "{output:?}");
    figures(&String::from_utf8_lossy(&output.stdout))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let pairs: usize = arguments
        .next()
        .map_or(9, |pairs| pairs.parse().expect("a number of pairs"));
    let disk = Disk::new();
    let mut argv = through_raidlab(&disk).argv;
    let mut seen: Vec<([f64; 2], [f64; 2])> = Vec::new();
    for pair in 0..pairs {
        // Whoever comes first may find the machine otherwise: they take turns at that, too.
        let before = (pair % 2 == 1).then(|| by_hand(&argv));
        let call = through_raidlab(&disk);
        let ours = figures(&call.stdout);
        argv = call.argv;
        seen.push((ours, before.unwrap_or_else(|| by_hand(&argv))));
    }
    let of = |index: usize| {
        let ours = median(seen.iter().map(|(ours, _)| ours[index]).collect());
        let hand = median(seen.iter().map(|(_, hand)| hand[index]).collect());
        (ours, hand, (ours / hand - 1.0).abs())
    };
    let (iops, p99) = (of(0), of(1));
    println!(
        "IOPS         {:>12.0} through raidlab, {:>12.0} by hand: {:.4}",
        iops.0, iops.1, iops.2
    );
    println!(
        "p99 latency  {:>9.0} ns through raidlab, {:>9.0} ns by hand: {:.4}",
        p99.0, p99.1, p99.2
    );
    let overhead = iops.2.max(p99.2);
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
