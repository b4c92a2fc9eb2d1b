//! One slot per processor, for all tests of all processes on the machine.
//!
//! A thread that holds a slot runs on its processor only, and so does what it starts: two guests never share a
//! processor, and a command of raidlab's that is not given `--jobs` has one. Everything else runs at the same time.

use rustix::fs::{FlockOperation, flock};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Polling interval of a test that waits for any slot.
const INTERVAL: Duration = Duration::from_millis(5);

thread_local! {
    /// Slots that this thread holds: a test may ask again while it has one.
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// One or all processors, until it is dropped, by the thread that asked.
#[must_use]
pub struct Slot {
    locks: Vec<File>,
    before: CpuSet,
    /// Affinity is a thread's.
    _of_thread: PhantomData<*const ()>,
}

/// Waits for a processor. A thread that has one keeps it.
pub fn one_processor() -> Slot {
    one_of(&folder())
}

/// Waits until no other test holds a processor.
pub fn all_processors() -> Slot {
    all_of(&folder())
}

fn one_of(folder: &Path) -> Slot {
    let before = affinity();
    if HELD.get() > 0 {
        return Slot::nested(before);
    }
    let gate = Gate::pass(folder);
    loop {
        for processor in processors(&before) {
            let lock = open(folder, &processor.to_string());
            if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
                drop(gate);
                let mut only = CpuSet::new();
                only.set(processor);
                sched_setaffinity(None, &only).expect("a processor of this process");
                return Slot::new(vec![lock], before);
            }
        }
        thread::sleep(INTERVAL);
    }
}

fn all_of(folder: &Path) -> Slot {
    let before = affinity();
    assert_eq!(HELD.get(), 0, "a test that holds one processor cannot wait for all");
    let _gate = Gate::pass(folder);
    let locks = processors(&before).map(|processor| {
        let lock = open(folder, &processor.to_string());
        flock(&lock, FlockOperation::LockExclusive).expect("a lock");
        lock
    });
    Slot::new(locks.collect(), before)
}

impl Slot {
    fn new(locks: Vec<File>, before: CpuSet) -> Slot {
        HELD.set(HELD.get() + 1);
        Slot {
            locks,
            before,
            _of_thread: PhantomData,
        }
    }

    fn nested(before: CpuSet) -> Slot {
        Slot::new(Vec::new(), before)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
        let _ = sched_setaffinity(None, &self.before);
        // A copy of the file in a child that is being started would hold the lock longer.
        for lock in &self.locks {
            let _ = flock(lock, FlockOperation::Unlock);
        }
    }
}

/// Held while waiting, so that a test that waits for all processors is not overtaken by those that wait for one.
struct Gate(File);

impl Gate {
    fn pass(folder: &Path) -> Gate {
        let gate = open(folder, "gate");
        flock(&gate, FlockOperation::LockExclusive).expect("a lock");
        Gate(gate)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

fn affinity() -> CpuSet {
    sched_getaffinity(None).expect("Linux knows where a thread may run")
}

fn processors(set: &CpuSet) -> impl Iterator<Item = usize> + '_ {
    (0..CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor))
}

fn open(folder: &Path, name: &str) -> File {
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).open(folder.join(name));
    file.expect("a lock file in a folder of our own")
}

/// One set for each user, whatever the folder of the project: the processors are the machine's.
fn folder() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    let folder = std::env::temp_dir().join(format!("raidlab-test-processors-{user}"));
    fs::create_dir_all(&folder).expect("a folder for locks");
    folder
}

#[cfg(test)]
mod tests {
    use super::{affinity, all_of, one_of, processors};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    #[test]
    fn as_many_at_once_as_there_are_processors_and_one_that_takes_all_is_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let count = processors(&affinity()).count();
        let inside = AtomicUsize::new(0);
        thread::scope(|scope| {
            for test in 0..30 {
                let (inside, folder) = (&inside, folder.path());
                scope.spawn(move || {
                    let takes_all = test % 10 == 5;
                    let slot = if takes_all { all_of(folder) } else { one_of(folder) };
                    let others = inside.fetch_add(1, Ordering::SeqCst);
                    assert!(others < if takes_all { 1 } else { count }, "{others} others");
                    let may_use = if takes_all { count } else { 1 };
                    assert_eq!(processors(&affinity()).count(), may_use);
                    thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(slot);
                    assert_eq!(processors(&affinity()).count(), count);
                });
            }
        });
    }

    #[test]
    fn a_thread_that_has_a_processor_may_ask_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = one_of(folder.path());
        let second = one_of(folder.path());
        drop(second);
        assert_eq!(processors(&affinity()).count(), 1);
        drop(first);
    }
}
