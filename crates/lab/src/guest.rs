//! One guest: a User-Mode Linux process group that runs one job and ends.
//!
//! *Invariant*: however a guest ends, it leaves no process, socket or file. Its files have no names, and its processes
//! are one group that dies with the thread that started it.

mod contents;
mod crash_images;
mod files;
mod init;
mod kept_contents;
mod memory_file;
mod process;
pub mod programs;
mod root;
mod spare_memory;
pub mod trial_folder;

pub use crate::affinity::processors;
pub use contents::DiskContents;
pub use crash_images::{State, States};
pub use files::Heartbeat;
pub use init::Init;
pub use process::can_confine;
pub use root::Root;
pub use spare_memory::SpareMemory;

use files::Files;
use memory_file::duplicate;
use process::{Console, Process};
use spare_memory::Purpose;
use std::collections::VecDeque;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trial::{Limits, OUTPUT_BYTES_MAX, ProcessEnd};

/// Interval of wall time between two checks of the guest.
const TICK: Duration = Duration::from_millis(100);

/// Bytes of console output that are kept, at most.
const CONSOLE_BYTES: usize = 64 << 10;

/// Parameters of a guest.
pub struct Config<'a> {
    /// The kernel's executable.
    pub kernel: &'a Path,
    /// The guest's first program.
    pub init: &'a Init,
    /// The guest's root filesystem. Without it, this machine's own files, read-only: for shells and programs of tests.
    pub root: Option<&'a Root>,
    pub ram_bytes: u64,
    /// The only source of randomness.
    pub seed: u64,
    /// `disksim`'s description of the disks, in postcard's encoding.
    pub disks: &'a [u8],
    /// A [`crate::protocol::job::GuestJob`] and its files, from [`crate::protocol::job::encode`].
    pub job: &'a [u8],
    /// Contents of the disks beyond this size go to an unnamed file in `folder`. Ignored with `contents`.
    pub memory_budget_bytes: u64,
    /// Contents of the disks, kept from the previous guest for the next one. If absent, the disks contain zeros, and
    /// written data is lost with the guest.
    pub contents: Option<&'a DiskContents>,
    /// When the power is cut: the guest ends at once, and the data in the disks' volatile caches is lost, or in part.
    pub power_cut: Option<PowerCut>,
    /// States of the disks after power cuts, instead of `contents` and `power_cut`.
    pub states: Option<StatesUse<'a>>,
    /// Memory of ended guests, which it may use.
    pub spare: &'a SpareMemory,
    /// The trial's own folder.
    pub folder: &'a Path,
    /// File in which every request of every disk is recorded, if tracing is on.
    pub trace: Option<&'a std::fs::File>,
    /// The processor that all of the guest's processes run on. They switch with every system call, which costs several
    /// times as much between two processors.
    pub processor: Option<usize>,
    /// Additional arguments for the kernel's command line; later ones win.
    pub kernel_arguments: &'a [String],
    pub limits: Limits,
}

/// How a guest uses states of the disks.
#[derive(Clone, Copy, Debug)]
pub enum StatesUse<'a> {
    /// It stores the state at each power cut, in order of time, and continues.
    Keep(&'a States, &'a [PowerCut]),
    /// Its init loads one state after another. Its writes change none of them.
    Take(&'a States),
}

/// A power cut of the machine and all its disks. Requests that are not complete are not on the disks; of the data in
/// their volatile caches, each sector keeps one of the versions that it had since the last flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerCut {
    /// Virtual time since the kernel started.
    pub at_ns: u64,
    /// Decides what survives in the caches.
    pub seed: u64,
}

/// Default limits of a guest.
pub const LIMITS: Limits = Limits {
    stall: Duration::from_secs(60),
    wall: Duration::from_secs(4 * 3600),
    output_bytes: OUTPUT_BYTES_MAX,
};

/// A guest that has ended.
#[derive(Clone, Debug)]
pub struct EndedGuest {
    pub end: ProcessEnd,
    /// The end of its console output.
    pub console: String,
    pub wall: Duration,
    pub heartbeat: Heartbeat,
}

/// Why a guest could not be started.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {error}")]
pub struct StartError {
    pub what: &'static str,
    pub error: io::Error,
}

/// Number of the file of a guest's RAM, in the guest (`kernel/driver/raidlab.h`).
const RAM: i32 = 113;

fn starting(what: &'static str) -> impl FnOnce(io::Error) -> StartError {
    move |error| StartError { what, error }
}

