//! Bonnie++'s and IOzone's tests in a local folder.

use crate::folder::{Folder, target};
use std::fs;
use study::workload::{BonnieSpec, IozoneEngine, IozoneSpec, IozoneTest, Work, WorkloadSpec};
use tools::{Tool, Tools};
use workload::WorkloadError;

fn try_run(work: Work, host: &mut Folder<'_>) -> Result<tempfile::TempDir, WorkloadError> {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = WorkloadSpec {
        name: "classic".to_owned(),
        age: None,
        work,
    };
    workload::run(&spec, &target(folder.path()), 7, host)?;
    Ok(folder)
}

fn is_here(tool: Tool) -> bool {
    match Tools::find(&[tool]) {
        Ok(_) => true,
        Err(missing) => {
            requirements::skip(missing);
            false
        }
    }
}

fn bonnie() -> BonnieSpec {
    BonnieSpec {
        size_bytes: 32 << 20,
        volumes: 2,
        chunk_bytes: 8192,
        per_char: true,
        char_bytes: 1 << 20,
        seeks: 500,
        seekers: 2,
        files: 1024,
        file_min_bytes: 10,
        file_max_bytes: 1000,
        directories: 4,
        processes: 1,
        direct: false,
        no_buffering: false,
    }
}

/// Each test has a figure, or a guard that explains why not.
#[test]
fn bonnie_gives_all_its_columns_or_says_that_they_were_too_short() {
    if !is_here(Tool::Bonnie) {
        return;
    }
    let mut host = Folder::default();
    let work = Work::Bonnie(bonnie());
    let tests: Vec<String> = work.tests().into_iter().map(str::to_owned).collect();
    assert_eq!(tests.len(), 12);
    try_run(work, &mut host).expect("Bonnie++ runs");
    for test in &tests {
        let metric = match test.as_str() {
            "seeks" => "iops",
            "putc" | "write" | "rewrite" | "getc" | "read" => "throughput",
            _ => "files_per_second",
        };
        let figure = host.sample(test, metric);
        let short = host
            .all_guards()
            .any(|guard| guard.name == "long-enough" && guard.test.as_deref() == Some(test));
        assert!(figure.is_some_and(|figure| figure > 0.0) != short, "{test}: {figure:?}");
        assert!(host.sample(test, "latency_max").is_some(), "{test}");
    }
}

#[test]
fn bonnie_leaves_out_what_is_not_wanted() {
    if !is_here(Tool::Bonnie) {
        return;
    }
    let mut host = Folder::default();
    let work = Work::Bonnie(BonnieSpec {
        per_char: false,
        files: 0,
        ..bonnie()
    });
    assert_eq!(work.tests(), ["write", "rewrite", "read", "seeks"]);
    let folder = try_run(work, &mut host).expect("Bonnie++ runs");
    assert!(
        host.samples()
            .all(|sample| !matches!(sample.test.as_str(), "putc" | "getc" | "create-seq"))
    );
    let left = fs::read_dir(folder.path().join("bonnie")).expect("its folder").count();
    assert_eq!(left, 0, "it leaves no file");
}

fn iozone(engine: IozoneEngine, processes: u32) -> IozoneSpec {
    IozoneSpec {
        engine,
        file_bytes: 1 << 20,
        record_bytes: 4096,
        processes,
        tests: IozoneTest::ALL.to_vec(),
        direct: false,
        sync: false,
        include_flush: true,
        stride_records: 17,
    }
}

#[test]
fn the_native_engine_has_the_13_tests_with_any_number_of_processes() {
    for processes in [1, 3] {
        let mut host = Folder::default();
        let work = Work::Iozone(iozone(IozoneEngine::Native, processes));
        let folder = try_run(work, &mut host).expect("the tests run");
        for test in IozoneTest::ALL {
            assert!(host.sample(test.name(), "throughput").expect("a figure") > 0.0);
            let operation = if test.reads() { "read" } else { "write" };
            let latency = host.latency(test.name(), operation).expect("latencies");
            assert_eq!(latency.count, 256 * u64::from(processes), "{}", test.name());
        }
        for guard in host.guards() {
            assert!(guard.passed, "{guard:?}");
        }
        assert!(host.guard("contents", "write").detail.starts_with("128 records"));
        assert_eq!(
            fs::read_dir(folder.path()).expect("a folder").count(),
            processes as usize
        );
    }
}

#[test]
fn single_tests_find_what_they_need() {
    for test in IozoneTest::ALL {
        let mut host = Folder::default();
        let spec = IozoneSpec {
            tests: vec![test],
            direct: test.group() < 6 && test != IozoneTest::Rewrite,
            sync: true,
            ..iozone(IozoneEngine::Native, 1)
        };
        // Some local filesystems, such as tmpfs, have no direct I/O.
        match try_run(Work::Iozone(spec), &mut host) {
            Ok(_) => assert!(host.sample(test.name(), "throughput").is_some()),
            Err(error) => assert!(error.to_string().contains("Invalid argument"), "{error}"),
        }
    }
}

#[test]
fn a_record_that_is_not_as_written_is_found() {
    let mut host = Folder::default();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("iozone.0");
    host.on_remount = Box::new(move || fs::write(&path, vec![7; 1 << 20]).expect("it is there"));
    let spec = WorkloadSpec {
        name: "classic".to_owned(),
        age: None,
        work: Work::Iozone(iozone(IozoneEngine::Native, 1)),
    };
    workload::run(&spec, &target(folder.path()), 7, &mut host).expect("the tests run");
    let guard = host.guard("contents", "write");
    assert!(!guard.passed && guard.detail.contains("record"), "{guard:?}");
}

#[test]
fn iozone_itself_has_the_same_tests() {
    if !is_here(Tool::Iozone) {
        return;
    }
    for processes in [1, 2] {
        let mut host = Folder::default();
        let work = Work::Iozone(iozone(IozoneEngine::Iozone, processes));
        try_run(work, &mut host).expect("IOzone runs");
        for test in IozoneTest::ALL {
            let is_single = matches!(
                test,
                IozoneTest::RecordRewrite | IozoneTest::Frewrite | IozoneTest::Freread
            );
            let figure = host.sample(test.name(), "throughput");
            assert_eq!(
                figure.is_some(),
                processes == 1 || !is_single,
                "{} × {processes}",
                test.name()
            );
        }
    }
}
