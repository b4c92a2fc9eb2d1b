//! Reads and writes in a local folder, and what the tests of jobs share.

use crate::folder::{Folder, target};
use std::fs;
use std::path::Path;
use study::workload::{BufferFill, BufferSpec, IoEngine, IoPattern, IoSpec, SyncMode, Work, WorkloadSpec};
use workload::{Target, WorkloadError};

pub(crate) const PATTERNS: [IoPattern; 6] = [
    IoPattern::Read,
    IoPattern::Write,
    IoPattern::RandRead,
    IoPattern::RandWrite,
    IoPattern::ReadWrite,
    IoPattern::RandRw,
];

pub(crate) fn spec(pattern: IoPattern) -> IoSpec {
    IoSpec {
        engine: IoEngine::Native,
        pattern,
        read_percent: 50,
        block_bytes: 4096,
        size_bytes: 1 << 20,
        offset_bytes: 0,
        jobs: 2,
        queue_depth: 1,
        direct: false,
        fsync_every: 0,
        end_fsync: false,
        runtime_ns: None,
        ..IoSpec::default()
    }
}

pub(crate) fn try_run(spec: IoSpec, target: &Target<'_>, host: &mut Folder<'_>) -> Result<(), WorkloadError> {
    workload::run(
        &WorkloadSpec {
            name: "a job".to_owned(),
            age: None,
            work: Work::Io(spec),
        },
        target,
        7,
        host,
    )
}

/// Runs a job in a folder of its own; all guards must hold.
pub(crate) fn run(spec: IoSpec) -> Folder<'static> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut host = Folder::default();
    try_run(spec, &target(folder.path()), &mut host).expect("the job runs");
    for guard in host.guards() {
        assert!(guard.passed, "{guard:?}");
    }
    host
}

/// Reads and writes.
pub(crate) fn counts(host: &Folder<'_>, test: &str) -> [u64; 2] {
    ["read", "write"].map(|operation| host.latency(test, operation).map_or(0, |latency| latency.count))
}

#[test]
fn every_pattern_touches_every_block_of_every_job_at_any_depth() {
    for pattern in PATTERNS {
        for queue_depth in [1, 8] {
            let host = run(IoSpec {
                queue_depth,
                ..spec(pattern)
            });
            let [reads, writes] = counts(&host, pattern.name());
            assert_eq!(reads + writes, 512, "{pattern:?} at depth {queue_depth}");
            match pattern {
                IoPattern::Read | IoPattern::RandRead => assert_eq!(writes, 0),
                IoPattern::Write | IoPattern::RandWrite => assert_eq!(reads, 0),
                IoPattern::ReadWrite | IoPattern::RandRw => assert!(reads > 180 && writes > 180),
            }
            assert!(host.guard("contents", pattern.name()).detail.starts_with("128 blocks"));
            let throughput = host.sample(pattern.name(), "throughput").expect("throughput");
            let duration = host.sample(pattern.name(), "duration").expect("duration");
            if pattern.is_mixed() {
                let halves = ["read", "write"].map(|half| host.sample(half, "throughput").expect("throughput"));
                assert!((throughput - halves[0] - halves[1]).abs() < 1e-6 * throughput);
            } else {
                assert!((throughput * duration - 2.0).abs() < 1e-6, "two mebibytes were moved");
            }
            // The directions of a mixed pattern are also measured separately.
            let test = if pattern.is_mixed() { "write" } else { pattern.name() };
            assert!(host.sample(test, "latency_p50").is_some());
            assert!(host.sample(test, "latency_p999").is_none(), "that takes 1,000 requests");
            assert!(host.sample(pattern.name(), "cpu_user").is_some());
        }
    }
}

#[test]
fn large_blocks_direct_and_a_size_that_is_no_multiple() {
    let host = run(IoSpec {
        block_bytes: 3 << 20,
        size_bytes: 10 << 20,
        jobs: 1,
        queue_depth: 2,
        direct: true,
        ..spec(IoPattern::RandRead)
    });
    assert_eq!(counts(&host, "randread"), [3, 0]);
    let host = run(IoSpec {
        block_bytes: 2 << 20,
        size_bytes: 9 << 20,
        direct: true,
        ..spec(IoPattern::Write)
    });
    assert_eq!(counts(&host, "write"), [0, 8]);
}

