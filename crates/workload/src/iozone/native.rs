//! raidlab's own engine for IOzone's tests: one thread per process, plain system calls, and stdio-sized buffers for
//! the tests whose names begin with f.

use super::{counters, file, groups, quiesce};
use crate::WorkloadError;
use crate::buffer::AlignedBuffer;
use crate::contents::Contents;
use crate::cpu::CpuTime;
use crate::environment::{DeviceCounters, Host};
use crate::io::Permutation;
use crate::latency::{DoneBy, Operation, Stopwatch};
use crate::random::Random;
use crate::reporter::Reporter;
use crate::thread_stack;
use rustix::fs::{Mode, OFlags, fsync, open, unlink};
use rustix::io::{Errno, pread, pwrite};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use study::metric::Metric;
use study::progress::WorkProgress;
use study::workload::{IozoneSpec, IozoneTest};

/// glibc's buffer for a file on most filesystems: `st_blksize`.
const STDIO_BYTES: usize = 4096;

/// Maximum number of records that are compared at the end.
const CHECKED_RECORDS_MAX: usize = 128;

pub(super) fn run(
    spec: &IozoneSpec,
    mount_point: &Path,
    seed: u64,
    host: &mut dyn Host,
) -> Result<(), WorkloadError> {
    let contents = Contents::for_segments(seed, spec.record_bytes);
    let work = Work {
        spec,
        mount_point,
        seed,
        contents: &contents,
    };
    if !spec.tests.iter().any(|test| test.group() == 0) {
        host.step("prepare files");
        work.measure(IozoneTest::Write, None)?;
    }
    let (mut done, all) = (0, spec.tests.len());
    let units = work.records() * u64::from(spec.processes);
    for (_, tests) in groups(spec) {
        host.next_test(done, all, units);
        quiesce(host)?;
        for (number, &test) in tests.iter().enumerate() {
            // Rewrite requires a write before it, and reread a read.
            if number == 0 && is_second(test) {
                work.measure(first_of(test), None)?;
            }
            host.next_test(done, all, units);
            done += 1;
            host.step(test.name());
            let before = counters(host)?;
            let cpu_before = CpuTime::now();
            let (watch, duration) = work.measure(test, host.progress())?;
            let cpu = CpuTime::now().since(cpu_before);
            let moved = counters(host)? - before;
            work.report(
                test,
                &watch,
                duration,
                cpu,
                moved,
                number == 0 && !is_second(test),
                host,
            );
        }
    }
    host.tests_are_over();
    work.verify(host)
}

const fn is_second(test: IozoneTest) -> bool {
    matches!(
        test,
        IozoneTest::Rewrite | IozoneTest::Reread | IozoneTest::Frewrite | IozoneTest::Freread
    )
}

const fn first_of(test: IozoneTest) -> IozoneTest {
    match test {
        IozoneTest::Rewrite => IozoneTest::Write,
        IozoneTest::Reread => IozoneTest::Read,
        IozoneTest::Frewrite => IozoneTest::Fwrite,
        IozoneTest::Freread => IozoneTest::Fread,
        other => other,
    }
}

struct Work<'a> {
    spec: &'a IozoneSpec,
    mount_point: &'a Path,
    seed: u64,
    contents: &'a Contents,
}

/// One process.
struct Process<'a> {
    work: &'a Work<'a>,
    number: u32,
    path: PathBuf,
    buffer: AlignedBuffer,
    watch: Stopwatch,
}

