//! Workloads of mail servers, package managers and databases: each operation ends when it is on stable storage.
//!
//! **Files.** Each test has its own folder, `MOUNT/TEST`. Its directories, and the files for `replace` and `mixed`,
//! are prepared before, unmeasured. Client `c` of `n` creates or replaces the files `c`, `c + n`, …; it reads any.
//! `append` writes `MOUNT/append/log.c`, `commit` writes `MOUNT/commit/log`.
//!
//! **Before each test** all dirty data is written back, the array is idle and the caches are dropped.
//!
//! **End of the measurement.** A `syncfs` after the last operation, for names that no fsync covers. The latency of
//! an operation is from its start (with `rate`: from its due time) to the return of its last system call.
//!
//! **Guards.** `contents`: a sample of the files and all records, after a remount. `written-out`: all written data
//! reached the disks.

mod client;
mod commit;
mod files;

use crate::contents::Contents;
use crate::cpu::CpuTime;
use crate::environment::{DeviceCounters, Host};
use crate::latency::{DoneBy, LatencyHistogram, Stopwatch, histogram};
use crate::reporter::{OWN_CLOCK, Reporter};
use crate::thread_stack;
use crate::tree::collection::Collection;
use crate::{Engine, Target, WorkloadError};
use client::Client;
use commit::Log;
use files::Files;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use study::metric::Metric;
use study::progress::WorkProgress;
use study::workload::{ServerSpec, ServerTest, TreeSpec};
use tools::Tool;

impl Engine for ServerSpec {
    fn tool(&self) -> Option<Tool> {
        None
    }

    fn run(&self, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
        let mount_point = target.mount_point.ok_or_else(|| {
            WorkloadError::Spec("a server needs a filesystem, and this stack has none".to_owned())
        })?;
        let tree = TreeSpec {
            files: self.files,
            size: self.size.clone(),
            directories: self.directories,
            tests: Vec::new(),
            from: None,
            from_warm: false,
            to: None,
        };
        let segment_bytes = self.record_bytes.max(Contents::SEGMENT_BYTES);
        let server = Server {
            spec: self,
            mount_point,
            seed,
            collection: Collection::new(&tree, seed)?,
            contents: Contents::for_segments(seed, segment_bytes),
        };
        for number in 0..self.tests.len() {
            server.measure(number, host)?;
        }
        Ok(())
    }
}

/// State shared by all clients of a test.
struct Server<'a> {
    spec: &'a ServerSpec,
    mount_point: &'a Path,
    seed: u64,
    collection: Collection,
    contents: Contents,
}

/// Result of one client, or of all.
struct Done {
    /// Single system calls.
    watch: Stopwatch,
    /// Whole operations.
    operations: LatencyHistogram,
    reads: LatencyHistogram,
    written_bytes: u64,
}

impl Done {
    fn new(progress: Option<Arc<WorkProgress>>) -> Self {
        Self {
            watch: Stopwatch::reporting(progress, DoneBy::Byte),
            operations: histogram(),
            reads: histogram(),
            written_bytes: 0,
        }
    }

    fn merge(&mut self, other: &Self) {
        const SAME: &str = "all histograms have the same bounds";
        self.watch.merge(&other.watch);
        self.operations.add(&other.operations).expect(SAME);
        self.reads.add(&other.reads).expect(SAME);
        self.written_bytes += other.written_bytes;
    }
}

fn counters(host: &mut dyn Host) -> Result<DeviceCounters, WorkloadError> {
    host.device_counters()
        .map_err(WorkloadError::host("read the disks' counters"))
}

