//! A job by io_uring: one thread that keeps `queue_depth` requests under way.
//!
//! *Invariant*: the kernel reads from and writes to memory of this module until a request has completed. So
//! nothing here returns before all have, and if it cannot know, the memory is leaked.

use crate::WorkloadError;
use crate::buffer::AlignedBuffer;
use crate::io::order::{Cursor, Step};
use crate::io::place::Place;
use crate::io::plain::{Rules, ended};
use crate::io::tally::Tally;
use io_uring::{IoUring, opcode, squeue, types};
use std::io;
use std::os::fd::AsRawFd;
use std::time::Instant;

/// Whether this kernel lets us use io_uring. Containers and hardened machines often do not.
pub(super) fn is_offered() -> bool {
    IoUring::new(1).is_ok()
}

/// A request under way.
struct Slot {
    step: Step,
    began: Instant,
    /// Bytes of it that are done: a request may come back short.
    done: usize,
}

struct Ring<'a> {
    ring: IoUring,
    place: &'a Place,
    rules: Rules<'a>,
    /// One a slot, for reads; writes go straight from the pool of contents.
    buffers: Vec<AlignedBuffer>,
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    tally: Tally,
    error: Option<WorkloadError>,
}

/// Takes steps from `cursor` until it has no more or time is over, and waits for all of them.
pub(super) fn run(
    place: &Place,
    cursor: &mut Cursor,
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
        tally: Tally::new(),
        error: None,
    };
    match ring.keep_going(cursor, now) {
        Ok(()) => ring.error.map_or(Ok(ring.tally), Err),
        Err(error) => {
            std::mem::forget(ring.buffers);
            Err(WorkloadError::at("wait for io_uring on", &place.path)(error))
        }
    }
}

impl Ring<'_> {
    /// Fails only if the ring itself does: then requests may still be under way.
    fn keep_going(&mut self, cursor: &mut Cursor, mut now: Instant) -> io::Result<()> {
        loop {
            while self.may_begin(now)
                && let Some(&slot) = self.free.last()
                && let Some(step) = cursor.next()
            {
                self.free.pop();
                self.slots[slot] = Some(Slot {
                    step,
                    began: now,
                    done: 0,
                });
                self.push(slot);
            }
            if self.free.len() == self.slots.len() {
                return Ok(());
            }
            match self.ring.submit_and_wait(1) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            now = Instant::now();
            self.reap(now);
        }
    }

    fn may_begin(&self, now: Instant) -> bool {
        self.error.is_none() && self.rules.deadline.is_none_or(|deadline| now < deadline)
    }

    /// Puts the request of a slot, or what is left of it, into the queue.
    fn push(&mut self, index: usize) {
        let entry = self.entry(index).user_data(index as u64);
        // SAFETY: the buffer of the slot and the pool live and stay in place until the request has completed (see
        // the module's invariant), nobody else touches the buffer meanwhile, and the file stays open.
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
                let bytes = self
                    .rules
                    .contents
                    .stretch(u64::from(self.place.job), block, block_bytes);
                opcode::Write::new(fd, bytes[done..].as_ptr(), left)
                    .offset(offset(block))
                    .build()
            }
            Step::Fsync => opcode::Fsync::new(fd).build(),
        }
    }

    /// Takes what has completed; `now` is the time of all of it.
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

    /// Counts a completion; false if the request goes on.
    fn finish(&mut self, index: usize, result: i32, now: Instant) -> bool {
        let slot = self.slots[index].as_mut().expect("the slot is in use");
        let doing = match slot.step {
            Step::Read { .. } => "read",
            Step::Write { .. } => "write",
            Step::Fsync => "fsync",
        };
        if result < 0 {
            let error = io::Error::from_raw_os_error(-result);
            self.error
                .get_or_insert_with(|| WorkloadError::at(doing, &self.place.path)(error));
            return true;
        }
        let block_bytes = self.rules.block_bytes;
        let (stream, block) = match slot.step {
            Step::Fsync => {
                self.tally.fsyncs.add(0, now - slot.began);
                return true;
            }
            Step::Read { block } => (&mut self.tally.reads, block),
            Step::Write { block } => (&mut self.tally.writes, block),
        };
        slot.done += result as usize;
        if slot.done == block_bytes {
            stream.add(block_bytes as u64, now - slot.began);
            return true;
        }
        if result == 0 {
            let offset = self.place.offset + block * block_bytes as u64 + slot.done as u64;
            self.error.get_or_insert_with(|| ended(self.place, offset));
        }
        result == 0
    }
}
