//! What the program outside tells the guest's init to do.

use crate::carried::{File, Programs};
use crate::kernel::{Kernel, KernelError};
use crate::shell::Shell;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use study::plan::Trial;
use study::stack::{DiskGroup, StackSpec};
use study::workload::IoSpec;

/// Handed to the guest as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum GuestJob {
    /// Run one trial and say its events.
    Trial(Box<Trial>),
    /// The same, and then have md compare copies and parity all over the array: for tests, as it reads every disk.
    CheckedTrial(Box<Trial>),
    /// Bring a trial's stack up and run a shell on it.
    Shell(Box<Shell>),
    /// Run a program, as on a machine whose disks are real; what it prints goes to the console.
    Program(Program),
    /// Prove what is said of provisioning, stack by stack: for tests.
    Provisioning(Provisioning),
    /// Go through the work that a processor is measured by, and say how many basic blocks each is.
    Operations,
    /// Do pieces of work while somebody outside looks at the clock.
    Bench(Bench),
}

/// A job as a guest reads it, with what its kernel carries and the programs that it gets besides.
///
/// # Errors
/// When the cache, where these are, cannot be read.
pub fn encoded(job: &GuestJob, kernel: &Kernel, programs: Option<&Programs>) -> Result<Vec<u8>, KernelError> {
    let mut files = kernel.carried()?;
    files.extend(programs.into_iter().flat_map(|programs| programs.files.iter().cloned()));
    Ok(encode(job, &files))
}

/// A job as a guest reads it: JSON on one line, and then the files, if there are any.
pub fn encode(job: &GuestJob, files: &[File]) -> Vec<u8> {
    let mut text = serde_json::to_vec(job).expect("a job is plain data");
    if !files.is_empty() {
        text.push(b'\n');
        text.extend(postcard::to_allocvec(files).expect("files are plain data"));
    }
    text
}

/// What [`encode`] made.
pub fn decode(bytes: &[u8]) -> io::Result<(GuestJob, Vec<File>)> {
    // Within JSON a line ends only between its words, and `encode` ends none.
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let job = serde_json::from_slice(&bytes[..end]).map_err(io::Error::other)?;
    let files = match bytes.get(end + 1..) {
        Some(rest) if !rest.is_empty() => postcard::from_bytes(rest).map_err(io::Error::other)?,
        _ => Vec::new(),
    };
    Ok((job, files))
}

/// A program of the guest's root, with its arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    pub path: PathBuf,
    pub arguments: Vec<String>,
}

/// Stacks, brought up and taken down one after the other, as on a machine that goes on afterwards:
/// [`trial::compare_and_fail`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Provisioning {
    pub stacks: Vec<ProvisionedStack>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProvisionedStack {
    pub disks: Vec<DiskGroup>,
    pub spec: StackSpec,
    /// The start of each disk is zeroed first, and provisioning assumes that the whole disk is.
    pub zeroed: bool,
    /// Each act fails once before it is done, and once after.
    pub failures: bool,
}

/// Stacks, all up at the same time, and work on them in its order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bench {
    pub stacks: Vec<BenchStack>,
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchStack {
    pub devices: Vec<PathBuf>,
    pub spec: StackSpec,
}

/// Work on one of the stacks.
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
    /// So many bytes written in direct requests of 1 MiB, no two blocks alike: the engine's own writes repeat, which
    /// the lab's disks make use of.
    Distinct { bytes: u64 },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_and_its_files_come_back() {
        let job = GuestJob::Program(Program {
            path: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".to_owned(), "one\ntwo".to_owned()],
        });
        let file = |path: &str, contents: &[u8]| File {
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
