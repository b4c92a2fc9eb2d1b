//! Watches the process of a trial: its output, whether it makes progress, and its exit.

use crate::device::sysfs;
use crate::observe::kernel_log::KernelLog;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trial::{Limits, ProcessEnd};

/// Interval between checks.
const TICK: Duration = Duration::from_millis(100);

/// Time that a killed process has to exit. A process that waits for a disk in the kernel does not exit.
const DYING: Duration = Duration::from_secs(10);

/// This program, even if its file was replaced.
const OURSELVES: &str = "/proc/self/exe";

/// Maximum length of a line; longer lines are truncated.
const LINE_BYTES_MAX: usize = 16 << 20;

/// Bytes of events read at once: more than a pipe holds.
const TAKEN_BYTES_MAX: u64 = 4 << 20;

/// Bytes of its standard error that are kept.
const ERRORS_BYTES_MAX: usize = 16 << 10;

/// A process that has ended.
#[derive(Debug)]
pub struct EndedProcess {
    pub end: ProcessEnd,
    pub wall: Duration,
    /// The end of its standard error.
    pub errors: String,
    /// Processes that did not exit.
    pub hung: Vec<HungProcess>,
}

/// A process that cannot be killed.
#[derive(Clone, Debug)]
pub struct HungProcess {
    /// Its number, its program, and the kernel function in which it waits.
    pub description: String,
    /// In state D: it waits for a device.
    pub waits_for_disk: bool,
}

impl fmt::Display for HungProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description)
    }
}

/// A running process and its pipes.
pub(crate) struct Running {
    child: Child,
    ended: OwnedFd,
    events: OwnedFd,
    console: OwnedFd,
    status: Option<ExitStatus>,
    partial: Vec<u8>,
    /// What it has written to standard output so far.
    output_bytes: u64,
    errors: Vec<u8>,
    /// Children that raidlab had before it.
    others: Vec<u32>,
}

impl Running {
    /// Starts this program again for a job on a ledger; these files are open in it under the same numbers.
    /// `handed_over` is called when it has the files and has not started the job.
    pub(crate) fn start(
        ledger: &impl AsFd,
        files: &[RawFd],
        job: &[u8],
        handed_over: &mut dyn FnMut(),
    ) -> io::Result<Running> {
        let ledger = ledger.as_fd().as_raw_fd();
        let files: Vec<RawFd> = files.iter().copied().chain([ledger]).collect();
        // Orphans of a killed process become children of raidlab, so that they are found without a control group.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        let others = children(std::process::id());
        let mut command = Command::new(OURSELVES);
        command
            .arg("host-job")
            .arg(ledger.to_string())
            .env_clear()
            .env("PATH", tools::SEARCH_PATH)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // The terminal's Ctrl-C is for the watching process only.
            .process_group(0);
        let parent = rustix::process::getpid();
        // SAFETY: between fork and exec only system calls are made.
        unsafe {
            command.pre_exec(move || {
                tools::die_with(parent, Signal::KILL)?;
                for &file in &files {
                    if libc::fcntl(file, libc::F_SETFD, 0) < 0 {
                        return Err(io::Error::last_os_error());
                    }
                }
                Ok(())
            });
        }
        let mut child = command.spawn()?;
        handed_over();
        let ended = rustix::process::pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        let events: OwnedFd = child.stdout.take().ok_or_else(no_pipe)?.into();
        let console: OwnedFd = child.stderr.take().ok_or_else(no_pipe)?.into();
        rustix::io::ioctl_fionbio(&events, true)?;
        rustix::io::ioctl_fionbio(&console, true)?;
        // If it dies before it has read all, its exit status says more than the broken pipe.
        let _ = child.stdin.take().ok_or_else(no_pipe)?.write_all(job);
        Ok(Running {
            child,
            ended,
            events,
            console,
            status: None,
            partial: Vec::new(),
            output_bytes: 0,
            errors: Vec::new(),
            others,
        })
    }

