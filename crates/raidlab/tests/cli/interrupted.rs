//! Interrupted runs: all measurements are kept, nothing is left behind, the same command resumes the run, and the
//! figures are those of an uninterrupted run.
//!
//! If a test needs a running trial, it stops the trial's guest, which then cannot end early on a fast machine.

use crate::desk::{Desk, SMALL};
use crate::lab;
use crate::processes::{assert_gone, descendants_of, signal};
use crate::under_way::{PATIENCE, UnderWay};
use rustix::process::Signal;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

fn trial_folders(desk: &Desk) -> Vec<String> {
    let entries = fs::read_dir(desk.cache().join("trials"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// The number before `words`: `3` in `3 trials done`.
fn number_before(text: &str, words: &str) -> u64 {
    let before = text.split(words).next().filter(|before| before.len() < text.len());
    let number = before
        .and_then(|before| before.split_whitespace().last())
        .and_then(|word| word.parse().ok());
    number.unwrap_or_else(|| panic!("no number before `{words}` in: {text}"))
}

/// Trials in the store that are done, of those that were begun. Lines of progress do not tell: they are at most one in ten
/// seconds.
fn done(desk: &Desk) -> u64 {
    let export = lab::export(desk);
    let trials = export["trials"].as_array().expect("a list");
    let done = trials.iter().filter(|trial| trial["status"] == "done").count();
    assert_eq!(trials.len() - done, 1, "the one under way is lost: {trials:#?}");
    done as u64
}

/// Repeats the previous command, which does the remaining ones of six trials.
fn resume(desk: &Desk, done: u64) {
    let ran = desk.run(&["run", "small.toml", "--jobs", "1"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(number_before(&ran.stdout, " trials done"), 6 - done, "{}", ran.stdout);
    assert_eq!(
        number_before(&ran.stdout, " were already in the store"),
        done,
        "{}",
        ran.stdout
    );
    assert_eq!(trial_folders(desk), [""; 0]);
    lab::assert_undisturbed(desk);
}

/// The trial under way, whose guest is stopped, would never end: raidlab does not wait for it.
fn ends_in_good_order(how: Signal) {
    let Some((desk, _slot)) = lab::desk() else { return };
    let (raidlab, _) = UnderWay::with_a_stopped_guest(&desk);
    let processes = descendants_of(raidlab.id());
    signal(raidlab.id(), how);
    let ran = raidlab.end();
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(130), ""), "{}", ran.stderr);
    let last = ran.stderr.lines().last().expect("it says something");
    let done = number_before(last, " trials done");
    assert!((1..6).contains(&done), "{last}");
    let words = "all measurements are kept; to continue: raidlab run small.toml --seed 1";
    assert!(last.ends_with(words), "{last}");
    assert_gone(&processes, PATIENCE);
    assert_eq!(trial_folders(&desk), [""; 0]);
    resume(&desk, done);
}

/// Whether this host can run the init of a guest in the process of the kernel (`kernel/driver/init_user.c`).
fn has_dispatch_and_fsgsbase() -> bool {
    let text = |path| fs::read_to_string(path).unwrap_or_default();
    let release = text("/proc/sys/kernel/osrelease");
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
    let mut parts = release.split('.');
    (number(parts.next()), number(parts.next())) >= (5, 11) && text("/proc/cpuinfo").contains(" fsgsbase ")
}

/// Otherwise the tests that compare both ways compare one with itself.
#[test]
fn lab_the_init_of_a_guest_runs_in_the_kernels_process() {
    if std::env::var_os("RAIDLAB_PTRACE").is_some() || !has_dispatch_and_fsgsbase() {
        requirements::skip("this takes Linux 5.11, a processor with FSGSBASE, and no RAIDLAB_PTRACE");
        return;
    }
    let Some((desk, _slot)) = lab::desk() else { return };
    let mut raidlab = UnderWay::run(&desk);
    let mut seen = false;
    while let (false, Some(guest)) = (seen, raidlab.guest()) {
        // The memory of the init's program. A process of its own would have it instead.
        let maps = fs::read_to_string(format!("/proc/{}/maps", guest.pid)).unwrap_or_default();
        seen = maps.contains("\n1000000000-");
    }
    assert!(seen, "no guest's kernel has the init's memory");
}

#[test]
fn lab_ctrl_c_stops_at_once_and_the_same_command_goes_on() {
    ends_in_good_order(Signal::INT);
}

#[test]
fn lab_a_termination_is_as_good_as_ctrl_c() {
    ends_in_good_order(Signal::TERM);
}

/// A long trial ends with raidlab, however raidlab ends.
fn ends_a_long_trial(how: Signal, exit: Option<i32>) {
    let Some((desk, _slot)) = lab::desk() else { return };
    desk.write(
        "long.toml",
        SMALL
            .replace("files = 20,", "files = 1000000,")
            .replace("1 GiB", "20 GiB"),
    );
    let mut raidlab = UnderWay::start(&desk, &["run", "long.toml", "--jobs", "2"]);
    let guest = raidlab.guest().expect("the trials take hours");
    // It has booted and writes files.
    let until = Instant::now() + PATIENCE;
    while guest.processor_time() < Duration::from_secs(1) {
        assert!(Instant::now() < until, "the guest does nothing");
        thread::sleep(Duration::from_millis(10));
    }
    let processes = descendants_of(raidlab.id());
    signal(raidlab.id(), how);
    assert_gone(&processes, PATIENCE);
    let ran = raidlab.end();
    assert_eq!(ran.exit, exit, "{}", ran.stderr);
    assert!(!ran.stderr.contains(" 1/6 "), "no trial had ended: {}", ran.stderr);
}

#[test]
fn lab_ctrl_c_does_not_wait_for_a_long_trial() {
    ends_a_long_trial(Signal::INT, Some(130));
}

#[test]
fn lab_no_guest_outlives_raidlab() {
    ends_a_long_trial(Signal::KILL, None);
}

#[test]
fn lab_a_killed_raidlab_loses_the_trial_under_way() {
    let Some((desk, _slot)) = lab::desk() else { return };
    let (raidlab, _) = UnderWay::with_a_stopped_guest(&desk);
    let processes = descendants_of(raidlab.id());
    signal(raidlab.id(), Signal::KILL);
    let ran = raidlab.end();
    assert_eq!(ran.exit, None);
    assert_gone(&processes, PATIENCE);
    let done = done(&desk);
    assert!((1..6).contains(&done), "{done} trials done: {}", ran.stderr);
    resume(&desk, done);
}

#[test]
fn lab_a_killed_guest_is_one_failed_trial() {
    let Some((desk, _slot)) = lab::desk() else { return };
    let (raidlab, guest) = UnderWay::with_a_stopped_guest(&desk);
    let processes = descendants_of(raidlab.id());
    signal(u32::try_from(guest.pid).expect("a process's number"), Signal::KILL);
    let ran = raidlab.end();
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("5 trials done, 1 failed; "), "{}", ran.stdout);
    let message = ran
        .stderr
        .lines()
        .find(|line| line.contains(" failed after "))
        .expect("it is reported");
    let words = "the guest was killed by signal 9, sent by a user or by the OOM killer; its console: ";
    assert!(message.contains(words), "{message}");
    assert_gone(&processes, PATIENCE);
    assert_eq!(trial_folders(&desk), [""; 0]);
    let shown = desk.run(&["show"]);
    assert!(shown.stdout.contains("failed"), "{}", shown.stdout);
    // Only the failed one is repeated.
    resume(&desk, 5);
}

#[test]
fn lab_a_second_raidlab_is_told_who_writes() {
    let Some((desk, _slot)) = lab::desk() else { return };
    let (first, guest) = UnderWay::with_a_stopped_guest(&desk);
    let second = desk.run(&["run", "small.toml"]);
    assert_eq!(
        (second.exit, second.stdout.as_str()),
        (Some(2), ""),
        "{}",
        second.stderr
    );
    let words = format!(
        "raidlab: run 1 in `raidlab.db` is being written by another raidlab (process {}): wait for it or stop it, or \
         name another file with --store\n",
        first.id()
    );
    assert_eq!(second.stderr, words);
    signal(u32::try_from(guest.pid).expect("a process's number"), Signal::CONT);
    let ran = first.end();
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    lab::assert_undisturbed(&desk);
}

/// Before there is a kernel there is nothing to keep, and nothing to wait for.
#[test]
fn lab_ctrl_c_while_a_kernel_is_built() {
    let Some((desk, _slot)) = lab::desk() else { return };
    fs::remove_file(desk.cache().join("kernels")).expect("a link of ours");
    let mut raidlab = UnderWay::run(&desk);
    raidlab.wait_for_line("raidlab: kernel 6.12: ");
    let until = Instant::now() + PATIENCE;
    while descendants_of(raidlab.id()).is_empty() {
        assert!(Instant::now() < until, "no program builds the kernel");
        thread::sleep(Duration::from_millis(2));
    }
    let processes = descendants_of(raidlab.id());
    signal(raidlab.id(), Signal::INT);
    let ran = raidlab.end();
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(130), ""), "{}", ran.stderr);
    let words = "raidlab: interrupted before the first trial; to continue: raidlab run small.toml --seed 1\n";
    assert!(ran.stderr.ends_with(words), "{}", ran.stderr);
    assert_gone(&processes, PATIENCE);
}
