//! A block device that is measured: direct reads, which the page cache does not serve, with the times that they took.

use crate::progress::{clock, note};
use host::Disk;
use measure::{Error, Read, Target, Timing};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Of direct reads in memory: no drive has larger sectors.
const ALIGNMENT: usize = 4096;
/// A line of progress at most this often.
const LINE_EVERY: Duration = Duration::from_secs(60);

/// A disk that is open exclusively.
pub struct Device {
    file: File,
    sectors: u64,
    started: Instant,
    said: Instant,
    reads: u64,
}

impl Device {
    /// # Errors
    /// If the kernel does not open it.
    pub fn open(disk: &Disk) -> io::Result<Device> {
        // A disk that is open exclusively is not mounted meanwhile.
        let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::open(&disk.node, flags, Mode::empty())?;
        let now = Instant::now();
        Ok(Device {
            file: file.into(),
            sectors: disk.size_bytes / 512,
            started: now,
            said: now,
            reads: 0,
        })
    }

    /// Says what begins.
    pub fn say(&mut self, what: &str) {
        self.said = Instant::now();
        note(&format!("raidlab: {what}, after {}", clock(self.started.elapsed())));
    }

    fn count(&mut self, reads: usize) {
        self.reads += reads as u64;
        if self.said.elapsed() >= LINE_EVERY {
            self.say(&format!("{} reads done", self.reads));
        }
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn timed(&self, read: Read, buffer: &mut Buffer) -> Result<Timing, Error> {
        let from_ns = self.nanos();
        let bytes = buffer.of(read.sectors as usize * 512);
        let result = self.file.read_exact_at(bytes, read.sector * 512);
        let to_ns = self.nanos();
        result.map_err(|error| Error::Unreadable {
            sector: read.sector,
            sectors: read.sectors,
            why: why(&error),
        })?;
        Ok(Timing { from_ns, to_ns })
    }

    /// One of several threads, each with one read under way.
    fn serve(&self, reads: &[Read], next: &AtomicUsize) -> Result<Vec<(usize, Timing)>, Error> {
        let mut buffer = Buffer::of_reads(reads);
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(&read) = reads.get(index) else {
                return Ok(done);
            };
            match self.timed(read, &mut buffer) {
                Ok(timing) => done.push((index, timing)),
                Err(error) => {
                    // The others stop, too.
                    next.store(reads.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    }
}

impl Target for Device {
    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn run(&mut self, reads: &[Read], depth: u32) -> Result<Vec<Timing>, Error> {
        let next = AtomicUsize::new(0);
        let done = if depth <= 1 {
            self.serve(reads, &next)?
        } else {
            thread::scope(|scope| {
                let device = &*self;
                let serve = || device.serve(reads, &next);
                let threads: Vec<_> = (0..depth).map(|_| scope.spawn(serve)).collect();
                let mut all = Vec::new();
                for thread in threads {
                    let stopped = |_| Error::Stopped("a thread of reads ended early".to_owned());
                    all.extend(thread.join().map_err(stopped)??);
                }
                Ok(all)
            })?
        };
        let mut timings = vec![Timing { from_ns: 0, to_ns: 0 }; reads.len()];
        for (index, timing) in done {
            if let Some(slot) = timings.get_mut(index) {
                *slot = timing;
            }
        }
        self.count(reads.len());
        Ok(timings)
    }

    fn pause(&mut self, ms: u64) {
        thread::sleep(Duration::from_millis(ms));
    }
}

/// The kernel says "No data available" of sectors that the drive could not read.
fn why(error: &io::Error) -> String {
    let is_medium = error.raw_os_error() == Some(rustix::io::Errno::NODATA.raw_os_error());
    if is_medium {
        "medium error".to_owned()
    } else {
        crate::command::reason(error)
    }
}

/// Memory for direct reads.
struct Buffer {
    bytes: Vec<u8>,
    from: usize,
}

impl Buffer {
    fn of_reads(reads: &[Read]) -> Self {
        let most = reads.iter().map(|read| read.sectors as usize * 512).max();
        let bytes = vec![0; most.unwrap_or(0) + ALIGNMENT];
        let from = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Buffer { bytes, from }
    }

    fn of(&mut self, bytes: usize) -> &mut [u8] {
        &mut self.bytes[self.from..self.from + bytes]
    }
}
