//! Compares the tree engine with `cp -r`, `cat` and `rm -r` in wall time, in pairs, on tmpfs, where only the cost
//! of the program itself remains. Prints `name ratio` lines: time of the tool / time of the engine, median of the
//! pairs; below 1 the engine is slower.
//!
//! Also compares with fs_mark (Debian's `fsmark`) if it is installed: 16 KiB files, written without syncing. If
//! FILE is given, `tree_vs_cp`, `tree_vs_cat`, `tree_vs_rm` and `tree_vs_fs_mark` are added to that JSON file: time
//! of the engine / time of the tool, the worst of the collections; 1 or less means never slower.
//!
//! `cargo run --release -p workload --example tree_bench [ROUNDS] [FILE]`

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use study::TestId;
use study::event::{Event, ToolCall};
use study::metric::Metric;
use study::workload::{SizeSpec, TreeSpec, TreeTest, Work, WorkloadSpec};
use tools::{Invocation, ToolError};
use workload::{DeviceCounters, Host, HostError, Target};

/// Collects the samples; has no disks.
#[derive(Default)]
struct Samples(Vec<(TestId, Metric, f64)>);

impl Host for Samples {
    fn event(&mut self, event: Event) {
        if let Event::Sample(sample) = event {
            self.0.push((sample.test, sample.metric, sample.value));
        }
    }

    fn step(&mut self, _: &str) {}

    fn quiesce_and_drop_caches(&mut self) -> Result<(), HostError> {
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
        from_warm: false,
        to: None,
    };
    WorkloadSpec {
        name: "bench".to_owned(),
        age: None,
        work: Work::Tree(tree),
    }
}

/// Seconds of write, read, copy and delete; NaN for those not requested.
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
            .find(|(of, metric, _)| of == test && *metric == Metric::Duration)
            .map_or(f64::NAN, |(_, _, seconds)| *seconds)
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

/// Seconds of `cp -r`, `cat`, `cp -r` again (compared with write and copy) and `rm -r`. With `--reflink=never` cp
/// reads and writes, as the engine does; by default it would use copy_file_range, which saves tmpfs one of two
/// copies in memory.
fn tools(folder: &Path) -> [f64; 4] {
    let write = tool("cp -r --reflink=never tree out", folder);
    let read = tool("find out -type f -print0 | xargs -0 cat >/dev/null", folder);
    let copy = tool("cp -r --reflink=never out again", folder);
    let delete = tool("rm -r out", folder);
    tool("rm -r again", folder);
    [write, read, copy, delete]
}

/// Seconds of fs_mark and of the engine for the same number of 16 KiB files; `None` without fs_mark.
fn against_fs_mark(base: &Path, rounds: usize) -> Option<Vec<(f64, f64)>> {
    const FILES: u32 = 10_000;
    const DIRECTORIES: u32 = 100;
    Command::new("fs_mark").arg("-h").output().ok()?;
    let spec = spec(FILES, DIRECTORIES, [16 << 10; 3], &[TreeTest::Write]);
    let line = format!("fs_mark -k -S 0 -t 1 -s 16384 -n {FILES} -D {DIRECTORIES} -N 100 -d out >/dev/null");
    let theirs = || {
        let folder = tempfile::tempdir_in(base).expect("tmpfs has room");
        std::fs::create_dir(folder.path().join("out")).expect("tmpfs has room");
        tool(&line, folder.path())
    };
    let ours = || {
        let folder = tempfile::tempdir_in(base).expect("tmpfs has room");
        engine(&spec, folder.path())[0]
    };
    let pair = |round| match round % 2 {
        0 => {
            let ours = ours();
            (ours, theirs())
        }
        _ => {
            let theirs = theirs();
            (ours(), theirs)
        }
    };
    Some((0..rounds).map(pair).collect())
}

/// Seconds of the engine and of the tool, pair by pair.
type Pairs = Vec<(f64, f64)>;

/// The worst of several collections: the median of its pairs, engine / tool.
#[derive(Default)]
struct Worst(BTreeMap<&'static str, (f64, Pairs)>);

impl Worst {
    fn add(&mut self, name: &'static str, pairs: Vec<(f64, f64)>) {
        let ratio = study::median(pairs.iter().map(|(ours, theirs)| ours / theirs)).unwrap_or(f64::NAN);
        let worst = self.0.entry(name).or_default();
        if ratio > worst.0 {
            *worst = (ratio, pairs);
        }
    }

    fn write(&self, path: &str) {
        let text = std::fs::read_to_string(path).unwrap_or_else(|_| "{}".to_owned());
        let mut all: serde_json::Value = serde_json::from_str(&text).expect("the file holds JSON");
        for (name, (ratio, pairs)) in &self.0 {
            all[*name] = serde_json::json!({ "ratio": ratio, "pairs": pairs });
        }
        std::fs::write(path, format!("{all:#}\n")).expect("the file can be written");
    }
}

fn main() {
    let rounds: usize = std::env::args()
        .nth(1)
        .map_or(9, |rounds| rounds.parse().expect("a number of rounds"));
    let mut worst = Worst::default();
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
            let ratio =
                study::median(pairs.iter().map(|(ours, theirs)| theirs[index] / ours[index])).unwrap_or(f64::NAN);
            let seconds = study::median(pairs.iter().map(|(ours, _)| ours[index])).unwrap_or(f64::NAN);
            println!("tree_{name}_{label} {ratio:.2} ({:.1} ms)", seconds * 1e3);
            let tool = ["tree_vs_cp", "tree_vs_cat", "tree_vs_cp", "tree_vs_rm"][index];
            worst.add(
                tool,
                pairs
                    .iter()
                    .map(|(ours, theirs)| (ours[index], theirs[index]))
                    .collect(),
            );
        }
    }
    match against_fs_mark(base.path(), rounds) {
        Some(pairs) => worst.add("tree_vs_fs_mark", pairs),
        None => println!("skipped: there is no fs_mark: `apt-get install fsmark`"),
    }
    for (name, (ratio, _)) in &worst.0 {
        println!("{name} {ratio:.3}  goal <= 1");
    }
    if let Some(path) = std::env::args().nth(2) {
        worst.write(&path);
    }
}

fn engine_writes(spec: &WorkloadSpec, folder: &Path) {
    let target = Target {
        mount_point: Some(folder),
        block_device: folder,
    };
    workload::run(spec, &target, 7, &mut Samples::default()).expect("the engine runs");
}
