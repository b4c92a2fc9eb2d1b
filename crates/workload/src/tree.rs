//! A collection of files that is written, read, copied within its filesystem and deleted.
//!
//! **Files.** The tree is in `MOUNT/tree`; *copy* copies it to `MOUNT/copy`; *delete* removes `MOUNT/tree`, the
//! original. If no earlier test left the tree, it is written first, unmeasured; an existing result of a test is removed
//! first, unmeasured.
//!
//! With `from` the originals are in `tree` on the filesystem of another group of disks, prepared there unmeasured, and
//! *write* copies them from there; with `from_warm` they are read once before, unmeasured. With `to`, *read* copies what it reads to `copy` on the filesystem there.
//!
//! **Before each test** all dirty data is written back, the array is idle and the caches are dropped.
//!
//! **End of the measurement.** Writing, copying and deleting end when a final `syncfs` has returned, so that data in
//! memory counts; `time_to_last_close` (deleting: `time_to_last_unlink`) is the time without it. Reading ends with the
//! last close. Throughput and files per second include the `syncfs`.
//!
//! **Guards.** `cold-cache`: reads came from the member disks. `written-out`: all written data reached them. `contents`
//! of *read*: every file's name, length, first and last bytes, compared while reading. `contents` of *write* and
//! *copy*: a sample of both trees, byte by byte, after a remount; done once, before the first delete or at the end.

pub mod collection;
mod verify;
mod visit;
mod walk;
mod write;

use crate::buffer::AlignedBuffer;
use crate::contents::Contents;
use crate::environment::{DeviceCounters, Host};
use crate::latency::{DoneBy, Operation, Stopwatch};
use crate::reporter::{OWN_CLOCK, Reporter};
use crate::{Engine, Target, WorkloadError};
use collection::Collection;
use rustix::fs::{AtFlags, Mode, OFlags, open, syncfs, unlinkat};
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use study::metric::Metric;
use study::progress::WorkProgress;
use study::workload::{TreeSpec, TreeTest};
use tools::Tool;
use visit::{Copier, Deleter, Reader};

const TREE: &CStr = c"tree";
const COPY: &CStr = c"copy";

/// Size of one read, and of one write of a copy, as in cp and cat. A mebibyte exceeds the CPU cache between read
/// and write and made copies 20 % slower on tmpfs.
const READ_BYTES: usize = 128 << 10;

impl Engine for TreeSpec {
    fn tool(&self) -> Option<Tool> {
        None
    }

    fn run(&self, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
        run(self, target, seed, host)
    }
}

fn run(spec: &TreeSpec, target: &Target<'_>, seed: u64, host: &mut dyn Host) -> Result<(), WorkloadError> {
    let mount_point = target.mount_point.ok_or_else(|| {
        WorkloadError::Spec("a tree of files needs a filesystem, and this stack has none".to_owned())
    })?;
    let mut trees = Trees {
        mount_point,
        seed,
        collection: Collection::new(spec, seed)?,
        contents: Contents::new(seed),
        buffer: AlignedBuffer::zeroed(Contents::SEGMENT_BYTES as usize),
        from: group_mount(spec.from.as_deref(), host)?,
        from_warm: spec.from_warm,
        to: group_mount(spec.to.as_deref(), host)?,
        tree: State::Absent,
        copy: State::Absent,
        progress: None,
    };
    trees.prepare_originals(host)?;
    for (number, &test) in spec.tests.iter().enumerate() {
        trees.prepare(test, host)?;
        host.next_test(number, spec.tests.len(), trees.units(test));
        trees.measure(test, host)?;
    }
    host.tests_are_over();
    trees.verify(host)
}

