//! Configures and compiles a tree, with progress and a log.

use super::tree::Tree;
use super::{Flavour, KernelError};
use rustix::process::Signal;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Approximate number of steps of a build from scratch: only for the progress bar.
const fn steps(flavour: Flavour) -> u64 {
    match flavour {
        Flavour::Base => 1330,
        Flavour::More => 1630,
        Flavour::Zfs => 1960,
    }
}

/// Log lines in a message.
const TAIL_LINES: usize = 15;

/// The programs that a build calls.
const TOOLS: &[&str] = &["make", "gcc", "ld", "flex", "bison", "bc", "patch", "tar", "xz", "perl"];

/// Progress of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Waiting for another raidlab that builds a kernel.
    Waiting,
    Unpacking,
    Copying,
    Configuring,
    /// Configuring OpenZFS for the kernel.
    Probing,
    /// Files compiled, and the approximate total.
    Compiling {
        done: u64,
        all: u64,
    },
}

/// The programs that are missing, all at once.
pub fn check_tools() -> Result<(), KernelError> {
    check(TOOLS)
}

/// The missing ones among `tools`.
pub fn check(tools: &[&str]) -> Result<(), KernelError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = |tool: &str| std::env::split_paths(&path).any(|folder| folder.join(tool).exists());
    let missing: Vec<String> = tools
        .iter()
        .filter(|tool| !found(tool))
        .map(|tool| (*tool).to_owned())
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(KernelError::Tools { missing })
    }
}

/// Compiles a prepared tree; returns its release and the image.
pub fn compile(
    tree: &Tree,
    name: &str,
    flavour: Flavour,
    progress: &mut dyn FnMut(Progress),
) -> Result<(String, PathBuf), KernelError> {
    progress(Progress::Configuring);
    configure(tree, name)?;

    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut build = make(tree);
    build.arg(format!("-j{jobs}")).arg("linux");
    let mut done = 0;
    run_logged(&mut build, "compiling", name, &tree.log, &mut |line| {
        if line.starts_with("  CC ") || line.starts_with("  AR ") {
            done += 1;
            progress(Progress::Compiling {
                done,
                all: steps(flavour).max(done),
            });
        }
    })?;
    let output = make(tree).args(["--silent", "kernelrelease"]).output();
    let release = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    Ok((release.unwrap_or_default(), tree.path.join("linux")))
}

/// Builds what is needed to compile programs against the tree's headers.
pub fn prepare(tree: &Tree, name: &str) -> Result<(), KernelError> {
    configure(tree, name)?;
    run_logged(make(tree).arg("prepare"), "preparing", name, &tree.log, &mut |_| {})
}

fn configure(tree: &Tree, name: &str) -> Result<(), KernelError> {
    let mut configure = make(tree);
    configure.env("KCONFIG_ALLCONFIG", &tree.config).arg("allnoconfig");
    run_logged(&mut configure, "configuring", name, &tree.log, &mut |_| {})
}

fn make(tree: &Tree) -> Command {
    let mut make = Command::new("make");
    make.arg("ARCH=um").arg("-C").arg(&tree.path);
    // The same source gives the same kernel on any machine.
    make.env("KBUILD_BUILD_TIMESTAMP", "2026-11-21")
        .env("KBUILD_BUILD_VERSION", "1");
    make.env("KBUILD_BUILD_USER", "raidlab")
        .env("KBUILD_BUILD_HOST", "raidlab");
    // If raidlab was started by make, its flags and job tokens must not be passed on.
    make.env_remove("MAKEFLAGS")
        .env_remove("MFLAGS")
        .env_remove("MAKELEVEL")
        .env("LC_ALL", "C");
    make
}

/// Runs a program, appends its output to the log, and calls `seen` with each line.
pub fn run_logged(
    command: &mut Command,
    step: &'static str,
    name: &str,
    log: &Path,
    seen: &mut dyn FnMut(&str),
) -> Result<(), KernelError> {
    let io = super::io_error("cannot write", log);
    let mut file = match File::options().append(true).create(true).open(log) {
        Ok(file) => file,
        Err(error) => return Err(io(error)),
    };
    let failed = |tail: VecDeque<String>| KernelError::Step {
        step,
        name: name.to_owned(),
        log: log.to_owned(),
        tail: Vec::from(tail).join("\n"),
    };
    let (reader, writer) = std::io::pipe().map_err(super::io_error("cannot run a program for", log))?;
    let stderr = writer
        .try_clone()
        .map_err(super::io_error("cannot run a program for", log))?;
    die_with_us(command);
    let spawned = command.stdin(Stdio::null()).stdout(writer).stderr(stderr).spawn();
    // The command holds the other end of the pipe; without this, reading would never end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = spawned.map_err(|error| failed(VecDeque::from([format!("cannot be run: {error}")])))?;
    let mut tail = VecDeque::new();
    // With parallel compilers, the last lines seldom contain the error.
    let mut errors = VecDeque::new();
    for line in BufReader::new(reader).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        let _ = writeln!(file, "{line}");
        seen(&line);
        if line.contains("error:") || line.contains("*** ") || line.contains("undefined reference") {
            push_short(&mut errors, line.clone());
        }
        push_short(&mut tail, line);
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(failed(if errors.is_empty() { tail } else { errors })),
    }
}

/// A build stops when the user interrupts raidlab: on this signal `make` ends its compilers.
fn die_with_us(command: &mut Command) {
    let parent = rustix::process::getpid();
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(move || tools::die_with(parent, Signal::TERM));
    }
}

fn push_short(lines: &mut VecDeque<String>, line: String) {
    lines.push_back(line);
    if lines.len() > TAIL_LINES {
        lines.pop_front();
    }
}
