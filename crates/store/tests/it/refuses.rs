//! Files that are not stores or cannot be one: a message states the problem and the fix, and the file is unchanged.

use crate::fixture::{Bench, ORIGIN, sample};
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use store::Store;

/// The messages for opening `path` for writing and for reading, without the variable folder name.
fn messages(path: &Path) -> String {
    let folder = path.parent().unwrap().display().to_string();
    let write = Store::open(path)
        .err()
        .map_or("opens".to_owned(), |error| error.to_string());
    let read = Store::open_existing(path)
        .err()
        .map_or("opens".to_owned(), |error| error.to_string());
    format!("write: {write}\nread:  {read}").replace(&folder, "/folder")
}

#[test]
fn a_missing_folder() {
    let bench = Bench::new();
    insta::assert_snapshot!(messages(&bench.folder.path().join("no/such/raidlab.db")).replace("/folder", "…/no/such"), @"
    write: no folder `…/no/such` for the store: create it, or name another file with --store
    read:  no store at `…/no/such/raidlab.db`: `raidlab run STUDY --store FILE` creates one
    ");
}

#[test]
fn a_folder() {
    let bench = Bench::new();
    fs::create_dir(bench.path()).unwrap();
    insta::assert_snapshot!(messages(&bench.path()), @"
    write: `/folder/raidlab.db` is a folder: a store is a file
    read:  `/folder/raidlab.db` is a folder: a store is a file
    ");
}

#[test]
fn no_store_yet() {
    let bench = Bench::new();
    let error = Store::open_existing(&bench.path()).unwrap_err().to_string();
    insta::assert_snapshot!(error.replace(bench.folder.path().to_str().unwrap(), "/folder"), @"no store at `/folder/raidlab.db`: `raidlab run STUDY --store FILE` creates one");
    assert!(!bench.path().exists(), "looking for a store does not make one");
}

#[test]
fn not_a_database() {
    let bench = Bench::new();
    let text = "title = \"a study, not a store\"\n".repeat(100);
    fs::write(bench.path(), &text).unwrap();
    insta::assert_snapshot!(messages(&bench.path()), @"
    write: `/folder/raidlab.db` is not a database: name another file (the file was not changed)
    read:  `/folder/raidlab.db` is not a database: name another file (the file was not changed)
    ");
    assert_eq!(fs::read_to_string(bench.path()).unwrap(), text);
}

#[test]
fn somebody_elses_database() {
    let bench = Bench::new();
    Connection::open(bench.path())
        .unwrap()
        .execute_batch("CREATE TABLE photo (id INTEGER)")
        .unwrap();
    let before = fs::read(bench.path()).unwrap();
    insta::assert_snapshot!(messages(&bench.path()), @"
    write: `/folder/raidlab.db` is an SQLite database, but not one of raidlab's: name another file (the file was not changed)
    read:  `/folder/raidlab.db` is an SQLite database, but not one of raidlab's: name another file (the file was not changed)
    ");
    assert_eq!(fs::read(bench.path()).unwrap(), before);
}

#[test]
fn a_store_of_a_newer_raidlab() {
    let bench = Bench::new();
    drop(bench.open());
    Connection::open(bench.path())
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    insta::assert_snapshot!(messages(&bench.path()), @"
    write: `/folder/raidlab.db` was written by a newer raidlab (its schema is 99, this raidlab supports up to 10): update raidlab, or name another file
    read:  `/folder/raidlab.db` was written by a newer raidlab (its schema is 99, this raidlab supports up to 10): update raidlab, or name another file
    ");
}

/// A view with an endless recursion in the place of raidlab's hung every command; a trigger could change figures.
#[test]
fn issue_39_22_a_store_with_programs_of_others_is_refused() {
    for (programs, named) in [
        (
            "CREATE TRIGGER t AFTER INSERT ON sample BEGIN DELETE FROM sample; END",
            "trigger t",
        ),
        (
            "DROP VIEW latest_trial; CREATE VIEW latest_trial AS WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 \
             FROM r) SELECT n AS id FROM r",
            "view latest_trial",
        ),
        ("CREATE VIEW other AS SELECT 1", "view other"),
        // A store of 150 KB took all memory.
        (
            "ALTER TABLE guard ADD COLUMN long AS (printf('%.*c', 300000000, 'x'))",
            "table guard",
        ),
        (
            "ALTER TABLE guard ADD COLUMN more INT CHECK (length(printf('%.*c', 900000000, 'x')) > 0)",
            "table guard",
        ),
        (
            "CREATE INDEX slow ON sample (printf('%.*c', 300000000, value))",
            "index slow",
        ),
        (
            "DROP TABLE guard; CREATE VIRTUAL TABLE guard USING fts5 (trial_id, test, name, passed, detail)",
            "table guard",
        ),
    ] {
        let bench = Bench::new();
        drop(bench.open());
        Connection::open(bench.path()).unwrap().execute_batch(programs).unwrap();
        let said = messages(&bench.path());
        let expected = format!("is damaged (it has a {named} that no raidlab made)");
        assert_eq!(said.matches(&expected).count(), 2, "{said}");
    }
    let bench = Bench::new();
    drop(bench.open());
    let notes = "CREATE TABLE notes (text TEXT); CREATE INDEX of_notes ON notes (text); ANALYZE";
    Connection::open(bench.path()).unwrap().execute_batch(notes).unwrap();
    Store::open_existing(&bench.path()).expect("it does no harm");
}

/// `:memory:` and `file:…?mode=memory` are orders to SQLite: everything was lost at the end.
#[test]
fn issue_39_18_a_name_is_the_name_of_a_file() {
    let bench = Bench::new();
    for name in [":memory:", "file:a.db?mode=memory", "a?mode=memory", "100%41"] {
        let path = bench.folder.path().join(name);
        drop(Store::open(&path).unwrap());
        assert!(path.is_file(), "{name}");
    }
}

#[test]
fn a_run_that_another_raidlab_writes() {
    let bench = Bench::new();
    let (mut first, mut second) = (bench.open(), bench.open());
    let _run = first.open_run(&bench.spec()).unwrap();
    let message = second.open_run(&bench.spec()).unwrap_err().to_string();
    let message = message
        .replace(bench.folder.path().to_str().unwrap(), "/folder")
        .replace(&std::process::id().to_string(), "PID");
    insta::assert_snapshot!(message, @"run 1 in `/folder/raidlab.db` is being written by another raidlab (process PID): wait for it or stop it, or name another file with --store");
}

#[test]
fn a_store_that_another_program_locks() {
    let bench = Bench::new();
    let mut store = bench.open();
    let other = Connection::open(bench.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let message = store.open_run(&bench.spec()).unwrap_err().to_string();
    insta::assert_snapshot!(message.replace(bench.folder.path().to_str().unwrap(), "/folder"), @"`/folder/raidlab.db` is locked by another program: close it and try again");
}

/// On a real filesystem of 256 KiB, which only root can create.
#[test]
fn root_a_full_disk_keeps_what_was_done() {
    let bench = Bench::new();
    let mount = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
        .arg(bench.folder.path())
        .output();
    if !mount.as_ref().is_ok_and(|output| output.status.success()) {
        requirements::skip(format!("needs to mount a tmpfs, which only root may: {mount:?}"));
        return;
    }
    let _unmount = Unmount(bench.folder.path().to_owned());
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    bench.measure(&mut store, &run, 0, 0);
    let trial = store.begin_trial(&run, &bench.trial(0, 1), ORIGIN).unwrap();
    let error = (0..100_000)
        .find_map(|_| store.append(trial, &sample("read", 1.0)).err())
        .expect("it fills up");
    insta::assert_snapshot!(error.to_string().replace(bench.folder.path().to_str().unwrap(), "/folder"), @"no space left for the store `/folder/raidlab.db`: finished trials (1) are kept; free some space and run the same command to continue");
    let run_id = run.summary.id;
    drop((run, store));

    // SQLite's own file next to the store has no room either.
    let mut filler = fs::File::create(bench.folder.path().join("filler")).unwrap();
    while std::io::Write::write(&mut filler, &[1; 4096]).is_ok() {}
    let store = Store::open_existing(&bench.path()).expect("a full disk can be read");
    assert_eq!(store.samples(run_id).unwrap().len(), 2);
}

/// Read-only media: `raidlab report` with a store on a read-only mount.
#[test]
fn root_a_store_on_read_only_media_can_be_read() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    bench.measure(&mut store, &run, 0, 0);
    let run_id = run.summary.id;
    drop((run, store));
    let folder = bench.folder.path();
    let bind = std::process::Command::new("mount")
        .arg("--bind")
        .args([folder, folder])
        .status();
    if !bind.is_ok_and(|status| status.success()) {
        requirements::skip("needs a read-only bind mount, which only root may make");
        return;
    }
    let _unmount = Unmount(folder.to_owned());
    let status = std::process::Command::new("mount")
        .args(["-o", "remount,ro,bind"])
        .arg(folder)
        .status()
        .unwrap();
    assert!(status.success());
    let store = Store::open_existing(&bench.path()).expect("reading needs no writing");
    assert_eq!(store.samples(run_id).unwrap().len(), 2);
    let error = Store::open(&bench.path()).unwrap_err().to_string();
    insta::assert_snapshot!(error.replace(folder.to_str().unwrap(), "/folder"), @"cannot write `/folder/raidlab.db`: it or its folder is read-only for this user");
}

/// Two runs wrote one file with two logs, and spoiled it.
#[test]
fn issue_39_a_store_with_two_names_is_not_written() {
    let bench = Bench::new();
    drop(bench.open());
    let other = bench.folder.path().join("other.db");
    fs::hard_link(bench.path(), &other).unwrap();
    for path in [bench.path(), other.clone()] {
        let error = Store::open(&path).unwrap_err();
        assert!(
            matches!(error, store::StoreError::SeveralNames { names: 2, .. }),
            "{error}"
        );
        Store::open_existing(&path).expect("reading spoils nothing");
    }
    fs::remove_file(other).unwrap();
    Store::open(&bench.path()).expect("it has one name again");
}

/// Figures without those in the log were shown, and the exit status was 0.
#[test]
fn root_issue_39_a_log_on_read_only_media_is_not_passed_over_through_a_link() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    bench.measure(&mut store, &run, 0, 0);
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link.db");
    let folder = bench.folder.path();
    let (log, other) = (folder.join("other.db-wal"), folder.join("other.db"));
    fs::copy(folder.join("raidlab.db-wal"), &log).unwrap();
    fs::copy(bench.path(), &other).unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    drop((run, store));
    let mount = |options: &[&str], places: &[&Path]| {
        let status = std::process::Command::new("mount").args(options).args(places).status();
        status.is_ok_and(|status| status.success())
    };
    if !mount(&["--bind"], &[folder, folder]) {
        requirements::skip("needs a read-only bind mount, which only root may make");
        return;
    }
    let _unmount = Unmount(folder.to_owned());
    assert!(mount(&["-o", "remount,ro,bind"], &[folder]));
    for path in [&other, &link] {
        let error = Store::open_existing(path).unwrap_err();
        assert!(matches!(error, store::StoreError::PendingLog { .. }), "{error}");
    }
}

/// The message was that the store or its folder is read-only, and both were not.
#[test]
fn root_a_log_that_cannot_be_written_is_named_and_not_the_store() {
    let bench = Bench::new();
    let mut store = bench.open();
    let run = store.open_run(&bench.spec()).unwrap();
    bench.measure(&mut store, &run, 0, 0);
    // While a process has the store open, its log is there.
    let folder = bench.folder.path();
    let (log, other) = (folder.join("other.db-wal"), folder.join("other.db"));
    fs::copy(folder.join("raidlab.db-wal"), &log).unwrap();
    fs::copy(bench.path(), &other).unwrap();
    let mount = |options: &[&str], places: &[&Path]| {
        let status = std::process::Command::new("mount").args(options).args(places).status();
        status.is_ok_and(|status| status.success())
    };
    if !mount(&["--bind"], &[&log, &log]) {
        requirements::skip("needs a read-only bind mount, which only root may make");
        return;
    }
    let _unmount = Unmount(log.clone());
    assert!(mount(&["-o", "remount,ro,bind"], &[&log]));
    let error = Store::open(&other).unwrap_err().to_string();
    insta::assert_snapshot!(error.replace(folder.to_str().unwrap(), "/folder"), @"cannot write `/folder/other.db-wal`, which belongs to the store `/folder/other.db`: it is read-only for this user; its owner can change that");
}

struct Unmount(std::path::PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

/// A second run took the name silently, and `--run NAME` meant the last of them.
#[test]
fn two_runs_do_not_get_one_name_and_a_run_is_not_renamed_silently() {
    let bench = Bench::new();
    let mut store = bench.open();
    let first = store.open_run(&bench.spec()).unwrap();
    assert_eq!(store.name_run(&first, "a").unwrap(), None);
    assert_eq!(store.name_run(&first, "a").unwrap(), None, "it has the name");
    assert_eq!(store.name_run(&first, "b").unwrap(), Some("a".to_owned()));
    let spec = bench.spec();
    let named = store.all_or_nothing(|store| {
        let second = store.open_run(&store::RunSpec { seed: 1, ..spec })?;
        store.name_run(&second, "b")
    });
    let error = named.expect_err("run 1 has it").to_string();
    assert!(error.starts_with("`b` is the name of run 1 in `"), "{error}");
    assert_eq!(store.runs().unwrap().len(), 1, "no run is left behind");
}

/// A store that was deleted during a run ended with success and without its trials.
#[test]
fn issue_39_a_store_that_is_deleted_or_replaced_during_a_run_ends_it() {
    for is_replaced in [false, true] {
        let bench = Bench::new();
        let mut store = bench.open();
        let run = store.open_run(&bench.spec()).unwrap();
        bench.measure(&mut store, &run, 0, 0);
        fs::rename(bench.path(), bench.folder.path().join("moved.db")).unwrap();
        if is_replaced {
            fs::write(bench.path(), "").unwrap();
        }
        for error in [
            store.begin_trial(&run, &bench.trial(0, 1), ORIGIN).unwrap_err(),
            store.finish_run(&run, 1).unwrap_err(),
        ] {
            assert!(matches!(error, store::StoreError::Gone { .. }), "{error}");
        }
    }
}
