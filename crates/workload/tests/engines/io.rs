//! Reads and writes in a folder of this machine, by both engines.

use crate::folder::{Folder, target};
use std::fs;
use std::path::Path;
use study::event::Event;
use study::workload::{IoEngine, IoPattern, IoSpec, Work, WorkloadSpec};
use workload::{Target, WorkloadError};

const PATTERNS: [IoPattern; 6] = [
    IoPattern::Read,
    IoPattern::Write,
    IoPattern::RandRead,
    IoPattern::RandWrite,
    IoPattern::ReadWrite,
    IoPattern::RandRw,
];

fn spec(pattern: IoPattern) -> IoSpec {
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

fn try_run(spec: IoSpec, target: &Target<'_>, host: &mut Folder<'_>) -> Result<(), WorkloadError> {
    workload::run(
        &WorkloadSpec {
            name: "a job".to_owned(),
            work: Work::Io(spec),
        },
        target,
        7,
        host,
    )
}

/// Runs a job in a folder of its own; all guards must hold.
fn run(spec: IoSpec) -> Folder<'static> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut host = Folder::default();
    try_run(spec, &target(folder.path()), &mut host).expect("the job runs");
    for guard in host.guards() {
        assert!(guard.passed, "{guard:?}");
    }
    host
}

/// Reads, writes.
fn counts(host: &Folder<'_>, test: &str) -> [u64; 2] {
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
            assert!((throughput * duration - 2.0).abs() < 1e-6, "two mebibytes were moved");
            let prefix = if reads > 0 && writes > 0 { "write_" } else { "" };
            for percentile in ["p50", "p99", "p999"] {
                assert!(
                    host.sample(pattern.name(), &format!("{prefix}latency_{percentile}"))
                        .is_some()
                );
            }
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

#[test]
fn a_job_that_cannot_be_says_all_that_is_wrong() {
    let job = IoSpec {
        block_bytes: 1000,
        size_bytes: 10,
        offset_bytes: 1,
        jobs: 0,
        queue_depth: 0,
        direct: true,
        read_percent: 101,
        ..spec(IoPattern::Read)
    };
    let error = try_run(job, &target(Path::new("/nonexistent")), &mut Folder::default()).expect_err("impossible");
    for what in ["10 bytes of size", "one job", "queue depth", "101 %", "1000", "offset"] {
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
fn fio_gives_the_same_samples() {
    for pattern in PATTERNS {
        let job = IoSpec {
            size_bytes: 4 << 20,
            fsync_every: 64,
            end_fsync: true,
            ..spec(pattern)
        };
        let native = run(job.clone());
        let fio = run(IoSpec {
            engine: IoEngine::Fio,
            ..job
        });
        let names = |host: &Folder<'_>| -> Vec<(String, String, String)> {
            let triple =
                |sample: &study::event::Sample| (sample.test.clone(), sample.metric.clone(), sample.unit.clone());
            host.samples().map(triple).collect()
        };
        assert_eq!(names(&native), names(&fio));
        let sum = |host: &Folder<'_>| counts(host, pattern.name()).iter().sum::<u64>();
        assert_eq!((sum(&native), sum(&fio)), (2048, 2048), "{pattern:?}");
        assert_eq!(
            fio.events
                .iter()
                .filter(|event| matches!(event, Event::Call(_)))
                .count(),
            1
        );
    }
}

/// fio must find the files that were laid out, and not lay them out again: that would warm the cache.
#[test]
fn fio_reads_the_files_that_were_laid_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let inodes = |folder: &Path| -> Vec<u64> {
        use std::os::unix::fs::MetadataExt;
        (0..2)
            .map(|job| fs::metadata(folder.join(format!("io.{job}"))).map_or(0, |meta| meta.ino()))
            .collect()
    };
    let mut before = Vec::new();
    let mut host = Folder {
        on_drop_caches: Box::new(|| before = inodes(folder.path())),
        ..Folder::default()
    };
    let job = IoSpec {
        engine: IoEngine::Fio,
        size_bytes: 8 << 20,
        ..spec(IoPattern::RandRead)
    };
    try_run(job, &target(folder.path()), &mut host).expect("fio runs");
    drop(host);
    assert_eq!(before, inodes(folder.path()));
    assert_eq!(
        fs::read_dir(folder.path()).expect("the folder").count(),
        2,
        "fio left nothing else"
    );
}

#[test]
fn a_fio_that_fails_says_why() {
    let full = Target {
        mount_point: None,
        block_device: Path::new("/dev/full"),
    };
    let job = IoSpec {
        engine: IoEngine::Fio,
        jobs: 1,
        ..spec(IoPattern::Write)
    };
    let mut host = Folder::default();
    let error = try_run(job, &full, &mut host)
        .expect_err("the device is full")
        .to_string();
    assert!(
        error.starts_with("`fio --name=io") && error.contains("No space left on device"),
        "{error}"
    );
    assert_eq!(host.samples().count(), 0);
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
