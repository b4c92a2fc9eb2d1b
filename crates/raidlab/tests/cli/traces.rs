//! `--trace` and `raidlab trace`: issue 12, item 13. A trace was a binary that no tool could read.

use crate::desk::Desk;
use crate::lab;
use std::fs;
use std::process::Command;

/// Two requests of the first disk and one of the second.
fn trace() -> Vec<u8> {
    let record = |submit_ns: u64, complete_ns: u64, sector: u64, sectors: u32, last: [u8; 4]| {
        let words = [submit_ns, complete_ns, sector].map(u64::to_le_bytes).concat();
        [words, sectors.to_le_bytes().to_vec(), last.to_vec()].concat()
    };
    [
        record(1_000_000_000, 1_000_900_000, 2048, 8, [0, 1, 1, 0]),
        record(1_001_000_000, 1_004_000_000, 0, 256, [1, 0, 0, 0]),
        record(1_002_000_000, 1_006_000_000, 0, 0, [0, 2, 0, 0]),
    ]
    .concat()
}

#[test]
fn issue_12_13_a_trace_is_shown_and_exported() {
    let desk = Desk::new();
    desk.write("x.trace", trace());
    desk.write("text", "no trace\n");
    insta::assert_snapshot!(desk.transcript(&[
        &["trace", "show", "x.trace"],
        &["trace", "export", "x.trace", "--format", "fio", "--disk", "0"],
        &["trace", "export", "x.trace", "--format", "csv"],
        &["trace", "show", "x.trace", "--disk", "7"],
        &["trace", "show", "text"],
        &["trace", "show", "none"],
        &["trace", "export", "x.trace"],
    ]));
    let to_file = desk.run(&["trace", "export", "x.trace", "--format", "blkparse", "-o", "x.txt"]);
    assert_eq!(
        (to_file.exit, to_file.stdout.as_str()),
        (Some(0), ""),
        "{}",
        to_file.stderr
    );
    let text = fs::read_to_string(desk.folder().join("x.txt")).expect("it was written");
    assert_eq!(text, desk.run(&["trace", "show", "x.trace"]).stdout);
}

/// fio itself decides whether it is an iolog.
#[test]
fn issue_12_13_fio_replays_what_is_exported() {
    let desk = Desk::new();
    desk.write("x.trace", trace());
    let export = [
        "trace", "export", "x.trace", "--format", "fio", "--disk", "0", "-o", "x.iolog",
    ];
    assert_eq!(desk.run(&export).exit, Some(0));
    desk.write("disk", vec![0; 2 << 20]);
    let replay = desk
        .command("fio")
        .args([
            "--name=replay",
            "--read_iolog=x.iolog",
            "--replay_redirect=disk",
            "--output-format=json",
        ])
        .output();
    let output = match replay {
        Ok(output) => output,
        Err(error) => return requirements::skip(format!("fio is not installed: {error}")),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json: serde_json::Value = serde_json::from_str(&text[text.find('{').expect("JSON")..]).expect("JSON");
    let job = &json["jobs"][0];
    assert_eq!(
        (job["write"]["io_bytes"].as_u64(), job["read"]["io_bytes"].as_u64()),
        (Some(4096), Some(0)),
        "{text}"
    );
}

#[test]
fn lab_issue_12_13_what_a_run_traced_can_be_shown() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let ran = desk.run(&["run", "small.toml", "--only", "type=ext2", "--trace", "traces"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let files: Vec<_> = fs::read_dir(desk.folder().join("traces"))
        .expect("they are there")
        .flatten()
        .collect();
    assert_eq!(files.len(), 3, "one a trial: {files:?}");
    let path = files[0].path();
    let show = desk.run(&["trace", "show", path.to_str().expect("UTF-8")]);
    assert_eq!(show.exit, Some(0), "{}", show.stderr);
    let count = |action: &str| {
        show.stdout
            .lines()
            .filter(|line| line.split_whitespace().nth(5) == Some(action))
            .count()
    };
    assert!(
        count("D") > 20 && count("D") == count("C"),
        "{} {}",
        count("D"),
        count("C")
    );
    let is_disk = |line: &str| line.starts_with("  0,0 ") || line.starts_with("  0,16 ");
    assert!(show.stdout.lines().all(is_disk), "two disks");
    // `raidlab trace show x.trace | head -1`
    let head = format!("{} trace show {} | head -1", crate::desk::PROGRAM, path.display());
    let mut shell: Command = desk.command("bash");
    let output = shell
        .args(["-o", "pipefail", "-c", &head])
        .output()
        .expect("bash is there");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
