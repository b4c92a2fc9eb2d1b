//! Trees written, read, copied and deleted in a folder of this machine.

use crate::folder::{Folder, target, tree, tree_spec};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use study::workload::TreeTest::{Copy, Delete, Read, Write};
use study::workload::{TreeSpec, TreeTest};
use workload::tree::collection::Collection;

/// A small source tree with one file of several segments.
fn small(tests: &[TreeTest]) -> TreeSpec {
    tree_spec(300, 20, [0, 2000, 3 << 20], tests)
}

fn run(spec: TreeSpec, folder: &Path, host: &mut Folder<'_>) {
    workload::run(&tree(spec), &target(folder), 7, host).expect("the tree runs");
}

/// Every path below `top` with what is in it.
fn files_below(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(top).expect("below").to_owned();
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

/// FNV-1a over all names, sizes and contents.
fn digest(files: &BTreeMap<PathBuf, Vec<u8>>) -> u64 {
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for (path, contents) in files {
        add(path.as_os_str().as_encoded_bytes());
        add(&(contents.len() as u64).to_le_bytes());
        add(contents);
    }
    digest
}

#[test]
fn all_four_tests_report_samples_latencies_and_guards() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut host = Folder::default();
    run(small(&[Write, Read, Copy, Delete]), folder.path(), &mut host);

    for test in ["write", "read", "copy"] {
        assert!(host.sample(test, "throughput").expect("throughput") > 0.0);
    }
    for test in ["write", "read", "copy", "delete"] {
        assert!(host.sample(test, "files_per_second").expect("files_per_second") > 0.0);
        assert!(host.sample(test, "duration").expect("duration") > 0.0);
    }
    for (test, metric) in [
        ("write", "time_to_last_close"),
        ("copy", "time_to_last_close"),
        ("delete", "time_to_last_unlink"),
    ] {
        let without_sync = host.sample(test, metric).expect(metric);
        assert!(
            without_sync < host.sample(test, "duration").expect("duration"),
            "{test}"
        );
    }
    for (test, operation, count) in [
        ("write", "create", 300),
        ("write", "mkdir", 20),
        ("write", "close", 300),
        ("write", "syncfs", 1),
        ("read", "open", 300),
        ("read", "opendir", 20),
        ("read", "getdents", 40),
        ("copy", "open", 300),
        ("copy", "create", 300),
        ("copy", "close", 600),
        ("delete", "unlink", 300),
        ("delete", "rmdir", 20),
    ] {
        let latency = host
            .latency(test, operation)
            .unwrap_or_else(|| panic!("{operation} of {test}"));
        assert_eq!(latency.count, count, "{operation} of {test}");
        assert!(latency.min_ns <= latency.p50_ns && latency.p50_ns <= latency.max_ns);
    }
    for guard in host.guards() {
        assert!(guard.passed, "{guard:?}");
    }
    for (name, test) in [
        ("contents", "write"),
        ("contents", "read"),
        ("contents", "copy"),
        ("cold-cache", "read"),
        ("cold-cache", "copy"),
        ("written-out", "write"),
        ("written-out", "copy"),
    ] {
        host.guard(name, test);
    }
    assert_eq!(
        host.steps,
        [
            "quiesce",
            "write",
            "quiesce",
            "read",
            "quiesce",
            "copy",
            "verify contents",
            "remount",
            "quiesce",
            "delete"
        ]
    );
    assert!(!folder.path().join("tree").exists(), "delete is of the original");
}

#[test]
fn the_copy_equals_the_original() {
    let folder = tempfile::tempdir().expect("a folder");
    run(small(&[Write, Copy]), folder.path(), &mut Folder::default());
    let original = files_below(&folder.path().join("tree"));
    assert_eq!(original.len(), 300);
    assert!(original == files_below(&folder.path().join("copy")));
}

