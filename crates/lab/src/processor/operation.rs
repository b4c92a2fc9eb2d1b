//! Kernel operations for measuring a processor: timed on this machine, and run in a guest, whose kernel counts the
//! basic blocks of each. None of them uses a disk.

use super::rate::processor_seconds;
use crate::affinity;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// One kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KernelOperation {
    /// A system call that does nothing.
    Null,
    /// stat(2) of a file.
    Stat,
    /// A file opened and closed.
    OpenClose,
    /// A file created and removed.
    CreateRemove,
    /// 4 KiB read from the page cache.
    Read4k,
    /// 4 KiB written to the page cache.
    Write4k,
    /// 1 MiB read from the page cache.
    Read1m,
    /// A file of a tree created, queried by stat(2) and removed: 10,000 files in 100 folders, each step for all of
    /// them.
    Tree,
    /// 4 KiB written to a new page, of a file of 64 MiB that is removed at the end.
    Fill,
    /// 4 KiB read from the page cache, anywhere in a file of 128 MiB.
    Scattered,
    /// A page of memory touched for the first time.
    Fault,
    /// A byte sent to another thread and back, each waiting for the other, both on one processor.
    PingPong,
}

impl KernelOperation {
    pub const ALL: [KernelOperation; 12] = [
        KernelOperation::Null,
        KernelOperation::Stat,
        KernelOperation::OpenClose,
        KernelOperation::CreateRemove,
        KernelOperation::Read4k,
        KernelOperation::Write4k,
        KernelOperation::Read1m,
        KernelOperation::Tree,
        KernelOperation::Fill,
        KernelOperation::Scattered,
        KernelOperation::Fault,
        KernelOperation::PingPong,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            KernelOperation::Null => "null call",
            KernelOperation::Stat => "stat",
            KernelOperation::OpenClose => "open and close",
            KernelOperation::CreateRemove => "create and remove",
            KernelOperation::Read4k => "read 4 KiB",
            KernelOperation::Write4k => "write 4 KiB",
            KernelOperation::Read1m => "read 1 MiB",
            KernelOperation::Tree => "file of a tree",
            KernelOperation::Fill => "write 4 KiB, new page",
            KernelOperation::Scattered => "read 4 KiB, scattered",
            KernelOperation::Fault => "page fault",
            KernelOperation::PingPong => "ping-pong",
        }
    }

    /// Number of system calls per operation.
    pub const fn calls(self) -> u32 {
        match self {
            KernelOperation::Fault => 0,
            KernelOperation::OpenClose => 2,
            // open, close, unlink.
            KernelOperation::CreateRemove => 3,
            // open, close, stat, unlink; each of the two threads writes and reads.
            KernelOperation::Tree | KernelOperation::PingPong => 4,
            _ => 1,
        }
    }

    /// Bytes copied to or from user space per operation.
    pub const fn bytes(self) -> u32 {
        match self {
            KernelOperation::Read4k
            | KernelOperation::Write4k
            | KernelOperation::Fill
            | KernelOperation::Scattered => PAGE as u32,
            KernelOperation::Read1m => MEBIBYTE as u32,
            _ => 0,
        }
    }

    /// Operations per round: a few milliseconds on this machine.
    pub const fn round(self) -> u32 {
        match self {
            KernelOperation::Null => 20_000,
            KernelOperation::Stat
            | KernelOperation::OpenClose
            | KernelOperation::Read4k
            | KernelOperation::Write4k => 5_000,
            KernelOperation::CreateRemove | KernelOperation::PingPong => 1_000,
            KernelOperation::Read1m => 50,
            KernelOperation::Tree => TREE_FOLDERS * TREE_FILES,
            KernelOperation::Fill => (64 * MEBIBYTE / PAGE) as u32,
            KernelOperation::Scattered => 20_000,
            KernelOperation::Fault => 4_096,
        }
    }
}

/// A folder in memory, with the files that the operations need.
pub struct OperationFiles {
    folder: PathBuf,
    file: File,
    /// [`LARGE`] bytes, more than most caches hold.
    large: File,
    buffer: Vec<u8>,
}

