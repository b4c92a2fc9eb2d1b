use super::*;
use study::workload::PowerCutSpec;

fn name(text: &str) -> String {
    text.to_owned()
}

/// `f` has two durable records and a durable name; then operation 3 overwrites the first record.
fn operations(more: &[Operation]) -> Operations {
    let write = |first, records| Operation::Write {
        name: name("f"),
        file: 0,
        first,
        records,
    };
    let mut all = vec![
        Operation::Create {
            name: name("f"),
            file: 0,
        },
        write(0, 2),
        Operation::Sync,
        write(0, 1),
    ];
    all.extend_from_slice(more);
    Operations { all, prepared: 3 }
}

fn contents(versions: &[usize]) -> Vec<u8> {
    let records = versions.iter().enumerate();
    records
        .flat_map(|(at, version)| record(*version, 0, at as u64))
        .collect()
}

/// The kinds of violation if all operations returned and these files were found.
fn judge(operations: &Operations, files: &[(&str, Vec<u8>)]) -> Vec<ViolationKind> {
    let all = operations.all.len();
    judge_at(
        operations,
        Log {
            begun: all,
            returned: all,
        },
        files,
    )
}

fn judge_at(operations: &Operations, log: Log, files: &[(&str, Vec<u8>)]) -> Vec<ViolationKind> {
    let found = files
        .iter()
        .map(|(path, bytes)| (name(path), Found::File(bytes.clone())))
        .collect();
    let violations = History::new(operations, log).judge(&found);
    violations.iter().map(|violation| violation.kind).collect()
}

const FSYNC: Operation = Operation::Fsync {
    name: String::new(),
    file: 0,
};
use ViolationKind::{Lost, Wrong};

#[test]
fn a_loss_names_a_sync_that_alone_acknowledged_it() {
    let is_of_sync = |more: &[Operation]| {
        let operations = operations(more);
        let all = operations.all.len();
        let log = Log {
            begun: all,
            returned: all,
        };
        let old = [(name("f"), Found::File(contents(&[1, 1])))];
        let violations = History::new(&operations, log).judge(&old.into());
        assert_eq!(violations.len(), 1);
        violations[0].loss == Some(Loss::OlderThanSync)
    };
    assert!(is_of_sync(&[Operation::Sync]));
    assert!(!is_of_sync(&[FSYNC]));
    assert!(!is_of_sync(&[FSYNC, Operation::Sync]));
    assert!(!is_of_sync(&[Operation::Sync, FSYNC]));
}

#[test]
fn what_is_not_synced_may_be_old_or_new_and_nothing_else() {
    let operations = operations(&[]);
    assert_eq!(judge(&operations, &[("f", contents(&[3, 1]))]), []);
    assert_eq!(judge(&operations, &[("f", contents(&[1, 1]))]), []);
    let mut zeroed = contents(&[1, 1]);
    zeroed[..RECORD_BYTES].fill(0);
    assert_eq!(
        judge(&operations, &[("f", zeroed)]),
        [Lost],
        "as before its first write"
    );
    assert_eq!(judge(&operations, &[("f", contents(&[1]))]), [Lost], "a durable size");
    assert_eq!(judge(&operations, &[]), [Lost], "a durable name");
}

#[test]
fn what_is_synced_is_new() {
    let operations = operations(&[FSYNC]);
    assert_eq!(judge(&operations, &[("f", contents(&[3, 1]))]), []);
    assert_eq!(judge(&operations, &[("f", contents(&[1, 1]))]), [Lost]);
    let in_flight = Log { begun: 5, returned: 4 };
    assert_eq!(
        judge_at(&operations, in_flight, &[("f", contents(&[1, 1]))]),
        [],
        "not yet acknowledged"
    );
}

#[test]
fn garbage_and_foreign_data_are_wrong() {
    let operations = operations(&[]);
    let mut garbage = contents(&[3, 1]);
    garbage[20] ^= 1;
    assert_eq!(judge(&operations, &[("f", garbage)]), [Wrong]);
    let mut moved = contents(&[1, 1]);
    moved.copy_within(RECORD_BYTES.., 0);
    assert_eq!(judge(&operations, &[("f", moved)]), [Wrong]);
    assert_eq!(
        judge(&operations, &[("f", contents(&[3, 1])), ("g", Vec::new())]),
        [Wrong]
    );
}

