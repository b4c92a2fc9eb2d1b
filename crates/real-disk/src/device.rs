//! A block device under measurement: timed direct requests, which bypass the page cache.

use host::Disk;
use measure::{Error, Extent, ReadableDisk, RequestKind, Timing, Writable};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Alignment of direct requests in memory: no drive has larger sectors.
const ALIGNMENT: usize = 4096;
/// Interval of progress lines.
const LINE_EVERY: Duration = Duration::from_secs(60);

/// A disk that is open exclusively.
pub struct Device {
    file: File,
    sectors: u64,
    started: Instant,
    said: Instant,
    requests: u64,
}

impl Device {
    /// Opens it for reading.
    ///
    /// # Errors
    /// If the kernel does not open it.
    pub fn open(disk: &Disk) -> io::Result<Device> {
        Self::open_with(disk, OFlags::RDONLY)
    }

    /// Opens it for overwriting as well.
    ///
    /// # Errors
    /// If the kernel does not open it.
    pub fn open_to_destroy(disk: &Disk) -> io::Result<Device> {
        Self::open_with(disk, OFlags::RDWR)
    }

    fn open_with(disk: &Disk, access: OFlags) -> io::Result<Device> {
        // While a disk is open exclusively it cannot be mounted.
        let flags = access | OFlags::DIRECT | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::open(&disk.node, flags, Mode::empty())?;
        let now = Instant::now();
        Ok(Device {
            file: file.into(),
            sectors: disk.size_bytes / 512,
            started: now,
            said: now,
            requests: 0,
        })
    }

    /// Reports the step that starts.
    pub fn say(&mut self, what: &str) {
        self.said = Instant::now();
        log::info!("{what}, after {}", report::clock(self.started.elapsed()));
    }

    fn count(&mut self, requests: usize) {
        self.requests += requests as u64;
        if self.said.elapsed() >= LINE_EVERY {
            self.say(&format!("{} requests done", self.requests));
        }
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn timed(&self, op: RequestKind, extent: Extent, buffer: &mut Buffer) -> Result<Timing, Error> {
        let Extent { sector, sectors } = extent;
        let bytes = buffer.first(sectors as usize * 512);
        let from_ns = self.nanos();
        let result = match op {
            RequestKind::Read => self.file.read_exact_at(bytes, sector * 512),
            RequestKind::Write => self.file.write_all_at(bytes, sector * 512),
        };
        let to_ns = self.nanos();
        result.map_err(|error| {
            let why = why(&error);
            match op {
                RequestKind::Read => Error::Unreadable { sector, sectors, why },
                RequestKind::Write => Error::Unwritable { sector, sectors, why },
            }
        })?;
        Ok(Timing { from_ns, to_ns })
    }

    /// One of several threads, each with one request in flight.
    fn thread(
        &self,
        requests: &[(RequestKind, Extent)],
        next: &AtomicUsize,
    ) -> Result<Vec<(usize, Timing)>, Error> {
        let mut buffer = Buffer::of(requests);
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(op, extent)) = requests.get(index) else {
                return Ok(done);
            };
            match self.timed(op, extent, &mut buffer) {
                Ok(timing) => done.push((index, timing)),
                Err(error) => {
                    // Stop the other threads as well.
                    next.store(requests.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    }

    fn serve(&mut self, requests: &[(RequestKind, Extent)], depth: u32) -> Result<Vec<Timing>, Error> {
        let next = AtomicUsize::new(0);
        let done = if depth <= 1 {
            self.thread(requests, &next)?
        } else {
            // Starting 256 threads takes as long as thousands of reads of a fast SSD.
            let gate = RwLock::new(());
            thread::scope(|scope| {
                let device = &*self;
                let serve = || {
                    drop(gate.read());
                    device.thread(requests, &next)
                };
                let closed = gate.write();
                let threads: Vec<_> = (0..depth).map(|_| scope.spawn(serve)).collect();
                drop(closed);
                let mut all = Vec::new();
                for thread in threads {
                    let stopped = |_| Error::Stopped("a thread of requests ended early".to_owned());
                    all.extend(thread.join().map_err(stopped)??);
                }
                Ok(all)
            })?
        };
        let mut timings = vec![Timing { from_ns: 0, to_ns: 0 }; requests.len()];
        for (index, timing) in done {
            if let Some(slot) = timings.get_mut(index) {
                *slot = timing;
            }
        }
        self.count(requests.len());
        Ok(timings)
    }
}

impl ReadableDisk for Device {
    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn read(&mut self, reads: &[Extent], depth: u32) -> Result<Vec<Timing>, Error> {
        self.serve(&all(RequestKind::Read, reads), depth)
    }

    fn pause(&mut self, ms: u64) {
        thread::sleep(Duration::from_millis(ms));
    }
}

impl Writable for Device {
    fn write(&mut self, writes: &[Extent], depth: u32) -> Result<Vec<Timing>, Error> {
        self.serve(&all(RequestKind::Write, writes), depth)
    }

    fn mix(&mut self, requests: &[(RequestKind, Extent)], depth: u32) -> Result<Vec<Timing>, Error> {
        self.serve(requests, depth)
    }

    /// fdatasync(2) on a block device sends a flush to the drive.
    fn flush(&mut self) -> Result<Timing, Error> {
        let from_ns = self.nanos();
        let flushed = self.file.sync_data();
        flushed.map_err(|error| Error::NotFlushed(files::reason(&error)))?;
        let to_ns = self.nanos();
        Ok(Timing { from_ns, to_ns })
    }
}

fn all(op: RequestKind, extents: &[Extent]) -> Vec<(RequestKind, Extent)> {
    extents.iter().map(|&extent| (op, extent)).collect()
}

/// The kernel reports "No data available" for sectors that the drive could not read.
fn why(error: &io::Error) -> String {
    let is_medium = error.raw_os_error() == Some(rustix::io::Errno::NODATA.raw_os_error());
    if is_medium {
        "medium error".to_owned()
    } else {
        files::reason(error)
    }
}

/// Memory for direct requests, with incompressible bytes.
struct Buffer {
    bytes: Vec<u8>,
    from: usize,
}

impl Buffer {
    fn of(requests: &[(RequestKind, Extent)]) -> Self {
        let most = requests.iter().map(|(_, extent)| extent.sectors as usize * 512).max();
        let mut bytes = vec![0; most.unwrap_or(0) + ALIGNMENT];
        // Marsaglia's xorshift.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for eight in bytes.chunks_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            eight.copy_from_slice(&state.to_le_bytes()[..eight.len()]);
        }
        let from = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Buffer { bytes, from }
    }

    fn first(&mut self, bytes: usize) -> &mut [u8] {
        &mut self.bytes[self.from..self.from + bytes]
    }
}
