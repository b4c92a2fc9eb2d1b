//! Jobs of a guest's init.

use super::carried::CarriedFile;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use study::plan::Trial;
use study::stack::StackSpec;
use study::workload::IoSpec;

/// Passed to the guest as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum GuestJob {
    /// Run one trial and report its events.
    Trial(Box<Trial>),
    /// Create the stack of a trial and leave it on the disks.
    Create(Box<Trial>),
    /// Restart the stack of a trial after each of these power cuts, and check what survived.
    Judge(Box<Trial>, Vec<ToJudge>),
    /// Set a trial's stack up and run a shell on it.
    Shell(Box<Shell>),
    /// Run a program as on a machine with real disks; its output goes to the console.
    Program(ProgramJob),
    /// Run the operations for measuring a processor, and report the number of basic blocks of each.
    Operations,
    /// Run jobs while the program outside reads the wall clock.
    Bench(BenchJob),
}

/// A power cut to check.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ToJudge {
    /// Index of the state that the disks load first; `None` leaves them unchanged.
    pub state: Option<u64>,
    pub cut: trial::power_cut::Cut,
}

/// A job as a guest reads it: JSON on one line, followed by the files, if any.
pub fn encode(job: &GuestJob, files: &[CarriedFile]) -> Vec<u8> {
    let mut text = serde_json::to_vec(job).expect("a job is plain data");
    if !files.is_empty() {
        text.push(b'\n');
        text.extend(postcard::to_allocvec(files).expect("files are plain data"));
    }
    text
}

/// Inverse of [`encode`].
pub fn decode(bytes: &[u8]) -> io::Result<(GuestJob, Vec<CarriedFile>)> {
    // `encode` writes JSON without line breaks, so the first newline ends it.
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let job = serde_json::from_slice(&bytes[..end]).map_err(io::Error::other)?;
    let files = match bytes.get(end + 1..) {
        Some(rest) if !rest.is_empty() => postcard::from_bytes(rest).map_err(io::Error::other)?,
        _ => Vec::new(),
    };
    Ok((job, files))
}

/// A program in the guest's root, with its arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramJob {
    pub path: PathBuf,
    pub arguments: Vec<String>,
}

/// Stacks that are set up at the same time, and jobs on them in the given order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchJob {
    pub stacks: Vec<BenchStack>,
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchStack {
    pub devices: Vec<PathBuf>,
    pub spec: StackSpec,
}

/// A job on one of the stacks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Piece {
    /// Index of the stack.
    pub stack: usize,
    pub work: PieceWork,
    pub seed: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum PieceWork {
    /// A job of the native engine.
    Io(Box<IoSpec>),
    /// Write this many bytes in direct requests of 1 MiB, with no two blocks equal. The engine's own writes repeat,
    /// and the lab's disks deduplicate them.
    Distinct { bytes: u64 },
}

/// What the guest reports about its pieces of work, one line each.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(tag = "bench", rename_all = "kebab-case")]
pub enum BenchLine {
    Began { piece: usize, at_ns: u64 },
    Ended { at_ns: u64 },
    Done { piece: usize, requests: u64 },
}

/// A shell on a trial's stack.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shell {
    pub trial: Trial,
    pub input: ShellInput,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ShellInput {
    /// Interactive, on the console.
    Terminal,
    /// Commands for /bin/sh.
    Script(Vec<u8>),
    /// A program and its arguments. Its standard input is empty.
    Command(Vec<String>),
}

/// The guest's output, one line of JSON each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShellLine {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    /// Exit status as in a shell: 128 plus the signal number if a signal ended it.
    Exited(u8),
    /// The stack could not be built, with the reason; no shell was started.
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_and_its_files_come_back() {
        let job = GuestJob::Program(ProgramJob {
            path: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".to_owned(), "one\ntwo".to_owned()],
        });
        let file = |path: &str, contents: &[u8]| CarriedFile {
            path: PathBuf::from(path),
            contents: contents.to_vec(),
        };
        let files = [file("lib/libzfs.so.6", b"\x7fELF\n\0"), file("sbin/zpool", b"\n")];
        for files in [&files[..], &[]] {
            let (back, carried) = decode(&encode(&job, files)).expect("it is whole");
            assert_eq!(serde_json::to_value(&back).ok(), serde_json::to_value(&job).ok());
            assert_eq!(carried, files);
        }
        let whole = encode(&job, &files);
        assert!(decode(&whole[..whole.len() - 1]).is_err(), "half of a file is none");
    }
}