#[test]
fn names_are_durable_by_their_folder() {
    let rename = Operation::Rename {
        from: name("f"),
        to: name("g"),
    };
    let folder = Operation::FsyncFolder { name: String::new() };
    let begun = operations(std::slice::from_ref(&rename));
    for at in ["f", "g"] {
        assert_eq!(judge(&begun, &[(at, contents(&[3, 1]))]), []);
    }
    let durable = operations(&[rename, folder.clone()]);
    assert_eq!(judge(&durable, &[("g", contents(&[3, 1]))]), []);
    assert_eq!(judge(&durable, &[("f", contents(&[3, 1]))]), [Lost, Lost]);
    let unlinked = operations(&[Operation::Unlink { name: name("f") }, folder]);
    assert_eq!(judge(&unlinked, &[]), []);
    assert_eq!(judge(&unlinked, &[("f", contents(&[3, 1]))]), [Lost]);
}

/// docs/findings/btrfs-rename-lost.md: a name replaced by rename is the old or the new file, never missing.
#[test]
fn a_durable_name_that_is_replaced_is_there() {
    let create = Operation::Create {
        name: name("g"),
        file: 1,
    };
    let rename = Operation::Rename {
        from: name("g"),
        to: name("f"),
    };
    let replaced = operations(&[create, rename]);
    let (old, new) = (contents(&[1, 1]), Vec::new());
    assert_eq!(judge(&replaced, &[("f", old.clone())]), []);
    assert_eq!(judge(&replaced, &[("f", old), ("g", new.clone())]), []);
    assert_eq!(judge(&replaced, &[("f", new.clone())]), []);
    assert_eq!(judge(&replaced, &[]), [Lost]);
    assert_eq!(judge(&replaced, &[("g", new)]), [Lost]);
}

#[test]
fn a_truncated_file_does_not_regain_its_size() {
    let truncate = Operation::Truncate {
        name: name("f"),
        file: 0,
        records: 1,
    };
    assert_eq!(
        judge(
            &operations(std::slice::from_ref(&truncate)),
            &[("f", contents(&[3, 1]))]
        ),
        []
    );
    let durable = operations(&[truncate, FSYNC]);
    assert_eq!(judge(&durable, &[("f", contents(&[3]))]), []);
    assert_eq!(judge(&durable, &[("f", contents(&[3, 1]))]), [Lost]);
}

#[test]
fn a_link_is_a_name_of_its_own() {
    let link = Operation::Link {
        from: name("f"),
        to: name("g"),
    };
    let folder = Operation::FsyncFolder { name: String::new() };
    let both = [("f", contents(&[3, 1])), ("g", contents(&[3, 1]))];
    let begun = operations(std::slice::from_ref(&link));
    assert_eq!(judge(&begun, &both), []);
    assert_eq!(judge(&begun, &both[..1]), []);
    let durable = operations(&[link.clone(), folder.clone()]);
    assert_eq!(judge(&durable, &both), []);
    assert_eq!(judge(&durable, &both[..1]), [Lost]);
    let unlinked = operations(&[link, Operation::Unlink { name: name("f") }, folder]);
    assert_eq!(judge(&unlinked, &both[1..]), []);
    assert_eq!(judge(&unlinked, &both), [Lost]);
}

#[test]
fn a_name_that_is_used_again_is_the_new_file() {
    let again = [
        Operation::Unlink { name: name("f") },
        Operation::Create {
            name: name("f"),
            file: 1,
        },
        Operation::FsyncFolder { name: String::new() },
    ];
    let begun = operations(&again[..2]);
    for found in [vec![("f", contents(&[1, 1]))], vec![], vec![("f", Vec::new())]] {
        assert_eq!(judge(&begun, &found), []);
    }
    let durable = operations(&again);
    assert_eq!(judge(&durable, &[("f", Vec::new())]), []);
    assert_eq!(judge(&durable, &[("f", contents(&[1, 1]))]), [Lost]);
    assert_eq!(judge(&durable, &[]), [Lost]);
}

#[test]
fn a_folder_that_was_removed_is_not_there_again() {
    let begun = [
        Operation::MakeFolder { name: name("d") },
        Operation::Sync,
        Operation::RemoveFolder { name: name("d") },
    ];
    let folder = Operation::FsyncFolder { name: String::new() };
    let found = |operations: &Operations| {
        let all = operations.all.len();
        let log = Log {
            begun: all,
            returned: all,
        };
        let there = [("f", Found::File(contents(&[3, 1]))), ("d", Found::Folder)];
        let there = there.map(|(path, found)| (name(path), found)).into();
        let violations = History::new(operations, log).judge(&there);
        violations.iter().map(|violation| violation.kind).collect::<Vec<_>>()
    };
    assert_eq!(found(&operations(&begun)), []);
    assert_eq!(judge(&operations(&begun), &[("f", contents(&[3, 1]))]), []);
    let durable = operations(&[&begun[..], &[folder]].concat());
    assert_eq!(found(&durable), [Lost]);
}

