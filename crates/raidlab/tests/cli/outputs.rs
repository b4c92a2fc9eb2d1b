//! `-o FILE`: issue 12, item 1. No file with results, no study and no device is overwritten.

use crate::desk::{Desk, SMALL};
use crate::kept;
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::Stdio;

fn desk() -> Desk {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 2);
    desk
}

fn refused(desk: &Desk, arguments: &[&str], words: &str) {
    let ran = desk.run_without_touching(arguments);
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (Some(2), ""),
        "{arguments:?}: {}",
        ran.stderr
    );
    assert!(ran.stderr.contains(words), "{arguments:?}: {}", ran.stderr);
}

#[test]
fn issue_12_1_no_output_replaces_a_store() {
    let desk = desk();
    kept::store_with_samples(&desk, "other.db", 2);
    symlink("other.db", desk.folder().join("link")).expect("a link");
    fs::hard_link(desk.folder().join("raidlab.db"), desk.folder().join("report.html")).expect("a link");
    for output in ["raidlab.db", "other.db", "link", "report.html", "./raidlab.db"] {
        refused(&desk, &["report", "-o", output], "and is not overwritten");
        refused(&desk, &["export", "-o", output], "and is not overwritten");
    }
    refused(
        &desk,
        &["report", "-o", "raidlab.db-wal"],
        "belongs to the store `raidlab.db`",
    );
    refused(
        &desk,
        &["bench", "--only", "none", "-o", "raidlab.db"],
        "and is not overwritten",
    );
    let replay = [
        "disk",
        "replay",
        "seagate-ironwolf-12tb",
        "trace",
        "--html",
        "raidlab.db",
    ];
    refused(&desk, &replay, "and is not overwritten");
}

#[test]
fn issue_12_1_no_output_replaces_a_study() {
    let desk = desk();
    desk.write("small.toml", SMALL);
    desk.write("study", SMALL);
    desk.write("jobs.fio", "[global]\n");
    refused(&desk, &["report", "-o", "small.toml"], "is a TOML file");
    refused(&desk, &["report", "-o", "study"], "is a study, and is not overwritten");
    refused(&desk, &["export", "-o", "jobs.fio"], "is a fio job file");
}

#[test]
fn issue_12_1_a_device_is_written_into_and_never_replaced() {
    let desk = desk();
    symlink("/dev/null", desk.folder().join("null")).expect("a link");
    let ran = desk.run(&["report", "-o", "null"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(desk.folder().join("null").is_symlink());
    let null = fs::metadata("/dev/null").expect("it is there still");
    assert!(null.file_type().is_char_device());

    let whole = desk.run(&["report", "-o", "-"]).stdout;
    assert!(
        whole.ends_with("</html>\n") || whole.ends_with("</html>"),
        "{}",
        whole.len()
    );
    let to_stdout = desk.run(&["report", "-o", "/dev/stdout"]);
    assert_eq!(
        (to_stdout.exit, to_stdout.stdout == whole),
        (Some(0), true),
        "{}",
        to_stdout.stderr
    );
    assert!(fs::symlink_metadata("/dev/stdout").is_ok_and(|link| link.is_symlink()));

    // `raidlab report -o /dev/stdout > page.html` writes to the file that the shell opened.
    let page = fs::File::create(desk.folder().join("page.html")).expect("a file");
    let mut report = desk.raidlab(&["report", "-o", "/dev/stdout"]);
    let ended = report.stdout(Stdio::from(page)).status().expect("raidlab is run");
    assert!(ended.success());
    assert_eq!(
        fs::read_to_string(desk.folder().join("page.html")).expect("text"),
        whole
    );
}

#[test]
fn issue_12_1_a_dash_is_standard_output_and_no_file() {
    let desk = desk();
    let report = desk.run_without_touching(&["report", "-o", "-"]);
    assert_eq!((report.exit, report.stderr.as_str()), (Some(0), ""));
    assert!(report.stdout.contains("</html>"));
    let export = desk.run_without_touching(&["export", "-o", "-"]);
    assert_eq!(export.stdout, desk.run(&["export"]).stdout);
}

#[test]
fn an_output_replaces_what_was_written_before_and_follows_links() {
    let desk = desk();
    fs::create_dir(desk.folder().join("pages")).expect("a folder");
    symlink("pages/report.html", desk.folder().join("latest.html")).expect("a link");
    for _ in 0..2 {
        let ran = desk.run(&["report", "-o", "pages/report.html"]);
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        let ran = desk.run(&["report", "-o", "latest.html"]);
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        let ran = desk.run(&["export", "-o", "pages/export.json"]);
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(0), ""), "{}", ran.stderr);
    }
    assert!(desk.folder().join("latest.html").is_symlink());
    let page = fs::read_to_string(desk.folder().join("pages/report.html")).expect("the report");
    assert!(page.contains("</html>"));
    let export = fs::read_to_string(desk.folder().join("pages/export.json")).expect("the export");
    assert_eq!(export, desk.run(&["export"]).stdout);
}

/// `run --store` rejects a missing folder, and so does every other output.
#[test]
fn issue_12_1_no_output_makes_folders() {
    let desk = desk();
    for arguments in [
        &["report", "-o", "results/today/report.html"] as &[&str],
        &["export", "-o", "results/today/report.html"],
    ] {
        refused(
            &desk,
            arguments,
            "cannot write `results/today/report.html`: its folder does not exist; `mkdir -p results/today` creates it",
        );
    }
}

#[test]
fn issue_39_a_read_only_file_is_not_replaced() {
    let desk = desk();
    desk.write("report.html", "<p>kept</p>");
    let file = desk.folder().join("report.html");
    let mut permissions = fs::metadata(&file).expect("the file").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions).expect("it is the test's own");
    refused(
        &desk,
        &["report", "-o", "report.html"],
        "`report.html` is read-only, and is not replaced",
    );
    refused(
        &desk,
        &["export", "-o", "report.html"],
        "is read-only, and is not replaced",
    );
}

/// `ulimit -f` ended raidlab by a signal, and left its temporary file.
#[test]
fn issue_39_a_limit_on_the_size_of_files_is_an_error() {
    let desk = Desk::new();
    kept::store_with_samples(&desk, "raidlab.db", 2000);
    let script = "ulimit -f 40; exec \"$0\" export -o samples.json";
    let mut shell = desk.command("bash");
    let ended = shell
        .args(["-c", script, env!("CARGO_BIN_EXE_raidlab")])
        .output()
        .expect("bash is run");
    let words = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{words}");
    assert!(words.contains("cannot write `samples.json`"), "{words}");
    let left = fs::read_dir(desk.folder()).expect("the folder");
    let left: Vec<_> = left.map(|entry| entry.expect("an entry").file_name()).collect();
    assert!(
        !left.iter().any(|name| name.to_string_lossy().contains("samples")),
        "{left:?}"
    );
}

#[test]
fn issue_39_help_that_cannot_be_written_fails() {
    let desk = desk();
    for arguments in [&["--help"] as &[&str], &["--version"], &["run", "--help"]] {
        let full = fs::File::options().write(true).open("/dev/full").expect("a device");
        let ended = desk.raidlab(arguments).stdout(full).output().expect("raidlab is run");
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}");
    }
}
