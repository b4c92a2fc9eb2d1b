//! A shell in a guest with a stack set up: on the user's terminal, for a script, or for one command.
//!
//! On a terminal, the guest's console is the terminal. Otherwise the shell's output is passed through the channel,
//! so that standard output and standard error stay separate and contain no kernel messages.

use super::raidlab_device::Channel;
use crate::protocol::job::{Shell, ShellInput, ShellLine};
use crate::protocol::setting::{FOLDER, PATH};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use trial::CARRIED;

/// Maximum bytes of output in one line.
const CHUNK_BYTES: usize = 8 << 10;

/// Exit status if a command cannot be run.
const NOT_RUN: u8 = 126;

pub(crate) fn run(channel: &mut Channel, shell: &Shell) -> io::Result<()> {
    let (cell, mut status) = (&shell.trial.cell, Ok(NOT_RUN));
    let outcome = trial::with_stack_of_trial_up(
        &shell.trial,
        &channel.setting(&cell.machine)?,
        &mut |_| {},
        &mut |stack| {
            let place = stack.mount_point.as_deref().unwrap_or(Path::new("/tmp"));
            if matches!(shell.input, ShellInput::Terminal) {
                println!("{} on {}", cell.stack_label, stack.block_device.display());
            }
            status = run_in(place, &shell.input, channel);
        },
    );
    channel.write_line(&match outcome {
        Ok(()) => ShellLine::Exited(status?),
        Err(failure) => ShellLine::Failed(format!("{}: {}", failure.step, failure.message)),
    })
}

fn run_in(place: &Path, input: &ShellInput, channel: &mut Channel) -> io::Result<u8> {
    let mut command = match input {
        ShellInput::Terminal => Command::new("/bin/sh"),
        ShellInput::Script(script) => {
            let path = Path::new(FOLDER).join("script");
            fs::write(&path, script)?;
            let mut command = Command::new("/bin/sh");
            command.arg("-s").stdin(File::open(path)?);
            command
        }
        // The shell finds the program and reports errors with its own messages and statuses.
        ShellInput::Command(words) => {
            let mut command = Command::new("/bin/sh");
            command
                .args(["-c", "exec \"$@\"", "sh"])
                .args(words)
                .stdin(Stdio::null());
            command
        }
    };
    command
        .current_dir(place)
        .env("PS1", "guest# ")
        .env("PATH", format!("{PATH}:{CARRIED}/sbin"))
        .env("LD_LIBRARY_PATH", format!("{CARRIED}/lib"));
    if matches!(input, ShellInput::Terminal) {
        return command.status().map(shell_status);
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let channel = Mutex::new(channel);
    thread::scope(|scope| {
        let errors = scope.spawn(|| forward(stderr, ShellLine::Stderr, &channel));
        forward(stdout, ShellLine::Stdout, &channel)?;
        errors.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    })?;
    child.wait().map(shell_status)
}

fn forward(
    from: Option<impl Read>,
    line: fn(Vec<u8>) -> ShellLine,
    channel: &Mutex<&mut Channel>,
) -> io::Result<()> {
    let Some(mut from) = from else { return Ok(()) };
    let mut buffer = [0; CHUNK_BYTES];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        let mut channel = channel.lock().map_err(|_| io::ErrorKind::Other)?;
        channel.write_line(&line(buffer[..count].to_vec()))?;
    }
}

fn shell_status(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|signal| 128 + signal);
    let code = status.code().or(signal).unwrap_or(i32::from(NOT_RUN));
    u8::try_from(code).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_that_of_a_shell() {
        let status = |program: &str| Command::new("/bin/sh").args(["-c", program]).status().expect("a shell");
        assert_eq!(shell_status(status("exit 3")), 3);
        assert_eq!(shell_status(status("kill -TERM $$")), 143);
    }
}