    /// Watches it until it exits. `line` gets each line of output and may add names of disks to watch in the kernel's
    /// log; `tick` is called ten times a second.
    pub(crate) fn watch(
        mut self,
        limits: &Limits,
        stop: Option<&AtomicBool>,
        log: &mut KernelLog,
        line: &mut dyn FnMut(&[u8], &mut Vec<String>),
        tick: &mut dyn FnMut(),
    ) -> EndedProcess {
        let began = Instant::now();
        let mut disks = Vec::new();
        let mut life = (Life::default(), Instant::now());
        let mut looked = Instant::now();
        let end = loop {
            let is_over = self.wait(TICK, &mut |text| line(text, &mut disks));
            tick();
            // Even if the trial ended: results from a failing disk do not count.
            if let Some(words) = log.failure_of(&disks) {
                break ProcessEnd::DiskFailed(words);
            }
            if let Some(status) = is_over {
                break match status.signal() {
                    Some(signal) => ProcessEnd::Died(format!("it was killed by signal {signal}")),
                    None if status.success() => ProcessEnd::Exited,
                    None => ProcessEnd::Died(format!("it exited with {}", status.code().unwrap_or_default())),
                };
            }
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                break ProcessEnd::Stopped;
            }
            if began.elapsed() > limits.wall {
                break ProcessEnd::TimedOut;
            }
            if self.output_bytes > limits.output_bytes {
                break ProcessEnd::OutputLimit;
            }
            if looked.elapsed() > limits.stall / 20 {
                looked = Instant::now();
                let now = Life::of(self.child.id(), &disks);
                if now != life.0 {
                    life = (now, looked);
                } else if life.1.elapsed() > limits.stall {
                    break ProcessEnd::Stalled;
                }
            }
        };
        let wall = began.elapsed();
        let hung = self.end(&mut |text| line(text, &mut disks));
        EndedProcess {
            end,
            wall,
            errors: String::from_utf8_lossy(&self.errors).into_owned(),
            hung,
        }
    }

    /// Waits for an event; returns the status once it has exited.
    fn wait(&mut self, timeout: Duration, line: &mut dyn FnMut(&[u8])) -> Option<ExitStatus> {
        let mut fds = [
            PollFd::new(&self.events, PollFlags::IN),
            PollFd::new(&self.console, PollFlags::IN),
            PollFd::new(&self.ended, PollFlags::IN),
        ];
        let timeout = Timespec::try_from(timeout).ok();
        let _ = rustix::event::poll(&mut fds, timeout.as_ref());
        // A closed pipe is always readable, and its process may live on for a moment.
        let closed = !fds[0].revents().is_empty() && !fds[0].revents().contains(PollFlags::IN);
        let is_over = fds[2].revents().contains(PollFlags::IN);
        if closed && !is_over {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.take_in(line);
        if is_over {
            self.status = self.child.wait().ok();
            self.take_in(line);
        }
        self.status
    }

    /// Reads its output so far.
    fn take_in(&mut self, line: &mut dyn FnMut(&[u8])) {
        let mut buffer = [0; 64 << 10];
        let before = self.output_bytes;
        // A process that writes without end must not block the other checks.
        while self.output_bytes - before < TAKEN_BYTES_MAX
            && let Ok(count @ 1..) = rustix::io::read(&self.events, &mut buffer)
        {
            self.output_bytes += count as u64;
            for &byte in &buffer[..count] {
                match byte {
                    b'\n' => line(&std::mem::take(&mut self.partial)),
                    _ if self.partial.len() < LINE_BYTES_MAX => self.partial.push(byte),
                    _ => {}
                }
            }
        }
        while let Ok(count @ 1..) = rustix::io::read(&self.console, &mut buffer) {
            self.errors.extend_from_slice(&buffer[..count]);
            let surplus = self.errors.len().saturating_sub(ERRORS_BYTES_MAX);
            self.errors.drain(..surplus);
        }
    }

    /// Kills it and all that it started; returns those that did not exit.
    fn end(&mut self, line: &mut dyn FnMut(&[u8])) -> Vec<HungProcess> {
        let mut family = descendants(self.child.id());
        if self.status.is_none() {
            let _ = rustix::process::kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let deadline = Instant::now() + DYING;
        loop {
            if self.status.is_none() {
                self.wait(TICK, line);
            }
            let orphans = self.orphans();
            for orphan in orphans.iter().filter(|orphan| orphan.is_alive()) {
                orphan.kill();
            }
            family.extend(orphans);
            let alive: BTreeMap<u32, &Process> = family
                .iter()
                .filter(|process| process.is_alive())
                .map(|process| (process.pid, process))
                .collect();
            // Killed ones are collected as well: until then they keep their PIDs.
            let is_over = self.status.is_some() && alive.is_empty() && self.orphans().is_empty();
            if is_over || Instant::now() > deadline {
                return alive.values().map(|process| process.hung()).collect();
            }
            if self.status.is_some() {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// Orphans that it left, now children of raidlab, with all their descendants.
    fn orphans(&self) -> Vec<Process> {
        let us = std::process::id();
        let ours = |pid: &u32| *pid != self.child.id() && !self.others.contains(pid);
        let orphans: Vec<u32> = children(us).into_iter().filter(ours).collect();
        for pid in orphans
            .iter()
            .filter_map(|&pid| Pid::from_raw(i32::try_from(pid).ok()?))
        {
            // If it has ended, its status must be collected.
            let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
        }
        orphans.into_iter().flat_map(descendants).collect()
    }
}

fn no_pipe() -> io::Error {
    io::Error::other("it was started without pipes")
}

/// Signs of progress: they change while anything is done.
#[derive(PartialEq, Eq, Default)]
struct Life {
    /// User and system time of its processes, in clock ticks.
    processor_ticks: u64,
    /// Requests done by its disks.
    disks: Vec<Option<String>>,
}

impl Life {
    fn of(pid: u32, disks: &[String]) -> Life {
        Life {
            processor_ticks: descendants(pid).iter().filter_map(Process::ticks).sum(),
            disks: disks.iter().map(|disk| requests_done(disk)).collect(),
        }
    }
}

/// The counters of completed reads, writes, discards and flushes of a disk.
fn requests_done(disk: &str) -> Option<String> {
    let line = sysfs::text(&Path::new("/sys/class/block").join(disk).join("stat"))?;
    let fields: Vec<&str> = line.split_whitespace().collect();
    let done: Vec<&str> = [0, 4, 11, 15]
        .iter()
        .filter_map(|&index| fields.get(index).copied())
        .collect();
    Some(done.join(" "))
}

/// A process and its start time: its PID may be reused.
struct Process {
    pid: u32,
    start: u64,
}

impl Process {
    fn at(pid: u32) -> Option<Process> {
        Some(Process {
            pid,
            start: stat(pid)?.get(19)?.parse().ok()?,
        })
    }

    fn ticks(&self) -> Option<u64> {
        let fields = stat(self.pid)?;
        // Its own, and those of children that it has waited for.
        [11, 12, 13, 14]
            .iter()
            .map(|&index| fields.get(index)?.parse::<u64>().ok())
            .sum()
    }

    fn kill(&self) {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }

    fn is_alive(&self) -> bool {
        Process::at(self.pid).is_some_and(|now| now.start == self.start) && !self.living_threads().is_empty()
    }

    /// Its threads that have not ended: the first may be gone while others wait in the kernel. For each its state and
    /// folder.
    fn living_threads(&self) -> Vec<(String, PathBuf)> {
        sysfs::entries(Path::new(&format!("/proc/{}/task", self.pid)))
            .into_iter()
            .filter_map(|thread| Some((fields(&thread.join("stat"))?.into_iter().next()?, thread)))
            .filter(|(state, _)| !matches!(state.as_str(), "Z" | "X"))
            .collect()
    }

    fn hung(&self) -> HungProcess {
        let name = sysfs::text(Path::new(&format!("/proc/{}/comm", self.pid))).unwrap_or_default();
        let threads = self.living_threads();
        let stuck = threads.iter().find(|(state, _)| state == "D").or(threads.first());
        let Some((state, thread)) = stuck else {
            return HungProcess {
                description: format!("process {} ({name})", self.pid),
                waits_for_disk: false,
            };
        };
        let place = sysfs::text(&thread.join("wchan")).filter(|place| place != "0");
        let place = place.map(|place| format!(", in {place}")).unwrap_or_default();
        HungProcess {
            description: format!("process {} ({name}, state {state}{place})", self.pid),
            waits_for_disk: state == "D",
        }
    }
}

/// The fields of /proc/PID/stat after the name, the state first.
fn stat(pid: u32) -> Option<Vec<String>> {
    fields(Path::new(&format!("/proc/{pid}/stat")))
}

fn fields(path: &Path) -> Option<Vec<String>> {
    let text = fs::read_to_string(path).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// Each process with its parent.
fn parents() -> Vec<(u32, u32)> {
    let mut parents = Vec::new();
    for entry in sysfs::entries(Path::new("/proc")) {
        let child = sysfs::name(&entry).parse::<u32>().ok();
        let parent = child.and_then(|child| stat(child)?.get(1)?.parse::<u32>().ok());
        parents.extend(child.zip(parent));
    }
    parents
}

fn children(pid: u32) -> Vec<u32> {
    let all = parents().into_iter();
    all.filter(|(_, parent)| *parent == pid)
        .map(|(child, _)| child)
        .collect()
}

/// A process and all its descendants.
fn descendants(pid: u32) -> Vec<Process> {
    let parents = parents();
    let mut family = vec![pid];
    let mut next = 0;
    while next < family.len() {
        let of_this = parents.iter().filter(|(_, parent)| *parent == family[next]);
        let children: Vec<u32> = of_this.map(|(child, _)| *child).collect();
        family.extend(children);
        next += 1;
    }
    family.into_iter().filter_map(Process::at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_again_and_its_family_found() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("started");
        let of_child = Process::at(child.id()).expect("alive");
        assert!(of_child.is_alive() && of_child.hung().description.contains("(sleep, state "));
        assert!(
            descendants(std::process::id())
                .iter()
                .any(|process| process.pid == child.id())
        );
        child.kill().expect("killed");
        assert!(!{
            std::thread::sleep(Duration::from_millis(100));
            of_child.is_alive()
        });
        child.wait().expect("ended");
        assert!(!of_child.is_alive());
    }
}