#[test]
fn fsyncs_are_made_and_counted() {
    for (queue_depth, end_fsync, expected) in [(1, false, 32), (1, true, 34), (4, true, 34)] {
        let host = run(IoSpec {
            queue_depth,
            fsync_every: 16,
            end_fsync,
            ..spec(IoPattern::RandWrite)
        });
        let fsyncs = host.latency("randwrite", "fsync").expect("fsyncs").count;
        assert_eq!(fsyncs, expected, "depth {queue_depth}, end_fsync {end_fsync}");
    }
    let host = run(IoSpec {
        end_fsync: true,
        ..spec(IoPattern::RandRead)
    });
    assert!(host.latency("randread", "fsync").is_none());
}

#[test]
fn a_runtime_ends_the_job_and_goes_round_until_then() {
    for queue_depth in [1, 4] {
        let host = run(IoSpec {
            size_bytes: 64 << 10,
            runtime_ns: Some(200_000_000),
            queue_depth,
            ..spec(IoPattern::RandRead)
        });
        let duration = host.sample("randread", "duration").expect("duration");
        assert!((0.2..0.4).contains(&duration), "{duration}");
        assert!(
            counts(&host, "randread")[0] > 64,
            "more than two rounds of sixteen blocks"
        );
    }
}

#[test]
fn jobs_on_a_device_have_a_part_each() {
    let folder = tempfile::tempdir().expect("a folder");
    let device = folder.path().join("device");
    fs::write(&device, vec![0; 4 << 20]).expect("writable");
    let raw = Target {
        mount_point: None,
        block_device: &device,
    };
    let mut host = Folder::default();
    let job = IoSpec {
        offset_bytes: 1 << 20,
        ..spec(IoPattern::RandWrite)
    };
    try_run(job, &raw, &mut host).expect("the job runs");
    assert!(host.guard("contents", "randwrite").passed);
    let bytes = fs::read(&device).expect("readable");
    let touched =
        |range: std::ops::Range<usize>| bytes[range].chunks(4096).all(|block| block.iter().any(|&b| b != 0));
    assert!(touched(1 << 20..3 << 20));
    assert!(bytes[..1 << 20].iter().chain(&bytes[3 << 20..]).all(|&byte| byte == 0));

    let beyond = IoSpec {
        offset_bytes: 3 << 20,
        ..spec(IoPattern::Read)
    };
    for queue_depth in [1, 4] {
        let job = IoSpec {
            queue_depth,
            ..beyond.clone()
        };
        let error = try_run(job, &raw, &mut Folder::default())
            .expect_err("the device is too short")
            .to_string();
        assert!(error.ends_with("ends at byte 4194304, before the job does"), "{error}");
    }
}

#[test]
fn a_damaged_block_fails_the_guard() {
    for (pattern, runtime_ns) in [(IoPattern::Write, None), (IoPattern::RandWrite, Some(50_000_000))] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut host = Folder {
            on_remount: Box::new(|| {
                for job in 0..2 {
                    let path = folder.path().join(format!("io.{job}"));
                    let mut bytes = fs::read(&path).expect("the file of a job");
                    bytes.iter_mut().step_by(4096).for_each(|byte| *byte ^= 1);
                    fs::write(&path, bytes).expect("writable");
                }
            }),
            ..Folder::default()
        };
        try_run(
            IoSpec {
                runtime_ns,
                ..spec(pattern)
            },
            &target(folder.path()),
            &mut host,
        )
        .expect("runs");
        let guard = host.guard("contents", pattern.name());
        assert!(
            !guard.passed && guard.detail.contains("not as written: block"),
            "{guard:?}"
        );
    }
}

