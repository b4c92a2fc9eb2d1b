//! The guest's processes, as one group.

use super::files::{Files, Heard};
use super::memory_file::Ends;
use super::{Config, Root, StartError, init, starting};
use crate::affinity;
use landlock::{ABI, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// When the guest's clock starts: 2023-11-14, 22:13:20 UTC, for every guest.
const START_NS: u64 = 1_700_000_000_000_000_000;

/// Number of files with which a guest starts, at most, in addition to the standard three.
const NUMBERED_MAX: usize = 13;

/// Above all of their numbers.
const ABOVE_NUMBERS: i32 = 200;

/// Where a guest's console goes.
pub enum Console {
    /// A pipe without input.
    Kept(OwnedFd),
    /// The user's terminal.
    Users,
}

/// A running guest.
pub struct Process {
    child: Child,
    /// pidfd: readable when the kernel's process has ended.
    ended: OwnedFd,
    /// Exit status, once it was waited for: from then on the PID may be reused.
    status: Option<ExitStatus>,
}

impl Process {
    pub fn start(config: &Config<'_>, ends: Ends, console: Console) -> Result<Process, StartError> {
        let mut command = Command::new(config.kernel);
        command.args(arguments(config));
        command.env_clear();
        command.env("RAIDLAB_SEED", config.seed.to_string());
        // HOME: User-Mode Linux keeps its own files there while it runs. Like argv[0] it must be the same everywhere:
        // the size of its allocation determines the addresses of all later ones.
        command.arg0("linux").env("HOME", ".");
        if let Some(value) = std::env::var_os("RAIDLAB_PTRACE") {
            command.env("RAIDLAB_PTRACE", value);
        }
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.current_dir(config.folder);
        match console {
            Console::Kept(end) => {
                let twin = end
                    .try_clone()
                    .map_err(starting("cannot duplicate the descriptor of the console"))?;
                command.stdin(Stdio::null()).stdout(twin).stderr(end);
                command.process_group(0);
            }
            // The kernel creates its own session, in which it may read the terminal.
            Console::Users => {}
        }
        let numbers: Vec<(RawFd, RawFd)> = ends.iter().map(|(number, fd)| (fd.as_raw_fd(), *number)).collect();
        assert!(numbers.len() <= NUMBERED_MAX, "{} files for the guest", numbers.len());
        let mut ruleset = Some(confine(config.folder)?);
        let (parent, processor) = (rustix::process::getpid(), config.processor);
        // SAFETY: between fork and exec only system calls are made, on memory allocated before.
        unsafe {
            command.pre_exec(move || prepare(parent, &numbers, processor, &mut ruleset));
        }
        let child = command.spawn().map_err(starting("cannot start the lab's kernel"))?;
        drop(ends);
        let pid = Pid::from_child(&child);
        let ended = rustix::process::pidfd_open(pid, PidfdFlags::empty())
            .map_err(|error| starting("cannot watch the lab's kernel")(error.into()))?;
        Ok(Process {
            child,
            ended,
            status: None,
        })
    }

    /// Waits for an event, for `timeout` at most; returns the exit status once the guest has ended.
    pub fn wait(
        &mut self,
        files: &Files,
        timeout: Duration,
        events: &mut dyn FnMut(&[u8]),
        console: &mut dyn FnMut(&[u8]),
    ) -> Option<ExitStatus> {
        // A closed pipe is always ready, so the pidfd is polled in its place.
        let open = |heard: &'_ Heard| !heard.closed.get();
        let mut fds = [
            PollFd::new(
                if open(&files.events) {
                    &files.events.fd
                } else {
                    &self.ended
                },
                PollFlags::IN,
            ),
            PollFd::new(
                if open(&files.console) {
                    &files.console.fd
                } else {
                    &self.ended
                },
                PollFlags::IN,
            ),
            PollFd::new(&self.ended, PollFlags::IN),
        ];
        let timeout = Timespec {
            tv_sec: timeout.as_secs() as i64,
            tv_nsec: i64::from(timeout.subsec_nanos()),
        };
        let _ = rustix::event::poll(&mut fds, Some(&timeout));
        let ready = fds.each_ref().map(PollFd::revents);
        hear(&files.events, ready[0], events);
        hear(&files.console, ready[1], console);
        if !ready[2].contains(PollFlags::IN) {
            return None;
        }
        self.kill();
        // Output written before the end.
        drain(&files.events.fd, events);
        drain(&files.console.fd, console);
        self.status
    }

    /// Kills every process of the guest.
    pub fn kill(&mut self) {
        if self.status.is_none() {
            let group = Pid::from_child(&self.child);
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
            // The process group may not exist yet.
            let _ = self.child.kill();
            self.status = self.child.wait().ok();
        }
    }

    /// Whether it has ended and no process of the guest is left.
    pub fn is_gone(&self) -> bool {
        let group = Pid::from_child(&self.child);
        self.status.is_some() && rustix::process::test_kill_process_group(group) == Err(Errno::SRCH)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The kernel's memory, a multiple of the page size.
pub fn ram_kib(config: &Config<'_>) -> u64 {
    let root_bytes = config.root.map_or(0, Root::memory_bytes);
    (config.ram_bytes + init::RESERVED_BYTES + root_bytes) >> 10
}

fn arguments(config: &Config<'_>) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "time-travel=inf-cpu",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "con=null",
        "con0=fd:0,fd:1",
        "quiet",
        "panic=-1",
        // Long computation is not an error here: processor time is free.
        "nowatchdog",
        "norandmaps",
        // Built in for `raidlab bench`, which sets the number.
        "null_blk.nr_devices=0",
    ]
    .map(str::to_owned)
    .into();
    arguments.push(format!("time-travel-start={START_NS}"));
    arguments.push(format!("mem={}K", ram_kib(config)));
    // What the kernel does not know becomes the init's environment.
    arguments.extend(tools::GUEST_ENVIRONMENT.map(|(name, value)| format!("{name}={value}")));
    // In the guest's own root, or else file 107; the guest sees no path of the host.
    arguments.push(format!("rdinit={}", init::NAME));
    arguments.push(format!("init={}", init::NAME));
    arguments.extend_from_slice(config.kernel_arguments);
    arguments.extend(["--".to_owned(), "guest-init".to_owned()]);
    arguments
}

/// Runs in the child, before exec.
fn prepare(
    parent: Pid,
    numbers: &[(RawFd, RawFd)],
    processor: Option<usize>,
    ruleset: &mut Option<RulesetCreated>,
) -> io::Result<()> {
    // The guest dies with the thread that started it, even if that is killed.
    tools::die_with(parent, Signal::KILL)?;
    // The processor may have gone offline: slower, but correct.
    let _ = affinity::bind(processor);
    goes_first_without_memory();
    // SAFETY: a system call with integer arguments. Addresses must not differ between runs.
    if unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // Before files get their numbers: one of these may be that of the ruleset.
    if let Some(ruleset) = ruleset.take() {
        ruleset.restrict_self().map_err(io::Error::other)?;
    }
    // First move all files above the numbers, which may be in use by some of these files.
    let mut away = [-1; NUMBERED_MAX];
    for (place, (from, _)) in away.iter_mut().zip(numbers) {
        // SAFETY: a system call on a file that is open.
        *place = checked(unsafe { libc::fcntl(*from, libc::F_DUPFD_CLOEXEC, ABOVE_NUMBERS) })?;
    }
    for (from, (_, to)) in away.iter().zip(numbers) {
        // SAFETY: `from` is open; the file at `to` is not needed by the guest.
        checked(unsafe { libc::dup2(*from, *to) })?;
    }
    Ok(())
}

/// If the machine's memory is used up, this process is killed before the user's programs. Best effort; only system
/// calls.
fn goes_first_without_memory() {
    const SCORE: &[u8] = b"1000";
    let file = rustix::fs::open(
        c"/proc/self/oom_score_adj",
        OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::empty(),
    );
    if let Ok(file) = file {
        let _ = rustix::io::write(file, SCORE);
    }
}

fn checked(result: i32) -> io::Result<i32> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Restricts writes to the trial's folder, whatever the guest's kernel does. Best effort: without Landlock, guests run
/// on the read-only root anyway.
fn confine(folder: &Path) -> Result<RulesetCreated, StartError> {
    let abi = ABI::V3;
    let failed = |error: &dyn std::fmt::Display| StartError {
        what: "cannot confine the guest",
        error: io::Error::other(error.to_string()),
    };
    let writes = AccessFs::from_write(abi);
    let mut ruleset = Ruleset::default()
        .handle_access(writes)
        .and_then(Ruleset::create)
        .map_err(|error| failed(&error))?;
    // User-Mode Linux tests at its start how a pseudo-terminal raises signals.
    let devices = ["/dev/null", "/dev/ptmx", "/dev/pts"].map(Path::new);
    for path in [folder].into_iter().chain(devices) {
        let Ok(fd) = PathFd::new(path) else { continue };
        let access = if path.is_dir() {
            writes
        } else {
            AccessFs::WriteFile.into()
        };
        ruleset = ruleset
            .add_rule(PathBeneath::new(fd, access))
            .map_err(|error| failed(&error))?;
    }
    Ok(ruleset)
}

/// Whether this machine's kernel can restrict a guest's writes to its folder (Landlock, Linux 5.13).
pub fn can_confine() -> bool {
    const VERSION: libc::c_uint = 1;
    // SAFETY: asks for a number; no memory is passed.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) > 0 }
}

/// Reads what is available, or marks the pipe as closed.
fn hear(heard: &Heard, ready: PollFlags, seen: &mut dyn FnMut(&[u8])) {
    if heard.closed.get() {
        return;
    }
    if ready.contains(PollFlags::IN) {
        read_some(&heard.fd, seen);
    } else if ready.contains(PollFlags::HUP) {
        heard.closed.set(true);
    }
}

fn read_some(fd: &OwnedFd, seen: &mut dyn FnMut(&[u8])) {
    let mut buffer = [0; 64 << 10];
    if let Ok(n) = rustix::io::read(fd.as_fd(), &mut buffer) {
        seen(&buffer[..n]);
    }
}

/// Reads what is in a pipe, up to the pipe's capacity in case somebody still writes.
fn drain(fd: &OwnedFd, seen: &mut dyn FnMut(&[u8])) {
    const PIPE_BYTES_MAX: usize = 1 << 20;
    let _ = rustix::io::ioctl_fionbio(fd, true);
    let (mut buffer, mut drained) = ([0; 64 << 10], 0);
    while drained < PIPE_BYTES_MAX
        && let Ok(n @ 1..) = rustix::io::read(fd.as_fd(), &mut buffer)
    {
        seen(&buffer[..n]);
        drained += n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With many open files the number of the ruleset was one of the guest's files, and the guest did not start: "Invalid
    /// argument".
    #[test]
    fn a_guest_gets_its_files_whatever_numbers_are_in_use() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = std::fs::File::open("/dev/null").expect("Linux has it");
        for number in 3..64 {
            let mut ruleset = Some(confine(folder.path()).expect("a ruleset"));
            let (parent, numbers) = (rustix::process::getpid(), [(file.as_raw_fd(), number)]);
            let mut command = Command::new("true");
            // SAFETY: between fork and exec only system calls are made, on memory allocated before.
            unsafe {
                command.pre_exec(move || prepare(parent, &numbers, None, &mut ruleset));
            }
            let status = command
                .status()
                .unwrap_or_else(|error| panic!("file {number}: {error}"));
            assert!(status.success(), "file {number}: {status}");
        }
    }

    #[test]
    fn a_guest_is_killed_before_the_users_programs_when_memory_is_used_up() {
        let mut command = Command::new("sleep");
        // SAFETY: between fork and exec only system calls are made.
        unsafe {
            command.pre_exec(|| {
                goes_first_without_memory();
                Ok(())
            });
        }
        let mut child = command.arg("60").spawn().expect("started");
        let score = std::fs::read_to_string(format!("/proc/{}/oom_score_adj", child.id()));
        child.kill().and_then(|()| child.wait()).expect("it ends");
        assert_eq!(score.expect("Linux has it").trim(), "1000");
    }
}