impl Work<'_> {
    fn records(&self) -> u64 {
        self.spec.file_bytes / self.spec.record_bytes
    }

    /// Runs a test with all processes; returns their merged latencies, and the time from the start to the last end.
    fn measure(
        &self,
        test: IozoneTest,
        progress: Option<Arc<WorkProgress>>,
    ) -> Result<(Stopwatch, Duration), WorkloadError> {
        let barrier = Barrier::new(self.spec.processes as usize);
        let done: Vec<(Stopwatch, Instant, Instant)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.spec.processes)
                .map(|number| {
                    let barrier = &barrier;
                    let by = DoneBy::Each(if test.reads() {
                        Operation::Read
                    } else {
                        Operation::Write
                    });
                    let watch = Stopwatch::reporting(progress.clone(), by);
                    scope.spawn(move || self.process(number, test, watch, barrier))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("a process does not panic"))
                .collect::<Result<_, _>>()
        })?;
        let began = done
            .iter()
            .map(|(_, began, _)| *began)
            .min()
            .expect("there is a process");
        let ended = done
            .iter()
            .map(|(_, _, ended)| *ended)
            .max()
            .expect("there is a process");
        let mut watches = done.into_iter().map(|(watch, _, _)| watch);
        let mut all = watches.next().expect("there is a process");
        watches.for_each(|watch| all.merge(&watch));
        Ok((all, ended - began))
    }

    fn process(
        &self,
        number: u32,
        test: IozoneTest,
        watch: Stopwatch,
        barrier: &Barrier,
    ) -> Result<(Stopwatch, Instant, Instant), WorkloadError> {
        thread_stack::back_with_memory();
        let path = file(self.mount_point, number);
        if test == IozoneTest::Write {
            match unlink(&path) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(WorkloadError::at("delete", &path)(error)),
            }
        }
        let opened = self.open(test, &path);
        // Even if that failed: the other threads wait.
        barrier.wait();
        let began = Instant::now();
        let mut process = Process {
            work: self,
            number,
            buffer: AlignedBuffer::zeroed(self.spec.record_bytes as usize),
            watch,
            path,
        };
        process.watch.restart();
        let file = opened?;
        process.run(test, &file)?;
        let writes = !test.reads();
        if writes && self.spec.include_flush {
            fsync(&file).map_err(WorkloadError::at("fsync", &process.path))?;
            process.watch.lap(Operation::Fsync);
        }
        Ok((process.watch, began, Instant::now()))
    }

    fn open(&self, test: IozoneTest, path: &Path) -> Result<OwnedFd, WorkloadError> {
        let mut flags = OFlags::CLOEXEC
            | match test {
                _ if test.reads() => OFlags::RDONLY,
                IozoneTest::Write => OFlags::RDWR | OFlags::CREATE,
                IozoneTest::Fwrite | IozoneTest::Frewrite => OFlags::RDWR | OFlags::CREATE,
                _ => OFlags::RDWR,
            };
        if self.spec.sync && !test.reads() {
            flags |= OFlags::SYNC;
        }
        if self.spec.direct && test.group() < 6 {
            flags |= OFlags::DIRECT;
        }
        open(path, flags, Mode::from_raw_mode(0o644)).map_err(WorkloadError::at("open", path))
    }

    #[expect(clippy::too_many_arguments, reason = "all results of one test")]
    fn report(
        &self,
        test: IozoneTest,
        watch: &Stopwatch,
        duration: Duration,
        cpu: CpuTime,
        moved: DeviceCounters,
        is_cold: bool,
        host: &mut dyn Host,
    ) {
        let all = self.records() * self.spec.record_bytes * u64::from(self.spec.processes);
        let mut reporter = Reporter {
            host,
            test: test.name(),
        };
        reporter.throughput(all, duration);
        reporter.seconds(Metric::Duration, duration);
        reporter.cpu(cpu);
        reporter.device_work(moved);
        reporter.judge_stack();
        reporter.latencies(watch);
        if is_cold && test.reads() {
            reporter.cold_cache_guard(all, moved);
        }
        let flushed = self.spec.include_flush || self.spec.direct || self.spec.sync;
        if !test.reads() && flushed && test != IozoneTest::RecordRewrite {
            reporter.written_out_guard(all, moved);
        }
    }

    /// Compares a sample of the records: their contents are the same whichever test wrote them last.
    fn verify(&self, host: &mut dyn Host) -> Result<(), WorkloadError> {
        host.step("verify contents");
        host.remount().map_err(WorkloadError::host("remount"))?;
        let mut random = Random::new(self.seed, u64::from_le_bytes(*b"checking"));
        let mut buffer = vec![0; self.spec.record_bytes as usize];
        let mut wrong = None;
        let checked = CHECKED_RECORDS_MAX.min(usize::try_from(self.records()).unwrap_or(usize::MAX));
        for _ in 0..checked {
            let process = random.below(u64::from(self.spec.processes)) as u32;
            let record = random.below(self.records());
            let path = file(self.mount_point, process);
            let fd = open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .map_err(WorkloadError::at("open", &path))?;
            read_whole(&fd, &mut buffer, record * self.spec.record_bytes, &path)?;
            if buffer[..] != *self.contents.stretch(u64::from(process), record, buffer.len()) {
                wrong.get_or_insert_with(|| format!("record {record} of {}", path.display()));
            }
        }
        let found = wrong
            .as_ref()
            .map_or("all as written".to_owned(), |what| format!("not as written: {what}"));
        Reporter {
            host,
            test: self.spec.tests[0].name(),
        }
        .guard(
            "contents",
            wrong.is_none(),
            format!("{checked} records read back with cold caches, {found}"),
        );
        Ok(())
    }
}