#[test]
fn unread_and_unwritten_data_fail_their_guards() {
    for (pattern, guard) in [
        (IoPattern::RandRead, "cold-cache"),
        (IoPattern::RandWrite, "written-out"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut host = Folder {
            moved_bytes: 4096,
            ..Folder::default()
        };
        let job = IoSpec {
            end_fsync: true,
            ..spec(pattern)
        };
        try_run(job, &target(folder.path()), &mut host).expect("the job runs");
        assert!(!host.guard(guard, pattern.name()).passed);
    }
}

/// The second file is replaced by a hole after raidlab has filled it.
#[test]
fn holes_that_are_read_fail_their_guard() {
    for is_hole in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut host = Folder {
            on_drop_caches: Box::new(|| {
                let second = folder.path().join("io.1");
                if is_hole {
                    let file = fs::File::create(&second).expect("writable");
                    file.set_len(1 << 20).expect("a hole");
                } else {
                    let file = fs::File::open(&second).expect("raidlab made it");
                    file.sync_all().expect("on the disk");
                }
            }),
            ..Folder::default()
        };
        try_run(spec(IoPattern::RandRead), &target(folder.path()), &mut host).expect("the job runs");
        let guard = host.guard("holes", "randread");
        assert_eq!(guard.passed, !is_hole, "{guard:?}");
        if is_hole {
            assert!(
                guard.detail.starts_with("1048576 of 2097152 bytes") && guard.detail.contains("io.1"),
                "{guard:?}"
            );
        }
    }
}

/// The disks receive only the compressed data: half of the random bytes.
#[test]
fn what_compresses_fails_its_guard() {
    let job = |fill, compress_percent| IoSpec {
        end_fsync: true,
        buffer: BufferSpec {
            fill,
            compress_percent,
            dedupe_percent: None,
        },
        ..spec(IoPattern::Write)
    };
    let judged = |spec: IoSpec, compresses| {
        let folder = tempfile::tempdir().expect("a folder");
        let mut host = Folder {
            moved_bytes: 1 << 20,
            compresses,
            ..Folder::default()
        };
        let test = spec.pattern.name();
        try_run(spec, &target(folder.path()), &mut host).expect("the job runs");
        let found = host
            .all_guards()
            .find(|guard| guard.name == "compressible" && guard.test.as_deref() == Some(test));
        found.map(|guard| guard.passed)
    };
    assert_eq!(judged(job(BufferFill::Random, 0), true), Some(false));
    assert_eq!(
        judged(job(BufferFill::Random, 50), true),
        Some(true),
        "as the study says"
    );
    assert_eq!(judged(job(BufferFill::Zero, 0), true), Some(false));
    assert_eq!(judged(job(BufferFill::Zero, 0), false), None, "it does not compress");
    let read = IoSpec {
        pattern: IoPattern::Read,
        ..job(BufferFill::Pattern(vec![0x55]), 0)
    };
    assert_eq!(judged(read, true), Some(false));
}

#[test]
fn a_job_that_cannot_be_says_all_that_is_wrong() {
    let job = IoSpec {
        block_bytes: 1000,
        size_bytes: 10,
        offset_increment_bytes: Some(1),
        jobs: 0,
        queue_depth: 0,
        direct: true,
        read_percent: 101,
        ..spec(IoPattern::Read)
    };
    let error = try_run(job, &target(Path::new("/nonexistent")), &mut Folder::default()).expect_err("impossible");
    for what in [
        "a size of 10 bytes",
        "one job",
        "queue depth",
        "101 %",
        "1000",
        "offset",
    ] {
        assert!(error.to_string().contains(what), "{what} in {error}");
    }
    let error = try_run(
        spec(IoPattern::Read),
        &target(Path::new("/nonexistent")),
        &mut Folder::default(),
    )
    .expect_err("no such folder");
    assert!(
        error.to_string().contains("create /nonexistent/io.0: No such file"),
        "{error}"
    );
}

#[test]
fn a_device_that_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("no-such-device");
    let raw = Target {
        mount_point: None,
        block_device: &missing,
    };
    for engine in [IoEngine::Fio, IoEngine::Native] {
        let job = IoSpec {
            engine,
            ..spec(IoPattern::Write)
        };
        let error = try_run(job, &raw, &mut Folder::default())
            .expect_err("no such device")
            .to_string();
        assert!(
            error.starts_with(&format!("open {}: No such file", missing.display())),
            "{error}"
        );
        assert!(!missing.exists());
    }
}

