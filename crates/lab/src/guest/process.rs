//! The guest's processes, as one group.

use super::files::{Ends, Files, Heard};
use super::{Config, StartError, init, starting};
use landlock::{ABI, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal};
use rustix::thread::CpuSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// When the guest's clock starts: 2023-11-14, 22:13:20 UTC, for every guest.
const START_NS: u64 = 1_700_000_000_000_000_000;

/// How many files a guest is born with, at most, besides the standard three.
const NUMBERED_MAX: usize = 9;

/// No number of theirs is so high.
const ABOVE_NUMBERS: i32 = 200;

/// Where a guest's console is.
pub enum Console {
    /// A pipe, nothing to read from.
    Kept(OwnedFd),
    /// The user's terminal.
    Users,
}

/// A running guest.
pub struct Process {
    child: Child,
    /// Becomes readable when the kernel's process ends.
    ended: OwnedFd,
    /// Its status, once it was taken: from then on its number may be another's.
    status: Option<ExitStatus>,
}

impl Process {
    pub fn start(config: &Config<'_>, ends: Ends, console: Console) -> Result<Process, StartError> {
        let mut command = Command::new(config.kernel);
        command.args(arguments(config));
        command.env_clear();
        command.env("RAIDLAB_SEED", config.seed.to_string());
        // HOME: User-Mode Linux keeps files of its own there while it runs. Like its own name, it must be the same
        // everywhere: what the kernel allocates for it decides where all else lies.
        command.arg0("linux").env("HOME", ".");
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.current_dir(config.folder);
        match console {
            Console::Kept(end) => {
                let twin = end.try_clone().map_err(starting("cannot hand the console on"))?;
                command.stdin(Stdio::null()).stdout(twin).stderr(end);
                command.process_group(0);
            }
            // The kernel makes a session of its own, in which it may read the terminal.
            Console::Users => {}
        }
        let numbers: Vec<(RawFd, RawFd)> = ends.iter().map(|(number, fd)| (fd.as_raw_fd(), *number)).collect();
        let mut ruleset = Some(confine(config.folder)?);
        let processor = config.processor;
        // SAFETY: between fork and exec only system calls are made, on memory that was there before.
        unsafe {
            command.pre_exec(move || prepare(&numbers, processor, &mut ruleset));
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

    /// Waits for something to happen, `timeout` at most; the exit status once the guest has ended.
    pub fn wait(
        &mut self,
        files: &Files,
        timeout: Duration,
        events: &mut dyn FnMut(&[u8]),
        console: &mut dyn FnMut(&[u8]),
    ) -> Option<ExitStatus> {
        // An end that was closed is always ready: the guest's own end is waited for in its place.
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
        // What it said before its end.
        drain(&files.events.fd, events);
        drain(&files.console.fd, console);
        self.status
    }

    /// Ends every process of the guest.
    pub fn kill(&mut self) {
        if self.status.is_none() {
            let group = Pid::from_child(&self.child);
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
            // It may not have made its group yet.
            let _ = self.child.kill();
            self.status = self.child.wait().ok();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn arguments(config: &Config<'_>) -> Vec<String> {
    // The kernel's memory comes in whole pages.
    let ram_kib = (config.ram_bytes + init::RESERVED_BYTES) >> 10;
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
        // A task that computes for long is no fault here: processor time is free.
        "nowatchdog",
        "norandmaps",
        // Built in for `raidlab bench`, which says how many it wants.
        "null_blk.nr_devices=0",
    ]
    .map(str::to_owned)
    .into();
    arguments.push(format!("time-travel-start={START_NS}"));
    arguments.push(format!("mem={ram_kib}K"));
    // File 107; no path of the host's is known in the guest.
    arguments.push("init=/raidlab-init".to_owned());
    arguments.extend_from_slice(config.kernel_arguments);
    arguments.extend(["--".to_owned(), "guest-init".to_owned()]);
    arguments
}

/// In the child, before it becomes the kernel.
fn prepare(
    numbers: &[(RawFd, RawFd)],
    processor: Option<usize>,
    ruleset: &mut Option<RulesetCreated>,
) -> io::Result<()> {
    // The guest dies with the thread that started it, even when that is killed.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if let Some(processor) = processor {
        let mut only = CpuSet::new();
        only.set(processor);
        // A processor that went offline meanwhile: slower, not wrong.
        let _ = rustix::thread::sched_setaffinity(None, &only);
    }
    // SAFETY: a system call on numbers. Addresses must not differ from run to run.
    if unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // First out of the way of the numbers, which may be taken by some of these very files.
    let mut away = [-1; NUMBERED_MAX];
    for (place, (from, _)) in away.iter_mut().zip(numbers) {
        // SAFETY: a system call on a file that is open.
        *place = checked(unsafe { libc::fcntl(*from, libc::F_DUPFD_CLOEXEC, ABOVE_NUMBERS) })?;
    }
    for (from, (_, to)) in away.iter().zip(numbers) {
        // SAFETY: `from` is open; whatever is at `to` is not meant for the guest.
        checked(unsafe { libc::dup2(*from, *to) })?;
    }
    if let Some(ruleset) = ruleset.take() {
        ruleset.restrict_self().map_err(io::Error::other)?;
    }
    Ok(())
}

fn checked(result: i32) -> io::Result<i32> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Nothing outside the trial's folder can be written, whatever the guest's kernel is brought to do. Best effort: a
/// host without Landlock runs guests all the same, on a root that is read-only.
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
    // User-Mode Linux tries at its start how signals come from a pseudo-terminal.
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

/// The processors that this process may use.
pub fn processors() -> Vec<usize> {
    let allowed = rustix::thread::sched_getaffinity(None);
    allowed.map_or_else(
        |_| vec![0],
        |set| (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect(),
    )
}

/// Whether this machine's kernel can keep a guest from writing outside its folder (Landlock, Linux 5.13).
pub fn can_confine() -> bool {
    const VERSION: libc::c_uint = 1;
    // SAFETY: asks for a number; no memory is passed.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) > 0 }
}

/// Reads what is there, or takes note that nothing will come any more.
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

/// What is in a pipe: no more than it can hold, should somebody still write.
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