impl Server<'_> {
    /// How much a test does: bytes, or of `mixed` nanoseconds.
    fn units(&self, test: ServerTest) -> u64 {
        let spec = self.spec;
        match test {
            ServerTest::Create | ServerTest::Deliver | ServerTest::Replace => self.collection.bytes,
            ServerTest::Append | ServerTest::Commit => {
                u64::from(spec.clients) * u64::from(spec.records) * spec.record_bytes
            }
            ServerTest::Mixed => spec.runtime_ns,
        }
    }

    fn measure(&self, number: usize, host: &mut dyn Host) -> Result<(), WorkloadError> {
        let test = self.spec.tests[number];
        let folder = self.mount_point.join(test.name());
        let files = Files::prepare(self, test, &folder)?;
        host.next_test(number, self.spec.tests.len(), self.units(test));
        host.quiesce_and_drop_caches()
            .map_err(WorkloadError::host("quiesce and drop caches"))?;
        // Dropping caches unmounts, so no file may be open.
        let log = (test == ServerTest::Commit).then(|| Log::create(&folder)).transpose()?;
        let before = counters(host)?;
        host.step(test.name());
        let cpu_before = CpuTime::now();
        let (done, began) = self.all_clients(test, &files, log.as_ref(), host.progress())?;
        files::sync(self.mount_point)?;
        let duration = began.elapsed();
        let cpu = CpuTime::now().since(cpu_before);
        let moved = counters(host)? - before;
        report(test, &done, duration, cpu, moved, host);
        let commits = log.as_ref().map(Log::commits);
        drop(log);
        if number + 1 == self.spec.tests.len() {
            host.tests_are_over();
        }
        host.remount().map_err(WorkloadError::host("remount"))?;
        let (passed, mut detail) = files.compare(test);
        if let Some(commits) = commits {
            detail += &format!("; {commits} fdatasyncs for {} records", done.operations.len());
        }
        let mut reporter = Reporter {
            host,
            test: test.name(),
        };
        reporter.guard("contents", passed, detail);
        Ok(())
    }

    /// Runs the clients; returns their result and the start of the first one.
    fn all_clients(
        &self,
        test: ServerTest,
        files: &Files<'_>,
        log: Option<&Log>,
        progress: Option<Arc<WorkProgress>>,
    ) -> Result<(Done, Instant), WorkloadError> {
        let barrier = Barrier::new(self.spec.clients as usize);
        let done: Vec<(Done, Instant)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.spec.clients)
                .map(|number| {
                    let (barrier, progress) = (&barrier, progress.clone());
                    scope.spawn(move || {
                        thread_stack::back_with_memory();
                        let client = Client::new(self, files, number, progress)?;
                        barrier.wait();
                        let began = Instant::now();
                        Ok((client.work(test, log, began)?, began))
                    })
                })
                .collect();
            let ended = threads
                .into_iter()
                .map(|thread| thread.join().expect("a client does not panic"));
            ended.collect::<Result<_, WorkloadError>>()
        })?;
        let began = done.iter().map(|(_, began)| *began).min().expect("there is a client");
        let mut all = Done::new(None);
        done.iter().for_each(|(done, _)| all.merge(done));
        Ok((all, began))
    }
}

fn report(
    test: ServerTest,
    done: &Done,
    duration: Duration,
    cpu: CpuTime,
    moved: DeviceCounters,
    host: &mut dyn Host,
) {
    let mut reporter = Reporter {
        host,
        test: test.name(),
    };
    let operations = done.operations.len() + done.reads.len();
    let metric = match test {
        ServerTest::Create | ServerTest::Deliver | ServerTest::Replace => Metric::FilesPerSecond,
        ServerTest::Append | ServerTest::Commit | ServerTest::Mixed => Metric::Iops,
    };
    reporter.sample(metric, operations as f64 / duration.as_secs_f64());
    reporter.seconds(Metric::Duration, duration);
    reporter.percentiles(&done.operations);
    reporter.cpu(cpu);
    reporter.device_work(moved);
    reporter.judge_stack();
    let name = if test == ServerTest::Mixed {
        "replace"
    } else {
        test.name()
    };
    reporter.latency(name, &done.operations);
    reporter.latency("read file", &done.reads);
    reporter.latencies(&done.watch);
    reporter.throughput_over_time(done.watch.throughput(), duration);
    reporter.long_enough_guard(duration, OWN_CLOCK);
    reporter.written_out_guard(done.written_bytes, moved);
}