const MEBIBYTE: usize = 1 << 20;
const PAGE: usize = 4096;
const LARGE: usize = 128 * MEBIBYTE;
const TREE_FOLDERS: u32 = 100;
const TREE_FILES: u32 = 100;

impl OperationFiles {
    /// Creates the file in a folder, which should be on a tmpfs.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn new(folder: &Path) -> io::Result<OperationFiles> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join("file");
        let buffer = vec![7; MEBIBYTE];
        std::fs::write(&path, &buffer)?;
        let large = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(folder.join("large"))?;
        for mebibyte in 0..LARGE / MEBIBYTE {
            large.write_all_at(&buffer, (mebibyte * MEBIBYTE) as u64)?;
        }
        Ok(OperationFiles {
            file: File::options().read(true).write(true).open(&path)?,
            large,
            folder: folder.to_owned(),
            buffer,
        })
    }

    /// Runs a round of an operation.
    ///
    /// # Errors
    /// If one of its system calls fails.
    pub fn round(&mut self, operation: KernelOperation) -> io::Result<()> {
        let path = self.folder.join("file");
        let fresh = self.folder.join("fresh");
        let times = operation.round();
        match operation {
            KernelOperation::Fault => return touch(times as usize),
            KernelOperation::PingPong => return ping_pong(times),
            KernelOperation::Tree => return tree(&self.folder),
            KernelOperation::Fill => return fill(&fresh, &self.buffer[..PAGE], times),
            _ => {}
        }
        for turn in 0..times as usize {
            let at = (turn * PAGE % MEBIBYTE) as u64;
            match operation {
                KernelOperation::Null => {
                    let _ = rustix::process::getppid();
                }
                KernelOperation::Stat => {
                    rustix::fs::stat(&path)?;
                }
                KernelOperation::OpenClose => drop(rustix::fs::open(&path, OFlags::RDONLY, Mode::empty())?),
                KernelOperation::CreateRemove => {
                    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::EXCL;
                    drop(rustix::fs::open(&fresh, flags, Mode::RUSR)?);
                    rustix::fs::unlink(&fresh)?;
                }
                KernelOperation::Read4k => self.file.read_exact_at(&mut self.buffer[..PAGE], at)?,
                KernelOperation::Write4k => self.file.write_all_at(&self.buffer[..PAGE], at)?,
                KernelOperation::Read1m => self.file.read_exact_at(&mut self.buffer, 0)?,
                KernelOperation::Scattered => {
                    // Advances by a prime number of pages each time: no page is read twice before all have been
                    // read.
                    let at = turn * 20_011 % (LARGE / PAGE) * PAGE;
                    self.large.read_exact_at(&mut self.buffer[..PAGE], at as u64)?;
                }
                KernelOperation::Tree
                | KernelOperation::Fill
                | KernelOperation::Fault
                | KernelOperation::PingPong => {}
            }
        }
        Ok(())
    }
}

/// Creates a tree of empty files, queries each and removes all.
fn tree(folder: &Path) -> io::Result<()> {
    let folders: Vec<PathBuf> = (0..TREE_FOLDERS)
        .map(|number| folder.join(format!("t{number}")))
        .collect();
    let files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| (0..TREE_FILES).map(|number| folder.join(format!("f{number}"))))
        .collect();
    for folder in &folders {
        rustix::fs::mkdir(folder, Mode::RWXU)?;
    }
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::EXCL;
    for file in &files {
        drop(rustix::fs::open(file, flags, Mode::RUSR)?);
    }
    for file in &files {
        rustix::fs::stat(file)?;
    }
    for file in &files {
        rustix::fs::unlink(file)?;
    }
    for folder in &folders {
        rustix::fs::rmdir(folder)?;
    }
    Ok(())
}

/// Writes a new file page by page and removes it.
fn fill(path: &Path, page: &[u8], pages: u32) -> io::Result<()> {
    let file = File::options().write(true).create_new(true).open(path)?;
    for turn in 0..u64::from(pages) {
        file.write_all_at(page, turn * PAGE as u64)?;
    }
    rustix::fs::unlink(path)?;
    Ok(())
}

