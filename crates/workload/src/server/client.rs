//! One client and its sequence of operations.

use super::commit::Log;
use super::files::{Files, log_name};
use super::{Done, Server};
use crate::WorkloadError;
use crate::latency::Operation;
use crate::random::Random;
use rustix::fs::{Mode, OFlags, open, rename};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use study::progress::WorkProgress;
use study::workload::ServerTest;

/// Size of one read of a file.
const READ_BYTES: usize = 128 << 10;

pub(super) struct Client<'a> {
    server: &'a Server<'a>,
    files: &'a Files<'a>,
    number: u32,
    /// Directory `new` of a Maildir, to be fsynced.
    inbox: Option<OwnedFd>,
    /// Where progress is reported, if acts may wait for it.
    progress: Option<Arc<WorkProgress>>,
    done: Done,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        server: &'a Server<'a>,
        files: &'a Files<'a>,
        number: u32,
        progress: Option<Arc<WorkProgress>>,
    ) -> Result<Self, WorkloadError> {
        let inbox = files.folder.join("new");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self {
            server,
            files,
            number,
            inbox: inbox
                .is_dir()
                .then(|| open(&inbox, flags, Mode::empty()).map_err(WorkloadError::at("open", &inbox)))
                .transpose()?,
            progress,
            done: Done::new(None),
        })
    }

    /// Runs this client's part of a test, which starts now.
    pub(super) fn work(
        mut self,
        test: ServerTest,
        log: Option<&Log>,
        began: Instant,
    ) -> Result<Done, WorkloadError> {
        // The time of `mixed` is its progress.
        let by_bytes = self.progress.clone().filter(|_| test != ServerTest::Mixed);
        self.done = Done::new(by_bytes);
        match (test, log) {
            (ServerTest::Append, _) => self.append()?,
            (ServerTest::Commit, Some(log)) => self.commit(log)?,
            (ServerTest::Mixed, _) => self.mixed(began)?,
            _ => {
                let all = (self.number..self.files.len()).step_by(self.server.spec.clients as usize);
                for file in all {
                    let before = Instant::now();
                    self.make(test, file)?;
                    record(&mut self.done.operations, before.elapsed());
                }
            }
        }
        Ok(self.done)
    }

    /// Makes one file durable, as the test defines it.
    fn make(&mut self, test: ServerTest, file: u32) -> Result<(), WorkloadError> {
        let path = self.files.path(file);
        if test == ServerTest::Create {
            self.write(file, &path)?;
            self.files.end(file);
            return Ok(());
        }
        let temporary = self.files.temporary(file);
        self.write(file, &temporary)?;
        rename(&temporary, &path).map_err(WorkloadError::at("rename", &temporary))?;
        self.done.watch.lap(Operation::Rename);
        if let Some(inbox) = &self.inbox {
            rustix::fs::fsync(inbox).map_err(WorkloadError::at("fsync", &self.files.folder))?;
            self.done.watch.lap(Operation::Fsync);
        }
        self.files.end(file);
        Ok(())
    }

    /// Creates a file, writes it, fsyncs and closes it.
    fn write(&mut self, number: u32, path: &Path) -> Result<(), WorkloadError> {
        let file = create(path)?;
        let watch = &mut self.done.watch;
        watch.lap(Operation::Create);
        let version = self.files.begin(number);
        self.files.each_piece(number, version, &mut |mut piece| {
            while !piece.is_empty() {
                let written = rustix::io::write(&file, piece).map_err(WorkloadError::at("write", path))?;
                piece = &piece[written..];
            }
            watch.lap(Operation::Write);
            Ok(())
        })?;
        rustix::fs::fsync(&file).map_err(WorkloadError::at("fsync", path))?;
        watch.lap(Operation::Fsync);
        watch.moved(self.files.size(number));
        drop(file);
        watch.lap(Operation::Close);
        self.done.written_bytes += self.files.size(number);
        Ok(())
    }

    fn append(&mut self) -> Result<(), WorkloadError> {
        let path = self.files.folder.join(log_name(self.number));
        let file = create(&path)?;
        self.done.watch.lap(Operation::Create);
        for place in 0..u64::from(self.server.spec.records) {
            let before = Instant::now();
            write_record(&file, &path, self.files.record(self.number, place), place)?;
            self.done.watch.lap(Operation::Write);
            rustix::fs::fdatasync(&file).map_err(WorkloadError::at("fdatasync", &path))?;
            self.done.watch.lap(Operation::Fsync);
            self.done.watch.moved(self.server.spec.record_bytes);
            record(&mut self.done.operations, before.elapsed());
            self.done.written_bytes += self.server.spec.record_bytes;
        }
        Ok(())
    }

    fn commit(&mut self, log: &Log) -> Result<(), WorkloadError> {
        let path = self.files.folder.join(super::commit::NAME);
        for _ in 0..self.server.spec.records {
            let before = Instant::now();
            log.append(|file, place| write_record(file, &path, self.files.record(0, place), place))?;
            let took = before.elapsed();
            record(&mut self.done.operations, took);
            self.done.watch.moved_at(before + took, self.server.spec.record_bytes);
            self.done.written_bytes += self.server.spec.record_bytes;
        }
        Ok(())
    }

    /// Reads any files and replaces its own, until the time has elapsed.
    fn mixed(&mut self, began: Instant) -> Result<(), WorkloadError> {
        let spec = self.server.spec;
        let until = began + Duration::from_nanos(spec.runtime_ns);
        let mut random = Random::new(
            self.server.seed ^ u64::from(self.number),
            u64::from_le_bytes(*b"mixing.."),
        );
        let mut buffer = vec![0; READ_BYTES];
        for turn in 0_u64.. {
            let due = spec.rate.map(|rate| {
                let operation = turn * u64::from(spec.clients) + u64::from(self.number);
                began + Duration::from_nanos((u128::from(operation) * 1_000_000_000 / u128::from(rate)) as u64)
            });
            let mut before = Instant::now();
            if let Some(due) = due {
                std::thread::sleep(due.min(until).saturating_duration_since(before));
                before = due;
            }
            let now = Instant::now();
            if let Some(progress) = &self.progress {
                progress.reach(u64::try_from((now - began).as_nanos()).unwrap_or(u64::MAX));
            }
            if now >= until {
                return Ok(());
            }
            if random.below(100) < u64::from(spec.read_percent) {
                let file = random.below(u64::from(self.files.len())) as u32;
                self.read(file, &mut buffer)?;
                record(&mut self.done.reads, before.elapsed());
            } else {
                let own = self.files.len().saturating_sub(self.number).div_ceil(spec.clients);
                let file = random.below(u64::from(own)) as u32 * spec.clients + self.number;
                self.make(ServerTest::Mixed, file)?;
                record(&mut self.done.operations, before.elapsed());
            }
        }
        Ok(())
    }

    fn read(&mut self, number: u32, buffer: &mut [u8]) -> Result<(), WorkloadError> {
        let path = self.files.path(number);
        let file = open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .map_err(WorkloadError::at("open", &path))?;
        self.done.watch.lap(Operation::Open);
        let mut read = 0;
        loop {
            let length = rustix::io::read(&file, &mut *buffer).map_err(WorkloadError::at("read", &path))?;
            self.done.watch.lap(Operation::Read);
            self.done.watch.moved(length as u64);
            read += length as u64;
            if length < buffer.len() {
                break;
            }
        }
        // A file is replaced atomically: either version has its size.
        if read != self.files.size(number) {
            return Err(WorkloadError::Spec(format!(
                "{} has {read} bytes, and {} were written",
                path.display(),
                self.files.size(number)
            )));
        }
        Ok(())
    }
}

fn create(path: &Path) -> Result<OwnedFd, WorkloadError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    open(path, flags, Mode::from_raw_mode(0o644)).map_err(WorkloadError::at("create", path))
}

fn write_record(file: &OwnedFd, path: &Path, mut bytes: &[u8], place: u64) -> Result<(), WorkloadError> {
    let mut offset = place * bytes.len() as u64;
    while !bytes.is_empty() {
        let written = rustix::io::pwrite(file, bytes, offset).map_err(WorkloadError::at("write", path))?;
        offset += written as u64;
        bytes = &bytes[written..];
    }
    Ok(())
}

fn record(histogram: &mut crate::latency::LatencyHistogram, duration: Duration) {
    histogram.saturating_record(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
}