/// Runs a guest to its end. `line` gets each line that its init writes, `tick` is called ten times a second.
pub fn run(
    config: &Config<'_>,
    stop: &AtomicBool,
    line: &mut dyn FnMut(&[u8]),
    tick: &mut dyn FnMut(Heartbeat),
) -> Result<EndedGuest, StartError> {
    let start = Instant::now();
    let (files, mut ends, console_end) = Files::create(config)?;
    let ram = config.spare.take(Purpose::Ram, process::ram_kib(config) << 10)?;
    ends.push((RAM, duplicate(&ram)?));
    let mut process = Process::start(config, ends, Console::Kept(console_end))?;
    let mut console = Tail::default();
    let (mut lines, mut said) = (Lines::default(), 0);
    let mut last = (files.heartbeat(), Instant::now());
    let (mut ticked, mut is_disk_short) = (None, false);
    let end = loop {
        let mut hear = |bytes: &[u8]| {
            said += bytes.len() as u64;
            lines.feed(bytes, line);
        };
        let ended = process.wait(&files, TICK, &mut hear, &mut |bytes| console.feed(bytes));
        let heartbeat = files.heartbeat();
        if ended.is_some() || ticked.is_none_or(|at: Instant| at.elapsed() >= TICK) {
            ticked = Some(Instant::now());
            is_disk_short = files.is_disk_short();
            tick(heartbeat);
        }
        if heartbeat.virtual_ns != last.0.virtual_ns {
            last = (heartbeat, Instant::now());
        }
        if heartbeat.no_room || (is_disk_short && ended.is_none()) {
            // The guest sees only I/O errors, and may not even notice them.
            break ProcessEnd::NoSpace;
        } else if let Some(status) = ended {
            break ending(status);
        } else if stop.load(Ordering::Relaxed) {
            break ProcessEnd::Stopped;
        } else if last.1.elapsed() > config.limits.stall {
            break ProcessEnd::Stalled;
        } else if start.elapsed() > config.limits.wall {
            break ProcessEnd::TimedOut;
        } else if said > config.limits.output_bytes {
            break ProcessEnd::OutputLimit;
        }
    };
    process.kill();
    // That of a guest that was killed, maybe because the host lacks memory, goes back to the host.
    if !matches!(end, ProcessEnd::Exited) || !process.is_gone() {
        ram.free();
    }
    Ok(EndedGuest {
        end,
        console: console.text(),
        wall: start.elapsed(),
        heartbeat: files.heartbeat(),
    })
}

fn ending(status: ExitStatus) -> ProcessEnd {
    match status.signal() {
        Some(signal @ (libc::SIGKILL | libc::SIGTERM | libc::SIGINT | libc::SIGHUP)) => ProcessEnd::Killed(signal),
        _ if status.success() => ProcessEnd::Exited,
        _ => ProcessEnd::Died(status.to_string()),
    }
}

/// Runs a guest with the user's terminal as its console. `line` gets each line that its init writes.
pub fn interact(config: &Config<'_>, line: &mut dyn FnMut(&[u8])) -> Result<(), StartError> {
    let (files, ends, _) = Files::create(config)?;
    // The guest's kernel sets raw mode and does not restore the terminal when it is killed.
    let terminal = rustix::termios::tcgetattr(io::stdin()).ok();
    let mut process = Process::start(config, ends, Console::Users)?;
    let mut lines = Lines::default();
    while process
        .wait(&files, TICK, &mut |bytes| lines.feed(bytes, line), &mut |_| {})
        .is_none()
    {}
    if let Some(terminal) = terminal {
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Drain, &terminal);
    }
    Ok(())
}

/// Splits output into lines. Long lines are truncated, so that a misbehaving guest cannot exhaust the memory.
#[derive(Default)]
struct Lines {
    partial: Vec<u8>,
}

impl Lines {
    const BYTES_MAX: usize = 16 << 20;

    fn feed(&mut self, bytes: &[u8], line: &mut dyn FnMut(&[u8])) {
        for &byte in bytes {
            if byte == b'\n' {
                line(&self.partial);
                self.partial.clear();
            } else if self.partial.len() < Self::BYTES_MAX {
                self.partial.push(byte);
            }
        }
    }
}

/// The end of the console output.
#[derive(Default)]
struct Tail {
    bytes: VecDeque<u8>,
}

impl Tail {
    fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let surplus = self.bytes.len().saturating_sub(CONSOLE_BYTES);
        self.bytes.drain(..surplus);
    }

    fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        String::from_utf8_lossy(&bytes).replace('\r', "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole() {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        for part in [&b"one\ntw"[..], b"o\n", b"rest"] {
            lines.feed(part, &mut |line| seen.push(line.to_vec()));
        }
        assert_eq!(seen, [b"one".to_vec(), b"two".to_vec()]);
    }

    #[test]
    fn the_console_keeps_its_end() {
        let mut tail = Tail::default();
        tail.feed(&vec![b'a'; CONSOLE_BYTES]);
        tail.feed(b"end\r\n");
        assert!(tail.text().ends_with("aaend\n"));
        assert!(tail.text().len() <= CONSOLE_BYTES);
    }
}
