//! A job with io_uring: one thread that keeps `queue_depth` requests in flight.
//!
//! *Invariant*: the kernel accesses this module's memory until a request has completed. Therefore nothing here
//! returns before all requests have completed, and if that is unknown, the memory is leaked.

use crate::WorkloadError;
use crate::buffer::AlignedBuffer;
use crate::io::block_order::Step;
use crate::io::pacing::{Feed, Turn};
use crate::io::psync::{Rules, ended};
use crate::io::tally::Tally;
use crate::io::targets::Place;
use io_uring::{IoUring, opcode, squeue, types};
use rustix::io::Errno;
use std::io;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Whether the kernel permits io_uring. Containers and hardened machines often do not.
pub(super) fn is_offered() -> bool {
    IoUring::new(1).is_ok()
}

/// A request in flight.
struct Slot {
    step: Step,
    began: Instant,
    /// Bytes done so far: a request may complete partially.
    done: usize,
}

struct Ring<'a> {
    ring: IoUring,
    place: &'a Place,
    rules: Rules<'a>,
    /// One per slot, for reads; writes use the pool of contents.
    buffers: Vec<AlignedBuffer>,
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    /// Starts once nothing is in flight.
    pause: Option<Duration>,
    tally: Tally,
    error: Option<WorkloadError>,
}

/// Takes turns from `feed` until it is empty or the time has elapsed, and waits for all of them.
pub(super) fn run(
    place: &Place,
    feed: &mut Feed,
    rules: Rules<'_>,
    queue_depth: u32,
    now: Instant,
) -> Result<Tally, WorkloadError> {
    let depth = queue_depth as usize;
    let ring = IoUring::new(queue_depth).map_err(WorkloadError::at("set up io_uring for", &place.path))?;
    let mut ring = Ring {
        ring,
        place,
        rules,
        buffers: (0..depth).map(|_| AlignedBuffer::zeroed(rules.block_bytes)).collect(),
        slots: (0..depth).map(|_| None).collect(),
        free: (0..depth).rev().collect(),
        pause: None,
        tally: Tally::new(),
        error: None,
    };
    match ring.keep_going(feed, now) {
        Ok(()) => ring.error.map_or(Ok(ring.tally), Err),
        Err(error) => {
            std::mem::forget(ring.buffers);
            Err(WorkloadError::at("wait for io_uring on", &place.path)(error))
        }
    }
}