/// State of the filesystem, and everything needed to work on it.
struct Trees<'a> {
    mount_point: &'a Path,
    seed: u64,
    collection: Collection,
    contents: Contents,
    buffer: AlignedBuffer,
    /// The filesystem from which files are copied, and the one to which they are copied.
    from: Option<PathBuf>,
    /// The originals are read before they are copied.
    from_warm: bool,
    to: Option<PathBuf>,
    tree: State,
    copy: State,
    /// Where a test that is measured reports its progress, if acts may wait for it.
    progress: Option<Arc<WorkProgress>>,
}

/// State of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Absent,
    /// Made by a test, whose guard is still due.
    Unverified,
    /// Made outside any test, or already verified.
    Clean,
}

/// Result of a test, with both end times.
struct Measured {
    watch: Stopwatch,
    /// Time until the last close or unlink.
    closed: Duration,
    done: Done,
}

#[derive(Default)]
struct Done {
    files: u64,
    bytes: u64,
    /// Files of *read* with wrong contents, and the first of them.
    wrong: u64,
    first_wrong: Option<String>,
}

/// Mount point of the filesystem of the group that the study names.
fn group_mount(group: Option<&str>, host: &dyn Host) -> Result<Option<PathBuf>, WorkloadError> {
    let Some(group) = group else { return Ok(None) };
    let found = host.group_mount(group);
    let missing = || WorkloadError::Spec(format!("there is no filesystem on the disks `{group}`"));
    Ok(Some(found.ok_or_else(missing)?))
}

fn root_of(mount_point: &Path) -> Result<OwnedFd, WorkloadError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open(mount_point, flags, Mode::empty()).map_err(WorkloadError::at("open the mount point", mount_point))
}

