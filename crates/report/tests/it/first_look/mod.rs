//! An invented run like that of `studies/first-look.toml`: 7 stacks × 2 workloads × 4 tests × 3 seeds, with one
//! failed trial and one sample that a guard excluded.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use report::{DiskInfo, Input, RunInfo, TrialInfo, TrialState};
use std::sync::Arc;
use study::event::{Failure, Guard, Latency, Sample, Throughput, ToolCall};
use study::metric::Metric;
use study::plan::{Cell, Claim, LeftOut, Plan, Precision};
use study::stack::{
    ArraySpec, Bitmap, DiskGroup, FilesystemKind, FilesystemSpec, Level, MachineKind, MachineSpec, StackSpec,
};
use study::workload::{SizeSpec, TreeSpec, TreeTest, Work, WorkloadSpec};
use study::{CellId, Facts, Measured, ProvenanceEntry, Recorded, TrialKey};

const TESTS: [TreeTest; 4] = [TreeTest::Write, TreeTest::Read, TreeTest::Copy, TreeTest::Delete];
const TRIALS: u32 = 3;

struct Stack {
    label: &'static str,
    kind: FilesystemKind,
    block_bytes: Option<u64>,
    mkfs: &'static [&'static str],
    /// Write, read, copy in MiB/s, delete in files/s.
    small: [f64; 4],
    medium: [f64; 4],
}

const STACKS: [Stack; 7] = [
    Stack {
        label: "ext3 1K",
        kind: FilesystemKind::Ext3,
        block_bytes: Some(1024),
        mkfs: &["mkfs.ext3", "-q", "-b", "1024", "/dev/md0"],
        small: [7.1, 2.31, 2.04, 9_870.0],
        medium: [48.2, 56.9, 24.1, 318.0],
    },
    Stack {
        label: "ext3 4K",
        kind: FilesystemKind::Ext3,
        block_bytes: Some(4096),
        mkfs: &["mkfs.ext3", "-q", "-b", "4096", "/dev/md0"],
        small: [8.9, 2.62, 2.33, 14_200.0],
        medium: [55.7, 60.8, 28.4, 890.0],
    },
    Stack {
        label: "reiserfs",
        kind: FilesystemKind::Reiserfs,
        block_bytes: Some(4096),
        mkfs: &["mkreiserfs", "-q", "-f", "/dev/md0"],
        small: [6.4, 1.98, 1.71, 8_310.0],
        medium: [51.3, 58.0, 26.0, 641.0],
    },
    Stack {
        label: "jfs",
        kind: FilesystemKind::Jfs,
        block_bytes: Some(4096),
        mkfs: &["mkfs.jfs", "-q", "/dev/md0"],
        small: [0.84, 2.2, 0.61, 412.0],
        medium: [54.0, 60.5, 27.7, 702.0],
    },
    Stack {
        label: "xfs",
        kind: FilesystemKind::Xfs,
        block_bytes: Some(4096),
        mkfs: &["mkfs.xfs", "-q", "-f", "-b", "size=4096", "/dev/md0"],
        small: [8.31, 2.4, 2.05, 11_060.0],
        medium: [60.4, 61.2, 29.3, 2_410.0],
    },
    Stack {
        label: "ext4",
        kind: FilesystemKind::Ext4,
        block_bytes: None,
        mkfs: &["mkfs.ext4", "-q", "-E", "lazy_itable_init=0", "/dev/md0"],
        small: [9.02, 2.71, 2.41, 15_030.0],
        medium: [60.1, 61.15, 29.2, 2_260.0],
    },
    Stack {
        label: "btrfs",
        kind: FilesystemKind::Btrfs,
        block_bytes: None,
        mkfs: &["mkfs.btrfs", "-q", "-f", "/dev/md0"],
        small: [11.6, 2.98, 2.66, 7_020.0],
        medium: [58.9, 60.1, 30.9, 1_250.0],
    },
];

