//! The tree engine against `cp -r`, `cat` and `rm -r` in wall time, in pairs, on tmpfs, where nothing but the cost
//! of the program itself is left. Prints `name ratio` lines: time of the tool / time of the engine, the median of
//! the pairs; below 1 the engine would be slower.
//!
//! `cargo run --release -p workload --example tree_bench [ROUNDS]`

use std::path::Path;
use std::process::Command;
use std::time::Instant;
use study::event::{Event, ToolCall};
use study::workload::{SizeSpec, TreeSpec, TreeTest, Work, WorkloadSpec};
use tools::{Invocation, ToolError};
use workload::{DeviceCounters, Host, HostError, Target};

/// Takes the samples; has no disks.
#[derive(Default)]
struct Samples(Vec<(String, String, f64)>);

impl Host for Samples {
    fn event(&mut self, event: Event) {
        if let Event::Sample(sample) = event {
            self.0.push((sample.test, sample.metric, sample.value));
        }
    }

    fn step(&mut self, _: &str) {}

    fn settle_and_drop_caches(&mut self) -> Result<(), HostError> {
        Ok(())
    }

    fn device_counters(&mut self) -> Result<DeviceCounters, HostError> {
        Ok(DeviceCounters::default())
    }

    fn remount(&mut self) -> Result<(), HostError> {
        Ok(())
    }

    fn run_tool(&mut self, _: &Invocation) -> Result<ToolCall, ToolError> {
        unreachable!("trees need no program")
    }
}

fn spec(files: u32, directories: u32, size: [u64; 3], tests: &[TreeTest]) -> WorkloadSpec {
    let [min_bytes, median_bytes, max_bytes] = size;
    let size = SizeSpec {
        min_bytes,
        median_bytes,
        max_bytes,
    };
    let tree = TreeSpec {
        files,
        size,
        directories,
        tests: tests.to_vec(),
        from: None,
        to: None,
    };
    WorkloadSpec {
        name: "bench".to_owned(),
        work: Work::Tree(tree),
    }
}

/// Seconds of write, read, copy and delete.
fn engine(spec: &WorkloadSpec, folder: &Path) -> [f64; 4] {
    let mut samples = Samples::default();
    let target = Target {
        mount_point: Some(folder),
        block_device: folder,
    };
    workload::run(spec, &target, 7, &mut samples).expect("the engine runs");
    ["write", "read", "copy", "delete"].map(|test| {
        samples
            .0
            .iter()
            .find(|(of, metric, _)| of == test && metric == "duration")
            .expect("a duration")
            .2
    })
}

/// Seconds of a shell line. A shell, because `cat` of thousands of files needs `find` and `xargs`.
fn tool(line: &str, folder: &Path) -> f64 {
    let start = Instant::now();
    let status = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .status()
        .expect("a shell");
    assert!(status.success(), "{line}");
    start.elapsed().as_secs_f64()
}

/// Seconds of `cp -r`, `cat`, `cp -r` again (against write and copy) and `rm -r`. With `--reflink=never` cp reads and
/// writes, as the engine does on purpose; copy_file_range, its own choice, saves tmpfs one of two copies in memory.
fn tools(folder: &Path) -> [f64; 4] {
    let write = tool("cp -r --reflink=never tree out", folder);
    let read = tool("find out -type f -print0 | xargs -0 cat >/dev/null", folder);
    let copy = tool("cp -r --reflink=never out again", folder);
    let delete = tool("rm -r out", folder);
    tool("rm -r again", folder);
    [write, read, copy, delete]
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let rounds: usize = std::env::args()
        .nth(1)
        .map_or(9, |rounds| rounds.parse().expect("a number of rounds"));
    let base = tempfile::tempdir_in("/dev/shm").expect("tmpfs");
    let all = [TreeTest::Write, TreeTest::Read, TreeTest::Copy, TreeTest::Delete];
    for (label, files, directories, size) in [
        ("small", 10_928, 700, [64, 2048, 16 << 10]),
        ("medium", 100, 8, [4 << 20; 3]),
    ] {
        let reference = base.path().join(label);
        std::fs::create_dir(&reference).expect("tmpfs has room");
        engine_writes(&spec(files, directories, size, &[TreeTest::Write]), &reference);
        let measured = spec(files, directories, size, &all);
        let mut pairs = Vec::new();
        for round in 0..rounds {
            let folder = tempfile::tempdir_in(base.path()).expect("tmpfs has room");
            let (ours, theirs) = if round % 2 == 0 {
                let ours = engine(&measured, folder.path());
                (ours, tools(&reference))
            } else {
                let theirs = tools(&reference);
                (engine(&measured, folder.path()), theirs)
            };
            pairs.push((ours, theirs));
        }
        for (index, name) in ["write_vs_cp", "read_vs_cat", "copy_vs_cp", "delete_vs_rm"]
            .into_iter()
            .enumerate()
        {
            let ratio = median(pairs.iter().map(|(ours, theirs)| theirs[index] / ours[index]).collect());
            let seconds = median(pairs.iter().map(|(ours, _)| ours[index]).collect());
            println!("tree_{name}_{label} {ratio:.2} ({:.1} ms)", seconds * 1e3);
        }
    }
}

fn engine_writes(spec: &WorkloadSpec, folder: &Path) {
    let target = Target {
        mount_point: Some(folder),
        block_device: folder,
    };
    workload::run(spec, &target, 7, &mut Samples::default()).expect("the engine runs");
}