impl Process<'_> {
    fn run(&mut self, test: IozoneTest, file: &OwnedFd) -> Result<(), WorkloadError> {
        let records = self.work.records();
        match test {
            IozoneTest::Write | IozoneTest::Rewrite => (0..records).try_for_each(|at| self.write(file, at)),
            IozoneTest::Read | IozoneTest::Reread => (0..records).try_for_each(|at| self.read(file, at)),
            IozoneTest::BackwardRead => (0..records).rev().try_for_each(|at| self.read(file, at)),
            IozoneTest::RandomRead => self.shuffled(test).try_for_each(|at| self.read(file, at)),
            IozoneTest::RandomWrite => self.shuffled(test).try_for_each(|at| self.write(file, at)),
            IozoneTest::RecordRewrite => (0..records).try_for_each(|_| self.write(file, 0)),
            IozoneTest::StridedRead => {
                strided(records, u64::from(self.work.spec.stride_records)).try_for_each(|at| self.read(file, at))
            }
            IozoneTest::Fwrite | IozoneTest::Frewrite => self.write_buffered(file),
            IozoneTest::Fread | IozoneTest::Freread => self.read_buffered(file),
        }
    }

    /// Each record once, in random order as in IOzone's own shuffle.
    fn shuffled(&self, test: IozoneTest) -> impl Iterator<Item = u64> + use<> {
        let records = self.work.records();
        let stream = u64::from(self.number) << 8 | u64::from(test as u8);
        let permutation = Permutation::new(crate::random::hash(self.work.seed, stream, 0), records);
        (0..records).map(move |at| permutation.at(at))
    }

    fn read(&mut self, file: &OwnedFd, record: u64) -> Result<(), WorkloadError> {
        let offset = record * self.work.spec.record_bytes;
        read_whole(file, &mut self.buffer, offset, &self.path)?;
        self.watch.lap(Operation::Read);
        Ok(())
    }

    fn write(&mut self, file: &OwnedFd, record: u64) -> Result<(), WorkloadError> {
        let len = self.buffer.len();
        let bytes = self.work.contents.stretch(u64::from(self.number), record, len);
        let offset = record * len as u64;
        let mut done = 0;
        while done < len {
            done += pwrite(file, &bytes[done..], offset + done as u64)
                .map_err(WorkloadError::at("write", &self.path))?;
        }
        self.watch.lap(Operation::Write);
        Ok(())
    }

    fn write_buffered(&mut self, file: &OwnedFd) -> Result<(), WorkloadError> {
        let mut writer = BufWriter::with_capacity(STDIO_BYTES, self.again(file)?);
        let len = self.buffer.len();
        for record in 0..self.work.records() {
            let bytes = self.work.contents.stretch(u64::from(self.number), record, len);
            writer
                .write_all(bytes)
                .map_err(WorkloadError::at("write", &self.path))?;
            self.watch.lap(Operation::Write);
        }
        writer.flush().map_err(WorkloadError::at("write", &self.path))
    }

    fn read_buffered(&mut self, file: &OwnedFd) -> Result<(), WorkloadError> {
        let mut reader = BufReader::with_capacity(STDIO_BYTES, self.again(file)?);
        for _ in 0..self.work.records() {
            reader
                .read_exact(&mut self.buffer)
                .map_err(WorkloadError::at("read", &self.path))?;
            self.watch.lap(Operation::Read);
        }
        Ok(())
    }

    fn again(&self, file: &OwnedFd) -> Result<File, WorkloadError> {
        let same = file.as_fd().try_clone_to_owned();
        Ok(File::from(same.map_err(WorkloadError::at("open", &self.path))?))
    }
}

fn read_whole(file: &OwnedFd, buffer: &mut [u8], offset: u64, path: &Path) -> Result<(), WorkloadError> {
    let mut done = 0;
    while done < buffer.len() {
        let more =
            pread(file, &mut buffer[done..], offset + done as u64).map_err(WorkloadError::at("read", path))?;
        if more == 0 {
            return Err(WorkloadError::Spec(format!("{} is too short", path.display())));
        }
        done += more;
    }
    Ok(())
}

/// IOzone's order: every `stride`-th record; after the end of the file, again from the next record.
fn strided(records: u64, stride: u64) -> impl Iterator<Item = u64> {
    let (mut at, mut wraps) = (0, 0);
    (0..records).map(move |_| {
        let this = at;
        if this + 1 + stride >= records.saturating_sub(1) {
            wraps += 1;
            at = if records <= stride { 0 } else { wraps % records };
        } else {
            at = this + stride;
        }
        this
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_begin_again_one_further_on() {
        assert_eq!(strided(12, 4).take(8).collect::<Vec<_>>(), [0, 4, 8, 1, 5, 9, 2, 6]);
        assert!(strided(3, 17).all(|at| at == 0));
        assert!(strided(1000, 17).all(|at| at < 1000));
    }
}