#[test]
fn the_tree_on_disk_is_the_collection_that_was_planned() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = small(&[Write]);
    run(spec.clone(), folder.path(), &mut Folder::default());
    let collection = Collection::new(&spec, 7).expect("a collection");
    let found = files_below(&folder.path().join("tree"));
    let sizes: BTreeMap<PathBuf, u64> = (0..300)
        .map(|n| (collection.path(n), collection.files[n as usize].size))
        .collect();
    assert_eq!(
        found
            .iter()
            .map(|(path, bytes)| (path.clone(), bytes.len() as u64))
            .collect::<BTreeMap<_, _>>(),
        sizes
    );
    assert_eq!(sizes.values().sum::<u64>(), collection.bytes);
}

/// The number pins names, sizes and contents for ever: if it changes, results of before and after do not compare.
#[test]
fn the_tree_is_the_same_bytes_on_every_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    run(small(&[Write]), folder.path(), &mut Folder::default());
    assert_eq!(
        format!("{:016x}", digest(&files_below(&folder.path().join("tree")))),
        "fdf53e18a19ea24d"
    );

    let other = tempfile::tempdir().expect("a folder");
    workload::run(&tree(small(&[Write])), &target(other.path()), 8, &mut Folder::default()).expect("runs");
    assert!(files_below(&other.path().join("tree")) != files_below(&folder.path().join("tree")));
}

#[test]
fn contents_are_not_compressible() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().expect("a folder");
    run(
        tree_spec(10, 2, [1 << 20, 2 << 20, 4 << 20], &[Write]),
        folder.path(),
        &mut Folder::default(),
    );
    for bytes in files_below(folder.path()).values() {
        let mut gzip = Command::new("gzip")
            .arg("-c")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("gzip is part of every Debian");
        let mut input = gzip.stdin.take().expect("piped");
        let sent = bytes.clone();
        let writer = std::thread::spawn(move || input.write_all(&sent));
        let packed = gzip.wait_with_output().expect("gzip ends").stdout;
        writer.join().expect("no panic").expect("gzip reads all");
        assert!(
            packed.len() >= bytes.len(),
            "{} bytes became {}",
            bytes.len(),
            packed.len()
        );
    }
}

/// Runs write and read, with `damage` done to the file of this number before the read and before the check.
fn run_damaged(damage: impl Fn(&Path) + Clone) -> Vec<(String, bool, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = tree_spec(40, 5, [5000, 9000, 20_000], &[Write, Read]);
    let victim = folder
        .path()
        .join("tree")
        .join(Collection::new(&spec, 7).expect("a collection").path(11));
    let mut host = Folder {
        on_drop_caches: Box::new(|| {
            if victim.exists() {
                damage(&victim);
            }
        }),
        ..Folder::default()
    };
    run(spec, folder.path(), &mut host);
    let of = |test: &str| {
        let guard = host.guard("contents", test);
        (test.to_owned(), guard.passed, guard.detail.clone())
    };
    vec![of("write"), of("read")]
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).expect("the victim");
    bytes[at] ^= 1;
    fs::write(path, bytes).expect("writable");
}

#[test]
fn a_flipped_bit_fails_the_guard_of_write() {
    let guards = run_damaged(|path| flip(path, 4500));
    assert!(
        !guards[0].1 && guards[0].2.contains("differs at byte 4500"),
        "{guards:?}"
    );
}

#[test]
fn a_damaged_beginning_or_end_fails_the_guard_of_read_too() {
    for guards in [
        run_damaged(|path| flip(path, 3)),
        run_damaged(|path| flip(path, fs::metadata(path).expect("the victim").len() as usize - 1)),
        run_damaged(|path| fs::write(path, &fs::read(path).expect("the victim")[..4096]).expect("writable")),
        run_damaged(|path| fs::write(path, vec![0; fs::metadata(path).expect("it").len() as usize]).expect("ok")),
    ] {
        assert!(!guards[0].1 && !guards[1].1, "{guards:?}");
    }
}

