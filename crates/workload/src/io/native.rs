//! raidlab's own engine: one thread per job; plain system calls at depth 1, io_uring at higher depths, threads if
//! the kernel has no io_uring.

use crate::WorkloadError;
use crate::contents::Contents;
use crate::io::block_order::Cursor;
use crate::io::pacing::Feed;
use crate::io::tally::{Outcome, Tally};
use crate::io::targets::Place;
use crate::io::{psync, uring_engine};
use crate::thread_stack;
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};
use study::phase::Phases;
use study::workload::IoSpec;

/// How a job keeps its requests in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// One at a time, by pread and pwrite.
    Plain,
    Ring,
    /// As many threads as requests, with pread and pwrite, as in glibc's POSIX asynchronous I/O.
    Threads,
}

impl Method {
    pub(super) fn choose(spec: &IoSpec) -> Self {
        match spec.queue_depth {
            0 | 1 => Self::Plain,
            _ if uring_engine::is_offered() => Self::Ring,
            _ => Self::Threads,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "pread, pwrite",
            Self::Ring => "io_uring",
            Self::Threads => "threads of pread, pwrite",
        }
    }
}

/// Result of one job.
struct JobDone {
    tally: Tally,
    began: Instant,
    ended: Instant,
    cursor: Cursor,
}

impl JobDone {
    fn duration(&self) -> Duration {
        self.ended.saturating_duration_since(self.began)
    }
}

/// State shared by all jobs.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) contents: &'a Contents,
    pub(super) seed: u64,
    /// The phases of the array, if acts are done on it.
    pub(super) phases: Option<&'a Phases>,
}

/// Runs the jobs; also returns each job's cursor at the end.
pub(super) fn run(
    spec: &IoSpec,
    method: Method,
    places: &[Place],
    shared: Shared<'_>,
) -> Result<(Outcome, Vec<Cursor>), WorkloadError> {
    let barrier = Barrier::new(places.len());
    let jobs: Vec<JobDone> = std::thread::scope(|scope| {
        let threads: Vec<_> = places
            .iter()
            .map(|place| scope.spawn(|| job(spec, method, place, shared, &barrier)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a job does not panic"))
            .collect::<Result<_, _>>()
    })?;
    let mut tally = Tally::new();
    for job in &jobs {
        tally.merge(&job.tally);
    }
    let began = jobs.iter().map(|job| job.began).min().expect("there is a job");
    let ended = jobs.iter().map(|job| job.ended).max().expect("there is a job");
    let each = jobs.iter().map(|job| (job.tally.clone(), job.duration())).collect();
    let cursors = jobs.into_iter().map(|job| job.cursor).collect();
    let phases = shared.phases.map(|phases| tally.phases(phases, began, ended));
    Ok((
        Outcome {
            phases: phases.unwrap_or_default(),
            tally,
            duration: ended.saturating_duration_since(began),
            jobs: each,
        },
        cursors,
    ))
}

fn job(
    spec: &IoSpec,
    method: Method,
    place: &Place,
    shared: Shared<'_>,
    barrier: &Barrier,
) -> Result<JobDone, WorkloadError> {
    thread_stack::back_with_memory();
    barrier.wait();
    let started = Instant::now();
    let mut feed = Feed::new(spec, shared.seed, place.job, started);
    let began = started + Duration::from_nanos(spec.ramp_ns);
    let rules = psync::Rules {
        contents: shared.contents,
        block_bytes: spec.block_bytes as usize,
        counted_from: began,
        deadline: spec.runtime_ns.map(|runtime| began + Duration::from_nanos(runtime)),
        phases: shared.phases,
    };
    let mut tally = match method {
        Method::Ring => uring_engine::run(place, &mut feed, rules, spec.queue_depth, started)?,
        Method::Plain | Method::Threads => {
            let lanes = if method == Method::Plain { 1 } else { spec.queue_depth };
            let shared = Mutex::new(feed);
            let tally = lanes_of(lanes, place, &shared, rules, started)?;
            feed = shared.into_inner().expect("no thread panicked");
            tally
        }
    };
    let mut ended = Instant::now();
    if spec.end_fsync && spec.pattern.has_writes() {
        psync::fsync(place)?;
        let before = ended;
        ended = Instant::now();
        tally.fsyncs.add(0, ended - before);
    }
    Ok(JobDone {
        tally,
        began,
        ended,
        cursor: feed.cursor,
    })
}

fn lanes_of(
    lanes: u32,
    place: &Place,
    feed: &Mutex<Feed>,
    rules: psync::Rules<'_>,
    began: Instant,
) -> Result<Tally, WorkloadError> {
    if lanes == 1 {
        return psync::run(place, feed, rules, began);
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..lanes)
            .map(|_| {
                scope.spawn(move || {
                    thread_stack::back_with_memory();
                    psync::run(place, feed, rules, began)
                })
            })
            .collect();
        let mut tally = Tally::new();
        for thread in threads {
            tally.merge(&thread.join().expect("a lane does not panic")?);
        }
        Ok(tally)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;
    use crate::io::targets::{self, Layout};
    use std::path::Path;
    use study::workload::{IoEngine, IoPattern};

    /// Every method completes the job and writes the same bytes.
    #[test]
    fn all_methods_do_the_same_work() {
        let spec = IoSpec {
            engine: IoEngine::Native,
            pattern: IoPattern::RandWrite,
            read_percent: 0,
            block_bytes: 4096,
            size_bytes: 1 << 20,
            offset_bytes: 0,
            jobs: 2,
            queue_depth: 6,
            direct: false,
            fsync_every: 100,
            end_fsync: true,
            runtime_ns: None,
            ..IoSpec::default()
        };
        let contents = Contents::for_segments(7, spec.block_bytes);
        let mut left = Vec::new();
        let mut methods = vec![Method::Plain, Method::Threads];
        if uring_engine::is_offered() {
            methods.push(Method::Ring);
        } else {
            eprintln!("skipped io_uring: this kernel does not offer it");
        }
        for method in methods {
            let folder = tempfile::tempdir().expect("a folder");
            let target = Target {
                mount_point: Some(folder.path()),
                block_device: Path::new("/dev/null"),
            };
            targets::prepare(&Layout::of(&spec, folder.path()), &contents).expect("files are made");
            let places = targets::open_places(&spec, &target).expect("and opened");
            let shared = Shared {
                contents: &contents,
                seed: 7,
                phases: None,
            };
            let (outcome, _) = run(&spec, method, &places, shared).expect("the job runs");
            assert_eq!(outcome.tally.writes.operations(), 512, "{method:?}");
            assert_eq!(outcome.tally.writes.bytes, 2 << 20, "{method:?}");
            assert_eq!(outcome.tally.fsyncs.operations(), 2 * 3, "{method:?}");
            let bytes = |job: u32| std::fs::read(folder.path().join(targets::file_name(job))).expect("a file");
            left.push([bytes(0), bytes(1)]);
        }
        assert!(left.iter().all(|files| *files == left[0]));
        assert!(left[0][0] != left[0][1]);
    }
}