/// The invented run.
pub fn input() -> Input {
    let plan = plan();
    let mut input = Input {
        run: run(),
        trials: Vec::new(),
        samples: Vec::new(),
        guards: Vec::new(),
        latencies: Vec::new(),
        throughput: Vec::new(),
        calls: Vec::new(),
        facts: Facts::default(),
        part: None,
        advice: Vec::new(),
        of_caches: std::collections::BTreeSet::new(),
        of_safety: Vec::new(),
        disks: vec![DiskInfo {
            model: "wd-500gb-2007".to_owned(),
            words: "Western Digital WD5000YS, 500 GB, 7200 rpm, 16 MiB cache, NCQ depth 32".to_owned(),
            bytes: 500_107_862_016,
            has_heads: true,
            is_full_drive: false,
            unverified: Vec::new(),
            fit: None,
            pass_hours: None,
        }],
        plan: plan.clone(),
    };
    for (cell_place, cell) in plan.cells.iter().enumerate() {
        let stack = STACKS
            .iter()
            .find(|stack| stack.label == cell.stack_label)
            .expect("it is one of the stacks");
        for index in 0..TRIALS {
            trial(&mut input, cell, stack, cell_place, index);
        }
    }
    input
}

fn trial(input: &mut Input, cell: &Cell, stack: &Stack, place: usize, index: u32) {
    let failed = cell.stack_label == "reiserfs" && cell.workload.name == "medium files" && index == 2;
    let failure = Failure {
        step: "mkfs".to_owned(),
        message: "the guest was killed by signal 9; its console said last: `reiserfs: using r5 hash`".to_owned(),
    };
    let started = Some(input.trials.len() as u64);
    input.trials.push(TrialInfo {
        key: key(cell, index),
        started,
        state: if failed {
            TrialState::Failed(failure)
        } else {
            TrialState::Done
        },
        wall_ns: Some(2_310_000_000),
        machine_ns: Some(61_000_000_000),
    });
    calls(input, cell, stack, index);
    if failed {
        return;
    }
    let values = if cell.workload.name == "small files" {
        stack.small
    } else {
        stack.medium
    };
    for (test_place, (test, value)) in TESTS.into_iter().zip(values).enumerate() {
        // Shared by all stacks (the seed's files), and individual for each stack.
        let of_seed = noise(index as usize * 31 + test_place) * 0.012;
        let of_stack = noise(place * 97 + index as usize * 13 + test_place * 5) * 0.004;
        measure(input, cell, index, test, value * (1.0 + of_seed + of_stack));
    }
}

fn key(cell: &Cell, index: u32) -> TrialKey {
    TrialKey {
        cell: cell.id,
        index,
        seed: 7_000_000 + u64::from(index),
    }
}

fn measure(input: &mut Input, cell: &Cell, index: u32, test: TreeTest, value: f64) {
    let warm =
        cell.stack_label == "jfs" && cell.workload.name == "small files" && index == 1 && test == TreeTest::Read;
    let metric = if test == TreeTest::Delete {
        Metric::FilesPerSecond
    } else {
        Metric::Throughput
    };
    let value = if warm { value * 3.1 } else { value };
    let failed_guards = if warm {
        vec!["cold-cache".to_owned()]
    } else {
        Vec::new()
    };
    // Files, and MiB of them.
    let (files, mebibytes) = match cell.workload.name.as_str() {
        "small files" => (10_928.0, 26.0),
        _ => (1744.0, 6976.0),
    };
    let amount = if test == TreeTest::Delete { files } else { mebibytes };
    let samples = [
        (metric, value),
        (Metric::Duration, amount / value),
        (Metric::DeviceWrites, (40_000.0 / value).round()),
    ];
    for (metric, value) in samples {
        input.samples.push(Measured {
            trial: key(cell, index),
            entry: Sample {
                test: test.name().into(),
                metric,
                value,
            },
            failed_guards: failed_guards.clone(),
        });
    }
    input.guards.push(Recorded {
        trial: key(cell, index),
        entry: Guard {
            name: "cold-cache".to_owned(),
            test: Some(test.name().into()),
            passed: !warm,
            detail:
                "8388608 bytes read from the member disks for 27262976 bytes of files; at least 24536678 are required"
                    .to_owned(),
        },
    });
    let operation = match test {
        TreeTest::Write => "create",
        TreeTest::Read => "open",
        TreeTest::Copy => "write",
        TreeTest::Delete => "unlink",
    };
    input.throughput.push(Measured {
        trial: key(cell, index),
        entry: Throughput {
            test: test.name().into(),
            interval_ns: 250_000_000,
            bytes: [4, 3, 2, 2, 2]
                .map(|part| (value * part as f64) as u64 * 104_858)
                .to_vec(),
        },
        failed_guards: failed_guards.clone(),
    });
    input.latencies.push(Measured {
        trial: key(cell, index),
        entry: latency(test.name(), operation, value),
        failed_guards,
    });
}