#[test]
fn a_lost_file_fails_both_guards() {
    let guards = run_damaged(|path| fs::remove_file(path).expect("the victim"));
    assert!(!guards[0].1 && guards[0].2.contains("No such file"), "{guards:?}");
    assert!(
        !guards[1].1 && guards[1].2.contains("39 of 40 files found"),
        "{guards:?}"
    );
}

#[test]
fn reads_from_memory_and_unwritten_data_fail_their_guards() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut host = Folder {
        moved_bytes: 1024,
        ..Folder::default()
    };
    run(small(&[Write, Read, Copy]), folder.path(), &mut host);
    for (name, test) in [
        ("written-out", "write"),
        ("cold-cache", "read"),
        ("cold-cache", "copy"),
        ("written-out", "copy"),
    ] {
        assert!(!host.guard(name, test).passed, "{name} of {test}");
    }
}

#[test]
fn a_test_finds_what_it_needs_and_repeats() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut host = Folder::default();
    run(small(&[Delete, Read, Copy, Copy, Write]), folder.path(), &mut host);
    assert_eq!(
        host.samples()
            .filter(|sample| sample.test == "copy" && sample.metric == study::metric::Metric::Duration)
            .count(),
        2
    );
    assert!(host.guards().all(|guard| guard.passed));
    assert_eq!(host.steps.iter().filter(|step| *step == "prepare files").count(), 2);
    assert_eq!(host.steps.iter().filter(|step| *step == "make room").count(), 2);
}

#[test]
fn errors_name_the_path_and_what_was_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("tree")).expect("writable");
    let error = workload::run(
        &tree(small(&[Write])),
        &target(folder.path()),
        7,
        &mut Folder::default(),
    )
    .expect_err("the tree is there already");
    let expected = format!("make the directory {}/tree: File exists", folder.path().display());
    assert!(error.to_string().starts_with(&expected), "{error}");

    let lopsided = tree_spec(3, 1, [10, 5, 20], &[Write]);
    let error = workload::run(&tree(lopsided), &target(folder.path()), 7, &mut Folder::default())
        .expect_err("sizes do not rise");
    assert!(error.to_string().contains("10, 5, 20"), "{error}");
}

#[test]
fn one_directory_and_equal_sizes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut host = Folder::default();
    run(
        tree_spec(3, 0, [5 << 20; 3], &[Write, Read, Delete]),
        folder.path(),
        &mut host,
    );
    assert_eq!(
        host.latency("read", "read").expect("reads").count,
        3 * 41,
        "forty of 128 KiB and the end"
    );
    assert!(host.guards().all(|guard| guard.passed));
}

#[test]
fn files_come_from_another_groups_filesystem_and_go_to_one() {
    let [folder, source, sink] = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let mut host = Folder {
        group_mounts: vec![
            ("source".to_owned(), source.path().to_owned()),
            ("sink".to_owned(), sink.path().to_owned()),
        ],
        ..Folder::default()
    };
    let spec = TreeSpec {
        from: Some("source".to_owned()),
        to: Some("sink".to_owned()),
        ..small(&[Write, Read])
    };
    run(spec.clone(), folder.path(), &mut host);
    for guard in host.guards() {
        assert!(guard.passed, "{guard:?}");
    }
    for copy in [
        folder.path().join("tree"),
        source.path().join("tree"),
        sink.path().join("copy"),
    ] {
        assert!(copy.is_dir(), "{}", copy.display());
    }
    let reads = host.latency("write", "read").expect("writing reads the originals");
    assert!(reads.count > 0);
    assert!(host.latency("read", "write").is_some(), "reading writes the copies");

    let elsewhere = TreeSpec {
        from: Some("nowhere".to_owned()),
        ..spec
    };
    let folder = tempfile::tempdir().expect("a folder");
    let error = workload::run(&tree(elsewhere), &target(folder.path()), 7, &mut host).expect_err("no such group");
    assert!(
        error.to_string().contains("no filesystem on the disks `nowhere`"),
        "{error}"
    );
}
