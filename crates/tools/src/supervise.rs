//! Waits for a program and its output in one poll(2): no threads, no busy loop, no deadlock between the two streams.

use crate::capture::Capture;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Grace period after each of SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(3);

/// How a program ended.
#[derive(Debug)]
pub(crate) enum Ended {
    Exited(i32),
    Signalled(i32),
    TimedOut {
        left_running: bool,
    },
    Cancelled,
    /// It could not be started or waited for.
    Lost(io::Error),
}

pub(crate) struct Limits<'a> {
    pub(crate) deadline: Instant,
    pub(crate) output_bytes_max: usize,
    pub(crate) cancel: Option<&'a OwnedFd>,
}

/// Makes the program the leader of a process group, so that it can be killed with all its children and does not
/// receive the terminal's Ctrl-C. It is killed when raidlab dies.
pub(crate) fn in_a_group_of_its_own(command: &mut Command) {
    command.process_group(0);
    if is_first_process() {
        return;
    }
    let parent = rustix::process::getpid();
    // SAFETY: the closure runs between fork and exec and only makes two system calls.
    unsafe {
        command.pre_exec(move || die_with(parent, Signal::KILL));
    }
}

/// From now on programs that end are waited for, also where the parent of this process ignores SIGCHLD: then the kernel would
/// discard how they ended.
pub fn wait_for_programs() {
    // SAFETY: the default handler.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// For a child between fork and exec: the kernel sends it this signal when the thread that started it ends. Makes
/// only two system calls.
///
/// # Errors
/// `Interrupted` if the parent has already ended: no signal would be sent.
pub fn die_with(parent: Pid, signal: Signal) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(signal))?;
    match rustix::process::getppid() == Some(parent) {
        true => Ok(()),
        // Only the error number reaches the parent from a child between fork and exec.
        false => Err(Errno::INTR.into()),
    }
}

/// When process 1 exits, the machine ends with all its processes. So nothing has to be done in the child, and
/// without the closure posix_spawn(3) is used: neither page tables nor pages of this process are copied, whose
/// number would depend on the compiler.
fn is_first_process() -> bool {
    rustix::process::getpid().is_init()
}

/// Referenced so that the linker takes it from the C library: the standard library starts a program in another
/// folder with posix_spawn(3) only if this function is linked in, and refers to it only weakly.
#[used]
static CHANGE_FOLDER: unsafe extern "C" fn(
    *mut libc::posix_spawn_file_actions_t,
    *const libc::c_char,
) -> libc::c_int = libc::posix_spawn_file_actions_addchdir_np;

/// Waits until the program exits or must be killed, and reads its output.
pub(crate) fn to_its_end(child: Child, limits: &Limits<'_>) -> (Ended, Capture, Capture) {
    let mut watch = Watch::new(child, limits);
    let ended = watch.wait(limits).unwrap_or_else(|error| {
        watch.signal_group(Signal::KILL);
        Ended::Lost(error)
    });
    (ended, watch.stdout.capture, watch.stderr.capture)
}

struct Watch {
    child: Child,
    stdout: Stream<std::process::ChildStdout>,
    stderr: Stream<std::process::ChildStderr>,
}

/// The event that ended the wait.
enum Woken {
    Ended,
    Cancelled,
    Deadline,
}

impl Watch {
    fn new(mut child: Child, limits: &Limits<'_>) -> Self {
        let stdout = Stream::new(child.stdout.take(), limits.output_bytes_max);
        let stderr = Stream::new(child.stderr.take(), limits.output_bytes_max);
        Self { child, stdout, stderr }
    }