fn calls(input: &mut Input, cell: &Cell, stack: &Stack, index: u32) {
    let create: &[&str] = &[
        "mdadm",
        "--create",
        "/dev/md0",
        "--run",
        "--level=1",
        "--raid-devices=2",
        "--bitmap=none",
        "--size=209715200",
        "--assume-clean",
        "/dev/ubdb",
        "/dev/ubdc",
    ];
    for argv in [create, stack.mkfs, &["mdadm", "--stop", "/dev/md0"]] {
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        let exit = if argv[0] == "mkreiserfs" && index == 2 && cell.workload.name == "medium files" {
            None
        } else {
            Some(0)
        };
        let call = ToolCall {
            argv,
            exit,
            stdout: String::new(),
            stderr: String::new(),
            duration_ns: 41_000_000,
        };
        input.calls.push(Recorded {
            trial: key(cell, index),
            entry: call,
        });
    }
    let facts = [("kernel", "6.12.117"), ("mdadm", "4.2-5"), ("raidlab-guest", "0.1.0")];
    let own = match stack.kind {
        FilesystemKind::Xfs => ("mkfs.xfs", "6.1.0"),
        FilesystemKind::Btrfs => ("mkfs.btrfs", "6.2"),
        FilesystemKind::Reiserfs => ("mkreiserfs", "3.6.27"),
        FilesystemKind::Jfs => ("mkfs.jfs", "1.1.15"),
        _ => ("mke2fs", "1.47.0"),
    };
    input.facts.kernels.push(Recorded {
        trial: key(cell, index),
        entry: "6.12.117".to_owned(),
    });
    for (fact, value) in facts.into_iter().chain([own]) {
        input.facts.provenance.push(Recorded {
            trial: key(cell, index),
            entry: ProvenanceEntry {
                key: fact.to_owned(),
                value: value.to_owned(),
            },
        });
    }
}

fn latency(test: &str, operation: &str, value: f64) -> Latency {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).expect("valid bounds");
    for place in 0..400 {
        let spread = 1.0 + (noise(place) + 1.0).powi(6) / 9.0;
        histogram.saturating_record((2_000_000.0 / value.sqrt() * spread) as u64);
    }
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(&histogram, &mut bytes)
        .expect("a vector takes all");
    Latency {
        test: test.into(),
        operation: operation.to_owned(),
        count: histogram.len(),
        min_ns: histogram.min(),
        p50_ns: histogram.value_at_quantile(0.5),
        p90_ns: histogram.value_at_quantile(0.9),
        p99_ns: histogram.value_at_quantile(0.99),
        p999_ns: histogram.value_at_quantile(0.999),
        max_ns: histogram.max(),
        histogram_base64: STANDARD.encode(bytes),
    }
}

/// Between -1 and 1, deterministic.
fn noise(place: usize) -> f64 {
    let mixed = (place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 11) as f64 / (1_u64 << 53) as f64) * 2.0 - 1.0
}

fn run() -> RunInfo {
    RunInfo {
        machine: MachineKind::Lab,
        seed: 7,
        only: Vec::new(),
        raidlab_version: "0.1.0".to_owned(),
        command: "raidlab run studies/first-look.toml --seed 7".to_owned(),
        study_sha256: "f62e0a66627e9a010756d9aee6ac063e2ec9e628f89e7ab92f82dffb6b6c5c25".to_owned(),
        digest_sha256: "6ebf81e8b791262b380e3b18d4904d09a07061ec2c46b99133d427e04512068b".to_owned(),
        started_at_unix_s: 1_795_246_494,
        finished_at_unix_s: Some(1_795_246_612),
    }
}