fn touch(pages: usize) -> io::Result<()> {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    let length = pages * PAGE;
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: a private mapping, written within its bounds and unmapped.
    unsafe {
        let memory = mmap_anonymous(std::ptr::null_mut(), length, protection, flags)?;
        // A huge page would turn 512 faults into one. A kernel without huge pages does not know the advice.
        match rustix::mm::madvise(memory, length, rustix::mm::Advice::LinuxNoHugepage) {
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
        for page in 0..pages {
            memory.cast::<u8>().add(page * PAGE).write_volatile(1);
        }
        munmap(memory, length)?;
    }
    Ok(())
}

fn ping_pong(times: u32) -> io::Result<()> {
    pass_to_and_fro(times, [None, None]).map(drop)
}

/// Seconds of each round trip between two threads that may be bound to processors.
fn pass_to_and_fro(times: u32, processors: [Option<usize>; 2]) -> io::Result<Vec<f64>> {
    let (there_out, there_in) = rustix::pipe::pipe()?;
    let (back_out, back_in) = rustix::pipe::pipe()?;
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            affinity::bind(processors[0])?;
            let mut took = Vec::with_capacity(times as usize);
            for _ in 0..times {
                let begin = Instant::now();
                send(&there_in)?;
                receive(&back_out)?;
                took.push(begin.elapsed().as_secs_f64());
            }
            Ok(took)
        });
        let other = scope.spawn(|| {
            affinity::bind(processors[1])?;
            (0..times).try_for_each(|_| {
                receive(&there_out)?;
                send(&back_in)
            })
        });
        let took: io::Result<Vec<f64>> = first.join().expect("the thread does not panic");
        other.join().expect("the other thread does not panic")?;
        took
    })
}

fn send(to: &OwnedFd) -> io::Result<()> {
    rustix::io::write(to, &[1])?;
    Ok(())
}

fn receive(from: &OwnedFd) -> io::Result<()> {
    rustix::io::read(from, &mut [0])?;
    Ok(())
}

/// Nanoseconds of processor time per operation, on this machine.
///
/// # Errors
/// If the folder cannot be written, or a system call fails.
pub(super) fn time_all(folder: &Path) -> io::Result<Vec<(KernelOperation, f64)>> {
    const ROUNDS: u32 = 9;
    let mut place = OperationFiles::new(folder)?;
    // The two threads of the ping-pong wait for each other: on one processor each wake-up is a context switch.
    let before = rustix::thread::sched_getaffinity(None)?;
    affinity::bind(affinity::processors().last().copied())?;
    let mut times = Vec::new();
    for operation in KernelOperation::ALL {
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let clock = if operation == KernelOperation::PingPong {
                process_seconds
            } else {
                processor_seconds
            };
            let begin = clock();
            place.round(operation)?;
            best = best.min((clock() - begin) / f64::from(operation.round()));
        }
        times.push((operation, best * 1e9));
    }
    rustix::thread::sched_setaffinity(None, &before)?;
    Ok(times)
}

/// Nanoseconds from one thread to another one on another processor, minus the CPU time of one way. The processor is
/// idle until then, unless this machine has other work, so the fastest quarter counts. `None` if there is one
/// processor.
pub(super) fn time_wakeup(one_way_ns: f64) -> io::Result<Option<f64>> {
    let processors = affinity::processors();
    let [first, .., last] = processors.as_slice() else {
        return Ok(None);
    };
    let mut took = pass_to_and_fro(4 * KernelOperation::PingPong.round(), [Some(*first), Some(*last)])?;
    took.sort_by(f64::total_cmp);
    Ok(Some((took[took.len() / 4] * 1e9 / 2.0 - one_way_ns).max(1.0)))
}

/// Processor time of all threads, in seconds.
fn process_seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_takes_time() {
        let folder = tempfile::tempdir().expect("a folder");
        for (operation, ns) in time_all(folder.path()).expect("they run") {
            assert!(ns > 10.0 && ns < 1e8, "{}: {ns} ns", operation.name());
        }
    }
}
