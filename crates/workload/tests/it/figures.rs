//! The meaning of a job's figures, and the guards against meaningless ones: issue 12.

use crate::folder::{Folder, target};
use study::event::Guard;
use study::workload::{IoPattern, IoSpec, Work, WorkloadSpec};

fn run(spec: IoSpec, moved_bytes: u64) -> Folder<'static> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut host = Folder {
        moved_bytes,
        ..Folder::default()
    };
    let work = WorkloadSpec {
        name: "a job".to_owned(),
        age: None,
        work: Work::Io(spec),
    };
    workload::run(&work, &target(folder.path()), 7, &mut host).expect("the job runs");
    host
}

fn random_writes(size_bytes: u64) -> IoSpec {
    IoSpec {
        pattern: IoPattern::RandWrite,
        size_bytes,
        ..IoSpec::default()
    }
}

const PLENTY: u64 = 1 << 40;

#[test]
fn issue_12_2_buffered_writes_end_when_they_are_on_the_disks() {
    let host = run(random_writes(16 << 20), PLENTY);
    let sample = |metric| host.sample("randwrite", metric).expect(metric);
    let (duration, sync) = (sample("duration"), sample("sync_after"));
    assert!(sync > 0.0 && duration > sync, "{duration} s with {sync} s of sync");
    assert!((sample("throughput") * duration - 16.0).abs() < 1e-6);
    assert!((sample("iops") * duration - 4096.0).abs() < 1e-3);
    // fio would print this.
    assert!((sample("throughput_cached") * (duration - sync) - 16.0).abs() < 1e-6);
}

#[test]
fn issue_12_2_the_ramp_counts_for_buffered_writes_with_its_time() {
    let ramp_s = 0.2;
    let job = IoSpec {
        ramp_ns: 200_000_000,
        runtime_ns: Some(100_000_000),
        rate_bytes_s: Some(4 << 20),
        ..random_writes(16 << 20)
    };
    let host = run(job, PLENTY);
    let sample = |metric| host.sample("randwrite", metric).expect(metric);
    // 4 MiB/s for 0.3 s, and the sync: the sync alone with 0.1 s of bytes would give less.
    let written_mib = sample("throughput") * (ramp_s + sample("duration"));
    assert!((1.1..1.3).contains(&written_mib), "{written_mib} MiB");
}

#[test]
fn issue_12_2_what_was_overwritten_in_memory_is_on_no_disk() {
    let rounds = IoSpec {
        runtime_ns: Some(50_000_000),
        ..random_writes(64 << 10)
    };
    // The disks received as much as the file holds.
    let guard = |moved| run(rounds.clone(), moved).guard("written-out", "randwrite").clone();
    let marked: Guard = guard(64 << 10);
    assert!(
        !marked.passed && marked.detail.contains("`direct = true`"),
        "{marked:?}"
    );
    assert!(guard(PLENTY).passed);
}

#[test]
fn issue_12_4_a_job_that_is_too_short_for_its_clock_is_marked() {
    let read = |runtime_ns| IoSpec {
        size_bytes: 4096,
        runtime_ns,
        ..IoSpec::default()
    };
    let short = run(read(None), PLENTY);
    let guard = short.guard("long-enough", "read");
    assert!(!guard.passed && guard.detail.contains("`size`"), "{guard:?}");
    assert!(run(read(Some(20_000_000)), PLENTY).guard("long-enough", "read").passed);
}
