//! fio as an engine, and its job files.

use crate::folder::{Folder, target};
use crate::io::{PATTERNS, counts, run, spec, try_run};
use std::fs;
use std::path::Path;
use study::event::Event;
use study::workload::{FioFileSpec, FioSection, IoEngine, IoPattern, IoSpec, Work, WorkloadSpec};
use workload::Target;

fn job_file(sections: Vec<FioSection>) -> Work {
    Work::FioFile(FioFileSpec {
        path: "x.fio".to_owned(),
        sections,
        notes: Vec::new(),
    })
}

fn run_file(work: Work, folder: &Path) -> Folder<'static> {
    let mut host = Folder::default();
    let work = WorkloadSpec {
        name: "a file".to_owned(),
        age: None,
        work,
    };
    workload::run(&work, &target(folder), 7, &mut host).expect("the jobs run");
    host
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
        let names = |host: &Folder<'_>| -> Vec<(study::TestId, study::metric::Metric)> {
            let pair = |sample: &study::event::Sample| (sample.test.clone(), sample.metric);
            host.samples().map(pair).collect()
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

/// fio must use the prepared files and not write them again: that would warm the cache.
#[test]
fn fio_reads_the_files_that_were_prepared() {
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

/// Its size does not include the offset: jobs read too much, and made the files longer.
#[test]
fn behind_an_offset_fio_reads_as_much_as_raidlab() {
    for engine in [IoEngine::Native, IoEngine::Fio] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut host = Folder::default();
        let job = IoSpec {
            engine,
            size_bytes: 8 << 20,
            offset_bytes: 1 << 20,
            ..spec(IoPattern::Read)
        };
        try_run(job, &target(folder.path()), &mut host).expect("it runs");
        // Two jobs.
        assert_eq!(
            counts(&host, "read").iter().sum::<u64>(),
            2 * (8 << 20) / 4096,
            "{engine:?}"
        );
        for file in fs::read_dir(folder.path()).expect("the folder") {
            let length = file.expect("a file").metadata().expect("it has a length").len();
            assert_eq!(length, 9 << 20, "{engine:?}");
        }
    }
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
fn a_job_file_is_done_section_by_section() {
    let options = |words: &[(&str, &str)]| -> Vec<(String, String)> {
        words
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    let section = |name: &str, pattern, jobs, files, said: &[(&str, &str)]| FioSection {
        name: name.to_owned(),
        options: options(said),
        pattern,
        block_bytes: 4096,
        size_bytes: 16 << 20,
        jobs,
        files,
        runtime_ns: None,
        direct: false,
        end_fsync: false,
        shared: Vec::new(),
        file_bytes: None,
        directions: None,
    };
    let fill = [
        ("rw", "write"),
        ("bs", "64k"),
        ("size", "16m"),
        ("verify", "crc32c"),
        ("end_fsync", "1"),
    ];
    let look = [
        ("stonewall", "1"),
        ("rw", "randread"),
        ("bs", "4k"),
        ("size", "16m"),
        ("numjobs", "2"),
        ("nrfiles", "2"),
    ];
    let work = job_file(vec![
        section("fill", IoPattern::Write, 1, 1, &fill),
        section("look", IoPattern::RandRead, 2, 2, &look),
    ]);
    let folder = tempfile::tempdir().expect("a folder");
    let host = run_file(work, folder.path());
    assert_eq!(counts(&host, "fill"), [0, 256]);
    assert_eq!(counts(&host, "look"), [8192, 0]);
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["fill.0", "look.0.0", "look.0.1", "look.1.0", "look.1.1"],
        "fio made no files of its own"
    );
}

/// Issue 39, 12: a phase that writes a file and one that verifies it had files of their own.
#[test]
fn sections_that_share_a_file_read_what_the_others_wrote() {
    let section = |name: &str, pattern, jobs, said: &[(&str, &str)]| FioSection {
        name: name.to_owned(),
        options: said
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        pattern,
        block_bytes: 64 << 10,
        size_bytes: 8 << 20,
        jobs,
        files: 1,
        runtime_ns: None,
        direct: false,
        end_fsync: false,
        shared: vec![0],
        file_bytes: Some(9 << 20),
        directions: None,
    };
    let verify = [
        ("bs", "64k"),
        ("size", "8m"),
        ("offset", "1m"),
        ("verify", "meta"),
        ("stonewall", "1"),
    ];
    let write = [&verify[..], &[("rw", "write"), ("do_verify", "0")]].concat();
    let read = [&verify[..], &[("rw", "read"), ("do_verify", "1"), ("numjobs", "2")]].concat();
    let work = job_file(vec![
        section("write", IoPattern::Write, 1, &write),
        section("verify", IoPattern::Read, 2, &read),
    ]);
    assert_eq!(work.spec().bytes(4096), 9 << 20, "once");
    let folder = tempfile::tempdir().expect("a folder");
    let host = run_file(work, folder.path());
    assert_eq!(counts(&host, "write"), [0, 128]);
    assert_eq!(counts(&host, "verify"), [256, 0], "both jobs");
    let files: Vec<u64> = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").metadata().expect("its size").len())
        .collect();
    assert_eq!(files, [9 << 20], "one file, no longer than it was prepared");
}

/// Engines that do not read or write have no requests, which would be divided by.
#[test]
fn engines_of_whole_files_report_files_per_second() {
    let section = |engine: &str| FioSection {
        name: engine.to_owned(),
        options: [
            ("ioengine", engine),
            ("size", "8m"),
            ("nrfiles", "2048"),
            ("openfiles", "1"),
            ("create_on_open", "1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into(),
        pattern: IoPattern::Read,
        block_bytes: 4096,
        size_bytes: 8 << 20,
        jobs: 1,
        files: 2048,
        runtime_ns: None,
        direct: false,
        end_fsync: false,
        shared: Vec::new(),
        file_bytes: None,
        directions: None,
    };
    let work = job_file(["filecreate", "filestat", "filedelete"].map(section).into());
    let folder = tempfile::tempdir().expect("a folder");
    let host = run_file(work, folder.path());
    let rates = host
        .samples()
        .filter(|sample| sample.metric == study::metric::Metric::FilesPerSecond);
    assert_eq!(rates.filter(|sample| sample.value > 1.0).count(), 3);
    let left = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 4096, "files of filecreate and filestat");
}

/// Issue 39, A3: a job that is not steady, or that memory answers, is marked whichever way it is written.
#[test]
fn a_job_file_does_not_bypass_the_guards_of_its_job() {
    let options: Vec<(String, String)> = [
        ("rw", "randrw"),
        ("bs", "4k"),
        ("size", "16m"),
        ("ioengine", "psync"),
        ("runtime", "1"),
        ("time_based", "1"),
        ("direct", "1"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let section = FioSection {
        name: "randrw".to_owned(),
        options,
        pattern: IoPattern::RandRw,
        block_bytes: 4096,
        size_bytes: 16 << 20,
        jobs: 1,
        files: 1,
        runtime_ns: Some(1_000_000_000),
        direct: true,
        end_fsync: false,
        shared: Vec::new(),
        file_bytes: None,
        directions: None,
    };
    let guards = |work: Work| {
        let folder = tempfile::tempdir().expect("a folder");
        let mut host = Folder::default();
        let work = WorkloadSpec {
            name: "w".to_owned(),
            age: None,
            work,
        };
        workload::run(&work, &target(folder.path()), 7, &mut host).expect("the job runs");
        let mut names: Vec<String> = host
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Guard(guard) => Some(guard.name.clone()),
                _ => None,
            })
            .collect();
        names.sort();
        names
    };
    let of_job = guards(Work::Io(section.as_io()));
    assert!(
        of_job.contains(&"steady".to_owned()) && of_job.contains(&"written-out".to_owned()),
        "{of_job:?}"
    );
    let of_file = guards(job_file(vec![section]));
    assert_eq!(of_file, of_job);
}

/// Issue 39: a job file with a mix reported neither reads nor writes by themselves.
#[test]
fn issue_39_reads_and_writes_of_a_mixed_section_are_tests() {
    let section = |name: &str, rw: &str, pattern| FioSection {
        name: name.to_owned(),
        options: [
            ("rw", rw),
            ("bs", "4k"),
            ("size", "8m"),
            ("rwmixread", "75"),
            ("direct", "1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into(),
        pattern,
        block_bytes: 4096,
        size_bytes: 8 << 20,
        jobs: 1,
        files: 1,
        runtime_ns: None,
        direct: true,
        end_fsync: false,
        shared: Vec::new(),
        file_bytes: None,
        directions: None,
    };
    let work = |sections| {
        let Work::FioFile(mut spec) = job_file(sections) else {
            panic!("a job file");
        };
        spec.name_directions();
        Work::FioFile(spec)
    };
    let covers = |work: &Work, guard: &str, test: &str| {
        let guard = study::event::Guard {
            name: "steady".to_owned(),
            test: Some(guard.into()),
            passed: false,
            detail: String::new(),
        };
        work.guard_reach().covers(&guard, &test.into())
    };
    let mix = || section("mix", "randrw", IoPattern::RandRw);
    let names = |work: &Work| work.tests().into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(names(&work(vec![mix()])), ["mix", "read", "write"]);
    let confusing = work(vec![mix(), section("mix read", "read", IoPattern::Read)]);
    assert_eq!(names(&confusing), ["mix", "mix read"]);
    assert_eq!(confusing.job("mix read").expect("a job").test, "mix read");
    assert!(!covers(&confusing, "mix", "mix read"));

    let two = work(vec![mix(), section("log", "write", IoPattern::Write)]);
    assert_eq!(names(&two), ["mix", "mix read", "mix write", "log"]);
    assert_eq!(two.job("mix write").expect("a job").test, "mix");
    for (guard, test) in [
        ("mix", "mix read"),
        ("mix", "mix write"),
        ("mix read", "mix"),
        ("mix read", "mix write"),
    ] {
        assert!(covers(&two, guard, test), "{guard} excludes {test}");
    }
    assert!(!covers(&two, "mix", "log"));
    let stored = serde_json::to_string(&two).expect("plain data");
    assert!(!stored.contains("mix read"), "the identity of a cell: {stored}");
    assert_eq!(serde_json::from_str::<Work>(&stored).expect("a work"), two);

    let folder = tempfile::tempdir().expect("a folder");
    let host = run_file(two, folder.path());
    let iops = |test: &str| {
        let mut samples = host.samples();
        let sample = samples.find(|sample| sample.metric == study::metric::Metric::Iops && sample.test == test);
        sample.expect("a sample").value
    };
    let (whole, reads, writes) = (iops("mix"), iops("mix read"), iops("mix write"));
    assert!(
        (reads + writes - whole).abs() < whole / 1e6,
        "{reads} + {writes} = {whole}"
    );
    assert!((0.7..0.8).contains(&(reads / whole)), "{reads} of {whole}");
}