impl Trees<'_> {
    fn root(&self) -> Result<OwnedFd, WorkloadError> {
        root_of(self.mount_point)
    }

    fn prepare_originals(&mut self, host: &mut dyn Host) -> Result<(), WorkloadError> {
        let Some(from) = &self.from else { return Ok(()) };
        host.step("prepare originals");
        let root = root_of(from)?;
        let mut watch = Stopwatch::start();
        write::write_tree(&self.collection, &mut self.contents, root.as_fd(), TREE, &mut watch)
            .map_err(|error| error.inside(from))?;
        syncfs(&root).map_err(WorkloadError::at("syncfs", from))
    }

    /// Prepares what `test` needs and removes what it will create.
    fn prepare(&mut self, test: TreeTest, host: &mut dyn Host) -> Result<(), WorkloadError> {
        let in_the_way = match test {
            TreeTest::Write if self.tree != State::Absent => Some(TREE),
            TreeTest::Copy if self.copy != State::Absent => Some(COPY),
            _ => None,
        };
        if let Some(name) = in_the_way {
            self.verify(host)?;
            host.step("make room");
            self.work(TreeTest::Delete, name)?;
        }
        if test != TreeTest::Write && self.tree == State::Absent {
            host.step("prepare files");
            self.work(TreeTest::Write, TREE)?;
            self.tree = State::Clean;
        }
        if test == TreeTest::Delete {
            self.verify(host)?;
        }
        Ok(())
    }

    /// How much a test does: files to delete, else bytes.
    fn units(&self, test: TreeTest) -> u64 {
        match test {
            TreeTest::Delete => self.collection.files.len() as u64,
            TreeTest::Write | TreeTest::Read | TreeTest::Copy => self.collection.bytes,
        }
    }

    fn measure(&mut self, test: TreeTest, host: &mut dyn Host) -> Result<(), WorkloadError> {
        host.quiesce_and_drop_caches()
            .map_err(WorkloadError::host("quiesce and drop caches"))?;
        if test == TreeTest::Write && self.from_warm {
            self.read_originals(host)?;
        }
        let before = host
            .device_counters()
            .map_err(WorkloadError::host("read the disks' counters"))?;
        host.step(test.name());
        self.progress = host.progress();
        let measured = self.work(test, if test == TreeTest::Copy { COPY } else { TREE })?;
        self.progress = None;
        let after = host
            .device_counters()
            .map_err(WorkloadError::host("read the disks' counters"))?;
        match test {
            TreeTest::Write => self.tree = State::Unverified,
            TreeTest::Copy => self.copy = State::Unverified,
            TreeTest::Delete => self.tree = State::Absent,
            TreeTest::Read => {}
        }
        self.report(test, &measured, after - before, host);
        Ok(())
    }

    /// Runs `test` on the tree `name`, measured.
    fn work(&mut self, test: TreeTest, name: &CStr) -> Result<Measured, WorkloadError> {
        let root = self.root()?;
        let by = match test {
            TreeTest::Delete => DoneBy::Each(Operation::Unlink),
            TreeTest::Write | TreeTest::Read | TreeTest::Copy => DoneBy::Byte,
        };
        let mut watch = Stopwatch::reporting(self.progress.clone(), by);
        let done = match test {
            TreeTest::Write => self.write(&root, name, &mut watch),
            TreeTest::Read => self.read(&root, &mut watch),
            TreeTest::Copy => self.copy(&root, &mut watch),
            TreeTest::Delete => delete(&root, name, &mut watch),
        }
        .map_err(|error| error.inside(self.mount_point))?;
        let closed = watch.elapsed();
        if test != TreeTest::Read {
            syncfs(&root).map_err(WorkloadError::at("syncfs", self.mount_point))?;
            watch.lap(Operation::Syncfs);
        }
        Ok(Measured { watch, closed, done })
    }

    fn write(&mut self, root: &OwnedFd, name: &CStr, watch: &mut Stopwatch) -> Result<Done, WorkloadError> {
        if let Some(from) = &self.from {
            let originals = root_of(from)?;
            return self.copy_tree(&originals, root, name, watch);
        }
        write::write_tree(&self.collection, &mut self.contents, root.as_fd(), name, watch)?;
        Ok(Done {
            files: self.collection.files.len() as u64,
            bytes: self.collection.bytes,
            ..Done::default()
        })
    }

    fn read(&mut self, root: &OwnedFd, watch: &mut Stopwatch) -> Result<Done, WorkloadError> {
        if let Some(to) = &self.to {
            let away = root_of(to)?;
            return self.copy_tree(root, &away, COPY, watch);
        }
        self.read_tree(root, watch)
    }

    /// Reads the originals into memory, as far as they fit.
    fn read_originals(&mut self, host: &mut dyn Host) -> Result<(), WorkloadError> {
        let Some(from) = self.from.clone() else { return Ok(()) };
        host.step("read originals");
        let root = root_of(&from)?;
        let read = self.read_tree(&root, &mut Stopwatch::start());
        read.map(drop).map_err(|error| error.inside(&from))
    }

    fn read_tree(&mut self, root: &OwnedFd, watch: &mut Stopwatch) -> Result<Done, WorkloadError> {
        let mut reader = Reader {
            collection: &self.collection,
            contents: &self.contents,
            buffer: &mut self.buffer[..READ_BYTES],
            watch,
            files: 0,
            bytes: 0,
            wrong: 0,
            first_wrong: None,
        };
        walk::walk(&mut reader, root.as_fd(), TREE, &())?;
        let Reader {
            files,
            bytes,
            wrong,
            first_wrong,
            ..
        } = reader;
        Ok(Done {
            files,
            bytes,
            wrong,
            first_wrong,
        })
    }

    fn copy(&mut self, root: &OwnedFd, watch: &mut Stopwatch) -> Result<Done, WorkloadError> {
        self.copy_tree(root, root, COPY, watch)
    }

    /// Copies the tree in one filesystem's root to `name` in the same or another one.
    fn copy_tree(
        &mut self,
        from: &OwnedFd,
        to: &OwnedFd,
        name: &CStr,
        watch: &mut Stopwatch,
    ) -> Result<Done, WorkloadError> {
        let to = write::make_directory(to.as_fd(), name, watch)?;
        let mut copier = Copier {
            buffer: &mut self.buffer[..READ_BYTES],
            watch,
            files: 0,
            bytes: 0,
        };
        walk::walk(&mut copier, from.as_fd(), TREE, &to)?;
        let Copier { files, bytes, .. } = copier;
        Ok(Done {
            files,
            bytes,
            ..Done::default()
        })
    }

    fn report(&self, test: TreeTest, measured: &Measured, moved: DeviceCounters, host: &mut dyn Host) {
        let Measured { watch, closed, done } = measured;
        let duration = watch.elapsed();
        let mut reporter = Reporter {
            host,
            test: test.name(),
        };
        if test != TreeTest::Delete {
            reporter.throughput(done.bytes, duration);
        }
        reporter.sample(Metric::FilesPerSecond, done.files as f64 / duration.as_secs_f64());
        reporter.seconds(Metric::Duration, duration);
        match test {
            TreeTest::Read => {}
            TreeTest::Delete => reporter.seconds(Metric::TimeToLastUnlink, *closed),
            TreeTest::Write | TreeTest::Copy => reporter.seconds(Metric::TimeToLastClose, *closed),
        }
        reporter.device_work(moved);
        reporter.judge_stack();
        reporter.latencies(watch);
        reporter.throughput_over_time(watch.throughput(), duration);
        reporter.long_enough_guard(duration, OWN_CLOCK);
        if matches!(test, TreeTest::Read | TreeTest::Copy) {
            reporter.cold_cache_guard(done.bytes, moved);
        }
        if matches!(test, TreeTest::Write | TreeTest::Copy) {
            reporter.written_out_guard(done.bytes, moved);
        }
        if test == TreeTest::Read {
            let (passed, detail) = self.read_verdict(done);
            reporter.guard("contents", passed, detail);
        }
    }

    fn read_verdict(&self, done: &Done) -> (bool, String) {
        let expected = self.collection.files.len() as u64;
        let passed = done.wrong == 0 && done.files == expected;
        let mut detail = format!("{} of {expected} files found", done.files);
        match &done.first_wrong {
            None if self.to.is_some() => detail.push_str(" and copied"),
            None => detail.push_str(", length, beginning and end of each as written"),
            Some(name) => detail.push_str(&format!(
                ", {} with a wrong length, beginning or end, the first is {name}",
                done.wrong
            )),
        }
        (passed, detail)
    }

    /// Remounts and reports the guards that are due, if any.
    fn verify(&mut self, host: &mut dyn Host) -> Result<(), WorkloadError> {
        if self.tree != State::Unverified && self.copy != State::Unverified {
            return Ok(());
        }
        host.step("verify contents");
        host.remount().map_err(WorkloadError::host("remount"))?;
        for (test, name) in [(TreeTest::Write, TREE), (TreeTest::Copy, COPY)] {
            let state = if test == TreeTest::Write {
                &mut self.tree
            } else {
                &mut self.copy
            };
            if *state != State::Unverified {
                continue;
            }
            *state = State::Clean;
            let top = self.mount_point.join(collection::as_path(name));
            let verdict = verify::verify(&self.collection, &self.contents, &top, self.seed, &mut self.buffer);
            let detail = verdict.detail(&self.collection);
            Reporter {
                host,
                test: test.name(),
            }
            .guard("contents", verdict.passed(), detail);
        }
        Ok(())
    }
}

fn delete(root: &OwnedFd, name: &CStr, watch: &mut Stopwatch) -> Result<Done, WorkloadError> {
    let mut deleter = Deleter { watch, files: 0 };
    walk::walk(&mut deleter, root.as_fd(), name, &())?;
    let files = deleter.files;
    unlinkat(root, name, AtFlags::REMOVEDIR).map_err(WorkloadError::at("delete", collection::as_path(name)))?;
    watch.lap(Operation::Rmdir);
    Ok(Done {
        files,
        ..Done::default()
    })
}
