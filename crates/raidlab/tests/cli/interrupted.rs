//! Runs that do not come to their end by themselves: what was measured is kept, nothing is left, the same command
//! goes on, and the figures are those of a run that nobody disturbed.

use crate::desk::{Desk, Ran, SMALL};
use crate::lab;
use crate::processes::{Process, assert_gone, descendants_of, guest_of, signal};
use rustix::process::Signal;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(60);

/// raidlab under way.
struct UnderWay {
    child: Child,
    lines: Receiver<String>,
    seen: String,
}

impl UnderWay {
    fn start(desk: &Desk, arguments: &[&str]) -> UnderWay {
        let mut raidlab = desk.raidlab(arguments);
        let mut child = raidlab
            .process_group(0)
            .stderr(Stdio::piped())
            .spawn()
            .expect("raidlab starts");
        let stderr = BufReader::new(child.stderr.take().expect("it is a pipe"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            stderr
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        UnderWay {
            child,
            lines,
            seen: String::new(),
        }
    }

    /// One trial at a time, so that what is done when is known.
    fn run(desk: &Desk) -> UnderWay {
        UnderWay::start(desk, &["run", "small.toml", "--jobs", "1"])
    }

    fn id(&self) -> u32 {
        self.child.id()
    }

    fn wait_for_line(&mut self, part: &str) {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("no line has `{part}`: {}", self.seen));
            self.seen.push_str(&line);
            self.seen.push('\n');
            if line.contains(part) {
                return;
            }
        }
    }

    fn wait_for_guest(&self) -> Process {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(guest) = guest_of(self.id()) {
                return guest;
            }
            assert!(Instant::now() < until, "no guest: {}", self.seen);
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn end(mut self) -> Ran {
        let mut stdout = String::new();
        self.child
            .stdout
            .take()
            .expect("it is a pipe")
            .read_to_string(&mut stdout)
            .expect("raidlab says text");
        let status = self.child.wait().expect("it ends");
        self.seen.extend(self.lines.iter().map(|line| line + "\n"));
        Ran {
            exit: status.code(),
            stdout,
            stderr: std::mem::take(&mut self.seen),
        }
    }
}

/// Ends with the test, whatever becomes of it.
impl Drop for UnderWay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn trial_folders(desk: &Desk) -> Vec<String> {
    let entries = fs::read_dir(desk.cache().join("trials"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// The number before `words`: `3` of `3 trials done`.
fn number_before(text: &str, words: &str) -> u64 {
    let before = text.split(words).next().filter(|before| before.len() < text.len());
    let number = before
        .and_then(|before| before.split_whitespace().last())
        .and_then(|word| word.parse().ok());
    number.unwrap_or_else(|| panic!("no number before `{words}` in: {text}"))
}

/// The command that went before is given again, and does what is left of six trials.
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

fn ends_in_good_order(how: Signal) {
    let Some((desk, _turn)) = lab::desk() else { return };
    let mut raidlab = UnderWay::run(&desk);
    raidlab.wait_for_line("1/6 ");
    raidlab.wait_for_guest();
    let processes = descendants_of(raidlab.id());
    let began = Instant::now();
    signal(raidlab.id(), how);
    let ran = raidlab.end();
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(130), ""), "{}", ran.stderr);
    let last = ran.stderr.lines().last().expect("it says something");
    let done = number_before(last, " trials done");
    assert!((1..6).contains(&done), "{last}");
    let words = "all measurements are kept; to continue: raidlab run small.toml --seed 1";
    assert!(last.ends_with(words), "{last}");
    assert_gone(&processes, Duration::from_millis(100));
    assert_eq!(trial_folders(&desk), [""; 0]);
    resume(&desk, done);
}

#[test]
fn lab_ctrl_c_stops_at_once_and_the_same_command_goes_on() {
    ends_in_good_order(Signal::INT);
}

#[test]
fn lab_a_termination_is_as_good_as_ctrl_c() {
    ends_in_good_order(Signal::TERM);
}

/// A trial that would go on for long ends with raidlab, however raidlab ends.
fn ends_a_long_trial(how: Signal, exit: Option<i32>) {
    let Some((desk, _turn)) = lab::desk() else { return };
    desk.write(
        "long.toml",
        SMALL
            .replace("files = 20,", "files = 1000000,")
            .replace("1 GiB", "20 GiB"),
    );
    let raidlab = UnderWay::start(&desk, &["run", "long.toml", "--jobs", "2"]);
    raidlab.wait_for_guest();
    thread::sleep(Duration::from_secs(2));
    let processes = descendants_of(raidlab.id());
    signal(raidlab.id(), how);
    assert_gone(&processes, Duration::from_secs(2));
    let ran = raidlab.end();
    assert_eq!(ran.exit, exit, "{}", ran.stderr);
    assert!(
        !ran.stderr.contains("/6 "),
        "no trial had come to its end: {}",
        ran.stderr
    );
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
    let Some((desk, _turn)) = lab::desk() else { return };
    let mut raidlab = UnderWay::run(&desk);
    raidlab.wait_for_line("1/6 ");
    raidlab.wait_for_guest();
    // In the midst of the trial.
    thread::sleep(Duration::from_millis(100));
    let processes = descendants_of(raidlab.id());
    signal(raidlab.id(), Signal::KILL);
    let ran = raidlab.end();
    assert_eq!(ran.exit, None);
    assert_gone(&processes, Duration::from_secs(2));
    let done = ran.stderr.lines().filter(|line| line.contains("/6 ")).count();
    resume(&desk, done as u64);
}

#[test]
fn lab_a_killed_guest_is_one_failed_trial() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let mut raidlab = UnderWay::run(&desk);
    raidlab.wait_for_line("1/6 ");
    let guest = raidlab.wait_for_guest();
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
    assert_gone(&processes, Duration::from_secs(2));
    assert_eq!(trial_folders(&desk), [""; 0]);
    let shown = desk.run(&["show"]);
    assert!(shown.stdout.contains("failed"), "{}", shown.stdout);
    // The failed one is tried again, and no other.
    resume(&desk, 5);
}

#[test]
fn lab_a_second_raidlab_is_told_who_writes() {
    let Some((desk, _turn)) = lab::desk() else { return };
    let mut first = UnderWay::run(&desk);
    first.wait_for_line("1/6 ");
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
    let ran = first.end();
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    lab::assert_undisturbed(&desk);
}

/// Before there is a kernel there is nothing to keep, and nothing to wait for.
#[test]
fn lab_ctrl_c_while_a_kernel_is_built() {
    let Some((desk, _turn)) = lab::desk() else { return };
    fs::remove_file(desk.cache().join("kernels")).expect("a link of ours");
    let mut raidlab = UnderWay::run(&desk);
    raidlab.wait_for_line("raidlab: kernel 6.12: ");
    let until = Instant::now() + PATIENCE;
    while descendants_of(raidlab.id()).is_empty() {
        assert!(Instant::now() < until, "no program builds the kernel");
        thread::sleep(Duration::from_millis(2));
    }
    let processes = descendants_of(raidlab.id());
    let began = Instant::now();
    signal(raidlab.id(), Signal::INT);
    let ran = raidlab.end();
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(130), ""), "{}", ran.stderr);
    let words = "raidlab: interrupted before the first trial; to continue: raidlab run small.toml --seed 1\n";
    assert!(ran.stderr.ends_with(words), "{}", ran.stderr);
    assert_gone(&processes, Duration::from_secs(2));
}