/// Throughput at a limited rate, at depth 1 and above, in MiB/s.
#[test]
fn a_rate_holds_at_any_depth_and_a_ramp_is_not_counted() {
    // A busy machine does not keep a rate: again, until it does.
    const ATTEMPTS: usize = 20;
    for queue_depth in [1, 4] {
        let attempt = |_| {
            let host = run(IoSpec {
                queue_depth,
                jobs: 1,
                rate_bytes_s: Some(1 << 20),
                runtime_ns: Some(500_000_000),
                ramp_ns: 200_000_000,
                ..spec(IoPattern::RandRead)
            });
            // 256 reads a second.
            let [reads, _] = counts(&host, "randread");
            (host.sample("randread", "throughput").expect("a figure"), reads)
        };
        let is_kept = |(rate, reads): &(f64, u64)| (0.8..1.1).contains(rate) && (100..140).contains(reads);
        assert!(
            (0..ATTEMPTS).map(attempt).any(|seen| is_kept(&seen)),
            "1 MiB/s in none of {ATTEMPTS} times half a second at depth {queue_depth}"
        );
    }
}

#[test]
fn waits_between_blocks_are_waited() {
    for queue_depth in [1, 4] {
        let host = run(IoSpec {
            queue_depth,
            jobs: 1,
            size_bytes: 40 * 4096,
            think_ns: 10_000_000,
            think_blocks: 4,
            ..spec(IoPattern::Write)
        });
        let duration = host.sample("write", "duration").expect("a figure");
        // It never waits less; a busy machine takes longer.
        assert!(duration >= 0.09, "{duration} s of 10 waits at depth {queue_depth}");
    }
}

/// All written data is compared, whatever its contents.
#[test]
fn contents_are_as_wanted_and_all_compared() {
    let buffers = [
        (BufferFill::Zero, 0, None),
        (BufferFill::Pattern(vec![0xde, 0xad, 0xbe]), 0, None),
        (BufferFill::Random, 50, None),
        (BufferFill::Random, 0, Some(0)),
        (BufferFill::Random, 0, Some(100)),
    ];
    for (fill, compress_percent, dedupe_percent) in buffers {
        for queue_depth in [1, 4] {
            let folder = tempfile::tempdir().expect("a folder");
            let mut host = Folder::default();
            let job = IoSpec {
                queue_depth,
                offset_bytes: 8192,
                fdatasync_every: 50,
                sync: SyncMode::Dsync,
                verify: Some("md5".to_owned()),
                buffer: BufferSpec {
                    fill: fill.clone(),
                    compress_percent,
                    dedupe_percent,
                },
                ..spec(IoPattern::RandWrite)
            };
            try_run(job, &target(folder.path()), &mut host).expect("the job runs");
            assert!(host.guard("contents", "randwrite").detail.starts_with("512 blocks"));
            assert!(host.guards().all(|guard| guard.passed));
            let bytes = fs::read(folder.path().join("io.0")).expect("a file");
            assert_eq!(bytes.len(), 8192 + (1 << 20));
            let blocks: Vec<&[u8]> = bytes[8192..].chunks(4096).collect();
            let distinct = blocks.iter().collect::<std::collections::HashSet<_>>().len();
            let zeros = bytes[8192..].iter().filter(|byte| **byte == 0).count();
            match (&fill, dedupe_percent) {
                (BufferFill::Zero, _) => assert_eq!(zeros, 1 << 20),
                (BufferFill::Pattern(_), _) => assert!(blocks.iter().all(|block| block[..3] == [0xde, 0xad, 0xbe])),
                (_, Some(0)) => assert_eq!(distinct, 256),
                (_, Some(_)) => assert_eq!(distinct, 1),
                _ => assert!((zeros as f64 / (1 << 20) as f64 - 0.5).abs() < 0.01),
            }
        }
    }
}

#[test]
fn jobs_are_told_apart_if_wanted() {
    for engine in [IoEngine::Native, IoEngine::Fio] {
        let host = run(IoSpec {
            engine,
            size_bytes: 32 << 20,
            group_reporting: false,
            ..spec(IoPattern::Read)
        });
        for job in 0..2 {
            assert!(
                host.sample(&format!("read job {job}"), "throughput").is_some(),
                "{engine:?}"
            );
        }
    }
}