    fn wait(&mut self, limits: &Limits<'_>) -> io::Result<Ended> {
        self.stdout.set_nonblocking()?;
        self.stderr.set_nonblocking()?;
        let pid = Pid::from_child(&self.child);
        let exit = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
        let why = self.wait_until(&exit, limits.deadline, limits.cancel)?;
        if matches!(why, Woken::Ended) {
            let status = self.child.wait()?;
            self.drain()?;
            return Ok(match (status.code(), status.signal()) {
                (Some(code), _) => Ended::Exited(code),
                (None, signal) => Ended::Signalled(signal.unwrap_or_default()),
            });
        }
        let left_running = !self.end(&exit)?;
        Ok(match why {
            Woken::Cancelled => Ended::Cancelled,
            Woken::Ended | Woken::Deadline => Ended::TimedOut { left_running },
        })
    }

    /// Sends SIGTERM, then SIGKILL, to the group; returns whether it exited.
    fn end(&mut self, exit: &OwnedFd) -> io::Result<bool> {
        for signal in [Signal::TERM, Signal::KILL] {
            self.signal_group(signal);
            if matches!(self.wait_until(exit, Instant::now() + GRACE, None)?, Woken::Ended) {
                // Children of the program may outlive it; its group has not been reaped yet, so the id is still
                // ours.
                self.signal_group(Signal::KILL);
                self.child.wait()?;
                self.drain()?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn signal_group(&self, signal: Signal) {
        // It fails only if all processes are gone.
        let _ = rustix::process::kill_process_group(Pid::from_child(&self.child), signal);
    }

    /// Reads output until the program exits, the deadline has passed, or `cancel` is readable.
    fn wait_until(&mut self, exit: &OwnedFd, deadline: Instant, cancel: Option<&OwnedFd>) -> io::Result<Woken> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Woken::Deadline);
            }
            let (ended, cancelled) = self.wait_once(exit, left, cancel)?;
            self.drain()?;
            if ended {
                return Ok(Woken::Ended);
            }
            if cancelled {
                return Ok(Woken::Cancelled);
            }
        }
    }

    fn wait_once(&self, exit: &OwnedFd, left: Duration, cancel: Option<&OwnedFd>) -> io::Result<(bool, bool)> {
        let mut fds = vec![PollFd::new(exit, PollFlags::IN)];
        fds.extend(cancel.map(|fd| PollFd::new(fd, PollFlags::IN)));
        fds.extend(self.stdout.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        fds.extend(self.stderr.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let timeout = Timespec::try_from(left).ok();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok((
            !fds[0].revents().is_empty(),
            cancel.is_some() && !fds[1].revents().is_empty(),
        ))
    }

    fn drain(&mut self) -> io::Result<()> {
        self.stdout.drain()?;
        self.stderr.drain()
    }
}

/// One of the program's two output streams; closed at its end.
struct Stream<P> {
    pipe: Option<P>,
    capture: Capture,
}

impl<P: Read + AsFd> Stream<P> {
    fn new(pipe: Option<P>, bytes_max: usize) -> Self {
        Self {
            pipe,
            capture: Capture::new(bytes_max),
        }
    }

    fn set_nonblocking(&self) -> io::Result<()> {
        if let Some(pipe) = &self.pipe {
            let flags = rustix::fs::fcntl_getfl(pipe)?;
            rustix::fs::fcntl_setfl(pipe, flags | rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(())
    }

    /// Reads what is available. A grandchild may hold the pipe open forever, so end of file is not awaited.
    fn drain(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(count) => self.capture.push(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A compiler that was started while raidlab ended kept running without it.
    #[test]
    fn a_program_whose_parent_has_ended_is_not_started() {
        let spawned = |parent: Pid| {
            let mut command = Command::new("true");
            // SAFETY: between fork and exec only system calls are made.
            unsafe { command.pre_exec(move || die_with(parent, Signal::KILL)) };
            command.spawn().and_then(|mut child| child.wait())
        };
        assert!(spawned(rustix::process::getpid()).is_ok_and(|status| status.success()));
        let other = rustix::process::getppid().expect("a parent");
        assert_eq!(
            spawned(other).expect_err("it has another parent").kind(),
            io::ErrorKind::Interrupted
        );
    }
}