fn plan() -> Plan {
    let source = "title = \"First look: filesystems on RAID 1\"\nmachine = \"lab\"\nkernel = \"6.12\"\nram = \"1 GiB\"\n\n\
                  [disks]\nmodel = \"wd-500gb-2007\"\ncount = 2\n\n[precision]\ntrials = 3\n";
    let workloads = [
        (
            "small files",
            10_928,
            SizeSpec {
                min_bytes: 64,
                median_bytes: 2048,
                max_bytes: 8192,
            },
            683,
        ),
        (
            "medium files",
            100,
            SizeSpec {
                min_bytes: 4 << 20,
                median_bytes: 4 << 20,
                max_bytes: 4 << 20,
            },
            10,
        ),
    ];
    let cells = workloads.into_iter().flat_map(|(name, files, size, directories)| {
        STACKS.iter().map(move |stack| {
            let tests = TESTS.to_vec();
            cell(
                stack,
                name,
                TreeSpec {
                    files,
                    size: size.clone(),
                    directories,
                    tests,
                    from: None,
                    from_warm: false,
                    to: None,
                },
            )
        })
    });
    let mut plan = Plan {
        title: "First look: filesystems on RAID 1".to_owned(),
        description: "Sander Marechal's question of 2008: which filesystem, with which block size, for backups of \
                      source code and for a music collection, on a RAID 1 of two 500 GB disks?"
            .to_owned(),
        source: source.to_owned(),
        models: Vec::new(),
        processors: Vec::new(),
        cells: cells.collect(),
        left_out: vec![LeftOut {
            axes: vec![
                ("type".to_owned(), "jfs".to_owned()),
                ("block_size".to_owned(), "1K".to_owned()),
            ],
            reason: "JFS supports only 4 KiB blocks".to_owned(),
        }],
        claims: vec![claim()],
        tables: vec![],
        weights: Vec::new(),
        precision: Precision::fixed(TRIALS),
    };
    plan.identify();
    plan
}

fn claim() -> Claim {
    Claim {
        says: "JFS is by far the slowest to write small files".to_owned(),
        filter: vec![
            ("workload".to_owned(), "small files".to_owned()),
            ("test".to_owned(), "write".to_owned()),
        ],
        that: "type=jfs slowest by 50%".to_owned(),
        published: Some("you can see immediately how slow JFS is writing and deleting all these files".to_owned()),
        untestable: None,
    }
}

fn cell(stack: &Stack, workload: &str, tree: TreeSpec) -> Cell {
    Cell {
        key: format!("{} | {workload}", stack.label),
        id: CellId::default(),
        stack_label: stack.label.to_owned(),
        replicate: 0,
        acts: Vec::new(),
        axes: vec![
            ("type".to_owned(), stack.label.to_owned()),
            ("workload".to_owned(), workload.to_owned()),
        ],
        machine: Arc::new(MachineSpec {
            kind: MachineKind::Lab,
            ram_bytes: 1 << 30,
            kernel: "6.12".to_owned(),
            disks: vec![DiskGroup {
                name: "data".to_owned(),
                model: "wd-500gb-2007".to_owned(),
                model_sha256: None,
                count: 2,
                state: None,
            }],
            buses: Vec::new(),
            create_once: false,
            draws_models: false,
            moved: None,
            processor: None,
        }),
        stack: Arc::new(StackSpec {
            array: ArraySpec {
                level: Level::Raid1,
                bitmap: Bitmap::None,
                spares: 0,
                member_size_bytes: Some(200 << 30),
                ..ArraySpec::default()
            },
            filesystem: FilesystemSpec {
                kind: stack.kind,
                block_size_bytes: stack.block_bytes,
                ..FilesystemSpec::default()
            },
            ..StackSpec::default()
        }),
        workload: WorkloadSpec {
            name: workload.to_owned(),
            age: None,
            work: Work::Tree(tree),
        },
    }
}
