//! `raidlab shell` without a terminal: issue 12, item 12. It hung, and an exit status was lost.

use crate::desk::{Desk, PROGRAM, Ran};
use crate::lab;
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

fn with_input(desk: &Desk, arguments: &[&str], input: &str) -> Ran {
    let mut raidlab = desk.raidlab(arguments);
    let mut child = raidlab.stdin(Stdio::piped()).spawn().expect("raidlab starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("it is read");
    drop(stdin);
    Ran::from(child.wait_with_output().expect("it ends"))
}

#[test]
fn lab_issue_12_12_a_script_on_standard_input_is_run() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let script = "echo to out; echo to err >&2\nfindmnt --noheadings --output FSTYPE .\nexit 3\n";
    let ran = with_input(&desk, &["shell", "small.toml"], script);
    assert_eq!(
        (ran.exit, ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(3), "to out\next2\n", "to err\n")
    );
    let second = with_input(
        &desk,
        &["shell", "small.toml", "--cell", "2"],
        "findmnt -n -o FSTYPE .\n",
    );
    assert_eq!(
        (second.exit, second.stdout.as_str()),
        (Some(0), "ext4\n"),
        "{}",
        second.stderr
    );
}

#[test]
fn lab_issue_12_12_nothing_on_standard_input_ends_at_once() {
    let Some((desk, _turn)) = lab::desk() else { return };
    // `</dev/null`
    let ran = desk.run(&["shell", "small.toml"]);
    assert_eq!((ran.exit, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn lab_issue_12_12_a_command_gives_its_output_and_status() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let run = |command: &[&str]| desk.run(&[&["shell", "small.toml", "--"], command].concat());
    let ran = run(&["sh", "-c", "echo \"$1\"; exit 7", "sh", "two words"]);
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (Some(7), "two words\n"),
        "{}",
        ran.stderr
    );
    let ran = run(&["sh", "-c", "kill -KILL $$"]);
    assert_eq!(ran.exit, Some(137), "{}", ran.stderr);
    let ran = run(&["no-such-program"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(127), ""));
    assert!(ran.stderr.contains("no-such-program"), "{}", ran.stderr);
    // More than a pipe holds, of bytes that are not text.
    let ran = run(&[
        "sh",
        "-c",
        "head -c 300000 /dev/zero | tr '\\0' x; cat /proc/mdstat >&2",
    ]);
    assert_eq!((ran.exit, ran.stdout.len()), (Some(0), 300_000));
    assert!(ran.stderr.contains("raid1"), "{}", ran.stderr);
}

/// On a terminal, the guest's console is the terminal; the exit status was always 0.
#[test]
fn lab_issue_12_12_the_status_of_a_shell_at_a_terminal_is_that_of_raidlab() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let command = format!("{PROGRAM} shell small.toml");
    let mut script = desk.command("script");
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    let mut child = match script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => return requirements::skip(format!("no terminal to try it on: script: {error}")),
    };
    let (mut stdin, mut stdout) = (
        child.stdin.take().expect("a pipe"),
        child.stdout.take().expect("a pipe"),
    );
    let seen = Arc::new(Mutex::new(String::new()));
    let sees = seen.clone();
    let reader = thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Some(count) = stdout.read(&mut bytes).ok().filter(|count| *count > 0) {
            *sees.lock().expect("no panic") += &String::from_utf8_lossy(&bytes[..count]);
        }
    });
    let text = || seen.lock().expect("no panic").clone();
    let until = Instant::now() + Duration::from_secs(300);
    // Input before the guest has set up its console is lost, and the shell may ask for it before that: it is typed again.
    let again = Duration::from_secs(5);
    let mut typed: Option<Instant> = None;
    let status = loop {
        if typed.is_none_or(|at| at.elapsed() > again) && text().contains("guest# ") {
            // It may have ended meanwhile.
            let _ = stdin.write_all(b"exit 3\n");
            typed = Some(Instant::now());
        }
        if let Some(status) = child.try_wait().expect("it is ours") {
            break status;
        }
        if Instant::now() > until {
            child.kill().expect("it is ours");
            panic!("the shell does not end: {}", text());
        }
        thread::sleep(Duration::from_millis(20));
    };
    reader.join().expect("it reads to the end");
    assert_eq!(status.code(), Some(3), "{}", text());
}
