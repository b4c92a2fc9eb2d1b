//! One step of a build: a program with its log, and the progress that a user sees.

use super::{KernelError, io_error};
use rustix::process::Signal;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Log lines in a message.
const TAIL_LINES: usize = 15;

/// Progress of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildProgress {
    /// Waiting for another raidlab that builds a kernel: its process, if known.
    Waiting {
        pid: Option<u32>,
    },
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

/// The missing ones among these programs.
pub fn check(programs: &[&str]) -> Result<(), KernelError> {
    let missing: Vec<String> = programs
        .iter()
        .filter(|tool| !tools::has_host_program(tool))
        .map(|tool| (*tool).to_owned())
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(KernelError::Tools { missing })
    }
}

/// Runs a program, appends its output to the log, and calls `seen` with each line.
pub fn run_logged(
    command: &mut Command,
    step: &'static str,
    name: &str,
    log: &Path,
    seen: &mut dyn FnMut(&str),
) -> Result<(), KernelError> {
    let io = io_error("cannot write", log);
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
    let (reader, writer) = std::io::pipe().map_err(io_error("cannot run a program for", log))?;
    let stderr = writer.try_clone().map_err(io_error("cannot run a program for", log))?;
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
