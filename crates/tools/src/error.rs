//! Errors of external programs.

use crate::Tool;
use std::fmt;
use std::path::Path;
use study::event::ToolCall;

/// A program that is not installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingTool(pub Tool);

/// All required programs that are missing, so that one `apt-get install` installs them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct MissingTools(pub Vec<MissingTool>);

impl MissingTools {
    /// The Debian packages of these programs, each once.
    pub fn packages(&self) -> Vec<&'static str> {
        let mut packages: Vec<_> = self.0.iter().map(|missing| missing.0.package()).collect();
        packages.sort_unstable();
        packages.dedup();
        packages
    }
}

impl fmt::Display for MissingTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self
            .0
            .iter()
            .map(|missing| format!("`{}`", missing.0.program()))
            .collect();
        let word = if names.len() == 1 { "tool" } else { "tools" };
        let packages = self.packages().join(" ");
        write!(
            f,
            "missing {word} {}: `apt-get install {packages}` installs what is needed",
            names.join(", ")
        )?;
        for (tool, suite) in self
            .0
            .iter()
            .filter_map(|missing| Some((missing.0, missing.0.suite()?)))
        {
            write!(
                f,
                "; Debian has {} only in {suite}; the lab does not need it installed",
                tool.package()
            )?;
        }
        Ok(())
    }
}

/// A failed call. All but the first two variants contain the recorded call.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error(transparent)]
    Missing(#[from] MissingTools),
    #[error("could not run {}: {source}", command(.call))]
    Start {
        call: Box<ToolCall>,
        source: std::io::Error,
    },
    #[error("{} exited with {status}{}", command(.call), last_words(.call))]
    Exit { call: Box<ToolCall>, status: i32 },
    #[error("{} was killed by signal {signal}{}", command(.call), last_words(.call))]
    Signal { call: Box<ToolCall>, signal: i32 },
    #[error("{} did not end within {} s and was killed{}{}", command(.call), .limit.as_secs(),
        if *.left_running { ", but did not exit" } else { "" }, last_words(.call))]
    TimedOut {
        call: Box<ToolCall>,
        limit: std::time::Duration,
        left_running: bool,
    },
    #[error("{} was cancelled", command(.call))]
    Cancelled { call: Box<ToolCall> },
    #[error("cannot determine the version of {}{}", command(.call), last_words(.call))]
    NoVersion { call: Box<ToolCall> },
}

impl ToolError {
    /// The call, if there was one.
    pub fn call(&self) -> Option<&ToolCall> {
        match self {
            Self::Missing(_) => None,
            Self::Start { call, .. }
            | Self::Exit { call, .. }
            | Self::Signal { call, .. }
            | Self::TimedOut { call, .. }
            | Self::Cancelled { call }
            | Self::NoVersion { call } => Some(call),
        }
    }
}

fn command(call: &ToolCall) -> String {
    let mut words = call.argv.clone();
    if let Some(program) = words.first_mut()
        && let Some(name) = Path::new(program).file_name()
    {
        *program = name.to_string_lossy().into_owned();
    }
    format!("`{}`", words.join(" "))
}

/// Its output, from stderr if there is any. If it is long, the first and the last lines, because the error may
/// precede a page of usage.
fn last_words(call: &ToolCall) -> String {
    const LINES: usize = 4;
    let printed = if call.stderr.trim().is_empty() {
        &call.stdout
    } else {
        &call.stderr
    };
    let lines: Vec<_> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.as_slice() {
        [] => " and printed nothing".to_owned(),
        [first, middle @ .., one, two] if middle.len() + 3 > LINES => format!(": {first}; …; {one}; {two}"),
        few => format!(": {}", few.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(stdout: &str, stderr: &str) -> Box<ToolCall> {
        Box::new(ToolCall {
            argv: vec!["/usr/sbin/mdadm".into(), "--stop".into(), "/dev/md100".into()],
            exit: Some(1),
            stdout: stdout.into(),
            stderr: stderr.into(),
            duration_ns: 1,
        })
    }

    #[test]
    fn says_what_ran_and_its_last_words() {
        let error = ToolError::Exit {
            call: call("out\n", "one\ntwo\n\nthree\nfour\nfive\n"),
            status: 1,
        };
        assert_eq!(
            error.to_string(),
            "`mdadm --stop /dev/md100` exited with 1: one; …; four; five"
        );
        let error = ToolError::Exit {
            call: call("only this\n", " \n"),
            status: 1,
        };
        assert_eq!(error.to_string(), "`mdadm --stop /dev/md100` exited with 1: only this");
        let error = ToolError::Signal {
            call: call("", ""),
            signal: 11,
        };
        assert_eq!(
            error.to_string(),
            "`mdadm --stop /dev/md100` was killed by signal 11 and printed nothing"
        );
    }

    #[test]
    fn names_the_packages_to_install() {
        let missing = MissingTools(vec![
            MissingTool(Tool::Filesystem(&filesystems::xfs::MKFS)),
            MissingTool(Tool::MKE2FS),
        ]);
        assert_eq!(
            missing.to_string(),
            "missing tools `mkfs.xfs`, `mke2fs`: `apt-get install e2fsprogs xfsprogs` installs what is needed"
        );
    }
}