impl Ring<'_> {
    /// Fails only if the ring itself does: then requests may still be in flight.
    fn keep_going(&mut self, feed: &mut Feed, mut now: Instant) -> io::Result<()> {
        loop {
            let due = self.begin_what_is_due(feed, now);
            if self.free.len() == self.slots.len() {
                match (self.pause.take(), due) {
                    (Some(pause), _) => std::thread::sleep(pause),
                    (None, Some(due)) => std::thread::sleep(due.saturating_duration_since(now)),
                    (None, None) => return Ok(()),
                }
                now = Instant::now();
                continue;
            }
            match self.wait(due.map(|due| due.saturating_duration_since(now))) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // The next request is due.
                Err(error) if error.raw_os_error() == Some(Errno::TIME.raw_os_error()) => {}
                Err(error) => return Err(error),
            }
            now = Instant::now();
            self.reap(now);
        }
    }

    /// Starts requests while there are free slots; returns when the next one is due, if later.
    fn begin_what_is_due(&mut self, feed: &mut Feed, now: Instant) -> Option<Instant> {
        while self.may_begin(now)
            && self.pause.is_none()
            && let Some(&slot) = self.free.last()
            && let Some(turn) = feed.next()
        {
            if let Some(due) = turn.due.filter(|due| *due > now) {
                feed.hold(turn);
                return Some(self.rules.deadline.map_or(due, |deadline| due.min(deadline)));
            }
            self.begin(slot, turn, now);
        }
        None
    }

    fn begin(&mut self, slot: usize, turn: Turn, now: Instant) {
        self.free.pop();
        self.slots[slot] = Some(Slot {
            step: turn.step,
            began: now,
            done: 0,
        });
        self.pause = turn.think;
        self.push(slot);
    }

    /// Waits for at least one completion, or until the timeout.
    fn wait(&mut self, at_most: Option<Duration>) -> io::Result<usize> {
        let Some(at_most) = at_most else {
            return self.ring.submit_and_wait(1);
        };
        let time = types::Timespec::from(at_most);
        let arguments = types::SubmitArgs::new().timespec(&time);
        self.ring.submitter().submit_with_args(1, &arguments)
    }

    fn may_begin(&self, now: Instant) -> bool {
        self.error.is_none() && !self.rules.is_over(now)
    }

    /// Queues the request of a slot, or the rest of it.
    fn push(&mut self, index: usize) {
        let entry = self.entry(index).user_data(index as u64);
        // SAFETY: the buffer of the slot and the pool live and stay in place until the request has completed (see the
        // module's invariant), nobody else accesses the buffer meanwhile, and the file stays open.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.expect("the queue has an entry for every slot");
    }

    fn entry(&mut self, index: usize) -> squeue::Entry {
        let slot = self.slots[index].as_ref().expect("the slot is in use");
        let fd = types::Fd(self.place.file.as_raw_fd());
        let (done, block_bytes) = (slot.done, self.rules.block_bytes);
        let left = (block_bytes - done) as u32;
        let offset = |block: u64| self.place.offset + block * block_bytes as u64 + done as u64;
        match slot.step {
            Step::Read { block } => {
                let buffer = self.buffers[index][done..].as_mut_ptr();
                opcode::Read::new(fd, buffer, left).offset(offset(block)).build()
            }
            Step::Write { block } => {
                let scratch = &mut self.buffers[index][..];
                let bytes = self.rules.contents.block(u64::from(self.place.job), block, scratch);
                opcode::Write::new(fd, bytes[done..].as_ptr(), left)
                    .offset(offset(block))
                    .build()
            }
            Step::Fsync => opcode::Fsync::new(fd).build(),
            Step::Fdatasync => opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build(),
        }
    }

    /// Processes completions; `now` is the time of all of them.
    fn reap(&mut self, now: Instant) {
        loop {
            let Some(completion) = self.ring.completion().next() else {
                return;
            };
            let index = completion.user_data() as usize;
            if self.finish(index, completion.result(), now) {
                self.slots[index] = None;
                self.free.push(index);
            } else {
                self.push(index);
            }
        }
    }

    /// Counts a completion; false if the request continues.
    fn finish(&mut self, index: usize, result: i32, now: Instant) -> bool {
        let slot = self.slots[index].as_mut().expect("the slot is in use");
        let doing = match slot.step {
            Step::Read { .. } => "read",
            Step::Write { .. } => "write",
            Step::Fsync => "fsync",
            Step::Fdatasync => "fdatasync",
        };
        if result < 0 {
            let error = io::Error::from_raw_os_error(-result);
            self.error
                .get_or_insert_with(|| WorkloadError::at(doing, &self.place.path)(error));
            return true;
        }
        let block_bytes = self.rules.block_bytes;
        let (step, began) = (slot.step, slot.began);
        let block = match step {
            Step::Read { block } | Step::Write { block } => block,
            Step::Fsync | Step::Fdatasync => {
                self.count(step, began, now);
                return true;
            }
        };
        slot.done += result as usize;
        if slot.done == block_bytes {
            self.count(step, began, now);
            return true;
        }
        if result == 0 {
            let offset = self.place.offset + block * block_bytes as u64 + slot.done as u64;
            self.error.get_or_insert_with(|| ended(self.place, offset));
        }
        result == 0
    }

    fn count(&mut self, step: Step, began: Instant, now: Instant) {
        if self.rules.counts(now) {
            self.tally.add(self.rules.completed(step, began, now));
        } else {
            self.tally.add_to_ramp(step, self.rules.block_bytes as u64);
        }
    }
}
