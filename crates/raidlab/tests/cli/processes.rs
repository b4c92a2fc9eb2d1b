//! Finds processes in /proc by their parent, never by their name.

use rustix::process::{Pid, Signal};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// A process; its PID may be reused later, but not with the same start time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    parent: i32,
    group: i32,
    started: u64,
}

/// Unit of processor time in /proc.
const TICK: Duration = Duration::from_millis(10);

impl Process {
    /// Stops it; false if it has ended.
    pub fn stop(&self) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return false;
        };
        if rustix::process::kill_process(pid, Signal::STOP).is_err() {
            return false;
        }
        loop {
            match (read(self.pid), state(self.pid)) {
                (Some(now), Some('T')) => return now.started == self.started,
                (None, _) | (_, None) => return false,
                _ => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    /// Processor time that it used.
    pub fn processor_time(&self) -> Duration {
        let fields = fields(self.pid).unwrap_or_default();
        let ticks = fields.iter().skip(11).take(2);
        TICK * ticks.filter_map(|field| field.parse::<u32>().ok()).sum::<u32>()
    }
}

/// The fields of /proc/PID/stat, from the state on. The name before that, in parentheses, may contain anything.
fn fields(pid: i32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

fn state(pid: i32) -> Option<char> {
    fields(pid)?.first()?.chars().next()
}

fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("Linux has it").flatten();
    entries
        .filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// `None` if it does not exist, or has exited and was not reaped yet.
pub fn read(pid: i32) -> Option<Process> {
    let fields = fields(pid)?;
    let is_dead = matches!(fields[0].as_str(), "Z" | "X");
    let (parent, group, started) = (
        fields[1].parse().ok()?,
        fields[2].parse().ok()?,
        fields[19].parse().ok()?,
    );
    (!is_dead).then_some(Process {
        pid,
        parent,
        group,
        started,
    })
}

/// Whether it runs: a zombie does not.
pub fn is_alive(pid: i32) -> bool {
    read(pid).is_some()
}

/// The guest of this raidlab: a child that leads its own group and has become a kernel.
pub fn guest_of(raidlab: u32) -> Option<Process> {
    let is_kernel = |pid: i32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe.ends_with("linux"));
    let raidlab = i32::try_from(raidlab).expect("a process's number");
    all()
        .into_iter()
        .find(|other| other.parent == raidlab && other.group == other.pid && is_kernel(other.pid))
}

/// All descendants of a process, by parent or by group.
pub fn descendants_of(pid: u32) -> Vec<Process> {
    let all = all();
    let mut found: Vec<i32> = vec![i32::try_from(pid).expect("a process's number")];
    loop {
        let more: Vec<i32> = all
            .iter()
            .filter(|other| found.contains(&other.parent) || found.contains(&other.group))
            .map(|other| other.pid)
            .filter(|pid| !found.contains(pid))
            .collect();
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    all.into_iter()
        .filter(|process| found[1..].contains(&process.pid))
        .collect()
}

/// Waits until none of them exists.
pub fn assert_gone(processes: &[Process], within: Duration) {
    assert!(!processes.is_empty(), "there was something to go");
    let until = Instant::now() + within;
    loop {
        let left: Vec<&Process> = processes
            .iter()
            .filter(|old| read(old.pid).is_some_and(|now| now.started == old.started))
            .collect();
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < until, "left running: {left:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

pub fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process's number");
    rustix::process::kill_process(pid, signal).expect("a process that we started");
}