const SPEC: PowerCutSpec = PowerCutSpec {
    operations: 200,
    namespace: false,
    points: 1,
    subsets: 1,
    missing_member: false,
    survivors: study::workload::Survivors::Subset,
    whole_blocks: false,
    ignore_flush: false,
    left_out: Vec::new(),
};

const fn of_names() -> PowerCutSpec {
    let mut spec = SPEC;
    spec.namespace = true;
    spec
}

/// Does all operations; panics if one fails.
fn perform_all(operations: &Operations, folder: &std::path::Path, seed: u64) -> Log {
    for (number, operation) in operations.all.iter().enumerate() {
        let done = super::super::perform(number, operation, folder);
        done.unwrap_or_else(|error| panic!("seed {seed}, operation {number}, {operation}: {error}"));
    }
    let all = operations.all.len();
    Log {
        begun: all,
        returned: all,
    }
}

/// On a local filesystem without a power cut.
#[test]
fn operations_that_were_all_done_satisfy_the_judge() {
    for (seed, spec) in [(1, SPEC), (2, SPEC), (3, of_names()), (4, of_names()), (5, of_names())] {
        let folder = tempfile::tempdir().expect("a folder");
        let operations = Operations::draw(seed, &spec);
        let log = perform_all(&operations, folder.path(), seed);
        let history = History::new(&operations, log);
        let mut found = super::super::observe(folder.path());
        assert_eq!(history.judge(&found), [], "seed {seed}");
        found.clear();
        assert_ne!(history.judge(&found), [], "seed {seed}");
    }
}

/// Whatever is left out, the remaining operations succeed, and the checker accepts the result.
#[test]
fn operations_without_some_can_be_done() {
    for seed in 1..=8 {
        let whole = Operations::draw(seed, &of_names());
        let number = |count: u64| (crate::random::hash(seed, 9, count) % 224) as u32;
        let spec = PowerCutSpec {
            left_out: (0..seed * 20).map(number).collect(),
            ..if seed % 2 == 0 { SPEC } else { of_names() }
        };
        let folder = tempfile::tempdir().expect("a folder");
        let operations = Operations::draw(seed, &spec);
        assert!(operations.all.len() < whole.all.len());
        assert_eq!(operations.all[operations.prepared - 1], Operation::Sync);
        let log = perform_all(&operations, folder.path(), seed);
        assert_eq!(
            History::new(&operations, log).judge(&super::super::observe(folder.path())),
            []
        );
    }
}

#[test]
fn operations_of_names_link_and_use_names_again() {
    let spec = PowerCutSpec {
        operations: 1000,
        ..of_names()
    };
    let drawn = Operations::draw(7, &spec);
    let names: Vec<&String> = drawn
        .all
        .iter()
        .filter_map(|operation| match operation {
            Operation::Create { name, .. } => Some(name),
            _ => None,
        })
        .collect();
    let again = names
        .iter()
        .enumerate()
        .filter(|(at, name)| names[..*at].contains(name));
    assert!(again.count() > 5, "{names:?}");
    let is = |kind: fn(&Operation) -> bool| drawn.all.iter().filter(|operation| kind(operation)).count();
    assert!(is(|operation| matches!(operation, Operation::RemoveFolder { .. })) > 2);
    assert!(is(|operation| matches!(operation, Operation::Link { .. })) > 5);
    assert!(is(|operation| matches!(operation, Operation::Truncate { records: 0, .. })) > 5);
}

#[test]
fn a_seed_gives_the_same_operations() {
    let drawn = Operations::draw(7, &SPEC);
    assert_eq!(drawn, Operations::draw(7, &SPEC));
    assert_ne!(drawn, Operations::draw(8, &SPEC));
    assert_eq!(drawn.all.len() - drawn.prepared, 200);
    // Without a power cut there are no violations; the untouched files are part of it.
    let history = History::new(
        &drawn,
        Log {
            begun: drawn.prepared,
            returned: drawn.prepared,
        },
    );
    let gone = history.judge(&BTreeMap::new());
    assert_eq!(gone.len(), 24);
}
