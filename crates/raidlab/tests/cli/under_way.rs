//! raidlab while it runs.

use crate::desk::{Desk, Ran};
use crate::processes::{Process, guest_of};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than anything takes here.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// One is enough, unless the test gets no processor while a run of six trials has one.
const ATTEMPTS: u32 = 5;

/// A running raidlab.
pub struct UnderWay {
    child: Child,
    lines: Receiver<String>,
    seen: String,
}

impl UnderWay {
    pub fn start(desk: &Desk, arguments: &[&str]) -> UnderWay {
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

    /// One trial at a time, so that the order is known.
    pub fn run(desk: &Desk) -> UnderWay {
        UnderWay::start(desk, &["run", "small.toml", "--jobs", "1"])
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn wait_for_line(&mut self, part: &str) {
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

    /// The next guest. `None` if raidlab ended before there was one.
    pub fn guest(&mut self) -> Option<Process> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(guest) = guest_of(self.id()) {
                return Some(guest);
            }
            if self.child.try_wait().expect("it is ours").is_some() {
                return None;
            }
            assert!(Instant::now() < until, "no guest: {}", self.seen);
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// A run of the small study with at least one completed trial and the next guest stopped: nothing more is done
    /// until the guest is resumed, however fast the machine is.
    pub fn with_a_stopped_guest(desk: &Desk) -> (UnderWay, Process) {
        // If all trials are over before a guest is stopped, another run is begun.
        for _ in 0..ATTEMPTS {
            let mut raidlab = UnderWay::run(desk);
            raidlab.wait_for_line("1/6 ");
            while let Some(guest) = raidlab.guest() {
                if guest.stop() {
                    return (raidlab, guest);
                }
            }
            drop(raidlab);
            fs::remove_file(desk.folder().join("raidlab.db")).expect("it was written");
        }
        panic!("{ATTEMPTS} runs were over before a guest was stopped");
    }

    pub fn end(mut self) -> Ran {
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

/// Ends with the test, whatever happens.
impl Drop for UnderWay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
